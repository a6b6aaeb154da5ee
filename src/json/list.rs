//! A list page that arrives in chunks. Each item is handed out as soon as its last byte is there.
//!
//! How the page is cut changes nothing. An item that lies in one chunk is read in place; an item that is cut is gathered first. What
//! surrounds the items is small: it is gathered too, and checked as a document without items.

use super::Path;
use super::bytes::find_special;
use super::cursor::{Cursor, is_whitespace, no_object};
use super::error::{ErrorKind, JsonError};
use super::fields::FieldSet;
use super::identity::{Identity, identify};
use super::path::key_is;
use super::scalar::Scalar;
use super::scan::{ITEM_DEPTH, Scanned, read_slots, scan_object_at};
use super::siblings::Siblings;

/// What a page had under `items`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GivenItems {
    /// There was no such name.
    #[default]
    Missing,
    /// `null`: so Go writes an empty slice.
    Null,
    /// An array, which may be empty.
    Array,
}

/// What a list page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListHead {
    /// `kind`, such as `PodList`. It is `Status` if the server answered with an error.
    pub kind: Option<String>,
    /// `metadata.resourceVersion`.
    pub version: Option<String>,
    /// `metadata.continue`. If present, there are more pages.
    pub continue_token: Option<String>,
    /// `metadata.remainingItemCount`: the number of items on further pages, if the server knows it.
    pub remaining: Option<u64>,
    /// What stood under `items`.
    pub items: GivenItems,
}

/// An item that is not valid JSON. Only its names are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenItem {
    /// The names found in it, which may be wrong.
    pub identity: Identity,
    /// What is wrong. The offset counts from the start of the page.
    pub error: JsonError,
}

/// Who takes the items of a page.
pub trait ListItems {
    /// An item.
    fn item(&mut self, item: Scanned);

    /// Takes the item that starts at `start`, if it can be read by comparing it with what is held. Returns the position behind it. `None` says
    /// nothing about the item, not even that it is whole.
    fn held_item(&mut self, _document: &[u8], _start: usize, _fields: &FieldSet) -> Option<usize> {
        None
    }
}

/// Takes items that are all scanned.
struct Each<'a>(&'a mut dyn FnMut(Scanned));

impl ListItems for Each<'_> {
    fn item(&mut self, item: Scanned) {
        (self.0)(item);
    }
}

