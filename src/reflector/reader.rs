//! Reads watch frames: what one of them means, and who hears of its object at once.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::kinds::Kinds;
use super::predecessors::Comparisons;
use crate::change::ChangeKind;
use crate::json::{FieldSet, Frame, FrameType, Identity, Path, Scalar, identify, scan_frame, scan_object};
use crate::object::Object;
use crate::source::buffers;
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// The meaning of a frame.
#[derive(Debug)]
pub(super) enum Event {
    Change(ChangeKind, Rc<Object>),
    Bookmark {
        version: Version,
        /// It is the one behind the initial events.
        initial_events_end: bool,
    },
    /// The server ends the watch, and says why.
    Failed(Error),
}

/// A frame that cannot be taken for what it is. Nothing of it is used.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) error: Error,
    /// Whose event it is, where that can be said all the same.
    pub(super) identity: Option<Box<Identity>>,
}

/// The cache that is read for.
pub trait Recipient {
    /// Sees the objects of a list as they are read, long before they are told.
    ///
    /// Nothing of a page is told before all of it has proved to be sound, and messages wait for their receiver. What is seen may never be told.
    fn arriving(&self, objects: &[Rc<Object>]);

    /// Makes objects of what a source holds packed; they rest there. What is held at the same version is taken as it is. Fails where there is no room for them, or what is given is no parcel.
    fn open(&self, parcel: &[u8]) -> Result<Vec<Rc<Object>>, Error>;
}

/// With which paths objects are read, and of which kind they must be.
pub(super) struct Reader {
    pub(super) fields: Rc<RefCell<FieldSet>>,
    pub(super) kinds: Kinds,
    pub(super) recipient: OnceCell<Box<dyn Recipient>>,
    pub(super) comparisons: Comparisons,
}

impl Reader {
    pub(super) fn new(fields: Rc<RefCell<FieldSet>>, kinds: Kinds) -> Self {
        Self { fields, kinds, recipient: OnceCell::new(), comparisons: Comparisons::default() }
    }

    /// Reads a frame of a watch, and gives its buffer back.
    pub(super) fn event(&self, frame: Vec<u8>) -> Result<Event, Unreadable> {
        let fields = self.fields.borrow();
        let compared = self.comparisons.read(&frame, &fields, &self.kinds);
        let event = compared
            .and_then(|(kind, object)| Some(Event::Change(change(&kind)?, object)))
            .map_or_else(|| read(&frame, &fields, &self.kinds), Ok)
            .map_err(|error| Unreadable { error, identity: identify(&frame, true).map(Box::new) });
        buffers::give_back(frame);
        event
    }

    /// Whether somebody makes objects of what a source holds packed.
    pub(super) fn opens(&self) -> bool {
        self.recipient.get().is_some()
    }

    /// The objects of a parcel. Fails where nobody makes them, see [`Reader::opens`], and as the one who does.
    pub(super) fn open(&self, parcel: &[u8]) -> Result<Vec<Rc<Object>>, Error> {
        self.recipient.get().ok_or_else(|| Error::new(ErrorCode::Internal, "nobody was set who opens parcels"))?.open(parcel)
    }

    /// An object that is shown before its list is told.
    pub(super) fn object(&self, document: &[u8]) -> Option<Rc<Object>> {
        Object::new(scan_object(document, &self.fields.borrow()).ok()?).ok()
    }

    /// These objects of a list have been read.
    pub(super) fn arrived(&self, objects: &[Rc<Object>]) {
        if let Some(recipient) = self.recipient.get().filter(|_| !objects.is_empty()) {
            recipient.arriving(objects);
        }
    }
}

fn read(frame: &[u8], fields: &FieldSet, kinds: &Kinds) -> Result<Event, Error> {
    match scan_frame(frame, fields) {
        Ok(Frame::Event { kind: FrameType::Bookmark, object }) => {
            let text = object.version.as_deref().unwrap_or("");
            let version = Version::parse(text).map_err(|error| Error::protocol(format!("a bookmark without a usable version: {error}")))?;
            Ok(Event::Bookmark { version, initial_events_end: object.initial_events_end })
        }
        Ok(Frame::Event { kind, object }) => {
            let kind =
                change(&kind).ok_or_else(|| Error::new(ErrorCode::Internal, "a watch frame of another type was read as a change"))?;
            if object.name.is_none() && is_table(&object.bytes) {
                return Err(Error::protocol("the watch sent a Table, which holds no whole object"));
            }
            kinds.check(object.kind.as_deref())?;
            Ok(Event::Change(kind, Object::new(object)?))
        }
        Ok(Frame::Error { status }) => Ok(Event::Failed(match Status::parse(&status) {
            Some(status) => Error::from(status),
            None => Error::protocol("an ERROR event without a Status"),
        })),
        Ok(Frame::Unknown { kind, .. }) => {
            let kind: String = kind.chars().take(40).collect();
            Err(Error::protocol(format!("unable to decode an event from the watch stream: unknown type {kind:?}")))
        }
        Err(error) => Err(Error::decode(format!("unable to decode an event from the watch stream: {error}"))),
    }
}

