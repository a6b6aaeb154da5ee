//! A list page that arrives in chunks: each item is handed out as soon as its last byte is there.
//!
//! How the page is cut changes nothing. Items that lie in one chunk are read where they are; one that is cut is
//! gathered first. What stands around the items is gathered too (it is small) and checked as the document that it is
//! without them.

use super::Path;
use super::bytes::find_special;
use super::cursor::{Cursor, is_whitespace, no_object};
use super::error::{ErrorKind, JsonError};
use super::fields::FieldSet;
use super::identity::{Identity, identify};
use super::path::key_is;
use super::scalar::Scalar;
use super::scan::{Scanned, read_slots, scan_object_at};

/// An item stands inside the list and its array.
const ITEM_DEPTH: usize = 2;

/// What a list page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListHead {
    /// `kind`, such as `PodList`; `Status` where the server answered with an error.
    pub kind: Option<String>,
    /// `metadata.resourceVersion`.
    pub version: Option<String>,
    /// `metadata.continue`: there are more pages.
    pub continue_token: Option<String>,
    /// `metadata.remainingItemCount`: how many items the further pages hold, where the server knows.
    pub remaining: Option<u64>,
    /// Whether there was an array of items; false where `items` is null or absent.
    pub items_seen: bool,
}

/// An item that is no JSON, of which only the names are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenItem {
    /// Whose it is, by the look of it.
    pub identity: Identity,
    /// What is wrong with it; the offset is that in the page.
    pub error: JsonError,
}

/// Reads a list page, chunk by chunk.
#[derive(Debug)]
pub struct ListScanner {
    state: State,
    /// How many bytes of the page came before the chunk at hand.
    before: usize,
    /// The page without its items.
    head: Vec<u8>,
    outline: Outline,
    /// Where in the head the items stood, and how many bytes they had.
    items: Option<(usize, usize)>,
    /// The first bytes of an item that is not whole yet.
    partial: Vec<u8>,
    nesting: Nesting,
    /// The length of the last item.
    usual: usize,
    /// Where items that cannot be read are set aside, if they are.
    broken: Option<Vec<BrokenItem>>,
    failed: Option<JsonError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Outside of the items.
    Head,
    /// Behind the bracket that opens the items.
    FirstItem,
    /// Behind a comma.
    NextItem,
    /// Inside of an item that began in an earlier chunk.
    PartialItem,
    /// Behind an item.
    BehindItem,
}

impl Default for ListScanner {
    fn default() -> Self {
        ListScanner::new()
    }
}

impl ListScanner {
    /// A scanner at the start of a page.
    pub fn new() -> Self {
        ListScanner {
            state: State::Head,
            before: 0,
            head: Vec::new(),
            outline: Outline::default(),
            items: None,
            partial: Vec::new(),
            nesting: Nesting::default(),
            usual: 0,
            broken: None,
            failed: None,
        }
    }

    /// A scanner that sets aside items which cannot be read, as long as it can be told where they end and whose they are, and reads on
    /// behind them.
    pub fn tolerant() -> Self {
        ListScanner { broken: Some(Vec::new()), ..ListScanner::new() }
    }

    /// The items that were set aside since the last call.
    pub fn take_broken(&mut self) -> Vec<BrokenItem> {
        self.broken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Bytes that were gathered of what is not whole yet. Reading it takes as many again, when it is.
    pub fn gathered(&self) -> usize {
        self.partial.len() + self.head.len()
    }

    /// Takes the next bytes and hands out the items that are whole with them, in their order. Behind an error nothing
    /// more is read; what was handed out before it was valid by itself, but the page is not.
    pub fn push(&mut self, chunk: &[u8], fields: &FieldSet, item: &mut dyn FnMut(Scanned)) -> Result<(), JsonError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = self.advance(chunk, fields, item);
        self.before += chunk.len();
        self.failed = result.err();
        result
    }

