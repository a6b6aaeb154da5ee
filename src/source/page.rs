//! Reads answers: the pages of lists, and documents of one object.

use std::cell::RefCell;

use futures::StreamExt;
use futures::stream::LocalBoxStream;

use super::buffers::{self, MAX_FRAME_BYTES};
use crate::json::{BrokenItem, ErrorKind, FieldSet, GivenItems, JsonError, ListHead, ListItems, ListScanner, Scanned};
use crate::runtime::Runtime;
use crate::runtime::slice::Slice;
use crate::status::{Error, ErrorCode};
use crate::version::Version;

/// Bytes that are scanned before the clock is read again.
const PIECE_BYTES: usize = 64 << 10;

/// The body of an answer, in chunks of any size.
type Body<'a> = LocalBoxStream<'a, Result<Vec<u8>, Error>>;

/// Who takes the items of a page while it is read.
pub trait Items: ListItems {
    /// An item that is no JSON. Only a tolerant scanner goes on behind one.
    fn broken(&mut self, item: BrokenItem);
    /// A piece of the page was read. An error ends the page.
    fn piece_read(&mut self) -> Result<(), Error>;
}

/// For a page in which every item must be JSON.
struct Sound<'a>(&'a mut dyn FnMut(Scanned));

impl ListItems for Sound<'_> {
    fn item(&mut self, item: Scanned) {
        (self.0)(item);
    }
}

impl Items for Sound<'_> {
    fn broken(&mut self, _: BrokenItem) {}

    fn piece_read(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The time that a reader works before the host has its turn.
#[derive(Clone, Copy)]
pub struct Pace<'a> {
    /// The host.
    pub runtime: &'a dyn Runtime,
    /// What was worked since its last turn.
    pub slice: &'a Slice,
}

/// Reads a page in which every item must be JSON, and lets the host have its turns meanwhile.
pub async fn read(
    body: Body<'_>,
    fields: &RefCell<FieldSet>,
    runtime: &dyn Runtime,
    item: &mut dyn FnMut(Scanned),
) -> Result<ListHead, Error> {
    let head = read_unversioned(body, fields, runtime, item).await?;
    head_version(&head).map(|_| head)
}

/// The same of a list that may have no version.
pub async fn read_unversioned(
    body: Body<'_>,
    fields: &RefCell<FieldSet>,
    runtime: &dyn Runtime,
    item: &mut dyn FnMut(Scanned),
) -> Result<ListHead, Error> {
    let slice = Slice::new(runtime.now());
    read_to_end(ListScanner::new(), body, fields, Pace { runtime, slice: &slice }, &mut Sound(item)).await
}

/// Reads a page to its end with this scanner, and lets the host have its turns meanwhile.
pub async fn read_with(
    scanner: ListScanner,
    body: Body<'_>,
    fields: &RefCell<FieldSet>,
    pace: Pace<'_>,
    items: &mut dyn Items,
) -> Result<ListHead, Error> {
    let head = read_to_end(scanner, body, fields, pace, items).await?;
    head_version(&head).map(|_| head)
}

async fn read_to_end(
    mut scanner: ListScanner,
    mut body: Body<'_>,
    fields: &RefCell<FieldSet>,
    pace: Pace<'_>,
    items: &mut dyn Items,
) -> Result<ListHead, Error> {
    let Pace { runtime, slice } = pace;
    while let Some(chunk) = body.next().await {
        let chunk = chunk?;
        slice.waited(runtime.recent());
        for piece in chunk.chunks(PIECE_BYTES) {
            scan(&mut scanner, piece, &fields.borrow(), items)?;
            items.piece_read()?;
            if slice.worked(runtime.now()) {
                slice.rest(runtime).await;
            }
        }
        buffers::give_back(chunk);
    }
    let head = scanner.finish().map_err(|error| unreadable(&error))?;
    check(&head)?;
    Ok(head)
}

