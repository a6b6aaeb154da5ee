//! Writes: documents out to the upstream, and what became of them back.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use super::options::delete_options;
use super::resource::{RawResource, until};
use crate::cache::Failure;
use crate::object::Object;
use crate::web::bytes::frame_bytes;
use crate::web::error::to_js;

#[wasm_bindgen]
impl RawResource {
    /// Adds an object, given as JSON text. Given up when `over` resolves.
    pub fn create(&self, document: &JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        Ok(until(over, async move {
            let created = inner.resource.clone().create(document).await;
            created.map(|object| inner.pin(&object).into()).map_err(|error| to_js(&error))
        }))
    }

    /// Changes an object. `change` is called with an id that holds until it returns, and gives JSON text, or undefined to leave it alone.
    /// What it throws is what the promise rejects with. Given up when `over` resolves.
    pub fn update(&self, key: String, change: Function, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        Ok(until(over, async move {
            let call = |object: &Rc<Object>| {
                let id = inner.pin(object);
                let given = change.call1(&JsValue::UNDEFINED, &id.into());
                inner.delivery.pins.release(id);
                match given? {
                    none if none.is_undefined() => Ok(None),
                    text => frame_bytes(&text).map(Some).map_err(|error| to_js(&error)),
                }
            };
            match inner.resource.clone().update(key, call).await {
                Ok(object) => Ok(inner.pin(&object).into()),
                Err(Failure::Refused(error)) => Err(to_js(&error)),
                Err(Failure::Thrown(thrown)) => Err(thrown),
            }
        }))
    }

    /// Deletes an object. Given up when `over` resolves.
    pub fn delete(&self, key: String, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let resource = self.core()?.clone();
        let options = delete_options(options)?;
        Ok(until(over, async move { resource.delete(key, options).await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) }))
    }
}
