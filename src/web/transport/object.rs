//! A `Source` object of the user: `list` gives a body, `watch` an async iterable of frames.
//!
//! One that a module exports is loaded by its first request: before that it says nothing of itself.
//!
//! One that speaks etcd has another source beside it (`dialect.rs`), whose answers are the gateway's own. Then that one is asked, and its answers
//! are read here, so that no key or value becomes a value of JavaScript.

use std::cell::RefCell;
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
    given: Rc<Given>,
    runtime: Rc<WebRuntime>,
}

/// What was given: the source, or what loads it.
struct Given {
    load: Option<Function>,
    there: RefCell<Option<Rc<Parts>>>,
}

/// A source that is there.
struct Parts {
    source: JsSource,
    /// How its answers are read, where they are etcd's.
    dialect: Option<Dialect>,
}

impl Parts {
    fn of(source: JsSource) -> Rc<Self> {
        Rc::new(match dialect::of(&source) {
            Some((gateway, dialect)) => Self { source: gateway.unchecked_into(), dialect: Some(dialect) },
            None => Self { source, dialect: None },
        })
    }

    fn has(&self, name: &str) -> bool {
        cast::<Function>(&self.source, name).is_some()
    }
}

impl Given {
    /// The source, which is loaded if it is not there. A load that fails is repeated by whoever asks next.
    async fn parts(&self) -> Result<Rc<Parts>, Error> {
        let there = self.there.borrow().clone();
        let (None, Some(load)) = (&there, &self.load) else {
            return there.ok_or_else(|| Error::protocol("there is no source"));
        };
        let loaded = settled(load.call0(&JsValue::UNDEFINED)).await?;
        let parts = self.there.borrow_mut().get_or_insert_with(|| Parts::of(loaded.unchecked_into())).clone();
        Ok(parts)
    }
}

impl ObjectSource {
    /// `given` is a source, or a function that resolves to one.
    pub(in crate::web) fn new(given: JsSource) -> Self {
        let load = given.dyn_ref::<Function>().cloned();
        let there = load.is_none().then(|| Parts::of(given));
        Self { given: Rc::new(Given { load, there: RefCell::new(there) }), runtime: Rc::new(WebRuntime::new()) }
    }

    /// What is there already, if it has this method.
    fn with(&self, method: &str) -> Option<Rc<Parts>> {
        self.given.there.borrow().clone().filter(|parts| parts.has(method))
    }
}

impl Source for ObjectSource {
    fn collection(&self) -> Option<Collection> {
        let parts = self.given.there.borrow().clone()?;
        let given = property(parts.source.unchecked_ref(), "collection").filter(JsValue::is_object)?;
        Some(Collection { namespace: text(&given, "namespace").filter(|text| !text.is_empty()), group: None })
    }

    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        let parts = self.with("currentResourceVersion")?;
        let asked = async move {
            let abort = Abort::new()?;
            version_of(settled(parts.source.current_version(&abort.signal())).await?, "currentResourceVersion")
        };
        Some(asked.boxed_local())
    }

    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        let parts = self.with("requestProgress")?;
        let asked = async move {
            let abort = Abort::new()?;
            settled(parts.source.request_progress(&abort.signal())).await.map(drop)
        };
        Some(asked.boxed_local())
    }

    fn compacted_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        if self.given.there.borrow().is_none() {
            // Whoever asks again later hears whether it does.
            return Some(async { Err(Error::protocol("there is no source yet")) }.boxed_local());
        }
        let parts = self.with("compactedResourceVersion")?;
        let asked = async move {
            let abort = Abort::new()?;
            version_of(settled(parts.source.compacted_version(&abort.signal())).await?, "compactedResourceVersion")
        };
        Some(asked.boxed_local())
    }

    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let given = self.given.clone();
        async move {
            let (parts, abort) = (given.parts().await?, Abort::new()?);
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
            let answer = settled(parts.source.list(&request, &abort.signal())).await?;
            let body = property(&answer, "body").ok_or_else(|| Error::protocol("the source's list gave no body"))?;
            let page = stream_of(body, abort)?;
            Ok(match &parts.dialect {
                Some(dialect) => dialect::page(dialect.clone(), page, &answer),
                None => page,
            })
        }
        .boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let (given, runtime) = (self.given.clone(), self.runtime.clone());
        async move {
            let (parts, abort) = (given.parts().await?, Abort::new()?);
            let reader = parts.dialect.clone().map(|dialect| dialect::watch(dialect, &request)).transpose()?;
            let request = parameters(&[
                ("resourceVersion", Some(request.resource_version).filter(|version| !version.is_empty()).map(JsValue::from)),
                ("resourceVersionMatch", request.resource_version_match.map(JsValue::from)),
                ("sendInitialEvents", request.send_initial_events.map(JsValue::from)),
                ("allowWatchBookmarks", Some(request.allow_watch_bookmarks.into())),
                ("timeoutSeconds", Some(request.timeout_seconds.into())),
            ]);
            let iterable = parts.source.watch(&request, &abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
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
        self.with("get").is_some()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let request = parameters(&[
            ("namespace", filled(object.namespace)),
            ("name", Some(object.name.into())),
            ("subresource", subresource.map(JsValue::from)),
        ]);
        ask(self.given.clone(), "get", request).boxed_local()
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
        ask(self.given.clone(), method, request).boxed_local()
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
async fn ask(given: Rc<Given>, method: &str, request: JsValue) -> Result<Vec<u8>, Error> {
    let parts = given.parts().await?;
    let Some(function) = cast::<Function>(&parts.source, method) else {
        return Err(Error::new(ErrorCode::Invalid, format!("the source has no method {method}")));
    };
    let abort = Abort::new()?;
    let answer = settled(function.call2(&parts.source, &request, &abort.signal())).await?;
    let Some(body) = property(&answer, "body") else { return Ok(Vec::new()) };
    let document = read_all(stream_of(body, abort)?).await?;
    match &parts.dialect {
        Some(dialect) => dialect::object(dialect, &document, &Answered::of(&answer)),
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
