//! The live view: rows kept in order as objects change.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use indexset::BTreeSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::json::fields::FieldSet;
use crate::json::scalar::Scalar;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::selector::{Matcher, Predicate, SelectorError};

use super::count::Counts;
use super::order::{OrderBy, sort_key};
use super::{ViewSpec, Window};

/// A filtered, ordered, windowed and counted picture of a resource's objects, kept up to date change by change.
///
/// A change costs a logarithm of the number of rows. What is read between two calls of [`take_changes`](View::take_changes)
/// is of two kinds: [`rows`](View::rows) and [`changed_rows`](View::changed_rows) stay as the last call left them;
/// [`total`](View::total), [`counts`](View::counts) and [`index_of`](View::index_of) are always of the present.
pub struct View {
    matcher: Matcher,
    namespaces: Option<FxHashSet<String>>,
    order: Vec<OrderBy>,
    group_by: Option<usize>,
    predicate: bool,
    window: Window,
    by_key: FxHashMap<Key, Rc<Row>>,
    sorted: BTreeSet<Rc<Row>>,
    counts: Counts,
    waiting: BTreeMap<ObjectId, Rc<Row>>,
    waiting_by_key: FxHashMap<Key, ObjectId>,
    shown: Vec<Rc<Object>>,
    shown_total: usize,
    changed_rows: Vec<usize>,
    /// Whether the window may differ from `shown`.
    stale: bool,
}

/// What differs since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// The window shows other rows, or other versions of them, or in another order.
    pub window_changed: bool,
    /// The number of rows.
    pub total_changed: bool,
    /// The count of some group.
    pub counts_changed: bool,
}

impl Changes {
    /// Whether anything differs.
    pub fn any(&self) -> bool {
        self.window_changed || self.total_changed || self.counts_changed
    }
}

/// An object with its place in the order. Rows compare by that place alone, which no two keys share.
struct Row {
    sort_key: Box<[u8]>,
    group: Option<Rc<str>>,
    object: Rc<Object>,
}

impl Ord for Row {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key.cmp(&other.sort_key)
    }
}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.sort_key == other.sort_key
    }
}

impl Eq for Row {}

impl View {
    /// An empty view. Registers the fields that its selectors read; fails on a field that is no path.
    pub fn new(spec: ViewSpec, fields: &mut FieldSet) -> Result<Self, SelectorError> {
        Ok(View {
            matcher: Matcher::new(Predicate { label: spec.label, field: spec.field }, fields)?,
            namespaces: spec.namespaces.map(|names| names.into_iter().collect()),
            order: spec.order,
            group_by: spec.group_by,
            predicate: spec.predicate,
            window: spec.window.unwrap_or(Window::ALL),
            by_key: FxHashMap::default(),
            sorted: BTreeSet::new(),
            counts: Counts::default(),
            waiting: BTreeMap::new(),
            waiting_by_key: FxHashMap::default(),
            shown: Vec::new(),
            shown_total: 0,
            changed_rows: Vec::new(),
            stale: false,
        })
    }

