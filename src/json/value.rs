//! A small document as a tree, for what is rarely read and needed whole: a Status, a continue token.

use super::cursor::{Checked, Cursor};
use super::error::JsonError;
use super::text::unescape;

/// A value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// A number as written, not rounded.
    Number(Box<str>),
    Text(String),
    List(Vec<Value>),
    /// The members in their order. If a name occurs twice, the last one counts.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Reads a document, which may be any value.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, JsonError> {
        let mut cursor = Cursor::new(document, 0, 0);
        cursor.peek_token();
        // The first pass checks the document, so that the second can decode without checks.
        cursor.skip_value().map_err(|kind| cursor.error(kind))?;
        cursor.expect_end(0)?;
        let mut cursor = Cursor::new(document, 0, 0);
        cursor.peek_token();
        read(&mut cursor).map_err(|kind| cursor.error(kind))
    }

    /// A member. Null if it is missing, or if this is not an object.
    pub(crate) fn get(&self, name: &str) -> &Value {
        let members = if let Value::Map(members) = self { members.as_slice() } else { &[] };
        members.iter().rfind(|(member, _)| member == name).map_or(&Value::Null, |(_, value)| value)
    }

    /// The text of a member: `Some(None)` if it is missing or null, `None` if it is not a string.
    pub(crate) fn text(&self, name: &str) -> Option<Option<&str>> {
        match self.get(name) {
            Value::Null => Some(None),
            Value::Text(text) => Some(Some(text)),
            _ => None,
        }
    }

    /// The natural number of a member: `Some(None)` if it is missing or null, `None` if it is anything else.
    pub(crate) fn number(&self, name: &str) -> Option<Option<u32>> {
        match self.get(name) {
            Value::Null => Some(None),
            Value::Number(digits) => digits.parse().ok().map(Some),
            _ => None,
        }
    }
}

/// Reads the value at the cursor. The document must have been checked.
fn read(cursor: &mut Cursor<'_>) -> Checked<Value> {
    match cursor.peek() {
        b'{' => {
            let mut members = Vec::new();
            let mut more = cursor.open_object()?;
            while more {
                let name = unescape(cursor.read_key()?).into_owned();
                members.push((name, read(cursor)?));
                more = cursor.next_member()?;
            }
            Ok(Value::Map(members))
        }
        b'[' => {
            let mut elements = Vec::new();
            let mut more = cursor.open_array()?;
            while more {
                elements.push(read(cursor)?);
                more = cursor.next_element()?;
            }
            Ok(Value::List(elements))
        }
        first => {
            let start = cursor.at;
            cursor.skip_value()?;
            let raw = &cursor.document[start..cursor.at];
            Ok(match first {
                b'"' => Value::Text(unescape(&raw[1..raw.len() - 1]).into_owned()),
                b't' | b'f' => Value::Bool(first == b't'),
                b'n' => Value::Null,
                _ => Value::Number(String::from_utf8_lossy(raw).into()),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Oracle;

    fn same(value: &Value, oracle: &Oracle) -> bool {
        match (value, oracle) {
            (Value::Null, Oracle::Null) => true,
            (Value::Bool(value), Oracle::Bool(oracle)) => value == oracle,
            (Value::Number(value), Oracle::Number(oracle)) => {
                serde_json::from_str::<serde_json::Number>(value).is_ok_and(|value| value == *oracle)
            }
            (Value::Text(value), Oracle::String(oracle)) => value == oracle,
            (Value::List(value), Oracle::Array(oracle)) => {
                value.len() == oracle.len() && value.iter().zip(oracle).all(|(value, oracle)| same(value, oracle))
            }
            (Value::Map(_), Oracle::Object(oracle)) => oracle.iter().all(|(name, oracle)| same(value.get(name), oracle)),
            _ => false,
        }
    }

    #[test]
    fn members_are_read_by_their_names() {
        let value = Value::parse(br#" {"a":"x\n","b":7,"c":null,"a":"last","d":[true,-1.50e2,{}]} "#).unwrap();
        assert_eq!(value.text("a"), Some(Some("last")));
        assert_eq!((value.number("b"), value.text("b")), (Some(Some(7)), None));
        assert_eq!((value.number("c"), value.text("c"), value.text("missing")), (Some(None), Some(None), Some(None)));
        assert_eq!(value.number("a"), None);
        let list = Value::List(vec![Value::Bool(true), Value::Number("-1.50e2".into()), Value::Map(Vec::new())]);
        assert_eq!(value.get("d"), &list);
        assert_eq!(list.get("a"), &Value::Null);
        assert_eq!(Value::parse(b"{\"a\":1").unwrap_err().to_string(), "unexpected end of the document at byte 6");
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_reads(text in r#"(\{"(a|b\\u0000)":)?\[?(\[\]|\{\}|null|true|-?[0-9]{1,3}(\.5)?(e2)?|"[a-zä\\"n]{0,3}"|x)\]?(,"a":1)?\}?"#) {
            match (Value::parse(text.as_bytes()), serde_json::from_str::<Oracle>(&text)) {
                (Ok(value), Ok(oracle)) => prop_assert!(same(&value, &oracle), "{text}"),
                (value, oracle) => prop_assert_eq!(value.is_ok(), oracle.is_ok(), "{}", text),
            }
        }
    }
}
