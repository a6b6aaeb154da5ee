//! What `auth` gives.

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Headers;

use crate::status::{Error, ErrorCode};
use crate::web::error::from_thrown;
use crate::web::runtime::global_function;
use crate::web::values::{property, text};

/// The credentials of one connection.
#[derive(Default)]
pub(super) struct Credentials {
    /// Copied for each request.
    headers: Option<Headers>,
    pub(super) token: Option<String>,
    pub(super) subprotocols: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    /// As it was given: whoever gave it knows it by that.
    answer: JsValue,
}

impl Credentials {
    /// Asks `auth` anew: tokens expire.
    pub(super) async fn ask(auth: Option<&Function>) -> Result<Self, Error> {
        let Some(auth) = auth else { return Ok(Self::default()) };
        Self::read(given_by(auth.call0(&JsValue::UNDEFINED)).await?)
    }

    /// Those of somebody else, now that the server has refused these. `refused` has all answers that it has refused in this try.
    pub(super) async fn others(&self, others: Option<&Function>, refused: &Array) -> Result<Option<Self>, Error> {
        let Some(others) = others else { return Ok(None) };
        refused.push(&self.answer);
        let answer = given_by(others.call1(&JsValue::UNDEFINED, refused)).await?;
        if answer.is_undefined() { Ok(None) } else { Self::read(answer).map(Some) }
    }

    /// Whether there are headers, of which browsers send none with a WebSocket.
    pub(super) fn has_headers(&self) -> bool {
        self.headers.as_ref().is_some_and(|headers| Array::from(headers).length() > 0)
    }

    /// The headers, to add to.
    pub(super) fn headers(&self) -> Result<Headers, Error> {
        self.headers.as_ref().map_or_else(|| Headers::new().map_err(|_| unreadable()), |headers| headers_of(headers))
    }

    /// Takes what the facade has checked: it names what cannot be meant.
    fn read(answer: JsValue) -> Result<Self, Error> {
        let pair = |pair: JsValue| {
            let pair: Array = pair.unchecked_into();
            Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
        };
        let subprotocols = property(&answer, "subprotocols").map(|given| Array::from(&given)).unwrap_or_default();
        let query = property(&answer, "query").map(|query| Object::entries(query.unchecked_ref())).unwrap_or_default();
        Ok(Self {
            // What lists its members by itself may do so once.
            headers: property(&answer, "headers").map(|given| headers_of(&given)).transpose()?,
            token: text(&answer, "token"),
            subprotocols: subprotocols.iter().filter_map(|given| given.as_string()).collect(),
            query: query.iter().filter_map(pair).collect(),
            answer,
        })
    }
}

/// A `Headers` of the host, of whatever makes one.
fn headers_of(given: &JsValue) -> Result<Headers, Error> {
    let constructor = global_function("Headers").ok_or_else(unreadable)?;
    Ok(Reflect::construct(&constructor, &Array::of1(given)).map_err(|_| unreadable())?.unchecked_into())
}

/// What is said of headers that no request can have. They may be secret.
pub(super) fn unreadable() -> Error {
    Error::new(ErrorCode::Invalid, "auth: the headers cannot be read").unsent()
}

/// What a call gives in the end. Where it fails nothing is sent, so other caches need not hear of it.
async fn given_by(called: Result<JsValue, JsValue>) -> Result<JsValue, Error> {
    let given = match called {
        Ok(given) => JsFuture::from(Promise::resolve(&given)).await,
        thrown => thrown,
    };
    given.map_err(|thrown| from_auth(&thrown).unsent())
}

/// What `auth` threw. What the facade finds wrong with its answer is a mistake, and no refusal.
fn from_auth(thrown: &JsValue) -> Error {
    let is = |name: &str, what: &str| text(thrown, name).as_deref() == Some(what);
    if is("name", "WatchCacheError") && is("code", "invalid") {
        return Error::new(ErrorCode::Invalid, text(thrown, "message").unwrap_or_default());
    }
    let error = from_thrown(thrown);
    // What the host threw, and no word of a server.
    if error.code == ErrorCode::Network && error.status.is_none() {
        return Error { message: format!("auth failed: {}", error.message), ..error };
    }
    error
}
