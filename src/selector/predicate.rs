//! Labels and fields together: what a list, watch or view asks for.

use std::rc::Rc;

use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::object::Object;

use super::field::{FieldOp, Term};
use super::{FieldSelector, LabelSelector, SelectorError};

/// A label selector and a field selector. An object must pass both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predicate {
    /// Selects by labels.
    pub label: LabelSelector,
    /// Selects by fields.
    pub field: FieldSelector,
}

/// An index that a store may have, and the only value in it under which matches can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexMatch {
    /// `f:` and a field's path, or `l:` and a label's key.
    pub index: String,
    /// The value to look up.
    pub value: String,
}

impl Predicate {
    /// Whether every object passes.
    pub fn is_empty(&self) -> bool {
        self.label.is_everything() && self.field.is_everything()
    }

    /// Whether an object passes. `meets` says whether its field meets a term. It is asked only if the labels match, and term by term until one
    /// fails: no field is read in vain.
    pub fn matches(&self, labels: &[(Rc<str>, Rc<str>)], meets: impl FnMut(&Term) -> bool) -> bool {
        self.label.matches(labels) && self.field.matches(meets)
    }

    /// The name, if only one can match.
    pub fn single_name(&self) -> Option<&str> {
        self.field.exact("metadata.name")
    }

    /// The namespace, if only one can match.
    pub fn single_namespace(&self) -> Option<&str> {
        self.field.exact("metadata.namespace")
    }

    /// The given indexes that narrow the search, best first: fields before labels, each in the given order. An index only preselects: its
    /// objects must still be matched.
    pub fn indexes(&self, fields: &[&str], labels: &[&str]) -> Vec<IndexMatch> {
        let by_field =
            fields.iter().filter_map(|path| Some(IndexMatch { index: format!("f:{path}"), value: self.field.exact(path)?.to_owned() }));
        let by_label =
            labels.iter().filter_map(|key| Some(IndexMatch { index: format!("l:{key}"), value: self.label.exact(key)?.to_owned() }));
        by_field.chain(by_label).collect()
    }
}

/// A predicate prepared for the objects of one resource: fields are read by slot instead of by path.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    predicate: Predicate,
    sources: Rc<[Source]>,
}

/// For matchers of the same resource: equal predicates read the same fields there.
impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.predicate == other.predicate
    }
}

impl Eq for Matcher {}

/// Where a term's field is read. Name and namespace are in the object's key and need no slot.
#[derive(Debug)]
enum Source {
    Name,
    Namespace,
    Slot(Slot),
}

impl Matcher {
    /// Registers the fields that the predicate reads. They stay registered until this matcher and its clones are dropped. Fails if a term's
    /// field is not a path, with its position in the field selector.
    pub fn new(predicate: Predicate, fields: &mut FieldSet) -> Result<Self, SelectorError> {
        let terms = predicate.field.terms().iter().enumerate();
        let sources = terms
            .map(|(index, term)| {
                Ok(match term.path.as_str() {
                    "metadata.name" => Source::Name,
                    "metadata.namespace" => Source::Namespace,
                    path => {
                        let path = Path::parse(path).map_err(|error| predicate.field.unsupported(index, &error))?;
                        Source::Slot(fields.hold(&path))
                    }
                })
            })
            .collect::<Result<_, SelectorError>>()?;
        Ok(Matcher { predicate, sources })
    }

    /// The predicate.
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The slots that must have a certain value, by `=` or `==`. Without name and namespace.
    pub fn demands(&self) -> impl Iterator<Item = (usize, &str)> {
        self.predicate.field.terms().iter().zip(&*self.sources).filter_map(|(term, source)| match source {
            Source::Slot(slot) if term.op == FieldOp::Eq => Some((slot.number(), term.value.as_str())),
            _ => None,
        })
    }

    /// Whether an object passes. `fields` must be the set that the matcher was made with.
    pub fn matches(&self, object: &Object, fields: &FieldSet) -> bool {
        let mut sources = self.sources.iter();
        self.predicate.matches(object.labels(), |term| match sources.next() {
            Some(Source::Name) => term.matches(object.name()),
            Some(Source::Namespace) => term.matches(object.namespace()),
            Some(Source::Slot(slot)) => term.matches(object.field(slot.number(), fields).text()),
            None => false,
        })
    }
}
