//! Shard selectors: `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)`.
//!
//! They split the objects of a resource among several readers by the hash of a field: FNV-1a, 64 bits. The Kubernetes API parses them as
//! CEL and allows only calls of `shardRange` joined by `||`. Here nothing else of CEL is read. What is wrong with a range is told as the
//! API tells it, and for any other expression what was expected where.

use std::fmt;
use std::rc::Rc;

use super::error::SelectorError;
use crate::object::Object;

/// The fields by which objects can be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShardField {
    /// `object.metadata.uid`
    Uid,
    /// `object.metadata.namespace`
    Namespace,
}

impl ShardField {
    /// The field as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

/// One range of hashes: `start` is included, `end` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    start: u64,
    // None is 2^64, which is no u64.
    end: Option<u64>,
}

/// A parsed shard selector: the OR of its ranges, all on one field. Clones share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardSelector {
    field: ShardField,
    ranges: Rc<[Range]>,
}

/// The hash that assigns a value to a shard: FNV-1a, 64 bits.
pub fn hash(value: &str) -> u64 {
    value.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

impl ShardSelector {
    /// Reads a selector as the Kubernetes API does. The empty text is an error: omit the selector instead.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        if text.trim_ascii().is_empty() {
            return Err(SelectorError::new("empty shard selector is not allowed; omit the parameter for unfiltered lists", 0));
        }
        let mut parser = Parser { text, at: 0, depth: 0, ranges: Vec::new() };
        parser.union()?;
        if parser.at < text.len() {
            parser.expect("||")?;
        }
        let ranges = parser.ranges;
        let (field, _) = ranges[0];
        if let Some((other, _)) = ranges.iter().find(|(other, _)| *other != field) {
            let message = format!("all shard ranges must use the same field, got {:?} and {:?}", field.as_str(), other.as_str());
            return Err(SelectorError::new(message, 0));
        }
        Ok(Self { field, ranges: ranges.into_iter().map(|(_, range)| range).collect() })
    }

    /// Whether an object with this value of the field is in the shard.
    pub fn contains(&self, value: &str) -> bool {
        let hash = hash(value);
        self.ranges.iter().any(|range| range.start <= hash && range.end.is_none_or(|end| hash < end))
    }

    /// Whether an object is in the shard. One without a uid hashes as the empty text, as in the API.
    pub fn matches(&self, object: &Object) -> bool {
        self.contains(match self.field {
            ShardField::Uid => object.uid().unwrap_or(""),
            ShardField::Namespace => object.namespace(),
        })
    }
}

impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.ranges.iter().enumerate() {
            let or = if index == 0 { "" } else { " || " };
            let end = range.end.map_or_else(|| END.to_owned(), |end| format!("0x{end:016x}"));
            write!(f, "{or}shardRange({}, '0x{:016x}', '{end}')", self.field.as_str(), range.start)?;
        }
        Ok(())
    }
}

/// 2^64 as a bound: the end of all hashes.
const END: &str = "0x10000000000000000";

/// Parentheses inside each other. CEL has a limit too, and without one a long text could exhaust the stack.
const MAX_NESTED: usize = 50;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    ranges: Vec<(ShardField, Range)>,
}

impl<'a> Parser<'a> {
    /// Ranges and parentheses, joined by `||`.
    fn union(&mut self) -> Result<(), SelectorError> {
        loop {
            if self.depth < MAX_NESTED && self.take("(") {
                self.depth += 1;
                self.union()?;
                self.depth -= 1;
                self.expect(")")?;
            } else {
                self.range()?;
            }
            if !self.take("||") {
                return Ok(());
            }
        }
    }

