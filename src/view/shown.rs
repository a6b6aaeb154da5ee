//! What the rows in sight show, where a view shows some fields of its objects and not the whole of them.

use std::borrow::Cow;
use std::cell::Cell;

use rustc_hash::FxHashMap;

use crate::allocation::allocation;
use crate::json::write::quoted;
use crate::json::{Columns, append_row};
use crate::object::{Object, ObjectId};

use super::derived::{Derived, Which};
use super::ranges::Ranges;
use super::rows::Rows;
use super::spec::Selected;

/// Rows out of sight that are kept at least: a table that is scrolled back and forth shows the same ones again.
const MIN_FORGOTTEN: usize = 64;

/// In place of an object's id, which is never 0.
const NO_OBJECT: ObjectId = 0;

thread_local! {
    // Of all views: one that ends and begins anew gives no stamp again.
    static NEXT_STAMP: Cell<u64> = const { Cell::new(1) };
}

fn next_stamp() -> u64 {
    NEXT_STAMP.with(|next| next.replace(next.get() + 1))
}

/// What a row shows, as of when somebody read it.
struct Shown {
    /// The version of the object.
    object: ObjectId,
    /// Renewed whenever the text is another.
    stamp: u64,
    /// The key and the values, as JSON.
    text: Box<[u8]>,
}

/// The fields that a view shows, and what each row in sight has shown last.
pub(super) struct ShownFields {
    columns: Columns,
    // For each member of a row: the derived column that it shows, or the next of `columns`.
    derived: Box<[Option<usize>]>,
    shown: FxHashMap<u32, Shown>,
    text_bytes: usize,
}

impl ShownFields {
    /// Of these paths and derived columns.
    pub(super) fn new(selected: &[Selected]) -> Self {
        let mut paths = Vec::new();
        let derived = selected.iter().map(|selected| match selected {
            Selected::Derived(column) => Some(*column),
            Selected::Path(path) => {
                paths.push(path.clone());
                None
            }
        });
        let derived = derived.collect();
        Self { columns: Columns::new(&paths), derived, shown: FxHashMap::default(), text_bytes: 0 }
    }

    /// Whether a row may show something else with this object: it would, or a derived column is to be asked for.
    pub(super) fn differ(&self, row: u32, object: &Object, derived: Option<&Derived>) -> bool {
        let is_known = || derived.is_none_or(|derived| derived.knows(object, Which::Shown));
        self.shown.get(&row).is_none_or(|shown| shown.object != object.id() && !(is_known() && *shown.text == *self.text(object, derived)))
    }

    /// Whether a row has shown this object.
    pub(super) fn has_shown(&self, row: u32, object: &Object) -> bool {
        self.shown.get(&row).is_some_and(|shown| shown.object == object.id())
    }

    /// The stamp of what a row shows: the same until it shows something else. No two rows have the same.
    pub(super) fn stamp(&mut self, row: u32, object: &Object, derived: Option<&Derived>) -> u64 {
        if let Some(shown) = self.shown.get_mut(&row)
            && shown.object == object.id()
        {
            return shown.stamp;
        }
        // What is not told yet is asked for at the next reading.
        let is_known = derived.is_none_or(|derived| derived.knows(object, Which::Shown));
        self.renew(row, object, derived, if is_known { object.id() } else { NO_OBJECT })
    }

    /// A row shows this object, and nothing is to be asked of that any more.
    pub(super) fn note(&mut self, row: u32, object: &Object, derived: &Derived) {
        self.renew(row, object, Some(derived), object.id());
    }

    /// Has a row show an object, as the version `of`. Returns its stamp.
    fn renew(&mut self, row: u32, object: &Object, derived: Option<&Derived>, of: ObjectId) -> u64 {
        let text = self.text(object, derived);
        if let Some(shown) = self.shown.get_mut(&row)
            && shown.text == text
        {
            shown.object = of;
            return shown.stamp;
        }
        let stamp = next_stamp();
        self.text_bytes += allocation(text.len());
        let replaced = self.shown.insert(row, Shown { object: of, stamp, text });
        self.text_bytes -= replaced.map_or(0, |shown| allocation(shown.text.len()));
        stamp
    }

    /// What a row has shown, as [`ShownFields::stamp`] has noted it: `["key",value…,[missing…]]`. A missing value stands there as 0, and the last member
    /// tells where: it is left out where none is missing.
    pub(super) fn row(&self, row: u32) -> Option<&[u8]> {
        self.shown.get(&row).map(|shown| &*shown.text)
    }

    /// Forgets the rows that are out of sight, when these are many.
    pub(super) fn forget(&mut self, rows: &Rows, ranges: &Ranges) {
        if self.shown.len() <= 2 * ranges.in_sight(rows) + MIN_FORGOTTEN {
            return;
        }
        let mut gone = 0;
        self.shown.retain(|row, shown| {
            let stays = rows.has(*row) && ranges.shows(rows.get(*row));
            gone += if stays { 0 } else { allocation(shown.text.len()) };
            stays
        });
        self.text_bytes -= gone;
        self.shown.shrink_to_fit();
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.shown = FxHashMap::default();
        self.text_bytes = 0;
    }

    /// Bytes that the texts and their table take.
    pub(super) fn bytes(&self) -> usize {
        // A table is full at seven eighths of its places, and each has a byte more than the entry.
        self.text_bytes + self.shown.capacity() * 8 / 7 * (size_of::<(u32, Shown)>() + 1)
    }

    fn text(&self, object: &Object, derived: Option<&Derived>) -> Box<[u8]> {
        let document = object.lend();
        let mut text = vec![b'['];
        text.extend_from_slice(quoted(object.key()).as_bytes());
        let mut values = self.columns.values(&document).into_iter();
        let column = |column: &Option<_>| match column {
            Some(column) => derived?.json(object.key(), *column).map(|told| Cow::Owned(told.into_bytes())),
            None => values.next().flatten().map(Cow::Borrowed),
        };
        append_row(&mut text, self.derived.iter().map(column));
        text.push(b']');
        text.into_boxed_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::super::criteria::Place;
    use super::super::id::RangeId;
    use super::super::spec::RowRange;
    use super::*;
    use crate::json::Path;
    use crate::testing::named;

    #[test]
    fn vf_04_law_08_bounded_rows_out_of_sight_are_forgotten_and_what_is_kept_counts() {
        let mut fields = ShownFields::new(&[Path::parse("metadata.name").unwrap().into()]);
        let (mut rows, mut ranges) = (Rows::default(), Ranges::default());
        ranges.open(RangeId::of(0), RowRange { offset: 0, limit: 10 });
        let numbers: Vec<u32> = (0..1_000)
            .map(|number| {
                let row = rows.add(&named(&format!("pod-{number}"), 1));
                let key = [(number / 256) as u8, (number % 256) as u8];
                rows.enter(row, Place { sort_key: &key, group: None });
                row
            })
            .collect();
        ranges.note(&mut rows);
        numbers.iter().for_each(|row| _ = fields.stamp(*row, &rows.get(*row).object.clone(), None));
        let all = fields.bytes();
        let texts: usize = numbers.iter().map(|row| allocation(fields.row(*row).unwrap().len())).sum();
        assert!(all >= texts + 1_000 * size_of::<Shown>(), "{all} bytes");
        fields.forget(&rows, &ranges);
        let left: usize = numbers[..10].iter().map(|row| allocation(fields.row(*row).unwrap().len())).sum();
        assert_eq!((fields.shown.len(), fields.text_bytes), (10, left), "those in sight");
        assert!(fields.bytes() < all / 20);
    }
}
