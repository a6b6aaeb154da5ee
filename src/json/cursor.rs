//! The strict reader of JSON's grammar: it steps over values and decodes none.

use super::bytes::{find_end, find_special};
use super::error::{ErrorKind, JsonError};
use super::leap::leap;
use super::range::is_finite;

/// As many objects and arrays may stand inside each other, the outermost included. serde_json's limit.
const MAX_DEPTH: usize = 127;

/// A number with fewer digits than this before its point, and without an exponent, is surely within a double's range.
const SURELY_IN_RANGE: usize = 300;

/// What is wrong at the cursor's position, if anything. The position is not part of it, so that the result of a step
/// fits into a register.
pub(super) type Checked<T = ()> = Result<T, ErrorKind>;

/// A position in a document. Reading behind the end gives a zero byte, which no grammar rule accepts, so the end
/// needs no check of its own on the fast path.
pub(super) struct Cursor<'d> {
    pub(super) document: &'d [u8],
    pub(super) at: usize,
    depth: usize,
    /// Whether a byte from 0x80 was seen: only then the document has to be checked to be UTF-8.
    pub(super) non_ascii: bool,
    /// Whether the document was checked before: what is stepped over is not checked again.
    proved: bool,
}

impl<'d> Cursor<'d> {
    /// A reader at `at`, inside as many objects and arrays as `depth` says.
    pub(super) fn new(document: &'d [u8], at: usize, depth: usize) -> Self {
        Cursor { document, at, depth, non_ascii: false, proved: false }
    }

    /// A reader of a document that was checked before.
    pub(super) fn proved(document: &'d [u8]) -> Self {
        Cursor { proved: true, ..Self::new(document, 0, 0) }
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        byte(self.document, self.at)
    }

    /// How many objects and arrays are open here.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The next byte that is not whitespace; the cursor stands on it.
    #[inline]
    pub(super) fn peek_token(&mut self) -> u8 {
        self.at = skip_whitespace(self.document, self.at);
        self.peek()
    }

    /// The kind of error here: `kind`, or the end of the document where that is the reason.
    #[cold]
    pub(super) fn fault(&self, kind: ErrorKind) -> ErrorKind {
        if self.at >= self.document.len() { ErrorKind::UnexpectedEnd } else { kind }
    }

    /// The error that a step ended with.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> JsonError {
        JsonError::new(kind, self.at)
    }

    /// Steps over one whole value that starts here.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Checked {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' | b'[' if self.proved => self.leap(),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_plain(),
        }
    }

    // Out of the way of what is read for the first time.
    #[inline(never)]
    fn leap(&mut self) -> Checked {
        self.at = leap(self.document, self.at).ok_or(ErrorKind::UnexpectedEnd)?;
        Ok(())
    }

    /// Steps over the number, `true`, `false` or `null` that must start here.
    fn skip_plain(&mut self) -> Checked {
        match self.peek() {
            b'-' | b'0'..=b'9' => self.skip_number(),
            b't' => self.skip_literal(b"true"),
            b'f' => self.skip_literal(b"false"),
            b'n' => self.skip_literal(b"null"),
            _ => Err(self.fault(ErrorKind::ExpectedValue)),
        }
    }

    /// Steps over the object or array that starts here. Most bytes of a document pass through this loop, so the
    /// position lives in a local variable, and what is open in an array instead of the stack of calls.
    fn skip_nested(&mut self) -> Checked {
        let document = self.document;
        let room = MAX_DEPTH - self.depth;
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
                    if level >= room {
                        fail!(TooDeep);
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
                    // An unclosed number at the end of the bytes is no matter of the number.
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

    /// Steps into the object that starts here: true when the cursor stands where its first name must start, false
    /// when the object was empty and is behind the cursor.
    #[inline]
    pub(super) fn open_object(&mut self) -> Checked<bool> {
        self.open()?;
        if self.peek_token() == b'}' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    /// Steps into the array that starts here: true when the cursor stands where its first element must start, false
    /// when the array was empty and is behind the cursor.
    #[inline]
    pub(super) fn open_array(&mut self) -> Checked<bool> {
        self.open()?;
        if self.peek_token() == b']' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    /// Steps over a member's name and colon to its value, and gives the name's inner bytes, escapes unread.
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

    /// Behind a member: true when the cursor stands where the next name must start, false behind the object's end.
    #[inline]
    pub(super) fn next_member(&mut self) -> Checked<bool> {
        self.next(b'}', ErrorKind::ExpectedCommaOrBrace)
    }

    /// Behind an element: true when the cursor stands where the next one must start, false behind the array's end.
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
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(ErrorKind::TooDeep));
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

    /// From the first byte that is not plain to the closing quote.
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

    /// The escape in front of the cursor is half of a pair.
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
        // What stands behind the point makes no number too large.
        let mut surely_in_range = self.at - start < SURELY_IN_RANGE;
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

    /// The number in front of the cursor must be within the range of a double.
    #[cold]
    fn expect_in_range(&mut self, start: usize) -> Checked {
        if is_finite(&self.document[start..self.at]) {
            return Ok(());
        }
        // Where the bytes end the number may go on, with an exponent that brings it back.
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

    /// Behind the document only whitespace may stand, and what was read from `start` on must be UTF-8.
    pub(super) fn expect_end(&mut self, start: usize) -> Result<(), JsonError> {
        self.peek_token();
        if self.at < self.document.len() {
            return Err(self.error(ErrorKind::TrailingCharacters));
        }
        self.expect_utf8(start)
    }

    /// What was read from `start` on must be UTF-8. Outside of strings the grammar admits ASCII only, so this is
    /// about strings.
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

/// What is wrong with a byte where an object has to start.
#[cold]
pub(super) fn no_object(byte: u8) -> ErrorKind {
    match byte {
        b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => ErrorKind::NotAnObject,
        _ => ErrorKind::ExpectedValue,
    }
}
