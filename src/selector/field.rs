//! Field selectors: `spec.nodeName=node-1,status.phase!=Running`.
//!
//! The grammar is the Kubernetes API's: `=`, `==` and `!=`, joined by commas, with the escapes `\\`, `\,` and `\=` in values. The API
//! server offers a few fields; here any path to a scalar works, also with brackets: `status.conditions[?(@.type=='Ready')].status=True`.
//! Brackets belong to the path: operators and commas in them do not count. A bracket that is not closed is an error.

use std::fmt;
use std::rc::Rc;

use crate::json::path::PathError;
use crate::sort::sort_by;

use super::error::SelectorError;

/// A parsed field selector: the AND of its terms. Clones share them.
#[derive(Debug, Clone)]
pub struct FieldSelector {
    terms: Rc<[Term]>,
    /// Where each term starts in its text, in bytes. Equality ignores it.
    places: Rc<[usize]>,
}

/// One term on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The path as written. The parser does not check it.
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
        FieldSelector { terms: Rc::new([]), places: Rc::new([]) }
    }

    /// Reads a selector as the Kubernetes API does. Empty terms are skipped.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split_terms(text);
        // Sorted, so that equal selectors print alike. Of several mistakes the first in this order is reported.
        sort_by(&mut parts, |a, b| a.text.cmp(b.text));
        let mut terms = Vec::new();
        for part in parts.iter().filter(|part| !part.text.is_empty()) {
            let Some((path_end, op, value_start)) = part.operator else {
                return Err(SelectorError::new(format!("invalid selector: '{text}'; can't understand '{}'", part.text), part.offset));
            };
            let value = unescape(&part.text[value_start..], part.offset + value_start)?;
            let path = &part.text[..path_end];
            // The API server drops an operator without path and value.
            if !(path.is_empty() && value.is_empty()) {
                terms.push((Term { path: path.to_owned(), op, value }, part.offset));
            }
        }
        // Sorted again: `==` became `=`, which changes the order.
        sort_by(&mut terms, |a, b| a.0.to_string().cmp(&b.0.to_string()));
        let (terms, places): (Vec<Term>, Vec<usize>) = terms.into_iter().unzip();
        Ok(FieldSelector { terms: terms.into(), places: places.into() })
    }

    /// Whether there is no term.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, sorted by their canonical text.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The one value that the selector demands of a field, if there is one. If several terms demand one, the first counts.
    pub fn exact(&self, path: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.op == FieldOp::Eq && term.path == path).map(|term| term.value.as_str())
    }

    /// Whether an object is selected. `meets` says whether its field meets a term (see [`Term::matches`]). It is asked in the order of
    /// [`terms`](Self::terms) until one fails.
    pub fn matches(&self, meets: impl FnMut(&Term) -> bool) -> bool {
        self.terms.iter().all(meets)
    }

    /// The error for a term whose field is not a path.
    pub(super) fn unsupported(&self, index: usize, error: &PathError) -> SelectorError {
        let path = &self.terms[index].path;
        // The API server's message ends here: it knows only fixed fields. Here any path is allowed, so the reason helps.
        let reason = if path.is_empty() { String::new() } else { format!(": {}", error.message) };
        SelectorError::new(format!("field label not supported: {path}{reason}"), self.places[index] + error.position)
    }
}

impl PartialEq for FieldSelector {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}

impl Eq for FieldSelector {}

impl Term {
    /// Whether a field with this text meets the term.
    pub fn matches(&self, text: &str) -> bool {
        (text == self.value) == (self.op == FieldOp::Eq)
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

/// Escapes a text for use as a value in a field selector.
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

/// A part between commas, and its operator if it has one.
struct Part<'a> {
    text: &'a str,
    offset: usize,
    /// The path's end, the operator, and the value's start, in bytes of `text`.
    operator: Option<(usize, FieldOp, usize)>,
}

/// Splits a selector at its commas. A backslash protects the next character. Brackets protect their content, but only before the operator:
/// in values they are plain text.
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
                // Without a closing bracket the rest of the text has no operator, which is an error.
                at = bracket_end(bytes, at).unwrap_or(bytes.len());
            }
            _ => {}
        }
        // Not an `else`: the API server also looks for operators after a backslash.
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

/// Where the bracket that opens at `open` is closed, if it is. Brackets in quotes do not count.
fn bracket_end(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0, None);
    let mut at = open;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(mark), byte) if byte == mark => quote = None,
            (Some(_), _) => {}
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

