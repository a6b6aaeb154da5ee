//! One value of a document, as selectors, orders and groups read it.

use std::rc::Rc;

use super::text::unescape;

/// A value read from a document. Objects and arrays have no scalar value: only their presence is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scalar {
    /// The document has no such value.
    #[default]
    Missing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written, not rounded.
    Number(Rc<str>),
    /// A string, without its escapes.
    Text(Rc<str>),
    /// An object or an array.
    Composite,
}

impl Scalar {
    /// The text that a field selector compares: a string's content, a number as written, `true` or `false`. It is empty for all other
    /// values.
    pub fn text(&self) -> &str {
        match self {
            Scalar::Text(text) | Scalar::Number(text) => text,
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
            Scalar::Missing | Scalar::Null | Scalar::Composite => "",
        }
    }

    /// The same text. It is not copied if it is shared already.
    pub fn into_text(self) -> Rc<str> {
        match self {
            Scalar::Text(text) | Scalar::Number(text) => text,
            other => other.text().into(),
        }
    }

    /// Reads one JSON value without whitespace around it. No bytes mean a missing value.
    pub(crate) fn from_raw(raw: &[u8]) -> Scalar {
        match raw {
            [] => Scalar::Missing,
            [b'"', inner @ .., _] => Scalar::Text(unescape(inner).into()),
            [b'{' | b'[', ..] => Scalar::Composite,
            [b't', ..] => Scalar::Bool(true),
            [b'f', ..] => Scalar::Bool(false),
            [b'n', ..] => Scalar::Null,
            number => Scalar::Number(String::from_utf8_lossy(number).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_become_scalars() {
        assert_eq!(Scalar::from_raw(b""), Scalar::Missing);
        assert_eq!(Scalar::from_raw(b"null"), Scalar::Null);
        assert_eq!(Scalar::from_raw(b"true"), Scalar::Bool(true));
        assert_eq!(Scalar::from_raw(b"false"), Scalar::Bool(false));
        assert_eq!(Scalar::from_raw(b"-1.50e2"), Scalar::Number("-1.50e2".into()));
        assert_eq!(Scalar::from_raw(b"\"\""), Scalar::Text("".into()));
        assert_eq!(Scalar::from_raw(b"\"a\\tb\""), Scalar::Text("a\tb".into()));
        assert_eq!(Scalar::from_raw(b"{}"), Scalar::Composite);
        assert_eq!(Scalar::from_raw(b"[1]"), Scalar::Composite);
    }

    #[test]
    fn selectors_read_the_text() {
        assert_eq!(Scalar::Text("Running".into()).text(), "Running");
        assert_eq!(Scalar::Number("007".into()).text(), "007");
        assert_eq!(Scalar::Bool(false).text(), "false");
        assert_eq!(Scalar::Null.text(), "");
        assert_eq!(Scalar::Missing.text(), "");
        assert_eq!(Scalar::Composite.text(), "");
    }
}
