//! Objects that were handed out to JavaScript, by number.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wasm_bindgen::JsValue;

use crate::object::{Object, ObjectId};
use crate::status::{Error, ErrorCode};
use crate::web::error::to_js;

/// Objects that JavaScript may still read, and how often each was handed out.
#[derive(Default)]
pub(super) struct Pins(RefCell<FxHashMap<ObjectId, (Rc<Object>, u32)>>);

impl Pins {
    /// Hands an object out once more; JavaScript knows it by this number.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn pin(&self, object: &Rc<Object>) -> f64 {
        let id = object.id();
        let mut pins = self.0.borrow_mut();
        let pin = pins.entry(id).or_insert_with(|| {
            object.pinned(true);
            (object.clone(), 0)
        });
        pin.1 += 1;
        id as f64
    }

    /// What was handed out under this number. Fails with code `internal` when it was given back.
    pub(super) fn get(&self, id: f64) -> Result<Rc<Object>, JsValue> {
        let found = self.0.borrow().get(&to_id(id)).map(|(object, _)| object.clone());
        found.ok_or_else(|| to_js(&Error::new(ErrorCode::Internal, "an object was read after it was given back")))
    }

    /// It was given back once. The last time ends its pin.
    pub(super) fn release(&self, id: f64) {
        let gone = match self.0.borrow_mut().entry(to_id(id)) {
            Entry::Occupied(mut entry) => {
                entry.get_mut().1 -= 1;
                if entry.get().1 == 0 { Some(entry.remove().0) } else { None }
            }
            Entry::Vacant(_) => None,
        };
        if let Some(object) = gone {
            object.pinned(false);
        }
    }

    /// How many objects are handed out.
    pub(super) fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn to_id(id: f64) -> ObjectId {
    id as ObjectId
}
