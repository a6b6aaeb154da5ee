//! Watch frames: documents of the form `{"type":"ADDED","object":{…}}`.

use std::rc::Rc;

use super::cursor::{Checked, Cursor, no_object};
use super::edits::{Edits, InVain, compare};
use super::error::{ErrorKind, JsonError};
use super::fields::FieldSet;
use super::intern::intern;
use super::path::key_is;
use super::scan::{Scanned, Walk};
use super::text::{string, unescape};

/// What a watch frame says about its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// The object is new to this watch.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted. The frame has its last state at the version of the deletion.
    Deleted,
    /// Nothing else changed up to this resourceVersion.
    Bookmark,
    /// The watch failed. The object is a `Status`.
    Error,
    /// A type that Kubernetes does not have.
    Unknown(String),
}

impl FrameType {
    /// Reads the frame's `type`.
    pub fn parse(text: &str) -> FrameType {
        match text {
            "ADDED" => FrameType::Added,
            "MODIFIED" => FrameType::Modified,
            "DELETED" => FrameType::Deleted,
            "BOOKMARK" => FrameType::Bookmark,
            "ERROR" => FrameType::Error,
            other => FrameType::Unknown(other.to_owned()),
        }
    }
}

/// A watch frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// An event or a bookmark.
    Event {
        /// `Added`, `Modified`, `Deleted` or `Bookmark`.
        kind: FrameType,
        /// The frame's object.
        object: Scanned,
    },
    /// The watch failed.
    Error {
        /// The `Status` as it arrived.
        status: Box<[u8]>,
    },
    /// A frame of a type that Kubernetes does not have.
    Unknown {
        /// The type as it arrived.
        kind: String,
        /// The frame's object.
        object: Scanned,
    },
}

/// The positions of a watch frame's members.
#[derive(Default)]
struct Members<'f> {
    kind: Option<(usize, usize)>,
    /// The position of the value. If it is an object, also the walk that noted what is wanted of it.
    object: Option<(Option<Walk<'f>>, usize, usize)>,
}

/// Reads a watch frame. The members may be in any order. Members other than `type` and `object` are checked and ignored. Whitespace around
/// the frame is allowed, such as the newline that ends it.
pub fn scan_frame(document: &[u8], fields: &FieldSet) -> Result<Frame, JsonError> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let Members { kind, object } = read_members(&mut cursor, fields).map_err(|kind| cursor.error(kind))?;
    cursor.expect_end(start)?;

    let kind = kind.and_then(|span| string(document, span)).ok_or(JsonError::new(ErrorKind::MissingType, start))?;
    let (walk, from, to) = object.ok_or(JsonError::new(ErrorKind::MissingObject, start))?;
    let kind = FrameType::parse(&kind);
    if kind == FrameType::Error {
        return Ok(Frame::Error { status: document[from..to].into() });
    }
    let object = walk.ok_or(JsonError::new(ErrorKind::NotAnObject, from))?.finish(document, from, to);
    Ok(match kind {
        FrameType::Unknown(kind) => Frame::Unknown { kind, object },
        kind => Frame::Event { kind, object },
    })
}

fn read_members<'f>(cursor: &mut Cursor<'_>, fields: &'f FieldSet) -> Checked<Members<'f>> {
    let first = cursor.peek();
    if first != b'{' {
        return Err(cursor.fault(no_object(first)));
    }
    let mut members = Members::default();
    let mut more = cursor.open_object()?;
    while more {
        let key = cursor.read_key()?;
        let start = cursor.at;
        if key_is(key, "object") {
            let mut walk = None;
            if cursor.peek() == b'{' {
                walk.insert(Walk::new(fields)).whole_object(cursor)?;
            } else {
                cursor.skip_value()?;
            }
            members.object = Some((walk, start, cursor.at));
        } else {
            cursor.skip_value()?;
            if key_is(key, "type") {
                members.kind = Some((start, cursor.at));
            }
        }
        more = cursor.next_member()?;
    }
    Ok(members)
}

