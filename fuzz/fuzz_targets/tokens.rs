//! Continue tokens. Whatever is sent is read or refused with 400. A token that was given out leads back to the same place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use watchcache::cache::Token;
use watchcache::status::ErrorCode;
use watchcache::version::Version;

fuzz_target!(|input: (bool, u64, &str)| {
    let (namespaced, number, text) = input;
    let prefix = if namespaced { "ns/" } else { "" };
    match Token::decode(text, prefix) {
        Err(error) => assert_eq!(error.code, ErrorCode::Invalid, "{error}"),
        Ok(token) => {
            assert!(token.start.starts_with(prefix), "{token:?} has left its namespace");
            assert!(!token.start.split('/').any(|part| part == ".."), "{token:?} climbs");
            assert!(token.version.is_none_or(|version| !version.is_zero()));
        }
    }
    // A name is no path, and nothing else can be a key's end.
    let version = Version::from(number.max(1));
    if text.is_empty() || matches!(text, "." | "..") || text.contains(['/', '%', '\0']) {
        return;
    }
    let key = format!("{prefix}{text}");
    let encoded = Token::encode(&key, prefix, &version).expect("a key has a token");
    let decoded = Token::decode(&encoded, prefix).expect("a token of ours is a token");
    assert_eq!(decoded, Token { version: Some(version), start: format!("{key}\0") });
});
