//! A block: the parcel of some objects of one state, compressed. A number in front says how long that is.
//!
//! A parcel has a dictionary, and texts that came too late to be packed. So it is compressed once more.

use std::rc::Rc;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use xxhash_rust::xxh64::xxh64;

use crate::object::Object;
use crate::object::rest::{parcel, parcel_of_texts};

/// Bytes of the number.
const LENGTH_BYTES: usize = size_of::<u32>();
/// LZ4 packs no better than this: a length beyond it is wrong, and takes no memory.
const MAX_RATIO: usize = 255;

/// The checksum of a block or a head.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    xxh64(bytes, 0)
}

/// The block of these objects, of their texts alone or as they rest. `None` where their parcel is longer than a block may be.
pub(super) fn encode(objects: &[Rc<Object>], as_texts: bool) -> Option<Vec<u8>> {
    let text = if as_texts { parcel_of_texts(objects) } else { parcel(objects) };
    let length = u32::try_from(text.len()).ok()?;
    let mut block = vec![0; LENGTH_BYTES + get_maximum_output_size(text.len())];
    block[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let packed = compress_into(&text, &mut block[LENGTH_BYTES..]).ok()?;
    block.truncate(LENGTH_BYTES + packed);
    Some(block)
}

/// The parcel in a block.
pub(super) fn decode(block: &[u8]) -> Option<Vec<u8>> {
    let (length, packed) = block.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length > packed.len().saturating_mul(MAX_RATIO) {
        return None;
    }
    let mut text = vec![0; length];
    (decompress_into(packed, &mut text).ok()? == length).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn objects_come_back_as_they_were_and_are_small() {
        let objects: Vec<_> = (0..50).map(|number| named(&format!("ns/pod-{number}"), number + 1)).collect();
        let length: usize = objects.iter().map(|object| object.text().len()).sum();
        let block = encode(&objects, false).unwrap();
        assert!(block.len() * 3 < length, "{} of {length}", block.len());
        assert_eq!(decode(&block).unwrap(), parcel(&objects));
        assert_eq!(decode(&encode(&[], false).unwrap()).unwrap(), parcel(&[]));
    }

    #[test]
    fn a_block_that_is_cut_or_lies_about_its_length_is_none() {
        let block = encode(&[named("ns/a", 1), named("ns/b", 2)], false).unwrap();
        for length in 0..block.len() {
            assert_eq!(decode(&block[..length]), None, "{length} bytes");
        }
        for wrong in [0, 1, u32::MAX] {
            assert_eq!(decode(&[&wrong.to_le_bytes(), &block[LENGTH_BYTES..]].concat()), None, "{wrong}");
        }
    }
}
