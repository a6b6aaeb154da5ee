//! Packs a text along the block of the version before it, without a search.
//!
//! Most updates change a version and a few times. So the new text repeats itself, and the dictionary, where the old one did. The sequences of the
//! old LZ4 block are kept, and each is held against the new text. A match of which only parts still hold becomes those parts, with literals
//! between them. What is written was compared with the text, so it need not be unpacked to be verified.

use crate::json::bytes::{common, same};

/// Bytes of the shortest match of the format.
const MIN_MATCH: usize = 4;
/// The farthest that a match reaches back.
const MAX_OFFSET: usize = 65_535;
/// Encoders of the format begin no match in the last so many bytes. Ours keeps to it, and no decoder here relies on it.
const NO_MATCH_BYTES: usize = 12;
/// A half of the token that says that more bytes of the length follow.
const MORE: usize = 15;

/// A part of the old text, and where the new one has it. It is only a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) old: u32,
    pub(super) new: u32,
    pub(super) length: u32,
}

impl Piece {
    fn old_end(self) -> usize {
        self.old as usize + self.length as usize
    }

    /// Where the new text has a position of the old one.
    fn place(self, old: usize) -> usize {
        old - self.old as usize + self.new as usize
    }
}

/// Writes the block of `text` to `out`. `block` is that of the old text, with the same dictionary; `pieces` says what both texts have, in the order of
/// both. Without pieces, everything stays in its place. `None` if that is no block, or if the new one would have more than `max_bytes`.
pub(super) fn repack(block: &[u8], dictionary: &[u8], text: &[u8], pieces: &[Piece], max_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    let everything = [Piece { old: 0, new: 0, length: u32::MAX }];
    let pieces = if pieces.is_empty() { &everything } else { pieces };
    let mut sequences = Sequences { text, dictionary, pieces, max_bytes, out, own: 0 };
    // Whole sequences that stay as they are: from here on they are not written yet.
    let mut kept = 0;
    let (mut rest, mut at) = (block, 0usize);
    // The piece that has what follows, or the next one.
    let mut piece = 0;
    loop {
        let start = block.len() - rest.len();
        let token = usize::from(take(&mut rest)?);
        let count = length(token >> 4, &mut rest)?;
        let (literals, behind) = rest.split_at_checked(count)?;
        rest = behind;
        let own = at;
        at = at.checked_add(count)?;
        if rest.is_empty() {
            sequences.out.extend_from_slice(block.get(kept..start)?);
            sequences.end();
            return (sequences.out.len() <= max_bytes).then_some(());
        }
        let offset = usize::from(u16::from_le_bytes([take(&mut rest)?, take(&mut rest)?]));
        let end = at.checked_add(length(token & MORE, &mut rest)? + MIN_MATCH)?;
        while pieces.get(piece).is_some_and(|piece| piece.old_end() <= at) {
            piece += 1;
        }
        if sequences.stays(piece, own, literals, at, offset, end) {
            sequences.own = end;
        } else {
            sequences.out.extend_from_slice(block.get(kept..start)?);
            sequences.moved(piece, at, offset, end);
            kept = block.len() - rest.len();
        }
        at = end;
        if sequences.out.len() > max_bytes {
            return None;
        }
    }
}

/// What is written.
struct Sequences<'a> {
    text: &'a [u8],
    dictionary: &'a [u8],
    pieces: &'a [Piece],
    max_bytes: usize,
    out: &'a mut Vec<u8>,
    // Where the literals begin that belong to no sequence yet.
    own: usize,
}

