//! The ranges of a view's rows that somebody looks at.

use super::id::RangeId;
use super::rows::{Row, Rows, Step};
use super::spec::RowRange;

/// The open ranges, and the rows that stand in them.
#[derive(Default)]
pub(super) struct Ranges {
    spans: Vec<(RangeId, RowRange)>,
    // The rows that are noted as shown. None is, where a range shows all.
    shown: Vec<u32>,
    shows_all: bool,
}

impl Ranges {
    /// The ranges that are open.
    pub(super) fn ids(&self) -> impl Iterator<Item = RangeId> {
        self.spans.iter().map(|(range, _)| *range)
    }

    /// Where a range lies. One that is not open has no rows.
    pub(super) fn span(&self, range: RangeId) -> RowRange {
        self.spans.iter().find(|(id, _)| *id == range).map_or(RowRange { offset: 0, limit: 0 }, |(_, span)| *span)
    }

    /// Opens a range.
    pub(super) fn open(&mut self, range: RangeId, span: RowRange) {
        self.spans.push((range, span));
    }

    /// Moves a range. Returns whether it is open.
    pub(super) fn set_span(&mut self, range: RangeId, span: RowRange) -> bool {
        let held = self.spans.iter_mut().find(|(id, _)| *id == range);
        held.map(|held| held.1 = span).is_some()
    }

    /// Closes a range.
    pub(super) fn close(&mut self, range: RangeId) {
        self.spans.retain(|(id, _)| *id != range);
    }

    /// Whether a range shows something else after this step.
    pub(super) fn see(&self, Step { left, entered }: Step) -> bool {
        let sees = |span: &RowRange| match (left, entered) {
            // What lies between the two positions has moved by one; everything else stands where it was.
            (Some(left), Some(entered)) => left.min(entered) < span.end() && left.max(entered) >= span.offset,
            (Some(position), None) | (None, Some(position)) => position < span.end(),
            (None, None) => false,
        };
        self.spans.iter().any(|(_, span)| sees(span))
    }

    /// Whether a range shows this row, as of the last [`note`](Ranges::note).
    pub(super) fn shows(&self, row: &Row) -> bool {
        self.shows_all || row.shown
    }

    /// How many rows they show, as of the same.
    pub(super) fn in_sight(&self, rows: &Rows) -> usize {
        if self.shows_all { rows.len() } else { self.shown.len() }
    }

    /// Notes which rows they show.
    pub(super) fn note(&mut self, rows: &mut Rows) {
        for row in self.shown.drain(..) {
            if let Some(row) = rows.get_mut(row) {
                row.shown = false;
            }
        }
        let count = rows.len();
        self.shows_all = self.spans.iter().any(|(_, span)| span.offset == 0 && span.end() >= count);
        if self.shows_all {
            return;
        }
        for (_, span) in &self.spans {
            let start = span.offset.min(count);
            self.shown.extend(rows.from(start).take(span.end().min(count) - start));
        }
        for row in &self.shown {
            if let Some(row) = rows.get_mut(*row) {
                row.shown = true;
            }
        }
    }

    /// Forgets the rows; the ranges stay.
    pub(super) fn clear(&mut self) {
        self.shown = Vec::new();
    }

    /// Bytes that the rows shown take.
    pub(super) fn bytes(&self) -> usize {
        self.shown.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_sees_what_moves_comes_or_goes_before_its_end_or_across_it() {
        let mut ranges = Ranges::default();
        ranges.open(RangeId::of(0), RowRange { offset: 10, limit: 5 });
        let sees = |left: Option<usize>, entered: Option<usize>| ranges.see(Step { left, entered });
        for (left, entered, seen) in [
            (Some(3), None, true),
            (None, Some(14), true),
            (None, Some(15), false),
            (Some(2), Some(9), false),
            (Some(2), Some(10), true),
            (Some(20), Some(14), true),
            (Some(20), Some(15), false),
            (None, None, false),
        ] {
            assert_eq!(sees(left, entered), seen, "{left:?} -> {entered:?}");
        }
    }
}
