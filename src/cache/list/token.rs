//! Continue tokens, in the very form that kube-apiserver writes: each reads the other's.
//!
//! A token is base64url without padding of `{"v":"meta.k8s.io/v1","rv":100,"start":"/name\u0000"}`. `start` is where the next page begins:
//! the last key and a NUL, so that the next key is meant whatever it is. The key is relative to the prefix of the request, which is its
//! namespace if it names one, and begins with a slash. A token without that slash is read, too. `rv` is the version all pages are read at;
//! a negative one means the newest.

use crate::base64url;
use crate::json::value::Value;
use crate::json::write::quoted;
use crate::json::{ErrorKind, JsonError};
use crate::status::{Error, Status};
use crate::version::Version;

/// The one form of tokens there is.
const FORM: &str = "meta.k8s.io/v1";

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// At which version; `None`: at the newest, consistently.
    pub version: Option<Version>,
    /// The first key that may be listed, with the prefix of the request.
    pub start: String,
}

impl Token {
    /// Reads a token for a request with this prefix, which ends in "/" or is empty. Fails with 400 and the apiserver's words.
    pub fn decode(text: &str, prefix: &str) -> Result<Self, Error> {
        Self::read(text, prefix)
            .map_err(|reason| Status::bad_request(format!("invalid continue token: continue key is not valid{reason}")).into())
    }

    fn read(text: &str, prefix: &str) -> Result<Self, String> {
        let bytes = base64url::decode(text).map_err(|at| format!(": illegal base64 data at input byte {at}"))?;
        let document = match Value::parse(&bytes).map_err(|error| not_json(&bytes, error))? {
            document @ (Value::Map(_) | Value::Null) => document,
            other => return Err(format!(": json: cannot unmarshal {} into Go value of type storage.continueToken", kind_of(&other))),
        };
        let text = |name: &str| match document.text(name) {
            Some(text) => Ok(text.unwrap_or("")),
            None => Err(wrong_kind(document.get(name), name, "string")),
        };
        let form = text("v")?;
        if form != FORM {
            return Err(format!(": server does not recognize this encoded version {form}"));
        }
        let given = document.get("rv");
        let version = match given {
            Value::Null => Some(Version::ZERO),
            Value::Number(digits) => match (digits.parse::<i64>(), digits.parse::<u64>()) {
                (Ok(..0), _) => None,
                (_, Ok(number)) => Some(Version::from(number)),
                (Ok(_), _) => Some(Version::ZERO), // -0
                _ => return Err(wrong_kind(given, "rv", "int64")),
            },
            // Versions that no int64 holds stand as text. No Kubernetes server has such, and none would read it.
            Value::Text(digits) => Some(Version::parse(digits).map_err(|_| wrong_kind(given, "rv", "int64"))?),
            _ => return Err(wrong_kind(given, "rv", "int64")),
        };
        if version == Some(Version::ZERO) {
            return Err(format!(": incorrect encoded start resourceVersion (version {FORM})"));
        }
        let start = text("start")?;
        if start.is_empty() {
            return Err(format!(": encoded start key empty (version {FORM})"));
        }
        let relative = start.strip_prefix('/').unwrap_or(start);
        if !is_clean(relative) {
            return Err(format!(": {start}"));
        }
        Ok(Self { version, start: format!("{prefix}{relative}") })
    }

    /// The token that goes on behind a key. Fails when the key does not lie below the prefix.
    pub fn encode(key: &str, prefix: &str, version: &Version) -> Result<String, Error> {
        Self::write(key, prefix, version, "")
    }

    /// The same, marked as ours, for a source with tokens of its own.
    pub fn encode_private(key: &str, prefix: &str, version: &Version) -> Result<String, Error> {
        Self::write(key, prefix, version, ",\"private\":true")
    }

    /// Whether a token was marked as ours.
    pub fn is_private(text: &str) -> bool {
        let bytes = base64url::decode(text).unwrap_or_default();
        Value::parse(&bytes).is_ok_and(|document| document.get("private") == &Value::Bool(true))
    }

