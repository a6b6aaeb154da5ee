//! The handle of one resource: calls in, packed flushes out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};
use js_sys::{Array, Float64Array, Function, JSON, JsString, Promise, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::cache::{Failure, Flush, Resource, ResourceConfig};
use crate::informer::Notifications;
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::object::{IndexValues, Object};
use crate::source::Source;
use crate::status::Error;
use crate::store::IndexBy;
use crate::watch::Demand;
use crate::web::bytes::frame_bytes;
use crate::web::error::{invalid_option, to_js};
use crate::web::informer::PackedNotices;
use crate::web::metrics::{self, RawMetrics};
use crate::web::options::{delete_options, list_options, watch_options};
use crate::web::panic::check;
use crate::web::pins::Pins;
use crate::web::runtime::{WebRuntime, global_function};
use crate::web::stats;
use crate::web::texts::{parse, short};

#[wasm_bindgen]
extern "C" {
    /// Whom the facade gave to hear of changes.
    pub type Hooks;
    #[wasm_bindgen(method, catch)]
    fn flush(
        this: &Hooks,
        events: &Float64Array,
        pairs: &Uint32Array,
        ended: &Uint32Array,
        views: &Uint32Array,
        signals: u32,
        audience: u32,
    ) -> Result<(), JsValue>;
    /// A flush that is one event for one watcher, or for the last audience told, and nothing else: no more than numbers cross.
    #[wasm_bindgen(method, catch)]
    fn event(this: &Hooks, kind: u32, id: f64, watcher: u32, audience: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn notify(
        this: &Hooks,
        table: &Float64Array,
        pairs: &Uint32Array,
        handlers: &Uint32Array,
        informers: &Uint32Array,
        interruptions: &Array,
    ) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = indexValues)]
    fn index_values(this: &Hooks, id: f64) -> Result<Array, JsValue>;
}

/// Typed arrays that live in JavaScript and are filled anew at each flush, so that a flush allocates nothing of size there.
pub(super) struct Scratch {
    events: Float64Array,
    pairs: Uint32Array,
    none: Uint32Array,
    empty: Array,
}

impl Scratch {
    fn new() -> Self {
        Self {
            events: Float64Array::new_with_length(64),
            pairs: Uint32Array::new_with_length(256),
            none: Uint32Array::new_with_length(0),
            empty: Array::new(),
        }
    }

