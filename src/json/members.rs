//! The members of a small or strange document: for what takes a document apart and puts it together again.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::{Checked, Cursor};
use super::text::unescape;

/// A member of an object: its name, and where its value stands.
pub(crate) type Member<'d> = (Cow<'d, str>, Range<usize>);

/// The first byte of a document's value, if it is strict JSON that may stand inside so many objects and arrays.
pub(crate) fn sound(document: &[u8], depth: usize) -> Option<u8> {
    let mut cursor = Cursor::new(document, 0, depth);
    let first = cursor.peek_token();
    cursor.skip_value().ok()?;
    cursor.expect_end(0).ok()?;
    Some(first)
}

/// The members of the object that starts at `start` of a document which was checked before; `None` if there is no object.
pub(crate) fn members(document: &[u8], start: usize) -> Option<Vec<Member<'_>>> {
    let mut cursor = Cursor::proved(document, start);
    if cursor.peek_token() != b'{' {
        return None;
    }
    read(&mut cursor).ok()
}

fn read<'d>(cursor: &mut Cursor<'d>) -> Checked<Vec<Member<'d>>> {
    let mut members = Vec::new();
    let mut more = cursor.open_object()?;
    while more {
        let name = unescape(cursor.read_key()?);
        let start = cursor.at;
        cursor.skip_value()?;
        members.push((name, start..cursor.at));
        more = cursor.next_member()?;
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_by_name_and_place() {
        let document = br#" { "a" : [1, {"b":"}"}] , "\u0063":"x" , "a":null } "#;
        assert_eq!(sound(document, 0), Some(b'{'));
        let told: Vec<_> = members(document, 0)
            .unwrap()
            .into_iter()
            .map(|(name, place)| (name.into_owned(), String::from_utf8(document[place].to_vec()).unwrap()))
            .collect();
        let expected = [("a", r#"[1, {"b":"}"}]"#), ("c", r#""x""#), ("a", "null")];
        assert_eq!(told, expected.map(|(name, value)| (name.to_string(), value.to_string())));
        assert_eq!(members(b"[]", 0), None);
        assert_eq!(members(b"{}", 0), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_not_sound() {
        for document in ["", "{", "{}x", "nul", "1e999", "\"\u{1}\"", "'a'"] {
            assert_eq!(sound(document.as_bytes(), 0), None, "{document}");
        }
        assert_eq!(sound(b"\"\xff\"", 0), None);
        let deep = "[".repeat(120) + &"]".repeat(120);
        assert_eq!((sound(deep.as_bytes(), 7), sound(deep.as_bytes(), 8)), (Some(b'['), None));
    }
}
