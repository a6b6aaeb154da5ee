//! The handle of one resource: its life. What else it does stands in the files beside this, one for each job.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};
use js_sys::{Float64Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::delivery::{Delivery, Hooks};
use super::metrics::{self, RawMetrics};
use super::stats;
use crate::cache::{Memory, Resource, ResourceConfig};
use crate::json::Columns;
use crate::object::Object;
use crate::relay::Relay;
use crate::source::Source;
use crate::status::Error;
use crate::time::{FOREVER, Millis};
use crate::watch::Outbox;
use crate::web::error::to_js;
use crate::web::keeper::JsKeeper;
use crate::web::panic::check;
use crate::web::runtime::WebRuntime;

/// What the handle and its callbacks share.
pub(super) struct Inner {
    pub(super) resource: Rc<Resource>,
    pub(super) source: Rc<dyn Source>,
    /// Once other threads have it as their source.
    pub(super) relay: OnceCell<Rc<Relay>>,
    pub(super) delivery: Delivery,
    /// What events are read by.
    pub(super) columns: RefCell<Option<Columns>>,
    /// Version and key of `facts`, used again so that they are allocated once.
    pub(super) names: Cell<String>,
}

/// One resource. Every method may throw an error with a stable code; none calls into JavaScript before it returns.
///
/// What it holds is reached by `sound` alone, in all files of this folder.
#[wasm_bindgen(skip_typescript)]
pub struct RawResource(Rc<Inner>);

impl RawResource {
    pub(in crate::web) fn new(config: ResourceConfig, source: Rc<dyn Source>, hooks: Hooks, memory: &Rc<Memory>) -> Result<Self, Error> {
        let resource = Resource::new(config, source.clone(), Rc::new(WebRuntime::new()))?;
        resource.share_memory(memory);
        let delivery = Delivery::new(hooks, resource.pins());
        let inner =
            Rc::new(Inner { resource, source, relay: OnceCell::new(), delivery, columns: RefCell::default(), names: Cell::default() });
        let weak = Rc::downgrade(&inner);
        inner.resource.on_flush(move |mut flush| {
            let Some(inner) = weak.upgrade() else { return };
            if let Some(relay) = inner.relay.get() {
                relay.take(&flush);
                flush.outbox = Outbox::default();
            }
            inner.delivery.deliver(&flush);
        });
        let weak = Rc::downgrade(&inner);
        inner.resource.on_index(move |object| weak.upgrade().map(|inner| inner.delivery.index_values(object)).unwrap_or_default());
        Ok(Self(inner))
    }

    /// The way of every method to what it needs. After a panic the state may be torn, and nothing is done with it any more.
    pub(super) fn sound(&self) -> Result<&Rc<Inner>, JsValue> {
        check().map(|()| &self.0)
    }

    /// The same, for those that need the core alone.
    pub(super) fn core(&self) -> Result<&Rc<Resource>, JsValue> {
        Ok(&self.sound()?.resource)
    }
}

impl Inner {
    /// Hands an object out; JavaScript knows it by this number.
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        self.delivery.pins.pin(object)
    }

    /// Hands these out.
    pub(super) fn pin_all<'a>(&self, objects: impl IntoIterator<Item = &'a Rc<Object>>) -> Float64Array {
        let ids: Vec<f64> = objects.into_iter().map(|object| self.pin(object)).collect();
        Float64Array::from(ids.as_slice())
    }

    /// What was handed out under this number.
    pub(super) fn pinned(&self, id: f64) -> Result<Rc<Object>, JsValue> {
        self.delivery.pins.get(id)
    }
}

#[wasm_bindgen]
impl RawResource {
    /// Opens the list and the watch.
    pub fn start(&self) -> Result<(), JsValue> {
        self.core()?.start();
        Ok(())
    }

    /// Has its state kept in this storage, from which nothing is taken that is older, in milliseconds. Called before `start`.
    pub fn persist(&self, keeper: JsKeeper, max_age: f64) -> Result<(), JsValue> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        self.core()?.persist(Rc::new(keeper), (max_age as Millis).min(FOREVER)).map_err(|error| to_js(&error))
    }

    /// What people see of it.
    pub fn status(&self) -> Result<JsValue, JsValue> {
        Ok(stats::status(&self.core()?.with(|cacher| cacher.status())))
    }

    /// Its counters and sizes.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        let Inner { resource, delivery, .. } = &**self.sound()?;
        let (now, flushes, pinned) = (resource.now(), delivery.flushes.get(), delivery.pins.len());
        let transport = resource.transport();
        Ok(resource.with(|cacher| stats::stats(cacher, now, flushes, pinned, transport)))
    }

    /// What its rows show, as JSON; nothing where it is not of rows, and before they are known.
    #[wasm_bindgen(js_name = tableColumns)]
    pub fn table_columns(&self) -> Result<Option<String>, JsValue> {
        Ok(self.core()?.columns().map(|columns| columns.to_string()))
    }

    /// Adds its metrics to an exposition.
    pub fn metrics(&self, exposition: &RawMetrics, group: &str, resource: &str, scope: &str) -> Result<(), JsValue> {
        self.core()?.with(|cacher| metrics::write(exposition, cacher, group, resource, scope));
        Ok(())
    }

    /// Resolves when the first list is applied.
    pub fn synced(&self) -> Result<Promise, JsValue> {
        Ok(done(self.core()?.clone().synced().boxed_local()))
    }

    /// Lists anew; resolves when that is applied. With `reset` a list of any version is taken.
    pub fn refresh(&self, reset: bool) -> Result<Promise, JsValue> {
        let resource = self.core()?.clone();
        Ok(done(if reset { resource.reset().boxed_local() } else { resource.refresh().boxed_local() }))
    }

    /// Has these namespaces from now on, and no others.
    #[wasm_bindgen(js_name = setNamespaces)]
    pub fn set_namespaces(&self, namespaces: Vec<String>) -> Result<(), JsValue> {
        self.core()?.set_namespaces(&namespaces).map_err(|error| to_js(&error))
    }

    /// Drops the stream, keeps what is held.
    pub fn pause(&self) -> Result<(), JsValue> {
        self.core()?.pause();
        Ok(())
    }

    /// Nobody uses it: drops the stream, and keeps what is held while there is memory for it. `resume` ends that.
    #[wasm_bindgen(js_name = goIdle)]
    pub fn go_idle(&self) -> Result<(), JsValue> {
        self.core()?.go_idle();
        Ok(())
    }

    /// Goes on, or tries at once.
    pub fn resume(&self) -> Result<(), JsValue> {
        self.core()?.resume();
        Ok(())
    }

    /// Somebody has come who may be able to say who asks: the next try waits no longer.
    #[wasm_bindgen(js_name = signedIn)]
    pub fn signed_in(&self) -> Result<(), JsValue> {
        self.core()?.signed_in();
        Ok(())
    }

    /// Closes for good.
    pub fn close(&self) -> Result<(), JsValue> {
        self.core()?.close();
        Ok(())
    }
}

/// A promise of work that is done or refused, and answers nothing.
fn done(work: LocalBoxFuture<'static, Result<(), Error>>) -> Promise {
    future_to_promise(async move { work.await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) })
}

/// Work that is dropped, its request with it, when `over` resolves: nobody waits for it any more.
pub(super) fn until(over: Promise, work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
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