/// What a watch frame changes of an object that is held.
#[derive(Clone, Debug)]
pub struct Update<H> {
    /// `Added`, `Modified` or `Deleted`.
    pub frame: FrameType,
    /// `kind` of the object, if it stands where servers write it: before `metadata`.
    pub kind: Option<Rc<str>>,
    /// What `held` gave.
    pub held: H,
    /// What differs.
    pub edits: Edits,
}

/// Reads a watch frame by comparing its object with the text that is held of it. `held` finds that text by namespace and name.
///
/// An error says nothing about the frame: [`scan_frame`] has to read it. See [`compare_object`](super::compare_object) for what may be
/// compared.
pub fn scan_update<H: AsRef<[u8]>>(
    document: &[u8],
    fields: &FieldSet,
    held: impl FnOnce(&str, &str) -> Option<H>,
) -> Result<Update<H>, InVain> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let (frame, Guess { kind, namespace, name }) = update_head(&mut cursor).ok_or_else(InVain::default)?;
    let held = held(&unescape(namespace), &unescape(name)).ok_or_else(InVain::default)?;
    let (edits, end) = compare(held.as_ref(), document, cursor.at, cursor.depth(), fields)?;
    cursor.at = end;
    let ends = matches!(cursor.next_member(), Ok(false)) && cursor.expect_end(start).is_ok();
    if !ends {
        return Err(InVain { bytes: end });
    }
    // What was a guess is proved now: an edit of it would have ended the comparison.
    Ok(Update { frame, kind: kind.map(|kind| intern(&unescape(kind))), held, edits })
}

/// Reads a frame up to its object: what it says of it, and whose object it may be. The members must stand as Go writes them.
fn update_head<'d>(cursor: &mut Cursor<'d>) -> Option<(FrameType, Guess<'d>)> {
    if cursor.peek() != b'{' || !cursor.open_object().ok()? || cursor.read_key().ok()? != b"type" {
        return None;
    }
    let start = cursor.at;
    cursor.skip_value().ok()?;
    let frame = FrameType::parse(&string(cursor.document, (start, cursor.at))?);
    if !matches!(frame, FrameType::Added | FrameType::Modified | FrameType::Deleted) {
        return None;
    }
    if !cursor.next_member().ok()? || cursor.read_key().ok()? != b"object" {
        return None;
    }
    Some((frame, guess(cursor.document, cursor.at)?))
}

/// Whose object something may be. Texts stand as in the document.
struct Guess<'d> {
    kind: Option<&'d [u8]>,
    namespace: &'d [u8],
    name: &'d [u8],
}

/// Finds whose the object at `at` is, as far as that can be told at once. Nothing is checked.
fn guess(document: &[u8], at: usize) -> Option<Guess<'_>> {
    let text = |start: usize, end: usize| document.get(start + 1..end - 1).filter(|_| document[start] == b'"');
    let mut cursor = Cursor::proved(document, at);
    if cursor.peek() != b'{' || !cursor.open_object().ok()? {
        return None;
    }
    let mut kind = None;
    loop {
        let key = cursor.read_key().ok()?;
        if key == b"metadata" {
            break;
        }
        let start = cursor.at;
        cursor.skip_value().ok()?;
        if key == b"kind" {
            kind = Some(text(start, cursor.at)?);
        }
        if !cursor.next_member().ok()? {
            return None;
        }
    }
    if cursor.peek() != b'{' || !cursor.open_object().ok()? {
        return None;
    }
    let (mut namespace, mut name) = (None, None);
    loop {
        let key = cursor.read_key().ok()?;
        // Servers write the namespace beside the name: there is none if these come first.
        if name.is_some() && matches!(key, b"uid" | b"resourceVersion") {
            break;
        }
        let start = cursor.at;
        cursor.skip_value().ok()?;
        match key {
            b"name" => name = Some(text(start, cursor.at)?),
            b"namespace" => namespace = Some(text(start, cursor.at)?),
            _ => {}
        }
        if name.is_some() && namespace.is_some() || !cursor.next_member().ok()? {
            break;
        }
    }
    Some(Guess { kind, namespace: namespace.unwrap_or_default(), name: name? })
}
