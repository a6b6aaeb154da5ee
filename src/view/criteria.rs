//! Which objects a view shows, and what places each of them.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::json::fields::FieldSet;
use crate::json::scalar::Scalar;
use crate::object::Object;
use crate::selector::{Matcher, Predicate, SelectorError};

use super::derived::{Column, Derived};
use super::order::{OrderBy, write_sort_key};
use super::search::Search;
use super::spec::ViewSpec;

/// What a view asks of an object, and what it reads of one that passes.
pub(super) struct Criteria {
    selectors: Matcher,
    namespaces: Option<FxHashSet<String>>,
    // Boxed, because most views have none.
    search: Option<Box<Search>>,
    order: Vec<OrderBy>,
    group_by: Option<Column>,
    needs_verdict: bool,
    // Written anew for each object.
    sort_key: Vec<u8>,
}

/// What places an object. No two have the same sort key.
pub(super) struct Place<'c> {
    pub(super) sort_key: &'c [u8],
    /// Its value of the grouping field; `None` where nothing is grouped.
    pub(super) group: Option<Rc<str>>,
}

impl Criteria {
    /// Registers the fields that the selectors read. Fails on a field that is no path.
    pub(super) fn new(spec: ViewSpec, fields: &mut FieldSet) -> Result<Self, SelectorError> {
        Ok(Self {
            selectors: Matcher::new(Predicate { label: spec.label, field: spec.field }, fields)?,
            namespaces: spec.namespaces.map(|names| names.into_iter().collect()),
            search: spec.search.filter(|search| !search.is_everything()).map(Box::new),
            order: spec.order,
            group_by: spec.group_by,
            needs_verdict: spec.needs_verdict,
            sort_key: Vec::new(),
        })
    }

    /// Whether something but the keys orders the rows.
    pub(super) fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    /// Whether a function of the user has the last word on each object that passes.
    pub(super) fn needs_verdict(&self) -> bool {
        self.needs_verdict
    }

    /// Whether an object passes namespaces, selectors and search.
    pub(super) fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        if self.namespaces.as_ref().is_some_and(|names| !names.contains(object.namespace())) {
            return false;
        }
        match &self.search {
            None => self.selectors.matches(object, fields),
            // A search that reads no field comes first: it spares the selectors to read one from an object at rest.
            Some(search) if search.reads_fields() => self.selectors.matches(object, fields) && search.finds(object, fields),
            Some(search) => search.finds(object, fields) && self.selectors.matches(object, fields),
        }
    }

    /// Reads what places an object.
    pub(super) fn place(&mut self, object: &Object, fields: &FieldSet, derived: Option<&Derived>) -> Place<'_> {
        write_sort_key(&mut self.sort_key, object, &self.order, fields, derived);
        let group = self.group_by.map(|column| match column.read(object, fields, derived) {
            Scalar::Text(text) => text,
            other => other.text().into(),
        });
        Place { sort_key: &self.sort_key, group }
    }
}
