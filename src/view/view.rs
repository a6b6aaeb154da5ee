//! The live view: rows kept in order, and a state that stands still between two looks.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::selector::SelectorError;

use super::criteria::Criteria;
use super::derived::{Derived, Which};
use super::id::RangeId;
use super::pending::Pending;
use super::ranges::Ranges;
use super::rows::{Rows, Step};
use super::shown::ShownFields;
use super::spec::{RowRange, ViewSpec};
use super::stage::Stage;
use super::verdicts::{Verdicts, Wait};

/// A filtered, ordered and counted picture of a resource's objects, with any number of ranges of its rows that somebody looks at.
///
/// Rows, total, counts and positions are all of the state at the last [`look`](View::look). What happens meanwhile waits, merged by object, and
/// the next look takes it in. A new version that does not move its row costs the same however many rows there are. A row that moves, comes or
/// goes costs a logarithm.
// Here is what it shows. `fill.rs` has how it gets its first rows, `changes.rs` how it takes changes.
pub struct View {
    pub(super) criteria: Criteria,
    pub(super) rows: Rows,
    pub(super) pending: Pending,
    pub(super) verdicts: Verdicts,
    pub(super) ranges: Ranges,
    /// None: rows show whole objects. Boxed, because most views have none, and a session leaves many that linger.
    pub(super) fields: Option<Box<ShownFields>>,
    /// None: nothing is derived. Boxed, for the same reason.
    pub(super) derived: Option<Box<Derived>>,
    pub(super) stage: Stage,
    /// Somebody should look: what waits may show.
    pub(super) stirred: bool,
    /// A range shows something else than at the last look: what has been taken in since is among its rows.
    pub(super) rearranged: bool,
}

impl View {
    /// A view without rows. Registers the fields that its selectors read; fails on a field that is no path.
    pub fn new(spec: ViewSpec, fields: &mut FieldSet) -> Result<Self, SelectorError> {
        let shown = spec.select.as_deref().map(ShownFields::new).map(Box::new);
        let (placing, derived) = spec.derived_uses();
        let is_derived = placing.len() + derived.len() > 0;
        let derived = is_derived.then(|| Box::new(Derived::new(&spec.derived, placing, derived)));
        Ok(View {
            criteria: Criteria::new(spec, fields)?,
            fields: shown,
            derived,
            rows: Rows::default(),
            pending: Pending::default(),
            verdicts: Verdicts::default(),
            ranges: Ranges::default(),
            stage: Stage::Hidden,
            stirred: false,
            rearranged: false,
        })
    }

    /// Takes over what another view was told of the same derived columns. For a view that has no rows yet, of the same store.
    pub fn inherit(&mut self, from: &View) {
        let (Some(derived), Some(told)) = (&mut self.derived, &from.derived) else { return };
        derived.inherit(told, from.pending.gone().map(|row| from.rows.get(row).object.key()));
    }

    /// Of how many objects it was told derived columns.
    pub fn told(&self) -> usize {
        self.derived.as_ref().map_or(0, |derived| derived.told())
    }

    /// Opens a range of rows under a number of the caller's.
    pub fn open_range(&mut self, range: RangeId, span: RowRange) {
        self.ranges.open(range, span);
        self.ranges_changed();
    }

    /// Moves a range: it shows other rows of the same state.
    pub fn move_range(&mut self, range: RangeId, span: RowRange) {
        if self.ranges.set_span(range, span) {
            self.ranges_changed();
        }
    }

    /// Closes a range.
    pub fn close_range(&mut self, range: RangeId) {
        self.ranges.close(range);
        self.note_ranges();
    }

