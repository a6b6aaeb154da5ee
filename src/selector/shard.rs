//! Shard selectors: `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)`.
//!
//! They split the objects of a resource among several readers by the hash of a field: FNV-1a, 64 bits. The Kubernetes API parses them as
//! CEL and allows only calls of `shardRange` joined by `||`. Its messages are kept. Only texts that CEL cannot parse get messages of our
//! own, with the position.

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
    // The whole range ends at 2^64, which is no u64.
    end: u128,
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
        if text.trim().is_empty() {
            return Err(SelectorError::new("empty shard selector is not allowed; omit the parameter for unfiltered lists", 0));
        }
        let expression = Parser { text, at: 0, depth: 0 }.whole()?;
        let mut ranges = Vec::new();
        walk(&expression, &mut ranges)?;
        let (field, _) = ranges[0];
        if let Some((other, _)) = ranges.iter().find(|(other, _)| *other != field) {
            let message = format!("all shard ranges must use the same field, got {:?} and {:?}", field.as_str(), other.as_str());
            return Err(SelectorError::new(message, 0));
        }
        Ok(Self { field, ranges: ranges.into_iter().map(|(_, range)| range).collect() })
    }

    /// The field that is hashed.
    pub fn field(&self) -> ShardField {
        self.field
    }

    /// Whether an object with this value of the field is in the shard.
    pub fn contains(&self, value: &str) -> bool {
        let hash = hash(value);
        self.ranges.iter().any(|range| range.start <= hash && u128::from(hash) < range.end)
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
            write!(f, "{or}shardRange({}, '0x{:016x}', '0x{:016x}')", self.field.as_str(), range.start, range.end)?;
        }
        Ok(())
    }
}

