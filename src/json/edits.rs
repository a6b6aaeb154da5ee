//! Finds what an update changed, by comparing it with the text that is held of the object.
//!
//! Most updates change a version and a few timestamps. Bytes that equal proved bytes, at the same place of the grammar, need no second proof.
//! So equal stretches are only compared. Where two bytes differ, the held text says which value they stand in: that value is read strictly,
//! and the comparison goes on behind it. Where members came, went or moved, the object around them is read.
//!
//! The result equals that of a full scan. Whatever cannot be told in this way, or would cost more than it saves, is left to one.

use super::bytes::common;
use super::cursor::Cursor;
use super::fields::{FieldSet, Node, ROOT, Role};
use super::labels::{Labels, labels};
use super::leap::leap;
use super::proved::skip_managed;
use super::routes::{Routes, Step};
use super::scalar::Scalar;
use super::scan::Walk;
use super::text::string;

/// More edits than this are left to a full scan.
const MAX_EDITS: usize = 48;

/// Edits that make up more than this part of the held text are left to a full scan: one half.
const MAX_EDITED_PART: usize = 2;

/// Bytes that are looked through, in texts of the held one's length. Where containers lie deep inside each other, each is looked through.
const MAX_LOOKED_THROUGH: usize = 3;

/// One value that differs. Positions are of bytes: in the held text, and in the new one, both without what is stripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The first byte of the value that goes.
    pub old_start: u32,
    /// The byte behind it.
    pub old_end: u32,
    /// The first byte of the value that comes.
    pub new_start: u32,
    /// The byte behind it.
    pub new_end: u32,
}

/// What an update changes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edits {
    /// In the order of the text; none lies inside another.
    pub edits: Vec<Edit>,
    /// The new `metadata.resourceVersion`; `None` if it is the old one.
    pub version: Option<Box<str>>,
    /// The new labels; `None` if no edit touches them.
    pub labels: Option<Labels>,
    /// Whether the annotation that ends initial events says so; `None` if no edit touches it. Only bookmarks have it.
    pub initial_events_end: Option<bool>,
    /// The slots that an edit touches, with their new values.
    pub fields: Vec<(usize, Scalar)>,
    /// Whether a wanted name occurs twice in one object of what is new.
    pub repeats: bool,
    /// The new document without the `strip` paths.
    pub bytes: Box<[u8]>,
}

/// A comparison that told nothing. The document may be broken, or differ by too much, or in its identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InVain {
    /// Bytes that were compared and looked through.
    pub bytes: usize,
}

/// Compares an object's document with the text that is held of it. Whitespace around it is allowed and not stored.
pub fn compare_object(held: &[u8], document: &[u8], fields: &FieldSet) -> Option<Edits> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let (edits, end) = compare(held, document, start, 0, fields).ok()?;
    cursor.at = end;
    cursor.expect_end(start).ok()?;
    Some(edits)
}

/// Compares the object that starts at `start` inside `depth` objects and arrays with the text that is held of it. Returns what changed, and
/// the position behind the object.
///
/// The held text must have been scanned with the same fields, and no wanted name may occur twice in one of its objects.
pub(super) fn compare(held: &[u8], document: &[u8], start: usize, depth: usize, fields: &FieldSet) -> Result<(Edits, usize), InVain> {
    if !fields.compares() || document.get(start) != Some(&b'{') {
        return Err(InVain::default());
    }
    let mut comparison = Comparison::new(held, document, fields.nodes(), Interest::Node(ROOT));
    comparison.depth = depth;
    let found = comparison.run(start).and_then(|end| Some((comparison.finish(start, end, fields)?, end)));
    found.ok_or(InVain { bytes: comparison.bytes })
}

/// Compares two documents that were checked before, without whitespace around them. Returns what differs, with the route to each value in the
/// held text.
///
/// `None` where they differ by too much, or in the members of the outermost object. The same where a name on a route is that of two members.
pub(super) fn compare_proved(held: &[u8], document: &[u8]) -> Option<(Vec<Replaced>, Routes)> {
    let mut comparison = Comparison::new(held, document, &[], Interest::Nothing);
    comparison.routes = Some(Routes::default());
    let end = comparison.run(0)?;
    // The rest of the names.
    comparison.find(held.len(), end)?;
    Some((comparison.edits, comparison.routes?)).filter(|_| end == document.len())
}

type Span = (usize, usize);

/// A value in the held text, and the one in its place in the new text.
pub(super) type Replaced = (Span, Span);

