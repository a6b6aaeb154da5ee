//! Objects that cannot be taken, set apart so that they do not stop the others.
//!
//! Such an object has no usable version, a name that is no key, or bytes that are no JSON. At first it is a reason for a new list, because
//! most often something went wrong on the way. If the list does not cure it, the object is *in quarantine* under its key. What was held of
//! it stays, all others go on, and its first sound version ends that. client-go lists anew for as long as such an object exists.

use std::rc::Rc;

use super::reader::Unreadable;
use crate::json::Identity;
use crate::message::Quarantined;
use crate::object::Object;
use crate::status::Error;

/// More than so many are no matter of single objects: then the list or the stream as a whole cannot be taken.
const MAX_QUARANTINED: usize = 100;

/// Who is in quarantine, and who is the reason for the next list.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    inside: Vec<Quarantined>,
    /// By key, until a list is whole: what it shows sound is cured.
    tried: Vec<Rc<str>>,
}

impl Quarantine {
    /// Everybody inside, as it is told.
    pub(super) fn all(&self) -> Vec<Quarantined> {
        self.inside.clone()
    }

    /// An event that cannot be taken. Whether it is passed over, because a list has not cured its object either. A deletion never is: what
    /// is gone would stay.
    pub(super) fn passes_over(&mut self, event: &Unreadable) -> bool {
        let Some(entry) = of_event(event) else { return false };
        if let Some(held) = self.inside.iter_mut().find(|held| held.key == entry.key) {
            held.error = entry.error;
            return true;
        }
        self.note_try(entry.key);
        false
    }

    /// An item of a list, or an initial event in its place, cannot be taken for this error. Returns what goes into quarantine for it, or the
    /// error that the list fails with this time.
    pub(super) fn set_aside(&mut self, entry: Option<Quarantined>, error: Error) -> Result<Quarantined, Error> {
        let Some(entry) = entry else { return Err(error) };
        let known = self.inside.iter().any(|held| held.key == entry.key) || self.tried.contains(&entry.key);
        self.note_try(entry.key.clone());
        if known { Ok(entry) } else { Err(entry.error) }
    }

    /// A list is whole: these of its objects, and only these, are inside now. Whether that changes anything. Fails when they are too many.
    pub(super) fn listed(&mut self, found: Vec<Quarantined>) -> Result<bool, Error> {
        if found.len() > MAX_QUARANTINED {
            let first = &found[0].error;
            return Err(Error {
                message: format!("{} objects cannot be read; the first: {}", found.len(), first.message),
                ..first.clone()
            });
        }
        let news = !found.iter().map(|entry| &entry.key).eq(self.inside.iter().map(|entry| &entry.key));
        self.inside = found;
        self.tried.clear();
        Ok(news)
    }

    /// A sound version of an object has come. Whether the object was inside until now.
    pub(super) fn sound(&mut self, object: &Object) -> bool {
        if self.inside.is_empty() {
            return false;
        }
        let before = self.inside.len();
        self.inside.retain(|held| !held.is(object));
        self.inside.len() < before
    }

    fn note_try(&mut self, key: Rc<str>) {
        self.tried.retain(|other| *other != key);
        if self.tried.len() == 2 * MAX_QUARANTINED {
            self.tried.remove(0);
        }
        self.tried.push(key);
    }
}

/// An event that cannot be taken, as it would be in quarantine. `None`: it has no place there.
pub(super) fn of_event(event: &Unreadable) -> Option<Quarantined> {
    let identity = event.identity.as_deref().filter(|identity| matches!(identity.kind.as_str(), "ADDED" | "MODIFIED"))?;
    of_item(identity, &event.error)
}

/// An item of a list that cannot be taken, as it would be in quarantine. `None`: it cannot be said which object it is.
pub(super) fn of_item(identity: &Identity, error: &Error) -> Option<Quarantined> {
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

    fn set_aside(quarantine: &mut Quarantine, identity: &Identity) -> Result<Quarantined, Error> {
        quarantine.set_aside(of_item(identity, &error()), error())
    }

    fn unreadable(identity: Option<Identity>) -> Unreadable {
        Unreadable { error: error(), identity: identity.map(Box::new) }
    }

    #[test]
    fn an_event_leads_to_a_list_and_what_that_does_not_cure_is_set_apart() {
        let mut quarantine = Quarantine::default();
        let event = |quarantine: &mut Quarantine, kind, name| quarantine.passes_over(&unreadable(Some(identity(kind, name))));
        assert!(!event(&mut quarantine, "MODIFIED", "a"));
        let apart = set_aside(&mut quarantine, &identity("", "a")).unwrap();
        assert_eq!(quarantine.listed(vec![apart]), Ok(true));
        assert!(event(&mut quarantine, "MODIFIED", "a") && event(&mut quarantine, "ADDED", "a"));
        assert!(!event(&mut quarantine, "DELETED", "a") && !quarantine.passes_over(&unreadable(None)));
        let all = quarantine.all();
        assert_eq!((&*all[0].key, all[0].error.code, all.len()), ("ns/a", ErrorCode::Protocol, 1));
        assert_eq!(all[0].error.message, "ns/a cannot be taken: no version");
        let object = Object::new(
            scan_object(br#"{"metadata":{"name":"a","namespace":"ns","resourceVersion":"7"}}"#, &FieldSet::new(Vec::new())).unwrap(),
        );
        let object = object.unwrap();
        assert!(quarantine.sound(&object) && !quarantine.sound(&object));
        assert!(!event(&mut quarantine, "MODIFIED", "a"), "it begins anew");
        assert_eq!(quarantine.listed(Vec::new()), Ok(false), "cured");
        assert!(set_aside(&mut quarantine, &identity("", "a")).is_err());
    }

    #[test]
    fn a_list_fails_once_for_an_item_and_then_goes_on_without_it() {
        let mut quarantine = Quarantine::default();
        assert!(set_aside(&mut quarantine, &identity("", "a")).is_err());
        let entry = set_aside(&mut quarantine, &identity("", "a")).unwrap();
        assert_eq!(quarantine.listed(vec![entry.clone()]), Ok(true));
        assert_eq!(quarantine.listed(vec![entry.clone()]), Ok(false));
        assert_eq!(quarantine.listed(Vec::new()), Ok(true), "the list shows nothing of it any more");
        assert!(quarantine.listed(vec![entry; MAX_QUARANTINED + 1]).unwrap_err().message.contains("101 objects"));
        let nobody = Identity::default();
        for _ in 0..3 {
            assert!(set_aside(&mut quarantine, &nobody).is_err());
        }
        let unnamed = Identity { uid: "u".into(), ..Identity::default() };
        assert!(set_aside(&mut quarantine, &unnamed).is_err());
        assert_eq!(&*set_aside(&mut quarantine, &unnamed).unwrap().key, "(uid u)");
    }

    #[test]
    fn memory_of_them_is_bounded() {
        let mut quarantine = Quarantine::default();
        for number in 0..5 * MAX_QUARANTINED {
            assert!(!quarantine.passes_over(&unreadable(Some(identity("ADDED", &format!("pod{number}"))))));
        }
        assert_eq!(quarantine.tried.len(), 2 * MAX_QUARANTINED);
    }
}
