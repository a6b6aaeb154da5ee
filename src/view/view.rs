//! The live view: rows kept in order, and a state that stands still between two looks.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use slab::Slab;

use crate::allocation::allocation;
use crate::json::fields::FieldSet;
use crate::json::scalar::Scalar;
use crate::key::Key;
use crate::object::{Holder, Object, ObjectId};
use crate::selector::{Matcher, Predicate, SelectorError};

use super::count::Counts;
use super::id::RangeId;
use super::order::{OrderBy, write_sort_key};
use super::ranks::Ranks;
use super::spec::{RowRange, ViewSpec};
use super::stage::Stage;

/// A filtered, ordered and counted picture of a resource's objects, with any number of ranges of its rows that somebody looks at.
///
/// Rows, total, counts and positions are all of the state at the last [`look`](View::look). What happens meanwhile waits, merged by object, and
/// the next look takes it in. A new version that does not move its row costs the same however many rows there are. A row that moves, comes or
/// goes costs a logarithm.
pub struct View {
    matcher: Matcher,
    namespaces: Option<FxHashSet<String>>,
    pub(super) order: Vec<OrderBy>,
    group_by: Option<usize>,
    pub(super) predicate: bool,
    pub(super) rows: Slab<Row>,
    pub(super) by_key: FxHashMap<Key, u32>,
    pub(super) ranks: Ranks,
    pub(super) counts: Counts,
    /// What waits for a verdict, or for its verdict to be taken in.
    pub(super) waiting: BTreeMap<ObjectId, Waiting>,
    pub(super) waiting_by_key: FxHashMap<Key, ObjectId>,
    pub(super) decided: Vec<(ObjectId, bool)>,
    pub(super) pending: Vec<Pending>,
    /// The sort key of what is being placed.
    pub(super) sort_key: Vec<u8>,
    ranges: Vec<(RangeId, RowRange)>,
    // The rows that stand in a range; not kept where a range shows all.
    shown: Vec<u32>,
    shows_all: bool,
    pub(super) stage: Stage,
    /// Somebody should look: what waits may show.
    pub(super) stirred: bool,
    /// A range shows something else than at the last look: what has been taken in since is among its rows.
    pub(super) rearranged: bool,
    /// Bytes of sort keys.
    pub(super) key_bytes: usize,
}

/// An object with its place in the order. No two have the same sort key.
pub(super) struct Row {
    pub(super) sort_key: Box<[u8]>,
    pub(super) group: Option<Rc<str>>,
    pub(super) object: Rc<Object>,
    /// Where among `pending` its next state waits.
    pub(super) pending: u32,
    /// Whether it has a place yet. One without waits to be taken in.
    pub(super) ranked: bool,
    /// Whether a range shows it.
    pub(super) shown: bool,
}

/// In place of an index: nothing waits for the row.
pub(super) const NONE_PENDING: u32 = u32::MAX;

/// What a row becomes at the next look.
pub(super) struct Pending {
    pub(super) row: u32,
    /// None: it goes.
    pub(super) object: Option<Rc<Object>>,
    /// Whether its place and its group are those that the row has.
    pub(super) stays: bool,
}

/// An object that waits for a verdict.
pub(super) struct Waiting {
    pub(super) object: Rc<Object>,
    pub(super) decided: bool,
}

impl View {
    /// A view without rows. Registers the fields that its selectors read; fails on a field that is no path.
    pub fn new(spec: ViewSpec, fields: &mut FieldSet) -> Result<Self, SelectorError> {
        Ok(View {
            matcher: Matcher::new(Predicate { label: spec.label, field: spec.field }, fields)?,
            namespaces: spec.namespaces.map(|names| names.into_iter().collect()),
            order: spec.order,
            group_by: spec.group_by,
            predicate: spec.predicate,
            rows: Slab::new(),
            by_key: FxHashMap::default(),
            ranks: Ranks::default(),
            counts: Counts::default(),
            waiting: BTreeMap::new(),
            waiting_by_key: FxHashMap::default(),
            decided: Vec::new(),
            pending: Vec::new(),
            sort_key: Vec::new(),
            ranges: Vec::new(),
            shown: Vec::new(),
            shows_all: false,
            stage: Stage::Hidden,
            stirred: false,
            rearranged: false,
            key_bytes: 0,
        })
    }