/// What is wanted of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interest {
    Nothing,
    /// A node of the tree of wanted paths.
    Node(usize),
    /// It lies inside a value that is read as a whole when anything in it changes: its node and its position in the new document.
    Inside(usize, usize),
}

/// Where the walk through the held text stands.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before a member's name.
    Name,
    /// Before a value.
    Value(Interest),
    /// Behind a value.
    Behind,
}

/// An object or array that is open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    interest: Interest,
    is_object: bool,
    // The position of the last name. Of an array the index of the element.
    member: usize,
    held_start: usize,
    new_start: usize,
    // How many there were when it was opened.
    names: usize,
    edits: usize,
    removed: usize,
    touched: usize,
}

/// What the held text has at the first byte that differs.
enum Found {
    /// A value.
    Value(Span, Interest),
    /// The name that starts here.
    Name(usize),
    /// The bracket that ends the innermost object or array.
    End(usize),
    /// A comma, a colon, or whitespace.
    Between,
}

struct Comparison<'d, 'f> {
    held: &'d [u8],
    document: &'d [u8],
    depth: usize,
    nodes: &'f [Node],
    place: Place,
    // In the held text.
    at: usize,
    frames: Vec<Frame>,
    edits: Vec<Replaced>,
    edited: usize,
    removed: Vec<Span>,
    touched: Vec<(usize, usize)>,
    /// Looked through so far.
    bytes: usize,
    // Where somebody asks for them.
    routes: Option<Routes>,
}

impl Frame {
    /// What comes behind the bracket, and behind a comma.
    fn first(&self) -> Place {
        if self.is_object { Place::Name } else { Place::Value(self.interest) }
    }

    /// How it leads to where the walk stands.
    fn step(&self) -> Step {
        if self.is_object { Step::Member(self.member) } else { Step::Element(self.member) }
    }
}

impl<'d, 'f> Comparison<'d, 'f> {
    /// One that stands before both documents.
    fn new(held: &'d [u8], document: &'d [u8], nodes: &'f [Node], interest: Interest) -> Self {
        Self {
            held,
            document,
            depth: 0,
            nodes,
            place: Place::Value(interest),
            at: 0,
            frames: Vec::with_capacity(8),
            edits: Vec::new(),
            edited: 0,
            removed: Vec::new(),
            touched: Vec::new(),
            bytes: 0,
            routes: None,
        }
    }

    /// Returns the position behind the object.
    fn run(&mut self, start: usize) -> Option<usize> {
        // Where the comparison stands in both texts. The walk stands at or before it.
        let (mut held, mut new) = (0, start);
        loop {
            let equal = common(&self.held[held..], &self.document[new..]);
            self.bytes += equal;
            (held, new) = (held + equal, new + equal);
            if held == self.held.len() {
                return Some(new);
            }
            (held, new) = match self.find(held, new)? {
                Found::Value(span, interest) => self.edit(span, span.0 + new - held, interest)?,
                Found::Name(start) => match self.stripped_member(start + new - held)? {
                    Some(end) => (start, end),
                    None => self.edit_around()?,
                },
                Found::End(end) => match self.stripped_end(new)? {
                    Some(behind) => (end, behind),
                    None => self.edit_around()?,
                },
                Found::Between => self.edit_around()?,
            };
        }
    }

