//! The numbers by which JavaScript knows objects: ids, as doubles.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::object::{Object, ObjectId, Pins as Handed};
use crate::watch::{KIND_BITS, WatchEvent};
use crate::web::error::to_js;

/// Objects that JavaScript may still read.
pub(super) struct Pins(pub(super) Rc<Handed>);

impl Pins {
    /// Hands an object out once more; JavaScript knows it by this number.
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        to_double(self.0.pin(object))
    }

    /// Hands the object of an event out. The first number is the event's kind, with the place of what the object was before in the higher bits.
    pub(super) fn pin_event(&self, event: &WatchEvent) -> (u32, f64) {
        let kind = event.kind as u32;
        let Some(before) = &event.before else { return (kind, self.pin(&event.object)) };
        let (id, place) = self.0.pin_update(&event.object, before);
        (kind | place << KIND_BITS, to_double(id))
    }

    /// What an object was before: by the place that its event told, or by its own number where `before` is negative. None where it is 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn before(&self, id: f64, before: f64) -> Result<Option<Rc<Object>>, JsValue> {
        if before < 0.0 { self.get(-before).map(Some) } else { Ok(self.0.before(to_id(id), before as u32)) }
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

#[allow(clippy::cast_precision_loss)]
fn to_double(id: ObjectId) -> f64 {
    id as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn to_id(id: f64) -> ObjectId {
    id as ObjectId
}