fn change(kind: &FrameType) -> Option<ChangeKind> {
    match kind {
        FrameType::Added => Some(ChangeKind::Added),
        FrameType::Modified => Some(ChangeKind::Modified),
        FrameType::Deleted => Some(ChangeKind::Deleted),
        FrameType::Bookmark | FrameType::Error | FrameType::Unknown(_) => None,
    }
}

/// Whether a document without a name is what a server sends to those who ask for rows. client-go passes over such events, and with them
/// over the change that they stand for.
fn is_table(document: &[u8]) -> bool {
    Path::member(&["kind"]).read(document).is_ok_and(|kind| kind == Scalar::Text("Table".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(frame: &str) -> Result<Event, Error> {
        read(frame.as_bytes(), &FieldSet::new(Vec::new()), &Kinds::default())
    }

    #[test]
    fn changes_bookmarks_and_errors_are_told_apart() {
        let change = event(r#"{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"9"}}}"#);
        let Ok(Event::Change(ChangeKind::Deleted, object)) = change else { panic!("{change:?}") };
        assert_eq!((&**object.key(), object.version()), ("n/a", &Version::from(9)));
        let bookmark = event("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n");
        assert!(matches!(bookmark, Ok(Event::Bookmark { version, initial_events_end: false }) if version == Version::from(12)));
        let end = |value| {
            let metadata = format!(r#"{{"resourceVersion":"12","annotations":{{"k8s.io/initial-events-end":"{value}"}}}}"#);
            event(&format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{metadata}}}}}"#))
        };
        assert!(matches!(end("true"), Ok(Event::Bookmark { initial_events_end: true, .. })));
        assert!(matches!(end("false"), Ok(Event::Bookmark { initial_events_end: false, .. })));
        let failed = event(&format!(r#"{{"type":"ERROR","object":{}}}"#, Status::too_old("1", "2").to_json()));
        assert!(matches!(failed, Ok(Event::Failed(error)) if error.code == ErrorCode::Expired));
        let odd = event(r#"{"type":"ERROR","object":{"kind":"Pod"}}"#);
        assert!(matches!(odd, Ok(Event::Failed(error)) if error.code == ErrorCode::Protocol));
    }

    #[test]
    fn the_buffer_of_a_frame_is_given_back_whatever_it_brought() {
        let reader = Reader::new(Rc::new(RefCell::new(FieldSet::new(Vec::new()))), Kinds::default());
        for text in [r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"9"}}}"#, r#"{"type":"ADDED","object":{}}"#] {
            let mut frame = Vec::with_capacity(5000);
            frame.extend_from_slice(text.as_bytes());
            let place = frame.as_ptr();
            let _event = reader.event(frame);
            let taken = buffers::take(1).unwrap();
            assert_eq!(taken.as_ptr(), place, "{text}");
        }
    }

    /// client-go passes over it, and over the change that it stood for.
    #[test]
    fn rf_28_a_table_is_no_object_of_a_watch() {
        let table = |version: &str, name: &str| {
            let metadata = format!(r#"{{{name}"resourceVersion":"5"}}"#);
            event(&format!(r#"{{"type":"ADDED","object":{{"kind":"Table","apiVersion":"{version}","metadata":{metadata},"rows":[]}}}}"#))
        };
        for version in ["meta.k8s.io/v1", "meta.k8s.io/v1beta1"] {
            let error = table(version, "").unwrap_err();
            assert!(error.code == ErrorCode::Protocol && error.message.contains("a Table"), "{error}");
        }
        let furniture = table("shop.example/v1", r#""name":"oak","#);
        assert!(matches!(furniture, Ok(Event::Change(ChangeKind::Added, object)) if &**object.key() == "oak"));
    }

    #[test]
    fn law_11_whole_what_cannot_be_taken_says_why() {
        for (frame, code, message) in [
            ("{\"type\":\"ADDED\",\"object\":{\"metadata\":", ErrorCode::Decode, "unexpected end"),
            ("<html>", ErrorCode::Decode, "expected"),
            ("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\u{1}\"}}}", ErrorCode::Decode, "control character"),
            (r#"{"type":"MERGED","object":{"metadata":{"resourceVersion":"77"}}}"#, ErrorCode::Protocol, "unknown type \"MERGED\""),
            (r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#, ErrorCode::Protocol, "no metadata.resourceVersion"),
            (r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}}"#, ErrorCode::Protocol, "metadata.name"),
            (r#"{"type":"ADDED","object":{"kind":"Table","metadata":{"resourceVersion":"5"},"rows":[]}}"#, ErrorCode::Protocol, "a Table"),
            (r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#, ErrorCode::Protocol, "bookmark"),
            (r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"x1"}}}"#, ErrorCode::Protocol, "x1"),
        ] {
            let error = event(frame).unwrap_err();
            assert_eq!(error.code, code, "{frame}: {error}");
            assert!(error.message.contains(message), "{frame}: {error}");
        }
    }
}
