//! A `Source` object of the user: `list` gives a body, `watch` an async iterable of frames.
//!
//! One that speaks etcd has another source beside it (`dialect.rs`), whose answers are the gateway's own. Then that one is asked, and its answers
//! are read here, so that no key or value becomes a value of JavaScript.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, future, stream};
use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

use super::abort::Abort;
use super::body::Body;
use super::dialect::{self, Answered};
use super::iterator::frames_of;
use crate::runtime::Timer;
use crate::source::etcd::{self, Dialect};
use crate::source::page::read_all;
use crate::source::{
    Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, WatchRequest, WriteParameters, WriteRequest, opened,
};
use crate::status::{Error, ErrorCode};
use crate::version::Version;
use crate::web::bytes::frame_bytes;
use crate::web::error::from_thrown;
use crate::web::runtime::WebRuntime;
use crate::web::values::{cast, property, set, text};

#[wasm_bindgen]
extern "C" {
    /// What the user gave.
    pub type JsSource;
    #[wasm_bindgen(method, catch)]
    fn list(this: &JsSource, request: &JsValue, signal: &AbortSignal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = currentResourceVersion)]
    fn current_version(this: &JsSource, signal: &AbortSignal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = requestProgress)]
    fn request_progress(this: &JsSource, signal: &AbortSignal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = compactedResourceVersion)]
    fn compacted_version(this: &JsSource, signal: &AbortSignal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn watch(this: &JsSource, request: &JsValue, signal: &AbortSignal) -> Result<JsValue, JsValue>;
}

/// A source written in JavaScript.
pub(in crate::web) struct ObjectSource {
    /// Whether it has `currentResourceVersion`.
    tells_version: bool,
    /// Whether it has `requestProgress`.
    makes_progress: bool,
    /// Whether it has `compactedResourceVersion`.
    tells_compaction: bool,
    collection: Option<Collection>,
    /// How its answers are read, where they are etcd's.
    dialect: Option<Dialect>,
    source: Rc<JsSource>,
    runtime: Rc<WebRuntime>,
}

impl ObjectSource {
    pub(in crate::web) fn new(source: JsSource) -> Self {
        let (source, dialect) = match dialect::of(&source) {
            Some((gateway, dialect)) => (gateway.unchecked_into(), Some(dialect)),
            None => (source, None),
        };
        let has = |name: &str| property(source.unchecked_ref(), name).is_some_and(|value| value.is_function());
        let (tells_version, makes_progress) = (has("currentResourceVersion"), has("requestProgress"));
        let tells_compaction = has("compactedResourceVersion");
        let collection = property(source.unchecked_ref(), "collection").filter(JsValue::is_object);
        let collection =
            collection.map(|given| Collection { namespace: text(&given, "namespace").filter(|text| !text.is_empty()), group: None });
        Self {
            tells_version,
            makes_progress,
            tells_compaction,
            collection,
            dialect,
            source: Rc::new(source),
            runtime: Rc::new(WebRuntime::new()),
        }
    }
}

