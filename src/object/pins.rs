//! Objects that were handed out by their numbers to somebody who holds no reference: JavaScript.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::decoded::Decoded;
use super::object::{Object, ObjectId};
use crate::allocation::shrink;
use crate::status::{Error, ErrorCode};
use crate::version::Version;

/// Bytes of a text whose decoded version is held for the next one. A few hundred larger ones would take too much.
const MAX_HELD_TEXT: usize = 64 << 10;
/// What a decoded version counts for each byte of its text. Engines take about twice the text.
const HELD_BYTES_PER_BYTE: usize = 2;

/// Objects that may still be read by number.
#[derive(Default)]
pub struct Pins {
    pinned: RefCell<FxHashMap<ObjectId, Pin>>,
    decoded: RefCell<Decoded>,
    held_bytes: Cell<usize>,
    frame_bytes: Cell<usize>,
    /// Whether events have versions that their objects do not have.
    local: Cell<bool>,
}

struct Pin {
    object: Rc<Object>,
    /// How often it was handed out and not given back.
    times: u32,
    /// Bytes that it counts, because JavaScript holds it decoded for the sake of its next version. 0 if it does not.
    held: usize,
    /// The version of the first event that told of it; 0 where that is its own.
    told_at: u64,
}

impl Pins {
    /// Events have versions that their objects do not have: they are kept with them.
    pub fn set_local(&self) {
        self.local.set(true);
    }

    /// The same for the object of an event at this version.
    pub fn pin_told(&self, object: &Rc<Object>, version: &Version) -> ObjectId {
        let id = self.pin(object);
        if self.local.get()
            && let (Some(pin), Some(version)) = (self.pinned.borrow_mut().get_mut(&id), version.as_u64())
            && (pin.told_at == 0 || version < pin.told_at)
        {
            // Whoever goes on from an earlier event hears of it again, and from a later one might miss something.
            pin.told_at = version;
        }
        id
    }

    /// The version at which an object was told, where it is not its own.
    pub fn told_at(&self, id: ObjectId) -> Option<Version> {
        self.pinned.borrow().get(&id).filter(|pin| pin.told_at > 0).map(|pin| Version::from(pin.told_at))
    }

    /// Hands an object out once more. It can be read by its number until it was given back as often.
    pub fn pin(&self, object: &Rc<Object>) -> ObjectId {
        let id = object.id();
        let mut pins = self.pinned.borrow_mut();
        let pin = pins.entry(id).or_insert_with(|| {
            object.pinned(true);
            Pin { object: object.clone(), times: 0, held: 0, told_at: 0 }
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
                (entry.get().times == 0).then(|| entry.remove())
            }
            Entry::Vacant(_) => None,
        };
        // Dropped after the borrow: it may be the last reference to much.
        if let Some(Pin { object, held, .. }) = gone {
            shrink(&mut self.pinned.borrow_mut());
            object.pinned(false);
            self.held_bytes.set(self.held_bytes.get() - held);
            self.decoded.borrow_mut().gone(&object);
        }
    }

    /// JavaScript decodes this object now. Returns the newest version of it that was decoded before, unless that was long ago. It may be this
    /// one, and it may have been given back since.
    pub fn decode(&self, object: &Object) -> Option<ObjectId> {
        object.mark_decoded();
        self.decoded.borrow_mut().decode(object)
    }

    /// Bytes that this object counts while JavaScript holds it for the sake of its next version. `None` if it is too large to be held.
    pub fn held_cost(object: &Object) -> Option<usize> {
        let (length, _) = object.form();
        (length <= MAX_HELD_TEXT).then_some(length * HELD_BYTES_PER_BYTE)
    }

    /// From now on JavaScript holds this object, decoded, for the sake of its next version: it counts so many bytes. With 0 it does no more.
    pub fn hold(&self, id: ObjectId, cost: usize) {
        if let Some(pin) = self.pinned.borrow_mut().get_mut(&id) {
            self.held_bytes.set(self.held_bytes.get() - std::mem::replace(&mut pin.held, cost) + cost);
        }
    }

