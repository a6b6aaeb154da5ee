//! A Kubernetes API over fetch: lists as streams of bytes, watches over WebSocket or as streams of lines.

use std::collections::VecDeque;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};
use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal, Response};

use crate::source::kubernetes::{
    FrameSplitter, content_error, error_from_response, list_in, list_query, namespace_of, object_path, object_query, retry_after,
    watch_query,
};
use crate::source::page::read_all;
use crate::source::{Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, WatchRequest, WriteRequest};
use crate::status::Error;
use crate::web::body::Chunks;
use crate::web::error::{from_thrown, network_error};
use crate::web::options::RawKubernetes;
use crate::web::runtime::global_function;
use crate::web::values::{property, text};
use crate::web::websocket;

/// The most of a refusal's body that is read: a Status is small, and a foreign page is not worth more.
const REFUSAL_BYTES: usize = 64 * 1024;

/// A resource of a Kubernetes API.
#[derive(Clone)]
pub(super) struct KubernetesSource(Rc<RawKubernetes>);

/// What `auth` gives for one connect.
#[derive(Default)]
pub(super) struct Credentials {
    headers: Option<JsValue>,
    pub(super) token: Option<String>,
    pub(super) subprotocols: Vec<String>,
    query: Vec<(String, String)>,
}

impl Credentials {
    /// Takes what the facade has looked at: it names what cannot be meant.
    fn read(answer: &JsValue) -> Self {
        let pair = |pair: JsValue| {
            let pair: Array = pair.unchecked_into();
            Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
        };
        let subprotocols = property(answer, "subprotocols").map(|given| Array::from(&given)).unwrap_or_default();
        let query = property(answer, "query").map(|query| Object::entries(query.unchecked_ref())).unwrap_or_default();
        Self {
            headers: property(answer, "headers"),
            token: text(answer, "token"),
            subprotocols: subprotocols.iter().filter_map(|given| given.as_string()).collect(),
            query: query.iter().filter_map(pair).collect(),
        }
    }
}

/// What `auth` threw, or the facade of what it gave.
fn from_auth(thrown: &JsValue) -> Error {
    let is = |name: &str, what: &str| text(thrown, name).as_deref() == Some(what);
    if is("name", "WatchCacheError") && is("code", "invalid") {
        return Error::new(crate::status::ErrorCode::Invalid, text(thrown, "message").unwrap_or_default());
    }
    from_thrown(thrown)
}

impl KubernetesSource {
    pub(super) fn new(options: RawKubernetes) -> Self {
        Self(Rc::new(options))
    }

