//! The strict reader of JSON's grammar. It steps over values without decoding them.

use super::bytes::{find_end, find_special};
use super::error::{ErrorKind, JsonError};
use super::leap::leap;
use super::range::is_finite;

/// Objects and arrays that may be nested, the outermost included. This is serde_json's limit.
pub(super) const MAX_DEPTH: usize = 127;

/// A number with fewer digits than this before its point, and no exponent, is surely within a double's range.
const MAX_SURE_DIGITS: usize = 300;

/// What is wrong at the cursor's position, if anything. It has no position, so that the result of a step fits into a register.
pub(super) type Checked<T = ()> = Result<T, ErrorKind>;

/// A position in a document. Reading past the end gives a zero byte. No grammar rule accepts that byte, so the fast path needs no check for
/// the end.
pub(super) struct Cursor<'d> {
    pub(super) document: &'d [u8],
    pub(super) at: usize,
    depth: usize,
    /// Whether a byte from 0x80 was seen. Only then the document is checked to be UTF-8.
    pub(super) non_ascii: bool,
    /// Whether something is nested as deep as it may be. One level deeper the same text would be refused.
    pub(super) is_deepest: bool,
    /// Whether the document was checked before. Skipped values are then not checked again.
    proved: bool,
}

impl<'d> Cursor<'d> {
    /// A reader at `at`, inside `depth` objects and arrays.
    pub(super) fn new(document: &'d [u8], at: usize, depth: usize) -> Self {
        Cursor { document, at, depth, non_ascii: false, is_deepest: false, proved: false }
    }

    /// A reader at `at` of a document that was checked before.
    pub(super) fn proved(document: &'d [u8], at: usize) -> Self {
        Cursor { proved: true, ..Self::new(document, at, 0) }
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        byte(self.document, self.at)
    }

    /// How many objects and arrays are open here.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Skips whitespace and returns the next byte, which stays unread.
    #[inline]
    pub(super) fn peek_token(&mut self) -> u8 {
        self.at = skip_whitespace(self.document, self.at);
        self.peek()
    }

    /// `kind`, or `UnexpectedEnd` if the document ends here.
    #[cold]
    pub(super) fn fault(&self, kind: ErrorKind) -> ErrorKind {
        if self.at >= self.document.len() { ErrorKind::UnexpectedEnd } else { kind }
    }

