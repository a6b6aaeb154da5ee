//! Paths: the name of one value in a document.
//!
//! The grammar is the part of Kubernetes' JSONPath that names a single value:
//! `metadata.labels['app.kubernetes.io/name']`, `spec.containers[0].image`,
//! `status.conditions[?(@.type=='Ready')].status`. A leading `$.` or `.` is allowed, and a backslash takes the next
//! character of a plain name literally. A filter names the first element for which it holds.

use std::fmt::{self, Display, Write as _};
use std::iter::Peekable;
use std::ops::Range;
use std::rc::Rc;
use std::str::CharIndices;

use super::cursor::{Checked, Cursor};
use super::error::JsonError;
use super::scalar::Scalar;
use super::text::unescape;

/// The name of one value in a document. Two ways to write the same path are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Path(Rc<[Segment]>);

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Segment {
    /// A member of an object.
    Key(Box<str>),
    /// An element of an array, from 0.
    Index(usize),
    /// The first element of an array for which the filter holds.
    Filter(Filter),
}

/// `?(@.type=='Ready')`: the value at the path in an element equals the literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Filter {
    path: Box<[Segment]>,
    literal: Literal,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Literal {
    Text(Box<str>),
    /// As written: `80` and `80.0` differ.
    Number(Box<str>),
    Bool(bool),
    Null,
}

/// A path that cannot be read: what is wrong, and at which byte of the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at position {position} of path {path:?}")]
pub struct PathError {
    /// What is wrong.
    pub message: &'static str,
    /// Where, in bytes from the start of the path.
    pub position: usize,
    /// The path as it was given.
    pub path: String,
}

impl Path {
    /// Reads a path; the error names the position.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        let mut parser = Parser { chars: text.char_indices().peekable(), end: text.len() };
        parser.path().map(|segments| Path(segments.into())).map_err(|(message, position)| PathError {
            message,
            position,
            path: text.to_owned(),
        })
    }

    /// The value at this path, after the whole document was checked.
    pub fn read(&self, document: &[u8]) -> Result<Scalar, JsonError> {
        let mut cursor = Cursor::new(document, 0, 0);
        cursor.peek_token();
        let found = locate(&mut cursor, &self.0).map_err(|kind| cursor.error(kind))?;
        cursor.expect_end(0)?;
        Ok(found.map_or(Scalar::Missing, |span| Scalar::from_raw(&document[span])))
    }

    /// Where the value at this path stands in a document, without whitespace around it; none where there is no such
    /// value. The document has to be a valid one: of a broken one, none or the value in front of the break is found.
    pub fn find(&self, document: &[u8]) -> Option<Range<usize>> {
        find(&self.0, document)
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.0
    }
}

fn find(segments: &[Segment], document: &[u8]) -> Option<Range<usize>> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    locate(&mut cursor, segments).ok().flatten()
}

/// Steps over the value that starts here, and gives the span of the value at the path in it. Of members with the same
/// name the last one counts, as for `JSON.parse`.
fn locate(cursor: &mut Cursor<'_>, segments: &[Segment]) -> Checked<Option<Range<usize>>> {
    let Some((segment, rest)) = segments.split_first() else {
        let start = cursor.at;
        cursor.skip_value()?;
        return Ok(Some(start..cursor.at));
    };
    let mut found = None;
    match (segment, cursor.peek()) {
        (Segment::Key(wanted), b'{') => {
            let mut more = cursor.open_object()?;
            while more {
                let key = cursor.read_key()?;
                if key_is(key, wanted) {
                    found = locate(cursor, rest)?;
                } else {
                    cursor.skip_value()?;
                }
                more = cursor.next_member()?;
            }
        }
        (Segment::Index(wanted), b'[') => {
            let mut more = cursor.open_array()?;
            let mut index = 0;
            while more {
                if index == *wanted {
                    found = locate(cursor, rest)?;
                } else {
                    cursor.skip_value()?;
                }
                index += 1;
                more = cursor.next_element()?;
            }
        }
        (Segment::Filter(filter), b'[') => {
            let mut more = cursor.open_array()?;
            let mut matched = false;
            while more {
                let start = cursor.at;
                cursor.skip_value()?;
                let element = &cursor.document[start..cursor.at];
                if !matched && filter.holds(element) {
                    matched = true;
                    found = find(rest, element).map(|span| start + span.start..start + span.end);
                }
                more = cursor.next_element()?;
            }
        }
        _ => cursor.skip_value()?,
    }
    Ok(found)
}

/// Whether a member's name, as written, is the wanted one.
#[inline]
pub(super) fn key_is(raw: &[u8], wanted: &str) -> bool {
    raw == wanted.as_bytes() || (raw.len() > wanted.len() && raw.contains(&b'\\') && unescape(raw) == wanted)
}

