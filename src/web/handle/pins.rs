//! The numbers by which JavaScript knows objects: ids, as doubles.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::object::{Object, ObjectId, Pins as Handed};
use crate::web::error::to_js;

/// Objects that JavaScript may still read.
pub(super) struct Pins(pub(super) Rc<Handed>);

impl Pins {
    /// Hands an object out once more; JavaScript knows it by this number.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        self.0.pin(object) as f64
    }

    /// What was handed out under this number.
    pub(super) fn get(&self, id: f64) -> Result<Rc<Object>, JsValue> {
        self.0.get(to_id(id)).map_err(|error| to_js(&error))
    }

    /// It was given back once.
    pub(super) fn release(&self, id: f64) {
        self.0.release(to_id(id));
    }

    /// How many objects are handed out.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn to_id(id: f64) -> ObjectId {
    id as ObjectId
}
