//! The grammar of label selectors, with the Kubernetes API's tokens and messages.
//!
//! ```text
//! selector    = [ requirement { "," requirement } ]
//! requirement = KEY | "!" KEY | KEY ("=" | "==" | "!=" | ">" | "<") [ VALUE ] | KEY ("in" | "notin") "(" [ VALUE ] { "," [ VALUE ] } ")"
//! ```
//! Blanks between tokens are ignored. `in` and `notin` are operators only where an operator is expected.

use crate::sort::sort_by;

use super::error::SelectorError;
use super::requirement::{Operator, Requirement};
use super::validate;

const EXPECTED_OPERATOR: &str = "in, notin, =, ==, !=, gt, lt";

/// Reads a selector's requirements in their order.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    Parser { tokens: tokens(text), position: 0 }.selector()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    End,
    Close,
    Comma,
    Bang,
    DoubleEquals,
    Equals,
    Greater,
    Less,
    NotEquals,
    Open,
    In,
    NotIn,
    Identifier,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    offset: usize,
}

/// The tokens of a text, followed by one `End`.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(|&byte| is_blank(byte)) {
            at += 1;
        }
        let start = at;
        let kind = match bytes.get(at) {
            // The API server's lexer uses NUL for the end of the text, so a NUL in the text also ends it.
            None | Some(0) => {
                tokens.push(Token { kind: Kind::End, text: "", offset: start });
                return tokens;
            }
            Some(&byte) => match symbol(byte, bytes.get(at + 1).copied()) {
                Some((kind, length)) => {
                    at += length;
                    kind
                }
                None => {
                    while bytes.get(at).is_some_and(|&byte| byte != 0 && !is_blank(byte) && symbol(byte, None).is_none()) {
                        at += 1;
                    }
                    match &text[start..at] {
                        "in" => Kind::In,
                        "notin" => Kind::NotIn,
                        _ => Kind::Identifier,
                    }
                }
            },
        };
        tokens.push(Token { kind, text: &text[start..at], offset: start });
        // The API server's lexer skips a NUL directly after a token.
        if bytes.get(at) == Some(&0) {
            at += 1;
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The longest operator that starts with `byte`, and its length.
fn symbol(byte: u8, next: Option<u8>) -> Option<(Kind, usize)> {
    Some(match (byte, next) {
        (b'=', Some(b'=')) => (Kind::DoubleEquals, 2),
        (b'!', Some(b'=')) => (Kind::NotEquals, 2),
        (b'=', _) => (Kind::Equals, 1),
        (b'!', _) => (Kind::Bang, 1),
        (b'(', _) => (Kind::Open, 1),
        (b')', _) => (Kind::Close, 1),
        (b',', _) => (Kind::Comma, 1),
        (b'>', _) => (Kind::Greater, 1),
        (b'<', _) => (Kind::Less, 1),
        _ => return None,
    })
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.position]
    }

    /// Takes the next token. `End` is returned again and again.
    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.position += 1;
        }
        token
    }

    fn selector(mut self) -> Result<Vec<Requirement>, SelectorError> {
        let mut requirements = Vec::new();
        let first = self.peek();
        match first.kind {
            Kind::End => return Ok(requirements),
            kind if starts_requirement(kind) => {}
            _ => return Err(found(first, "!, identifier, or 'end of string'")),
        }
        loop {
            let requirement = self
                .requirement()
                .map_err(|error| SelectorError::new(format!("unable to parse requirement: {}", error.message), error.offset))?;
            requirements.push(requirement);
            let separator = self.next();
            match separator.kind {
                Kind::End => return Ok(requirements),
                Kind::Comma if starts_requirement(self.peek().kind) => {}
                Kind::Comma => return Err(found(self.peek(), "identifier after ','")),
                _ => return Err(found(separator, "',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let negated = self.peek().kind == Kind::Bang;
        if negated {
            self.next();
        }
        let key = self.next();
        if !is_word(key.kind) {
            return Err(found(key, "identifier"));
        }
        let complaints = validate::label_key(key.text);
        if !complaints.is_empty() {
            // The API server prints the path of the field before the value. A selector has no path, which prints as `<nil>`.
            return Err(SelectorError::new(format!("<nil>: {}", invalid(key.text, &complaints)), key.offset));
        }
        let exists = matches!(self.peek().kind, Kind::End | Kind::Comma);
        if negated || exists {
            let operator = if negated { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(Requirement::new(key.text.to_owned(), operator, Vec::new(), 0));
        }
        let operator = self.operator()?;
        let mut values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.value()?],
        };
        sort_by(&mut values, |a, b| a.0.cmp(b.0));
        values.dedup_by_key(|value| value.0);
        build(key.text, operator, &values)
    }

    fn operator(&mut self) -> Result<Operator, SelectorError> {
        let token = self.next();
        Ok(match token.kind {
            Kind::In => Operator::In,
            Kind::NotIn => Operator::NotIn,
            Kind::Equals => Operator::Equals,
            Kind::DoubleEquals => Operator::DoubleEquals,
            Kind::NotEquals => Operator::NotEquals,
            Kind::Greater => Operator::GreaterThan,
            Kind::Less => Operator::LessThan,
            _ => return Err(found(token, EXPECTED_OPERATOR)),
        })
    }

    /// The value after a comparison and its position. Without a value it is empty.
    fn value(&mut self) -> Result<(&'a str, usize), SelectorError> {
        let token = self.peek();
        if matches!(token.kind, Kind::End | Kind::Comma) {
            return Ok(("", token.offset));
        }
        self.next();
        if !is_word(token.kind) {
            return Err(found(token, "identifier"));
        }
        Ok((token.text, token.offset))
    }

    /// A list in parentheses. A missing value between commas or parentheses is the empty value.
    fn values(&mut self) -> Result<Vec<(&'a str, usize)>, SelectorError> {
        let open = self.next();
        if open.kind != Kind::Open {
            // The API server's message has no comma here.
            return Err(SelectorError::new(format!("found '{}' expected: '('", open.text), open.offset));
        }
        let first = self.peek();
        match first.kind {
            Kind::Close => {
                self.next();
                return Ok(vec![("", first.offset)]);
            }
            Kind::Comma => {}
            kind if is_word(kind) => {}
            _ => return Err(found(first, "',', ')' or identifier")),
        }
        let mut values = Vec::new();
        loop {
            let token = self.next();
            let following = self.peek();
            match token.kind {
                kind if is_word(kind) => {
                    values.push((token.text, token.offset));
                    match following.kind {
                        Kind::Comma => {}
                        Kind::Close => break,
                        _ => return Err(found(following, "',' or ')'")),
                    }
                }
                Kind::Comma => {
                    if values.is_empty() {
                        values.push(("", token.offset));
                    }
                    if matches!(following.kind, Kind::Close | Kind::Comma) {
                        values.push(("", following.offset));
                    }
                    if following.kind == Kind::Close {
                        break;
                    }
                }
                _ => return Err(found(token, "',', or identifier")),
            }
        }
        self.next();
        Ok(values)
    }
}

fn starts_requirement(kind: Kind) -> bool {
    is_word(kind) || kind == Kind::Bang
}

/// Whether a token can be a key or a value. `in` and `notin` can be.
fn is_word(kind: Kind) -> bool {
    matches!(kind, Kind::Identifier | Kind::In | Kind::NotIn)
}

fn found(token: Token<'_>, expected: &str) -> SelectorError {
    SelectorError::new(format!("found '{}', expected: {expected}", token.text), token.offset)
}

fn invalid(value: &str, complaints: &[String]) -> String {
    format!("Invalid value: {value:?}: {}", complaints.join("; "))
}

/// Checks the values and makes the requirement. All mistakes are reported together in the order of the sorted values, with the position of
/// the first.
fn build(key: &str, operator: Operator, values: &[(&str, usize)]) -> Result<Requirement, SelectorError> {
    let mut errors: Vec<SelectorError> = Vec::new();
    let mut bound = 0;
    if let (Operator::GreaterThan | Operator::LessThan, [(value, offset)]) = (operator, values) {
        match value.parse() {
            Ok(number) => bound = number,
            Err(_) => errors.push(SelectorError::new(
                format!("values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"),
                *offset,
            )),
        }
    }
    for (index, (value, offset)) in values.iter().enumerate() {
        let complaints = validate::label_value(value);
        if !complaints.is_empty() {
            errors.push(SelectorError::new(format!("values[{index}][{key}]: {}", invalid(value, &complaints)), *offset));
        }
    }
    match errors.as_slice() {
        [] => Ok(Requirement::new(key.to_owned(), operator, values.iter().map(|(value, _)| (*value).to_owned()).collect(), bound)),
        [only] => Err(only.clone()),
        [first, ..] => {
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            Err(SelectorError::new(format!("[{}]", messages.join(", ")), first.offset))
        }
    }
}
