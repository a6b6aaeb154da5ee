//! Finds the next byte of a string that needs attention. Most bytes of a document pass through this loop.
//!
//! Wasm's simd128 takes 16 bytes a step, a plain register 8. Both are safe code: the compiler joins the two halves of a block into one
//! load.

/// The first position from `at` on whose byte is not plain inside a string; the length if there is none. Not plain are a quote, a
/// backslash, a control character, and a byte of a multi-byte character.
#[inline]
pub(crate) fn find_special(document: &[u8], mut at: usize) -> usize {
    while let Some(block) = document.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let hits = special_in_block(block);
        if hits != 0 {
            return at + first_hit(hits);
        }
        at += BLOCK;
    }
    while let Some(&byte) = document.get(at) {
        if is_special(byte) {
            break;
        }
        at += 1;
    }
    at
}

/// As [`find_special`], but bytes of multi-byte characters count as plain. For texts that contain such characters: otherwise nearly every
/// hit would be one of them.
pub(crate) fn find_end(document: &[u8], mut at: usize) -> usize {
    while let Some(block) = document.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let hits = end_in_block(block);
        if hits != 0 {
            return at + first_hit(hits);
        }
        at += BLOCK;
    }
    while let Some(&byte) = document.get(at) {
        if byte < 0x80 && is_special(byte) {
            break;
        }
        at += 1;
    }
    at
}

/// Whether two texts are equal. Compares 16 bytes a step: WebAssembly's `memcmp`, which `==` calls, goes byte by byte.
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    let ((words, tail), (others, other_tail)) = (one.as_chunks::<16>(), other.as_chunks::<16>());
    one.len() == other.len()
        && words.iter().zip(others).all(|(one, other)| u128::from_ne_bytes(*one) == u128::from_ne_bytes(*other))
        && tail == other_tail
}

/// The number of equal bytes at the start of two texts.
pub(crate) fn common(left: &[u8], right: &[u8]) -> usize {
    let least = left.len().min(right.len());
    let (left, right) = (&left[..least], &right[..least]);
    // Most of two versions is equal, so most time is spent here. One branch for each block is much faster than one for each word.
    let same = |(a, b): &(&[u8; WIDE], &[u8; WIDE])| words(a).zip(words(b)).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0;
    let mut at = left.as_chunks().0.iter().zip(right.as_chunks().0).take_while(same).count() * WIDE;
    while let (Some(a), Some(b)) = (word(left, at), word(right, at)) {
        if a != b {
            return at + (a ^ b).trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + left[at..].iter().zip(&right[at..]).take_while(|(a, b)| a == b).count()
}

/// Bytes compared at once.
const WIDE: usize = 64;

fn words(bytes: &[u8; WIDE]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// The eight bytes at this position.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Whether a short text holds a part. The standard library's searcher never takes long, and that is 3 kB of WebAssembly.
pub(crate) fn holds(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|bytes| bytes == part.as_bytes())
}

#[inline]
fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..)
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod block {
    use core::arch::wasm32::{i8x16_bitmask, i8x16_eq, i8x16_lt, i8x16_splat, u8x16_lt, u8x16_splat, u64x2, v128, v128_or};

    pub(super) const BLOCK: usize = 16;

    #[inline]
    fn load(block: &[u8; BLOCK]) -> v128 {
        let (low, high) = block.split_at(8);
        let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        u64x2(half(low), half(high))
    }

    /// One bit for each byte that is a quote or a backslash, or is marked in `outside`.
    #[inline]
    fn hits(bytes: v128, outside: v128) -> u16 {
        let quote = i8x16_eq(bytes, i8x16_splat(b'"' as i8));
        let backslash = i8x16_eq(bytes, i8x16_splat(b'\\' as i8));
        i8x16_bitmask(v128_or(v128_or(quote, backslash), outside))
    }

    /// The signed comparison takes control characters and bytes from 0x80 in one step.
    #[inline]
    pub(super) fn special_in_block(block: &[u8; BLOCK]) -> u16 {
        let bytes = load(block);
        hits(bytes, i8x16_lt(bytes, i8x16_splat(0x20)))
    }

    #[inline]
    pub(super) fn end_in_block(block: &[u8; BLOCK]) -> u16 {
        let bytes = load(block);
        hits(bytes, u8x16_lt(bytes, u8x16_splat(0x20)))
    }

    #[inline]
    pub(super) fn first_hit(hits: u16) -> usize {
        hits.trailing_zeros() as usize
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod block {
    pub(super) const BLOCK: usize = 8;

    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

    /// Sets the high bit of each special byte. A borrow can also mark a plain byte, but only above a special one, and only the lowest mark
    /// is read.
    #[inline]
    pub(super) fn special_in_block(block: &[u8; BLOCK]) -> u64 {
        end_in_block(block) | u64::from_le_bytes(*block) & HIGH
    }

    #[inline]
    pub(super) fn end_in_block(block: &[u8; BLOCK]) -> u64 {
        let bytes = u64::from_le_bytes(*block);
        let quote = bytes ^ (ONES * b'"' as u64);
        let backslash = bytes ^ (ONES * b'\\' as u64);
        let below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes;
        (below(quote, 1) | below(backslash, 1) | below(bytes, 0x20)) & HIGH
    }

    #[inline]
    pub(super) fn first_hit(hits: u64) -> usize {
        hits.trailing_zeros() as usize / 8
    }
}

use block::{BLOCK, end_in_block, first_hit, special_in_block};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_of_a_block_is_told_apart() {
        for special in 0..=255u8 {
            for place in 0..40 {
                let mut document = vec![b'a'; 40];
                document[place] = special;
                let expected = if is_special(special) { place } else { 40 };
                assert_eq!(find_special(&document, 0), expected, "byte {special} at {place}");
                let expected = if special < 0x80 { expected } else { 40 };
                assert_eq!(find_end(&document, 0), expected, "byte {special} at {place}");
            }
        }
    }

    #[test]
    fn texts_are_the_same_or_differ_in_any_byte_or_in_length() {
        let text: Vec<u8> = (0..100).collect();
        for length in 0..text.len() {
            assert!(same(&text[..length], &text.clone()[..length]));
            assert!(!same(&text[..length], &text[..=length]) && !same(&text[..=length], &text[..length]));
            for place in 0..length {
                let mut other = text[..length].to_vec();
                other[place] ^= 0x40;
                assert!(!same(&text[..length], &other), "byte {place} of {length}");
            }
        }
    }

    #[test]
    fn the_first_of_several_wins_and_the_start_is_honoured() {
        let document = b"abc\"def\\ghi\n\xc3\xbcjklmnopqrstuvwxyz\"";
        let mut found = Vec::new();
        let mut at = 0;
        while at < document.len() {
            at = find_special(document, at);
            found.push(at);
            at += 1;
        }
        assert_eq!(found, [3, 7, 11, 12, 13, 31]);
        assert_eq!(find_special(document, 99), 99);
        assert_eq!(find_special(b"", 0), 0);
    }
}