    /// Ends the page: it must be whole, and all of it strict JSON.
    pub fn finish(self) -> Result<ListHead, JsonError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.state {
            State::Head => self.read_head(),
            // What is missing, or what is wrong, the item itself tells.
            State::PartialItem => {
                let start = self.before - self.partial.len();
                let error = scan_object_at(&self.partial, 0, ITEM_DEPTH, &FieldSet::bare()).err();
                Err(error.map_or(self.unexpected_end(), |error| JsonError::new(error.kind, start + error.offset)))
            }
            State::FirstItem | State::NextItem | State::BehindItem => Err(self.unexpected_end()),
        }
    }

    fn unexpected_end(&self) -> JsonError {
        JsonError::new(ErrorKind::UnexpectedEnd, self.before)
    }

    fn advance(&mut self, chunk: &[u8], fields: &FieldSet, item: &mut dyn FnMut(Scanned)) -> Result<(), JsonError> {
        let mut at = 0;
        while at < chunk.len() {
            match self.state {
                State::Head => at = self.gather_head(chunk, at)?,
                State::PartialItem => at = self.gather_item(chunk, at, fields, item)?,
                _ if is_whitespace(chunk[at]) => at += 1,
                State::BehindItem => {
                    match chunk[at] {
                        b',' => self.state = State::NextItem,
                        b']' => self.close_items(at),
                        _ => {
                            return Err(JsonError::new(ErrorKind::ExpectedCommaOrBracket, self.before + at));
                        }
                    }
                    at += 1;
                }
                State::FirstItem if chunk[at] == b']' => {
                    self.close_items(at);
                    at += 1;
                }
                // Items of a resource are of a size: where the rest of the chunk is shorter than the last one, it is
                // gathered without a first attempt.
                State::FirstItem | State::NextItem if chunk[at] == b'{' && chunk.len() - at < self.usual => {
                    self.state = State::PartialItem;
                }
                State::FirstItem | State::NextItem => match scan_object_at(chunk, at, ITEM_DEPTH, fields) {
                    Ok((scanned, end)) => {
                        item(scanned);
                        self.usual = end - at;
                        self.state = State::BehindItem;
                        at = end;
                    }
                    Err(error) if error.kind == ErrorKind::UnexpectedEnd => self.state = State::PartialItem,
                    // Its end is looked for by its brackets.
                    Err(_) if self.broken.is_some() && chunk[at] == b'{' => self.state = State::PartialItem,
                    Err(error) => {
                        return Err(JsonError::new(error.kind, self.before + error.offset));
                    }
                },
            }
        }
        Ok(())
    }

    /// Takes bytes of an item up to its end, or the chunk's, and hands it out when it is whole.
    fn gather_item(&mut self, chunk: &[u8], at: usize, fields: &FieldSet, item: &mut dyn FnMut(Scanned)) -> Result<usize, JsonError> {
        let (end, whole) = self.nesting.follow(chunk, at);
        let start = self.before + at - self.partial.len();
        let more = if self.partial.is_empty() { self.usual.max(end - at) } else { end - at };
        self.partial.try_reserve(more).map_err(|_| JsonError::new(ErrorKind::OutOfMemory, self.before + at))?;
        self.partial.extend_from_slice(&chunk[at..end]);
        if whole {
            match scan_object_at(&self.partial, 0, ITEM_DEPTH, fields) {
                Ok((scanned, _)) => item(scanned),
                Err(error) => self.set_aside(JsonError::new(error.kind, start + error.offset))?,
            }
            self.usual = self.partial.len();
            self.partial.clear();
            self.nesting = Nesting::default();
            self.state = State::BehindItem;
        }
        Ok(end)
    }

    /// Keeps the names of the item at hand, if that is wanted and it has any.
    fn set_aside(&mut self, error: JsonError) -> Result<(), JsonError> {
        let broken = self.broken.as_mut().ok_or(error)?;
        let identity = identify(&self.partial, false).filter(|found| !(found.name.is_empty() && found.uid.is_empty()));
        broken.push(BrokenItem { identity: identity.ok_or(error)?, error });
        Ok(())
    }

    /// Takes bytes around the items, up to the bracket that opens them or the chunk's end.
    fn gather_head(&mut self, chunk: &[u8], at: usize) -> Result<usize, JsonError> {
        for (offset, &byte) in chunk[at..].iter().enumerate() {
            let position = self.before + at + offset;
            self.head.try_reserve(1).map_err(|_| JsonError::new(ErrorKind::OutOfMemory, position))?;
            self.head.push(byte);
            match self.outline.step(byte, &self.head) {
                Step::On => {}
                Step::NoDocument => {
                    return Err(JsonError::new(no_object(byte), position));
                }
                Step::Trailing => {
                    return Err(JsonError::new(ErrorKind::TrailingCharacters, position));
                }
                Step::NoArray => return Err(JsonError::new(ErrorKind::ItemsNotAnArray, position)),
                Step::ItemsKey if self.items.is_some() => {
                    return Err(JsonError::new(ErrorKind::DuplicateItems, position));
                }
                Step::ItemsKey => {}
                Step::Items => {
                    // Before an item is handed out, what stands before the items must be right.
                    self.check_head(&[self.head.as_slice(), b"]}"].concat())?;
                    self.items = Some((self.head.len(), position + 1));
                    self.state = State::FirstItem;
                    return Ok(at + offset + 1);
                }
            }
        }
        Ok(chunk.len())
    }

    fn close_items(&mut self, at: usize) {
        if let Some((_, length)) = &mut self.items {
            *length = self.before + at - *length;
        }
        self.head.push(b']');
        self.outline.depth -= 1;
        self.state = State::Head;
    }

    fn check_head(&self, head: &[u8]) -> Result<(), JsonError> {
        let mut cursor = Cursor::new(head, 0, 0);
        cursor.peek_token();
        let read = cursor.skip_value().map_err(|kind| cursor.error(kind));
        read.and_then(|()| cursor.expect_end(0)).map_err(|error| {
            let skipped = match self.items {
                Some((place, length)) if error.offset >= place => length,
                _ => 0,
            };
            JsonError::new(error.kind, error.offset + skipped)
        })
    }

    fn read_head(&self) -> Result<ListHead, JsonError> {
        self.check_head(&self.head)?;
        let mut fields = FieldSet::bare();
        for path in ["kind", "metadata.resourceVersion", "metadata.continue", "metadata.remainingItemCount"] {
            if let Ok(path) = Path::parse(path) {
                fields.slot(&path);
            }
        }
        let values = read_slots(&self.head, &fields);
        let text = |slot: usize| match values.get(slot) {
            Some(Scalar::Text(text)) if !text.is_empty() => Some(text.to_string()),
            _ => None,
        };
        Ok(ListHead {
            kind: text(0),
            version: text(1),
            continue_token: text(2),
            remaining: values.get(3).and_then(|count| count.text().parse().ok()),
            items_seen: self.items.is_some(),
        })
    }
}

