//! A range of keys as a List, while it arrives. However it is cut, the List is the same.

use super::numbers::number;
use super::object::{Dialect, KeyValue};
use crate::base64url;
use crate::json::value::Value;
use crate::json::write::{Document, quoted};
use crate::source::buffers::MAX_FRAME_BYTES;
use crate::status::Error;

/// Turns the answer to a range request into a List, chunk by chunk.
pub struct RangeReader {
    dialect: Dialect,
    /// The revision that was asked for; the answer's own where none was.
    revision: Option<u64>,
    /// Objects and arrays that are open.
    depth: usize,
    place: Place,
    /// The answer without its keys.
    head: Vec<u8>,
    /// A key that is not whole yet.
    partial: Vec<u8>,
    items: u64,
    last: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    HeadText,
    HeadEscape,
    /// Among the keys.
    Keys,
    Key,
    KeyText,
    KeyEscape,
}

/// What opens the keys.
const KEYS: &[u8] = b"\"kvs\":";

impl RangeReader {
    /// A reader at the start of the answer. `revision`: the one that was asked for.
    pub fn new(dialect: Dialect, revision: Option<u64>) -> Self {
        let (head, partial) = (Vec::new(), Vec::new());
        Self { dialect, revision, depth: 0, place: Place::Head, head, partial, items: 0, last: None }
    }

    /// Reads so much more of the answer, and appends what that is of the List.
    pub fn push(&mut self, bytes: &[u8], list: &mut Vec<u8>) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.place {
                Place::Head | Place::Keys | Place::Key => self.step(rest[0], list)?,
                Place::HeadText | Place::KeyText => self.text(rest),
                Place::HeadEscape => self.escaped(Place::HeadText, rest[0]),
                Place::KeyEscape => self.escaped(Place::KeyText, rest[0]),
            };
            rest = &rest[taken..];
            if self.head.len() + self.partial.len() > MAX_FRAME_BYTES {
                return Err(Error::protocol(format!("the answer to a range request holds a key of more than {MAX_FRAME_BYTES} bytes")));
            }
        }
        Ok(())
    }

    /// The answer is over: appends what is left of the List. Fails with code `protocol` for what is no answer of etcd's.
    pub fn finish(self, list: &mut Vec<u8>) -> Result<(), Error> {
        let odd = |why: &str| Error::protocol(format!("this is no answer of etcd's JSON gateway: {why}"));
        let head = Value::parse(&self.head).map_err(|error| odd(&error.to_string()))?;
        if !matches!(head.get("kvs"), Value::Null) && *head.get("kvs") != Value::List(Vec::new()) {
            return Err(odd("what should be its keys is none"));
        }
        let now = number(head.get("header"), "revision").filter(|revision| *revision > 0).ok_or_else(|| odd("it tells no revision"))?;
        let revision = self.revision.unwrap_or(now);
        let mut metadata = Document::new();
        metadata.text("resourceVersion", &self.dialect.numbers.after(revision));
        if matches!(head.get("more"), Value::Bool(true)) {
            let mut next = self.last.ok_or_else(|| odd("it says that there is more, and holds no key"))?;
            next.push(0);
            metadata.text("continue", &format!("{revision}.{}", base64url::encode(&next)));
            if let Some(left) = number(&head, "count").and_then(|count| count.checked_sub(self.items)) {
                metadata.raw("remainingItemCount", &left.to_string());
            }
        }
        list.extend_from_slice(if self.items == 0 { b"{\"items\":[],\"metadata\":" } else { b"],\"metadata\":" });
        list.extend_from_slice(metadata.finish().as_bytes());
        list.push(b'}');
        Ok(())
    }

    /// Takes a byte outside of texts.
    fn step(&mut self, byte: u8, list: &mut Vec<u8>) -> Result<usize, Error> {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.checked_sub(1).ok_or_else(|| Error::protocol("this is no answer of etcd's JSON gateway"))?;
            }
            _ => {}
        }
        match self.place {
            Place::Keys => match byte {
                b'{' => {
                    self.partial.push(byte);
                    self.place = Place::Key;
                }
                // Commas, blanks, and whatever else may not stand there, which then breaks what is read at the end.
                b',' | b' ' | b'\n' | b'\r' | b'\t' => {}
                other => {
                    self.head.push(other);
                    self.place = Place::Head;
                }
            },
            Place::Key => {
                self.partial.push(byte);
                if byte == b'"' {
                    self.place = Place::KeyText;
                } else if self.depth == 2 {
                    self.item(list)?;
                }
            }
            _ => {
                let opens = byte == b'[' && self.depth == 2 && self.head.trim_ascii_end().ends_with(KEYS);
                self.head.push(byte);
                if opens {
                    self.place = Place::Keys;
                } else if byte == b'"' {
                    self.place = Place::HeadText;
                }
            }
        }
        Ok(1)
    }

    /// Takes what follows of a text, up to its end.
    fn text(&mut self, rest: &[u8]) -> usize {
        let in_key = self.place == Place::KeyText;
        let into = if in_key { &mut self.partial } else { &mut self.head };
        let Some(end) = memchr::memchr2(b'"', b'\\', rest) else {
            into.extend_from_slice(rest);
            return rest.len();
        };
        into.extend_from_slice(&rest[..=end]);
        self.place = match (in_key, rest[end]) {
            (true, b'"') => Place::Key,
            (true, _) => Place::KeyEscape,
            (false, b'"') => Place::Head,
            (false, _) => Place::HeadEscape,
        };
        end + 1
    }

    fn escaped(&mut self, back: Place, byte: u8) -> usize {
        let into = if back == Place::KeyText { &mut self.partial } else { &mut self.head };
        into.push(byte);
        self.place = back;
        1
    }

    /// A key is whole.
    fn item(&mut self, list: &mut Vec<u8>) -> Result<(), Error> {
        let read = Value::parse(&self.partial).map_err(|error| Error::decode(format!("a key of the answer cannot be read: {error}")))?;
        let key = KeyValue::read(&read)?;
        list.extend_from_slice(if self.items == 0 { b"{\"items\":[" } else { b"," });
        self.dialect.write(&key, &key, list)?;
        self.items += 1;
        self.last = Some(key.key);
        self.partial.clear();
        self.place = Place::Keys;
        Ok(())
    }
}

