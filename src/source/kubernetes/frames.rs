//! Cuts the stream of a watch over fetch into frames.

use crate::source::buffers::{self, MAX_FRAME_BYTES};
use crate::status::Error;

/// Cuts the body of a streamed watch into frames: one JSON document a line.
///
/// A line break cannot stand inside a JSON document of one line, so the cut needs no parsing. A rest without its line break
/// is a frame that was cut off by the end of the connection; whoever resumes the watch receives it again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use proptest::prelude::*;

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
