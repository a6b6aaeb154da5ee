//! Whose document it is, told of one that cannot be read: for messages, and to keep one broken object from stopping all the others.

use std::borrow::Cow;

/// What a document says of its object, as far as it can be made out. None of it is to be trusted with more than a name in a list of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The `type` beside the object, of a watch frame.
    pub kind: String,
    /// `metadata.namespace`; empty without one.
    pub namespace: String,
    /// `metadata.name`; empty without one.
    pub name: String,
    /// `metadata.uid`; empty without one.
    pub uid: String,
}

/// Looks for names in the document of an object, or, `in_frame`, in a watch frame. Only brackets and quotes are followed, so that whatever
/// else is wrong (bytes that are no text, numbers that are none) does not hide who it is. `None` where not even they fit: such a document
/// was cut, or is two, and its names may be anyone's.
pub fn identify(document: &[u8], in_frame: bool) -> Option<Identity> {
    let metadata: &[&[u8]] = if in_frame { &[b"object", b"metadata"] } else { &[b"metadata"] };
    let mut found = Identity::default();
    let mut open: Vec<u8> = Vec::new();
    // The names that lead to where we are, of objects only.
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

/// The closing quote of the string whose first byte this is.
fn string_end(document: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match document.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A text for people: what cannot be read stands as the replacement character, escapes as they are.
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