impl Sequences<'_> {
    /// Whether a sequence of the old block is one of the new block as it stands.
    fn stays(&self, piece: usize, own: usize, literals: &[u8], at: usize, offset: usize, end: usize) -> bool {
        let Some(piece) = self.pieces.get(piece) else { return false };
        let in_place = piece.old == piece.new && piece.old as usize <= at && end <= piece.old_end().min(self.text.len());
        in_place
            && self.own == own
            && (1..=self.dictionary.len() + at).contains(&offset)
            && same(literals, &self.text[own..at])
            && self.equal(at, offset, end - at) == end - at
    }

    /// Writes what holds of an old match, at the new place of each of its pieces.
    fn moved(&mut self, piece: usize, mut at: usize, offset: usize, end: usize) {
        let pieces = self.pieces;
        for piece in &pieces[piece.min(pieces.len())..] {
            at = at.max(piece.old as usize);
            let stop = end.min(piece.old_end());
            if at >= end {
                return;
            }
            let (new, new_end) = (piece.place(at), piece.place(stop).min(self.text.len()));
            if let Some(offset) = self.new_offset(at, new, offset) {
                self.parts(new, offset, new_end);
            }
            at = stop;
        }
    }

    /// How far before its new place the source of a match stands, which had stood at an offset before its old place.
    fn new_offset(&self, at: usize, new: usize, offset: usize) -> Option<usize> {
        let found = match at.checked_sub(offset) {
            // The dictionary stands before the text.
            None => (offset + new).checked_sub(at)?,
            Some(source) => {
                let next = self.pieces.partition_point(|piece| piece.old_end() <= source);
                let piece = self.pieces.get(next).filter(|piece| piece.old as usize <= source)?;
                new.checked_sub(piece.place(source))?
            }
        };
        (1..=MAX_OFFSET.min(self.dictionary.len() + new)).contains(&found).then_some(found)
    }

    /// How many bytes at a position equal those that lie so far before, `most` at most. The dictionary stands before the text.
    fn equal(&self, at: usize, offset: usize, most: usize) -> usize {
        let here = &self.text[at..at + most];
        let Some(before) = offset.checked_sub(at) else {
            return common(here, &self.text[at - offset..]);
        };
        let source = &self.dictionary[self.dictionary.len() - before..];
        let equal = common(here, source);
        if equal == source.len() { equal + common(&here[equal..], self.text) } else { equal }
    }

    /// Writes those parts of a match that still hold.
    fn parts(&mut self, at: usize, offset: usize, end: usize) {
        let mut at = at.max(self.own);
        // A wrong guess is given up soon: to look through a text byte by byte costs more than a search.
        while at < end && self.out.len() + (at - self.own) <= self.max_bytes {
            let equal = self.equal(at, offset, end - at);
            if equal >= MIN_MATCH && at + NO_MATCH_BYTES <= self.text.len() {
                self.sequence(at, offset, equal);
            }
            // The byte behind differs.
            at += equal + 1;
        }
    }

    /// A sequence: the literals up to a match, and the match.
    #[allow(clippy::cast_possible_truncation)]
    fn sequence(&mut self, at: usize, offset: usize, equal: usize) {
        let literals = &self.text[self.own..at];
        let longer = equal - MIN_MATCH;
        self.out.push(half(literals.len()) << 4 | half(longer));
        put_rest(self.out, literals.len());
        self.out.extend_from_slice(literals);
        self.out.extend_from_slice(&(offset as u16).to_le_bytes());
        put_rest(self.out, longer);
        self.own = at + equal;
    }

    /// The last sequence, which has no match.
    fn end(&mut self) {
        let literals = &self.text[self.own..];
        self.out.push(half(literals.len()) << 4);
        put_rest(self.out, literals.len());
        self.out.extend_from_slice(literals);
    }
}

fn take(rest: &mut &[u8]) -> Option<u8> {
    let (byte, behind) = rest.split_first()?;
    *rest = behind;
    Some(*byte)
}

/// A length of the format: a half of the token, and more bytes where that is full.
fn length(half: usize, rest: &mut &[u8]) -> Option<usize> {
    let mut length = half;
    let mut more = half == MORE;
    while more {
        let byte = take(rest)?;
        length = length.checked_add(usize::from(byte))?;
        more = byte == u8::MAX;
    }
    Some(length)
}

#[allow(clippy::cast_possible_truncation)]
fn half(length: usize) -> u8 {
    length.min(MORE) as u8
}

