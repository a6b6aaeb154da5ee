//! One key as an object: `{ metadata, value }`, `{ metadata, valueBase64 }`, or the value itself where it is an object with `metadata`.

use super::base64;
use super::name::name_of;
use super::numbers::{Numbers, number};
use crate::json::members::{Member, members, sound};
use crate::json::value::Value;
use crate::json::write::quoted;
use crate::status::Error;

/// The objects and arrays that stand around a value: a list, its items, the object.
const DEPTH: usize = 3;
/// The members of the metadata that are the key's, whatever the value says.
const OURS: [&str; 4] = ["namespace", "name", "resourceVersion", "uid"];

/// What the objects of a source have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What all keys begin with. It is no part of their names.
    pub prefix: Vec<u8>,
    /// How revisions are versions.
    pub numbers: Numbers,
}

/// A key as the gateway tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyValue {
    pub(super) key: Vec<u8>,
    pub(super) created: u64,
    pub(super) modified: u64,
    pub(super) value: Vec<u8>,
}

impl KeyValue {
    /// Fails with code `protocol` for what is no key of etcd's.
    pub(super) fn read(document: &Value) -> Result<Self, Error> {
        let bytes = |name: &str| document.text(name).and_then(|text| base64::decode(text.unwrap_or("").as_bytes()));
        let read = || {
            let (created, modified) = (number(document, "create_revision")?, number(document, "mod_revision")?);
            Some(Self { key: bytes("key")?, created, modified, value: bytes("value")? })
        };
        let read = read().filter(|_| matches!(document, Value::Map(_)));
        read.ok_or_else(|| Error::protocol("the answer holds a key without a name, a revision or a value of etcd's"))
    }
}

impl Dialect {
    /// A key without the prefix.
    pub(super) fn rest<'k>(&self, key: &'k [u8]) -> Result<&'k [u8], Error> {
        key.strip_prefix(self.prefix.as_slice()).ok_or_else(|| Error::protocol("the answer holds a key outside of the prefix"))
    }

    /// The version of a key.
    pub(super) fn version(&self, at: &KeyValue) -> Result<String, Error> {
        Ok(self.numbers.of(at.modified, self.rest(&at.key)?))
    }

    /// Appends the object of a key, as it stands at the version of `at`.
    pub(super) fn write(&self, of: &KeyValue, at: &KeyValue, document: &mut Vec<u8>) -> Result<(), Error> {
        let (namespace, name) = name_of(self.rest(&of.key)?);
        let mut metadata = String::from("{");
        if !namespace.is_empty() {
            metadata.push_str("\"namespace\":");
            metadata.push_str(&quoted(&namespace));
            metadata.push(',');
        }
        metadata.push_str("\"name\":");
        metadata.push_str(&quoted(&name));
        metadata.push_str(",\"resourceVersion\":");
        metadata.push_str(&quoted(&self.version(at)?));
        if of.created > 0 {
            metadata.push_str(",\"uid\":");
            metadata.push_str(&quoted(&of.created.to_string()));
        }
        document.reserve(metadata.len() + of.value.len() + 64);
        let first = sound(&of.value, DEPTH);
        if first == Some(b'{')
            && let Some((all, place)) = own_metadata(&of.value)
        {
            write_itself(&of.value, &all, place, &metadata, document);
            return Ok(());
        }
        document.extend_from_slice(b"{\"metadata\":");
        document.extend_from_slice(metadata.as_bytes());
        if first.is_some() {
            document.extend_from_slice(b"},\"value\":");
            document.extend_from_slice(of.value.trim_ascii());
            document.push(b'}');
        } else {
            document.extend_from_slice(b"},\"valueBase64\":\"");
            base64::encode(&of.value, document);
            document.extend_from_slice(b"\"}");
        }
        Ok(())
    }
}

