//! The kind of what a Kubernetes API lists and watches.

use std::cell::RefCell;
use std::rc::Rc;

use crate::source::Source;
use crate::status::Error;

/// The kind of the objects, once something has named it.
///
/// An object that names another kind is none of them. A proxy that mixes up paths may have sent it, or a server that was replaced.
/// client-go logs such an object, and passes over the change that it stands for.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// Whether the source names kinds as a Kubernetes API does.
    checked: bool,
    /// The kind that was asked for, where one was.
    asked: Option<&'static str>,
    kind: RefCell<Option<Rc<str>>>,
}

impl Kinds {
    #[cfg(test)]
    pub(super) fn checked() -> Self {
        Self { checked: true, ..Self::default() }
    }

    pub(super) fn of(source: &dyn Source) -> Self {
        let asked = source.part();
        Self { checked: source.names_kinds(), asked, kind: RefCell::new(asked.map(Into::into)) }
    }

    /// A list begins, and whatever it shows is right, unless one kind was asked for.
    pub(super) fn begin(&self) {
        self.kind.replace(self.asked.map(Into::into));
    }

    /// An object arrived that names this kind. The first one decides.
    pub(super) fn check(&self, named: Option<&str>) -> Result<(), Error> {
        let Some(named) = named.filter(|_| self.checked) else { return Ok(()) };
        let mut kind = self.kind.borrow_mut();
        match &*kind {
            None => *kind = Some(named.into()),
            Some(kind) if **kind == *named => {}
            Some(kind) => {
                let short = |text: &str| text.chars().take(40).collect::<String>();
                return Err(Error::protocol(format!("the server sent a {} where objects are of the kind {}", short(named), short(kind))));
            }
        }
        Ok(())
    }

    /// Whether an object that names this kind is surely one of them. Where kinds are checked, `None` may be one that stands elsewhere.
    pub(super) fn permit(&self, named: Option<&str>) -> bool {
        !self.checked || named.is_some_and(|named| self.kind.borrow().as_deref() == Some(named))
    }

    /// A page was whole that calls itself this kind: `PodList` is one of objects of the kind `Pod`. Without objects it decides nothing.
    pub(super) fn listed(&self, list: Option<&str>, is_empty: bool) -> Result<(), Error> {
        let objects = list.and_then(|list| list.strip_suffix("List")).filter(|kind| !kind.is_empty() && !is_empty);
        self.check(objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_decides_and_without_objects_the_first_of_them() {
        let kinds = Kinds::checked();
        assert!(kinds.listed(Some("PodList"), false).is_ok() && kinds.check(Some("Pod")).is_ok() && kinds.check(None).is_ok());
        let error = kinds.check(Some("Service")).unwrap_err();
        assert!(error.message.contains("a Service") && error.message.contains("the kind Pod"), "{error}");
        kinds.begin();
        assert!(kinds.listed(Some("PodList"), true).is_ok() && kinds.check(Some("Service")).is_ok());
        assert!(kinds.check(Some("Pod")).is_err());
    }

    #[test]
    fn whole_objects_are_none_where_parts_were_asked_for() {
        let kinds = Kinds { asked: Some("PartialObjectMetadata"), ..Kinds::checked() };
        kinds.begin();
        assert!(kinds.listed(Some("PodList"), false).is_err() && kinds.check(Some("Pod")).is_err());
        assert!(kinds.listed(Some("PartialObjectMetadataList"), false).is_ok() && kinds.listed(Some("PodList"), true).is_ok());
    }

    #[test]
    fn items_and_their_list_agree() {
        let kinds = Kinds::checked();
        assert!(kinds.check(Some("Pod")).is_ok());
        assert!(kinds.listed(Some("ServiceList"), false).is_err());
        for list in [None, Some("List"), Some("Playlists"), Some("PodList")] {
            assert!(kinds.listed(list, false).is_ok(), "{list:?}");
        }
    }

    #[test]
    fn other_sources_may_mix_kinds() {
        let kinds = Kinds::default();
        assert!(kinds.check(Some("Pod")).is_ok() && kinds.check(Some("Service")).is_ok() && kinds.listed(Some("XList"), false).is_ok());
    }
}
