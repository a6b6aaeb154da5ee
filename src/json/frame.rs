//! Watch frames: documents of the form `{"type":"ADDED","object":{…}}`.

use super::cursor::{Checked, Cursor, no_object};
use super::error::{ErrorKind, JsonError};
use super::fields::FieldSet;
use super::path::key_is;
use super::scan::{Scanned, Walk};
use super::text::string;

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
