//! Read your writes: what was written shows at once, before the stream has brought it. client-go's `MutationCache`.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::time::{Instant, Millis};
use crate::version::Version;

/// Objects that may wait for the stream at once, as in client-go. The oldest give way.
pub(super) const MAX_OBJECTS: usize = 100;
/// How long an object may wait. If the stream has not brought the write by then, it was lost or undone.
pub(super) const MAX_WAIT_MS: Millis = 5 * 60 * 1000;

/// Objects as they were written, until the stream has come as far.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    written: FxHashMap<Key, Written>,
    deleted: FxHashMap<Key, Deleted>,
}

#[derive(Debug)]
struct Written {
    object: Rc<Object>,
    at: Instant,
    // Its values in indexes by a function, by the index's name. Only those that somebody has asked for.
    values: Vec<(Box<str>, Vec<Rc<str>>)>,
}

/// A deletion that the stream has told. Answers of writes that were under way meanwhile are older than it.
#[derive(Debug)]
struct Deleted {
    version: Version,
    uid: Option<Box<str>>,
    at: Instant,
}

impl Overlay {
    /// An object as a write left it. It is ignored when the stream has told of its deletion.
    pub(super) fn mutated(&mut self, object: &Rc<Object>, now: Instant) {
        self.expire(now);
        if let Some(deleted) = self.deleted.get(object.key())
            && (*object.version() <= deleted.version || same_uid(deleted.uid.as_deref(), object.uid()))
        {
            return;
        }
        if self.written.get(object.key()).is_some_and(|held| held.object.version() >= object.version()) {
            return;
        }
        make_room(&mut self.written, |written| written.at);
        self.written.insert(object.key().clone(), Written { object: object.clone(), at: now, values: Vec::new() });
    }

    /// Bytes of what is shown beyond what the stream has brought.
    pub(super) fn bytes(&self) -> usize {
        self.written.values().map(|written| written.object.size() + size_of::<(Key, Written)>()).sum()
    }

    /// The stream brought this object.
    pub(super) fn stored(&mut self, object: &Object) {
        if self.written.get(object.key()).is_some_and(|written| written.object.version() <= object.version()) {
            self.written.remove(object.key());
        }
        if self.deleted.get(object.key()).is_some_and(|deleted| deleted.version < *object.version()) {
            self.deleted.remove(object.key());
        }
    }

    /// The stream told that an object is gone. `object` has the version of its deletion, or its last one where the deletion was missed.
    pub(super) fn deleted(&mut self, object: &Object, now: Instant) {
        self.expire(now);
        let gone = |written: &Written| written.object.version() <= object.version() || same_uid(written.object.uid(), object.uid());
        if self.written.get(object.key()).is_some_and(gone) {
            self.written.remove(object.key());
        }
        make_room(&mut self.deleted, |deleted| deleted.at);
        let deleted = Deleted { version: object.version().clone(), uid: object.uid().map(Into::into), at: now };
        self.deleted.insert(object.key().clone(), deleted);
    }

    /// What a reader sees under a key where this is held.
    pub(super) fn newer<'a>(&'a self, key: &str, held: Option<&'a Rc<Object>>, now: Instant) -> Option<&'a Rc<Object>> {
        let written = self.written.get(key).filter(|written| now.since(written.at) < MAX_WAIT_MS).map(|written| &written.object);
        match (held, written) {
            (Some(held), Some(written)) if held.version() >= written.version() => Some(held),
            (_, Some(written)) => Some(written),
            (held, None) => held,
        }
    }

    /// What was written and the stream has not brought.
    pub(super) fn waiting(&self, now: Instant) -> impl Iterator<Item = &Rc<Object>> {
        self.written.values().filter(move |written| now.since(written.at) < MAX_WAIT_MS).map(|written| &written.object)
    }

    /// What waits for the stream, and for its values in an index by a function.
    pub(super) fn undecided(&self, index: &str, now: Instant) -> impl Iterator<Item = &Rc<Object>> {
        self.waiting(now).filter(move |object| self.values(index, object).is_none())
    }

    /// Its values in an index by a function. They count for that very object.
    pub(super) fn decide(&mut self, index: &str, key: &str, id: ObjectId, values: Vec<Rc<str>>) {
        if let Some(written) = self.written.get_mut(key).filter(|written| written.object.id() == id) {
            written.values.retain(|(name, _)| **name != *index);
            written.values.push((index.into(), values));
        }
    }

    /// The values that were given for this very object in an index. `None` where none were, or where it does not wait here.
    pub(super) fn values(&self, index: &str, object: &Object) -> Option<&[Rc<str>]> {
        let written = self.written.get(object.key()).filter(|written| written.object.id() == object.id())?;
        written.values.iter().find(|(name, _)| **name == *index).map(|(_, values)| &**values)
    }

    /// Whether this very object waits here.
    pub(super) fn holds(&self, object: &Object) -> bool {
        self.written.get(object.key()).is_some_and(|written| written.object.id() == object.id())
    }

    /// Whether there is nothing to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    fn expire(&mut self, now: Instant) {
        self.written.retain(|_, written| now.since(written.at) < MAX_WAIT_MS);
        self.deleted.retain(|_, deleted| now.since(deleted.at) < MAX_WAIT_MS);
    }
}