    pub(super) fn events(&mut self, values: &[f64]) -> Float64Array {
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.events.length() < length {
            self.events = Float64Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.events.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    pub(super) fn pairs(&mut self, values: &[u32]) -> Uint32Array {
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.pairs.length() < length {
            self.pairs = Uint32Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.pairs.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    pub(super) fn empty(&self) -> Array {
        self.empty.clone()
    }

    pub(super) fn rare(&self, values: &[u32]) -> Uint32Array {
        if values.is_empty() { self.none.clone() } else { Uint32Array::from(values) }
    }
}

struct Inner {
    resource: Rc<Resource>,
    hooks: Hooks,
    pins: Pins,
    scratch: RefCell<Scratch>,
    flushes: Cell<u64>,
    // The number of the audience that was told last.
    audience: Cell<u32>,
    // Kept for its room.
    names: Cell<String>,
}

impl Inner {
    /// One crossing for all of it. Nothing is borrowed while the hook runs.
    #[allow(clippy::cast_precision_loss)]
    fn deliver(&self, flush: &Flush) {
        self.flushes.set(self.flushes.get() + 1);
        if !flush.notifications.is_empty() {
            self.notify(&flush.notifications);
            if flush.outbox.is_empty() && flush.views.is_empty() && flush.signals == 0 {
                return;
            }
        }
        if self.deliver_one(flush) {
            return;
        }
        let mut events = Vec::with_capacity(flush.outbox.events.len() * 2);
        for event in &flush.outbox.events {
            events.push(f64::from(event.kind as u8));
            events.push(self.pins.pin(&event.object));
        }
        let ended: Vec<u32> = flush.outbox.ended.iter().flat_map(|(id, reason)| [id.number(), *reason as u32]).collect();
        let audience = flush.outbox.audience();
        let number = audience.map_or(0, |audience| audience.number);
        let (events, pairs, ended, views) = {
            let mut scratch = self.scratch.borrow_mut();
            let events = scratch.events(&events);
            let pairs = match audience {
                // Whoever receives this knows them.
                Some(_) if self.audience.get() == number => scratch.rare(&[]),
                Some(audience) => scratch.pairs(&audience.watchers.iter().map(|watcher| watcher.number()).collect::<Vec<_>>()),
                None => scratch.pairs(&flush.outbox.pairs()),
            };
            (events, pairs, scratch.rare(&ended), scratch.rare(&flush.views.iter().map(|view| view.number()).collect::<Vec<_>>()))
        };
        if number != 0 {
            self.audience.set(number);
        }
        if let Err(thrown) = self.hooks.flush(&events, &pairs, &ended, &views, flush.signals, number) {
            self.audience.set(0);
            report(&thrown);
        }
    }
}

impl Inner {
    /// What most flushes of a quiet stream are: one event, and nothing else. Returns whether it was that.
    fn deliver_one(&self, flush: &Flush) -> bool {
        let outbox = &flush.outbox;
        let [event] = &outbox.events[..] else { return false };
        if !outbox.ended.is_empty() || !flush.views.is_empty() || flush.signals != 0 {
            return false;
        }
        let (watcher, audience) = match outbox.audience() {
            Some(audience) if self.audience.get() == audience.number => (0, audience.number),
            Some(_) => return false,
            None => match *outbox.pairs() {
                [watcher, _] => (watcher, 0),
                _ => return false,
            },
        };
        if let Err(thrown) = self.hooks.event(event.kind as u32, self.pins.pin(&event.object), watcher, audience) {
            report(&thrown);
        }
        true
    }

    /// Handlers of informers are told by a call of their own: pages without any do not carry its arguments.
    fn notify(&self, notices: &Notifications) {
        let PackedNotices { table, pairs, handlers, informers, interruptions } =
            PackedNotices::of(notices, &|object| self.pins.pin(object), &mut self.scratch.borrow_mut());
        if let Err(thrown) = self.hooks.notify(&table, &pairs, &handlers, &informers, &interruptions) {
            report(&thrown);
        }
    }

    /// The values of an object in the computed indexes, by the facade's functions.
    fn index_values(&self, object: &Rc<Object>) -> IndexValues {
        let values = match self.hooks.index_values(self.pins.pin(object)) {
            Ok(values) => values,
            Err(thrown) => {
                report(&thrown);
                return IndexValues::default();
            }
        };
        let texts = |values: JsValue| Array::from(&values).iter().filter_map(|value| value.as_string()).map(Into::into).collect();
        values.iter().map(texts).collect()
    }
}

/// What escapes the facade is told to the host as an uncaught error; it stops nothing here.
fn report(thrown: &JsValue) {
    if let Some(function) = global_function("reportError") {
        let _reported = function.call1(&JsValue::UNDEFINED, thrown);
    } else if let Some(function) = global_function("queueMicrotask") {
        let thrown = thrown.clone();
        let rethrow = Closure::once_into_js(move || -> Result<(), JsValue> { Err(thrown) });
        let _reported = function.call1(&JsValue::UNDEFINED, &rethrow);
    }
}

/// One resource. Every method may throw an error with a stable code; none calls into JavaScript before it returns.
#[wasm_bindgen(skip_typescript)]
pub struct RawResource(Rc<Inner>);

impl RawResource {
    pub(super) fn new(config: ResourceConfig, source: Rc<dyn Source>, fields: FieldSet, hooks: Hooks) -> Result<Self, Error> {
        let computed = config.indexes.iter().any(|index| matches!(index.by, IndexBy::Computed(_)));
        let resource = Resource::new(config, source, fields, Rc::new(WebRuntime::new()))?;
        let inner = Rc::new(Inner {
            resource,
            hooks,
            pins: Pins::default(),
            scratch: RefCell::new(Scratch::new()),
            flushes: Cell::new(0),
            audience: Cell::new(0),
            names: Cell::default(),
        });
        let weak = Rc::downgrade(&inner);
        inner.resource.on_flush(move |flush| {
            if let Some(inner) = weak.upgrade() {
                inner.deliver(&flush);
            }
        });
        if computed {
            let weak = Rc::downgrade(&inner);
            inner.resource.on_index(move |object| weak.upgrade().map(|inner| inner.index_values(object)).unwrap_or_default());
        }
        Ok(Self(inner))
    }

    pub(super) fn resource(&self) -> &Rc<Resource> {
        &self.0.resource
    }

    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        self.0.pins.pin(object)
    }

    pub(super) fn pinned(&self, id: f64) -> Result<Rc<Object>, JsValue> {
        check()?;
        self.0.pins.get(id)
    }

    pub(super) fn pin_all<'a>(&self, objects: impl IntoIterator<Item = &'a Rc<Object>>) -> Float64Array {
        let ids: Vec<f64> = objects.into_iter().map(|object| self.0.pins.pin(object)).collect();
        Float64Array::from(ids.as_slice())
    }
}

#[wasm_bindgen]
#[allow(clippy::cast_precision_loss)]
impl RawResource {
    /// Opens the list and the watch.
    pub fn start(&self) -> Result<(), JsValue> {
        check()?;
        self.0.resource.start();
        Ok(())
    }

    /// What people see of it.
    pub fn status(&self) -> Result<JsValue, JsValue> {
        check()?;
        Ok(stats::status(&self.0.resource.with(|cacher| cacher.status())))
    }

    /// Numbers.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        check()?;
        let (now, flushes, pinned) = (self.0.resource.now(), self.0.flushes.get(), self.0.pins.len());
        Ok(self.0.resource.with(|cacher| stats::stats(cacher, now, flushes, pinned)))
    }

    /// Writes its metrics on a page.
    pub fn metrics(&self, page: &RawMetrics, group: &str, resource: &str, scope: &str) -> Result<(), JsValue> {
        check()?;
        self.0.resource.with(|cacher| metrics::write(page, cacher, group, resource, scope));
        Ok(())
    }

    /// Decodes an object.
    pub fn parse(&self, id: f64) -> Result<JsValue, JsValue> {
        check()?;
        parse(&self.0.pins.get(id)?.lend())
    }

    /// A copy of an object's bytes.
    pub fn raw(&self, id: f64) -> Result<Uint8Array, JsValue> {
        check()?;
        Ok(Uint8Array::from(&*self.0.pins.get(id)?.lend()))
    }

    /// A copy of the bytes of these objects, as one JSON array.
    #[wasm_bindgen(js_name = rawList)]
    pub fn raw_list(&self, ids: &Float64Array) -> Result<Uint8Array, JsValue> {
        check()?;
        let objects = ids.to_vec().into_iter().map(|id| self.0.pins.get(id)).collect::<Result<Vec<_>, JsValue>>()?;
        let mut bytes = Vec::with_capacity(2 + objects.iter().map(|object| object.form().0 + 1).sum::<usize>());
        bytes.push(b'[');
        for (at, object) in objects.iter().enumerate() {
            if at > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(&object.lend());
        }
        bytes.push(b']');
        Ok(Uint8Array::from(bytes.as_slice()))
    }

    /// An object's version and its key, with a space between them.
    pub fn names(&self, id: f64) -> Result<JsString, JsValue> {
        check()?;
        let object = self.0.pins.get(id)?;
        let mut names = self.0.names.take();
        names.clear();
        object.version().append_to(&mut names);
        names.push(' ');
        names.push_str(object.key());
        let text = short(&names);
        self.0.names.set(names);
        Ok(text)
    }

    /// One field, without decoding the object; a sub-document is decoded alone.
    pub fn field(&self, id: f64, path: &str) -> Result<JsValue, JsValue> {
        check()?;
        let object = self.0.pins.get(id)?;
        let path = Path::parse(path).map_err(|error| to_js(&invalid_option("path", &error.to_string())))?;
        let text = object.text();
        let Some(span) = path.find(&text) else { return Ok(JsValue::UNDEFINED) };
        Ok(match Scalar::from_raw(&text[span.clone()]) {
            Scalar::Missing => JsValue::UNDEFINED,
            Scalar::Null => JsValue::NULL,
            Scalar::Bool(value) => value.into(),
            Scalar::Text(value) => JsValue::from_str(&value),
            Scalar::Number(value) => JSON::parse(&value)?,
            Scalar::Composite => parse(&text[span])?,
        })
    }

    /// Gives objects back.
    pub fn release(&self, ids: &Float64Array) {
        for id in ids.to_vec() {
            self.0.pins.release(id);
        }
    }

    /// JavaScript has collected what it did not hold, so what it still holds counts as memory.
    pub fn collected(&self) -> Result<(), JsValue> {
        check()?;
        self.0.resource.collected();
        Ok(())
    }

    /// The object under a key; 0 when there is none.
    pub fn peek(&self, key: &str) -> Result<f64, JsValue> {
        check()?;
        let found = self.0.resource.with(|cacher| cacher.store().get(key).cloned());
        Ok(found.map_or(0.0, |object| self.0.pins.pin(&object)))
    }

    /// The objects under a value of an index, by key.
    #[wasm_bindgen(js_name = byIndex)]
    pub fn by_index(&self, index: &str, value: &str) -> Result<Float64Array, JsValue> {
        check()?;
        let objects =
            self.0.resource.with(|cacher| cacher.store().by_index(index, value).map(|objects| objects.cloned().collect::<Vec<_>>()));
        let objects = objects.map_err(|error| to_js(&error))?;
        Ok(self.pin_all(&objects))
    }

    /// The values of an index, in their order.
    #[wasm_bindgen(js_name = indexValues)]
    pub fn index_values(&self, index: &str) -> Result<Array, JsValue> {
        check()?;
        let values = self.0.resource.with(|cacher| cacher.store().index_values(index)).map_err(|error| to_js(&error))?;
        Ok(values.iter().map(|value| JsValue::from_str(value)).collect())
    }

    /// How many objects are held.
    pub fn size(&self) -> Result<f64, JsValue> {
        check()?;
        Ok(self.0.resource.with(|cacher| cacher.store().len()) as f64)
    }

    /// Opens a watch.
    pub fn watch(&self, options: JsValue) -> Result<u32, JsValue> {
        check()?;
        let (options, wait) = watch_options(options)?;
        Ok(self.0.resource.watch(options, wait).number())
    }

    /// What the subscriber takes from now on, by its number.
    pub fn demand(&self, watcher: u32, mode: u8) -> Result<(), JsValue> {
        check()?;
        self.0.resource.demand(watcher.into(), Demand::numbered(mode).unwrap_or(Demand::None));
        Ok(())
    }

    /// Ends a watch.
    pub fn stop(&self, watcher: u32) -> Result<(), JsValue> {
        check()?;
        self.0.resource.stop(watcher.into());
        Ok(())
    }

    /// Why a watch was refused.
    pub fn refusal(&self, watcher: u32) -> Result<JsValue, JsValue> {
        check()?;
        let refusal = self.0.resource.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.refusal().cloned()));
        Ok(refusal.map_or(JsValue::UNDEFINED, |error| to_js(&error)))
    }

    /// The version from which an ended watch can be resumed.
    #[wasm_bindgen(js_name = lastVersion)]
    pub fn last_version(&self, watcher: u32) -> Result<Option<String>, JsValue> {
        check()?;
        let version =
            self.0.resource.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.resume_from().cloned()));
        Ok(version.filter(|version| !version.is_zero()).map(|version| version.to_string()))
    }

    /// Gives a watcher's id back.
    pub fn forget(&self, watcher: u32) -> Result<(), JsValue> {
        check()?;
        self.0.resource.with(|cacher| cacher.dispatcher_mut().forget(watcher.into()));
        Ok(())
    }

    /// Lists. Given up when `over` resolves.
    pub fn list(&self, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        check()?;
        let options = list_options("list options", options)?;
        let this = Self(self.0.clone());
        Ok(until(over, async move {
            let listed = this.0.resource.clone().list(options).await.map_err(|error| to_js(&error))?;
            let answer = js_sys::Object::new();
            let set = |name: &str, value: &JsValue| js_sys::Reflect::set(&answer, &name.into(), value);
            set("ids", &this.pin_all(&listed.objects))?;
            set("resourceVersion", &listed.version.to_string().into())?;
            if let Some(token) = &listed.continue_token {
                set("continue", &token.into())?;
            }
            if let Some(count) = listed.remaining {
                set("remainingItemCount", &(count as f64).into())?;
            }
            if let Some(shard) = &listed.shard {
                set("shardSelector", &shard.into())?;
            }
            Ok(answer.into())
        }))
    }

    /// Gets one object. Given up when `over` resolves.
    pub fn get(&self, key: String, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        check()?;
        let options = list_options("get options", options)?;
        let this = Self(self.0.clone());
        Ok(until(over, async move {
            let got = this.0.resource.clone().get(key, options.resource_version).await;
            got.map(|object| this.0.pins.pin(&object).into()).map_err(|error| to_js(&error))
        }))
    }

    /// Adds an object, given as JSON text. Given up when `over` resolves.
    pub fn create(&self, document: &JsValue, over: Promise) -> Result<Promise, JsValue> {
        check()?;
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        let this = Self(self.0.clone());
        Ok(until(over, async move {
            let created = this.0.resource.clone().create(document).await;
            created.map(|object| this.0.pins.pin(&object).into()).map_err(|error| to_js(&error))
        }))
    }

    /// Changes an object. `change` is called with an id that holds until it returns, and gives JSON text, or undefined to leave it alone;
    /// what it throws is what the promise rejects with. Given up when `over` resolves.
    pub fn update(&self, key: String, change: Function, over: Promise) -> Result<Promise, JsValue> {
        check()?;
        let this = Self(self.0.clone());
        Ok(until(over, async move {
            let call = |object: &Rc<Object>| {
                let id = this.0.pins.pin(object);
                let given = change.call1(&JsValue::UNDEFINED, &id.into());
                this.0.pins.release(id);
                match given? {
                    none if none.is_undefined() => Ok(None),
                    text => frame_bytes(&text).map(Some).map_err(|error| to_js(&error)),
                }
            };
            match this.0.resource.clone().update(key, call).await {
                Ok(object) => Ok(this.0.pins.pin(&object).into()),
                Err(Failure::Refused(error)) => Err(to_js(&error)),
                Err(Failure::Thrown(thrown)) => Err(thrown),
            }
        }))
    }

    /// Deletes an object. Given up when `over` resolves.
    pub fn delete(&self, key: String, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        check()?;
        let options = delete_options(options)?;
        let resource = self.0.resource.clone();
        Ok(until(over, async move { resource.delete(key, options).await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) }))
    }

    /// Resolves when the first list is applied.
    pub fn synced(&self) -> Promise {
        let resource = self.0.resource.clone();
        future_to_promise(async move { resource.synced().await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) })
    }

    /// Lists anew; resolves when that is applied. With `reset` whatever the list's version.
    pub fn refresh(&self, reset: bool) -> Promise {
        let resource = self.0.resource.clone();
        future_to_promise(async move {
            let listed = if reset { resource.reset().await } else { resource.refresh().await };
            listed.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error))
        })
    }

    /// Drops the stream, keeps what is held.
    pub fn pause(&self) {
        self.0.resource.pause();
    }

    /// Nobody uses it: drops the stream, and keeps what is held while there is memory for it. `resume` ends that.
    #[wasm_bindgen(js_name = goIdle)]
    pub fn go_idle(&self) {
        self.0.resource.go_idle();
    }

    /// Goes on, or tries at once.
    pub fn resume(&self) {
        self.0.resource.resume();
    }

    /// Closes for good.
    pub fn close(&self) {
        self.0.resource.close();
    }
}

/// Work that is dropped, its request with it, when `over` resolves: nobody waits for it any more.
fn until(over: Promise, work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    first_of(work.boxed_local(), over)
}

// Compiled once, and not for each kind of work.
fn first_of(work: LocalBoxFuture<'static, Result<JsValue, JsValue>>, over: Promise) -> Promise {
    future_to_promise(async move {
        match select(work, JsFuture::from(over)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Ok(JsValue::UNDEFINED),
        }
    })
}
