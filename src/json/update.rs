//! What arrives of an object that is held, in a watch frame or in a list: it is compared with the held text.
//!
//! What cannot be read so says nothing: a full scan has to read it, and says what is wrong.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::edits::{Compared, Edits, InVain};
use super::fields::FieldSet;
use super::frame::FrameType;
use super::path::key_is;
use super::scan::ITEM_DEPTH;
use super::text::{string, unescape};

/// What has arrived of an object that is held.
#[derive(Clone, Debug)]
pub struct Update<'d, H> {
    /// `kind` of the object, if it names one.
    pub kind: Option<Cow<'d, str>>,
    /// What `held` gave.
    pub held: H,
    /// What differs; `None` where it is the held version. That one may lack a `kind` and an `apiVersion` that stand here, or have them alone.
    pub edits: Option<Edits>,
}

/// The version that is held of an object. All bytes are one that nobody has decoded.
pub trait HeldVersion {
    /// Its text.
    fn text(&self) -> &[u8];

    /// Whether somebody has it decoded, and may want a patch that leads to the next version.
    fn is_decoded(&self) -> bool;
}

impl<T: AsRef<[u8]>> HeldVersion for T {
    fn text(&self) -> &[u8] {
        self.as_ref()
    }

    fn is_decoded(&self) -> bool {
        false
    }
}

/// Reads a watch frame by comparing its object with the text that is held of it. `held` finds that text by namespace and name.
///
/// An error says nothing about the frame: [`scan_frame`](super::scan_frame) has to read it. See [`Scanned::is_odd`](super::Scanned) for what
/// may be compared.
pub fn scan_update<'d, H: HeldVersion>(
    document: &'d [u8],
    fields: &FieldSet,
    held: impl FnOnce(&str, &str) -> Option<H>,
) -> Result<(FrameType, Update<'d, H>), InVain> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let frame = update_head(&mut cursor).ok_or_else(InVain::default)?;
    let object = cursor.at;
    let depth = cursor.depth();
    let behind = |end: usize| {
        cursor.at = end;
        matches!(cursor.next_member(), Ok(false)) && cursor.expect_end(start).is_ok()
    };
    let (update, _) = compared(document, object, depth, fields, held, behind)?;
    Ok((frame, update))
}

/// Reads the item of a list that starts at `start`, as [`scan_update`] reads a frame. Returns the position behind it as well.
pub fn scan_held_item<'d, H: HeldVersion>(
    document: &'d [u8],
    start: usize,
    fields: &FieldSet,
    held: impl FnOnce(&str, &str) -> Option<H>,
) -> Result<(Update<'d, H>, usize), InVain> {
    compared(document, start, ITEM_DEPTH, fields, held, |_| true)
}

/// Reads the object that starts at `start`. `behind` says whether what follows it is sound.
fn compared<'d, H: HeldVersion>(
    document: &'d [u8],
    start: usize,
    depth: usize,
    fields: &FieldSet,
    held: impl FnOnce(&str, &str) -> Option<H>,
    behind: impl FnOnce(usize) -> bool,
) -> Result<(Update<'d, H>, usize), InVain> {
    let Guess { kind, namespace, name } = guess(document, start).ok_or_else(InVain::default)?;
    let held = held(&unescape(namespace), &unescape(name)).ok_or_else(InVain::default)?;
    let mut compared = Compared::new(held.text(), document, start, depth, fields, held.is_decoded())?;
    let end = compared.end;
    if !behind(end) {
        return Err(compared.in_vain());
    }
    let mut edits = if compared.is_held() { None } else { Some(compared.edits().ok_or_else(|| compared.in_vain())?) };
    if let Some(edits) = &mut edits {
        edits.patch = compared.patch(edits.bytes.len()).map(Vec::into_boxed_slice);
    }
    // What was a guess is proved now: an edit of it would have ended the comparison.
    Ok((Update { kind: kind.map(unescape), held, edits }, end))
}

/// Reads a frame up to its object, and what it says of it. The members must stand as Go writes them.
fn update_head(cursor: &mut Cursor<'_>) -> Option<FrameType> {
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
    Some(frame)
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
        if key_is(key, "kind") {
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
    Some(Guess { kind: kind.filter(|kind| !kind.is_empty()), namespace: namespace.unwrap_or_default(), name: name? })
}
