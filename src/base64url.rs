//! Base64url without padding (RFC 4648, section 5), for tokens.
//!
//! The usual crate would add 7 kB of WebAssembly. The tests compare this with it.
//!
//! Imports nothing of this crate.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        text.extend((0..=group.len()).map(|place| char::from(ALPHABET[bits >> (18 - 6 * place) & 63])));
    }
    text
}

/// Decodes a text. The error is the position of the first wrong byte. Wrong is a byte outside the alphabet. So is a last byte that is alone
/// in its group, or one with unused bits that are not zero.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0u32, 0);
    for (place, byte) in text.iter().enumerate() {
        let value = ALPHABET.iter().position(|known| known == byte).ok_or(place)?;
        #[allow(clippy::cast_possible_truncation)]
        let value = value as u32;
        bits = bits << 6 | value;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    if held == 6 || bits != 0 {
        return Err(text.len() - 1);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_stand_is_told_by_its_place() {
        for (text, expected) in [
            ("", Ok(vec![])),
            ("_-8", Ok(vec![255, 239])),
            ("AA=", Err(2)),
            ("A", Err(0)),
            ("AAAAA", Err(4)),
            ("AB", Err(1)),
            ("ü", Err(0)),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_written_as_the_library_writes_them(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = encode(&bytes);
            prop_assert_eq!(&text, &URL_SAFE_NO_PAD.encode(&bytes));
            prop_assert_eq!(decode(&text), Ok(bytes));
        }

        #[test]
        fn any_text_is_read_as_the_library_reads_it(text in "[A-Za-z0-9_=+/-]{0,12}|.{0,9}") {
            prop_assert_eq!(decode(&text).ok(), URL_SAFE_NO_PAD.decode(&text).ok());
        }
    }
}