    /// Walks through the held text up to the byte at `differs`, which stands at `new` in the document.
    fn find(&mut self, differs: usize, new: usize) -> Option<Found> {
        let held = self.held;
        loop {
            let start = self.at;
            match self.place {
                Place::Name | Place::Value(_) if differs < start => return Some(Found::Between),
                Place::Name => {
                    let mut cursor = Cursor::proved(held, start);
                    let name = cursor.read_key().ok()?;
                    if differs < start + name.len() + 2 {
                        return Some(Found::Name(start));
                    }
                    if differs < cursor.at {
                        return Some(Found::Between);
                    }
                    self.at = cursor.at;
                    if let Some(routes) = &mut self.routes {
                        routes.name(start + 1, start + 1 + name.len());
                    }
                    let frame = self.frames.last_mut()?;
                    frame.member = start + 1;
                    let interest = match frame.interest {
                        Interest::Node(node) => self.nodes[node].member(name).map_or(Interest::Nothing, |(_, child)| Interest::Node(child)),
                        other => other,
                    };
                    self.place = Place::Value(interest);
                }
                Place::Value(interest) => {
                    match held.get(start)? {
                        bracket @ (b'{' | b'[') if differs > start => {
                            // It is looked through no further than to where the texts differ. The object itself does not end before.
                            if !self.frames.is_empty() {
                                let end = leap(&held[..differs], start);
                                self.bytes += end.unwrap_or(differs) - start;
                                if self.bytes > held.len() * MAX_LOOKED_THROUGH {
                                    return None;
                                }
                                if let Some(end) = end {
                                    (self.at, self.place) = (end, Place::Behind);
                                    continue;
                                }
                            }
                            self.open(*bracket, interest, start + new - differs);
                        }
                        b'{' | b'[' => return Some(Found::Value((start, leap(held, start)?), interest)),
                        quote_or_plain => {
                            let mut cursor = Cursor::proved(held, start);
                            cursor.skip_value().ok()?;
                            let end = cursor.at;
                            // Behind a number the other text may have one more digit.
                            if differs < end || differs == end && *quote_or_plain != b'"' {
                                return Some(Found::Value((start, end), interest));
                            }
                            (self.at, self.place) = (end, Place::Behind);
                        }
                    }
                }
                Place::Behind => {
                    let mut cursor = Cursor::proved(held, start);
                    let byte = cursor.peek_token();
                    if differs < cursor.at {
                        return Some(Found::Between);
                    }
                    if byte != b',' {
                        if differs == cursor.at {
                            return Some(Found::End(cursor.at));
                        }
                        let frame = self.frames.pop()?;
                        if let Some(routes) = &mut self.routes
                            && !routes.leave(held, self.frames.len(), frame.names, frame.edits)
                        {
                            return None;
                        }
                        self.at = cursor.at + 1;
                        continue;
                    }
                    if differs == cursor.at {
                        return Some(Found::Between);
                    }
                    cursor.at += 1;
                    cursor.peek_token();
                    self.at = cursor.at;
                    let frame = self.frames.last_mut()?;
                    frame.member += 1;
                    self.place = frame.first();
                }
            }
        }
    }

    fn open(&mut self, bracket: u8, interest: Interest, new_start: usize) {
        let is_object = bracket == b'{';
        let interest = match interest {
            Interest::Node(index) => {
                let node = &self.nodes[index];
                if node.role.is_none() && node.is_leaf() {
                    // What a slot has of an object is that it is one.
                    Interest::Nothing
                } else if node.role.is_none() && is_object {
                    interest
                } else {
                    // Labels, and arrays, where a filter may find another element.
                    Interest::Inside(index, new_start)
                }
            }
            other => other,
        };
        let names = self.routes.as_ref().map_or(0, Routes::names);
        let (edits, removed, touched) = (self.edits.len(), self.removed.len(), self.touched.len());
        let frame = Frame { interest, is_object, member: 0, held_start: self.at, new_start, names, edits, removed, touched };
        self.frames.push(frame);
        let mut cursor = Cursor::proved(self.held, self.at + 1);
        let byte = cursor.peek_token();
        self.at = cursor.at;
        self.place = if matches!(byte, b'}' | b']') { Place::Behind } else { frame.first() };
    }

    /// Reads the value that stands at `new` in place of the held one. Returns the positions behind both.
    fn edit(&mut self, (start, end): Span, new: usize, interest: Interest) -> Option<(usize, usize)> {
        let new_end = self.read(new)?;
        self.bytes += new_end - new;
        (self.at, self.place) = (end, Place::Behind);
        if self.held[start..end] == self.document[new..new_end] {
            return Some((end, new_end));
        }
        self.edited += new_end - new + (end - start);
        if self.edits.len() == MAX_EDITS || self.edited > self.held.len() / MAX_EDITED_PART {
            return None;
        }
        self.edits.push(((start, end), (new, new_end)));
        if let Some(routes) = &mut self.routes {
            routes.push(self.frames.iter().map(Frame::step));
        }
        match interest {
            Interest::Nothing => {}
            // What is stripped inside of it would have to be removed from it.
            Interest::Node(node) | Interest::Inside(node, _) if self.strips(node) => return None,
            Interest::Node(node) => self.touched.push((node, new)),
            Interest::Inside(node, place) => {
                if self.touched.last() != Some(&(node, place)) {
                    self.touched.push((node, place));
                }
            }
        }
        Some((end, new_end))
    }

    /// Reads the innermost object or array anew, as its members differ.
    fn edit_around(&mut self) -> Option<(usize, usize)> {
        let frame = self.frames.pop()?;
        if self.frames.is_empty() || self.removed.len() > frame.removed {
            return None;
        }
        self.edits.truncate(frame.edits);
        if let Some(routes) = &mut self.routes {
            routes.truncate(frame.edits, frame.names);
        }
        self.touched.truncate(frame.touched);
        let end = leap(self.held, frame.held_start)?;
        self.edit((frame.held_start, end), frame.new_start, frame.interest)
    }

