//! What a listener tells its handler.

use std::cell::Cell;
use std::rc::Rc;

use crate::key::Key;
use crate::object::Object;

/// What happened. The numbers are those that cross to JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NotificationKind {
    /// An object is new.
    Added = 0,
    /// An object of the state that the handler began with.
    InitiallyAdded = 1,
    /// An object changed.
    Updated = 2,
    /// An object is told once more, unchanged: by a resync, or by a list that brought it at the version held.
    Resynced = 3,
    /// An object is gone, and this is its last state.
    Deleted = 4,
    /// An object is gone, and its deletion was missed: this is the last state that was seen.
    DeletedUnseen = 5,
    /// The listener's queue is full. Until it is empty, changes of one object merge.
    Overflowed = 6,
}

impl NotificationKind {
    /// Whether the object is gone.
    pub fn is_deletion(self) -> bool {
        matches!(self, Self::Deleted | Self::DeletedUnseen)
    }

    /// Whether the object is new to the handler.
    pub fn is_addition(self) -> bool {
        matches!(self, Self::Added | Self::InitiallyAdded)
    }
}

/// One notification, shared by all who receive it. It holds objects, never copies.
pub struct Notification {
    /// What happened.
    pub kind: NotificationKind,
    /// The object after it, or the last state of a deletion. `None` where it is about no object.
    pub object: Option<Rc<Object>>,
    /// The object before it, where there was one.
    pub old: Option<Rc<Object>>,
    // Where it stands in the table of the flush under way: the number of the flush, and the place.
    place: Cell<(u64, u32)>,
}

impl Notification {
    /// A notification of an object.
    pub fn new(kind: NotificationKind, object: Rc<Object>, old: Option<Rc<Object>>) -> Rc<Self> {
        Rc::new(Self { kind, object: Some(object), old, place: Cell::new((0, 0)) })
    }

    /// The notification that a queue is full.
    pub fn overflow() -> Rc<Self> {
        Rc::new(Self { kind: NotificationKind::Overflowed, object: None, old: None, place: Cell::new((0, 0)) })
    }

    /// A notification of each object, the same to all who hear it. A resync names the object as its own predecessor.
    pub(super) fn of_each<'a>(objects: impl Iterator<Item = &'a Rc<Object>>, kind: NotificationKind) -> Vec<Rc<Self>> {
        let old = |object: &Rc<Object>| (kind == NotificationKind::Resynced).then(|| object.clone());
        objects.map(|object| Self::new(kind, object.clone(), old(object))).collect()
    }

    /// The key of its object.
    pub fn key(&self) -> Option<&Key> {
        self.object.as_ref().map(|object| object.key())
    }

    /// Its place in the table of a flush, if it has one there.
    pub(super) fn place_in(&self, flush: u64) -> Option<u32> {
        let (of, place) = self.place.get();
        (of == flush).then_some(place)
    }

    /// Gives it a place in the table of a flush.
    pub(super) fn set_place(&self, flush: u64, place: u32) {
        self.place.set((flush, place));
    }
}

/// For tests and messages: `A(ns/name@1)`, `A!` for the initial state, `U(ns/name@1->2)`, `D`, and `T` for a deletion that was missed.
impl std::fmt::Debug for Notification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(object) = &self.object else { return f.write_str("OVERFLOW") };
        let letter = match self.kind {
            NotificationKind::Added => "A",
            NotificationKind::InitiallyAdded => "A!",
            NotificationKind::Updated | NotificationKind::Resynced => "U",
            NotificationKind::Deleted => "D",
            NotificationKind::DeletedUnseen => "T",
            NotificationKind::Overflowed => "OVERFLOW",
        };
        match &self.old {
            Some(old) if letter == "U" => write!(f, "U({}@{}->{})", object.key(), old.version(), object.version()),
            _ => write!(f, "{letter}({object:?})"),
        }
    }
}
