//! What goes over the wire, and the connections that it goes over.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::stream::{self, Stream, StreamExt};
use watchcache::source::FrameStream;
use watchcache::status::Error;

/// Counts itself.
pub struct Connection(pub Rc<Cell<usize>>);

impl Connection {
    /// A watch that is this connection.
    pub fn hold(self, stream: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> FrameStream {
        Held { stream: stream.boxed_local(), _connection: self }.boxed_local()
    }
}

pub fn said(frames: Vec<String>) -> impl Stream<Item = Result<Vec<u8>, Error>> {
    stream::iter(frames.into_iter().map(|frame| Ok(frame.into_bytes())))
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A stream that is a connection for as long as it is held.
pub struct Held<T> {
    pub stream: stream::LocalBoxStream<'static, T>,
    pub _connection: Connection,
}

impl<T> Stream for Held<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.stream.as_mut().poll_next(cx)
    }
}

pub fn initial_events_end(version: u64) -> Vec<u8> {
    format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{version}\",\
         \"annotations\":{{\"k8s.io/initial-events-end\":\"true\"}}}}}}}}\n"
    )
    .into_bytes()
}

pub fn bookmark_frame(version: u64) -> Vec<u8> {
    format!("{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{version}\"}}}}}}\n").into_bytes()
}