/// Scans the next bytes of a page. Fails with code `out-of-memory` when there is no memory for the items, else with `decode`.
fn scan(scanner: &mut ListScanner, bytes: &[u8], fields: &FieldSet, items: &mut dyn Items) -> Result<(), Error> {
    // Many small objects take more than their text; and what was gathered is copied when it is whole.
    buffers::look_ahead(bytes.len().saturating_add(scanner.gathered()))?;
    scanner.push_to(bytes, fields, items).map_err(|error| unreadable(&error))?;
    scanner.take_broken().into_iter().for_each(|broken| items.broken(broken));
    Ok(())
}

/// A body that is one document. Fails with a protocol error when it is longer than a frame may be.
pub async fn read_all(mut body: Body<'_>) -> Result<Vec<u8>, Error> {
    let mut document = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk?;
        buffers::reserve(&mut document, chunk.len())?;
        document.extend_from_slice(&chunk);
        if document.len() > MAX_FRAME_BYTES {
            return Err(Error::protocol(format!("an object is longer than {MAX_FRAME_BYTES} bytes")));
        }
    }
    // Whoever reads it keeps a copy.
    buffers::look_ahead(document.len())?;
    Ok(document)
}

/// What is said of a list that cannot be read.
pub fn unreadable(error: &JsonError) -> Error {
    match error.kind {
        ErrorKind::OutOfMemory => Error::new(ErrorCode::OutOfMemory, format!("{error} of the list")),
        _ => Error::decode(format!("unable to decode the list: {error}")),
    }
}

/// The version of a page; protocol error when it has none that can be used.
pub fn head_version(head: &ListHead) -> Result<Version, Error> {
    let text = head.version.as_deref().unwrap_or("");
    if text.is_empty() {
        return Err(Error::protocol(
            "the list has no metadata.resourceVersion, so nothing can be watched from it: give `poll`, to list again and again",
        ));
    }
    Version::parse(text).map_err(|error| Error::protocol(format!("the list has no usable version: {error}")))
}

/// Letters of a foreign kind that a message quotes: it may be of any length.
const MAX_QUOTED_KIND: usize = 40;

/// Fails where an answer is no page of a list. A list without items is an empty one, where its kind says that it is a list.
fn check(head: &ListHead) -> Result<(), Error> {
    let has_array = head.items == GivenItems::Array;
    match head.kind.as_deref() {
        None if head.items == GivenItems::Missing => {
            Err(Error::protocol("the list was answered with a document that has neither kind nor items"))
        }
        Some("Status") => Err(Error::protocol("the list was answered with a Status and the code of a success")),
        // A resource of another group may be called so; a list of it has items.
        Some("Table") if !has_array => Err(Error::protocol("the list was answered with a Table, which holds no whole objects")),
        // It has a version of its own: taken for an empty list, it would cost everything that is held.
        Some(kind) if !has_array && !kind.ends_with("List") => {
            let kind: String = kind.chars().take(MAX_QUOTED_KIND).collect();
            Err(Error::protocol(format!("the list was answered with a {kind}, which is no list")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(page: &str) -> Result<(), String> {
        let mut scanner = ListScanner::new();
        scanner.push(page.as_bytes(), &FieldSet::new(Vec::new()), &mut |_| {}).unwrap();
        let head = scanner.finish().unwrap();
        check(&head).and_then(|()| head_version(&head).map(drop)).map_err(|error| error.message)
    }

    #[test]
    fn only_a_list_may_be_empty() {
        for items in ["", r#","items":null"#, r#","items":[]"#] {
            assert_eq!(checked(&format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"7"}}{items}}}"#)), Ok(()));
            let kindless = checked(&format!(r#"{{"metadata":{{"resourceVersion":"7"}}{items}}}"#));
            let missing = Err("the list was answered with a document that has neither kind nor items".to_string());
            assert_eq!(kindless, if items.is_empty() { missing } else { Ok(()) });
            assert!(checked(&format!(r#"{{"kind":"PodList","metadata":{{}}{items}}}"#)).is_err());
        }
        let pod = r#"{"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}}"#;
        assert_eq!(checked(pod), Err("the list was answered with a Pod, which is no list".to_string()));
        // What a resource is called is its own affair, as long as there are items.
        assert_eq!(checked(r#"{"kind":"Playlists","metadata":{"resourceVersion":"7"},"items":[]}"#), Ok(()));
    }
}
