//! Finds the names of an object in a document that cannot be read. Errors can then name the object, and only this object is set aside.

use std::borrow::Cow;

/// Names found in a broken document. They may be wrong: use them only in messages and lists of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The `type` of a watch frame.
    pub kind: String,
    /// `metadata.namespace`, or empty.
    pub namespace: String,
    /// `metadata.name`, or empty.
    pub name: String,
    /// `metadata.uid`, or empty.
    pub uid: String,
}

/// Looks for names in the document of an object, or of a watch frame if `in_frame`. It follows only brackets and quotes, so invalid text or
/// invalid numbers do not hide the names. `None` if not even the brackets match: the document was cut or is two, and its names may belong
/// to another object.
pub fn identify(document: &[u8], in_frame: bool) -> Option<Identity> {
    let metadata: &[&[u8]] = if in_frame { &[b"object", b"metadata"] } else { &[b"metadata"] };
    let mut found = Identity::default();
    let mut open: Vec<u8> = Vec::new();
    // The member names that lead to the current value. An element of an array adds an empty name.
    let mut path: Vec<&[u8]> = Vec::new();
    let mut key: Option<&[u8]> = None;
    let mut at = 0;
    let mut ended = false;
    while at < document.len() {
        let byte = document[at];
        if ended && !byte.is_ascii_whitespace() || open.is_empty() && !ended && !byte.is_ascii_whitespace() && byte != b'{' {
            return None;
        }
        match byte {
            b'"' => {
                let end = string_end(document, at + 1)?;
                let text = &document[at + 1..end];
                at = end;
                match key {
                    None if open.last() == Some(&b'{') => key = Some(text),
                    Some(name) => {
                        let slot = match name {
                            b"type" if in_frame && path.is_empty() => Some(&mut found.kind),
                            b"namespace" if path == metadata => Some(&mut found.namespace),
                            b"name" if path == metadata => Some(&mut found.name),
                            b"uid" if path == metadata => Some(&mut found.uid),
                            _ => None,
                        };
                        if let Some(slot) = slot.filter(|_| open.last() == Some(&b'{')) {
                            *slot = plain(text).into_owned();
                        }
                    }
                    None => {}
                }
            }
            b'{' | b'[' => {
                if !open.is_empty() {
                    path.push(key.take().unwrap_or(b""));
                }
                open.push(byte);
            }
            b'}' | b']' => {
                if open.pop() != Some(byte - 2) {
                    return None;
                }
                path.pop();
                key = None;
                ended = open.is_empty();
            }
            b',' => key = None,
            _ => {}
        }
        at += 1;
    }
    ended.then_some(found)
}

/// The position of the closing quote of a string; `at` is its first inner byte.
fn string_end(document: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match document.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A text for people: bytes that are not UTF-8 become U+FFFD, escapes stay as written.
fn plain(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&text[..text.len().min(512)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(document: &[u8], in_frame: bool) -> Option<(String, String, String, String)> {
        identify(document, in_frame).map(|found| (found.kind, found.namespace, found.name, found.uid))
    }

    fn some(kind: &str, namespace: &str, name: &str, uid: &str) -> Option<(String, String, String, String)> {
        Some((kind.into(), namespace.into(), name.into(), uid.into()))
    }

    #[test]
    fn names_are_found_in_what_is_no_json() {
        let sound =
            br#"{"spec":{"name":"no"},"metadata":{"labels":{"name":"no"},"name":"a","namespace":"n","uid":"u","owners":[{"uid":"no"}]}}"#;
        assert_eq!(of(sound, false), some("", "n", "a", "u"));
        assert_eq!(of(b"{\"metadata\":{\"name\":\"a\",\"x\":\"\xff\x01\"},\"count\":01e}", false), some("", "", "a", ""));
        assert_eq!(of(b"{\"metadata\":{\"name\":\"a\\\"b\\x\"}}\n", false), some("", "", "a\\\"b\\x", ""));
        let frame = b"{\"object\":{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\",\"f\":[{\"name\":\"no\"},\"x\"]},\"spec\":nul},\"type\":\"MODIFIED\"}\n";
        assert_eq!(of(frame, true), some("MODIFIED", "n", "a", ""));
        assert_eq!(of(br#"{"metadata":{"labels":{}}}"#, false), some("", "", "", ""));
    }

    #[test]
    fn what_was_cut_or_is_two_is_nobodys() {
        for document in [
            &b""[..],
            b"nonsense",
            b"[]",
            b"{\"metadata\":{\"name\":\"a\"}",
            b"{\"metadata\":{\"name\":\"a\"}}}",
            b"{\"metadata\":{\"name\":\"a\"]}",
            b"{\"metadata\":{\"name\":\"a",
            b"{\"metadata\":{\"name\":\"a\\",
            b"{\"metadata\":{\"name\":\"a\"}}{\"metadata\":{\"name\":\"b\"}}",
        ] {
            assert_eq!(of(document, false), None, "{}", String::from_utf8_lossy(document));
        }
    }
}
