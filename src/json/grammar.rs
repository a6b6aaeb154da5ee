//! The notation of paths: reading them, and their canonical form.

use std::fmt::{self, Write as _};
use std::iter::Peekable;
use std::str::CharIndices;

use super::cursor::Cursor;
use super::segment::{Filter, Literal, PathError, Segment};

/// Reads a path's segments.
pub(super) fn parse(text: &str) -> Result<Vec<Segment>, PathError> {
    let mut parser = Parser { chars: text.char_indices().peekable(), end: text.len() };
    parser.path().map_err(|(message, position)| PathError { message, position, path: text.to_owned() })
}

/// What is wrong, and at which byte.
type Fault = (&'static str, usize);

struct Parser<'t> {
    chars: Peekable<CharIndices<'t>>,
    end: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, character)| *character)
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.end, |(position, _)| *position)
    }

    fn fault<T>(&mut self, message: &'static str) -> Result<T, Fault> {
        Err((message, self.position()))
    }

    fn take(&mut self, expected: char) -> bool {
        self.chars.next_if(|(_, character)| *character == expected).is_some()
    }

    fn expect(&mut self, expected: char, message: &'static str) -> Result<(), Fault> {
        if self.take(expected) { Ok(()) } else { self.fault(message) }
    }

    fn skip_spaces(&mut self) {
        while self.take(' ') {}
    }

    fn path(&mut self) -> Result<Vec<Segment>, Fault> {
        let mut segments = Vec::new();
        if !self.take('$') && !matches!(self.peek(), None | Some('.' | '[')) {
            segments.push(Segment::Key(self.name()?));
        }
        self.segments(&mut segments, true)?;
        if self.peek().is_some() {
            return self.fault("expected `.` or `[`");
        }
        if segments.is_empty() {
            return self.fault("expected a name");
        }
        Ok(segments)
    }

    /// Reads all `.name` and `[…]` that follow.
    fn segments(&mut self, segments: &mut Vec<Segment>, filters: bool) -> Result<(), Fault> {
        loop {
            if self.take('.') {
                segments.push(Segment::Key(self.name()?));
            } else if self.take('[') {
                segments.push(self.bracket(filters)?);
            } else {
                return Ok(());
            }
        }
    }

    /// A plain name. It ends at the next character with a meaning in paths.
    fn name(&mut self) -> Result<Box<str>, Fault> {
        let mut name = String::new();
        while let Some(character) = self.peek() {
            match character {
                '*' => return self.fault("a path names one value and has no wildcards"),
                '\\' => {
                    self.chars.next();
                    match self.chars.next() {
                        Some((_, literal)) => name.push(literal),
                        None => return self.fault("expected a character behind the backslash"),
                    }
                    continue;
                }
                '.' | '[' | ']' | '(' | ')' | '{' | '}' | '\'' | '"' | '?' | '@' | '=' | ',' | '$' => break,
                _ if character.is_whitespace() || character.is_control() => break,
                _ => name.push(character),
            }
            self.chars.next();
        }
        if name.is_empty() { self.fault("expected a name") } else { Ok(name.into()) }
    }

    /// The content of a bracket, up to and including `]`.
    fn bracket(&mut self, filters: bool) -> Result<Segment, Fault> {
        let segment = match self.peek() {
            Some('\'' | '"') => Segment::Key(self.quoted()?),
            Some('0'..='9') => Segment::Index(self.index()?),
            Some('?') if filters => Segment::Filter(self.filter()?),
            Some('?') => return self.fault("a filter inside a filter is not supported"),
            Some('-') => return self.fault("an index counts from 0"),
            Some('*') => return self.fault("a path names one value and has no wildcards"),
            _ => return self.fault("expected a quoted name, an index or a filter"),
        };
        self.expect(']', "expected `]`")?;
        Ok(segment)
    }

    fn quoted(&mut self) -> Result<Box<str>, Fault> {
        let start = self.position();
        let Some((_, quote)) = self.chars.next() else {
            return self.fault("expected a quote");
        };
        let mut name = String::new();
        loop {
            match self.chars.next() {
                Some((_, character)) if character == quote => return Ok(name.into()),
                Some((_, '\\')) => match self.chars.next() {
                    Some((_, literal)) => name.push(literal),
                    None => return Err(("the quote is not closed", start)),
                },
                Some((_, character)) => name.push(character),
                None => return Err(("the quote is not closed", start)),
            }
        }
    }

    fn index(&mut self) -> Result<usize, Fault> {
        let start = self.position();
        let mut index = 0usize;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            self.chars.next();
            index = index.checked_mul(10).and_then(|index| index.checked_add(digit as usize)).ok_or(("the index is too large", start))?;
        }
        Ok(index)
    }

    /// `?(@.type=='Ready')`. The parentheses are optional.
    fn filter(&mut self) -> Result<Filter, Fault> {
        self.expect('?', "expected `?`")?;
        let parenthesis = self.take('(');
        self.skip_spaces();
        self.expect('@', "expected `@`")?;
        let mut path = Vec::new();
        self.segments(&mut path, false)?;
        self.skip_spaces();
        self.expect('=', "expected `==`")?;
        self.expect('=', "expected `==`")?;
        self.skip_spaces();
        let literal = self.literal()?;
        self.skip_spaces();
        if parenthesis {
            self.expect(')', "expected `)`")?;
        }
        Ok(Filter { path: path.into(), literal })
    }

    fn literal(&mut self) -> Result<Literal, Fault> {
        if matches!(self.peek(), Some('\'' | '"')) {
            return self.quoted().map(Literal::Text);
        }
        let start = self.position();
        let mut word = String::new();
        while let Some((_, character)) = self.chars.next_if(|(_, c)| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')) {
            word.push(character);
        }
        match word.as_str() {
            "true" => Ok(Literal::Bool(true)),
            "false" => Ok(Literal::Bool(false)),
            "null" => Ok(Literal::Null),
            number if is_number(number) => Ok(Literal::Number(word.into())),
            _ => Err(("expected a quoted text, a number, true, false or null", start)),
        }
    }
}

