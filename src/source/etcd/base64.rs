//! Base64 with padding (RFC 4648, section 4), as the gateway writes bytes.
//!
//! The usual crate would add 7 kB of WebAssembly. The tests compare this with it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What is no letter of it.
const NONE: u8 = 0xff;
/// The value of each letter.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 64 {
        #[allow(clippy::cast_possible_truncation)]
        let letter = value as u8;
        values[ALPHABET[value] as usize] = letter;
        value += 1;
    }
    values
};

/// Appends bytes as text.
pub(super) fn encode(bytes: &[u8], text: &mut Vec<u8>) {
    text.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            text.push(if place <= group.len() { ALPHABET[bits >> (18 - 6 * place) & 63] } else { b'=' });
        }
    }
}

/// The bytes of a text; `None` for what is no such text.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (groups, []) = text.as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    let Some((last, whole)) = groups.split_last() else { return Some(bytes) };
    for group in whole {
        bytes.extend_from_slice(&three(*group)?);
    }
    match *last {
        [a, b, b'=', b'='] => {
            let [first, 0, 0] = three([a, b, b'A', b'A'])? else { return None };
            bytes.push(first);
        }
        [a, b, c, b'='] => {
            let [first, second, 0] = three([a, b, c, b'A'])? else { return None };
            bytes.extend_from_slice(&[first, second]);
        }
        group => bytes.extend_from_slice(&three(group)?),
    }
    Some(bytes)
}

fn three(group: [u8; 4]) -> Option<[u8; 3]> {
    let values = group.map(|letter| VALUES[usize::from(letter)]);
    if values.contains(&NONE) {
        return None;
    }
    let [_, first, second, third] = values.iter().fold(0, |bits, value| bits << 6 | u32::from(*value)).to_be_bytes();
    Some([first, second, third])
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_written_and_read_as_the_library_does(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut text = Vec::new();
            encode(&bytes, &mut text);
            prop_assert_eq!(std::str::from_utf8(&text).unwrap(), STANDARD.encode(&bytes));
            prop_assert_eq!(decode(&text), Some(bytes));
        }

        #[test]
        fn any_text_is_read_as_the_library_reads_it(text in "[A-Za-z0-9_=+/-]{0,12}|.{0,9}") {
            prop_assert_eq!(decode(text.as_bytes()), STANDARD.decode(&text).ok());
        }
    }
}