    /// Takes in one change of the store: an object added (`new` alone), replaced (both) or removed (`old` alone), by an
    /// event or as one difference of a relist. `fields` is the set that the view was made with.
    ///
    /// With a predicate, a new object that passes the selectors waits, and the row of its predecessor stays meanwhile.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        if let Some(old) = old
            && new.is_none_or(|new| new.key() != old.key())
        {
            self.drop_waiting(old.key());
            self.place(old.key(), None);
        }
        let Some(new) = new else { return };
        self.drop_waiting(new.key());
        if self.by_key.get(new.key()).is_some_and(|row| row.object.id() == new.id()) {
            return;
        }
        let row = self.passes(new, fields).then(|| self.row(new, fields));
        match row {
            Some(row) if self.predicate => {
                self.waiting_by_key.insert(new.key().clone(), new.id());
                self.waiting.insert(new.id(), row);
            }
            row => self.place(new.key(), row),
        }
    }

    /// Makes the view one of exactly these objects. Rows of objects that are still there at the same version stay as
    /// they are, verdict included.
    pub fn reset<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        let mut present = FxHashSet::default();
        for object in objects {
            present.insert(object.key().clone());
            self.change(None, Some(object), fields);
        }
        let held = self.by_key.keys().chain(self.waiting_by_key.keys());
        let gone: Vec<Key> = held.filter(|key| !present.contains(*key)).cloned().collect();
        for key in gone {
            self.drop_waiting(&key);
            self.place(&key, None);
        }
    }

    /// The objects that pass the selectors and wait for a verdict, oldest first.
    pub fn undecided(&self) -> impl ExactSizeIterator<Item = &Rc<Object>> {
        self.waiting.values().map(|row| &row.object)
    }

    /// The verdict on a waiting object. Says whether it was still waiting: a verdict on an object that has changed or
    /// gone since is void.
    pub fn decide(&mut self, object: ObjectId, passes: bool) -> bool {
        let Some(row) = self.waiting.remove(&object) else {
            return false;
        };
        let key = row.object.key().clone();
        self.waiting_by_key.remove(&key);
        self.place(&key, passes.then_some(row));
        true
    }

    /// Moves the window. The rows follow at the next [`take_changes`](View::take_changes).
    pub fn set_window(&mut self, window: Window) {
        self.stale |= window != self.window;
        self.window = window;
    }

    /// The window as it was last set.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Brings the rows up to date and says what differs since the last call. Costs next to nothing when nothing does.
    pub fn take_changes(&mut self) -> Changes {
        self.changed_rows.clear();
        let window = std::mem::take(&mut self.stale) && self.show();
        let total = self.total();
        Changes {
            window_changed: window,
            total_changed: std::mem::replace(&mut self.shown_total, total) != total,
            counts_changed: self.counts.take_changed(),
        }
    }

    /// The window's rows, in order.
    pub fn rows(&self) -> &[Rc<Object>] {
        &self.shown
    }

    /// Where in [`rows`](View::rows) the last [`take_changes`](View::take_changes) put an object that was not there
    /// before, ascending. Rows that ceased to be are not named: the number of rows tells.
    pub fn changed_rows(&self) -> &[usize] {
        &self.changed_rows
    }

    /// How many objects match, in the window or not.
    pub fn total(&self) -> usize {
        self.by_key.len()
    }

    /// How many matching objects have each value of the grouping field, by value. Objects without the field count as "".
    pub fn counts(&self) -> impl Iterator<Item = (&Rc<str>, usize)> {
        self.counts.iter()
    }

    /// The position of a key among all matching objects.
    pub fn index_of(&self, key: &str) -> Option<usize> {
        Some(self.sorted.rank(self.by_key.get(key)?))
    }

    /// The object at a position among all matching objects.
    pub fn at(&self, position: usize) -> Option<&Rc<Object>> {
        self.sorted.get_index(position).map(|row| &row.object)
    }

    fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.contains(object.namespace())) && self.matcher.matches(object, fields)
    }

    fn row(&self, object: &Rc<Object>, fields: &FieldSet) -> Rc<Row> {
        let group = self.group_by.map(|slot| match object.field(slot, fields) {
            Scalar::Text(text) => text,
            other => other.text().into(),
        });
        Rc::new(Row { sort_key: sort_key(object, &self.order, fields), group, object: object.clone() })
    }

    fn drop_waiting(&mut self, key: &str) {
        if let Some(id) = self.waiting_by_key.remove(key) {
            self.waiting.remove(&id);
        }
    }

    /// Puts a row in the place of whatever has its key, or takes that away.
    fn place(&mut self, key: &Key, row: Option<Rc<Row>>) {
        let old = match &row {
            Some(row) => self.by_key.insert(key.clone(), row.clone()),
            None => self.by_key.remove(key),
        };
        let left = old.map(|old| {
            let position = self.sorted.rank(&old);
            self.sorted.pop_index(position);
            if let Some(group) = &old.group {
                self.counts.remove(group);
            }
            position
        });
        let entered = row.map(|row| {
            if let Some(group) = &row.group {
                self.counts.add(group);
            }
            self.sorted.insert(row.clone());
            // Where it landed matters only to find out whether the window saw it.
            if self.stale { 0 } else { self.sorted.rank(&row) }
        });
        self.stale = self.stale || self.window_saw(left, entered);
    }

    /// Whether rows at positions in the window were touched when a row left one position and a row entered one.
    fn window_saw(&self, left: Option<usize>, entered: Option<usize>) -> bool {
        match (left, entered) {
            // What lies between the two positions has moved by one; everything else stands where it was.
            (Some(left), Some(entered)) => left.min(entered) < self.window.end() && left.max(entered) >= self.window.offset,
            (Some(position), None) | (None, Some(position)) => position < self.window.end(),
            (None, None) => false,
        }
    }

    /// Fills `shown` and `changed_rows`; says whether anything differs.
    fn show(&mut self) -> bool {
        let start = self.window.offset.min(self.sorted.len());
        let end = self.window.end().min(self.sorted.len());
        let mut same_length = self.shown.len() == end - start;
        self.shown.truncate(end - start);
        if start < end {
            for (index, row) in self.sorted.range_idx(start..end).enumerate() {
                match self.shown.get_mut(index) {
                    Some(shown) if shown.id() == row.object.id() => continue,
                    Some(shown) => *shown = row.object.clone(),
                    None => {
                        self.shown.push(row.object.clone());
                        same_length = false;
                    }
                }
                self.changed_rows.push(index);
            }
        }
        !same_length || !self.changed_rows.is_empty()
    }
}
