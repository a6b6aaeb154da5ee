//! Objects by their ids: decoded, as bytes, field by field, and given back.

use std::rc::Rc;

use js_sys::{Array, Float64Array, JSON, JsString, Uint8Array};
use wasm_bindgen::prelude::*;

use super::resource::RawResource;
use crate::json::scalar::Scalar;
use crate::object::Object;
use crate::selector::parse_path;
use crate::web::error::to_js;
use crate::web::panic::check;
use crate::web::texts::{parse, short};

impl RawResource {
    /// Hands an object out; JavaScript knows it by this number.
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        self.0.delivery.pins.pin(object)
    }

    /// What was handed out under this number.
    pub(super) fn pinned(&self, id: f64) -> Result<Rc<Object>, JsValue> {
        check()?;
        self.0.delivery.pins.get(id)
    }

    /// Hands these out.
    pub(super) fn pin_all<'a>(&self, objects: impl IntoIterator<Item = &'a Rc<Object>>) -> Float64Array {
        let ids: Vec<f64> = objects.into_iter().map(|object| self.pin(object)).collect();
        Float64Array::from(ids.as_slice())
    }
}

#[wasm_bindgen]
impl RawResource {
    /// Decodes an object.
    pub fn parse(&self, id: f64) -> Result<JsValue, JsValue> {
        parse(&self.pinned(id)?.lend())
    }

    /// A copy of an object's bytes.
    pub fn raw(&self, id: f64) -> Result<Uint8Array, JsValue> {
        Ok(Uint8Array::from(&*self.pinned(id)?.lend()))
    }

    /// A copy of the bytes of these objects, as one JSON array.
    #[wasm_bindgen(js_name = rawList)]
    pub fn raw_list(&self, ids: &Float64Array) -> Result<Uint8Array, JsValue> {
        check()?;
        let objects = ids.to_vec().into_iter().map(|id| self.pinned(id)).collect::<Result<Vec<_>, JsValue>>()?;
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
        let object = self.pinned(id)?;
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
        let object = self.pinned(id)?;
        let path = parse_path("path", path).map_err(|error| to_js(&error))?;
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
            self.0.delivery.pins.release(id);
        }
    }

    /// JavaScript has collected what it did not hold, so what it still holds counts as memory.
    pub fn collected(&self) -> Result<(), JsValue> {
        check()?;
        self.0.resource.collected();
        Ok(())
    }

    /// The keys of pinned objects.
    #[wasm_bindgen(js_name = keysOf)]
    pub fn keys_of(&self, ids: &Float64Array) -> Result<Array, JsValue> {
        check()?;
        ids.to_vec().into_iter().map(|id| Ok(JsValue::from_str(self.pinned(id)?.key()))).collect()
    }
}