/// The object of an answer that holds one key, as a range request for it does. `deleted` is the revision at which it went, if it did.
///
/// `None` where there is no such key.
pub fn object(dialect: &Dialect, answer: &[u8], deleted: Option<u64>) -> Result<Option<Vec<u8>>, Error> {
    let read = Value::parse(answer).map_err(|error| Error::protocol(format!("this is no answer of etcd's JSON gateway: {error}")))?;
    let Value::List(keys) = read.get("kvs") else { return Ok(None) };
    let Some(key) = keys.first() else { return Ok(None) };
    let key = KeyValue::read(key)?;
    let at = KeyValue { key: key.key.clone(), modified: deleted.unwrap_or(key.modified), ..KeyValue::default() };
    let mut document = Vec::new();
    dialect.write(&key, &at, &mut document)?;
    Ok(Some(document))
}

/// What a bookmark of this revision says.
pub(super) fn bookmark(dialect: &Dialect, revision: u64) -> Vec<u8> {
    let version = quoted(&dialect.numbers.after(revision));
    format!("{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":{version}}}}}}}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::etcd::Numbers;
    use crate::status::ErrorCode;

    fn dialect(transactions: bool) -> Dialect {
        Dialect { prefix: b"p/".to_vec(), numbers: Numbers { transactions } }
    }

    fn listed(answer: &str, revision: Option<u64>, cut: usize) -> Result<String, Error> {
        let mut reader = RangeReader::new(dialect(false), revision);
        let mut list = Vec::new();
        let (one, two) = answer.as_bytes().split_at(cut);
        reader.push(one, &mut list)?;
        reader.push(two, &mut list)?;
        reader.finish(&mut list)?;
        Ok(String::from_utf8(list).unwrap())
    }

    /// As etcd 3.7 writes it.
    const PAGE: &str = concat!(
        r#"{"header":{"cluster_id":"12630923238120792853", "member_id":"13133094889162805174", "revision":"9", "raft_term":"2"}, "#,
        r#""kvs":[{"key":"cC9h", "create_revision":"2", "mod_revision":"4", "version":"1", "value":"eyJhIjoiXCJbe1xcIn0="}, "#,
        r#"{"key":"cC9uL2I=", "create_revision":"3", "mod_revision":"3", "version":"1"}], "more":true, "count":"5"}"#,
        "\n"
    );

    const LIST: &str = concat!(
        r#"{"items":[{"metadata":{"name":"a","resourceVersion":"4","uid":"2"},"value":{"a":"\"[{\\"}},"#,
        r#"{"metadata":{"namespace":"n","name":"b","resourceVersion":"3","uid":"3"},"valueBase64":""}],"#,
        r#""metadata":{"resourceVersion":"9","continue":"9.cC9uL2IA","remainingItemCount":3}}"#
    );

    #[test]
    fn law_04_split_a_range_is_the_same_list_wherever_it_is_cut() {
        for cut in 0..=PAGE.len() {
            assert_eq!(listed(PAGE, None, cut).unwrap(), LIST, "cut at {cut}");
        }
        let later = listed(PAGE, Some(7), 5).unwrap();
        assert!(later.ends_with(r#""metadata":{"resourceVersion":"7","continue":"7.cC9uL2IA","remainingItemCount":3}}"#), "{later}");
    }

    /// The cache reads what comes of it.
    #[test]
    fn a_list_of_it_is_one_for_the_cache() {
        let mut names = Vec::new();
        let mut scanner = crate::json::ListScanner::new();
        let fields = crate::json::FieldSet::new(Vec::new());
        scanner.push(LIST.as_bytes(), &fields, &mut |item| names.push(item.name.unwrap().to_string())).unwrap();
        let head = scanner.finish().unwrap();
        assert_eq!((names.join(",").as_str(), head.version.as_deref(), head.remaining), ("a,b", Some("9"), Some(3)));
    }

    #[test]
    fn a_range_without_keys_is_an_empty_list() {
        let answer = r#"{"header":{"revision":"9"},"count":"0"}"#;
        assert_eq!(listed(answer, None, 3).unwrap(), r#"{"items":[],"metadata":{"resourceVersion":"9"}}"#);
        assert_eq!(listed(r#"{"kvs":[],"header":{"revision":9}}"#, None, 3).unwrap(), r#"{"items":[],"metadata":{"resourceVersion":"9"}}"#);
    }

    #[test]
    fn law_11_whole_a_range_that_breaks_off_is_no_list() {
        for end in 0..PAGE.trim_end().len() {
            let error = listed(&PAGE[..end], None, end / 2).unwrap_err();
            assert!(matches!(error.code, ErrorCode::Protocol | ErrorCode::Decode), "{end}: {error}");
        }
    }

    #[test]
    fn what_no_etcd_answers_is_refused() {
        for answer in ["<html>", "{}", "[]", "", "]]", r#"{"kvs":[5],"header":{"revision":"1"}}"#, r#"{"kind":"Status","code":404}"#] {
            assert_eq!(listed(answer, None, 0).unwrap_err().code, ErrorCode::Protocol, "{answer}");
        }
        let outside = PAGE.replace("cC9h", "cS9h");
        assert!(listed(&outside, None, 0).unwrap_err().message.contains("outside of the prefix"));
        let broken = PAGE.replace("\"version\":\"1\", \"value\"", "\"version\":01, \"value\"");
        assert_eq!(listed(&broken, None, 0).unwrap_err().code, ErrorCode::Decode);
    }

    #[test]
    fn one_key_is_an_object_and_a_deleted_one_has_the_version_of_its_end() {
        let answer = br#"{"kvs":[{"key":"cC9h","create_revision":"2","mod_revision":"4","value":"MQ=="}]}"#;
        let told = |deleted| object(&dialect(false), answer, deleted).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(told(None).unwrap(), r#"{"metadata":{"name":"a","resourceVersion":"4","uid":"2"},"value":1}"#);
        assert_eq!(told(Some(8)).unwrap(), r#"{"metadata":{"name":"a","resourceVersion":"8","uid":"2"},"value":1}"#);
        assert_eq!(object(&dialect(false), b"{\"count\":\"0\"}", None), Ok(None));
        assert!(object(&dialect(false), b"<html>", None).is_err());
    }
}
