//! The bytes of a stream, such as an answer's body.

use std::cell::Cell;

use futures::{StreamExt, stream};
use js_sys::{Function, Object, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamByobReader, ReadableStreamDefaultReader, Response};

use super::abort::Abort;
use crate::source::PageStream;
use crate::status::Error;
use crate::web::bytes::frame_bytes;
use crate::web::error::reason;
use crate::web::values::{cast, property, set, text};

/// The buffer for one chunk, where the reader fills ours. A larger one makes a long list no quicker.
const CHUNK_BYTES: u32 = 128 << 10;

/// Reads a stream, of which nobody else can read then.
struct Chunks(Reader);

enum Reader {
    /// It fills the buffer that it is given. A long list then makes no garbage and comes in larger chunks.
    Filling(ReadableStreamByobReader, Cell<Option<Uint8Array>>),
    /// It hands over what it has.
    Handing(ReadableStreamDefaultReader),
}

impl Chunks {
    /// Fails when somebody else reads the stream.
    fn of(stream: &JsValue) -> Result<Self, Error> {
        let get = cast::<Function>(stream, "getReader").ok_or_else(|| Error::protocol("the body is no stream of bytes"))?;
        let filling = Object::new();
        set(&filling, "mode", &"byob".into());
        // Not every stream can fill buffers. Why one cannot be read at all is told by the second call.
        let reader = get.call1(stream, &filling).or_else(|_| get.call0(stream)).map_err(|thrown| {
            let reason = text(&thrown, "message").unwrap_or_default();
            Error::protocol(format!("the body cannot be read: {reason}"))
        })?;
        // A stream of another realm is known by what it can do.
        let fills = cast::<Function>(&reader, "read").is_some_and(|read| read.length() > 0);
        Ok(Self(if fills { Reader::Filling(reader.unchecked_into(), Cell::new(None)) } else { Reader::Handing(reader.unchecked_into()) }))
    }

    /// The next chunk; `None` at the stream's end.
    async fn next(&self) -> Option<Result<Vec<u8>, Error>> {
        let reading = match &self.0 {
            Reader::Filling(reader, buffer) => {
                let room = buffer.take().unwrap_or_else(|| Uint8Array::new_with_length(CHUNK_BYTES));
                reader.read_with_array_buffer_view(&room)
            }
            Reader::Handing(reader) => reader.read(),
        };
        let result = match JsFuture::from(reading).await {
            Ok(result) => result,
            Err(thrown) => return Some(Err(Error::network(format!("the answer broke off: {}", reason(&thrown))))),
        };
        let value = property(&result, "value")?;
        if let Reader::Filling(_, buffer) = &self.0 {
            let filled: &Uint8Array = value.unchecked_ref();
            if filled.length() == 0 {
                return None;
            }
            let chunk = frame_bytes(&value);
            // The buffer came back as another object.
            buffer.set(Some(Uint8Array::new(&filled.buffer())));
            return Some(chunk);
        }
        Some(frame_bytes(&value))
    }
}

/// An answer's body. Dropping it aborts the request.
pub(super) struct Body {
    chunks: Option<Chunks>,
    _abort: Abort,
}

impl Body {
    pub(super) fn new(response: &Response, abort: Abort) -> Result<Self, Error> {
        let chunks = response.body().map(|body| Chunks::of(&body)).transpose()?;
        Ok(Self { chunks, _abort: abort })
    }

    /// A stream that a source of the user gave.
    pub(super) fn of(stream: &JsValue, abort: Abort) -> Result<Self, Error> {
        Ok(Self { chunks: Some(Chunks::of(stream)?), _abort: abort })
    }

    async fn read(&self) -> Option<Result<Vec<u8>, Error>> {
        self.chunks.as_ref()?.next().await
    }

    /// Its first bytes, as many as come.
    pub(super) async fn read_up_to(self, limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < limit
            && let Some(Ok(chunk)) = self.read().await
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(limit);
        bytes
    }

    /// All of it, as a stream. Nothing follows an error.
    pub(super) fn chunks(self) -> PageStream {
        stream::unfold(Some(self), |state| async move {
            let body = state?;
            let item = body.read().await?;
            let next = item.is_ok().then_some(body);
            Some((item, next))
        })
        .boxed_local()
    }
}
