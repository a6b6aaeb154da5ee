//! A `Source` object of the user: `list` gives a body, `watch` an async iterable of frames.

use std::rc::Rc;

use futures::future::{Either, LocalBoxFuture, select};
use futures::{FutureExt, StreamExt, stream};
use js_sys::{Function, Object, Promise, Reflect, Symbol};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

use crate::runtime::Timer;
use crate::source::page::read_all;
use crate::source::{Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, WatchRequest, WriteRequest};
use crate::status::{Error, ErrorCode};
use crate::version::Version;
use crate::web::body::Chunks;
use crate::web::bytes::frame_bytes;
use crate::web::error::from_thrown;
use crate::web::fetch::Abort;
use crate::web::runtime::WebRuntime;
use crate::web::values::{cast, property, text};

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
    #[wasm_bindgen(method, catch)]
    fn watch(this: &JsSource, request: &JsValue, signal: &AbortSignal) -> Result<JsValue, JsValue>;
}

/// A source written in JavaScript.
pub(super) struct ObjectSource {
    /// Whether it tells its current version, and whether it can be asked for progress.
    tells: (bool, bool),
    collection: Option<Collection>,
    source: Rc<JsSource>,
    runtime: Rc<WebRuntime>,
}

impl ObjectSource {
    pub(super) fn new(source: JsSource) -> Self {
        let has = |name: &str| property(source.unchecked_ref(), name).is_some_and(|value| value.is_function());
        let tells = (has("currentResourceVersion"), has("requestProgress"));
        let collection = property(source.unchecked_ref(), "collection").filter(JsValue::is_object);
        let collection = collection.map(|given| Collection { namespace: text(&given, "namespace").filter(|text| !text.is_empty()) });
        Self { tells, collection, source: Rc::new(source), runtime: Rc::new(WebRuntime::new()) }
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
            let answer = source.current_version(&abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
            let answer = JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| from_thrown(&thrown))?;
            let text = answer.as_string().ok_or_else(|| Error::protocol("the source's currentResourceVersion gave no text"))?;
            Version::parse(&text).map_err(|error| Error::protocol(format!("the source's currentResourceVersion: {error}")))
        };
        self.tells.0.then(|| asked.boxed_local())
    }

    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        let source = self.source.clone();
        let asked = async move {
            let abort = Abort::new()?;
            let answer = source.request_progress(&abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
            JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| from_thrown(&thrown))?;
            Ok(())
        };
        self.tells.1.then(|| asked.boxed_local())
    }

    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let source = self.source.clone();
        async move {
            let abort = Abort::new()?;
            let narrow = request.narrow.unwrap_or_default();
            let request = bag(&[
                ("resourceVersion", request.resource_version.map(JsValue::from)),
                ("resourceVersionMatch", request.resource_version_match.map(JsValue::from)),
                ("limit", request.limit.map(JsValue::from)),
                ("continue", request.continue_token.map(JsValue::from)),
                ("namespace", narrow.namespace.map(JsValue::from)),
                ("name", narrow.name.map(JsValue::from)),
                ("labelSelector", narrow.labels.map(JsValue::from)),
                ("fieldSelector", narrow.fields.map(JsValue::from)),
            ]);
            let answer = source.list(&request, &abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
            let answer = JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| from_thrown(&thrown))?;
            let body = property(&answer, "body").ok_or_else(|| Error::protocol("the source's list gave no body"))?;
            stream_of(body, abort)
        }
        .boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let source = self.source.clone();
        let runtime = self.runtime.clone();
        async move {
            let abort = Abort::new()?;
            let request = bag(&[
                ("resourceVersion", Some(request.resource_version).filter(|version| !version.is_empty()).map(JsValue::from)),
                ("resourceVersionMatch", request.resource_version_match.map(JsValue::from)),
                ("sendInitialEvents", request.send_initial_events.map(JsValue::from)),
                ("allowWatchBookmarks", Some(request.allow_watch_bookmarks.into())),
                ("timeoutSeconds", Some(request.timeout_seconds.into())),
            ]);
            let iterable = source.watch(&request, &abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
            let iterator = Iterator::of(&iterable, abort)?;
            // A refusal comes with the first step. One that is not settled soon is an open stream with nothing to say yet.
            let mut first = iterator.step().boxed_local();
            let early = match select(&mut first, runtime.yield_now()).await {
                Either::Left((frame, _)) => Some(frame),
                Either::Right(_) => None,
            };
            match early {
                Some(Some(Err(error))) => Err(error),
                Some(None) => Ok(stream::empty().boxed_local()),
                Some(Some(Ok(frame))) => {
                    drop(first);
                    Ok(stream::once(async { Ok(frame) }).chain(iterator.frames()).boxed_local())
                }
                None => {
                    let first = first.into_stream().filter_map(|frame| async { frame });
                    Ok(first.chain(iterator.frames()).boxed_local())
                }
            }
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        cast::<Function>(&self.source, "get").is_some()
    }

    fn get(&self, object: ObjectName) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let request = bag(&[("namespace", filled(object.namespace)), ("name", Some(object.name.into()))]);
        ask(self.source.clone(), "get", request).boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let (method, request) = match request {
            WriteRequest::Create { namespace, document } => {
                ("create", bag(&[("namespace", filled(namespace)), ("body", Some(text_of(&document)))]))
            }
            WriteRequest::Update { object, document } => (
                "update",
                bag(&[("namespace", filled(object.namespace)), ("name", Some(object.name.into())), ("body", Some(text_of(&document)))]),
            ),
            WriteRequest::Delete { object, options } => (
                "delete",
                bag(&[
                    ("namespace", filled(object.namespace)),
                    ("name", Some(object.name.into())),
                    ("body", Some(text_of(&options.document()))),
                ]),
            ),
        };
        ask(self.source.clone(), method, request).boxed_local()
    }
}

