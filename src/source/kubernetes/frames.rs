//! Cuts the stream of a watch over fetch into frames.

use std::collections::VecDeque;

use futures::{StreamExt, stream};

use crate::source::buffers::{self, MAX_FRAME_BYTES};
use crate::source::source::{FrameStream, PageStream};
use crate::status::Error;

/// Cuts the body of a streamed watch into frames: one JSON document a line.
///
/// A line break cannot stand inside a JSON document of one line, so the cut needs no parsing. A rest without its line break is a frame that
/// the end of the connection cut off. Whoever resumes the watch receives it again.
#[derive(Debug, Default)]
pub struct FrameSplitter {
    rest: Vec<u8>,
}

impl FrameSplitter {
    /// An empty one, for a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands over every frame that is whole now, without its line break. Empty lines are no frames.
    pub fn push(&mut self, chunk: &[u8], mut frame: impl FnMut(Vec<u8>)) -> Result<(), Error> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            let mut line = std::mem::take(&mut self.rest);
            buffers::reserve(&mut line, end - start)?;
            line.extend_from_slice(&chunk[start..end]);
            start = end + 1;
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                frame(line);
            }
        }
        buffers::reserve(&mut self.rest, chunk.len() - start)?;
        self.rest.extend_from_slice(&chunk[start..]);
        if self.rest.len() > MAX_FRAME_BYTES {
            self.rest = Vec::new();
            return Err(Error::protocol(format!("a watch frame is longer than {MAX_FRAME_BYTES} bytes")));
        }
        Ok(())
    }

    /// Bytes of a frame that has begun.
    pub fn pending(&self) -> usize {
        self.rest.len()
    }
}

/// Cuts a stream of bytes into frames, one a line. A chunk that ends no frame gives an empty one: so a long frame on a slow line does not look
/// like silence.
pub fn frames(chunks: PageStream) -> FrameStream {
    struct Cutting {
        chunks: PageStream,
        splitter: FrameSplitter,
        ready: VecDeque<Vec<u8>>,
    }
    let state = Cutting { chunks, splitter: FrameSplitter::new(), ready: VecDeque::new() };
    stream::unfold(Some(state), |state| async move {
        let mut state = state?;
        if let Some(frame) = state.ready.pop_front() {
            return Some((Ok(frame), Some(state)));
        }
        // Nothing follows an error: the watch goes on from the last version.
        let chunk = match state.chunks.next().await {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => return Some((Err(error), None)),
            None if state.splitter.pending() > 0 => return Some((Err(Error::network("the answer broke off amid an event")), None)),
            None => return None,
        };
        let ready = &mut state.ready;
        match state.splitter.push(&chunk, |frame| ready.push_back(frame)) {
            Ok(()) => Some((Ok(state.ready.pop_front().unwrap_or_default()), Some(state))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed_local()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::status::ErrorCode;
    use proptest::prelude::*;

    fn chunks(chunks: Vec<Result<&'static str, Error>>) -> PageStream {
        stream::iter(chunks.into_iter().map(|chunk| chunk.map(|text| text.as_bytes().to_vec()))).boxed_local()
    }

    /// What comes, as text.
    fn told(frames: FrameStream) -> Vec<String> {
        let text = |frame: Result<Vec<u8>, Error>| frame.map_or_else(|error| error.message, |frame| String::from_utf8(frame).unwrap());
        VirtualTime::new(1).run_until(frames.map(text).collect())
    }

    #[test]
    fn a_stream_of_chunks_is_a_stream_of_frames() {
        assert_eq!(told(frames(chunks(vec![Ok("a\nb\nc"), Ok("d\n")]))), ["a", "b", "cd"]);
        assert_eq!(told(frames(chunks(vec![Ok("a"), Ok("b"), Ok("c\n")]))), ["", "", "abc"], "each chunk is a sign of life");
        assert_eq!(told(frames(chunks(vec![Ok("a\nb")]))), ["a", "the answer broke off amid an event"]);
    }

    #[test]
    fn nothing_follows_an_error() {
        let reset = || Err(Error::network("reset"));
        assert_eq!(told(frames(chunks(vec![Ok("a\nb"), reset(), Ok("c\n")]))), ["a", "reset"]);
        let long: &str = "x".repeat(MAX_FRAME_BYTES).leak();
        let told = told(frames(chunks(vec![Ok("a\n"), Ok(long), Ok("x"), Ok("b\n")])));
        assert_eq!(told, ["a", "", &format!("a watch frame is longer than {MAX_FRAME_BYTES} bytes")]);
    }

    #[test]
    fn a_frame_without_end_is_given_up() {
        let mut splitter = FrameSplitter::new();
        let chunk = vec![b'x'; MAX_FRAME_BYTES];
        splitter.push(&chunk, |_| panic!("no frame is whole")).unwrap();
        let error = splitter.push(b"x", |_| panic!("no frame is whole")).unwrap_err();
        assert_eq!((error.code, splitter.pending()), (ErrorCode::Protocol, 0));
    }

    proptest! {
        #[test]
        fn law_04_split_frames_do_not_depend_on_chunks(
            lines in prop::collection::vec("[a-z{}\":, ]{0,20}", 0..12),
            cuts in prop::collection::vec(1usize..9, 1..40),
            crlf in any::<bool>(),
            tail in "[a-z]{0,5}",
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut body: Vec<u8> = lines.iter().flat_map(|line| [line.as_str(), end].concat().into_bytes()).collect();
            body.extend_from_slice(tail.as_bytes());
            let expected: Vec<Vec<u8>> =
                lines.iter().filter(|line| !line.trim().is_empty()).map(|line| line.as_bytes().to_vec()).collect();

            let mut splitter = FrameSplitter::new();
            let mut frames = Vec::new();
            let mut rest = body.as_slice();
            for cut in cuts.iter().cycle() {
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                splitter.push(chunk, |frame| frames.push(frame)).unwrap();
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(frames, expected);
            prop_assert_eq!(splitter.pending(), tail.len());
        }
    }
}
