//! Keys of etcd as names of objects.
//!
//! A name may not be empty, `.` or `..`, nor hold `/` or `%`; a key is any bytes. What stands behind the prefix is split at its first slash
//! into namespace and name. What may not stand in these is escaped: `~1` is a slash and `~0` a tilde, as in JSON pointers. Any other byte is
//! `~x` with two hexadecimal digits, and an empty name is `~`. No two keys share a name.

use std::fmt::Write;

/// The namespace and the name of a key, without its prefix. The namespace is empty where there is none.
pub(super) fn name_of(key: &[u8]) -> (String, String) {
    match memchr::memchr(b'/', key) {
        Some(slash) if slash > 0 => (escape(&key[..slash]), escape(&key[slash + 1..])),
        _ => (String::new(), escape(key)),
    }
}

fn escape(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "~".to_string();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '~' => text.push_str("~0"),
                '/' => text.push_str("~1"),
                '%' => byte(&mut text, b'%'),
                '.' if bytes == b"." || bytes == b".." => byte(&mut text, b'.'),
                other => text.push(other),
            }
        }
        chunk.invalid().iter().for_each(|odd| byte(&mut text, *odd));
    }
    text
}

fn byte(text: &mut String, byte: u8) {
    // Writing to a String cannot fail.
    let _written = write!(text, "~x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key;
    use proptest::prelude::*;

    #[test]
    fn a_key_is_a_namespace_and_a_name() {
        for (key, namespace, name) in [
            ("web", "", "web"),
            ("default/web", "default", "web"),
            ("a/b/c~d%", "a", "b~1c~0d~x25"),
            ("", "", "~"),
            ("a/", "a", "~"),
            ("/a", "", "~1a"),
            (".", "", "~x2e"),
            ("../x", "~x2e~x2e", "x"),
            ("...", "", "..."),
            ("über", "", "über"),
        ] {
            assert_eq!(name_of(key.as_bytes()), (namespace.to_string(), name.to_string()), "{key}");
        }
        assert_eq!(name_of(b"a\xff\xc3"), (String::new(), "a~xff~xc3".to_string()));
    }

    proptest! {
        #[test]
        fn every_key_has_a_legal_name_of_its_own(one in prop::collection::vec(prop_oneof![Just(b'/'), Just(b'~'), Just(b'.'), Just(b'x'), any::<u8>()], 0..6),
                                                 two in prop::collection::vec(prop_oneof![Just(b'/'), Just(b'~'), Just(b'.'), Just(b'x'), any::<u8>()], 0..6)) {
            let (namespace, name) = name_of(&one);
            prop_assert!(key::key(&namespace, &name).is_ok(), "{} {}", namespace, name);
            prop_assert_eq!(one == two, (namespace, name) == name_of(&two));
        }
    }
}
