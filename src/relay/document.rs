//! What a cacher holds, as pages and frames of the Kubernetes wire, and as parcels.

use std::iter;
use std::rc::Rc;

use super::head::{read_history, write_history};
use crate::cache::List;
use crate::json::value::Value;
use crate::json::write::Document;
use crate::object::Object;
use crate::object::rest::parcel;
use crate::source::{History, PageStream, ParcelStream};
use crate::status::Error;
use crate::time::WallTime;
use crate::version::Version;
use crate::watch::{EventKind, WatchEvent};

use futures::stream::{self, StreamExt};

/// Bytes of a page that are made at once. What reads them has its turn in between.
const CHUNK_BYTES: usize = 64 << 10;

/// Objects of a parcel. It is made at once, and opened at once: with so many the dictionary in it is a small part, and neither takes a millisecond.
const PARCEL_OBJECTS: usize = 250;

/// Bytes of their texts, as they rest, behind which a parcel ends. Of each call so much may be on its way.
const PARCEL_BYTES: usize = 256 << 10;

/// These objects as they rest.
pub(super) fn parcels(objects: Vec<Rc<Object>>) -> ParcelStream {
    let mut from = 0;
    let made = iter::from_fn(move || {
        let rest = &objects[from..];
        let (mut count, mut bytes) = (0, 0);
        while count < rest.len().min(PARCEL_OBJECTS) && bytes < PARCEL_BYTES {
            bytes += rest[count].size();
            count += 1;
        }
        from += count;
        (count > 0).then(|| Ok(parcel(&rest[..count])))
    });
    stream::iter(made).boxed_local()
}

/// The head of a state that crosses a channel: its parcels follow.
pub(super) fn state_head(version: &Version, history: History, kept_at: Option<WallTime>) -> Vec<u8> {
    let kept_at = kept_at.map(|at| at.as_unix_millis().to_string());
    let mut head = Document::new();
    write_history(head.text("version", &version.to_string()), history);
    head.optional("keptAt", kept_at.as_deref()).finish().into_bytes()
}

/// The version, its history and the time in such a head; `None` where it is none.
pub(super) fn read_state_head(head: &[u8]) -> Option<(Version, History, Option<WallTime>)> {
    let head = Value::parse(head).ok()?;
    let kept_at = head.text("keptAt")?.map(|at| at.parse().map(WallTime::from_unix_millis)).transpose().ok()?;
    Some((Version::parse(head.text("version")??).ok()?, read_history(&head)?, kept_at))
}