fn is_number(word: &str) -> bool {
    let mut cursor = Cursor::new(word.as_bytes(), 0, 0);
    matches!(cursor.peek(), b'-' | b'0'..=b'9') && cursor.skip_value().is_ok() && cursor.at == word.len()
}

/// Writes segments in canonical form. `first` is true if nothing precedes them.
pub(super) fn write_segments(f: &mut fmt::Formatter<'_>, segments: &[Segment], mut first: bool) -> fmt::Result {
    for segment in segments {
        match segment {
            Segment::Key(name) if is_plain(name) => {
                if !first {
                    f.write_char('.')?;
                }
                f.write_str(name)?;
            }
            Segment::Key(name) => {
                f.write_char('[')?;
                write_quoted(f, name)?;
                f.write_char(']')?;
            }
            Segment::Index(index) => write!(f, "[{index}]")?,
            Segment::Filter(Filter { path, literal }) => {
                f.write_str("[?(@")?;
                write_segments(f, path, false)?;
                f.write_str("==")?;
                match literal {
                    Literal::Text(text) => write_quoted(f, text)?,
                    Literal::Number(number) => f.write_str(number)?,
                    Literal::Bool(value) => write!(f, "{value}")?,
                    Literal::Null => f.write_str("null")?,
                }
                f.write_str(")]")?;
            }
        }
        first = false;
    }
    Ok(())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('\'')?;
    for character in text.chars() {
        if matches!(character, '\'' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(character)?;
    }
    f.write_char('\'')
}

#[cfg(test)]
mod tests {
    use crate::json::Path;

    #[test]
    fn paths_have_one_canonical_form() {
        for (text, canonical) in [
            ("metadata.name", "metadata.name"),
            ("$.metadata.name", "metadata.name"),
            (".metadata.name", "metadata.name"),
            ("['metadata'][\"name\"]", "metadata.name"),
            ("metadata.labels['app.kubernetes.io/name']", "metadata.labels['app.kubernetes.io/name']"),
            (r"metadata.labels.app\.kubernetes\.io/name", "metadata.labels['app.kubernetes.io/name']"),
            ("a['it\\'s \\\\'].b", "a['it\\'s \\\\'].b"),
            ("spec.containers[0].image", "spec.containers[0].image"),
            ("a['']", "a['']"),
            ("['']", "['']"),
            ("$[0][1]", "[0][1]"),
            ("straße.名", "['straße']['名']"),
            ("c[?(@.type=='Ready')].status", "c[?(@.type=='Ready')].status"),
            ("c[?( @.a.b[0] == \"x\" )]", "c[?(@.a.b[0]=='x')]"),
            ("c[?@.port==80].name", "c[?(@.port==80)].name"),
            ("c[?(@==true)]", "c[?(@==true)]"),
            ("c[?(@.a==null)]", "c[?(@.a==null)]"),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.to_string(), canonical, "{text}");
            assert_eq!(Path::parse(canonical).unwrap(), path, "{text}");
        }
    }

    #[test]
    fn broken_paths_name_the_position() {
        for (text, position, message) in [
            ("", 0, "expected a name"),
            ("$", 1, "expected a name"),
            (".", 1, "expected a name"),
            ("metadata.", 9, "expected a name"),
            ("metadata..name", 9, "expected a name"),
            ("metadata name", 8, "expected `.` or `[`"),
            ("metadata]", 8, "expected `.` or `[`"),
            ("items[*].name", 6, "a path names one value and has no wildcards"),
            ("spec.*", 5, "a path names one value and has no wildcards"),
            ("items[-1]", 6, "an index counts from 0"),
            ("items[x]", 6, "expected a quoted name, an index or a filter"),
            ("items[1", 7, "expected `]`"),
            ("items[99999999999999999999999]", 6, "the index is too large"),
            ("labels['a", 7, "the quote is not closed"),
            ("labels['a\\", 7, "the quote is not closed"),
            ("labels\\", 7, "expected a character behind the backslash"),
            ("c[?(type=='x')]", 4, "expected `@`"),
            ("c[?(@.type='x')]", 11, "expected `==`"),
            ("c[?(@.type!='x')]", 12, "expected `==`"),
            ("c[?(@.type==x)]", 12, "expected a quoted text, a number, true, false or null"),
            ("c[?(@.type==01)]", 12, "expected a quoted text, a number, true, false or null"),
            ("c[?(@.type=='x']", 15, "expected `)`"),
            ("c[?(@[?(@.a==1)]==1)]", 6, "a filter inside a filter is not supported"),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert_eq!((error.message, error.position), (message, position), "{text}");
        }
        let shown = Path::parse("metadata.").unwrap_err().to_string();
        assert_eq!(shown, "expected a name at position 9 of path \"metadata.\"");
    }
}
