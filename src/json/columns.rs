//! The values at several paths of a document, read in one walk, as they stand in its text.

use super::bytes::same;
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The values in a document that was checked before, in the order of the paths. `None` where there is none.
    pub fn values<'d>(&self, document: &'d [u8]) -> Vec<Option<&'d [u8]>> {
        let spans = read_spans(document, &self.fields);
        let value = |(start, end): Span| (start < end).then(|| &document[start..end]);
        self.slots.iter().map(|slot| value(spans[*slot])).collect()
    }

    /// Whether two checked documents have the same text at each path.
    pub fn agree(&self, one: &[u8], other: &[u8]) -> bool {
        self.values(one).into_iter().zip(self.values(other)).all(|pair| match pair {
            (Some(one), Some(other)) => same(one, other),
            (None, None) => true,
            _ => false,
        })
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
    fn values_stand_as_in_the_text_in_the_order_of_the_paths() {
        let columns = columns(&["status.phase", "spec", "spec.list[1]", "no.such", "status.phase", "status.c[?(@.type=='Ready')].s"]);
        let document =
            br#" {"spec": {"list":[1, {"a" : 2}]},"status":{"c":[{"type":"x","s":0},{"type":"Ready","s":-0}],"phase":"R\u00fcn"}}"#;
        let values: Vec<_> =
            columns.values(document).into_iter().map(|value| value.map(|text| std::str::from_utf8(text).unwrap())).collect();
        let phase = Some("\"R\\u00fcn\"");
        assert_eq!(values, [phase, Some(r#"{"list":[1, {"a" : 2}]}"#), Some(r#"{"a" : 2}"#), None, phase, Some("-0")]);
        assert_eq!((columns.len(), columns.is_empty()), (6, false));
    }

    #[test]
    fn documents_agree_where_each_value_is_the_same_text() {
        let columns = columns(&["a", "b.c"]);
        let agree = |one: &str, other: &str| columns.agree(one.as_bytes(), other.as_bytes());
        assert!(agree(r#"{"a":1,"b":{"c":[2]},"x":1}"#, r#"{"x":2,"b":{"c":[2]},"a":1}"#));
        assert!(agree("{}", r#"{"b":3}"#), "both are missing");
        assert!(!agree(r#"{"a":1}"#, r#"{"a":2}"#) && !agree(r#"{"a":1}"#, "{}") && !agree(r#"{"a":null}"#, "{}"));
        // Of equal names the last counts, as `JSON.parse` has it.
        assert!(agree(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
    }
}
