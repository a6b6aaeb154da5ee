//! The head: of which version a state is, when it was kept, and the checksum of each block that belongs to it.

use std::fmt::Write;

use super::block::checksum;
use crate::json::value::Value;
use crate::json::write::Document;
use crate::time::WallTime;
use crate::version::Version;

/// The format of heads and blocks. Another one is as good as nothing.
const FORMAT: u32 = 1;

/// Of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) version: Version,
    pub(super) at: WallTime,
    /// How many buckets keys fall into.
    pub(super) buckets: u32,
    /// The blocks with their checksums, by number.
    pub(super) blocks: Vec<(u32, u64)>,
}

impl Head {
    /// Its checksum as sixteen letters, and a document.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut blocks = String::from("[");
        for (number, checksum) in &self.blocks {
            let comma = if blocks.len() > 1 { "," } else { "" };
            // Writing to a String cannot fail.
            let _written = write!(blocks, "{comma}[{number},\"{checksum:016x}\"]");
        }
        blocks.push(']');
        let document = Document::new()
            .raw("format", &FORMAT.to_string())
            .text("version", &self.version.to_string())
            .text("at", &self.at.as_unix_millis().to_string())
            .raw("buckets", &self.buckets.to_string())
            .raw("blocks", &blocks)
            .finish();
        format!("{:016x}{document}", checksum(document.as_bytes())).into_bytes()
    }

    /// `None` where it is not whole, or of another format.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (sum, document) = bytes.split_at_checked(16)?;
        if *sum != *format!("{:016x}", checksum(document)).as_bytes() {
            return None;
        }
        let document = Value::parse(document).ok()?;
        if document.number("format")?? != FORMAT {
            return None;
        }
        let Value::List(blocks) = document.get("blocks") else { return None };
        Some(Self {
            version: Version::parse(document.text("version")??).ok()?,
            at: WallTime::from_unix_millis(document.text("at")??.parse().ok()?),
            buckets: document.number("buckets")??,
            blocks: blocks.iter().map(block).collect::<Option<_>>()?,
        })
    }
}

fn block(value: &Value) -> Option<(u32, u64)> {
    let Value::List(pair) = value else { return None };
    let [Value::Number(number), Value::Text(sum)] = &pair[..] else { return None };
    Some((number.parse().ok()?, u64::from_str_radix(sum, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            version: Version::from(123),
            at: WallTime::from_unix_millis(1_700_000_000_000),
            buckets: 4,
            blocks: vec![(0, 7), (3, u64::MAX)],
        }
    }

    #[test]
    fn it_comes_back_as_it_was() {
        for head in [head(), Head { blocks: Vec::new(), ..head() }] {
            assert_eq!(Head::decode(&head.encode()), Some(head));
        }
    }

    #[test]
    fn one_that_is_cut_or_changed_in_any_byte_is_none() {
        let whole = head().encode();
        for at in 0..whole.len() {
            assert_eq!(Head::decode(&whole[..at]), None, "{at} bytes");
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert_eq!(Head::decode(&changed), None, "byte {at}");
        }
    }

    #[test]
    fn one_of_a_newer_format_is_none() {
        let document = String::from_utf8(head().encode()[16..].to_vec()).unwrap().replace("\"format\":1", "\"format\":2");
        assert_eq!(Head::decode(format!("{:016x}{document}", checksum(document.as_bytes())).as_bytes()), None);
    }
}
