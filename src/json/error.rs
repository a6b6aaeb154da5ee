//! Why a document was refused, and where.

use std::fmt;

/// What is wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes ended inside a value.
    UnexpectedEnd,
    /// A value had to start here.
    ExpectedValue,
    /// A member's name had to start here.
    ExpectedKey,
    /// The colon after a member's name is missing.
    ExpectedColon,
    /// After a member there is neither a comma nor the end of the object.
    ExpectedCommaOrBrace,
    /// After an element there is neither a comma nor the end of the array.
    ExpectedCommaOrBracket,
    /// Not a number in JSON's grammar.
    InvalidNumber,
    /// A number beyond the range of a double.
    NumberOutOfRange,
    /// A control character inside a string.
    ControlCharacter,
    /// A backslash that does not start an escape.
    InvalidEscape,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Nested deeper than 127 objects and arrays.
    TooDeep,
    /// Something other than whitespace after the document.
    TrailingCharacters,
    /// A complete value, but not the object that is required.
    NotAnObject,
    /// A list's `items` is neither an array nor null.
    ItemsNotAnArray,
    /// A list with a second `items`.
    DuplicateItems,
    /// A watch frame whose `type` is missing or not a string.
    MissingType,
    /// A watch frame without `object`.
    MissingObject,
    /// The host has no memory for the parts gathered so far. The document is not at fault.
    OutOfMemory,
}

impl ErrorKind {
    /// The reason in words, without the position.
    pub fn message(self) -> &'static str {
        match self {
            ErrorKind::UnexpectedEnd => "unexpected end of the document",
            ErrorKind::ExpectedValue => "expected value",
            ErrorKind::ExpectedKey => "expected a member name",
            ErrorKind::ExpectedColon => "expected `:`",
            ErrorKind::ExpectedCommaOrBrace => "expected `,` or `}`",
            ErrorKind::ExpectedCommaOrBracket => "expected `,` or `]`",
            ErrorKind::InvalidNumber => "invalid number",
            ErrorKind::NumberOutOfRange => "number out of range",
            ErrorKind::ControlCharacter => "control character in a string",
            ErrorKind::InvalidEscape => "invalid escape",
            ErrorKind::LoneSurrogate => "lone surrogate",
            ErrorKind::InvalidUtf8 => "invalid UTF-8",
            ErrorKind::TooDeep => "nested too deep",
            ErrorKind::TrailingCharacters => "characters behind the document",
            ErrorKind::NotAnObject => "expected an object",
            ErrorKind::ItemsNotAnArray => "expected an array of items",
            ErrorKind::DuplicateItems => "duplicate `items`",
            ErrorKind::MissingType => "watch frame without a type",
            ErrorKind::MissingObject => "watch frame without an object",
            ErrorKind::OutOfMemory => "there is no memory to go on",
        }
    }
}

/// A document that was refused. Its text is the reason and the position: `expected value at byte 17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where, in bytes from the start of the document, or of the page for a list.
    pub offset: usize,
}

impl JsonError {
    pub(crate) fn new(kind: ErrorKind, offset: usize) -> Self {
        JsonError { kind, offset }
    }

    /// The reason in words, without the position.
    pub fn message(&self) -> &'static str {
        self.kind.message()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message(), self.offset)
    }
}

impl std::error::Error for JsonError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_reason_and_its_byte() {
        let error = JsonError::new(ErrorKind::ExpectedValue, 17);
        assert_eq!(error.to_string(), "expected value at byte 17");
    }
}
