//! Strings without their escapes.

use std::borrow::Cow;

/// The text of a string's inner bytes, borrowed if nothing is escaped. The bytes should have been checked; whatever is broken becomes
/// U+FFFD.
pub(crate) fn unescape(inner: &[u8]) -> Cow<'_, str> {
    match memchr::memchr(b'\\', inner) {
        // `from_utf8` reads ASCII by words, `from_utf8_lossy` does not.
        None => std::str::from_utf8(inner).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Borrowed),
        Some(first) => Cow::Owned(unescape_from(inner, first)),
    }
}

#[cold]
fn unescape_from(inner: &[u8], first: usize) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(&String::from_utf8_lossy(&rest[..at]));
        let escape = rest.get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or_default();
        match escape {
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'n' => text.push('\n'),
            b'r' => text.push('\r'),
            b't' => text.push('\t'),
            b'u' => {
                let (unit, behind) = hex_unit(rest);
                rest = behind;
                text.push(match unit {
                    0xd800..=0xdbff if rest.starts_with(b"\\u") => {
                        let (low, behind) = hex_unit(&rest[2..]);
                        rest = behind;
                        let pair = 0x10000 + ((unit - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                        char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER)
                    }
                    _ => char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
                });
            }
            other => text.push(other as char),
        }
        next = memchr::memchr(b'\\', rest);
    }
    text.push_str(&String::from_utf8_lossy(rest));
    text
}

/// Reads four hexadecimal digits, and returns the bytes after them.
fn hex_unit(bytes: &[u8]) -> (u32, &[u8]) {
    let (digits, behind) = bytes.split_at(bytes.len().min(4));
    let unit = digits.iter().fold(0, |unit, digit| unit * 16 + (*digit as char).to_digit(16).unwrap_or(0));
    (unit, behind)
}

/// The text of a value that is a string.
pub(super) fn string(document: &[u8], (start, end): (usize, usize)) -> Option<Cow<'_, str>> {
    match &document[start..end] {
        [b'"', inner @ .., _] => Some(unescape(inner)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(unescape("grün".as_bytes()), Cow::Borrowed("grün")));
    }

    #[test]
    fn every_escape_is_read() {
        assert_eq!(unescape(br#"\"\\\/\b\f\n\r\t"#), "\"\\/\u{8}\u{c}\n\r\t");
        assert_eq!(unescape("a\\u00fcb\\uD83D\\uDE00c\\u0000d".as_bytes()), "aüb😀c\0d");
        assert_eq!(unescape("ü\\nü".as_bytes()), "ü\nü");
    }
}
