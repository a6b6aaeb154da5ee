//! Sources that speak etcd: where the gateway's answers come in, and where whoever calls such a source from JavaScript has them read.
//!
//! Such a source has a member under `Symbol.for("watchcache.etcd")`: `{ prefix: Uint8Array, transactions: boolean }`, with the methods of a
//! `Source` that give the gateway's answers instead of Kubernetes documents:
//! - `list`: `{ body, revision? }`, the answer to a range request, and the revision that was asked for;
//! - `watch`: the messages of one watch;
//! - all others: `{ body, deleted? }`, a range of one key, and the revision at which it was deleted. Without a body there is no answer.

use std::cell::RefCell;

use js_sys::{Array, Reflect, Symbol, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::source::etcd::{self, Dialect, Numbers, RangeReader, WatchReader};
use crate::source::{PageStream, WatchRequest};
use crate::status::{Error, Status};
use crate::version::Version;
use crate::web::bytes::frame_bytes;
use crate::web::error::to_js;
use crate::web::values::{property, text};

/// What lies beside the body of an answer.
pub(super) struct Answered {
    revision: Option<u64>,
    deleted: Option<u64>,
}

impl Answered {
    pub(super) fn of(answer: &JsValue) -> Self {
        let number = |name: &str| text(answer, name).and_then(|digits| digits.parse().ok());
        Self { revision: number("revision"), deleted: number("deleted") }
    }
}

/// The source that gives the gateway's answers, if this one speaks etcd, and how these are read.
pub(super) fn of(source: &JsValue) -> Option<(JsValue, Dialect)> {
    let gateway = Reflect::get(source, &Symbol::for_("watchcache.etcd")).ok().filter(JsValue::is_object)?;
    let prefix = frame_bytes(&property(&gateway, "prefix")?).ok()?;
    let transactions = property(&gateway, "transactions").is_some_and(|value| value.is_truthy());
    Some((gateway, Dialect { prefix, numbers: Numbers { transactions } }))
}

/// The answer to a range request as a page.
pub(super) fn page(dialect: Dialect, body: PageStream, answer: &JsValue) -> PageStream {
    etcd::page(RangeReader::new(dialect, Answered::of(answer).revision), body)
}

/// A reader of the watch that is asked for.
pub(super) fn watch(dialect: Dialect, request: &WatchRequest) -> Result<WatchReader, Error> {
    reader(dialect, &request.resource_version, request.allow_watch_bookmarks)
}

fn reader(dialect: Dialect, after: &str, bookmarks: bool) -> Result<WatchReader, Error> {
    let after = if after.is_empty() { Ok(Version::ZERO) } else { Version::parse(after) };
    let after = after.map_err(|error| Error::from(Status::bad_request(error.to_string())))?;
    Ok(WatchReader::new(dialect, after, bookmarks))
}

/// The object of an answer that holds one key; fails with 404 where it holds none.
pub(super) fn object(dialect: &Dialect, answer: &[u8], beside: &Answered) -> Result<Vec<u8>, Error> {
    etcd::object(dialect, answer, beside.deleted)?.ok_or_else(|| Status::new(404, "NotFound", "there is no such key").into())
}

/// Reads the gateway's answers for who calls a source from JavaScript.
#[wasm_bindgen]
pub struct RawEtcd(Dialect);

#[wasm_bindgen]
impl RawEtcd {
    /// Of the keys with this prefix.
    #[wasm_bindgen(constructor)]
    pub fn new(prefix: &Uint8Array, transactions: bool) -> RawEtcd {
        RawEtcd(Dialect { prefix: prefix.to_vec(), numbers: Numbers { transactions } })
    }

    /// A List.
    pub fn list(&self, answer: JsValue, body: JsValue) -> Result<Uint8Array, JsValue> {
        let read = || {
            let mut reader = RangeReader::new(self.0.clone(), Answered::of(&answer).revision);
            let mut list = Vec::new();
            reader.push(&frame_bytes(&body)?, &mut list)?;
            reader.finish(&mut list)?;
            Ok(list)
        };
        told(read())
    }

    /// One object.
    pub fn object(&self, answer: JsValue, body: JsValue) -> Result<Uint8Array, JsValue> {
        told(frame_bytes(&body).and_then(|body| object(&self.0, &body, &Answered::of(&answer))))
    }

    /// A watch of what came after this version.
    pub fn watch(&self, after: &str, bookmarks: bool) -> Result<RawEtcdWatch, JsValue> {
        let reader = reader(self.0.clone(), after, bookmarks).map_err(|error| to_js(&error))?;
        Ok(RawEtcdWatch(RefCell::new(reader)))
    }
}

/// Reads the messages of one watch.
#[wasm_bindgen]
pub struct RawEtcdWatch(RefCell<WatchReader>);

#[wasm_bindgen]
impl RawEtcdWatch {
    /// The frames of a message, as bytes; an error is the last.
    pub fn frames(&self, message: JsValue) -> Result<Array, JsValue> {
        let message = frame_bytes(&message).map_err(|error| to_js(&error))?;
        let frames = self.0.borrow_mut().read(&message);
        Ok(frames
            .into_iter()
            .map(|frame| frame.map_or_else(|error| to_js(&error), |frame| Uint8Array::from(frame.as_slice()).into()))
            .collect())
    }
}

fn told(read: Result<Vec<u8>, Error>) -> Result<Uint8Array, JsValue> {
    read.map(|bytes| Uint8Array::from(bytes.as_slice())).map_err(|error| to_js(&error))
}
