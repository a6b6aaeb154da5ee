//! The handle of one resource: its life. What else it does stands in the files beside this, one for each job.

use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};
use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::delivery::{Delivery, Hooks};
use super::metrics::{self, RawMetrics};
use super::stats;
use crate::cache::{Resource, ResourceConfig};
use crate::json::fields::FieldSet;
use crate::source::Source;
use crate::status::Error;
use crate::web::error::to_js;
use crate::web::panic::check;
use crate::web::runtime::WebRuntime;

/// What the handle and its callbacks share.
pub(super) struct Inner {
    pub(super) resource: Rc<Resource>,
    pub(super) delivery: Delivery,
    /// Kept for its room.
    pub(super) names: Cell<String>,
}

/// One resource. Every method may throw an error with a stable code; none calls into JavaScript before it returns.
#[wasm_bindgen(skip_typescript)]
pub struct RawResource(pub(super) Rc<Inner>);

impl RawResource {
    pub(in crate::web) fn new(config: ResourceConfig, source: Rc<dyn Source>, fields: FieldSet, hooks: Hooks) -> Result<Self, Error> {
        let resource = Resource::new(config, source, fields, Rc::new(WebRuntime::new()))?;
        let inner = Rc::new(Inner { resource, delivery: Delivery::new(hooks), names: Cell::default() });
        let weak = Rc::downgrade(&inner);
        inner.resource.on_flush(move |flush| {
            if let Some(inner) = weak.upgrade() {
                inner.delivery.deliver(&flush);
            }
        });
        let weak = Rc::downgrade(&inner);
        inner.resource.on_index(move |object| weak.upgrade().map(|inner| inner.delivery.index_values(object)).unwrap_or_default());
        Ok(Self(inner))
    }

    pub(in crate::web) fn resource(&self) -> &Rc<Resource> {
        &self.0.resource
    }
}

#[wasm_bindgen]
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
        let (now, flushes, pinned) = (self.0.resource.now(), self.0.delivery.flushes.get(), self.0.delivery.pins.len());
        Ok(self.0.resource.with(|cacher| stats::stats(cacher, now, flushes, pinned)))
    }

    /// Writes its metrics on a page.
    pub fn metrics(&self, page: &RawMetrics, group: &str, resource: &str, scope: &str) -> Result<(), JsValue> {
        check()?;
        self.0.resource.with(|cacher| metrics::write(page, cacher, group, resource, scope));
        Ok(())
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