/// Calls a method that the source may lack, and reads the document that it answers with; empty when it answers with none.
async fn ask(source: Rc<JsSource>, method: &str, request: JsValue) -> Result<Vec<u8>, Error> {
    let Some(function) = cast::<Function>(&source, method) else {
        return Err(Error::new(ErrorCode::Invalid, format!("the source has no method {method}")));
    };
    let abort = Abort::new()?;
    let answer = function.call2(&source, &request, &abort.signal()).map_err(|thrown| from_thrown(&thrown))?;
    let answer = JsFuture::from(Promise::resolve(&answer)).await.map_err(|thrown| from_thrown(&thrown))?;
    match property(&answer, "body") {
        Some(body) => read_all(stream_of(body, abort)?).await,
        None => Ok(Vec::new()),
    }
}

fn text_of(document: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(document))
}

fn filled(text: String) -> Option<JsValue> {
    (!text.is_empty()).then(|| text.into())
}

/// A body: text, bytes, or a stream of bytes.
fn stream_of(body: JsValue, abort: Abort) -> Result<PageStream, Error> {
    if body.as_string().is_none() && property(&body, "getReader").is_some() {
        let chunks = Chunks::of(&body)?;
        let bodies = stream::unfold((chunks, abort), |(chunks, abort)| async move {
            let item = chunks.next().await?;
            Some((item, (chunks, abort)))
        });
        return Ok(bodies.boxed_local());
    }
    let bytes = frame_bytes(&body)?;
    Ok(stream::once(async { Ok(bytes) }).boxed_local())
}

fn bag(entries: &[(&str, Option<JsValue>)]) -> JsValue {
    let object = Object::new();
    for (name, value) in entries {
        if let Some(value) = value {
            // Setting a property of a fresh object cannot fail.
            let _set = Reflect::set(&object, &JsValue::from_str(name), value);
        }
    }
    object.into()
}

/// An async iterator; its `return` is called when it is dropped before its end.
#[derive(Clone)]
struct Iterator(Rc<Inner>);

struct Inner {
    iterator: JsValue,
    next: Function,
    _abort: Abort,
}

impl Iterator {
    fn of(iterable: &JsValue, abort: Abort) -> Result<Self, Error> {
        let none = || Error::protocol("the source's watch gave no async iterable");
        let make = |symbol: Symbol| -> Option<JsValue> {
            let function: Function = Reflect::get(iterable, &symbol).ok()?.dyn_into().ok()?;
            function.call0(iterable).ok()
        };
        let iterator = make(Symbol::async_iterator()).or_else(|| make(Symbol::iterator())).ok_or_else(none)?;
        let next: Function = property(&iterator, "next").and_then(|next| next.dyn_into().ok()).ok_or_else(none)?;
        Ok(Self(Rc::new(Inner { iterator, next, _abort: abort })))
    }

    /// The next frame; `None` at the end.
    fn step(&self) -> impl Future<Output = Option<Result<Vec<u8>, Error>>> + 'static {
        let inner = self.0.clone();
        async move {
            let result = async {
                let answer = inner.next.call0(&inner.iterator)?;
                JsFuture::from(Promise::resolve(&answer)).await
            };
            match result.await {
                Err(thrown) => Some(Err(from_thrown(&thrown))),
                Ok(result) if property(&result, "done").is_some_and(|done| done.is_truthy()) => None,
                Ok(result) => {
                    let value = property(&result, "value").unwrap_or(JsValue::UNDEFINED);
                    Some(frame_bytes(&value))
                }
            }
        }
    }

    fn frames(self) -> impl futures::Stream<Item = Result<Vec<u8>, Error>> + 'static {
        stream::unfold(self, |iterator| async move {
            let item = iterator.step().await?;
            Some((item, iterator))
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(function) = property(&self.iterator, "return").and_then(|value| value.dyn_into::<Function>().ok()) {
            // The stream is given up: what its end throws concerns nobody.
            if let Ok(promise) = function.call0(&self.iterator)
                && let Ok(promise) = promise.dyn_into::<Promise>()
            {
                wasm_bindgen_futures::spawn_local(async move {
                    let _end = JsFuture::from(promise).await;
                });
            }
        }
    }
}