/// The body of a page, made as it is read.
pub(super) fn page(list: List) -> PageStream {
    let mut metadata = Document::new();
    metadata.text("resourceVersion", &list.version.to_string()).optional("continue", list.continue_token.as_deref());
    if let Some(remaining) = list.remaining {
        metadata.raw("remainingItemCount", &remaining.to_string());
    }
    let head = format!(r#"{{"metadata":{},"items":["#, metadata.finish());
    let objects = list.objects.into_iter().peekable();
    let body = stream::unfold(Some((head.into_bytes(), objects)), |rest| async {
        let (mut bytes, mut objects) = rest?;
        while let Some(object) = objects.next() {
            bytes.extend_from_slice(&object.lend());
            if objects.peek().is_some() {
                bytes.push(b',');
            }
            if bytes.len() >= CHUNK_BYTES {
                return Some((Ok(bytes), Some((Vec::new(), objects))));
            }
        }
        bytes.extend_from_slice(b"]}");
        Some((Ok(bytes), None))
    });
    body.boxed_local()
}

/// An event as a frame.
pub(super) fn frame(event: &WatchEvent) -> Vec<u8> {
    let kind = match event.kind {
        EventKind::Added => "ADDED",
        EventKind::Modified => "MODIFIED",
        EventKind::Deleted => "DELETED",
        EventKind::Bookmark | EventKind::InitialEventsEnd | EventKind::Resync => "BOOKMARK",
        EventKind::Error => "ERROR",
    };
    framed(kind, &event.object)
}

fn framed(kind: &str, object: &Rc<Object>) -> Vec<u8> {
    let text = object.lend();
    let mut bytes = Vec::with_capacity(text.len() + 32);
    bytes.extend_from_slice(br#"{"type":""#);
    bytes.extend_from_slice(kind.as_bytes());
    bytes.extend_from_slice(br#"","object":"#);
    bytes.extend_from_slice(&text);
    bytes.push(b'}');
    bytes
}

/// Why a watch was refused, as its last item. What has no Status is no word of an API.
pub(super) fn refusal(error: Error) -> Result<Vec<u8>, Error> {
    match &error.status {
        Some(status) => Ok(framed("ERROR", &Object::status(status))),
        None => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::rest::Packer;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::status::{ErrorCode, Status};
    use crate::testing::{named, with_spec};

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn chunks(list: List) -> Vec<Vec<u8>> {
        VirtualTime::new(1).run_until(page(list).map(Result::unwrap).collect())
    }

    #[test]
    fn a_page_has_what_a_list_has() {
        let (a, b) = (named("a", 1), named("b", 2));
        let whole = List { objects: vec![a.clone(), b.clone()], version: Version::from(7), ..List::default() };
        let items = format!("{},{}", text(&a.lend()), text(&b.lend()));
        assert_eq!(text(&chunks(whole.clone()).concat()), format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#));
        let part = List { continue_token: Some("t\"".into()), remaining: Some(3), ..whole };
        let metadata = r#"{"resourceVersion":"7","continue":"t\"","remainingItemCount":3}"#;
        assert_eq!(text(&chunks(part).concat()), format!(r#"{{"metadata":{metadata},"items":[{items}]}}"#));
        let empty = List { version: Version::from(7), ..List::default() };
        assert_eq!(text(&chunks(empty).concat()), r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#);
    }

    #[test]
    fn a_large_page_comes_in_chunks() {
        let objects: Vec<_> = (1..=5).map(|number| named(&"x".repeat(CHUNK_BYTES / 4), number)).collect();
        let chunks = chunks(List { objects, version: Version::from(7), ..List::default() });
        let lengths: Vec<_> = chunks.iter().map(Vec::len).collect();
        assert!(lengths.len() == 3 && lengths.iter().all(|length| *length < 2 * CHUNK_BYTES), "{lengths:?}");
    }

    #[test]
    fn a_state_crosses_with_its_version_and_the_time_when_it_was_kept() {
        for at in [None, Some(WallTime::from_unix_millis(1_700_000_000_000))] {
            let history = History { cache: u64::MAX, resets: 3 };
            assert_eq!(read_state_head(&state_head(&Version::from(7), history, at)), Some((Version::from(7), history, at)));
        }
        for strange in ["", "{}", r#"{"version":"x"}"#, r#"{"version":7}"#, r#"{"version":"7","keptAt":"-1"}"#] {
            assert_eq!(read_state_head(strange.as_bytes()), None, "{strange}");
        }
    }

    #[test]
    fn a_parcel_ends_where_its_texts_are_long() {
        // They cannot be packed.
        let mut letters = fastrand::Rng::with_seed(1);
        let objects: Vec<_> = (1..=20)
            .map(|number| {
                let text: String = (0..100_000).map(|_| letters.alphanumeric()).collect();
                with_spec(&format!("release-{number}"), number, &[], &format!(r#"{{"data":"{text}"}}"#))
            })
            .collect();
        let sent: Vec<Vec<u8>> = VirtualTime::new(1).run_until(parcels(objects).map(Result::unwrap).collect());
        assert!(sent.iter().all(|parcel| parcel.len() < PARCEL_BYTES + 110_000), "{:?}", sent.iter().map(Vec::len).collect::<Vec<_>>());
    }

    #[test]
    fn all_objects_are_in_some_parcel() {
        for count in [0, 1, PARCEL_OBJECTS, PARCEL_OBJECTS + 1] {
            let objects: Vec<_> = (0..count).map(|number| named(&format!("pod-{number:04}"), number as u64 + 1)).collect();
            let mut packer = Packer::default();
            let sent: Vec<Vec<u8>> = VirtualTime::new(1).run_until(parcels(objects.clone()).map(Result::unwrap).collect());
            let came: Vec<_> = sent.iter().flat_map(|parcel| packer.open_alone(parcel).unwrap()).collect();
            assert!(came.iter().map(|object| object.text()).eq(objects.iter().map(|object| object.text())), "{count}");
        }
    }

    #[test]
    fn events_have_the_words_of_the_api() {
        let object = named("a", 1);
        let of = |kind| text(&frame(&WatchEvent { kind, object: object.clone(), version: Version::from(1), before: None }));
        let expected = |word: &str| format!(r#"{{"type":"{word}","object":{}}}"#, text(&object.lend()));
        for (kind, word) in [(EventKind::Added, "ADDED"), (EventKind::Modified, "MODIFIED"), (EventKind::Deleted, "DELETED")] {
            assert_eq!(of(kind), expected(word));
        }
        let bookmark = text(&frame(&WatchEvent::bookmark(Version::from(9), true)));
        assert!(bookmark.starts_with(r#"{"type":"BOOKMARK","object":"#) && bookmark.contains("initial-events-end"), "{bookmark}");
    }

    #[test]
    fn a_refusal_is_an_error_event_where_it_has_a_status() {
        let gone = Error::from(Status::too_old(1, 2));
        assert!(text(&refusal(gone).unwrap()).starts_with(r#"{"type":"ERROR","object":{"kind":"Status""#));
        let closed = Error::new(ErrorCode::Closed, "closed");
        assert_eq!(refusal(closed.clone()), Err(closed));
    }
}
