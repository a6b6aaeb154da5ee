//! Revisions of etcd as versions of the cache.
//!
//! A cache wants a version of its own for each change; a transaction of etcd changes several keys at one revision. So a source either holds
//! that each revision changes one key, and then a version is a revision. Or it gives each change of a revision a place in it, by the hash of
//! its key.
//!
//! A version is then the revision and nine digits behind it; that of a whole revision ends in nines. Lists, watches and answers give the same
//! version to the same object, though none of them is told its place in the transaction.

use crate::json::value::Value;

/// Digits of a place.
const DIGITS: usize = 9;
/// The place behind all changes of a revision.
const LAST: u64 = 999_999_999;

/// How revisions are versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Whether a revision may change several keys.
    pub transactions: bool,
}

impl Numbers {
    /// The version of a key, named without its prefix, that a revision has changed.
    pub(super) fn of(self, revision: u64, key: &[u8]) -> String {
        if self.transactions { format!("{revision}{:0DIGITS$}", place(key)) } else { revision.to_string() }
    }

    /// The version of all that a revision has changed.
    pub(super) fn after(self, revision: u64) -> String {
        if self.transactions { format!("{revision}{LAST}") } else { revision.to_string() }
    }
}

/// The place of a key among those of its revision: FNV-1a.
fn place(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)) % LAST
}

/// A whole number of the gateway: text, because JavaScript's numbers are too short for it. Zeros are left out.
pub(super) fn number(of: &Value, name: &str) -> Option<u64> {
    match of.get(name) {
        Value::Null => Some(0),
        Value::Text(digits) => digits.parse().ok(),
        Value::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[test]
    fn each_change_of_a_revision_has_a_version_between_those_of_the_revisions() {
        let version = |text: String| Version::parse(&text).unwrap();
        let (plain, placed) = (Numbers { transactions: false }, Numbers { transactions: true });
        assert_eq!((plain.of(7, b"a"), plain.after(7)), ("7".to_string(), "7".to_string()));
        assert_eq!(placed.after(7), "7999999999");
        let mut seen = std::collections::HashSet::new();
        for key in 0..2000 {
            let at = placed.of(7, format!("key-{key}").as_bytes());
            assert_eq!(at.len(), 10);
            assert!(version(placed.after(6)) < version(at.clone()) && version(at.clone()) < version(placed.after(7)), "{at}");
            assert!(seen.insert(at), "keys of one revision differ");
        }
        assert!(version(placed.of(10, b"a")) > version(placed.after(9)), "longer revisions are later");
    }
}
