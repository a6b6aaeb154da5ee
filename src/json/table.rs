//! Tables (`meta.k8s.io/v1`): what `kubectl get` shows. Found in them is where each row and its columns stand.

use std::ops::Range;

use super::cursor::{Checked, Cursor, no_object};
use super::error::JsonError;
use super::path::key_is;
use super::text::string;

/// One row: the positions of its two halves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `object`, an object with the row's metadata. `None`: it has none, so nothing says whose row it is.
    pub object: Option<Range<usize>>,
    /// `cells`, an array; `None` where it is missing.
    pub cells: Option<Range<usize>>,
}

/// A Table, by the positions of its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// `kind`, which should be `Table`.
    pub kind: Option<String>,
    /// `metadata`: that of a list.
    pub metadata: Option<Range<usize>>,
    /// `columnDefinitions`, where it is an array: servers say it once in a stream.
    pub columns: Option<Range<usize>>,
    /// `rows`.
    pub rows: Vec<Row>,
}

/// Reads a document that should be a Table. Its members may be in any order, and others are checked and passed over. What is no Table has no
/// rows, and its kind says what it is.
pub fn scan_table(document: &[u8]) -> Result<Table, JsonError> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let table = read_table(&mut cursor).map_err(|kind| cursor.error(kind))?;
    cursor.expect_end(start)?;
    Ok(table)
}

/// Reads a watch frame whose object should be a Table: the position of its `type` and the Table. `None`: it is no frame, or has no object.
pub fn scan_table_frame(document: &[u8]) -> Result<Option<(Range<usize>, Table)>, JsonError> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let frame = read_frame(&mut cursor).map_err(|kind| cursor.error(kind))?;
    cursor.expect_end(start)?;
    Ok(frame)
}

fn read_frame(cursor: &mut Cursor<'_>) -> Checked<Option<(Range<usize>, Table)>> {
    let (mut kind, mut table) = (None, None);
    members(cursor, |cursor, key| {
        if key_is(key, "object") && cursor.peek() == b'{' {
            table = Some(read_table(cursor)?);
            return Ok(());
        }
        let span = skipped(cursor)?;
        if key_is(key, "type") {
            kind = Some(span);
        }
        Ok(())
    })?;
    Ok(kind.zip(table))
}

fn read_table(cursor: &mut Cursor<'_>) -> Checked<Table> {
    let mut table = Table::default();
    members(cursor, |cursor, key| {
        if key_is(key, "rows") && cursor.peek() == b'[' {
            table.rows.clear();
            let mut more = cursor.open_array()?;
            while more {
                table.rows.push(read_row(cursor)?);
                more = cursor.next_element()?;
            }
            return Ok(());
        }
        let span = skipped(cursor)?;
        let first = cursor.document[span.start];
        if key_is(key, "kind") {
            table.kind = string(cursor.document, (span.start, span.end)).map(|kind| kind.into_owned());
        } else if key_is(key, "metadata") && first == b'{' {
            table.metadata = Some(span);
        } else if key_is(key, "columnDefinitions") && first == b'[' {
            table.columns = Some(span);
        }
        Ok(())
    })?;
    Ok(table)
}

fn read_row(cursor: &mut Cursor<'_>) -> Checked<Row> {
    let mut row = Row { object: None, cells: None };
    if cursor.peek() != b'{' {
        cursor.skip_value()?;
        return Ok(row);
    }
    members(cursor, |cursor, key| {
        let span = skipped(cursor)?;
        let first = cursor.document[span.start];
        if key_is(key, "object") && first == b'{' {
            row.object = Some(span);
        } else if key_is(key, "cells") && first == b'[' {
            row.cells = Some(span);
        }
        Ok(())
    })?;
    Ok(row)
}

/// Goes through the object at the cursor. `member` is called at each value, and steps over it.
fn members<'d>(cursor: &mut Cursor<'d>, mut member: impl FnMut(&mut Cursor<'d>, &[u8]) -> Checked) -> Checked {
    let first = cursor.peek();
    if first != b'{' {
        return Err(cursor.fault(no_object(first)));
    }
    let mut more = cursor.open_object()?;
    while more {
        let key = cursor.read_key()?;
        member(cursor, key)?;
        more = cursor.next_member()?;
    }
    Ok(())
}

fn skipped(cursor: &mut Cursor<'_>) -> Checked<Range<usize>> {
    let start = cursor.at;
    cursor.skip_value()?;
    Ok(start..cursor.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(document: &str, span: Option<Range<usize>>) -> &str {
        span.map_or("", |span| &document[span])
    }

    #[test]
    fn the_parts_of_a_table_are_found_in_any_order() {
        let text = r#" {"rows":[{"object":{"a":1},"cells":[1,"x"]},{"cells":[2]},null,{"object":null,"cells":null}],"columnDefinitions":[{"name":"N"}],
            "metadata":{"resourceVersion":"7"},"kind":"Table","x":[{}]} "#;
        let table = scan_table(text.as_bytes()).unwrap();
        assert_eq!(table.kind.as_deref(), Some("Table"));
        assert_eq!(at(text, table.metadata), r#"{"resourceVersion":"7"}"#);
        assert_eq!(at(text, table.columns), r#"[{"name":"N"}]"#);
        let rows: Vec<_> = table.rows.into_iter().map(|row| (at(text, row.object), at(text, row.cells))).collect();
        assert_eq!(rows, [(r#"{"a":1}"#, r#"[1,"x"]"#), ("", "[2]"), ("", ""), ("", "")]);
    }

    #[test]
    fn what_is_no_table_says_what_it_is() {
        let table = scan_table(br#"{"kind":"PodList","metadata":null,"items":[{}],"columnDefinitions":null,"rows":null}"#).unwrap();
        assert_eq!(table, Table { kind: Some("PodList".into()), ..Table::default() });
    }

    #[test]
    fn a_frame_has_a_type_and_a_table() {
        let text = r#"{"object":{"rows":[]},"type":"ADDED"}"#;
        let (kind, table) = scan_table_frame(text.as_bytes()).unwrap().unwrap();
        assert_eq!((&text[kind], table), (r#""ADDED""#, Table::default()));
        for none in [r#"{"type":"ADDED"}"#, r#"{"type":"ADDED","object":null}"#, r#"{"object":{}}"#] {
            assert_eq!(scan_table_frame(none.as_bytes()), Ok(None), "{none}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_wherever_it_is_cut() {
        let text = r#"{"type":"ADDED","object":{"kind":"Table","rows":[{"cells":["é"],"object":{"metadata":{}}}]}}"#;
        for end in 0..text.len() {
            assert!(scan_table_frame(&text.as_bytes()[..end]).is_err(), "{end}");
            let behind = [&text.as_bytes()[..end], b"\x01", &text.as_bytes()[end..]].concat();
            assert!(scan_table_frame(&behind).is_err(), "{end}");
        }
        assert!(scan_table(b"[]").is_err() && scan_table(b"{\"kind\":\"\xff\"}").is_err());
    }
}
