//! What becomes of changes that a watcher has no room for, if it asked to skip them rather than to end.
//!
//! They merge by key: of each object, only what the subscriber was last told and what is so now are kept. That needs no history, however long
//! the subscriber sleeps, and the number of objects bounds it. When the subscriber has taken what waits, it gets one event for each object that
//! differs. The events come in the order of their versions, so that no version goes back.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::key::Key;
use crate::object::Object;
use crate::selector::Interest;
use crate::sort::sort_by;
use crate::status::{Error, ErrorCode};
use crate::version::Version;
use crate::watch::event::{EventKind, WatchEvent};

/// What happens to a watcher whose queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnOverflow {
    /// It gets what is left of the time for slow watchers, and then ends: the apiserver's rule.
    #[default]
    Terminate,
    /// It is told that changes are skipped, and then the difference. It outlives a relist in the same way.
    Resync,
    /// Changes of one object merge, without a word.
    Coalesce,
}

impl OnOverflow {
    /// Reads the option's text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "terminate" => Ok(Self::Terminate),
            "resync" => Ok(Self::Resync),
            "coalesce" => Ok(Self::Coalesce),
            _ => Err(Error::new(ErrorCode::Invalid, format!("onOverflow: is one of terminate, resync, coalesce, not {text:?}"))),
        }
    }
}

/// Changes that wait, merged by key.
#[derive(Debug)]
pub(super) struct Overflow {
    /// All that matched up to here was delivered, or waits before this.
    pub since: Version,
    merged: FxHashMap<Key, Merged>,
}

#[derive(Debug)]
struct Merged {
    // What the subscriber was told last. `None`: it knows of no such object.
    before: Option<Rc<Object>>,
    after: Option<Rc<Object>>,
    version: Version,
    own: Version,
}

impl Overflow {
    /// What it holds.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.merged.values().flat_map(|merged| merged.before.iter().chain(&merged.after))
    }

    /// Nothing yet, behind this version.
    pub(super) fn new(since: Version) -> Self {
        Self { since, merged: FxHashMap::default() }
    }

    /// Adds a change of an object, as the watcher sees it: `before` and `after` only where they pass its filter.
    /// `own` is the version that the object itself has then, also where it is gone.
    pub(super) fn merge(&mut self, key: &Key, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, [version, own]: [&Version; 2]) {
        if let Some(merged) = self.merged.get_mut(key) {
            merged.after = after.cloned();
            (merged.version, merged.own) = (version.clone(), own.clone());
            if merged.before.is_none() && after.is_none() {
                self.merged.remove(key); // came and went unseen
            }
        } else if before.is_some() || after.is_some() {
            let merged = Merged { before: before.cloned(), after: after.cloned(), version: version.clone(), own: own.clone() };
            self.merged.insert(key.clone(), merged);
        }
    }

    /// One event for each object that is not as the subscriber was told, by version. Deletions that a relist brings share its version: they
    /// come last, by key. With an interest, one that differs in none of its fields has none.
    pub(super) fn into_events(self, interest: Option<&Interest>) -> Vec<WatchEvent> {
        let mut merged: Vec<(Key, Merged)> = self.merged.into_iter().collect();
        sort_by(&mut merged, |(a, one), (b, other)| {
            (&one.version, one.after.is_none(), a).cmp(&(&other.version, other.after.is_none(), b))
        });
        merged.into_iter().filter_map(|(_, merged)| merged.event(interest)).collect()
    }
}

impl Merged {
    fn event(self, interest: Option<&Interest>) -> Option<WatchEvent> {
        let Self { before, after, version, own } = self;
        match (before, after) {
            (None, Some(object)) => Some(WatchEvent { kind: EventKind::Added, object, version, before: None }),
            (Some(before), Some(object)) if before.version() == object.version() => None,
            (Some(before), Some(object)) => {
                let told = interest.is_none_or(|interest| interest.wants_merged(&before, &object));
                told.then(|| WatchEvent { kind: EventKind::Modified, object, version, before: Some(before.id()) })
            }
            (Some(before), None) => {
                let object = before.restamped(&own).unwrap_or(before);
                Some(WatchEvent { kind: EventKind::Deleted, object, version, before: None })
            }
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    /// Merges changes of one object: each the version after it, 0 for none.
    fn merged(before: u64, changes: &[u64]) -> Vec<String> {
        let mut overflow = Overflow::new(Version::ZERO);
        let object = |version: u64| (version > 0).then(|| named("x", version));
        let mut held = object(before);
        for (index, &change) in changes.iter().enumerate() {
            let next = object(change);
            let version = Version::from(10 + index as u64);
            overflow.merge(&"x".into(), held.as_ref(), next.as_ref(), [&version, &version]);
            held = next;
        }
        overflow.into_events(None).iter().map(|event| format!("{:?} {:?}@{}", event.kind, event.object, event.version)).collect()
    }

    /// In a resource of several namespaces the order of changes is not that of versions.
    #[test]
    fn a_deletion_has_the_version_of_its_object_whatever_that_of_the_change() {
        let mut overflow = Overflow::new(Version::ZERO);
        overflow.merge(&"x".into(), Some(&named("x", 5)), None, [&Version::from(1_000), &Version::from(7)]);
        let [deleted] = &overflow.into_events(None)[..] else { panic!("one event") };
        assert_eq!((deleted.version.as_u64(), deleted.object.version().as_u64()), (Some(1_000), Some(7)));
        assert!(String::from_utf8_lossy(&deleted.object.text()).contains(r#""resourceVersion":"7""#));
    }

    #[test]
    fn changes_of_one_object_make_one_event_or_none() {
        assert_eq!(merged(0, &[10, 11]), ["Added x@11@11"], "ADDED and MODIFIED");
        assert_eq!(merged(0, &[10, 0]), [""; 0], "ADDED and DELETED");
        assert_eq!(merged(0, &[10, 0, 12]), ["Added x@12@12"]);
        assert_eq!(merged(5, &[10, 11]), ["Modified x@11@11"], "MODIFIED twice");
        assert_eq!(merged(5, &[10, 0]), ["Deleted x@11@11"], "MODIFIED and DELETED");
        assert_eq!(merged(5, &[0, 11]), ["Modified x@11@11"], "DELETED and ADDED");
        assert_eq!(merged(5, &[0, 11, 0]), ["Deleted x@12@12"]);
        assert_eq!(merged(5, &[0]), ["Deleted x@10@10"]);
        assert_eq!(merged(5, &[10, 5]), [""; 0], "as it was");
    }

    #[test]
    fn events_come_in_the_order_of_their_versions() {
        let mut overflow = Overflow::new(Version::from(4));
        for (key, version) in [("b", 5), ("a", 6), ("c", 7), ("b", 8)] {
            let at = Version::from(version);
            overflow.merge(&key.into(), None, Some(&named(key, version)), [&at, &at]);
        }
        let events = overflow.into_events(None);
        assert_eq!(events.iter().map(|event| format!("{:?}", event.object)).collect::<Vec<_>>(), ["a@6", "c@7", "b@8"]);
    }

    #[test]
    fn the_option_has_three_words() {
        assert_eq!(OnOverflow::parse("terminate"), Ok(OnOverflow::Terminate));
        assert_eq!(OnOverflow::parse("resync"), Ok(OnOverflow::Resync));
        assert_eq!(OnOverflow::parse("coalesce"), Ok(OnOverflow::Coalesce));
        assert_eq!(OnOverflow::parse("Resync").unwrap_err().code, ErrorCode::Invalid);
    }
}