fn make_room<V>(held: &mut FxHashMap<Key, V>, at: impl Fn(&V) -> Instant) {
    if held.len() < MAX_OBJECTS {
        return;
    }
    let oldest = held.iter().min_by_key(|(_, value)| at(value)).map(|(key, _)| key.clone());
    if let Some(key) = oldest {
        held.remove(&key);
    }
}

fn same_uid(a: Option<&str>, b: Option<&str>) -> bool {
    a.is_some() && a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::fields::FieldSet;
    use crate::testing::document;
    use crate::time::at;

    fn object(uid: &str, version: u64) -> Rc<Object> {
        let text = format!(r#"{{"metadata":{{"name":"x","uid":"{uid}","resourceVersion":"{version}"}}}}"#);
        document(&text, &FieldSet::new(Vec::new()))
    }

    fn shown(overlay: &Overlay, held: Option<&Rc<Object>>) -> Option<u64> {
        overlay.newer("x", held, Instant::START).map(|object| object.version().as_u64().unwrap())
    }

    fn with(version: u64) -> Overlay {
        let mut overlay = Overlay::default();
        overlay.mutated(&object("uid-1", version), Instant::START);
        overlay
    }

    #[test]
    fn mu_01_what_was_written_shows_until_the_stream_has_come_as_far() {
        for (told, kept) in [(1, true), (2, false), (3, false)] {
            let mut overlay = with(2);
            let told = object("uid-1", told);
            overlay.stored(&told);
            assert_eq!(overlay.is_empty(), !kept);
            assert_eq!(shown(&overlay, Some(&told)), Some(if kept { 2 } else { told.version().as_u64().unwrap() }));
        }
    }

    #[test]
    fn mu_02_a_deletion_takes_what_was_written_of_that_object_or_before() {
        for (uid, version, shows) in [("uid-1", 1, None), ("uid-2", 3, None), ("uid-2", 1, Some(3))] {
            let mut overlay = with(3);
            assert_eq!(shown(&overlay, Some(&object("uid-1", 2))), Some(3));
            overlay.deleted(&object(uid, version), Instant::START);
            assert_eq!(shown(&overlay, None), shows, "{uid} at {version}");
        }
    }

    #[test]
    fn mu_04_an_object_made_anew_is_read_as_the_stream_brought_it() {
        for deletion_seen in [true, false] {
            let mut overlay = with(2);
            if deletion_seen {
                overlay.deleted(&object("uid-1", 2), Instant::START);
            }
            let anew = object("uid-2", 3);
            overlay.stored(&anew);
            assert!(overlay.is_empty(), "the write was of an earlier object");
            overlay.mutated(&object("uid-1", 2), Instant::START); // an answer that was slow
            assert_eq!(shown(&overlay, Some(&anew)), Some(3));
            assert_eq!(overlay.newer("x", Some(&anew), Instant::START).unwrap().uid(), Some("uid-2"));
        }
    }

    #[test]
    fn mu_05_what_was_added_and_deleted_again_stays_away() {
        let mut overlay = with(2);
        assert_eq!(overlay.waiting(Instant::START).count(), 1);
        overlay.deleted(&object("uid-1", 3), Instant::START);
        assert_eq!(overlay.waiting(Instant::START).count(), 0);
        overlay.mutated(&object("uid-1", 2), Instant::START);
        overlay.mutated(&object("uid-1", 4), Instant::START);
        assert_eq!(shown(&overlay, None), None, "older than the deletion, or of the object that is gone");
        overlay.mutated(&object("uid-2", 4), Instant::START);
        assert_eq!(shown(&overlay, None), Some(4));
    }

    #[test]
    fn mu_01_it_holds_so_many_for_so_long() {
        let mut overlay = Overlay::default();
        for number in 0..MAX_OBJECTS as u64 + 20 {
            overlay.mutated(&crate::testing::named(&format!("pod{number}"), 1), at(number));
        }
        assert_eq!(overlay.waiting(at(200)).count(), MAX_OBJECTS);
        assert!(overlay.newer("pod19", None, at(200)).is_none() && overlay.newer("pod20", None, at(200)).is_some());
        assert_eq!(overlay.waiting(at(20 + MAX_WAIT_MS)).count(), MAX_OBJECTS - 1, "the oldest has waited long enough");
    }

    #[test]
    fn a_deletion_is_remembered_as_long_as_an_answer_may_be_under_way() {
        for (after, shows) in [(MAX_WAIT_MS - 1, None), (MAX_WAIT_MS, Some(2))] {
            let mut overlay = Overlay::default();
            overlay.deleted(&object("uid-1", 3), at(0));
            overlay.mutated(&object("uid-1", 2), at(after));
            assert_eq!(overlay.newer("x", None, at(after)).and_then(|object| object.version().as_u64()), shows, "after {after} ms");
        }
    }

    #[test]
    fn law_08_bounded_what_waits_counts_until_the_stream_has_brought_it() {
        let mut overlay = Overlay::default();
        assert_eq!(overlay.bytes(), 0);
        overlay.mutated(&object("uid-1", 2), at(0));
        assert!(overlay.bytes() > object("uid-1", 2).size());
        overlay.stored(&object("uid-1", 2));
        assert_eq!(overlay.bytes(), 0);
    }
}
