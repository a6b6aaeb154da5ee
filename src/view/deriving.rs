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

    /// The same of the rows of a range that were not read since they changed: what they show. It reads the fields of a row once, however many
    /// questions follow; again only where an answer was left out.
    pub fn asks_in(&mut self, range: RangeId, max: usize) -> Vec<u8> {
        let rows: Vec<u32> = self.numbers_of(self.ranges.span(range)).collect();
        let Self { derived: Some(derived), fields: Some(fields), rows: held, .. } = self else { return b"[]".to_vec() };
        derived.begin();
        let mut text = vec![b'['];
        for row in rows {
            let object = &held.get(row).object;
            if fields.has_shown(row, object) {
                continue;
            }
            if !derived.ask(object, Which::Shown, &mut text) {
                // Told before a search or a heartbeat. Noted now, so that no later question reads its fields again.
                fields.note(row, object, derived);
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::json::Path;
    use crate::json::fields::FieldSet;
    use crate::json::value::Value;
    use crate::object::Object;
    use crate::testing::named;
    use crate::view::{RowRange, Selected, ViewSpec};

    fn view(fields: &mut FieldSet) -> View {
        let name = Path::parse("metadata.name").unwrap();
        let spec = ViewSpec { derived: vec![vec![name]], select: Some(vec![Selected::Derived(0)]), ..ViewSpec::default() };
        let mut view = View::new(spec, fields).unwrap();
        view.open_range(0.into(), RowRange::ALL);
        view
    }

    fn pods(numbers: impl Iterator<Item = usize>, version: u64) -> Vec<Rc<Object>> {
        numbers.map(|number| named(&format!("pod-{number:03}"), version)).collect()
    }

    /// Asks for so many objects at once until nothing is asked, and answers the first of them. Returns how many rows the questions looked at: up to the
    /// last that is asked for, those that have not shown their object.
    fn looked_at(view: &mut View, max: usize, answered: usize) -> usize {
        let mut looked_at = 0;
        loop {
            let rows: Vec<u32> = view.numbers_of(RowRange::ALL).collect();
            let has_shown = |view: &View, row: &u32| view.fields.as_ref().unwrap().has_shown(*row, &view.rows.get(*row).object);
            let before: Vec<bool> = rows.iter().map(|row| has_shown(view, row)).collect();
            let text = view.asks_in(0.into(), max);
            let Ok(Value::List(asked)) = Value::parse(&text) else { panic!("a list") };
            let keys = asked.iter().map(|one| match one {
                Value::List(members) => match &members[1] {
                    Value::Text(key) => key.to_string(),
                    _ => panic!("a key"),
                },
                _ => panic!("what is asked"),
            });
            let keys: Vec<String> = keys.collect();
            let end = keys.last().filter(|_| keys.len() >= max).map_or(rows.len(), |key| view.index_of(key).unwrap() + 1);
            looked_at += before[..end].iter().filter(|shown| !**shown).count();
            if keys.is_empty() {
                return looked_at;
            }
            let values: Vec<String> = keys.iter().take(answered).map(|key| format!("\"{key}\"")).collect();
            view.tell(&format!("[{}]", values.join(",")));
        }
    }

    #[test]
    fn vd_13_a_question_looks_at_no_row_that_an_earlier_one_found_told() {
        let mut fields = FieldSet::new(Vec::new());
        let mut before = view(&mut fields);
        before.fill(&pods((0..200).filter(|number| number % 2 == 0), 1), &fields);
        before.look(true, &fields);
        assert_eq!(looked_at(&mut before, 8, 8), 100, "new rows alone");

        // Another search: half of the rows were told to the view before, the others are new.
        for (max, answered, bound) in [(8, 8, 200), (8, 1, 200 + 100 * 8)] {
            let mut mixed = view(&mut fields);
            mixed.inherit(&before);
            let first = pods(0..200, 1);
            mixed.fill(&first, &fields);
            mixed.look(true, &fields);
            let looked_at_rows = looked_at(&mut mixed, max, answered);
            assert!((200..=bound).contains(&looked_at_rows), "{looked_at_rows} looks at 200 rows");
            assert_eq!(mixed.stamps(0.into()).len(), 200);
            assert_eq!(mixed.fields(0.into(), &[1, 2]), br#"[["pod-001","pod-001"],["pod-002","pod-002"]]"#);

            // A heartbeat of all, between which others come.
            let beaten = pods(0..200, 2);
            first.iter().zip(&beaten).for_each(|(old, new)| mixed.change(Some(old), Some(new), &fields));
            pods(200..300, 2).iter().for_each(|new| mixed.change(None, Some(new), &fields));
            mixed.look(true, &fields);
            let looked_at_rows = looked_at(&mut mixed, max, answered);
            assert!((300..=bound + 100).contains(&looked_at_rows), "{looked_at_rows} looks at 300 rows");
        }
    }
}