/// Removes the escapes of a value. `offset` is the value's position in the selector.
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
            // The API server prints the character as a number.
            ',' | '=' => {
                let number = character as u32;
                return Err(SelectorError::new(format!("invalid field selector: unescaped character in value: {number}"), offset + at));
            }
            _ => plain.push(character),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> FieldSelector {
        FieldSelector::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }

    fn terms(text: &str) -> Vec<(String, FieldOp, String)> {
        parse(text).terms().iter().map(|term| (term.path.clone(), term.op, term.value.clone())).collect()
    }

    fn term(path: &str, op: FieldOp, value: &str) -> (String, FieldOp, String) {
        (path.to_owned(), op, value.to_owned())
    }

    #[test]
    fn sel_13_terms_are_read_and_their_values_lose_their_escapes() {
        use FieldOp::{Eq, NotEq};
        for (text, expected) in [
            ("", vec![]),
            (",,", vec![]),
            ("=", vec![]),
            ("!=,==", vec![]),
            ("x=", vec![term("x", Eq, "")]),
            ("x==a,,y!=b,", vec![term("x", Eq, "a"), term("y", NotEq, "b")]),
            ("y=1,x=2", vec![term("x", Eq, "2"), term("y", Eq, "1")]),
            ("x=a!", vec![term("x", Eq, "a!")]),
            ("x!y=a", vec![term("x!y", Eq, "a")]),
            (r"x=a\\\,\=b", vec![term("x", Eq, r"a\,=b")]),
            (r"x=\,,y=b", vec![term("x", Eq, ","), term("y", Eq, "b")]),
            ("x=a[b,y=c", vec![term("x", Eq, "a[b"), term("y", Eq, "c")]),
            ("=a", vec![term("", Eq, "a")]),
        ] {
            assert_eq!(terms(text), expected, "{text:?}");
        }
    }

    #[test]
    fn brackets_belong_to_the_path() {
        use FieldOp::{Eq, NotEq};
        for (text, expected) in [
            ("metadata.labels['app.kubernetes.io/name']=web", vec![term("metadata.labels['app.kubernetes.io/name']", Eq, "web")]),
            (
                "status.conditions[?(@.type=='Ready')].status!=True",
                vec![term("status.conditions[?(@.type=='Ready')].status", NotEq, "True")],
            ),
            ("a['x,y=]'].b=1,c=2", vec![term("a['x,y=]'].b", Eq, "1"), term("c", Eq, "2")]),
            (r"a['\'=']=1", vec![term(r"a['\'=']", Eq, "1")]),
            ("a[b[0]=1]=2", vec![term("a[b[0]=1]", Eq, "2")]),
            ("x=],a=1", vec![term("a", Eq, "1"), term("x", Eq, "]")]),
        ] {
            assert_eq!(terms(text), expected, "{text:?}");
        }
        let error = FieldSelector::parse("x=1,a[b=2,c=3").unwrap_err();
        assert_eq!(error.message, "invalid selector: 'x=1,a[b=2,c=3'; can't understand 'a[b=2,c=3'");
        assert_eq!(error.offset, 4);
    }

    #[test]
    fn absent_fields_read_as_empty() {
        let absent = |term: &Term| term.matches("");
        assert!(parse("a=").matches(absent));
        assert!(!parse("a!=").matches(absent));
        assert!(parse("a!=b").matches(absent));
        assert!(!parse("a=b").matches(absent));
    }

    #[test]
    fn reads_in_order_until_one_fails() {
        let selector = parse("a=1,b=2,c=3");
        let mut read = Vec::new();
        let matched = selector.matches(|term| {
            read.push(term.path.clone());
            term.matches(if term.path == "a" { "1" } else { "x" })
        });
        assert!(!matched);
        assert_eq!(read, ["a", "b"]);
    }

    #[test]
    fn one_exact_value() {
        let selector = parse("test=b,a!=1,empty=,c=1,c==2");
        assert_eq!(selector.exact("test"), Some("b"));
        assert_eq!(selector.exact("a"), None);
        assert_eq!(selector.exact("empty"), Some(""));
        assert_eq!(selector.exact("c"), Some("1"));
        assert_eq!(selector.exact("other"), None);
    }

    #[test]
    fn prints_in_one_form() {
        for (text, canonical) in [
            ("", ""),
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("z=c,,x==a", "x=a,z=c"),
            ("a==z,a=b", "a=b,a=z"),
            ("x!=a,y=b", "x!=a,y=b"),
            (r"x=\=\,\\", r"x=\=\,\\"),
            ("=", ""),
        ] {
            assert_eq!(parse(text).to_string(), canonical, "{text:?}");
            assert_eq!(parse(canonical), parse(text), "{text:?}");
        }
    }
}