    /// The ranges that are open.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = RangeId> {
        self.ranges.ids()
    }

    /// The rows of an open range, in order.
    pub fn rows(&self, range: RangeId) -> impl Iterator<Item = &Rc<Object>> {
        self.rows_of(self.ranges.span(range))
    }

    /// The stamps of the rows of an open range, in order, where rows show [selected fields](ViewSpec::select). A stamp stays until one of these
    /// fields differs, and no two rows have the same.
    pub fn stamps(&mut self, range: RangeId) -> Vec<u64> {
        let rows: Vec<u32> = self.numbers_of(self.ranges.span(range)).collect();
        let Self { rows: held, fields: Some(fields), derived, .. } = self else { return Vec::new() };
        rows.into_iter().map(|row| fields.stamp(row, &held.get(row).object, derived.as_deref())).collect()
    }

    /// What the rows at these positions of a range show: `[["key",value…,[missing…]],…]` in JSON. The values stand in the order of
    /// [`ViewSpec::select`], a missing one as 0. The last member has the positions of the missing ones; without any it is left out. Positions
    /// that have no row, and rows whose stamp nobody has read, are passed over.
    pub fn fields(&self, range: RangeId, positions: &[u32]) -> Vec<u8> {
        let rows: Vec<u32> = self.numbers_of(self.ranges.span(range)).collect();
        let mut text = vec![b'['];
        for row in positions.iter().filter_map(|position| rows.get(*position as usize)) {
            let Some(row) = self.fields.as_ref().and_then(|fields| fields.row(*row)) else { continue };
            if text.len() > 1 {
                text.push(b',');
            }
            text.extend_from_slice(row);
        }
        text.push(b']');
        text
    }

    /// How many objects match.
    pub fn total(&self) -> usize {
        self.stage.seen().map_or_else(|| self.rows.len(), |seen| seen.total)
    }

    /// How many matching objects have each value of the grouping field, by value. Objects without the field count as "".
    pub fn counts(&self) -> Vec<(Rc<str>, usize)> {
        self.stage.seen().map_or_else(|| self.rows.counts(), |seen| seen.counts.clone())
    }

    /// The position of a key among all matching objects.
    pub fn index_of(&self, key: &str) -> Option<usize> {
        self.rows.position(self.rows.find(key)?).filter(|position| *position < self.stage.visible())
    }

    /// The object at a position among all matching objects.
    pub fn at(&self, position: usize) -> Option<&Rc<Object>> {
        self.rows_of(RowRange { offset: position, limit: 1 }).next()
    }

    /// The keys of all matching objects, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.rows_of(RowRange::ALL).map(|object| object.key())
    }

    /// Whether the list was whole, and every object of it was asked, at the last look.
    pub fn is_loaded(&self) -> bool {
        self.stage.is_loaded()
    }

    /// The objects that pass the selectors and wait for a verdict, oldest first, as of the last look.
    pub fn undecided(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.verdicts.undecided()
    }

    /// The verdict on a waiting object, which the next look takes in. Returns whether it was still waiting. There is one verdict on each object; it
    /// is void when the object has changed or gone by then.
    pub fn decide(&mut self, object: ObjectId, passes: bool) -> bool {
        let Some(waiting) = self.verdicts.for_verdict(object) else { return false };
        if passes && !self.is_derived(waiting) {
            self.verdicts.wait_for_values(object);
        } else {
            self.verdicts.give(object, passes);
        }
        self.stirred = true;
        true
    }

    /// Bytes that it takes: rows with their places, and what waits. The objects count as the store's, or as those that were let go of.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes()
            + self.pending.bytes()
            + self.verdicts.bytes()
            + self.ranges.bytes()
            + self.fields.as_ref().map_or(0, |fields| fields.bytes())
            + self.derived.as_ref().map_or(0, |derived| derived.bytes())
    }

    /// The same with the objects that nobody but readers hold. Looks at all rows.
    pub(crate) fn bytes_with_late(&self) -> usize {
        self.bytes() + self.rows.late_bytes()
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.rows = Rows::default();
        self.pending = Pending::default();
        self.verdicts = Verdicts::default();
        self.ranges.clear();
        if let Some(fields) = &mut self.fields {
            fields.clear();
        }
        if let Some(derived) = &mut self.derived {
            derived.clear();
        }
        self.stage = Stage::Hidden;
        self.stir();
    }

    fn rows_of(&self, span: RowRange) -> impl Iterator<Item = &Rc<Object>> {
        self.numbers_of(span).map(|row| &self.rows.get(row).object)
    }

    pub(super) fn numbers_of(&self, span: RowRange) -> impl Iterator<Item = u32> {
        let visible = self.stage.visible().saturating_sub(span.offset).min(span.limit);
        self.rows.from(span.offset).take(visible)
    }

    /// Ranges were opened or moved: what waits may show in them.
    fn ranges_changed(&mut self) {
        self.stirred |= !self.pending.is_empty();
        self.note_ranges();
    }

    /// Notes which rows the ranges show.
    pub(super) fn note_ranges(&mut self) {
        self.ranges.note(&mut self.rows);
        if let Some(fields) = &mut self.fields {
            fields.forget(&self.rows, &self.ranges);
        }
    }

    /// Rows have moved, come or gone.
    pub(super) fn moved(&mut self, step: Step) {
        self.rearranged = self.rearranged || self.ranges.see(step);
    }

    /// Whether what places an object is known of it: no derived column is to be asked for.
    pub(super) fn is_derived(&self, object: &Object) -> bool {
        self.derived.as_ref().is_none_or(|derived| derived.knows(object, Which::Placing))
    }

    /// What an object that passes waits for, before it has a place.
    pub(super) fn wait_of(&self, object: &Object) -> Option<Wait> {
        if self.criteria.needs_verdict() { Some(Wait::Verdict) } else { (!self.is_derived(object)).then_some(Wait::Values) }
    }

    /// Whether a range shows this row.
    pub(super) fn shows(&self, row: u32) -> bool {
        self.ranges.shows(self.rows.get(row))
    }

    /// Whether a range shows this row, and would show something else with this object.
    pub(super) fn shows_another(&self, row: u32, object: &Object) -> bool {
        self.shows(row) && self.fields.as_ref().is_none_or(|fields| fields.differ(row, object, self.derived.as_deref()))
    }
}