    /// The error at the cursor's position.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> JsonError {
        JsonError::new(kind, self.at)
    }

    /// Steps over the value at the cursor.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Checked {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' | b'[' if self.proved => self.leap(),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_plain(),
        }
    }

    // Not inlined, to keep the path of first reads short.
    #[inline(never)]
    fn leap(&mut self) -> Checked {
        self.at = leap(self.document, self.at).ok_or(ErrorKind::UnexpectedEnd)?;
        Ok(())
    }

    /// Steps over the number, `true`, `false` or `null` that must start at the cursor.
    fn skip_plain(&mut self) -> Checked {
        match self.peek() {
            b'-' | b'0'..=b'9' => self.skip_number(),
            b't' => self.skip_literal(b"true"),
            b'f' => self.skip_literal(b"false"),
            b'n' => self.skip_literal(b"null"),
            _ => Err(self.fault(ErrorKind::ExpectedValue)),
        }
    }

    /// Steps over the object or array at the cursor. Most bytes of a document pass through this loop. The position is therefore a local
    /// variable, and open objects and arrays are in an array instead of the call stack.
    fn skip_nested(&mut self) -> Checked {
        let document = self.document;
        let room = MAX_DEPTH - self.depth;
        let sure = room.saturating_sub(1);
        let mut in_object = [false; MAX_DEPTH + 1];
        let mut level = 0;
        let mut at = self.at;
        macro_rules! fail {
            ($kind:ident) => {{
                self.at = at;
                return Err(self.fault(ErrorKind::$kind));
            }};
        }
        macro_rules! string {
            () => {{
                at = find_special(document, at + 1);
                if byte(document, at) != b'"' {
                    self.at = at;
                    self.skip_rest_of_string()?;
                    at = self.at;
                }
                at += 1;
            }};
        }
        macro_rules! key {
            () => {{
                if byte(document, at) != b'"' {
                    fail!(ExpectedKey);
                }
                string!();
                at = skip_whitespace(document, at);
                if byte(document, at) != b':' {
                    fail!(ExpectedColon);
                }
                at = skip_whitespace(document, at + 1);
            }};
        }
        loop {
            match byte(document, at) {
                b'"' => string!(),
                open @ (b'{' | b'[') => {
                    if level >= sure {
                        if level >= room {
                            fail!(TooDeep);
                        }
                        self.is_deepest = true;
                    }
                    level += 1;
                    in_object[level & MAX_DEPTH] = open == b'{';
                    at = skip_whitespace(document, at + 1);
                    if byte(document, at) == open + 2 {
                        at += 1;
                        level -= 1;
                    } else {
                        if open == b'{' {
                            key!();
                        }
                        continue;
                    }
                }
                _ => {
                    self.at = at;
                    // A number that the end of the bytes cuts is reported as an unexpected end.
                    self.skip_plain()?;
                    at = self.at;
                }
            }
            loop {
                if level == 0 {
                    self.at = at;
                    return Ok(());
                }
                at = skip_whitespace(document, at);
                let object = in_object[level & MAX_DEPTH];
                match byte(document, at) {
                    b',' => {
                        at = skip_whitespace(document, at + 1);
                        if object {
                            key!();
                        }
                        break;
                    }
                    b'}' if object => {}
                    b']' if !object => {}
                    _ if object => fail!(ExpectedCommaOrBrace),
                    _ => fail!(ExpectedCommaOrBracket),
                }
                at += 1;
                level -= 1;
            }
        }
    }

    /// Enters the object at the cursor. True if the cursor is at its first name; false if the object was empty and is passed.
    #[inline]
    pub(super) fn open_object(&mut self) -> Checked<bool> {
        self.open()?;
        if self.peek_token() == b'}' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    /// Enters the array at the cursor. True if the cursor is at its first element; false if the array was empty and is passed.
    #[inline]
    pub(super) fn open_array(&mut self) -> Checked<bool> {
        self.open()?;
        if self.peek_token() == b']' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    /// Steps over a member's name and colon to its value. Returns the name's inner bytes with their escapes.
    #[inline]
    pub(super) fn read_key(&mut self) -> Checked<&'d [u8]> {
        if self.peek() != b'"' {
            return Err(self.fault(ErrorKind::ExpectedKey));
        }
        let start = self.at + 1;
        self.skip_string()?;
        let key = &self.document[start..self.at - 1];
        if self.peek_token() != b':' {
            return Err(self.fault(ErrorKind::ExpectedColon));
        }
        self.at += 1;
        self.peek_token();
        Ok(key)
    }

    /// After a member: true if the cursor is at the next name, false if the object ended.
    #[inline]
    pub(super) fn next_member(&mut self) -> Checked<bool> {
        self.next(b'}', ErrorKind::ExpectedCommaOrBrace)
    }

    /// After an element: true if the cursor is at the next one, false if the array ended.
    #[inline]
    pub(super) fn next_element(&mut self) -> Checked<bool> {
        self.next(b']', ErrorKind::ExpectedCommaOrBracket)
    }

    #[inline]
    fn next(&mut self, end: u8, otherwise: ErrorKind) -> Checked<bool> {
        let byte = self.peek_token();
        if byte == b',' {
            self.at += 1;
            self.peek_token();
            Ok(true)
        } else if byte == end {
            self.close();
            Ok(false)
        } else {
            Err(self.fault(otherwise))
        }
    }

    #[inline]
    fn open(&mut self) -> Checked {
        if self.depth >= MAX_DEPTH - 1 {
            if self.depth >= MAX_DEPTH {
                return Err(self.fault(ErrorKind::TooDeep));
            }
            self.is_deepest = true;
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    #[inline]
    fn skip_string(&mut self) -> Checked {
        self.at = find_special(self.document, self.at + 1);
        if self.peek() != b'"' {
            self.skip_rest_of_string()?;
        }
        self.at += 1;
        Ok(())
    }

    /// Continues from the first byte that is not plain to the closing quote.
    fn skip_rest_of_string(&mut self) -> Checked {
        loop {
            match self.peek() {
                b'"' => return Ok(()),
                b'\\' => self.skip_escape()?,
                0x80.. => {
                    self.non_ascii = true;
                    self.at = find_end(self.document, self.at + 1);
                    continue;
                }
                _ => return Err(self.fault(ErrorKind::ControlCharacter)),
            }
            self.at = find_special(self.document, self.at);
        }
    }

    fn skip_escape(&mut self) -> Checked {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(())
            }
            b'u' => match self.skip_unicode_escape()? {
                0xdc00..=0xdfff => Err(self.lone_surrogate()),
                0xd800..=0xdbff => {
                    if self.peek() != b'\\' {
                        return Err(self.fault(ErrorKind::LoneSurrogate));
                    }
                    self.at += 1;
                    if self.peek() != b'u' {
                        return Err(self.fault(ErrorKind::LoneSurrogate));
                    }
                    match self.skip_unicode_escape()? {
                        0xdc00..=0xdfff => Ok(()),
                        _ => Err(self.lone_surrogate()),
                    }
                }
                _ => Ok(()),
            },
            _ => Err(self.fault(ErrorKind::InvalidEscape)),
        }
    }

    /// Steps over `uXXXX`.
    fn skip_unicode_escape(&mut self) -> Checked<u32> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            match (self.peek() as char).to_digit(16) {
                Some(digit) => unit = unit * 16 + digit,
                None => return Err(self.fault(ErrorKind::InvalidEscape)),
            }
            self.at += 1;
        }
        Ok(unit)
    }

    /// The error for an escape before the cursor that is half of a surrogate pair.
    #[cold]
    fn lone_surrogate(&mut self) -> ErrorKind {
        self.at -= "\\uXXXX".len();
        ErrorKind::LoneSurrogate
    }

    fn skip_number(&mut self) -> Checked {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.skip_digits()?,
        }
        // Only digits before the point make a number large.
        let mut surely_in_range = self.at - start < MAX_SURE_DIGITS;
        if self.peek() == b'.' {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            surely_in_range = false;
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        if !surely_in_range {
            self.expect_in_range(start)?;
        }
        Ok(())
    }

    /// The number before the cursor must be within the range of a double.
    #[cold]
    fn expect_in_range(&mut self, start: usize) -> Checked {
        if is_finite(&self.document[start..self.at]) {
            return Ok(());
        }
        // At the end of the bytes the number may be cut. Its exponent could still make it smaller.
        if start > 0 && self.at >= self.document.len() {
            return Err(ErrorKind::UnexpectedEnd);
        }
        self.at = start;
        Err(ErrorKind::NumberOutOfRange)
    }

    #[inline]
    fn skip_digits(&mut self) -> Checked {
        if !self.peek().is_ascii_digit() {
            return Err(self.fault(ErrorKind::InvalidNumber));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn skip_literal(&mut self, literal: &[u8]) -> Checked {
        for &expected in literal {
            if self.peek() != expected {
                return Err(self.fault(ErrorKind::ExpectedValue));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Only whitespace may follow the document. What was read from `start` on must be UTF-8.
    pub(super) fn expect_end(&mut self, start: usize) -> Result<(), JsonError> {
        self.peek_token();
        if self.at < self.document.len() {
            return Err(self.error(ErrorKind::TrailingCharacters));
        }
        self.expect_utf8(start)
    }

    /// What was read from `start` on must be UTF-8. Only strings can break this: outside of them the grammar allows nothing but ASCII.
    pub(super) fn expect_utf8(&self, start: usize) -> Result<(), JsonError> {
        if self.non_ascii
            && let Err(error) = std::str::from_utf8(&self.document[start..self.at])
        {
            return Err(JsonError::new(ErrorKind::InvalidUtf8, start + error.valid_up_to()));
        }
        Ok(())
    }
}

#[inline]
fn byte(document: &[u8], at: usize) -> u8 {
    document.get(at).copied().unwrap_or(0)
}

#[inline]
fn skip_whitespace(document: &[u8], mut at: usize) -> usize {
    loop {
        let byte = byte(document, at);
        if byte > b' ' || !is_whitespace(byte) {
            return at;
        }
        at += 1;
    }
}

#[inline]
pub(super) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The error for a byte that cannot start an object.
#[cold]
pub(super) fn no_object(byte: u8) -> ErrorKind {
    match byte {
        b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => ErrorKind::NotAnObject,
        _ => ErrorKind::ExpectedValue,
    }
}