    /// Asks `auth` anew: tokens expire.
    async fn credentials(&self) -> Result<Credentials, Error> {
        let Some(auth) = &self.0.auth else { return Ok(Credentials::default()) };
        let answer = auth.call0(&JsValue::UNDEFINED).map_err(|thrown| from_auth(&thrown))?;
        let answer = JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| from_auth(&thrown))?;
        Ok(Credentials::read(&answer))
    }

    fn url(&self, path: &str, query: &str) -> String {
        format!("{}{path}?{query}", self.0.server)
    }

    /// Asks for one object, or writes; gives the answer's document.
    async fn one(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<Vec<u8>, Error> {
        let credentials = self.credentials().await?;
        let url = self.url(path, &object_query(&credentials.query));
        read_all(self.send(method, &url, &credentials, body).await?.chunks()).await
    }

    async fn fetch(&self, url: &str, credentials: &Credentials) -> Result<Body, Error> {
        self.send("GET", url, credentials, None).await
    }

    /// Sends a request and gives the answer's body, once its head says that it is what was asked for.
    async fn send(&self, method: &str, url: &str, credentials: &Credentials, body: Option<Vec<u8>>) -> Result<Body, Error> {
        let abort = Abort::new()?;
        let init = Object::new();
        let set = |name: &str, value: &JsValue| {
            // Setting a property of a fresh object cannot fail.
            let _set = Reflect::set(&init, &JsValue::from_str(name), value);
        };
        set("method", &method.into());
        set("credentials", &self.0.credentials.as_str().into());
        set("cache", &"no-store".into());
        set("headers", &headers(credentials, body.is_some())?);
        if let Some(body) = body {
            set("body", &Uint8Array::from(body.as_slice()));
        }
        set("signal", &abort.signal());
        let answer = self.0.fetch.call2(&JsValue::UNDEFINED, &url.into(), &init).map_err(|thrown| from_thrown(&thrown))?;
        let response = JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| {
            // Without the query, where `auth` may have put what is secret.
            let address = url.split_once('?').map_or(url, |(address, _)| address);
            network_error(&format!("the request to {address} got no answer"), &thrown)
        })?;
        // Other realms have a Response of their own, so it is known by what it can do.
        if property(&response, "status").and_then(|status| status.as_f64()).is_none() || property(&response, "headers").is_none() {
            return Err(Error::protocol("fetch gave something that is no Response"));
        }
        let response: Response = response.unchecked_into();
        let header = |name: &str| response.headers().get(name).ok().flatten();
        let content_type = header("content-type");
        let body = Body::new(&response, abort)?;
        if !response.ok() {
            let bytes = body.read_up_to(REFUSAL_BYTES).await;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let now = js_sys::Date::now() as u64;
            let wait = retry_after(header("retry-after").as_deref(), header("date").as_deref(), now);
            return Err(error_from_response(response.status(), wait, content_type.as_deref(), &bytes));
        }
        match content_error(response.status(), content_type.as_deref(), response.redirected()) {
            Some(error) => Err(error),
            None => Ok(body),
        }
    }

    /// Why a WebSocket could not be opened. Browsers do not tell; the same watch by fetch does, and its head is all that is read of it.
    async fn probe(&self, request: &WatchRequest, credentials: &Credentials) -> Error {
        // Whoever holds back the head until there is a body lets go of both in the end.
        let request = WatchRequest { timeout_seconds: 1, ..request.clone() };
        let url = self.url(&self.0.path, &watch_query(&request, &self.0.selection, &credentials.query));
        match self.fetch(&url, credentials).await {
            Ok(_) => Error::network(
                "the watch's WebSocket could not be opened, although the server answers it over fetch: \
                 choose transport \"fetch\", or outside of browsers a WebSocket that says an Origin, as Node's own does not",
            ),
            Err(error) => error,
        }
    }
}

impl Source for KubernetesSource {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let source = self.clone();
        async move {
            let credentials = source.credentials().await?;
            let (path, request) = list_in(&source.0.path, request);
            let url = source.url(&path, &list_query(&request, &source.0.selection, &credentials.query));
            Ok(source.fetch(&url, &credentials).await?.chunks())
        }
        .boxed_local()
    }

    fn names_kinds(&self) -> bool {
        true
    }

    fn server(&self) -> Option<String> {
        Some(self.0.server.clone())
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection { namespace: namespace_of(&self.0.path).map(Into::into) })
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let source = self.clone();
        async move {
            let credentials = source.credentials().await?;
            let url = source.url(&source.0.path, &watch_query(&request, &source.0.selection, &credentials.query));
            if source.0.streams {
                return Ok(frames(source.fetch(&url, &credentials).await?.chunks()));
            }
            let constructor = source.0.websocket.clone().or_else(|| global_function("WebSocket"));
            let Some(constructor) = constructor else {
                return Err(Error::new(
                    crate::status::ErrorCode::Invalid,
                    "this host has no WebSocket: pass one as an option, or choose transport \"fetch\"",
                ));
            };
            match websocket::open(&constructor, &url, &credentials).await {
                Ok(stream) => Ok(stream),
                Err(websocket::Refused::Told(error)) => Err(error),
                Err(websocket::Refused::Silent) => Err(source.probe(&request, &credentials).await),
            }
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        true
    }

    fn get(&self, object: ObjectName) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move { source.one("GET", &object_path(&source.0.path, &object)?, None).await }.boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move {
            let (method, path) = (request.method(), request.path(&source.0.path)?);
            source.one(method, &path, Some(request.into_body())).await
        }
        .boxed_local()
    }
}

