//! Objects that cannot be taken, set apart so that they stop nobody else.
//!
//! An object without a usable version, with a name that is no key, or in bytes that are no JSON is at first a reason for a new list: most
//! often something went wrong on the way. One that is no better after that is *in quarantine* under its key: what was held of it stays, all
//! others go on, and the first sound word of it ends that. client-go lists anew for as long as such an object exists.

use std::rc::Rc;

use crate::cache::incoming::Quarantined;
use crate::json::Identity;
use crate::object::Object;
use crate::runtime::Millis;
use crate::status::Error;

/// More than so many are no matter of single objects: then the list or the stream as a whole is what cannot be taken.
const MOST: usize = 100;

/// Who is in quarantine, and who has been the reason of a new list lately.
#[derive(Debug)]
pub(super) struct Quarantine {
    inside: Vec<Quarantined>,
    /// By key: when it led to a list.
    tried: Vec<(Rc<str>, Millis)>,
    /// After so long a key may lead to a list again.
    forget_ms: Millis,
}

/// What to do about an event that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It has been tried: pass over it. `news`: it was not in quarantine before.
    Skip { news: bool },
    /// A list may cure it.
    Relist,
}

impl Quarantine {
    pub(super) fn new(forget_ms: Millis) -> Self {
        Self { inside: Vec::new(), tried: Vec::new(), forget_ms }
    }

    /// Everybody inside, as the cacher is told it.
    pub(super) fn all(&self) -> Vec<Quarantined> {
        self.inside.clone()
    }

    /// An event that cannot be taken. A deletion is never passed over: what is gone would stay.
    pub(super) fn event(&mut self, identity: Option<&Identity>, error: &Error, now: Millis) -> Verdict {
        let known = identity.filter(|found| matches!(found.kind.as_str(), "ADDED" | "MODIFIED"));
        let Some(entry) = known.and_then(|identity| entry(identity, error)) else { return Verdict::Relist };
        if let Some(held) = self.inside.iter_mut().find(|held| held.key == entry.key) {
            held.error = entry.error;
            return Verdict::Skip { news: false };
        }
        if self.has_tried(&entry.key, Some(now)) && self.inside.len() < MOST {
            self.inside.push(entry);
            return Verdict::Skip { news: true };
        }
        self.note_try(entry.key, now);
        Verdict::Relist
    }

    /// An item of a list that cannot be taken: what goes into quarantine for it, or the error that the list fails with this time.
    pub(super) fn item(&mut self, identity: &Identity, error: Error, now: Millis) -> Result<Quarantined, Error> {
        let Some(entry) = entry(identity, &error) else { return Err(error) };
        let known = self.inside.iter().any(|held| held.key == entry.key) || self.has_tried(&entry.key, None);
        self.note_try(entry.key.clone(), now);
        if known { Ok(entry) } else { Err(entry.error) }
    }

    /// A list is whole: these of it, and only these, are inside now. Whether that changes anything. Fails when they are too many.
    pub(super) fn listed(&mut self, found: Vec<Quarantined>) -> Result<bool, Error> {
        if found.len() > MOST {
            let first = &found[0].error;
            return Err(Error {
                message: format!("{} objects cannot be read; the first: {}", found.len(), first.message),
                ..first.clone()
            });
        }
        let news = !found.iter().map(|entry| &entry.key).eq(self.inside.iter().map(|entry| &entry.key));
        self.inside = found;
        Ok(news)
    }

    /// A sound word of an object: whether it was inside until now.
    pub(super) fn sound(&mut self, object: &Object) -> bool {
        if self.tried.is_empty() && self.inside.is_empty() {
            return false;
        }
        self.tried.retain(|(key, _)| key != object.key());
        let before = self.inside.len();
        self.inside.retain(|held| !held.is(object));
        self.inside.len() < before
    }

    fn has_tried(&self, key: &str, now: Option<Millis>) -> bool {
        let fresh = |at: Millis| now.is_none_or(|now| now.saturating_sub(at) < self.forget_ms);
        self.tried.iter().any(|(tried, at)| **tried == *key && fresh(*at))
    }

    fn note_try(&mut self, key: Rc<str>, now: Millis) {
        self.tried.retain(|(other, _)| *other != key);
        if self.tried.len() == 2 * MOST {
            self.tried.remove(0);
        }
        self.tried.push((key, now));
    }
}