    fn range(&mut self) -> Result<(), SelectorError> {
        self.expect("shardRange")?;
        self.expect("(")?;
        self.skip_blanks();
        let at = self.at;
        let path = self.word(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
        let Some(field) = [ShardField::Uid, ShardField::Namespace].into_iter().find(|field| field.as_str() == path) else {
            let message = format!("unsupported field path {path:?}; supported: object.metadata.uid, object.metadata.namespace");
            return Err(SelectorError::new(message, at));
        };
        self.expect(",")?;
        let (from, start) = self.bound("hexStart")?;
        self.expect(",")?;
        let (to, end) = self.bound("hexEnd")?;
        self.expect(")")?;
        match start {
            Some(start) if end.is_none_or(|end| start < end) => {
                self.ranges.push((field, Range { start, end }));
                Ok(())
            }
            _ => Err(SelectorError::new(format!("shard range start {from} must be less than end {to}"), at)),
        }
    }

    /// A bound as it is written, and its number: sixteen hexadecimal digits in quotes. 2^64 is none.
    fn bound(&mut self, name: &str) -> Result<(&'a str, Option<u64>), SelectorError> {
        let quote = if self.take("\"") { "\"" } else { "'" };
        if quote == "'" {
            self.expect(quote)?;
        }
        let at = self.at;
        let text = self.word(|byte| !matches!(byte, b'\'' | b'"'));
        self.expect(quote)?;
        let number = text.strip_prefix("0x").filter(|digits| {
            // The standard library reads a sign and capitals, too.
            digits.len() == 16 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        });
        let number = number.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if number.is_none() && text != END {
            return Err(SelectorError::new(format!("{name} must be a 0x-prefixed 16-digit hex value, got {text:?}"), at));
        }
        Ok((text, number))
    }

    /// What stands here and is made of such bytes.
    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.bytes().take_while(|byte| belongs(*byte)).count()];
        self.at += word.len();
        word
    }

    fn skip_blanks(&mut self) {
        self.word(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c'));
    }

    /// Takes a token, and the blanks before it.
    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), SelectorError> {
        if self.take(token) {
            return Ok(());
        }
        let message = format!("expected {token} at position {}; only shardRange(field, start, end) and || are allowed", self.at);
        Err(SelectorError::new(message, self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const REST: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

    fn refused(text: &str) -> String {
        ShardSelector::parse(text).unwrap_err().message
    }

    #[test]
    fn shd_04_ranges_are_read_and_print_in_one_form_that_reads_back() {
        let thirds = "shardRange(object.metadata.uid, '0x0000000000000000', '0x5555555555555555') || \
                      shardRange(object.metadata.uid, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa') || \
                      shardRange(object.metadata.uid, '0xaaaaaaaaaaaaaaaa', '0x10000000000000000')";
        let namespace = "shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')";
        let two = format!("{UID} || {REST}");
        for canonical in [UID, namespace, &two, thirds] {
            let selector = ShardSelector::parse(canonical).unwrap();
            assert_eq!(selector.to_string(), canonical);
            let (dense, spaced) = (canonical.replace(' ', ""), canonical.replace(", ", " ,\t").replace("||", "\n  ||  "));
            assert_eq!(ShardSelector::parse(&dense).unwrap(), selector);
            assert_eq!(ShardSelector::parse(&format!("  ({spaced} )\n")).unwrap(), selector);
        }
        assert_eq!(ShardSelector::parse(&UID.replace('\'', "\"")).unwrap().to_string(), UID);
    }

    #[test]
    fn shd_05_whatever_else_is_refused() {
        let with = |start: &str, end: &str| format!("shardRange(object.metadata.uid, {start}, {end})");
        let to = |start: &str| refused(&with(start, "'0x8000000000000000'"));
        let expected =
            |token: &str, at: usize| format!("expected {token} at position {at}; only shardRange(field, start, end) and || are allowed");
        assert_eq!(refused(""), "empty shard selector is not allowed; omit the parameter for unfiltered lists");
        assert_eq!(refused("  "), refused(""));
        for start in
            ["0000000000000000", "0x", "0x0", "0x00000000000000000", "0x000000000000000g", "0x000000000000000A", "0x+00000000000000f", "é"]
        {
            assert_eq!(to(&format!("'{start}'")), format!("hexStart must be a 0x-prefixed 16-digit hex value, got \"{start}\""));
        }
        assert_eq!(refused(&with("'0x0000000000000000'", "'0x1'")), "hexEnd must be a 0x-prefixed 16-digit hex value, got \"0x1\"");
        assert_eq!(to("'0x8000000000000000'"), "shard range start 0x8000000000000000 must be less than end 0x8000000000000000");
        assert_eq!(to("'0x10000000000000000'"), "shard range start 0x10000000000000000 must be less than end 0x8000000000000000");
        assert_eq!(
            refused(&UID.replace("uid", "name")),
            "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, object.metadata.namespace"
        );
        assert_eq!(
            refused(&format!("{UID} || {}", REST.replace("uid", "namespace"))),
            "all shard ranges must use the same field, got \"object.metadata.uid\" and \"object.metadata.namespace\""
        );
        assert_eq!(refused(&format!("{UID} && {REST}")), expected("||", 76));
        assert_eq!(refused(&format!("{UID} {REST}")), expected("||", 76));
        assert_eq!(refused(&format!("({UID}")), expected(")", 76));
        assert_eq!(refused(&format!("{UID} ||")), expected("shardRange", 78));
        assert_eq!(refused("object.metadata.uid == 'a'"), expected("shardRange", 0));
        assert_eq!(refused("!true"), expected("shardRange", 0));
        assert_eq!(refused("shardRanges(x)"), expected("(", 10));
        assert_eq!(refused("shardRange(object.metadata.uid, '0x0000000000000000')"), expected(",", 52));
        assert_eq!(to("0"), expected("'", 32));
        assert_eq!(to("'0x0000000000000000\""), expected("'", 51));
        assert_eq!(to("\"0x0000000000000000'"), expected("\"", 51));
        assert_eq!(refused(&UID.replace("uid", "uid['app']")), expected(",", 30));
        assert_eq!(refused(&UID.replace('\'', "é")), expected("'", 32));
        assert_eq!(refused(&"(".repeat(10_000)), expected("shardRange", 50));
        assert!(ShardSelector::parse(&format!("{}{UID}{}", "(".repeat(50), ")".repeat(50))).is_ok());
    }

    #[test]
    fn shd_06_the_hash_is_fnv_1a_in_sixteen_digits() {
        for (value, digits) in [
            ("", "cbf29ce484222325"),
            ("abc", "e71fa2190541574b"),
            ("uid-0", "8a6b0f25215e9090"),
            ("uid-1", "8a6b1025215e9243"),
            ("my-namespace", "93223e53e4f70a61"),
        ] {
            assert_eq!(format!("{:016x}", hash(value)), digits, "{value:?}");
        }
    }

    #[test]
    fn a_range_holds_its_start_and_not_its_end() {
        let own = hash("uid-0");
        let range = |start: u64, end: u64| {
            ShardSelector::parse(&format!("shardRange(object.metadata.uid, '0x{start:016x}', '0x{end:016x}')")).unwrap()
        };
        assert!(range(own, own + 1).contains("uid-0"));
        assert!(!range(own - 1, own).contains("uid-0"));
        assert!(!range(own + 1, own + 2).contains("uid-0"));
        let all = ShardSelector::parse("shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')").unwrap();
        assert!(all.contains("") && all.contains("uid-0"));
    }
}
