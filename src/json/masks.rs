//! Finds the structural characters in 64 bytes at once, with wasm's simd128 if there is one.

/// Bytes a step: one bit each in a 64-bit register.
pub(super) const BLOCK: usize = 64;

/// One bit for each byte. The lowest bit is the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    /// `{` and `[`.
    pub(super) opening: u64,
    /// `}` and `]`.
    pub(super) closing: u64,
}

/// The bit in which a brace differs from a bracket of the same direction.
const CURLED: u8 = b'{' ^ b'[';

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) fn masks(bytes: &[u8; BLOCK]) -> Masks {
    use core::arch::wasm32::{i8x16_bitmask, i8x16_eq, i8x16_splat, u64x2, v128_or};

    let mut masks = Masks::default();
    let (parts, _) = bytes.as_chunks::<16>();
    for (part, shift) in parts.iter().zip((0..BLOCK).step_by(16)) {
        let (low, high) = part.split_at(8);
        let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let bytes = u64x2(half(low), half(high));
        let curled = v128_or(bytes, i8x16_splat(CURLED as i8));
        let find = |bytes, byte: u8| u64::from(i8x16_bitmask(i8x16_eq(bytes, i8x16_splat(byte as i8)))) << shift;
        masks.quotes |= find(bytes, b'"');
        masks.backslashes |= find(bytes, b'\\');
        masks.opening |= find(curled, b'{');
        masks.closing |= find(curled, b'}');
    }
    masks
}

/// Without SIMD: 8 bytes a step.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) fn masks(bytes: &[u8; BLOCK]) -> Masks {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    // Multiplying by this gathers the lowest bits of eight bytes in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;

    let mut masks = Masks::default();
    let (words, _) = bytes.as_chunks::<8>();
    for (word, shift) in words.iter().zip((0..BLOCK).step_by(8)) {
        let bytes = u64::from_le_bytes(*word);
        let curled = bytes | (ONES * u64::from(CURLED));
        let find = |bytes: u64, byte: u8| {
            let differs = bytes ^ (ONES * u64::from(byte));
            let equal = !(((differs & LOW) + LOW) | differs | LOW) >> 7;
            (equal.wrapping_mul(GATHER) >> 56) << shift
        };
        masks.quotes |= find(bytes, b'"');
        masks.backslashes |= find(bytes, b'\\');
        masks.opening |= find(curled, b'{');
        masks.closing |= find(curled, b'}');
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_of_a_block_is_told_apart() {
        for byte in 0..=255u8 {
            for place in 0..BLOCK {
                let mut bytes = [b'a'; BLOCK];
                bytes[place] = byte;
                let bit = |is: bool| u64::from(is) << place;
                let expected = Masks {
                    quotes: bit(byte == b'"'),
                    backslashes: bit(byte == b'\\'),
                    opening: bit(matches!(byte, b'{' | b'[')),
                    closing: bit(matches!(byte, b'}' | b']')),
                };
                assert_eq!(masks(&bytes), expected, "byte {byte} at {place}");
            }
        }
    }
}