    fn write(key: &str, prefix: &str, version: &Version, mark: &str) -> Result<String, Error> {
        let relative = key
            .strip_prefix(prefix)
            .filter(|relative| !relative.is_empty())
            .ok_or_else(|| Error::from(Status::internal("unable to encode next field: the key and key prefix do not match".to_string())))?;
        let start = quoted(&format!("{relative}\0"));
        let quote = if version.as_u64().is_some_and(|number| i64::try_from(number).is_ok()) { "" } else { "\"" };
        Ok(base64url::encode(format!("{{\"v\":\"{FORM}\",\"rv\":{quote}{version}{quote},\"start\":{start}{mark}}}").as_bytes()))
    }
}

/// What is no JSON, in the words of Go's decoder.
fn not_json(bytes: &[u8], error: JsonError) -> String {
    let wrong = bytes.get(error.offset).copied().map(char::from);
    match wrong.filter(|_| error.kind != ErrorKind::UnexpectedEnd) {
        Some(wrong) => format!(": invalid character {wrong:?} looking for beginning of value"),
        None => ": unexpected end of JSON input".to_string(),
    }
}

/// A member of another kind, in the words of Go's decoder.
fn wrong_kind(value: &Value, member: &str, wanted: &str) -> String {
    let found = match value {
        Value::Number(number) => format!("number {number}"),
        other => kind_of(other).to_string(),
    };
    format!(": json: cannot unmarshal {found} into Go struct field continueToken.{member} of type {wanted}")
}

/// How Go's decoder calls what it found.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::Text(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}

