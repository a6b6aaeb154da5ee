//! Gives an object another version.

use super::path::Path;

/// The document of an object with this `metadata.resourceVersion`, whatever it had; everything else stays as it is written. `None`: it has no
/// `metadata` that is an object. The document was checked before.
pub fn stamp(document: &[u8], version: &str) -> Option<Vec<u8>> {
    let find = |path: &str| Path::parse(path).ok().and_then(|path| path.find(document));
    let (span, text) = if let Some(span) = find("metadata.resourceVersion") {
        (span, format!("\"{version}\""))
    } else {
        let metadata = find("metadata").filter(|span| document[span.start] == b'{')?;
        let empty = document[metadata.start + 1..metadata.end - 1].iter().all(u8::is_ascii_whitespace);
        let inside = metadata.start + 1;
        (inside..inside, format!("\"resourceVersion\":\"{version}\"{}", if empty { "" } else { "," }))
    };
    Some([&document[..span.start], text.as_bytes(), &document[span.end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_takes_the_place_of_what_is_there() {
        let stamped = |document: &str| stamp(document.as_bytes(), "7").map(|bytes| String::from_utf8(bytes).unwrap());
        for (document, with) in [
            (r#"{"metadata":{"resourceVersion":"3","name":"a"}}"#, r#"{"metadata":{"resourceVersion":"7","name":"a"}}"#),
            (r#"{"metadata":{"name":"a"}}"#, r#"{"metadata":{"resourceVersion":"7","name":"a"}}"#),
            (r#"{"metadata":{"resourceVersion":null}}"#, r#"{"metadata":{"resourceVersion":"7"}}"#),
            (r#"{"metadata":{ }}"#, r#"{"metadata":{"resourceVersion":"7" }}"#),
        ] {
            assert_eq!(stamped(document).as_deref(), Some(with));
        }
        assert_eq!((stamped(r#"{"spec":{}}"#), stamped(r#"{"metadata":"x"}"#)), (None, None));
    }
}
