//! Writes small documents.

use std::fmt::Write;

/// An object that is written member by member.
pub(crate) struct Document(String);

impl Document {
    pub(crate) fn new() -> Self {
        Self("{".to_string())
    }

    /// Adds a member whose value is already JSON.
    pub(crate) fn raw(&mut self, name: &str, value: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_quoted(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    /// Adds a text member.
    pub(crate) fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.raw(name, &quoted(value))
    }

    /// Adds a text member if there is a value.
    pub(crate) fn optional(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.text(name, value);
        }
        self
    }

    /// Adds a text member if the text is not empty.
    pub(crate) fn filled(&mut self, name: &str, value: &str) -> &mut Self {
        self.optional(name, Some(value).filter(|value| !value.is_empty()))
    }

    /// Returns the document, and begins an empty one.
    pub(crate) fn finish(&mut self) -> String {
        let mut document = std::mem::replace(self, Self::new()).0;
        document.push('}');
        document
    }
}

/// Writes a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    write_quoted(&mut json, text);
    json
}

fn write_quoted(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\x08' => json.push_str("\\b"),
            '\x0c' => json.push_str("\\f"),
            control @ ..' ' => {
                // Writing to a String cannot fail.
                let _written = write!(json, "\\u{:04x}", control as u32);
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn members_are_written_in_their_order() {
        assert_eq!(Document::new().finish(), "{}");
        let mut document = Document::new();
        document.text("a", "x\ny").raw("b", "[1]").optional("c", None).optional("d", Some("")).filled("e", "").filled("f", "z");
        assert_eq!(document.finish(), r#"{"a":"x\ny","b":[1],"d":"","f":"z"}"#);
    }

    proptest! {
        #[test]
        fn texts_are_written_as_serde_json_writes_them(text in ".{0,20}|[\0- \"\\\\\u{7f}-\u{a0}\u{2028}😀]{0,20}") {
            prop_assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
