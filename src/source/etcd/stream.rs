//! Answers and messages while they come. Each connection has a reader of its own, so nothing of it goes into the next.

use futures::{StreamExt, stream};

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

/// The messages of a watch as frames. A message without one is a sign of life: an empty frame. An error is the last, and lets the connection go.
pub fn frames(reader: WatchReader, messages: FrameStream) -> FrameStream {
    let read = stream::unfold(Some((reader, messages)), |open| async move {
        let (mut reader, mut messages) = open?;
        let mut frames = match messages.next().await? {
            Ok(message) => reader.read(&message),
            Err(error) => vec![Err(error)],
        };
        if frames.is_empty() {
            frames.push(Ok(Vec::new()));
        }
        let failed = frames.last().is_some_and(Result::is_err);
        Some((stream::iter(frames), (!failed).then_some((reader, messages))))
    });
    read.flatten().boxed_local()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::source::etcd::{Dialect, Numbers};
    use crate::status::Error;
    use crate::version::Version;

    /// What is told of these messages without waiting, where the connection stays open behind them.
    fn told(messages: Vec<Result<Vec<u8>, Error>>) -> Vec<Option<bool>> {
        let dialect = Dialect { prefix: b"p/".to_vec(), numbers: Numbers { transactions: false } };
        let reader = WatchReader::new(dialect, Version::from(4), true);
        let mut frames = frames(reader, stream::iter(messages).chain(stream::pending()).boxed_local());
        let mut told = Vec::new();
        while let Some(next) = frames.next().now_or_never() {
            told.push(next.map(|frame| frame.is_ok()));
            if told.last() == Some(&None) {
                break;
            }
        }
        told
    }

    #[test]
    fn an_error_is_the_end_and_not_the_next_message() {
        let alive = || Ok(br#"{"result":{"header":{"revision":"9"},"created":true}}"#.to_vec());
        assert_eq!(told(vec![alive(), alive()]), [Some(true); 2], "it goes on");
        assert_eq!(told(vec![alive(), Ok(b"<html>".to_vec())]), [Some(true), Some(false), None]);
        assert_eq!(told(vec![Err(Error::network("cut"))]), [Some(false), None]);
        assert_eq!(told(vec![Ok(b"<html>".to_vec()), alive()]), [Some(false), None]);
    }
}
