//! Field selectors: `spec.nodeName=node-1,status.phase!=Running`.
//!
//! The grammar is the Kubernetes API's: `=`, `==` and `!=`, joined by commas, with `\\`, `\,` and `\=` in values. Where
//! the API server offers a handful of fields, any path to a scalar works here, including ones with brackets:
//! `status.conditions[?(@.type=='Ready')].status=True`. What stands in brackets belongs to the path and is not
//! searched for operators or commas.

use std::fmt;
use std::rc::Rc;

use super::error::SelectorError;

/// A parsed field selector: the AND of its terms. Clones share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Rc<[Term]>,
}

/// One term on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The path as written. Whether it is a path at all is for the reader of fields to say.
    pub path: String,
    /// How the field relates to the value.
    pub op: FieldOp,
    /// The value, without escapes.
    pub value: String,
}

/// How a term relates a field to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldOp {
    /// `=` and `==`
    Eq,
    /// `!=`
    NotEq,
}

impl FieldSelector {
    /// The selector without terms, which matches every object.
    pub fn everything() -> Self {
        FieldSelector { terms: Rc::new([]) }
    }

    /// Reads a selector as the Kubernetes API does. Empty terms are skipped.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split_terms(text);
        // Sorted, so that equal selectors print alike; of several mistakes the first in this order is reported.
        parts.sort_by_key(|part| part.text);
        let mut terms = Vec::new();
        for part in parts.iter().filter(|part| !part.text.is_empty()) {
            let Some((path_end, op, value_start)) = part.operator else {
                return Err(SelectorError::new(format!("invalid selector: '{text}'; can't understand '{}'", part.text), part.offset));
            };
            let value = unescape(&part.text[value_start..], part.offset + value_start)?;
            let path = &part.text[..path_end];
            // A bare operator asks for nothing; the API server drops it.
            if !(path.is_empty() && value.is_empty()) {
                terms.push(Term { path: path.to_owned(), op, value });
            }
        }
        Ok(FieldSelector { terms: terms.into() })
    }

    /// Whether there is no term.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, sorted by their text.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The one value the selector demands of a field, if it demands one. With several equality terms on one field the
    /// first counts.
    pub fn exact(&self, path: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.op == FieldOp::Eq && term.path == path).map(|term| term.value.as_str())
    }

    /// Whether an object is selected. `read` gives a field's text by its path; a missing field reads as "".
    pub fn matches(&self, read: &mut dyn FnMut(&str) -> Rc<str>) -> bool {
        self.matches_by_index(|_, term| read(&term.path))
    }

    /// As [`matches`](Self::matches), for callers that resolved each term's path beforehand: `read` gets the index of
    /// the term in [`terms`](Self::terms). Terms are read in order, until one fails.
    pub fn matches_by_index<S: AsRef<str>>(&self, mut read: impl FnMut(usize, &Term) -> S) -> bool {
        self.terms.iter().enumerate().all(|(index, term)| (read(index, term).as_ref() == term.value) == (term.op == FieldOp::Eq))
    }
}

impl Default for FieldSelector {
    fn default() -> Self {
        FieldSelector::everything()
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            term.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            FieldOp::Eq => "=",
            FieldOp::NotEq => "!=",
        };
        write!(f, "{}{op}{}", self.path, escape(&self.value))
    }
}

/// Escapes a text for use as a field selector's value.
pub fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, '\\' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// One comma-separated part, and its operator if it has one.
struct Part<'a> {
    text: &'a str,
    offset: usize,
    /// Where the path ends, the operator, and where the value starts, in bytes of `text`.
    operator: Option<(usize, FieldOp, usize)>,
}

/// Cuts a selector at its commas. A backslash protects the character behind it; brackets protect what is in them as long
/// as no operator was seen: in a value they are plain text.
fn split_terms(text: &str) -> Vec<Part<'_>> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut operator = None;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b',' => {
                parts.push(Part { text: &text[start..at], offset: start, operator: operator.take() });
                start = at + 1;
            }
            b'[' if operator.is_none() => {
                if let Some(end) = bracket_end(bytes, at) {
                    at = end;
                }
            }
            _ => {}
        }
        // Not an `else`: the API server looks for operators behind a backslash too.
        if operator.is_none() && at < bytes.len() {
            operator = operator_at(bytes, at).map(|(op, length)| {
                let found = (at - start, op, at - start + length);
                at += length - 1;
                found
            });
        }
        at += 1;
    }
    parts.push(Part { text: &text[start..], offset: start, operator });
    parts
}

fn operator_at(bytes: &[u8], at: usize) -> Option<(FieldOp, usize)> {
    match (bytes[at], bytes.get(at + 1)) {
        (b'!', Some(b'=')) => Some((FieldOp::NotEq, 2)),
        (b'=', Some(b'=')) => Some((FieldOp::Eq, 2)),
        (b'=', _) => Some((FieldOp::Eq, 1)),
        _ => None,
    }
}

/// Where the bracket that opens at `open` closes; quotes hide brackets. `None` when it never does: then it is plain
/// text, as it is for the API server.
fn bracket_end(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0, None);
    let mut at = open;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(mark), byte) => {
                if byte == mark {
                    quote = None;
                }
            }
            (None, mark @ (b'\'' | b'"')) => quote = Some(mark),
            (None, b'[') => depth += 1,
            (None, b']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Reads a value. `offset` is its place in the selector.
fn unescape(value: &str, offset: usize) -> Result<String, SelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, escaped @ ('\\' | ',' | '='))) => plain.push(escaped),
                other => {
                    let sequence = other.map_or("\\".to_owned(), |(_, escaped)| format!("\\{escaped}"));
                    return Err(SelectorError::new(format!("invalid field selector: invalid escape sequence: {sequence}"), offset + at));
                }
            },
            // The API server prints the character's number.
            ',' | '=' => {
                let number = character as u32;
                return Err(SelectorError::new(format!("invalid field selector: unescaped character in value: {number}"), offset + at));
            }
            _ => plain.push(character),
        }
    }
    Ok(plain)
}