/// The members of a value that is shown itself, and which of them is the metadata. One with a member `value` or `valueBase64` would be taken
/// for what surrounds other values, so it is surrounded itself.
fn own_metadata(value: &[u8]) -> Option<(Vec<Member<'_>>, usize)> {
    let all = members(value, 0)?;
    let place = all.iter().position(|(name, _)| name == "metadata")?;
    let sole = all.iter().filter(|(name, _)| name == "metadata").count() == 1;
    let taken = all.iter().any(|(name, _)| name == "value" || name == "valueBase64");
    let is_object = value[all[place].1.start] == b'{';
    (sole && !taken && is_object).then_some((all, place))
}

/// `metadata`: ours, without the brace that closes it.
fn write_itself(value: &[u8], all: &[Member<'_>], place: usize, metadata: &str, document: &mut Vec<u8>) {
    document.push(b'{');
    for (index, (name, span)) in all.iter().enumerate() {
        if index > 0 {
            document.push(b',');
        }
        document.extend_from_slice(quoted(name).as_bytes());
        document.push(b':');
        if index != place {
            document.extend_from_slice(&value[span.clone()]);
            continue;
        }
        document.extend_from_slice(metadata.as_bytes());
        let own = members(value, span.start).unwrap_or_default();
        for (name, span) in own.iter().filter(|(name, _)| !OURS.contains(&&**name)) {
            document.push(b',');
            document.extend_from_slice(quoted(name).as_bytes());
            document.push(b':');
            document.extend_from_slice(&value[span.clone()]);
        }
        document.push(b'}');
    }
    document.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(key: &str, value: &[u8]) -> String {
        let dialect = Dialect { prefix: b"/app/".to_vec(), numbers: Numbers { transactions: false } };
        let of = KeyValue { key: key.as_bytes().to_vec(), created: 3, modified: 7, value: value.to_vec() };
        let mut document = Vec::new();
        dialect.write(&of, &of, &mut document).unwrap();
        String::from_utf8(document).unwrap()
    }

    #[test]
    fn a_value_that_is_json_is_shown_as_such_and_any_other_in_base64() {
        let object = |value: &str| format!(r#"{{"metadata":{{"namespace":"n","name":"a","resourceVersion":"7","uid":"3"}},{value}}}"#);
        for (value, shown) in [
            (&b"12345678901234567890.50"[..], r#""value":12345678901234567890.50"#),
            (b" [1, 2]\n", r#""value":[1, 2]"#),
            (b"null", r#""value":null"#),
            (br#"{"metadata":null}"#, r#""value":{"metadata":null}"#),
            (br#"{"metadata":{},"value":5}"#, r#""value":{"metadata":{},"value":5}"#),
            (br#"{"metadata":{},"metadata":{}}"#, r#""value":{"metadata":{},"metadata":{}}"#),
            (b"", r#""valueBase64":"""#),
            (b"plain", r#""valueBase64":"cGxhaW4=""#),
            (b"\"\xff\"", r#""valueBase64":"Iv8i""#),
        ] {
            assert_eq!(written("/app/n/a", value), object(shown));
        }
    }

    #[test]
    fn an_object_with_metadata_is_shown_itself_under_the_names_of_its_key() {
        let value = br#"{"kind":"X", "metadata":{"name":"other","labels":{"a":"b"},"uid":"u","namespace":"m"},"spec":{"big":12345678901234567890}}"#;
        assert_eq!(
            written("/app/a\"b", value),
            r#"{"kind":"X","metadata":{"name":"a\"b","resourceVersion":"7","uid":"3","labels":{"a":"b"}},"spec":{"big":12345678901234567890}}"#
        );
    }

    #[test]
    fn a_value_that_is_nested_too_deep_for_a_list_is_bytes() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(written("/app/a", nested(124).as_bytes()).contains("\"value\":[["));
        assert!(written("/app/a", nested(125).as_bytes()).contains("\"valueBase64\":"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let read = |text: &str| KeyValue::read(&Value::parse(text.as_bytes()).unwrap()).is_ok();
        assert!(read(r#"{"key":"YQ==","create_revision":"1","mod_revision":2}"#));
        for odd in [r#"{"key":"YQ"}"#, r#"{"key":5}"#, r#"{"key":"YQ==","mod_revision":"x"}"#, r#"{"key":"YQ==","value":"?"}"#, "[]"] {
            assert!(!read(odd), "{odd}");
        }
    }
}