/// Reads a list page, chunk by chunk.
#[derive(Debug)]
pub struct ListScanner {
    state: State,
    /// Bytes of the page before the current chunk.
    before: usize,
    /// The page without its items.
    head: Vec<u8>,
    outline: Outline,
    /// Where in `head` the items were, and how many bytes they had.
    items: Option<(usize, usize)>,
    /// The first bytes of an item that has not ended yet.
    partial: Vec<u8>,
    nesting: Nesting,
    siblings: Siblings,
    /// Bytes of the last item. Items of a resource are of similar size.
    last_len: usize,
    /// The items set aside because they cannot be read. `None` if such an item is an error.
    broken: Option<Vec<BrokenItem>>,
    failed: Option<JsonError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Outside the items.
    Head,
    /// After the bracket that opens the items.
    FirstItem,
    /// After a comma.
    NextItem,
    /// Inside an item that began in an earlier chunk.
    PartialItem,
    /// After an item.
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
            siblings: Siblings::default(),
            last_len: 0,
            broken: None,
            failed: None,
        }
    }

    /// A scanner that sets aside items which cannot be read, and continues after them. An item without a recognizable end or name is still
    /// an error.
    pub fn tolerant() -> Self {
        ListScanner { broken: Some(Vec::new()), ..ListScanner::new() }
    }

    /// The items set aside since the last call.
    pub fn take_broken(&mut self) -> Vec<BrokenItem> {
        self.broken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Bytes gathered of what has not ended yet. Reading it will need as many again.
    pub fn gathered(&self) -> usize {
        self.partial.len() + self.head.len()
    }

    /// Takes the next bytes and hands out the items that are complete with them, in order. After an error nothing more is read. Items that
    /// were handed out before it are valid, but the page is not.
    pub fn push(&mut self, chunk: &[u8], fields: &FieldSet, item: &mut dyn FnMut(Scanned)) -> Result<(), JsonError> {
        self.push_to(chunk, fields, &mut Each(item))
    }

    /// As [`push`](Self::push), for who may read items by comparing them with what is held.
    pub fn push_to(&mut self, chunk: &[u8], fields: &FieldSet, items: &mut dyn ListItems) -> Result<(), JsonError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = self.advance(chunk, fields, items);
        self.before += chunk.len();
        self.failed = result.err();
        result
    }

    /// Ends the page, which must be complete and strict JSON.
    pub fn finish(self) -> Result<ListHead, JsonError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.state {
            State::Head => self.read_head(),
            // Reading the item says what is missing or wrong.
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

    fn advance(&mut self, chunk: &[u8], fields: &FieldSet, items: &mut dyn ListItems) -> Result<(), JsonError> {
        let mut at = 0;
        while at < chunk.len() {
            match self.state {
                State::Head => at = self.gather_head(chunk, at)?,
                State::PartialItem => at = self.gather_item(chunk, at, fields, items)?,
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
                // If the rest of the chunk is shorter than the last item, the item is probably cut. It is gathered without a first attempt.
                State::FirstItem | State::NextItem if chunk[at] == b'{' && chunk.len() - at < self.last_len => {
                    self.state = State::PartialItem;
                }
                State::FirstItem | State::NextItem => match take_item(chunk, at, fields, &mut self.siblings, items) {
                    Ok(end) => {
                        self.last_len = end - at;
                        self.state = State::BehindItem;
                        at = end;
                    }
                    Err(error) if error.kind == ErrorKind::UnexpectedEnd => self.state = State::PartialItem,
                    // Its end is found by its brackets.
                    Err(_) if self.broken.is_some() && chunk[at] == b'{' => self.state = State::PartialItem,
                    Err(error) => {
                        return Err(JsonError::new(error.kind, self.before + error.offset));
                    }
                },
            }
        }
        Ok(())
    }

    /// Gathers an item up to its end or the chunk's end. A complete item is handed out.
    fn gather_item(&mut self, chunk: &[u8], at: usize, fields: &FieldSet, items: &mut dyn ListItems) -> Result<usize, JsonError> {
        let (end, whole) = self.nesting.follow(chunk, at);
        let start = self.before + at - self.partial.len();
        let more = if self.partial.is_empty() { self.last_len.max(end - at) } else { end - at };
        self.partial.try_reserve(more).map_err(|_| JsonError::new(ErrorKind::OutOfMemory, self.before + at))?;
        self.partial.extend_from_slice(&chunk[at..end]);
        if whole {
            match take_item(&self.partial, 0, fields, &mut self.siblings, items) {
                Ok(_) => {}
                Err(error) => self.set_aside(JsonError::new(error.kind, start + error.offset))?,
            }
            self.last_len = self.partial.len();
            self.partial.clear();
            self.nesting = Nesting::default();
            self.state = State::BehindItem;
        }
        Ok(end)
    }

    /// Keeps the names of the gathered item. Returns the error if items must be readable, or if no name was found.
    fn set_aside(&mut self, error: JsonError) -> Result<(), JsonError> {
        let broken = self.broken.as_mut().ok_or(error)?;
        let identity = identify(&self.partial, false).filter(|found| !(found.name.is_empty() && found.uid.is_empty()));
        broken.push(BrokenItem { identity: identity.ok_or(error)?, error });
        Ok(())
    }

    /// Gathers bytes around the items, up to the bracket that opens them or the chunk's end.
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
                    // An item may be handed out only if everything before it is valid.
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
        for path in ["kind", "metadata.resourceVersion", "metadata.continue", "metadata.remainingItemCount", "items"] {
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
            items: match values.get(4) {
                _ if self.items.is_some() => GivenItems::Array,
                Some(Scalar::Null) => GivenItems::Null,
                _ => GivenItems::Missing,
            },
        })
    }
}

/// Hands out the item that starts at `start`, and returns the position behind it.
fn take_item(
    document: &[u8],
    start: usize,
    fields: &FieldSet,
    siblings: &mut Siblings,
    items: &mut dyn ListItems,
) -> Result<usize, JsonError> {
    if let Some(end) = items.held_item(document, start, fields) {
        return Ok(end);
    }
    let (scanned, end) = siblings.scan(document, start, fields)?;
    items.item(scanned);
    Ok(end)
}

/// Follows the bytes around the items closely enough to know where the items start. It does not check that they are JSON, and gives no
/// useful answer if they are not.
#[derive(Debug, Default)]
struct Outline {
    started: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where in `head` the current string started.
    string_start: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Elsewhere,
    /// Where a member name of the list itself may start.
    Key,
    /// After the name `items`.
    ItemsKey,
    /// After its colon.
    ItemsValue,
}

enum Step {
    On,
    /// The page does not start with an object.
    NoDocument,
    /// The page continues after its end.
    Trailing,
    /// The name `items` ended.
    ItemsKey,
    /// The array of items started.
    Items,
    /// The items are neither an array nor null.
    NoArray,
}

impl Outline {
    /// Takes the next byte, which is already the last one of `head`.
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

/// Finds the end of an object by its brackets. The complete object is then read strictly. In invalid JSON the strict reader finds its error
/// no later than at this end.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// The position behind the item and true, or the chunk's length and false.
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