impl Filter {
    /// Whether the filter holds for a valid value.
    pub(super) fn holds(&self, element: &[u8]) -> bool {
        let Some(span) = find(&self.path, element) else { return false };
        let raw = &element[span];
        match (&self.literal, raw) {
            (Literal::Text(text), [b'"', inner @ .., _]) => key_is(inner, text),
            (Literal::Number(number), _) => raw == number.as_bytes(),
            (Literal::Bool(expected), _) => raw == if *expected { b"true".as_slice() } else { b"false" },
            (Literal::Null, _) => raw == b"null",
            _ => false,
        }
    }
}

/// What is wrong, and where.
type Fault = (&'static str, usize);

struct Parser<'t> {
    chars: Peekable<CharIndices<'t>>,
    end: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, character)| *character)
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.end, |(position, _)| *position)
    }

    fn fault<T>(&mut self, message: &'static str) -> Result<T, Fault> {
        Err((message, self.position()))
    }

    fn take(&mut self, expected: char) -> bool {
        self.chars.next_if(|(_, character)| *character == expected).is_some()
    }

    fn expect(&mut self, expected: char, message: &'static str) -> Result<(), Fault> {
        if self.take(expected) { Ok(()) } else { self.fault(message) }
    }

    fn skip_spaces(&mut self) {
        while self.take(' ') {}
    }

    fn path(&mut self) -> Result<Vec<Segment>, Fault> {
        let mut segments = Vec::new();
        if !self.take('$') && !matches!(self.peek(), None | Some('.' | '[')) {
            segments.push(Segment::Key(self.name()?));
        }
        self.segments(&mut segments, true)?;
        if self.peek().is_some() {
            return self.fault("expected `.` or `[`");
        }
        if segments.is_empty() {
            return self.fault("expected a name");
        }
        Ok(segments)
    }

    /// As many `.name` and `[…]` as follow.
    fn segments(&mut self, segments: &mut Vec<Segment>, filters: bool) -> Result<(), Fault> {
        loop {
            if self.take('.') {
                segments.push(Segment::Key(self.name()?));
            } else if self.take('[') {
                segments.push(self.bracket(filters)?);
            } else {
                return Ok(());
            }
        }
    }

    /// A plain name up to the next character with a meaning of its own.
    fn name(&mut self) -> Result<Box<str>, Fault> {
        let mut name = String::new();
        while let Some(character) = self.peek() {
            match character {
                '*' => return self.fault("a path names one value and has no wildcards"),
                '\\' => {
                    self.chars.next();
                    match self.chars.next() {
                        Some((_, literal)) => name.push(literal),
                        None => return self.fault("expected a character behind the backslash"),
                    }
                    continue;
                }
                '.' | '[' | ']' | '(' | ')' | '{' | '}' | '\'' | '"' | '?' | '@' | '=' | ',' | '$' => break,
                _ if character.is_whitespace() || character.is_control() => break,
                _ => name.push(character),
            }
            self.chars.next();
        }
        if name.is_empty() { self.fault("expected a name") } else { Ok(name.into()) }
    }

    /// What stands between brackets, with the closing one.
    fn bracket(&mut self, filters: bool) -> Result<Segment, Fault> {
        let segment = match self.peek() {
            Some('\'' | '"') => Segment::Key(self.quoted()?),
            Some('0'..='9') => Segment::Index(self.index()?),
            Some('?') if filters => Segment::Filter(self.filter()?),
            Some('?') => return self.fault("a filter inside a filter is not supported"),
            Some('-') => return self.fault("an index counts from 0"),
            Some('*') => return self.fault("a path names one value and has no wildcards"),
            _ => return self.fault("expected a quoted name, an index or a filter"),
        };
        self.expect(']', "expected `]`")?;
        Ok(segment)
    }

    fn quoted(&mut self) -> Result<Box<str>, Fault> {
        let start = self.position();
        let Some((_, quote)) = self.chars.next() else { return self.fault("expected a quote") };
        let mut name = String::new();
        loop {
            match self.chars.next() {
                Some((_, character)) if character == quote => return Ok(name.into()),
                Some((_, '\\')) => match self.chars.next() {
                    Some((_, literal)) => name.push(literal),
                    None => return Err(("the quote is not closed", start)),
                },
                Some((_, character)) => name.push(character),
                None => return Err(("the quote is not closed", start)),
            }
        }
    }

    fn index(&mut self) -> Result<usize, Fault> {
        let start = self.position();
        let mut index = 0usize;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            self.chars.next();
            index = index
                .checked_mul(10)
                .and_then(|index| index.checked_add(digit as usize))
                .ok_or(("the index is too large", start))?;
        }
        Ok(index)
    }

    /// `?(@.type=='Ready')`; the parentheses may be missing.
    fn filter(&mut self) -> Result<Filter, Fault> {
        self.expect('?', "expected `?`")?;
        let parenthesis = self.take('(');
        self.skip_spaces();
        self.expect('@', "expected `@`")?;
        let mut path = Vec::new();
        self.segments(&mut path, false)?;
        self.skip_spaces();
        self.expect('=', "expected `==`")?;
        self.expect('=', "expected `==`")?;
        self.skip_spaces();
        let literal = self.literal()?;
        self.skip_spaces();
        if parenthesis {
            self.expect(')', "expected `)`")?;
        }
        Ok(Filter { path: path.into(), literal })
    }

    fn literal(&mut self) -> Result<Literal, Fault> {
        if matches!(self.peek(), Some('\'' | '"')) {
            return self.quoted().map(Literal::Text);
        }
        let start = self.position();
        let mut word = String::new();
        while let Some((_, character)) =
            self.chars.next_if(|(_, c)| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))
        {
            word.push(character);
        }
        match word.as_str() {
            "true" => Ok(Literal::Bool(true)),
            "false" => Ok(Literal::Bool(false)),
            "null" => Ok(Literal::Null),
            number if is_number(number) => Ok(Literal::Number(word.into())),
            _ => Err(("expected a quoted text, a number, true, false or null", start)),
        }
    }
}

