//! The values at several paths of a document, read in one walk, as they stand in its text.

use super::fields::FieldSet;
use super::path::Path;
use super::scan::{Span, read_spans};

/// Some paths, in an order of their own.
#[derive(Debug)]
pub struct Columns {
    fields: FieldSet,
    // The slot of each path. Equal paths share one.
    slots: Vec<usize>,
}

impl Columns {
    /// Of these paths.
    pub fn new(paths: &[Path]) -> Self {
        let mut fields = FieldSet::bare();
        let slots = paths.iter().map(|path| fields.slot(path)).collect();
        Self { fields, slots }
    }

    /// The values in a document that was checked before, in the order of the paths. `None` where there is none.
    pub fn values<'d>(&self, document: &'d [u8]) -> Vec<Option<&'d [u8]>> {
        let spans = read_spans(document, &self.fields);
        let value = |(start, end): Span| (start < end).then(|| &document[start..end]);
        self.slots.iter().map(|slot| value(spans[*slot])).collect()
    }

    /// Appends the values to the members of a JSON array, as [`append_row`] does.
    pub fn append_to(&self, row: &mut Vec<u8>, document: &[u8]) {
        append_row(row, self.values(document));
    }
}

/// Appends values to the members of a JSON array, a missing one as 0. If any is missing, a last member has the positions of those.
pub fn append_row(row: &mut Vec<u8>, values: impl IntoIterator<Item = Option<impl AsRef<[u8]>>>) {
    let mut missing = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        row.push(b',');
        row.extend_from_slice(value.as_ref().map_or(b"0", AsRef::as_ref));
        if value.is_none() {
            missing.push(at.to_string());
        }
    }
    if !missing.is_empty() {
        row.extend_from_slice(format!(",[{}]", missing.join(",")).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(paths: &[&str]) -> Columns {
        let paths: Vec<Path> = paths.iter().map(|path| Path::parse(path).unwrap()).collect();
        Columns::new(&paths)
    }

    #[test]
    fn a_row_says_which_values_are_missing() {
        let row = |paths: &[&str]| {
            let mut row = b"[1".to_vec();
            columns(paths).append_to(&mut row, br#"{"a":[0],"b":"x"}"#);
            String::from_utf8(row).unwrap()
        };
        assert_eq!(row(&["b", "a"]), r#"[1,"x",[0]"#);
        assert_eq!(row(&["c", "b", "d"]), r#"[1,0,"x",0,[0,2]"#);
        assert_eq!(row(&[]), "[1");
    }

    #[test]
    fn values_stand_as_in_the_text_in_the_order_of_the_paths() {
        let columns = columns(&["status.phase", "spec", "spec.list[1]", "no.such", "status.phase", "status.c[?(@.type=='Ready')].s"]);
        let document =
            br#" {"spec": {"list":[1, {"a" : 2}]},"status":{"c":[{"type":"x","s":0},{"type":"Ready","s":-0}],"phase":"R\u00fcn"}}"#;
        let values: Vec<_> =
            columns.values(document).into_iter().map(|value| value.map(|text| std::str::from_utf8(text).unwrap())).collect();
        let phase = Some("\"R\\u00fcn\"");
        assert_eq!(values, [phase, Some(r#"{"list":[1, {"a" : 2}]}"#), Some(r#"{"a" : 2}"#), None, phase, Some("-0")]);
        // Of equal names the last counts, as `JSON.parse` has it.
        assert_eq!(columns.values(br#"{"spec":1,"spec":2}"#)[1], Some(&b"2"[..]));
    }
}
