//! Answers and messages while they come. Each connection has a reader of its own, so nothing of it goes into the next.

use futures::{StreamExt, future, stream};

use super::list::RangeReader;
use super::watch::WatchReader;
use crate::source::source::{FrameStream, PageStream};

/// The answer to a range request as a page of a list. An error is the last: of the connection, or of an answer that is none or breaks off.
pub fn page(reader: RangeReader, body: PageStream) -> PageStream {
    let chunks = stream::unfold(Some((reader, body)), |open| async move {
        let (mut reader, mut body) = open?;
        let mut list = Vec::new();
        let read = match body.next().await {
            Some(chunk) => chunk.and_then(|chunk| reader.push(&chunk, &mut list)),
            None => return Some((reader.finish(&mut list).map(|()| list), None)),
        };
        let failed = read.is_err();
        Some((read.map(|()| list), (!failed).then_some((reader, body))))
    });
    chunks.boxed_local()
}

/// The messages of a watch as frames. A message without one is a sign of life: an empty frame. An error is the last.
pub fn frames(mut reader: WatchReader, messages: FrameStream) -> FrameStream {
    let frames = messages.flat_map(move |message| {
        let mut frames = match message {
            Ok(message) => reader.read(&message),
            Err(error) => vec![Err(error)],
        };
        if frames.is_empty() {
            frames.push(Ok(Vec::new()));
        }
        stream::iter(frames)
    });
    // Nothing follows an error.
    let mut ended = false;
    frames.take_while(move |frame| future::ready(!std::mem::replace(&mut ended, frame.is_err()))).boxed_local()
}