/// Whether a cleaner of paths would leave "/" and this as it is: tokens are given by clients, and must not lead out of the prefix.
fn is_clean(relative: &str) -> bool {
    relative.is_empty() || relative.split('/').all(|element| !matches!(element, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    fn raw(json: &str) -> String {
        URL_SAFE_NO_PAD.encode(json)
    }

    fn refused(json: &str) -> String {
        let error = Token::decode(&raw(json), "test/").unwrap_err();
        assert_eq!((error.code, error.status.unwrap().code), (ErrorCode::Invalid, 400));
        error.message
    }

    #[test]
    fn con_01_a_token_is_relative_to_the_prefix_of_the_request() {
        let token = Token::decode(&raw(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"key"}"#), "test/").unwrap();
        assert_eq!(token, Token { version: Some(Version::from(1)), start: "test/key".into() });
        let token = Token::decode(&raw(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"/"}"#), "test/").unwrap();
        assert_eq!(token.start, "test/");
    }

    #[test]
    fn con_02_other_forms_no_version_and_no_start_are_refused() {
        let expect = |json: &str, reason: &str| {
            assert_eq!(refused(json), format!("invalid continue token: continue key is not valid: {reason}"));
        };
        expect(r#"{"v":"","rv":1,"start":"key"}"#, "server does not recognize this encoded version ");
        expect(r#"{"v":"v1","rv":1,"start":"key"}"#, "server does not recognize this encoded version v1");
        expect(r#"{"v":"meta.k8s.io/v1","rv":0,"start":"key"}"#, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
        expect(r#"{"v":"meta.k8s.io/v1","rv":1,"start":""}"#, "encoded start key empty (version meta.k8s.io/v1)");
    }

    #[test]
    fn con_05_the_text_is_the_one_a_server_writes() {
        let text = Token::encode("/ns/bar", "/ns", &Version::from(10)).unwrap();
        assert_eq!(text, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAsInN0YXJ0IjoiL2Jhclx1MDAwMCJ9");
        assert_eq!(Token::decode(&text, "ns/").unwrap(), Token { version: Some(Version::from(10)), start: "ns/bar\0".into() });
        assert!(Token::encode("other/bar", "ns/", &Version::from(10)).is_err());
    }

    #[test]
    fn a_token_that_is_marked_is_read_like_any() {
        let (plain, marked) =
            (Token::encode("a/b", "a/", &Version::from(7)).unwrap(), Token::encode_private("a/b", "a/", &Version::from(7)).unwrap());
        assert_eq!(Token::decode(&marked, "a/").unwrap(), Token::decode(&plain, "a/").unwrap());
        assert_eq!([Token::is_private(&plain), Token::is_private(&marked), Token::is_private("500")], [false, true, false]);
    }

    #[test]
    fn a_negative_version_means_the_newest() {
        let token = Token::decode(&raw(r#"{"v":"meta.k8s.io/v1","rv":-1,"start":"key\u0000"}"#), "").unwrap();
        assert_eq!(token, Token { version: None, start: "key\0".into() });
    }

    #[test]
    fn versions_beyond_64_bits_come_back_as_they_were() {
        for text in ["9223372036854775807", "9223372036854775808", "18446744073709551615", "123456789012345678901234567890"] {
            let version = Version::parse(text).unwrap();
            let token = Token::encode("a", "", &version).unwrap();
            assert_eq!(Token::decode(&token, "").unwrap().version, Some(version));
        }
    }

    #[test]
    fn a_start_that_leads_elsewhere_is_refused() {
        for start in ["..", "../x", "a/../b", "a/..", "./a", "a/.", "a//b", "//", "a/"] {
            let message = refused(&format!(r#"{{"v":"meta.k8s.io/v1","rv":1,"start":"{start}"}}"#));
            assert_eq!(message, format!("invalid continue token: continue key is not valid: {start}"));
        }
    }

    #[test]
    fn what_is_no_base64_is_told_by_its_place() {
        for (text, at) in [("??", 0), ("e30=", 3), ("a", 0), ("abcde", 4), ("ab d", 2), ("abcdefg/", 7)] {
            let expected = format!("invalid continue token: continue key is not valid: illegal base64 data at input byte {at}");
            assert_eq!(Token::decode(text, "").unwrap_err().message, expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_token_is_told_in_the_words_of_the_apiserver() {
        for (json, reason) in [
            ("a", "invalid character 'a' looking for beginning of value"),
            ("\n a", "invalid character 'a' looking for beginning of value"),
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("[]", "json: cannot unmarshal array into Go value of type storage.continueToken"),
            ("7", "json: cannot unmarshal number into Go value of type storage.continueToken"),
            ("null", "server does not recognize this encoded version "),
            (r#"{"v":{}}"#, "json: cannot unmarshal object into Go struct field continueToken.v of type string"),
            (
                r#"{"v":"meta.k8s.io/v1","rv":"x","start":"a"}"#,
                "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}"#,
                "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
            ),
        ] {
            assert_eq!(refused(json), format!("invalid continue token: continue key is not valid: {reason}"), "{json:?}");
        }
    }

    #[test]
    fn what_is_no_token_is_400() {
        for json in ["", "[]", "null", "7", "{", r#"{"v":7}"#, r#"{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}"#] {
            assert!(refused(json).starts_with("invalid continue token: continue key is not valid"), "{json}");
        }
        for text in ["é", "a=", "====", "a b"] {
            assert_eq!(Token::decode(text, "").unwrap_err().code, ErrorCode::Invalid);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_token_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in ".{0,40}") {
            for text in [URL_SAFE_NO_PAD.encode(&bytes), String::from_utf8_lossy(&bytes).into_owned(), text] {
                match Token::decode(&text, "p/") {
                    Ok(token) => prop_assert!(token.start.starts_with("p/") && !token.start.contains("/../")),
                    Err(error) => prop_assert_eq!(error.code, ErrorCode::Invalid),
                }
            }
        }

        #[test]
        fn any_member_is_a_token_or_an_error(rv in -5i128..(1i128 << 70), start in ".{0,20}") {
            let json = format!(r#"{{"v":"meta.k8s.io/v1","rv":{rv},"start":{}}}"#, serde_json::to_string(&start).unwrap());
            if let Ok(token) = Token::decode(&raw(&json), "p/") {
                prop_assert!(rv != 0 && token.version.is_none() == (rv < 0));
                prop_assert!(token.start.starts_with("p/"));
            }
        }

        #[test]
        fn what_is_written_is_read(namespace in "[a-z]{1,9}", name in "[a-z0-9.\u{e0}-\u{ff}\"]{1,12}", number in 1u64..) {
            let key = format!("{namespace}/{name}");
            prop_assume!(name != "." && name != "..");
            for prefix in [String::new(), format!("{namespace}/")] {
                let text = Token::encode(&key, &prefix, &Version::from(number)).unwrap();
                let token = Token::decode(&text, &prefix).unwrap();
                prop_assert_eq!(token, Token { version: Some(Version::from(number)), start: format!("{key}\0") });
            }
        }
    }
}