    /// Opens a range of rows under a number of the caller's.
    pub fn open_range(&mut self, range: RangeId, span: RowRange) {
        self.ranges.push((range, span));
        self.ranges_changed();
    }

    /// Moves a range: it shows other rows of the same state.
    pub fn move_range(&mut self, range: RangeId, span: RowRange) {
        if let Some(held) = self.ranges.iter_mut().find(|(id, _)| *id == range) {
            held.1 = span;
            self.ranges_changed();
        }
    }

    /// Closes a range.
    pub fn close_range(&mut self, range: RangeId) {
        self.ranges.retain(|(id, _)| *id != range);
        self.note_shown();
    }

    /// The ranges that are open.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = RangeId> {
        self.ranges.iter().map(|(range, _)| *range)
    }

    /// The rows of an open range, in order.
    pub fn rows(&self, range: RangeId) -> impl Iterator<Item = &Rc<Object>> {
        let span = self.ranges.iter().find(|(id, _)| *id == range).map_or(RowRange { offset: 0, limit: 0 }, |(_, span)| *span);
        self.rows_of(span).map(|row| &self.rows[row as usize].object)
    }

    /// How many objects match.
    pub fn total(&self) -> usize {
        self.stage.seen().map_or_else(|| self.ranks.len(), |seen| seen.total)
    }

    /// How many matching objects have each value of the grouping field, by value. Objects without the field count as "".
    pub fn counts(&self) -> Vec<(Rc<str>, usize)> {
        match self.stage.seen() {
            Some(seen) => seen.counts.clone(),
            None => self.counts.iter().map(|(value, count)| (value.clone(), count)).collect(),
        }
    }

    /// The position of a key among all matching objects.
    pub fn index_of(&self, key: &str) -> Option<usize> {
        let row = *self.by_key.get(key)?;
        let rank = self.rows[row as usize].ranked.then(|| self.ranks.rank(row));
        rank.filter(|rank| *rank < self.visible())
    }

    /// The object at a position among all matching objects.
    pub fn at(&self, position: usize) -> Option<&Rc<Object>> {
        self.rows_of(RowRange { offset: position, limit: 1 }).next().map(|row| &self.rows[row as usize].object)
    }

    /// The keys of all matching objects, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.rows_of(RowRange::ALL).map(|row| self.rows[row as usize].object.key())
    }

    /// Whether the list was whole, and every object of it was asked, at the last look.
    pub fn is_loaded(&self) -> bool {
        self.stage.is_loaded()
    }

    /// The objects that pass the selectors and wait for a verdict, oldest first, as of the last look.
    pub fn undecided(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.waiting.values().filter(|waiting| !waiting.decided).map(|waiting| &waiting.object)
    }

    /// The verdict on a waiting object, which the next look takes in. Returns whether it was still waiting. There is one verdict on each object; it
    /// is void when the object has changed or gone by then.
    pub fn decide(&mut self, object: ObjectId, passes: bool) -> bool {
        let waiting = self.waiting.get_mut(&object).filter(|waiting| !waiting.decided);
        let Some(waiting) = waiting else { return false };
        waiting.decided = true;
        self.decided.push((object, passes));
        self.stirred = true;
        true
    }

    /// Bytes that it takes: rows with their places, and what waits. The objects count as the store's, or as those that were let go of.
    pub(crate) fn bytes(&self) -> usize {
        let row = size_of::<Row>() + 2 * size_of::<(Key, u32)>() + Ranks::PLACE_BYTES;
        let waiting = 2 * size_of::<(ObjectId, Waiting)>() + 2 * size_of::<(Key, ObjectId)>();
        self.rows.len() * row
            + self.key_bytes
            + self.pending.capacity() * size_of::<Pending>()
            + self.waiting.len() * waiting
            + self.shown.len() * size_of::<u32>()
    }

    /// The same with the objects that nobody but readers hold. Looks at all rows.
    pub(crate) fn bytes_with_late(&self) -> usize {
        let late = |row: &Row| if row.object.holder() == Holder::Nobody { row.object.size() } else { 0 };
        self.bytes() + self.rows.iter().map(|(_, row)| late(row)).sum::<usize>()
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.rows = Slab::new();
        self.by_key = FxHashMap::default();
        self.ranks = Ranks::default();
        self.counts = Counts::default();
        self.waiting.clear();
        self.waiting_by_key = FxHashMap::default();
        self.decided = Vec::new();
        self.pending = Vec::new();
        self.shown = Vec::new();
        self.stage = Stage::Hidden;
        self.key_bytes = 0;
        self.stir();
    }

    /// So many rows, from the first on, may be seen.
    fn visible(&self) -> usize {
        self.stage.visible()
    }

    fn rows_of(&self, span: RowRange) -> impl Iterator<Item = u32> {
        let visible = self.visible().saturating_sub(span.offset).min(span.limit);
        self.ranks.from(span.offset.min(self.ranks.len())).take(visible)
    }

    pub(super) fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.contains(object.namespace())) && self.matcher.matches(object, fields)
    }

    /// Reads what places an object: its sort key, into `sort_key`, and its group.
    pub(super) fn read(&mut self, object: &Rc<Object>, fields: &FieldSet) -> Option<Rc<str>> {
        write_sort_key(&mut self.sort_key, object, &self.order, fields);
        self.group_by.map(|slot| match object.field(slot, fields) {
            Scalar::Text(text) => text,
            other => other.text().into(),
        })
    }

    /// Adds a row, which has no place in the order yet.
    #[allow(clippy::cast_possible_truncation)] // more rows than that do not fit in memory
    pub(super) fn add_row(&mut self, object: &Rc<Object>) -> u32 {
        let row = Row { sort_key: Box::default(), group: None, object: object.clone(), pending: NONE_PENDING, ranked: false, shown: false };
        let row = self.rows.insert(row) as u32;
        self.by_key.insert(object.key().clone(), row);
        row
    }

    /// Gives a row its sort key and its group, and counts it. The caller puts it into the order.
    pub(super) fn give_place(&mut self, row: u32, fields: &FieldSet) {
        let object = self.rows[row as usize].object.clone();
        let group = self.read(&object, fields);
        if let Some(group) = &group {
            self.counts.add(group);
        }
        self.key_bytes += allocation(self.sort_key.len());
        let row = &mut self.rows[row as usize];
        row.sort_key = self.sort_key.as_slice().into();
        row.group = group;
        row.ranked = true;
    }

    /// Puts a row into the order. Returns where, as far as that matters (see [`View::leave`]).
    pub(super) fn enter(&mut self, row: u32) -> Option<usize> {
        let sort_key = &*self.rows[row as usize].sort_key;
        self.ranks.insert(row, |other| *self.rows[other as usize].sort_key < *sort_key);
        (!self.rearranged).then(|| self.ranks.rank(row))
    }

    /// Takes a row out of the order. Returns where it stood, unless it is known already that a range shows something else.
    pub(super) fn leave(&mut self, row: u32) -> Option<usize> {
        let position = (!self.rearranged).then(|| self.ranks.rank(row));
        self.ranks.remove(row);
        position
    }

    /// A row has left one position, and a row has entered one.
    pub(super) fn touch(&mut self, left: Option<usize>, entered: Option<usize>) {
        let sees = |span: &RowRange| match (left, entered) {
            // What lies between the two positions has moved by one; everything else stands where it was.
            (Some(left), Some(entered)) => left.min(entered) < span.end() && left.max(entered) >= span.offset,
            (Some(position), None) | (None, Some(position)) => position < span.end(),
            (None, None) => false,
        };
        self.rearranged = self.rearranged || self.ranges.iter().any(|(_, span)| sees(span));
    }

    pub(super) fn is_shown(&self, row: u32) -> bool {
        self.shows_all || self.rows[row as usize].shown
    }

    /// Ranges were opened or moved: what waits may show in them.
    fn ranges_changed(&mut self) {
        self.stirred |= !self.pending.is_empty();
        self.note_shown();
    }

    /// Notes which rows the ranges show.
    pub(super) fn note_shown(&mut self) {
        for row in self.shown.drain(..) {
            if let Some(row) = self.rows.get_mut(row as usize) {
                row.shown = false;
            }
        }
        let rows = self.ranks.len();
        self.shows_all = self.ranges.iter().any(|(_, span)| span.offset == 0 && span.end() >= rows);
        if self.shows_all {
            return;
        }
        for (_, span) in &self.ranges {
            let start = span.offset.min(rows);
            for row in self.ranks.from(start).take(span.end().min(rows) - start) {
                self.rows[row as usize].shown = true;
                self.shown.push(row);
            }
        }
    }
}