    /// Steps over the stripped member whose name may start at `at`, and its comma. Returns the position behind.
    fn stripped_member(&mut self, at: usize) -> Option<Option<usize>> {
        let Some(end) = self.skip_stripped(at)? else { return Some(None) };
        if self.document.get(end) != Some(&b',') {
            return None;
        }
        self.removed.push((at, end + 1));
        Some(Some(end + 1))
    }

    /// Steps over the stripped members that may end an object, beginning at the comma before them. Returns the position behind.
    fn stripped_end(&mut self, from: usize) -> Option<Option<usize>> {
        let mut at = from;
        while self.document.get(at) == Some(&b',') {
            match self.skip_stripped(at + 1)? {
                Some(end) => at = end,
                None => return Some(None),
            }
        }
        if at == from {
            return Some(None);
        }
        self.removed.push((from, at));
        Some(Some(at))
    }

    /// The position behind the member whose name may start at `at`, if it is one that is stripped.
    fn skip_stripped(&self, at: usize) -> Option<Option<usize>> {
        let Interest::Node(node) = self.frames.last()?.interest else { return Some(None) };
        if self.document.get(at) != Some(&b'"') {
            return Some(None);
        }
        let mut cursor = Cursor::new(self.document, at, self.depth + self.frames.len());
        let name = cursor.read_key().ok()?;
        let Some((_, child)) = self.nodes[node].member(name).filter(|(_, child)| self.nodes[*child].strip) else { return Some(None) };
        if cursor.peek() == b'[' && self.nodes[child].is_leaf() {
            skip_managed(&mut cursor).ok()?;
        } else {
            cursor.skip_value().ok()?;
        }
        cursor.expect_utf8(at).ok()?;
        Some(Some(cursor.at))
    }

    /// Reads the value at this position strictly. Returns the position behind it.
    fn read(&self, at: usize) -> Option<usize> {
        let mut cursor = Cursor::new(self.document, at, self.depth + self.frames.len());
        cursor.skip_value().ok()?;
        cursor.expect_utf8(at).ok()?;
        Some(cursor.at)
    }

    fn strips(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        node.strip || node.children().any(|child| self.strips(child))
    }

    fn finish(&self, start: usize, end: usize, fields: &FieldSet) -> Option<Edits> {
        let Self { document, removed, touched, .. } = self;
        let mut walk = Walk::new(fields);
        let (mut slots, mut roles) = (Vec::new(), Vec::new());
        for &(node, at) in touched {
            self.list(node, &mut slots, &mut roles);
            walk.again(document, at, node)?;
        }
        let mut version = None;
        let mut new_labels = None;
        let mut initial_events_end = None;
        for role in roles {
            let (from, to) = walk.role(role);
            match role {
                Role::Version => version = Some(string(document, (from, to)).filter(|text| !text.is_empty())?.into()),
                Role::Labels => new_labels = Some(labels(&document[from..to])),
                Role::InitialEventsEnd => initial_events_end = Some(string(document, (from, to)).is_some_and(|text| text == "true")),
                // The object is another one.
                _ => return None,
            }
        }
        let values = slots.into_iter().map(|slot| (slot, walk.slot(document, slot))).collect();

        let gone: usize = removed.iter().map(|(from, to)| to - from).sum();
        let mut bytes = Vec::with_capacity(end - start - gone);
        let mut at = start;
        for &(from, to) in removed {
            bytes.extend_from_slice(&document[at..from]);
            at = to;
        }
        bytes.extend_from_slice(&document[at..end]);
        let mut moved = start;
        let mut behind = removed.iter().peekable();
        let edits = self.edits.iter().map(|&((old_start, old_end), (new_start, new_end))| {
            while let Some((from, to)) = behind.next_if(|(_, to)| *to <= new_start) {
                moved += to - from;
            }
            let at = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
            Edit { old_start: at(old_start), old_end: at(old_end), new_start: at(new_start - moved), new_end: at(new_end - moved) }
        });
        let edits = edits.collect();
        Some(Edits {
            edits,
            version,
            labels: new_labels,
            initial_events_end,
            fields: values,
            repeats: walk.repeats(),
            bytes: bytes.into_boxed_slice(),
        })
    }

    /// All slots and roles at a node and below it.
    fn list(&self, index: usize, slots: &mut Vec<usize>, roles: &mut Vec<Role>) {
        let node = &self.nodes[index];
        slots.extend(node.slot);
        roles.extend(node.role);
        for child in node.children() {
            self.list(child, slots, roles);
        }
    }
}