fn is_number(word: &str) -> bool {
    let mut cursor = Cursor::new(word.as_bytes(), 0, 0);
    matches!(cursor.peek(), b'-' | b'0'..=b'9') && cursor.skip_value().is_ok() && cursor.at == word.len()
}

impl Display for Path {
    /// The canonical form, which reads back as the same path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_segments(f, &self.0, true)
    }
}

fn write_segments(f: &mut fmt::Formatter<'_>, segments: &[Segment], mut first: bool) -> fmt::Result {
    for segment in segments {
        match segment {
            Segment::Key(name) if is_plain(name) => {
                if !first {
                    f.write_char('.')?;
                }
                f.write_str(name)?;
            }
            Segment::Key(name) => {
                f.write_char('[')?;
                write_quoted(f, name)?;
                f.write_char(']')?;
            }
            Segment::Index(index) => write!(f, "[{index}]")?,
            Segment::Filter(Filter { path, literal }) => {
                f.write_str("[?(@")?;
                write_segments(f, path, false)?;
                f.write_str("==")?;
                match literal {
                    Literal::Text(text) => write_quoted(f, text)?,
                    Literal::Number(number) => f.write_str(number)?,
                    Literal::Bool(value) => write!(f, "{value}")?,
                    Literal::Null => f.write_str("null")?,
                }
                f.write_str(")]")?;
            }
        }
        first = false;
    }
    Ok(())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('\'')?;
    for character in text.chars() {
        if matches!(character, '\'' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(character)?;
    }
    f.write_char('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, document: &str) -> Scalar {
        Path::parse(path).unwrap().read(document.as_bytes()).unwrap()
    }

    #[test]
    fn paths_have_one_canonical_form() {
        for (text, canonical) in [
            ("metadata.name", "metadata.name"),
            ("$.metadata.name", "metadata.name"),
            (".metadata.name", "metadata.name"),
            ("['metadata'][\"name\"]", "metadata.name"),
            ("metadata.labels['app.kubernetes.io/name']", "metadata.labels['app.kubernetes.io/name']"),
            (r"metadata.labels.app\.kubernetes\.io/name", "metadata.labels['app.kubernetes.io/name']"),
            ("a['it\\'s \\\\'].b", "a['it\\'s \\\\'].b"),
            ("spec.containers[0].image", "spec.containers[0].image"),
            ("a['']", "a['']"),
            ("['']", "['']"),
            ("$[0][1]", "[0][1]"),
            ("straße.名", "['straße']['名']"),
            ("c[?(@.type=='Ready')].status", "c[?(@.type=='Ready')].status"),
            ("c[?( @.a.b[0] == \"x\" )]", "c[?(@.a.b[0]=='x')]"),
            ("c[?@.port==80].name", "c[?(@.port==80)].name"),
            ("c[?(@==true)]", "c[?(@==true)]"),
            ("c[?(@.a==null)]", "c[?(@.a==null)]"),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.to_string(), canonical, "{text}");
            assert_eq!(Path::parse(canonical).unwrap(), path, "{text}");
        }
    }

    #[test]
    fn broken_paths_name_the_position() {
        for (text, position, message) in [
            ("", 0, "expected a name"),
            ("$", 1, "expected a name"),
            (".", 1, "expected a name"),
            ("metadata.", 9, "expected a name"),
            ("metadata..name", 9, "expected a name"),
            ("metadata name", 8, "expected `.` or `[`"),
            ("metadata]", 8, "expected `.` or `[`"),
            ("items[*].name", 6, "a path names one value and has no wildcards"),
            ("spec.*", 5, "a path names one value and has no wildcards"),
            ("items[-1]", 6, "an index counts from 0"),
            ("items[x]", 6, "expected a quoted name, an index or a filter"),
            ("items[1", 7, "expected `]`"),
            ("items[99999999999999999999999]", 6, "the index is too large"),
            ("labels['a", 7, "the quote is not closed"),
            ("labels['a\\", 7, "the quote is not closed"),
            ("labels\\", 7, "expected a character behind the backslash"),
            ("c[?(type=='x')]", 4, "expected `@`"),
            ("c[?(@.type='x')]", 11, "expected `==`"),
            ("c[?(@.type!='x')]", 12, "expected `==`"),
            ("c[?(@.type==x)]", 12, "expected a quoted text, a number, true, false or null"),
            ("c[?(@.type==01)]", 12, "expected a quoted text, a number, true, false or null"),
            ("c[?(@.type=='x']", 15, "expected `)`"),
            ("c[?(@[?(@.a==1)]==1)]", 6, "a filter inside a filter is not supported"),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert_eq!((error.message, error.position), (message, position), "{text}");
        }
        let shown = Path::parse("metadata.").unwrap_err().to_string();
        assert_eq!(shown, "expected a name at position 9 of path \"metadata.\"");
    }

    #[test]
    fn values_are_read_through_names_indexes_and_filters() {
        let document = r#" {"a":{"b":"x","c.d":1.50,"e":[10,{"f":null}]},
            "conditions":[{"status":"False","type":"A"},{"status":"True","type":"Rea\u0064y"},{"status":"no","type":"Ready"}],
            "ports":[{"port":80,"name":"http"},{"port":8080,"tls":true}]} "#;
        assert_eq!(read("a.b", document), Scalar::Text("x".into()));
        assert_eq!(read("a['c.d']", document), Scalar::Number("1.50".into()));
        assert_eq!(read("a.e[1].f", document), Scalar::Null);
        assert_eq!(read("a.e", document), Scalar::Composite);
        assert_eq!(read("a.e[2]", document), Scalar::Missing);
        assert_eq!(read("a.b.c", document), Scalar::Missing);
        assert_eq!(read("a[0]", document), Scalar::Missing);
        assert_eq!(read("conditions[?(@.type=='Ready')].status", document), Scalar::Text("True".into()));
        assert_eq!(read("conditions[?(@.type=='B')].status", document), Scalar::Missing);
        assert_eq!(read("ports[?(@.port==80)].name", document), Scalar::Text("http".into()));
        assert_eq!(read("ports[?(@.tls==true)].port", document), Scalar::Number("8080".into()));
    }

    #[test]
    fn a_filter_stays_with_the_first_match() {
        let document = r#"{"c":[{"type":"Ready"},{"type":"Ready","status":"True"}]}"#;
        assert_eq!(read("c[?(@.type=='Ready')].status", document), Scalar::Missing);
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        assert_eq!(read("a.b", r#"{"a":{"b":1},"a":{"b":2,"b":3}}"#), Scalar::Number("3".into()));
        assert_eq!(read("a.b", r#"{"a":{"b":1},"a":{}}"#), Scalar::Missing);
        assert_eq!(read("a.b", r#"{"\u0061":{"\u0062":1}}"#), Scalar::Number("1".into()));
    }

    #[test]
    fn find_gives_the_raw_span() {
        let document = br#"{"a": [ {"b" : "x\n" } ]}"#;
        let find = |path: &str| Path::parse(path).unwrap().find(document).map(|span| &document[span]);
        assert_eq!(find("a[0].b"), Some(br#""x\n""#.as_slice()));
        assert_eq!(find("a[0]"), Some(br#"{"b" : "x\n" }"#.as_slice()));
        assert_eq!(find("b"), None);
    }

    #[test]
    fn read_refuses_a_broken_document() {
        let path = Path::parse("a").unwrap();
        assert_eq!(path.read(br#"{"a":1,}"#).unwrap_err().to_string(), "expected a member name at byte 7");
        assert_eq!(path.read(b"{\"a\":1,\"b\":\"\xff\"}").unwrap_err().to_string(), "invalid UTF-8 at byte 12");
        assert_eq!(path.read(br#"{"a":1} x"#).unwrap_err().to_string(), "characters behind the document at byte 8");
    }
}
