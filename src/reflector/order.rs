//! The order of versions: what arrives never goes backwards.

use std::collections::VecDeque;

use crate::key::Key;
use crate::object::Object;
use crate::status::Error;
use crate::version::Version;

/// How many changes are remembered, to know a repetition from a step backwards. A server repeats what it sent in the last moment, if at
/// all.
const MAX_REMEMBERED: usize = 1024;

/// What a change is to what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// Newer than everything before.
    Next,
    /// It came before, the same object at the same version: servers may repeat an event.
    Repeated,
}

/// The last version, and the changes that led to it.
#[derive(Debug, Default)]
pub(super) struct Order {
    last: Option<Version>,
    // Ascending, because only what is newer is taken.
    recent: VecDeque<(Version, Key)>,
}

impl Order {
    pub(super) fn last(&self) -> Option<&Version> {
        self.last.as_ref()
    }

    /// A list was taken. Fails, and takes nothing, when it is older than what is held.
    pub(super) fn replace(&mut self, version: &Version) -> Result<(), Error> {
        if let Some(last) = &self.last
            && version < last
        {
            return Err(Error::protocol(format!(
                "the server answered with version {version}, which is older than version {last} seen before: \
                 a replica that is behind, or a server that was reset (then refresh with reset)"
            )));
        }
        self.last = Some(version.clone());
        Ok(())
    }

    /// What is held does not count any more: the next list is taken at any version.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// These changes led to the list that was taken.
    pub(super) fn join(&mut self, ahead: Self) {
        let known = self.recent.back().map(|(version, _)| version.clone());
        self.recent.extend(ahead.recent.into_iter().filter(|(version, _)| known.as_ref().is_none_or(|known| version > known)));
        self.recent.drain(..self.recent.len().saturating_sub(MAX_REMEMBERED));
    }

    /// A change arrived. Fails, and takes nothing, when it goes backwards.
    pub(super) fn change(&mut self, object: &Object) -> Result<Novelty, Error> {
        let version = object.version();
        if self.last.as_ref().is_none_or(|last| version > last) {
            self.last = Some(version.clone());
            if self.recent.len() == MAX_REMEMBERED {
                self.recent.pop_front();
            }
            self.recent.push_back((version.clone(), object.key().clone()));
            return Ok(Novelty::Next);
        }
        let known = self.recent.binary_search_by(|(known, _)| known.cmp(version));
        if known.is_ok_and(|index| self.recent[index].1 == *object.key()) {
            return Ok(Novelty::Repeated);
        }
        let last = self.last.clone().unwrap_or_default();
        Err(Error::protocol(format!("the watch sent {} at version {version} behind version {last}", object.key())))
    }

    /// A bookmark arrived: whether it is news.
    pub(super) fn bookmark(&mut self, version: &Version) -> bool {
        let news = self.last.as_ref().is_none_or(|last| version > last);
        if news {
            self.last = Some(version.clone());
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, scan_object};
    use crate::status::ErrorCode;
    use std::rc::Rc;

    fn object(name: &str, version: u64) -> Rc<Object> {
        let document = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}"#);
        Object::new(scan_object(document.as_bytes(), &FieldSet::new(Vec::new())).unwrap()).unwrap()
    }

    #[test]
    fn law_02_order_repetitions_are_known_and_steps_backwards_refused() {
        let mut order = Order::default();
        order.replace(&Version::from(5)).unwrap();
        assert_eq!(order.change(&object("a", 7)), Ok(Novelty::Next));
        assert_eq!(order.change(&object("b", 9)), Ok(Novelty::Next));
        assert_eq!(order.change(&object("b", 9)), Ok(Novelty::Repeated));
        assert_eq!(order.change(&object("a", 7)), Ok(Novelty::Repeated));
        let error = order.change(&object("a", 9)).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::Protocol, "the watch sent a at version 9 behind version 9"));
        assert!(order.change(&object("c", 8)).is_err());
        assert!(order.change(&object("c", 5)).is_err());
        assert_eq!(order.last(), Some(&Version::from(9)));
    }

    #[test]
    fn bookmarks_only_go_forwards_and_lists_never_back() {
        let mut order = Order::default();
        order.replace(&Version::from(5)).unwrap();
        assert!(!order.bookmark(&Version::from(4)));
        assert!(!order.bookmark(&Version::from(5)));
        assert!(order.bookmark(&Version::from(8)));
        assert!(order.change(&object("a", 8)).is_err());
        assert_eq!(order.replace(&Version::from(7)).unwrap_err().code, ErrorCode::Protocol);
        assert_eq!(order.last(), Some(&Version::from(8)));
        order.replace(&Version::from(8)).unwrap();
    }

    #[test]
    fn memory_of_changes_is_bounded() {
        let mut order = Order::default();
        for version in 1..=2 * MAX_REMEMBERED as u64 {
            order.change(&object("a", version)).unwrap();
        }
        assert_eq!(order.recent.len(), MAX_REMEMBERED);
        assert!(order.change(&object("a", 1)).is_err());
    }
}
