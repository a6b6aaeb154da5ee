//! The numbers by which JavaScript knows objects: ids, as doubles.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::object::{Object, ObjectId, Pins as Handed};
use crate::watch::{KINDS_OF_EVENTS, WatchEvent};
use crate::web::error::to_js;

/// Objects that JavaScript may still read.
pub(super) struct Pins(pub(super) Rc<Handed>);

impl Pins {
    /// Hands an object out once more; JavaScript knows it by this number.
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        to_double(self.0.pin(object))
    }

    /// Hands out the object of an event. Returns two numbers: of the event, and of its object.
    pub(super) fn pin_event(&self, event: &WatchEvent) -> [f64; 2] {
        let before = event.before.map_or(0.0, to_double) * f64::from(KINDS_OF_EVENTS);
        [f64::from(event.kind as u8) + before, to_double(self.0.pin_told(&event.object, &event.version))]
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
