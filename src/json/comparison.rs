//! The walk through a held text beside a new one, which finds where they differ.

use super::bytes::common;
use super::cursor::Cursor;
use super::error::ErrorKind;
use super::fields::Node;
use super::leap::leap;
use super::proved::skip_managed;
use super::routes::{Routes, Step};

/// What costs more than this is left to a full scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) edits: usize,
    /// The part of the held text that edits may make up, before and after them together.
    pub(super) edited_part: usize,
    /// Bytes that are looked through, in texts of the held one's length. Where containers lie deep inside each other, each is looked through.
    pub(super) looked_through: usize,
}

/// Of a comparison with what is held: half of the text may be edited.
const UPDATE: Limits = Limits { edits: 48, edited_part: 2, looked_through: 3 };

/// Members that may come or go in front of all others. There are two: `kind` and `apiVersion`.
const MAX_LEADING: usize = 4;

pub(super) type Span = (usize, usize);

/// A value in the held text, and the one in its place in the new text.
pub(super) type Replaced = (Span, Span);

/// What is wanted of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
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

/// A wanted member that came in front of all others, or went from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leading {
    pub(super) node: usize,
    // Where its value stands in the new document; `None` if it went.
    pub(super) came: Option<usize>,
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

pub(super) struct Comparison<'d, 'f> {
    pub(super) held: &'d [u8],
    pub(super) document: &'d [u8],
    pub(super) depth: usize,
    pub(super) nodes: &'f [Node],
    place: Place,
    // In the held text.
    at: usize,
    frames: Vec<Frame>,
    pub(super) edits: Vec<Replaced>,
    edited: usize,
    pub(super) limits: Limits,
    pub(super) removed: Vec<Span>,
    pub(super) touched: Vec<(usize, usize)>,
    pub(super) leading: Vec<Leading>,
    /// Whether a member that came in front of all others, or went from there, says more than the object's kind.
    pub(super) leads_with_more: bool,
    /// Looked through so far.
    pub(super) bytes: usize,
    /// Whether a value of the new document is nested as deep as it may be.
    pub(super) is_deepest: bool,
    /// Whether the new document ended too soon.
    pub(super) is_cut: bool,
    // Where somebody asks for them, as long as each edit has one that leads to it alone.
    pub(super) routes: Option<Routes>,
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
    pub(super) fn new(held: &'d [u8], document: &'d [u8], nodes: &'f [Node], interest: Interest) -> Self {
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
            limits: UPDATE,
            removed: Vec::new(),
            touched: Vec::new(),
            leading: Vec::new(),
            leads_with_more: false,
            bytes: 0,
            is_deepest: false,
            is_cut: false,
            routes: None,
        }
    }

    /// Returns the position behind the object.
    pub(super) fn run(&mut self, start: usize) -> Option<usize> {
        // Where the comparison stands in both texts. The walk stands at or before it.
        let (mut held, mut new) = (0, start);
        loop {
            let equal = common(&self.held[held..], &self.document[new..]);
            self.bytes += equal;
            (held, new) = (held + equal, new + equal);
            if held == self.held.len() {
                if self.leading.iter().any(|member| member.came.is_some()) {
                    // None may be that of a member that came.
                    self.pass_names(new)?;
                }
                return Some(new);
            }
            self.is_cut = new == self.document.len();
            (held, new) = match self.find(held, new)? {
                Found::Value(span, interest) => self.edit(span, span.0 + new - held, interest)?,
                Found::Name(start) => match self.stripped_member(start + new - held)? {
                    Some(end) => (start, end),
                    None => match self.leading_members(start, start + new - held) {
                        Some(behind) => behind,
                        None => self.edit_around()?,
                    },
                },
                Found::End(end) => match self.stripped_end(new)? {
                    Some(behind) => (end, behind),
                    None => self.edit_around()?,
                },
                Found::Between => self.edit_around()?,
            };
        }
    }

    /// Walks through the rest of the names. The new document ends at `end`.
    pub(super) fn pass_names(&mut self, end: usize) -> Option<()> {
        self.find(self.held.len(), end).map(drop)
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
                    if self.leading.iter().any(|member| member.came.is_some() && interest == Interest::Node(member.node)) {
                        // Of two members of one name the last one counts.
                        return None;
                    }
                    self.place = Place::Value(interest);
                }
                Place::Value(interest) => {
                    match held.get(start)? {
                        bracket @ (b'{' | b'[') if differs > start => {
                            // It is looked through no further than to where the texts differ. The object itself does not end before.
                            if !self.frames.is_empty() {
                                let end = leap(&held[..differs], start);
                                self.bytes += end.unwrap_or(differs) - start;
                                if self.bytes > held.len() * self.limits.looked_through {
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
                            self.routes = None;
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
        if self.edits.len() == self.limits.edits || self.edited > self.held.len() / self.limits.edited_part {
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

    /// Steps over the members that came in front of the object's first one, or went from there. Returns the positions behind them.
    fn leading_members(&mut self, held: usize, new: usize) -> Option<Span> {
        let [Frame { interest, is_object: true, member: 0, .. }] = self.frames[..] else { return None };
        let first = Cursor::proved(self.held, held).read_key().ok()?;
        let mut cursor = Cursor::new(self.document, new, self.depth + 1);
        let came = members_before(&mut cursor, first);
        self.bytes += cursor.at - new;
        let (members, behind) = match came {
            Some((members, at)) => (members, (held, at)),
            None => {
                let first = Cursor::new(self.document, new, self.depth + 1).read_key().ok()?;
                let mut cursor = Cursor::proved(self.held, held);
                let went = members_before(&mut cursor, first);
                self.bytes += cursor.at - held;
                let (members, at) = went?;
                (members, (at, new))
            }
        };
        let has_come = behind.0 == held;
        self.leads_with_more = members.iter().any(|(name, _)| !matches!(*name, b"kind" | b"apiVersion"));
        for (name, value) in members {
            let Interest::Node(root) = interest else { break };
            let Some((_, node)) = self.nodes[root].member(name) else { continue };
            if self.strips(node) || self.leading.iter().any(|member| member.node == node) {
                return None;
            }
            self.leading.push(Leading { node, came: has_come.then_some(value) });
        }
        self.edited += behind.0 - held + (behind.1 - new);
        self.at = behind.0;
        self.edits.push(((held, behind.0), (new, behind.1)));
        match &mut self.routes {
            // They stand in front of whatever the document has, so no step leads to them.
            Some(routes) if has_come => routes.push(std::iter::empty()),
            // Of a name that went, another member may be left.
            routes => *routes = None,
        }
        (self.edited <= self.held.len() / self.limits.edited_part).then_some(behind)
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
    fn skip_stripped(&mut self, at: usize) -> Option<Option<usize>> {
        let Interest::Node(node) = self.frames.last()?.interest else { return Some(None) };
        if self.document.get(at) != Some(&b'"') {
            return Some(None);
        }
        let mut cursor = Cursor::new(self.document, at, self.depth + self.frames.len());
        let name = cursor.read_key().ok()?;
        let Some((_, child)) = self.nodes[node].member(name).filter(|(_, child)| self.nodes[*child].strip) else { return Some(None) };
        let skipped = if cursor.peek() == b'[' && self.nodes[child].is_leaf() { skip_managed(&mut cursor) } else { cursor.skip_value() };
        self.is_cut = skipped == Err(ErrorKind::UnexpectedEnd);
        skipped.ok()?;
        cursor.expect_utf8(at).ok()?;
        Some(Some(cursor.at))
    }

    /// Reads the value at this position strictly. Returns the position behind it.
    fn read(&mut self, at: usize) -> Option<usize> {
        let mut cursor = Cursor::new(self.document, at, self.depth + self.frames.len());
        let read = cursor.skip_value();
        self.is_cut = read == Err(ErrorKind::UnexpectedEnd);
        read.ok()?;
        self.is_deepest |= cursor.is_deepest;
        cursor.expect_utf8(at).ok()?;
        Some(cursor.at)
    }

    fn strips(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        node.strip || node.children().any(|child| self.strips(child))
    }
}

/// A member's name, and the position of its value.
type Named<'d> = (&'d [u8], usize);

/// The plain members that stand before the one of this name, and where that one begins.
fn members_before<'d>(cursor: &mut Cursor<'d>, name: &[u8]) -> Option<(Vec<Named<'d>>, usize)> {
    let start = cursor.at;
    let mut members = Vec::new();
    loop {
        let at = cursor.at;
        let found = cursor.read_key().ok()?;
        if found == name {
            cursor.expect_utf8(start).ok()?;
            return Some((members, at));
        }
        if members.len() == MAX_LEADING || matches!(cursor.peek(), b'{' | b'[') {
            return None;
        }
        members.push((found, cursor.at));
        cursor.skip_value().ok()?;
        if cursor.peek_token() != b',' {
            return None;
        }
        cursor.at += 1;
        cursor.peek_token();
    }
}
