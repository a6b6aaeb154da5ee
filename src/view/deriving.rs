//! How a view comes to the values of derived columns: it asks, and is told.
//!
//! Where a column places rows, each object that passes waits until it is told, as it does for a verdict. Where rows only show it, rows in sight are
//! asked for when somebody is about to read them. Both are asked for some at a time, and what is told stays.

use super::derived::Which;
use super::id::RangeId;
use super::verdicts::Wait;
use super::view::View;

impl View {
    /// What is asked of objects that wait for their place, for about so many objects: `[[column,"key",[value…],[missing…]],…]` in JSON. The values are those of the
    /// column's paths; a missing one stands as 0, and the last member has the positions of those. The answers come by [`View::tell`].
    pub fn asks(&mut self, max: usize) -> Vec<u8> {
        let Self { derived: Some(derived), verdicts, .. } = self else { return b"[]".to_vec() };
        derived.begin();
        let mut text = vec![b'['];
        for object in verdicts.that_wait_for(Wait::Values).take(max) {
            derived.ask(object, Which::Placing, &mut text);
        }
        text.push(b']');
        text
    }

    /// The same of the rows of a range that were not read since they changed: what they show.
    pub fn asks_in(&mut self, range: RangeId, max: usize) -> Vec<u8> {
        let rows: Vec<u32> = self.numbers_of(self.ranges.span(range)).collect();
        let Self { derived: Some(derived), fields: Some(fields), rows: held, .. } = self else { return b"[]".to_vec() };
        derived.begin();
        let mut text = vec![b'['];
        for row in rows {
            let object = &held.get(row).object;
            if !fields.has_shown(row, object) {
                derived.ask(object, Which::Shown, &mut text);
            }
            if derived.asked() >= max {
                break;
            }
        }
        text.push(b']');
        text
    }

    /// The answers to what was asked last, in that order, or to the first of it: scalars as a JSON array. Null is no value. The next look takes in what
    /// has all it waited for.
    pub fn tell(&mut self, values: &str) {
        let Self { derived: Some(derived), rows, verdicts, fields, .. } = self else { return };
        for (key, which) in derived.tell(values, |key| rows.find(key).is_some() || verdicts.awaits(key)) {
            if let (Which::Shown, Some(fields), Some(row)) = (which, &mut *fields, rows.find(&key)) {
                // Noted now, so that the next question need not read its fields again: of many rows only some are asked for at once.
                fields.stamp(row, &rows.get(row).object, Some(derived));
                continue;
            }
            let waiting = verdicts.for_values(&key).filter(|object| derived.knows(object, Which::Placing)).map(|object| object.id());
            if let Some(object) = waiting {
                verdicts.give(object, true);
                self.stirred = true;
            }
        }
    }
}
