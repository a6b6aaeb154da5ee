//! Writes a list as a server would: for sources that answer from more than one answer.

/// The document of a list of this kind, at this version. A kind that is no word is left out.
pub(super) fn list<Item: AsRef<[u8]>>(kind: Option<&str>, version: &str, items: impl Iterator<Item = Item>) -> Vec<u8> {
    let kind = kind.filter(|kind| kind.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let kind = kind.map_or_else(String::new, |kind| format!("\"kind\":\"{kind}\","));
    let mut list = format!("{{{kind}\"metadata\":{{\"resourceVersion\":\"{version}\"}},\"items\":[").into_bytes();
    for (at, item) in items.enumerate() {
        if at > 0 {
            list.push(b',');
        }
        list.extend_from_slice(item.as_ref());
    }
    list.extend_from_slice(b"]}");
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_as_they_came_under_a_kind_that_is_one() {
        let of = |kind, items: &[&str]| String::from_utf8(list(kind, "7", items.iter())).unwrap();
        assert_eq!(
            of(Some("PodList"), &[r#"{"a":1}"#, "{}"]),
            r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1},{}]}"#
        );
        assert_eq!(of(Some("\"x"), &[]), r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#);
    }
}
