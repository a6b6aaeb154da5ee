//! Paths: the name of one value in a document.
//!
//! The grammar is the part of Kubernetes' JSONPath that names a single value: `metadata.labels['app.kubernetes.io/name']`,
//! `spec.containers[0].image`, `status.conditions[?(@.type=='Ready')].status`. A leading `$.` or `.` is allowed. A backslash takes the next
//! character of a plain name literally. A filter names the first element for which it holds.

use std::fmt::{self, Display};
use std::ops::Range;
use std::rc::Rc;

use super::cursor::{Checked, Cursor};
use super::error::JsonError;
use super::grammar;
use super::scalar::Scalar;
use super::segment::{Filter, Literal, Segment};
use super::text::unescape;

/// The name of one value in a document. Two spellings of the same path are equal.
///
/// ```
/// use watchcache::json::{Path, Scalar, read_fields};
///
/// let paths = [Path::parse("spec.containers[0].image")?, Path::parse("status.conditions[?(@.type=='Ready')].status")?];
/// let pod = br#"{"spec":{"containers":[{"image":"nginx"}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
/// assert_eq!(read_fields(pod, &paths), [Scalar::Text("nginx".into()), Scalar::Text("True".into())]);
/// assert!(Path::parse("spec..nodeName").is_err());
/// # Ok::<_, watchcache::json::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Path(Rc<[Segment]>);

pub use super::segment::PathError;

impl Path {
    /// Reads a path. The error says where it is wrong.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        grammar::parse(text).map(|segments| Path(segments.into()))
    }

    /// The path to a member through objects with these names.
    pub fn member(names: &[&str]) -> Path {
        Path(names.iter().map(|name| Segment::Key((*name).into())).collect())
    }

    /// Checks the whole document and reads the value at this path.
    pub fn read(&self, document: &[u8]) -> Result<Scalar, JsonError> {
        let mut cursor = Cursor::new(document, 0, 0);
        cursor.peek_token();
        let found = locate(&mut cursor, &self.0).map_err(|kind| cursor.error(kind))?;
        cursor.expect_end(0)?;
        Ok(found.map_or(Scalar::Missing, |span| Scalar::from_raw(&document[span])))
    }

    /// The bytes of the value at this path, without whitespace around it, or `None`. The document must be valid. In a broken one only
    /// values before the error are found.
    pub fn find(&self, document: &[u8]) -> Option<Range<usize>> {
        find(&self.0, document)
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.0
    }
}

fn find(segments: &[Segment], document: &[u8]) -> Option<Range<usize>> {
    let mut cursor = Cursor::proved(document, 0);
    cursor.peek_token();
    locate(&mut cursor, segments).ok().flatten()
}

/// Steps over the value at the cursor and returns the span of the path's value in it. If a name occurs twice, the last member counts, as
/// for `JSON.parse`.
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

/// Whether a member's name, as written in the document, is the wanted one.
#[inline]
pub(super) fn key_is(raw: &[u8], wanted: &str) -> bool {
    // Escapes make a name at most six times as long, so a longer one cannot be equal.
    raw == wanted.as_bytes()
        || (raw.len() > wanted.len() && raw.len() <= 6 * wanted.len() && raw.contains(&b'\\') && unescape(raw) == wanted)
}

impl Filter {
    /// Whether the filter holds for an element, which must be valid JSON.
    pub(super) fn holds(&self, element: &[u8]) -> bool {
        let Some(span) = find(&self.path, element) else {
            return false;
        };
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

impl Display for Path {
    /// The canonical form. Parsing it gives the same path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        grammar::write_segments(f, &self.0, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, document: &str) -> Scalar {
        Path::parse(path).unwrap().read(document.as_bytes()).unwrap()
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