/// The part of CEL that is needed to say what is wrong with an expression.
#[derive(Debug)]
struct Expression<'a> {
    at: usize,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    /// A function or operator under CEL's name, such as `_&&_`.
    Call(&'a str, Vec<Expression<'a>>),
    /// An identifier (false), or fields of one (true): `object.metadata.uid`.
    Path(String, bool),
    Text(&'a str),
    /// Any other literal, by the type that the API's messages name.
    Literal(&'static str),
}

impl Expression<'_> {
    /// CEL's number for this kind of expression, which the API's messages contain.
    fn number(&self) -> u8 {
        match self.kind {
            Kind::Call(..) => 1,
            Kind::Path(_, false) => 3,
            Kind::Text(_) | Kind::Literal(_) => 5,
            Kind::Path(_, true) => 7,
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, SelectorError> {
        Err(SelectorError::new(message, self.at))
    }
}

fn walk(expression: &Expression<'_>, ranges: &mut Vec<(ShardField, Range)>) -> Result<(), SelectorError> {
    match &expression.kind {
        Kind::Call("_||_", sides) => sides.iter().try_for_each(|side| walk(side, ranges)),
        Kind::Call("shardRange", arguments) => {
            ranges.push(range(expression, arguments)?);
            Ok(())
        }
        Kind::Call(name, _) => expression.error(format!("unsupported function {name:?}; only shardRange() and || are allowed")),
        _ => expression.error(format!("unexpected expression kind {}; expected shardRange() call or || operator", expression.number())),
    }
}

fn range(call: &Expression<'_>, arguments: &[Expression<'_>]) -> Result<(ShardField, Range), SelectorError> {
    let [field, start, end] = arguments else {
        return call.error(format!("shardRange() requires exactly 3 arguments, got {}", arguments.len()));
    };
    let Kind::Path(path, _) = &field.kind else {
        let kind = field.number();
        return field
            .error(format!("shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind {kind}"));
    };
    let Some(known) = [ShardField::Uid, ShardField::Namespace].into_iter().find(|known| known.as_str() == path) else {
        return field.error(format!("unsupported field path {path:?}; supported: object.metadata.uid, object.metadata.namespace"));
    };
    let (from, to) = (hex(start, "hexStart")?, hex(end, "hexEnd")?);
    match u64::try_from(from) {
        Ok(start) if from < to => Ok((known, Range { start, end: to })),
        _ => start.error(format!("shard range start 0x{from:016x} must be less than end 0x{to:016x}")),
    }
}

/// A bound: sixteen hexadecimal digits, or 2^64.
fn hex(literal: &Expression<'_>, name: &str) -> Result<u128, SelectorError> {
    let text = match literal.kind {
        Kind::Text(text) => text,
        Kind::Literal(kind) => return literal.error(format!("{name} must be a string literal, got {kind}")),
        _ => {
            let kind = literal.number();
            return literal.error(format!("{name} must be a string literal (e.g. '0xff'), got expression kind {kind}"));
        }
    };
    let Some(digits) = text.strip_prefix("0x") else {
        return literal.error(format!("{name} must have '0x' prefix, got {text:?}"));
    };
    if digits.is_empty() {
        return literal.error(format!("{name}: hex value is required after '0x'"));
    }
    if digits.len() > 17 {
        return literal.error(format!("{name}: hex value too long ({} chars, max 17): {digits:?}", digits.len()));
    }
    if let Some(wrong) = digits.chars().find(|digit| !matches!(digit, '0'..='9' | 'a'..='f')) {
        return literal.error(format!("{name}: invalid hex character {:?} in {text:?}", wrong.to_string()));
    }
    match u128::from_str_radix(digits, 16) {
        Ok(value) if digits.len() == 16 || (digits.len() == 17 && value == 1 << 64) => Ok(value),
        Ok(value) if digits.len() < 16 => {
            literal.error(format!("{name} must be a 0x-prefixed 16-digit hex value, got {text:?} (did you mean \"0x{value:016x}\"?)"))
        }
        _ => literal.error(format!("{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {text:?}")),
    }
}

/// Binary operators with CEL's names, the loosest first.
const OPERATORS: [&[(&str, &str)]; 4] = [
    &[("||", "_||_")],
    &[("&&", "_&&_")],
    &[("==", "_==_"), ("!=", "_!=_"), ("<=", "_<=_"), (">=", "_>=_"), ("<", "_<_"), (">", "_>_")],
    &[("+", "_+_"), ("-", "_-_"), ("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// Nested parentheses and calls. CEL has a limit too, and without one a long text could exhaust the stack.
const MAX_NESTED: usize = 50;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn whole(mut self) -> Result<Expression<'a>, SelectorError> {
        let expression = self.binary(0)?;
        if self.rest().is_empty() { Ok(expression) } else { self.unexpected() }
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn unexpected<T>(&mut self) -> Result<T, SelectorError> {
        let message = match self.rest().chars().next() {
            Some(found) => format!("CEL parse error: Syntax error: unexpected {found:?} at position {}", self.at),
            None => "CEL parse error: Syntax error: unexpected end".to_string(),
        };
        Err(SelectorError::new(message, self.at))
    }

    fn binary(&mut self, level: usize) -> Result<Expression<'a>, SelectorError> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.rest();
            let at = self.at;
            let Some((_, name)) = operators.iter().find(|(sign, _)| self.take(sign)) else { return Ok(left) };
            let right = self.binary(level + 1)?;
            left = Expression { at, kind: Kind::Call(name, vec![left, right]) };
        }
    }

    fn unary(&mut self) -> Result<Expression<'a>, SelectorError> {
        self.rest();
        let at = self.at;
        if self.take("!") {
            let operand = self.nested(Self::unary)?;
            return Ok(Expression { at, kind: Kind::Call("!_", vec![operand]) });
        }
        let mut operand = self.primary()?;
        while self.take("[") {
            let index = self.nested(|parser| parser.binary(0))?;
            if !self.take("]") {
                return self.unexpected();
            }
            operand = Expression { at, kind: Kind::Call("_[_]", vec![operand, index]) };
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Result<Expression<'a>, SelectorError> {
        let rest = self.rest();
        let at = self.at;
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.nested(|parser| parser.binary(0))?;
                if self.take(")") { Ok(inner) } else { self.unexpected() }
            }
            Some(quote @ ('\'' | '"')) => {
                let Some(end) = rest[1..].find(quote) else {
                    self.at = self.text.len();
                    return self.unexpected();
                };
                self.at += end + 2;
                Ok(Expression { at, kind: Kind::Text(&rest[1..=end]) })
            }
            Some('0'..='9') => {
                self.at += rest.find(|found: char| !found.is_ascii_alphanumeric() && found != '.').unwrap_or(rest.len());
                let number = &self.text[at..self.at];
                let (hex, suffix) = (number.starts_with("0x"), number.ends_with(['u', 'U']));
                let kind = if suffix {
                    "uint64"
                } else if !hex && number.contains(['.', 'e', 'E']) {
                    "float64"
                } else {
                    "int64"
                };
                Ok(Expression { at, kind: Kind::Literal(kind) })
            }
            _ => self.path_or_call(),
        }
    }

    fn path_or_call(&mut self) -> Result<Expression<'a>, SelectorError> {
        let first = self.identifier()?;
        let at = self.at - first.len();
        match first {
            "true" | "false" => return Ok(Expression { at, kind: Kind::Literal("bool") }),
            "null" => return Ok(Expression { at, kind: Kind::Literal("structpb.NullValue") }),
            _ => {}
        }
        let (mut path, mut last, mut select) = (first.to_owned(), first, false);
        while self.take(".") {
            last = self.identifier()?;
            path = format!("{path}.{last}");
            select = true;
        }
        if !self.take("(") {
            return Ok(Expression { at, kind: Kind::Path(path, select) });
        }
        let mut arguments = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.nested(|parser| parser.binary(0))?);
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return self.unexpected();
                }
            }
        }
        Ok(Expression { at, kind: Kind::Call(last, arguments) })
    }

    fn identifier(&mut self) -> Result<&'a str, SelectorError> {
        let rest = self.rest();
        let length = rest.find(|found: char| !found.is_ascii_alphanumeric() && found != '_').unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|first: char| first.is_ascii_digit()) {
            return self.unexpected();
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, SelectorError>) -> Result<T, SelectorError> {
        if self.depth == MAX_NESTED {
            return Err(SelectorError::new("CEL parse error: expression nests too deeply", self.at));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
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
    fn shd_05_whatever_else_is_refused_with_the_apis_words() {
        let with = |start: &str, end: &str| format!("shardRange(object.metadata.uid, {start}, {end})");
        let to = |start: &str| refused(&with(start, "'0x8000000000000000'"));
        assert_eq!(refused(""), "empty shard selector is not allowed; omit the parameter for unfiltered lists");
        assert_eq!(refused("  "), refused(""));
        assert_eq!(to("'0000000000000000'"), "hexStart must have '0x' prefix, got \"0000000000000000\"");
        assert_eq!(to("'0x'"), "hexStart: hex value is required after '0x'");
        assert_eq!(to("'0x0'"), "hexStart must be a 0x-prefixed 16-digit hex value, got \"0x0\" (did you mean \"0x0000000000000000\"?)");
        assert_eq!(to("'0x000000000000000000'"), "hexStart: hex value too long (18 chars, max 17): \"000000000000000000\"");
        assert_eq!(
            to("'0x00000000000000000'"),
            "hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x00000000000000000\""
        );
        assert_eq!(to("'0x000000000000000g'"), "hexStart: invalid hex character \"g\" in \"0x000000000000000g\"");
        assert_eq!(to("'0x000000000000000A'"), "hexStart: invalid hex character \"A\" in \"0x000000000000000A\"");
        assert_eq!(to("'0x8000000000000000'"), "shard range start 0x8000000000000000 must be less than end 0x8000000000000000");
        assert_eq!(to("'0x10000000000000000'"), "shard range start 0x10000000000000000 must be less than end 0x8000000000000000");
        assert_eq!(refused(&format!("{UID} && {REST}")), "unsupported function \"_&&_\"; only shardRange() and || are allowed");
        assert_eq!(refused("object.metadata.uid == 'a'"), "unsupported function \"_==_\"; only shardRange() and || are allowed");
        assert_eq!(refused("!true"), "unsupported function \"!_\"; only shardRange() and || are allowed");
        assert_eq!(refused("size('a')"), "unsupported function \"size\"; only shardRange() and || are allowed");
        assert_eq!(refused("shardRange(object.metadata.uid, '0x0000000000000000')"), "shardRange() requires exactly 3 arguments, got 2");
        assert_eq!(to("0"), "hexStart must be a string literal, got int64");
        assert_eq!(to("object.metadata.uid"), "hexStart must be a string literal (e.g. '0xff'), got expression kind 7");
        assert_eq!(
            refused(&UID.replace("object.metadata.uid", "hash(object.metadata.uid)")),
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1"
        );
        assert_eq!(
            refused(&UID.replace("uid", "labels['app']")),
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1"
        );
        assert_eq!(
            refused(&UID.replace("uid", "name")),
            "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, object.metadata.namespace"
        );
        assert_eq!(
            refused(&UID.replace("uid", "labels")),
            "unsupported field path \"object.metadata.labels\"; supported: object.metadata.uid, object.metadata.namespace"
        );
        assert_eq!(
            refused(&format!("{UID} || {}", REST.replace("uid", "namespace"))),
            "all shard ranges must use the same field, got \"object.metadata.uid\" and \"object.metadata.namespace\""
        );
        assert_eq!(refused("true"), "unexpected expression kind 5; expected shardRange() call or || operator");
        assert_eq!(refused("shard"), "unexpected expression kind 3; expected shardRange() call or || operator");
        assert_eq!(refused(&format!("{UID} ||")), "CEL parse error: Syntax error: unexpected end");
        assert_eq!(refused(&format!("{UID} {REST}")), "CEL parse error: Syntax error: unexpected 's' at position 76");
        assert_eq!(refused("shardRange(é)"), "CEL parse error: Syntax error: unexpected 'é' at position 11");
        assert_eq!(refused(&"(".repeat(10_000)), "CEL parse error: expression nests too deeply");
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
