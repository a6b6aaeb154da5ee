//! Resource versions: decimal numbers of any length.
//!
//! Objects of a resource are ordered by `resourceVersion`, compared as a decimal number: by length, then by text. Nothing stops at 2^64.
//! Sources with longer versions work as well as etcd's revisions, for example with a hash clock or a compound counter.
//!
//! Imports nothing of this crate.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

/// A parsed resource version.
///
/// It is cheap to clone: a version below 2^64 is held inline, a longer one as shared text. Leading zeros do not matter.
///
/// ```
/// use watchcache::version::Version;
///
/// let (small, large) = (Version::parse("9")?, Version::parse("18446744073709551617")?);
/// assert!(small < large && large.as_u64().is_none());
/// assert_eq!(Version::parse("007")?, Version::from(7));
/// assert!(Version::parse("7a").is_err());
/// # Ok::<_, watchcache::version::VersionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version(Repr);

// The forms do not overlap: `parse` uses `Small` whenever the number fits. Equality and hashing can therefore be derived, and every `Large`
// is greater than every `Small`.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(u64),
    Large(Rc<str>),
}

/// A text that is not a resource version. The message is the Kubernetes API's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")]
pub struct VersionError {
    /// The given text.
    pub text: String,
}

impl Version {
    /// The version "0". No object has it; in a request it means "any version".
    pub const ZERO: Version = Version(Repr::Small(0));

    /// Reads a decimal version: digits only, at least one, no sign, no spaces. Leading zeros are dropped.
    pub fn parse(text: &str) -> Result<Version, VersionError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(VersionError { text: text.to_owned() });
        }
        let digits = text.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Version::ZERO);
        }
        Ok(Version(match digits.parse::<u64>() {
            Ok(number) => Repr::Small(number),
            Err(_) => Repr::Large(digits.into()),
        }))
    }

    /// Whether this is the version "0".
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// The version before this one; `None` for "0".
    pub fn predecessor(&self) -> Option<Version> {
        match &self.0 {
            Repr::Small(number) => number.checked_sub(1).map(Version::from),
            Repr::Large(digits) => {
                // Subtract one: the trailing zeros become nines. A large version is never all zeros.
                let kept = digits.trim_end_matches('0');
                let (head, last) = kept.split_at(kept.len() - 1);
                let lowered = char::from(last.as_bytes()[0] - 1);
                let nines = "9".repeat(digits.len() - kept.len());
                Version::parse(&format!("{head}{lowered}{nines}")).ok()
            }
        }
    }

    /// Appends the number to a text. Same as `Display`, but without the code for padding.
    pub fn append_to(&self, text: &mut String) {
        let Repr::Small(mut number) = self.0 else {
            if let Repr::Large(digits) = &self.0 {
                text.push_str(digits);
            }
            return;
        };
        // 2^64 has 20 digits.
        let mut digits = [b'0'; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] += u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
            if number == 0 {
                break;
            }
        }
        text.extend(digits[first..].iter().copied().map(char::from));
    }

    /// The version as a number, if it is below 2^64.
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Small(number) => Some(number),
            Repr::Large(_) => None,
        }
    }
}

impl Default for Version {
    fn default() -> Self {
        Version::ZERO
    }
}

impl From<u64> for Version {
    fn from(number: u64) -> Self {
        Version(Repr::Small(number))
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Version::parse(text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Small(_), Repr::Large(_)) => Ordering::Less,
            (Repr::Large(_), Repr::Small(_)) => Ordering::Greater,
            (Repr::Large(a), Repr::Large(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        }
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(number) => number.fmt(f),
            Repr::Large(digits) => f.pad(digits),
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_predecessor_borrows_across_zeros_and_across_the_64_bit_border() {
        let before = |text: &str| Version::parse(text).unwrap().predecessor().map(|version| version.to_string());
        assert_eq!(before("0"), None);
        assert_eq!(before("10").as_deref(), Some("9"));
        assert_eq!(before("18446744073709551616").as_deref(), Some("18446744073709551615"));
        assert_eq!(before("100000000000000000000000").as_deref(), Some("99999999999999999999999"));
        assert_eq!(before("100000000000000000000001").as_deref(), Some("100000000000000000000000"));
    }

    #[test]
    fn appending_writes_what_display_does() {
        for text in ["0", "9", "10", "4100", "18446744073709551615", "18446744073709551616", "100000000000000000000000"] {
            let version = Version::parse(text).unwrap();
            let mut appended = String::from("at ");
            version.append_to(&mut appended);
            assert_eq!(appended, format!("at {version}"));
        }
    }

    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn reads_versions_of_any_length() {
        assert_eq!(version("1").to_string(), "1");
        assert_eq!(version("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(version("18446744073709551616").as_u64(), None);
        assert_eq!(version("18446744073709551616").to_string(), "18446744073709551616");
        let long = "9".repeat(1000);
        assert_eq!(version(&long).to_string(), long);
        assert_eq!(format!("{:?}", version("18446744073709551616")), "18446744073709551616", "in what tests and panics print, too");
    }

    #[test]
    fn leading_zeros_do_not_count() {
        assert_eq!(version("007"), version("7"));
        assert_eq!(version("000"), Version::ZERO);
        assert!(version("0").is_zero());
        assert!(!version("10").is_zero());
        assert_eq!(version("00018446744073709551616"), version("18446744073709551616"));
        assert_eq!(version("000000000000000000000000000005").as_u64(), Some(5));
    }

    #[test]
    fn orders_by_length_then_text() {
        let ascending = [
            "0",
            "9",
            "10",
            "18446744073709551615",
            "18446744073709551616",
            "18446744073709551617",
            "99999999999999999999",
            "100000000000000000000",
        ];
        for pair in ascending.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn opt_04_refuses_what_is_not_a_number() {
        for text in ["", "a", " ", "abc", "-1", "+1", "1 ", " 1", "1.0", "0x10", "1_000", "１"] {
            assert!(Version::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(
            Version::parse("abc").unwrap_err().to_string(),
            "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"
        );
    }

    proptest! {
        #[test]
        fn agrees_with_numbers(a in any::<u128>(), b in any::<u128>(), narrow in 0u32..128) {
            let (a, b) = (a >> narrow, b >> narrow);
            let (left, right) = (version(&a.to_string()), version(&b.to_string()));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(left == right, a == b);
            prop_assert_eq!(left.to_string(), a.to_string());
            prop_assert_eq!(version(&format!("000{a}")), left);
        }
    }
}
