//! The strict reader of JSON's grammar: it steps over values and decodes none.

use super::bytes::find_special;
use super::error::{ErrorKind, JsonError};

/// As many objects and arrays may stand inside each other, the outermost included. serde_json's limit.
const MAX_DEPTH: u8 = 127;

/// A number shorter than this without an exponent is surely within a double's range.
const SURELY_IN_RANGE: usize = 300;

/// A position in a document. Reading behind the end gives a zero byte, which no grammar rule accepts, so the end
/// needs no check of its own on the fast path.
pub(super) struct Cursor<'d> {
    pub(super) document: &'d [u8],
    pub(super) at: usize,
    depth: u8,
    /// Whether a byte from 0x80 was seen: only then the document has to be checked to be UTF-8.
    non_ascii: bool,
}

impl<'d> Cursor<'d> {
    /// A reader at `at`, inside as many objects and arrays as `depth` says.
    pub(super) fn new(document: &'d [u8], at: usize, depth: u8) -> Self {
        Cursor { document, at, depth, non_ascii: false }
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.document.get(self.at).copied().unwrap_or(0)
    }

    /// The next byte that is not whitespace; the cursor stands on it.
    #[inline]
    pub(super) fn peek_token(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if byte > b' ' || !is_whitespace(byte) {
                return byte;
            }
            self.at += 1;
        }
    }

    /// The error `kind` here, or the end of the document where that is the reason.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> JsonError {
        let kind = if self.at >= self.document.len() { ErrorKind::UnexpectedEnd } else { kind };
        JsonError::new(kind, self.at)
    }

    /// Steps over one whole value that starts here.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' => self.skip_object(),
            b'[' => self.skip_array(),
            b'-' | b'0'..=b'9' => self.skip_number(),
            b't' => self.skip_literal(b"true"),
            b'f' => self.skip_literal(b"false"),
            b'n' => self.skip_literal(b"null"),
            _ => Err(self.error(ErrorKind::ExpectedValue)),
        }
    }

    fn skip_object(&mut self) -> Result<(), JsonError> {
        if self.open_object()? {
            loop {
                self.skip_key()?;
                self.skip_value()?;
                if !self.next_member()? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn skip_array(&mut self) -> Result<(), JsonError> {
        if self.open_array()? {
            loop {
                self.skip_value()?;
                if !self.next_element()? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Steps into the object that starts here: true when the cursor stands where its first name must start, false
    /// when the object was empty and is behind the cursor.
    #[inline]
    pub(super) fn open_object(&mut self) -> Result<bool, JsonError> {
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
    pub(super) fn open_array(&mut self) -> Result<bool, JsonError> {
        self.open()?;
        if self.peek_token() == b']' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    /// Steps over a member's name and colon to its value.
    #[inline]
    pub(super) fn skip_key(&mut self) -> Result<(), JsonError> {
        if self.peek() != b'"' {
            return Err(self.error(ErrorKind::ExpectedKey));
        }
        self.skip_string()?;
        self.colon()
    }

    /// Steps over a member's name and colon to its value, and gives the name's inner bytes, escapes unread.
    #[inline]
    pub(super) fn read_key(&mut self) -> Result<&'d [u8], JsonError> {
        if self.peek() != b'"' {
            return Err(self.error(ErrorKind::ExpectedKey));
        }
        let start = self.at + 1;
        self.skip_string()?;
        let key = &self.document[start..self.at - 1];
        self.colon()?;
        Ok(key)
    }

    #[inline]
    fn colon(&mut self) -> Result<(), JsonError> {
        if self.peek_token() != b':' {
            return Err(self.error(ErrorKind::ExpectedColon));
        }
        self.at += 1;
        self.peek_token();
        Ok(())
    }

    /// Behind a member: true when the cursor stands where the next name must start, false behind the object's end.
    #[inline]
    pub(super) fn next_member(&mut self) -> Result<bool, JsonError> {
        match self.peek_token() {
            b',' => {
                self.at += 1;
                self.peek_token();
                Ok(true)
            }
            b'}' => {
                self.close();
                Ok(false)
            }
            _ => Err(self.error(ErrorKind::ExpectedCommaOrBrace)),
        }
    }

    /// Behind an element: true when the cursor stands where the next one must start, false behind the array's end.
    #[inline]
    pub(super) fn next_element(&mut self) -> Result<bool, JsonError> {
        match self.peek_token() {
            b',' => {
                self.at += 1;
                self.peek_token();
                Ok(true)
            }
            b']' => {
                self.close();
                Ok(false)
            }
            _ => Err(self.error(ErrorKind::ExpectedCommaOrBracket)),
        }
    }

    #[inline]
    fn open(&mut self) -> Result<(), JsonError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(ErrorKind::TooDeep));
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
    fn skip_string(&mut self) -> Result<(), JsonError> {
        self.at = find_special(self.document, self.at + 1);
        if self.peek() != b'"' {
            self.skip_rest_of_string()?;
        }
        self.at += 1;
        Ok(())
    }

    /// From the first byte that is not plain to the closing quote.
    fn skip_rest_of_string(&mut self) -> Result<(), JsonError> {
        loop {
            match self.peek() {
                b'"' => return Ok(()),
                b'\\' => self.skip_escape()?,
                0x80.. => {
                    self.non_ascii = true;
                    self.at += 1;
                    while self.peek() >= 0x80 {
                        self.at += 1;
                    }
                }
                _ => return Err(self.error(ErrorKind::ControlCharacter)),
            }
            self.at = find_special(self.document, self.at);
        }
    }

    fn skip_escape(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(())
            }
            b'u' => match self.skip_unicode_escape()? {
                0xdc00..=0xdfff => Err(self.error_at(ErrorKind::LoneSurrogate, 6)),
                0xd800..=0xdbff => {
                    for expected in *b"\\u" {
                        if self.peek() != expected {
                            return Err(self.error(ErrorKind::LoneSurrogate));
                        }
                        self.at += 1;
                    }
                    self.at -= 1;
                    match self.skip_unicode_escape()? {
                        0xdc00..=0xdfff => Ok(()),
                        _ => Err(self.error_at(ErrorKind::LoneSurrogate, 6)),
                    }
                }
                _ => Ok(()),
            },
            _ => Err(self.error(ErrorKind::InvalidEscape)),
        }
    }

    /// Steps over `uXXXX`.
    fn skip_unicode_escape(&mut self) -> Result<u32, JsonError> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            match (self.peek() as char).to_digit(16) {
                Some(digit) => unit = unit * 16 + digit,
                None => return Err(self.error(ErrorKind::InvalidEscape)),
            }
            self.at += 1;
        }
        Ok(unit)
    }

    #[cold]
    fn error_at(&self, kind: ErrorKind, back: usize) -> JsonError {
        JsonError::new(kind, self.at - back)
    }

    fn skip_number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.skip_digits()?;
        }
        let mut surely_in_range = self.at - start < SURELY_IN_RANGE;
        if matches!(self.peek(), b'e' | b'E') {
            surely_in_range = false;
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        if self.at >= self.document.len() && self.depth > 0 {
            // The rest may come with the next chunk, and an exponent with it.
            return Err(self.error(ErrorKind::InvalidNumber));
        }
        if !surely_in_range && !is_in_range(&self.document[start..self.at]) {
            return Err(JsonError::new(ErrorKind::NumberOutOfRange, start));
        }
        Ok(())
    }

    #[inline]
    fn skip_digits(&mut self) -> Result<(), JsonError> {
        if !self.peek().is_ascii_digit() {
            return Err(self.error(ErrorKind::InvalidNumber));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn skip_literal(&mut self, literal: &[u8]) -> Result<(), JsonError> {
        for &expected in literal {
            if self.peek() != expected {
                return Err(self.error(ErrorKind::ExpectedValue));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Behind the document only whitespace may stand.
    pub(super) fn expect_end(&mut self) -> Result<(), JsonError> {
        self.peek_token();
        if self.at < self.document.len() {
            return Err(self.error(ErrorKind::TrailingCharacters));
        }
        Ok(())
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

/// The limits of a double are told by the oracle itself: these numbers are rare, and its rounding at the very edge is
/// its own.
#[cold]
fn is_in_range(number: &[u8]) -> bool {
    serde_json::from_slice::<f64>(number).is_ok()
}
