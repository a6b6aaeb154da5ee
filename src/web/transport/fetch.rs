//! One request over fetch.

use js_sys::{Function, Object, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use super::abort::Abort;
use super::body::Body;
use super::credentials::{Credentials, unreadable};
use crate::source::kubernetes::{Head, MAX_REFUSAL_BYTES, headers, no_answer};
use crate::status::Error;
use crate::web::error::{from_thrown, reason};
use crate::web::runtime::wall_time;
use crate::web::values::{property, set};

/// How requests are sent: the host's `fetch`, or the user's.
#[derive(Clone)]
pub(super) struct Fetch {
    pub(super) function: Function,
    /// The option `credentials`.
    pub(super) mode: String,
}

/// What is sent.
pub(super) struct Request<'a> {
    /// The HTTP method.
    pub(super) method: &'a str,
    /// The header `Accept`.
    pub(super) accept: &'a str,
    /// A media type and bytes of it.
    pub(super) content: Option<(&'a str, &'a [u8])>,
}

impl Fetch {
    /// Sends a request and gives the answer's body, once its head says that it is what was asked for.
    pub(super) async fn send(&self, request: Request<'_>, url: &str, credentials: &Credentials) -> Result<Body, Error> {
        let Request { method, accept, content } = request;
        let abort = Abort::new().map_err(Error::unsent)?;
        let init = Object::new();
        set(&init, "method", &method.into());
        set(&init, "credentials", &self.mode.as_str().into());
        set(&init, "cache", &"no-store".into());
        set(&init, "headers", &merged(credentials, accept, content.as_ref().map(|(media_type, _)| *media_type))?);
        if let Some((_, body)) = content {
            set(&init, "body", &Uint8Array::from(body));
        }
        set(&init, "signal", &abort.signal());
        let answer = self.function.call2(&JsValue::UNDEFINED, &url.into(), &init).map_err(|thrown| from_thrown(&thrown))?;
        let answered = JsFuture::from(Promise::resolve(&answer)).await;
        let response = answered.map_err(|thrown| no_answer(url, &reason(&thrown)))?;
        // Other realms have a Response of their own, so it is known by what it can do.
        if property(&response, "status").and_then(|status| status.as_f64()).is_none() || property(&response, "headers").is_none() {
            return Err(Error::protocol("fetch gave something that is no Response"));
        }
        let response: Response = response.unchecked_into();
        let header = |name: &str| response.headers().get(name).ok().flatten();
        let head = Head {
            code: response.status(),
            redirected: response.redirected(),
            content_type: header("content-type"),
            retry_after: header("retry-after"),
            date: header("date"),
        };
        let body = Body::new(&response, abort)?;
        if head.is_refusal() {
            let bytes = body.read_up_to(MAX_REFUSAL_BYTES).await;
            return Err(head.refusal(&bytes, wall_time()));
        }
        head.check_content().map(|()| body)
    }
}

/// The user's headers with ours.
fn merged(credentials: &Credentials, accept: &str, content_type: Option<&str>) -> Result<JsValue, Error> {
    let merged = credentials.headers()?;
    for header in headers(accept, credentials.token.as_deref(), content_type) {
        if header.replaces || !merged.has(header.name).unwrap_or(false) {
            merged.set(header.name, &header.value).map_err(|_| unreadable())?;
        }
    }
    Ok(merged.into())
}