/// The request's headers: the user's, the token, what we accept and what we send.
fn headers(credentials: &Credentials, has_body: bool) -> Result<JsValue, Error> {
    let failed = |_| Error::new(crate::status::ErrorCode::Invalid, "auth: the headers cannot be read");
    let headers = match &credentials.headers {
        Some(given) => {
            let constructor = global_function("Headers").ok_or_else(|| failed(JsValue::UNDEFINED))?;
            Reflect::construct(&constructor, &Array::of1(given)).map_err(failed)?.unchecked_into()
        }
        None => web_sys::Headers::new().map_err(failed)?,
    };
    if !headers.has("accept").unwrap_or(false) {
        headers.set("accept", "application/json").map_err(failed)?;
    }
    if has_body {
        headers.set("content-type", "application/json").map_err(failed)?;
    }
    if let Some(token) = &credentials.token {
        headers.set("authorization", &format!("Bearer {token}")).map_err(failed)?;
    }
    Ok(headers.into())
}

/// Aborts its request when it goes away.
pub(super) struct Abort(AbortController);

impl Abort {
    pub(super) fn new() -> Result<Self, Error> {
        AbortController::new().map(Self).map_err(|thrown| from_thrown(&thrown))
    }

    pub(super) fn signal(&self) -> AbortSignal {
        self.0.signal()
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An answer's body. Dropping it aborts the request.
struct Body {
    chunks: Option<Chunks>,
    _abort: Abort,
}

impl Body {
    fn new(response: &Response, abort: Abort) -> Result<Self, Error> {
        let chunks = response.body().map(|body| Chunks::of(&body)).transpose()?;
        Ok(Self { chunks, _abort: abort })
    }

    async fn read(&self) -> Option<Result<Vec<u8>, Error>> {
        self.chunks.as_ref()?.next().await
    }

    async fn read_up_to(self, limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < limit
            && let Some(Ok(chunk)) = self.read().await
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(limit);
        bytes
    }

    fn chunks(self) -> LocalBoxStream<'static, Result<Vec<u8>, Error>> {
        stream::unfold(Some(self), |state| async move {
            let body = state?;
            let item = body.read().await?;
            let next = item.is_ok().then_some(body);
            Some((item, next))
        })
        .boxed_local()
    }
}

/// Cuts a stream of bytes into frames, one a line.
fn frames(chunks: PageStream) -> FrameStream {
    struct Cutting {
        chunks: PageStream,
        splitter: FrameSplitter,
        ready: VecDeque<Vec<u8>>,
    }
    let state = Cutting { chunks, splitter: FrameSplitter::new(), ready: VecDeque::new() };
    stream::unfold(Some(state), |state| async move {
        let mut state = state?;
        loop {
            if let Some(frame) = state.ready.pop_front() {
                return Some((Ok(frame), Some(state)));
            }
            // After what breaks it nothing follows: the watch goes on from the last version.
            let chunk = match state.chunks.next().await {
                Some(Ok(chunk)) => chunk,
                Some(Err(error)) => return Some((Err(error), None)),
                None if state.splitter.pending() > 0 => return Some((Err(Error::network("the answer broke off amid an event")), None)),
                None => return None,
            };
            let ready = &mut state.ready;
            if let Err(error) = state.splitter.push(&chunk, |frame| ready.push_back(frame)) {
                return Some((Err(error), None));
            }
            if state.ready.is_empty() {
                // A sign of life: a long frame on a slow line is not silence.
                return Some((Ok(Vec::new()), Some(state)));
            }
        }
    })
    .boxed_local()
}