/// Follows the bytes around the items, just closely enough to know where the items start. That the bytes are JSON is
/// checked elsewhere; of bytes that are not, it may say anything.
#[derive(Debug, Default)]
struct Outline {
    started: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where in the head the string at hand started.
    string_start: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Elsewhere,
    /// Where a name of the list's own members may start.
    Key,
    /// Behind the name `items`.
    ItemsKey,
    /// Behind its colon.
    ItemsValue,
}

enum Step {
    On,
    /// The page does not start as an object.
    NoDocument,
    /// The page goes on behind its end.
    Trailing,
    /// The name `items` has just ended.
    ItemsKey,
    /// The array of items has just opened.
    Items,
    /// The items are neither an array nor null.
    NoArray,
}

impl Outline {
    /// Takes a byte, which is the head's last.
    fn step(&mut self, byte: u8, head: &[u8]) -> Step {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    if self.place == Place::Key {
                        self.place = Place::Elsewhere;
                        if key_is(&head[self.string_start..head.len() - 1], "items") {
                            self.place = Place::ItemsKey;
                            return Step::ItemsKey;
                        }
                    }
                }
                _ => {}
            }
            return Step::On;
        }
        if is_whitespace(byte) {
            return Step::On;
        }
        if self.depth == 0 {
            return match byte {
                _ if self.started => Step::Trailing,
                b'{' => {
                    self.started = true;
                    self.depth = 1;
                    self.place = Place::Key;
                    Step::On
                }
                _ => Step::NoDocument,
            };
        }
        if self.place == Place::ItemsValue {
            self.place = Place::Elsewhere;
            match byte {
                b'[' => {
                    self.depth += 1;
                    return Step::Items;
                }
                b'n' => {}
                _ => return Step::NoArray,
            }
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.string_start = head.len();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            b',' if self.depth == 1 => self.place = Place::Key,
            b':' if self.place == Place::ItemsKey => self.place = Place::ItemsValue,
            _ => {}
        }
        Step::On
    }
}

/// Follows an object to its end. It is read strictly when it is whole; should it be no JSON, that says so at a byte no
/// further than the end that was found here.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// The position behind the item, and true; or the chunk's length, and false.
    fn follow(&mut self, chunk: &[u8], mut at: usize) -> (usize, bool) {
        while at < chunk.len() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                at = find_special(chunk, at);
                match chunk.get(at) {
                    Some(b'"') => self.in_string = false,
                    Some(b'\\') => self.escaped = true,
                    _ => {}
                }
            } else {
                match chunk[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
            }
            at += 1;
        }
        (chunk.len(), false)
    }
}
