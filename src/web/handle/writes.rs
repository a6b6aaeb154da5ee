//! Writes: documents out to the upstream, and what became of them back.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use super::options::{delete_options, deleting, patch_of, write_parameters};
use super::resource::{Inner, RawResource, until};
use crate::cache::{Failure, Written};
use crate::object::Object;
use crate::web::bytes::frame_bytes;
use crate::web::error::to_js;

#[wasm_bindgen]
impl RawResource {
    /// Adds an object, given as JSON text. Given up when `over` resolves.
    pub fn create(&self, document: &JsValue, parameters: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        let parameters = write_parameters(parameters)?;
        Ok(until(over, async move {
            let created = inner.resource.clone().create(document, parameters).await;
            created.map(|written| inner.written(written)).map_err(|error| to_js(&error))
        }))
    }

    /// Changes an object. `change` is called with an id that holds until it returns, and gives JSON text, or undefined to leave it alone.
    /// What it throws is what the promise rejects with. Given up when `over` resolves.
    pub fn update(&self, key: String, change: Function, parameters: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let parameters = write_parameters(parameters)?;
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
            match inner.resource.clone().update(key, parameters, call).await {
                Ok(written) => Ok(inner.written(written)),
                Err(Failure::Refused(error)) => Err(to_js(&error)),
                Err(Failure::Thrown(thrown)) => Err(thrown),
            }
        }))
    }

    /// Has the upstream change an object, by a patch that is given as JSON text. Given up when `over` resolves.
    #[wasm_bindgen(js_name = writePatch)]
    pub fn write_patch(&self, key: String, document: &JsValue, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        let (patch, parameters) = patch_of(document, options)?;
        Ok(until(over, async move {
            let patched = inner.resource.clone().patch(key, patch, parameters).await;
            patched.map(|written| inner.written(written)).map_err(|error| to_js(&error))
        }))
    }

    /// Gets a subresource as JSON text. Given up when `over` resolves.
    #[wasm_bindgen(js_name = getSubresource)]
    pub fn get_subresource(&self, key: String, subresource: String, over: Promise) -> Result<Promise, JsValue> {
        let resource = self.core()?.clone();
        Ok(until(over, async move {
            let got = resource.get_subresource(key, subresource).await;
            got.map(|document| text(&document)).map_err(|error| to_js(&error))
        }))
    }

    /// Deletes an object. Given up when `over` resolves.
    pub fn delete(&self, key: String, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let resource = self.core()?.clone();
        let options = delete_options(options)?;
        Ok(until(over, async move { resource.delete(key, options).await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) }))
    }

    /// Deletes all objects of a part of the resource. Given up when `over` resolves.
    #[wasm_bindgen(js_name = deleteCollection)]
    pub fn delete_collection(&self, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let resource = self.core()?.clone();
        let deleting = deleting(options)?;
        Ok(until(
            over,
            async move { resource.delete_collection(deleting).await.map(|()| JsValue::UNDEFINED).map_err(|error| to_js(&error)) },
        ))
    }
}

impl Inner {
    /// The answer to a write: the id of an object, or JSON text of another kind.
    fn written(&self, written: Written) -> JsValue {
        match written {
            Written::Object(object) => self.pin(&object).into(),
            Written::Document(document) => text(&document),
        }
    }
}

fn text(document: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(document))
}