    /// From now on JavaScript holds so many bytes of frames, for the sake of the next frames of their objects.
    pub fn hold_frames(&self, bytes: usize) {
        self.frame_bytes.set(bytes);
    }

    /// Bytes of those frames.
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes.get()
    }

    /// JavaScript is to let go of all of them, objects and frames. Whether there are any.
    pub fn let_go(&self) -> bool {
        // At its bound, memory asks for each message.
        if self.held_bytes() == 0 {
            return false;
        }
        self.pinned.borrow_mut().values_mut().for_each(|pin| pin.held = 0);
        self.held_bytes.set(0);
        self.frame_bytes.set(0);
        true
    }

    /// Bytes of what JavaScript holds for the sake of next versions, decoded or as frames.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes.get() + self.frame_bytes.get()
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
    fn an_object_that_was_told_at_another_version_has_that_of_the_first_event() {
        let (pins, object) = (Pins::default(), named("a", 1));
        let id = pins.pin_told(&object, &Version::from(9));
        assert_eq!(pins.told_at(id), None, "its own says it");
        pins.set_local();
        for version in [9, 7, 8] {
            pins.pin_told(&object, &Version::from(version));
        }
        assert_eq!(pins.told_at(id), Some(Version::from(7)));
        (0..4).for_each(|_| pins.release(id));
        pins.pin(&object);
        assert_eq!(pins.told_at(id), None);
    }

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
    fn law_08_bounded_what_many_pins_took_is_given_back_with_them() {
        let (pins, objects) = (Pins::default(), (0..20_000).map(|number| named(&number.to_string(), 1)).collect::<Vec<_>>());
        objects.iter().for_each(|object| _ = pins.decode(&pins.get(pins.pin(object)).unwrap()));
        objects[50..].iter().for_each(|object| pins.release(object.id()));
        assert!(pins.pinned.borrow().capacity() <= 1_024);
        let remembered = pins.decoded.borrow().places();
        assert!(remembered <= 4_096, "some hundred keys are, in {remembered} places");
        assert!(objects[..50].iter().all(|object| pins.get(object.id()).is_ok()));
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
    fn shr_04_what_is_held_counts_twice_its_text_until_it_is_let_go_of_or_given_back() {
        let pins = Pins::default();
        let objects = [1, 2, 3].map(|version| named("a", version));
        let twice = |object: &Object| 2 * object.text().len();
        for object in &objects {
            let id = pins.pin(object);
            pins.hold(id, Pins::held_cost(object).unwrap());
            pins.hold(id, Pins::held_cost(object).unwrap());
        }
        assert_eq!(pins.held_bytes(), objects.iter().map(|object| twice(object)).sum::<usize>(), "each of them once");
        pins.hold_frames(100);
        pins.hold_frames(70);
        assert_eq!((pins.frame_bytes(), pins.held_bytes()), (70, 70 + objects.iter().map(|object| twice(object)).sum::<usize>()));
        pins.hold_frames(0);
        pins.hold(objects[0].id(), 0);
        pins.release(objects[1].id());
        pins.hold(objects[1].id(), 7);
        assert_eq!(pins.held_bytes(), twice(&objects[2]));
        assert!(pins.let_go() && !pins.let_go());
        pins.hold_frames(1);
        assert!(pins.let_go() && !pins.let_go());
        assert_eq!(pins.held_bytes(), 0);
        pins.release(objects[2].id());
        assert_eq!(pins.held_bytes(), 0);
    }

    #[test]
    fn an_object_is_decoded_until_it_was_given_back() {
        let (pins, object) = (Pins::default(), named("a", 1));
        let id = pins.pin(&object);
        assert!(!object.is_decoded());
        pins.decode(&object);
        assert!(object.is_decoded());
        pins.release(id);
        assert!(!object.is_decoded());
        pins.pin(&object);
        assert!(!object.is_decoded(), "handed out again, and not decoded since");
    }

    #[test]
    fn what_was_never_handed_out_cannot_be_given_back_nor_read() {
        let (pins, object) = (Pins::default(), named("a", 1));
        pins.release(object.id());
        assert!(pins.is_empty() && !object.is_pinned());
        assert!(pins.get(object.id()).is_err());
    }
}