impl Source for ObjectSource {
    fn collection(&self) -> Option<Collection> {
        self.collection.clone()
    }

    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        let source = self.source.clone();
        let asked = async move {
            let abort = Abort::new()?;
            version_of(settled(source.current_version(&abort.signal())).await?, "currentResourceVersion")
        };
        self.tells_version.then(|| asked.boxed_local())
    }

    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        let source = self.source.clone();
        let asked = async move {
            let abort = Abort::new()?;
            settled(source.request_progress(&abort.signal())).await.map(drop)
        };
        self.makes_progress.then(|| asked.boxed_local())
    }

    fn compacted_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        let source = self.source.clone();
        let asked = async move {
            let abort = Abort::new()?;
            version_of(settled(source.compacted_version(&abort.signal())).await?, "compactedResourceVersion")
        };
        self.tells_compaction.then(|| asked.boxed_local())
    }

    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let (source, dialect) = (self.source.clone(), self.dialect.clone());
        async move {
            let abort = Abort::new()?;
            let narrow = request.narrow.unwrap_or_default();
            let request = parameters(&[
                ("resourceVersion", request.resource_version.map(JsValue::from)),
                ("resourceVersionMatch", request.resource_version_match.map(JsValue::from)),
                ("limit", request.limit.map(JsValue::from)),
                ("continue", request.continue_token.map(JsValue::from)),
                ("namespace", narrow.namespace.map(JsValue::from)),
                ("name", narrow.name.map(JsValue::from)),
                ("labelSelector", narrow.labels.map(JsValue::from)),
                ("fieldSelector", narrow.fields.map(JsValue::from)),
            ]);
            let answer = settled(source.list(&request, &abort.signal())).await?;
            let body = property(&answer, "body").ok_or_else(|| Error::protocol("the source's list gave no body"))?;
            let page = stream_of(body, abort)?;
            Ok(match dialect {
                Some(dialect) => dialect::page(dialect, page, &answer),
                None => page,
            })
        }
        .boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let (source, dialect) = (self.source.clone(), self.dialect.clone());
        let runtime = self.runtime.clone();
        async move {
            let abort = Abort::new()?;
            let reader = dialect.map(|dialect| dialect::watch(dialect, &request)).transpose()?;
            let request = parameters(&[
                ("resourceVersion", Some(request.resource_version).filter(|version| !version.is_empty()).map(JsValue::from)),
                ("resourceVersionMatch", request.resource_version_match.map(JsValue::from)),
                ("sendInitialEvents", request.send_initial_events.map(JsValue::from)),
                ("allowWatchBookmarks", Some(request.allow_watch_bookmarks.into())),
                ("timeoutSeconds", Some(request.timeout_seconds.into())),
            ]);
            let iterable = source.watch(&request, &abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
            let frames = frames_of(&iterable, abort)?;
            match reader {
                // etcd says first that the watch is there.
                Some(reader) => opened(etcd::frames(reader, frames), future::pending().boxed_local()).await,
                None => opened(frames, runtime.yield_now()).await,
            }
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        cast::<Function>(&self.source, "get").is_some()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let request = parameters(&[
            ("namespace", filled(object.namespace)),
            ("name", Some(object.name.into())),
            ("subresource", subresource.map(JsValue::from)),
        ]);
        ask(self.source.clone(), self.dialect.clone(), "get", request).boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let (method, request) = match request {
            WriteRequest::Create { namespace, of, document, parameters } => {
                ("create", written(namespace, of, text_of(&document), parameters))
            }
            WriteRequest::Update { object, document, parameters } => {
                ("update", written(object.namespace, Some(object.name), text_of(&document), parameters))
            }
            WriteRequest::Patch { object, patch, parameters } => {
                let request = written(object.namespace, Some(object.name), text_of(&patch.document), parameters);
                set(request.unchecked_ref(), "type", &patch.kind.media_type().into());
                if patch.force {
                    set(request.unchecked_ref(), "force", &JsValue::TRUE);
                }
                ("patch", request)
            }
            WriteRequest::Delete { object, options } => {
                let body = text_of(&options.document());
                ("delete", written(object.namespace, Some(object.name), body, WriteParameters::default()))
            }
            WriteRequest::DeleteCollection { narrow, options } => {
                let request = parameters(&[
                    ("namespace", narrow.namespace.map(JsValue::from)),
                    ("labelSelector", narrow.labels.map(JsValue::from)),
                    ("fieldSelector", narrow.fields.map(JsValue::from)),
                    ("body", Some(text_of(&options.document()))),
                ]);
                ("deleteCollection", request)
            }
        };
        ask(self.source.clone(), self.dialect.clone(), method, request).boxed_local()
    }
}

/// What a call of the user's gave in the end, or what it threw.
async fn settled(called: Result<JsValue, JsValue>) -> Result<JsValue, Error> {
    let settled = async { JsFuture::from(Promise::resolve(&called?)).await };
    settled.await.map_err(|thrown| from_thrown(&thrown))
}

/// The version that a method of the source has answered with.
fn version_of(answer: JsValue, method: &str) -> Result<Version, Error> {
    let text = answer.as_string().ok_or_else(|| Error::protocol(format!("the source's {method} gave no text")))?;
    Version::parse(&text).map_err(|error| Error::protocol(format!("the source's {method}: {error}")))
}

/// Calls a method that the source may lack, and reads the document that it answers with; empty when it answers with none.
async fn ask(source: Rc<JsSource>, dialect: Option<Dialect>, method: &str, request: JsValue) -> Result<Vec<u8>, Error> {
    let Some(function) = cast::<Function>(&source, method) else {
        return Err(Error::new(ErrorCode::Invalid, format!("the source has no method {method}")));
    };
    let abort = Abort::new()?;
    let answer = settled(function.call2(&source, &request, &abort.signal())).await?;
    let Some(body) = property(&answer, "body") else { return Ok(Vec::new()) };
    let document = read_all(stream_of(body, abort)?).await?;
    match dialect {
        Some(dialect) => dialect::object(&dialect, &document, &Answered::of(&answer)),
        None => Ok(document),
    }
}

/// A document as text.
fn text_of(document: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(document))
}

/// What a method that writes one object is called with.
fn written(namespace: String, name: Option<String>, body: JsValue, said: WriteParameters) -> JsValue {
    parameters(&[
        ("namespace", filled(namespace)),
        ("name", name.map(JsValue::from)),
        ("subresource", said.subresource.map(JsValue::from)),
        ("dryRun", said.dry_run.then_some(JsValue::TRUE)),
        ("fieldManager", said.field_manager.map(JsValue::from)),
        ("fieldValidation", said.field_validation.map(JsValue::from)),
        ("body", Some(body)),
    ])
}

/// A text unless it is empty.
fn filled(text: String) -> Option<JsValue> {
    (!text.is_empty()).then(|| text.into())
}

/// A body: text, bytes, or a stream of bytes.
fn stream_of(body: JsValue, abort: Abort) -> Result<PageStream, Error> {
    if body.as_string().is_none() && property(&body, "getReader").is_some() {
        return Ok(Body::of(&body, abort)?.chunks());
    }
    let bytes = frame_bytes(&body)?;
    Ok(stream::once(future::ready(Ok(bytes))).boxed_local())
}

/// What a method of the source is called with: what is unset is left out.
fn parameters(members: &[(&str, Option<JsValue>)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        if let Some(value) = value {
            set(&object, name, value);
        }
    }
    object.into()
}
