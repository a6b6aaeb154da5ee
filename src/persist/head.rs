//! The head: of which version a state is, when it was kept, and what belongs to it: the blocks with their keys and checksums.

use std::rc::Rc;

use super::block::checksum;
use crate::json::value::Value;
use crate::json::write::{Document, quoted};
use crate::time::WallTime;
use crate::version::Version;

/// The format of heads and blocks. Another one is as good as nothing.
const FORMAT: u32 = 2;

/// A block of a state, as its head names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) number: u32,
    /// Its keys are not before this one, and before that of the next block.
    pub(super) from: Rc<str>,
    pub(super) checksum: u64,
}

/// Of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) version: Version,
    pub(super) at: WallTime,
    /// How many objects it has.
    pub(super) objects: u32,
    /// By their keys.
    pub(super) blocks: Vec<Named>,
}

impl Head {
    /// Its checksum as sixteen letters, and a document.
    pub(super) fn encode(&self) -> Vec<u8> {
        let block = |block: &Named| format!(r#"[{},{},"{:016x}"]"#, block.number, quoted(&block.from), block.checksum);
        let blocks: Vec<String> = self.blocks.iter().map(block).collect();
        let document = Document::new()
            .raw("format", &FORMAT.to_string())
            .text("version", &self.version.to_string())
            .text("at", &self.at.as_unix_millis().to_string())
            .raw("objects", &self.objects.to_string())
            .raw("blocks", &format!("[{}]", blocks.join(",")))
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
            objects: document.number("objects")??,
            blocks: blocks.iter().map(named).collect::<Option<_>>()?,
        })
    }
}

fn named(value: &Value) -> Option<Named> {
    let Value::List(parts) = value else { return None };
    let [Value::Number(number), Value::Text(from), Value::Text(sum)] = &parts[..] else { return None };
    Some(Named { number: number.parse().ok()?, from: from.as_str().into(), checksum: u64::from_str_radix(sum, 16).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            version: Version::from(123),
            at: WallTime::from_unix_millis(1_700_000_000_000),
            objects: 5,
            blocks: vec![
                Named { number: 0, from: "".into(), checksum: 7 },
                Named { number: 3, from: "ns/\"odd\"".into(), checksum: u64::MAX },
            ],
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
        let document = String::from_utf8(head().encode()[16..].to_vec()).unwrap().replace("\"format\":2", "\"format\":3");
        assert_eq!(Head::decode(format!("{:016x}{document}", checksum(document.as_bytes())).as_bytes()), None);
    }
}