/// `None`: it cannot be said whose it is.
fn entry(identity: &Identity, error: &Error) -> Option<Quarantined> {
    let Identity { namespace, name, uid, .. } = identity;
    let own = match (name.as_str(), uid.as_str()) {
        ("", "") => return None,
        ("", uid) => format!("(uid {uid})"),
        (name, _) => name.to_string(),
    };
    let key: Rc<str> = if namespace.is_empty() { own.into() } else { format!("{namespace}/{own}").into() };
    let error = Error { message: format!("{key} cannot be taken: {}", error.message), ..error.clone() };
    Some(Quarantined { key, uid: (!uid.is_empty()).then(|| uid.as_str().into()), error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, scan_object};
    use crate::status::ErrorCode;

    fn identity(kind: &str, name: &str) -> Identity {
        Identity { kind: kind.into(), namespace: "ns".into(), name: name.into(), uid: String::new() }
    }

    fn error() -> Error {
        Error::protocol("no version")
    }

    #[test]
    fn the_first_time_leads_to_a_list_and_the_next_into_quarantine() {
        let mut quarantine = Quarantine::new(1000);
        let event = |quarantine: &mut Quarantine, kind, name, now| quarantine.event(Some(&identity(kind, name)), &error(), now);
        assert_eq!(event(&mut quarantine, "MODIFIED", "a", 0), Verdict::Relist);
        assert_eq!(event(&mut quarantine, "MODIFIED", "b", 0), Verdict::Relist);
        assert_eq!(event(&mut quarantine, "MODIFIED", "a", 999), Verdict::Skip { news: true });
        assert_eq!(event(&mut quarantine, "ADDED", "a", 50_000), Verdict::Skip { news: false });
        assert_eq!(event(&mut quarantine, "MODIFIED", "b", 1000), Verdict::Relist, "that was long ago");
        assert_eq!(event(&mut quarantine, "DELETED", "a", 50_001), Verdict::Relist);
        assert_eq!(quarantine.event(None, &error(), 0), Verdict::Relist);
        let all = quarantine.all();
        assert_eq!((&*all[0].key, all[0].error.code, all.len()), ("ns/a", ErrorCode::Protocol, 1));
        assert_eq!(all[0].error.message, "ns/a cannot be taken: no version");
        let object = Object::new(
            scan_object(br#"{"metadata":{"name":"a","namespace":"ns","resourceVersion":"7"}}"#, &FieldSet::new(Vec::new())).unwrap(),
        );
        let object = object.unwrap();
        assert!(quarantine.sound(&object) && !quarantine.sound(&object));
        assert_eq!(event(&mut quarantine, "MODIFIED", "a", 50_002), Verdict::Relist, "it begins anew");
    }

    #[test]
    fn a_list_fails_once_for_an_item_and_then_goes_on_without_it() {
        let mut quarantine = Quarantine::new(1000);
        assert!(quarantine.item(&identity("", "a"), error(), 0).is_err());
        let entry = quarantine.item(&identity("", "a"), error(), 1_000_000).unwrap();
        assert_eq!(quarantine.listed(vec![entry.clone()]), Ok(true));
        assert_eq!(quarantine.listed(vec![entry.clone()]), Ok(false));
        assert_eq!(quarantine.listed(Vec::new()), Ok(true), "the list shows nothing of it any more");
        assert!(quarantine.listed(vec![entry; MOST + 1]).unwrap_err().message.contains("101 objects"));
        let nobody = Identity::default();
        for _ in 0..3 {
            assert!(quarantine.item(&nobody, error(), 0).is_err());
        }
        let unnamed = Identity { uid: "u".into(), ..Identity::default() };
        assert!(quarantine.item(&unnamed, error(), 0).is_err());
        assert_eq!(&*quarantine.item(&unnamed, error(), 0).unwrap().key, "(uid u)");
    }

    #[test]
    fn memory_of_them_is_bounded() {
        let mut quarantine = Quarantine::new(1000);
        for number in 0..3 * MOST {
            let name = format!("pod{number}");
            assert_eq!(quarantine.event(Some(&identity("ADDED", &name)), &error(), 0), Verdict::Relist);
            quarantine.event(Some(&identity("ADDED", &name)), &error(), 0);
        }
        assert_eq!((quarantine.inside.len(), quarantine.tried.len()), (MOST, 2 * MOST));
    }
}
