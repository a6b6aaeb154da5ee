//! Objects that were handed out by their numbers to somebody who holds no reference: JavaScript.

use std::cell::{RefCell, RefMut};
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::decoded::Decoded;
use super::object::{Object, ObjectId};
use crate::status::{Error, ErrorCode};

/// Objects that may still be read by number.
#[derive(Default)]
pub struct Pins {
    pinned: RefCell<FxHashMap<ObjectId, Pin>>,
    decoded: RefCell<Decoded>,
}

struct Pin {
    object: Rc<Object>,
    /// How often it was handed out and not given back.
    times: u32,
}

impl Pins {
    /// Hands an object out once more. It can be read by its number until it was given back as often.
    pub fn pin(&self, object: &Rc<Object>) -> ObjectId {
        let id = object.id();
        let mut pins = self.pinned.borrow_mut();
        let pin = pins.entry(id).or_insert_with(|| {
            object.pinned(true);
            Pin { object: object.clone(), times: 0 }
        });
        pin.times += 1;
        id
    }

    /// What was handed out under this number. Fails with code `internal` when it was given back.
    pub fn get(&self, id: ObjectId) -> Result<Rc<Object>, Error> {
        let found = self.pinned.borrow().get(&id).map(|pin| pin.object.clone());
        found.ok_or_else(|| Error::new(ErrorCode::Internal, "an object was read after it was given back"))
    }

    /// It was given back once. The last time ends its pin; once more is ignored.
    pub fn release(&self, id: ObjectId) {
        let gone = match self.pinned.borrow_mut().entry(id) {
            Entry::Occupied(mut entry) => {
                entry.get_mut().times -= 1;
                (entry.get().times == 0).then(|| entry.remove().object)
            }
            Entry::Vacant(_) => None,
        };
        // Dropped after the borrow: it may be the last reference to much.
        if let Some(object) = gone {
            object.pinned(false);
            self.decoded.borrow_mut().gone(&object);
        }
    }

    /// Which of them were decoded.
    pub fn decoded(&self) -> RefMut<'_, Decoded> {
        self.decoded.borrow_mut()
    }

    /// How many objects are handed out.
    pub fn len(&self) -> usize {
        self.pinned.borrow().len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn an_object_is_readable_until_it_was_given_back_as_often_as_it_was_handed_out() {
        let (pins, object) = (Pins::default(), named("a", 1));
        let id = pins.pin(&object);
        assert_eq!((pins.pin(&object), pins.len()), (id, 1), "one number, one entry");
        pins.release(id);
        assert!(object.is_pinned() && Rc::ptr_eq(&pins.get(id).unwrap(), &object));
        pins.release(id);
        assert!(!object.is_pinned() && pins.is_empty());
        assert_eq!(pins.get(id).unwrap_err().code, ErrorCode::Internal);
    }

    #[test]
    fn a_pin_is_one_reference_and_only_as_long_as_it_lasts() {
        let (pins, object) = (Pins::default(), named("a", 1));
        let id = pins.pin(&object);
        pins.pin(&object);
        assert_eq!(Rc::strong_count(&object), 2);
        pins.release(id);
        pins.release(id);
        assert_eq!(Rc::strong_count(&object), 1);
    }

    #[test]
    fn what_was_never_handed_out_cannot_be_given_back_nor_read() {
        let (pins, object) = (Pins::default(), named("a", 1));
        pins.release(object.id());
        assert!(pins.is_empty() && !object.is_pinned());
        assert!(pins.get(object.id()).is_err());
    }
}
