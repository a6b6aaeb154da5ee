//! The live view: rows kept in order as objects change.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use slab::Slab;

use crate::json::fields::FieldSet;
use crate::json::scalar::Scalar;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::selector::{Matcher, Predicate, SelectorError};
use crate::sort::sort_by;

use super::count::Counts;
use super::order::{OrderBy, write_sort_key};
use super::ranks::Ranks;
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
    rows: Slab<Row>,
    by_key: FxHashMap<Key, u32>,
    ranks: Ranks,
    counts: Counts,
    waiting: BTreeMap<ObjectId, Waiting>,
    waiting_by_key: FxHashMap<Key, ObjectId>,
    /// The sort key of what is being placed.
    sort_key: Vec<u8>,
    shown: Vec<Rc<Object>>,
    /// The rows that they are.
    shown_rows: Vec<u32>,
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

/// An object with its place in the order. No two have the same sort key.
struct Row {
    sort_key: Box<[u8]>,
    group: Option<Rc<str>>,
    object: Rc<Object>,
    /// Whether the window shows it.
    shown: bool,
}

/// An object that waits for a verdict, and what a row of it needs.
struct Waiting {
    sort_key: Box<[u8]>,
    group: Option<Rc<str>>,
    object: Rc<Object>,
}

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
            rows: Slab::new(),
            by_key: FxHashMap::default(),
            ranks: Ranks::default(),
            counts: Counts::default(),
            waiting: BTreeMap::new(),
            waiting_by_key: FxHashMap::default(),
            sort_key: Vec::new(),
            shown: Vec::new(),
            shown_rows: Vec::new(),
            shown_total: 0,
            changed_rows: Vec::new(),
            stale: false,
        })
    }

    /// Takes in one change of the store: an object added (`new` alone), replaced (both) or removed (`old` alone), by an
    /// event or as one difference of a relist. `fields` is the set that the view was made with.
    ///
    /// With a predicate, a new object that passes the selectors waits, and the row of its predecessor stays meanwhile.
    ///
    /// A new version costs the same however many rows there are, unless it moves its row or a row comes or goes.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        if let Some(old) = old
            && new.is_none_or(|new| new.key() != old.key())
        {
            self.drop_waiting(old.key());
            self.remove(old.key());
        }
        let Some(new) = new else { return };
        self.drop_waiting(new.key());
        let at = self.by_key.get(new.key()).copied();
        let row = at.and_then(|at| self.rows.get_mut(at as usize));
        if row.as_ref().is_some_and(|row| row.object.id() == new.id()) {
            return;
        }
        if !self.predicate && row.as_ref().map(|row| &row.object).or(old).is_some_and(|before| before.shares_facts(new)) {
            // Whether it passes, its place and its group are those of the version before: nothing needs to be read.
            if let Some(row) = row {
                row.object = new.clone();
                self.stale |= row.shown;
            }
            return;
        }
        if !self.passes(new, fields) {
            self.remove(new.key());
            return;
        }
        let group = self.read(new, fields);
        if self.predicate {
            self.waiting_by_key.insert(new.key().clone(), new.id());
            self.waiting.insert(new.id(), Waiting { sort_key: self.sort_key.as_slice().into(), group, object: new.clone() });
        } else {
            self.place(at, new, group);
        }
    }

    /// Makes the view one of exactly these objects. Rows of objects that are still there at the same version stay as
    /// they are, verdict included.
    pub fn reset<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        if self.by_key.is_empty() && self.waiting.is_empty() && !self.predicate {
            self.fill(&mut objects.into_iter(), fields);
            return;
        }
        let mut present = FxHashSet::default();
        for object in objects {
            present.insert(object.key().clone());
            self.change(None, Some(object), fields);
        }
        let held = self.by_key.keys().chain(self.waiting_by_key.keys());
        let gone: Vec<Key> = held.filter(|key| !present.contains(*key)).cloned().collect();
        for key in gone {
            self.drop_waiting(&key);
            self.remove(&key);
        }
    }

    /// The objects that pass the selectors and wait for a verdict, oldest first.
    pub fn undecided(&self) -> impl ExactSizeIterator<Item = &Rc<Object>> {
        self.waiting.values().map(|waiting| &waiting.object)
    }

    /// The verdict on a waiting object. Says whether it was still waiting: a verdict on an object that has changed or
    /// gone since is void.
    pub fn decide(&mut self, object: ObjectId, passes: bool) -> bool {
        let Some(Waiting { sort_key, group, object }) = self.waiting.remove(&object) else {
            return false;
        };
        self.waiting_by_key.remove(object.key());
        if passes {
            self.sort_key.clear();
            self.sort_key.extend_from_slice(&sort_key);
            self.place(self.by_key.get(object.key()).copied(), &object, group);
        } else {
            self.remove(object.key());
        }
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
        Some(self.ranks.rank(*self.by_key.get(key)?))
    }

    /// The object at a position among all matching objects.
    pub fn at(&self, position: usize) -> Option<&Rc<Object>> {
        self.ranks.from(position).next().map(|row| &self.rows[row as usize].object)
    }

    fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.contains(object.namespace())) && self.matcher.matches(object, fields)
    }

    /// Reads what places an object: its sort key, into `sort_key`, and its group.
    fn read(&mut self, object: &Rc<Object>, fields: &FieldSet) -> Option<Rc<str>> {
        write_sort_key(&mut self.sort_key, object, &self.order, fields);
        self.group_by.map(|slot| match object.field(slot, fields) {
            Scalar::Text(text) => text,
            other => other.text().into(),
        })
    }

    fn drop_waiting(&mut self, key: &str) {
        if let Some(id) = self.waiting_by_key.remove(key) {
            self.waiting.remove(&id);
        }
    }

    /// The rows of a view that has none yet: sorted once.
    fn fill(&mut self, objects: &mut dyn Iterator<Item = &Rc<Object>>, fields: &FieldSet) {
        let mut rows = Vec::new();
        for object in objects {
            if self.passes(object, fields) {
                let group = self.read(object, fields);
                rows.push(self.add(object, group));
            }
        }
        sort_by(&mut rows, |a, b| self.rows[*a as usize].sort_key.cmp(&self.rows[*b as usize].sort_key));
        self.ranks.fill(&rows);
        self.stale = true;
    }

    /// A row for what was just read, which has no place yet.
    #[allow(clippy::cast_possible_truncation)] // more rows than that do not fit in memory
    fn add(&mut self, object: &Rc<Object>, group: Option<Rc<str>>) -> u32 {
        if let Some(group) = &group {
            self.counts.add(group);
        }
        let row = self.rows.insert(Row { sort_key: self.sort_key.as_slice().into(), group, object: object.clone(), shown: false }) as u32;
        self.by_key.insert(object.key().clone(), row);
        row
    }

    /// Puts what was just read in the place of the row that its key has, if there is one.
    fn place(&mut self, at: Option<u32>, object: &Rc<Object>, group: Option<Rc<str>>) {
        let Some(at) = at else {
            let row = self.add(object, group);
            let entered = self.enter(row);
            self.touch(None, entered);
            return;
        };
        let row = &mut self.rows[at as usize];
        row.object = object.clone();
        if row.group != group {
            if let Some(group) = &row.group {
                self.counts.remove(group);
            }
            if let Some(group) = &group {
                self.counts.add(group);
            }
            row.group = group;
        }
        if *row.sort_key == *self.sort_key {
            self.stale |= row.shown;
            return;
        }
        let left = self.leave(at);
        let held = &mut self.rows[at as usize].sort_key;
        if held.len() == self.sort_key.len() {
            held.copy_from_slice(&self.sort_key);
        } else {
            *held = self.sort_key.as_slice().into();
        }
        let entered = self.enter(at);
        self.touch(left, entered);
    }

    /// Takes away the row that has this key.
    fn remove(&mut self, key: &str) {
        let Some(row) = self.by_key.remove(key) else { return };
        let left = self.leave(row);
        if let Some(group) = &self.rows.remove(row as usize).group {
            self.counts.remove(group);
        }
        self.touch(left, None);
    }

    /// Takes a row out of the order. Where it stood matters only to find out whether the window saw it.
    fn leave(&mut self, row: u32) -> Option<usize> {
        let position = (!self.stale).then(|| self.ranks.rank(row));
        self.ranks.remove(row);
        position
    }

    /// Puts a row into the order.
    fn enter(&mut self, row: u32) -> Option<usize> {
        let sort_key = &*self.rows[row as usize].sort_key;
        self.ranks.insert(row, |other| *self.rows[other as usize].sort_key < *sort_key);
        (!self.stale).then(|| self.ranks.rank(row))
    }

    /// A row has left one position, and a row has entered one.
    fn touch(&mut self, left: Option<usize>, entered: Option<usize>) {
        self.stale = self.stale
            || match (left, entered) {
                // What lies between the two positions has moved by one; everything else stands where it was.
                (Some(left), Some(entered)) => left.min(entered) < self.window.end() && left.max(entered) >= self.window.offset,
                (Some(position), None) | (None, Some(position)) => position < self.window.end(),
                (None, None) => false,
            };
    }

    /// Fills `shown` and `changed_rows`; says whether anything differs.
    fn show(&mut self) -> bool {
        for row in self.shown_rows.drain(..) {
            if let Some(row) = self.rows.get_mut(row as usize) {
                row.shown = false;
            }
        }
        let start = self.window.offset.min(self.ranks.len());
        let count = self.window.end().min(self.ranks.len()) - start;
        let mut same_length = self.shown.len() == count;
        self.shown.truncate(count);
        for (index, at) in self.ranks.from(start).take(count).enumerate() {
            let row = &mut self.rows[at as usize];
            row.shown = true;
            self.shown_rows.push(at);
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
        !same_length || !self.changed_rows.is_empty()
    }
}