#[allow(clippy::cast_possible_truncation)]
fn put_rest(out: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(MORE) else { return };
    while rest >= usize::from(u8::MAX) {
        out.push(u8::MAX);
        rest -= usize::from(u8::MAX);
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::block::{compress_into_with_dict, decompress_into_with_dict, get_maximum_output_size};
    use proptest::prelude::*;

    fn pack(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
        let mut block = vec![0; get_maximum_output_size(text.len())];
        let length = compress_into_with_dict(text, &mut block, dictionary).unwrap();
        block.truncate(length);
        block
    }

    fn unpack(block: &[u8], dictionary: &[u8], length: usize) -> Vec<u8> {
        let mut text = vec![0; length];
        assert_eq!(decompress_into_with_dict(block, &mut text, dictionary).unwrap(), length);
        text
    }

    /// The block of `new`, packed along that of `old`. It unpacks to `new`.
    fn along(old: &[u8], new: &[u8], dictionary: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        repack(&pack(old, dictionary), dictionary, new, &[], usize::MAX, &mut out).unwrap();
        assert_eq!(unpack(&out, dictionary, new.len()), new);
        out
    }

    fn pod(name: &str, version: u32, second: u32) -> Vec<u8> {
        let conditions: Vec<String> = ["Initialized", "Ready", "ContainersReady", "PodScheduled"]
            .iter()
            .map(|kind| {
                format!(r#"{{"lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:{second:02}Z","status":"True","type":"{kind}"}}"#)
            })
            .collect();
        let names: String = (0..40).map(|at| format!(r#""{name}-{at}":"{}","#, at * 7919 % 1000)).collect();
        format!(
            r#"{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}},"spec":{{{names}"end":1}},"status":[{}]}}"#,
            conditions.join(",")
        )
        .into_bytes()
    }

    #[test]
    fn an_update_takes_little_more_than_what_it_follows() {
        let dictionary = pod("web-0", 100_000, 10);
        let mut old = pod("web-7", 100_001, 11);
        let first = pack(&old, &dictionary);
        let mut block = first.clone();
        for update in 0..20 {
            let new = pod("web-7", 123_456 + 7 * update, 13 + update);
            let mut out = Vec::new();
            repack(&block, &dictionary, &new, &[], usize::MAX, &mut out).unwrap();
            assert_eq!(unpack(&out, &dictionary, new.len()), new);
            (block, old) = (out, new);
        }
        assert!(block.len() < first.len() + 80, "{} and {} at first", block.len(), first.len());
        assert_eq!(along(&old, &old, &dictionary), pack(&old, &dictionary), "nothing changed");
    }

    #[test]
    fn what_changes_everywhere_is_written_as_it_is() {
        let (old, new) = (vec![b'a'; 3_000], (0..3_000u32).map(|at| (at * at % 251) as u8).collect::<Vec<_>>());
        assert!(along(&old, &new, b"").len() > new.len());
        assert_eq!(repack(&pack(&old, b""), b"", &new, &[], 2_000, &mut Vec::new()), None, "more than it may take");
    }

    #[test]
    fn what_comes_in_front_moves_all_that_follows() {
        let dictionary = pod("web-0", 100_000, 10);
        let old = pod("web-7", 100_001, 11);
        let new = [b"{\"kind\":\"Pod\",".as_slice(), &old[1..]].concat();
        let block = pack(&old, &dictionary);
        let shift = (new.len() - old.len()) as u32;
        let pieces = [Piece { old: 0, new: 0, length: 1 }, Piece { old: 1, new: 1 + shift, length: old.len() as u32 - 1 }];
        let mut out = Vec::new();
        repack(&block, &dictionary, &new, &pieces, usize::MAX, &mut out).unwrap();
        assert_eq!(unpack(&out, &dictionary, new.len()), new);
        assert!(out.len() < block.len() + shift as usize + 30, "{} and {} before", out.len(), block.len());
    }

    proptest! {
        #[test]
        fn any_update_comes_back_whatever_is_guessed_of_it(
            dictionary in prop::collection::vec(0..3u8, 0..300),
            old in prop::collection::vec(0..3u8, 0..900),
            edits in prop::collection::vec((0..60usize, 0..20usize, prop::collection::vec(0..3u8, 0..30)), 0..8),
            wrong in prop::collection::vec((0..3u32, 0..3u32, 0..3u32), 8),
            told in any::<bool>(),
        ) {
            let (mut new, mut pieces, mut at) = (Vec::new(), Vec::new(), 0);
            for ((kept, gone, bytes), (before, after, less)) in edits.into_iter().zip(wrong) {
                let kept = kept.min(old.len() - at);
                let piece = Piece { old: at as u32 + before, new: new.len() as u32 + after, length: (kept as u32).saturating_sub(before + less) };
                pieces.push(piece);
                new.extend_from_slice(&old[at..at + kept]);
                new.extend(bytes);
                at = (at + kept + gone).min(old.len());
            }
            pieces.push(Piece { old: at as u32, new: new.len() as u32, length: (old.len() - at) as u32 });
            new.extend_from_slice(&old[at..]);
            let mut out = Vec::new();
            repack(&pack(&old, &dictionary), &dictionary, &new, if told { &pieces } else { &[] }, usize::MAX, &mut out).unwrap();
            prop_assert_eq!(unpack(&out, &dictionary, new.len()), new);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(
            block in prop::collection::vec(any::<u8>(), 0..60),
            dictionary in prop::collection::vec(0..2u8, 0..50),
            text in prop::collection::vec(0..2u8, 0..90),
            pieces in prop::collection::vec((0..100u32, 0..100u32, 0..100u32), 0..4),
        ) {
            let pieces: Vec<_> = pieces.into_iter().map(|(old, new, length)| Piece { old, new, length }).collect();
            let mut out = Vec::new();
            if repack(&block, &dictionary, &text, &pieces, usize::MAX, &mut out).is_some() {
                prop_assert_eq!(unpack(&out, &dictionary, text.len()), text);
            }
        }
    }
}
