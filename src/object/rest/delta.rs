//! Deltas: the text of an older version, encoded by the text of its successor.
//!
//! Two versions of an object differ in few places. A delta is a sequence of steps. Each step has some bytes of its own and a piece of the
//! other text: `own length, own bytes, length, distance`. Lengths are LEB128, the distance is zigzag. The distance counts from the position
//! that the other text reaches if the own bytes replace equally many of its bytes. Mostly it is 0, because a new version or time has as
//! many digits.

use std::mem;

use super::repack::Piece;
use crate::json::Edit;
use crate::json::bytes::{common, word};

/// Bytes of a copied piece, unless it continues the last one. A shorter one costs nearly as much as its bytes.
const MIN_COPY_BYTES: usize = 12;
/// Bytes that are compared side by side after a difference, before the slower search begins.
const MAX_SIDE_BY_SIDE: usize = 48;
/// Every eighth position of the other text enters the search table, which keeps the table small.
const STRIDE: usize = 8;
/// Positions with an equal hash that are compared. It bounds the time on repetitive texts.
const MAX_CANDIDATES: usize = 16;

/// Bytes of a text whose difference is kept until it is packed. For a shorter one it would be a large part of what is held, and a search is quick.
const MIN_KNOWN_BYTES: usize = 1_024;
/// Bytes of a delta that is made of a known difference.
const MAX_KNOWN_BYTES: usize = 512;

/// Makes deltas. It keeps the tables of its search between them.
#[derive(Debug, Default)]
pub(super) struct Coder {
    // By the hash of 8 bytes: the last such position divided by `STRIDE`, plus one. 0 is none.
    heads: Vec<u32>,
    // By position divided by `STRIDE`: the entry before it with the same hash.
    links: Vec<u32>,
    ready: bool,
}

impl Coder {
    /// The delta that makes `text` out of `base`, or `None` if it would have more than `max_bytes` bytes.
    pub(super) fn encode(&mut self, base: &[u8], text: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
        self.ready = false;
        let mut out = Vec::new();
        // Where the own bytes start, and the two positions that are compared.
        let (mut own, mut at, mut from) = (0, 0, 0);
        // Where the other text would continue.
        let mut expected = 0;
        loop {
            let length = common(&text[at..], base.get(from..).unwrap_or_default());
            if length > 0 {
                put_step(&mut out, &text[own..at], length, from as i64 - (expected + (at - own)) as i64);
                at += length;
                from += length;
                (own, expected) = (at, from);
            }
            if out.len() + (at - own) > max_bytes {
                return None;
            }
            if at == text.len() {
                return Some(out);
            }
            match self.resync(base, text, at, from) {
                Some((next, other)) => (at, from) = (next, other),
                None => {
                    put(&mut out, text.len() - own);
                    out.extend_from_slice(&text[own..]);
                    return (out.len() <= max_bytes).then_some(out);
                }
            }
        }
    }

    /// Bytes held by the tables.
    pub(super) fn bytes(&self) -> usize {
        (self.heads.capacity() + self.links.capacity()) * size_of::<u32>()
    }

    /// Frees the tables.
    pub(super) fn free_buffers(&mut self) {
        *self = Self::default();
    }

    /// Finds where the texts agree again after a difference: a position in the text and one in the base.
    fn resync(&mut self, base: &[u8], text: &[u8], at: usize, from: usize) -> Option<(usize, usize)> {
        let ahead = |step: usize| -> bool {
            let (Some(text), Some(base)) = (text.get(at + step..), base.get(from + step..)) else { return false };
            // The ends of the shortest piece suffice here. Its full length is measured when it is copied.
            let ends = |bytes: &[u8]| Some((word(bytes, 0)?, word(bytes, MIN_COPY_BYTES - 8)?));
            ends(text).is_some_and(|bytes| ends(base) == Some(bytes))
        };
        if let Some(step) = (1..=MAX_SIDE_BY_SIDE).find(|step| ahead(*step)) {
            return Some((at + step, from + step));
        }
        self.fill_tables(base);
        for position in at..text.len() {
            let Some(bytes) = word(text, position) else { break };
            let mut link = self.heads[bucket(bytes, self.heads.len())];
            let mut best: Option<(usize, usize, usize)> = None;
            for _ in 0..MAX_CANDIDATES {
                let Some(index) = (link as usize).checked_sub(1) else { break };
                link = self.links[index];
                let candidate = index * STRIDE;
                let length = common(&text[position..], &base[candidate..]);
                let back = common_back(&text[at..position], &base[..candidate]);
                let found = (length + back, position - back, candidate - back);
                // Of equally long pieces the first one after the last copy wins. Repeated parts then keep their order.
                let better = |best: (usize, usize, usize)| found.0 > best.0 || (found.0 == best.0 && found.2 >= from);
                if length + back >= MIN_COPY_BYTES && best.is_none_or(better) {
                    best = Some(found);
                }
            }
            if let Some((_, position, candidate)) = best {
                return Some((position, candidate));
            }
        }
        None
    }

    /// Fills the tables with the positions of the base.
    fn fill_tables(&mut self, base: &[u8]) {
        if mem::replace(&mut self.ready, true) {
            return;
        }
        let count = base.len() / STRIDE;
        self.heads.clear();
        self.heads.resize(count.next_power_of_two().clamp(64, 1 << 16), 0);
        self.links.clear();
        self.links.resize(count, 0);
        let size = self.heads.len();
        for index in 0..count {
            let Some(bytes) = word(base, index * STRIDE) else { break };
            let head = &mut self.heads[bucket(bytes, size)];
            self.links[index] = mem::replace(head, u32::try_from(index + 1).unwrap_or(0));
        }
    }
}

/// The delta that makes a held text of the one that replaced it, where their difference is known. `None` for a short text, and if it would take too
/// many bytes: a search may find more that is equal.
pub(in crate::object) fn delta_of(edits: &[Edit], held: &[u8], text: &[u8]) -> Option<Box<[u8]>> {
    if held.len() < MIN_KNOWN_BYTES {
        return None;
    }
    let mut out = Vec::with_capacity(MAX_KNOWN_BYTES);
    // Up to where both texts are told.
    let (mut own, mut copied) = (&held[..0], 0);
    let mut distance = 0;
    for edit in edits {
        let old = held.get(edit.old_start as usize..edit.old_end as usize)?;
        let new = text.get(edit.new_start as usize..edit.new_end as usize)?;
        let start = common(old, new);
        let end = common_back(&old[start..], &new[start..]);
        let (from, to) = (edit.new_start as usize + start, edit.new_end as usize - end);
        put_step(&mut out, own, from - copied, distance);
        own = &old[start..old.len() - end];
        distance = (to - from) as i64 - own.len() as i64;
        copied = to;
        if out.len() + own.len() > MAX_KNOWN_BYTES {
            return None;
        }
    }
    put_step(&mut out, own, text.len() - copied, distance);
    debug_assert_eq!(decode(text, &out, held.len()).as_deref(), Some(held), "the differences are not those of this text");
    Some(out.into_boxed_slice())
}

/// Own bytes, and a piece of the other text.
fn put_step(out: &mut Vec<u8>, own: &[u8], length: usize, distance: i64) {
    put(out, own.len());
    out.extend_from_slice(own);
    put(out, length);
    put_signed(out, distance);
}

/// One step of a delta: own bytes, then the piece of the other text from one position to another.
struct Step<'d> {
    own: &'d [u8],
    from: usize,
    to: usize,
}

/// Reads the next step. `expected` is where the other text would continue. `None` if the delta is broken.
fn take_step<'d>(rest: &mut &'d [u8], expected: &mut usize) -> Option<Step<'d>> {
    let own = take(rest)?;
    let (own, behind) = rest.split_at_checked(own)?;
    *rest = behind;
    // The last step may have own bytes alone.
    if rest.is_empty() {
        return Some(Step { own, from: *expected, to: *expected });
    }
    let length = take(rest)?;
    let distance = take_signed(rest)?;
    let from = usize::try_from(i64::try_from(*expected + own.len()).ok()?.checked_add(distance)?).ok()?;
    *expected = from.checked_add(length)?;
    Some(Step { own, from, to: *expected })
}

/// The text that a delta makes out of `base`; `None` if the delta does not fit.
pub(super) fn decode(base: &[u8], delta: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(length);
    let (mut rest, mut expected) = (delta, 0);
    while !rest.is_empty() {
        let Step { own, from, to } = take_step(&mut rest, &mut expected)?;
        text.extend_from_slice(own);
        text.extend_from_slice(base.get(from..to)?);
    }
    (text.len() == length).then_some(text)
}

/// What the text that a delta makes has of its base: `old` is a place in the text, `new` in the base. Parts in another order are left out. It is
/// empty where all stands in its place.
pub(super) fn pieces(delta: &[u8]) -> Option<Box<[Piece]>> {
    let mut pieces = Vec::new();
    let (mut rest, mut expected) = (delta, 0);
    let (mut at, mut last) = (0usize, 0usize);
    while !rest.is_empty() {
        let Step { own, from, to } = take_step(&mut rest, &mut expected)?;
        at += own.len();
        if from >= last && from < to {
            pieces.push(Piece { old: u32::try_from(at).ok()?, new: u32::try_from(from).ok()?, length: u32::try_from(to - from).ok()? });
            last = to;
        }
        at += to - from;
    }
    if pieces.iter().all(|piece: &Piece| piece.old == piece.new) {
        pieces.clear();
    }
    Some(pieces.into_boxed_slice())
}

/// The number of equal bytes at the end of two texts.
fn common_back(left: &[u8], right: &[u8]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[allow(clippy::cast_possible_truncation)]
fn bucket(bytes: u64, size: usize) -> usize {
    (bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (size - 1)
}

/// Writes a number, seven bits a byte.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn put(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as usize);
}

/// The next of the numbers that `put` writes; `None` where there is none.
pub(super) fn take(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0usize;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[allow(clippy::cast_possible_wrap)]
fn take_signed(rest: &mut &[u8]) -> Option<i64> {
    let number = take(rest)? as u64;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, compare_object};
    use proptest::prelude::*;

    fn delta(base: &str, text: &str) -> Vec<u8> {
        let delta = Coder::default().encode(base.as_bytes(), text.as_bytes(), usize::MAX).unwrap();
        assert_eq!(decode(base.as_bytes(), &delta, text.len()).as_deref(), Some(text.as_bytes()));
        delta
    }

    fn pod(version: u32, conditions: usize, extra: &str) -> String {
        let conditions: Vec<String> = (0..conditions)
            .map(|at| {
                format!(r#"{{"type":"Condition{at}","status":"True","lastTransitionTime":"2026-01-01T00:{at:02}:{:02}Z"}}"#, version % 60)
            })
            .collect();
        let image = "registry.example.com/team/app:v1.2.3,".repeat(20);
        format!(
            r#"{{"metadata":{{"name":"web-0","resourceVersion":"{version}"{extra}}},"spec":{{"image":"{image}"}},"status":{{"conditions":[{}]}}}}"#,
            conditions.join(",")
        )
    }

    #[test]
    fn two_versions_of_an_object_differ_by_little() {
        assert!(delta(&pod(100_001, 4, ""), &pod(100_002, 4, "")).len() < 60);
        assert!(delta(&pod(100_001, 5, ""), &pod(100_002, 4, "")).len() < 110, "a member of an array is gone");
        assert!(delta(&pod(100_001, 4, ""), &pod(100_002, 5, "")).len() < 180, "one has come");
        assert!(
            delta(&pod(100_001, 4, ""), &pod(99_999, 4, r#","labels":{"app":"web"}"#)).len() < 110,
            "the texts shift against each other"
        );
        assert_eq!(delta("same", "same").len(), 3);
        assert!(delta("anything", "").is_empty());
    }

    #[test]
    fn what_two_texts_have_in_common_is_told_to_the_byte() {
        for length in 0..200 {
            let same = "a".repeat(length);
            // A bit of difference, a byte, and an end.
            for (left, right) in [("b", "c"), ("\0", "\u{7f}"), ("", "b")] {
                let (left, right) = (format!("{same}{left}{left}{left}"), format!("{same}{right}{right}{right}"));
                assert_eq!(common(left.as_bytes(), right.as_bytes()), length, "{left} {right}");
                let (left, right) = (left.bytes().rev().collect::<Vec<_>>(), right.bytes().rev().collect::<Vec<_>>());
                assert_eq!(common_back(&left, &right), length);
            }
        }
    }

    #[test]
    fn what_would_be_too_long_is_refused() {
        let (base, text) = ("a".repeat(500), (0..500u32).map(|at| char::from(b'b' + (at * 7 % 23) as u8)).collect::<String>());
        assert_eq!(Coder::default().encode(base.as_bytes(), text.as_bytes(), 200), None);
    }

    #[test]
    fn a_broken_delta_is_none() {
        let (base, text) = (pod(1, 3, ""), pod(2, 4, ""));
        let delta = delta(&base, &text);
        for cut in 1..delta.len() {
            assert_eq!(decode(base.as_bytes(), &delta[..cut], text.len()), None);
        }
        assert_eq!(decode(b"", &delta, text.len()), None);
        assert_eq!(decode(base.as_bytes(), &[0xff; 30], text.len()), None);
    }

    #[test]
    fn a_known_difference_takes_no_more_than_what_a_search_finds() {
        let fields = FieldSet::new(Vec::new());
        let (held, text) = (pod(100_001, 4, ""), pod(100_012, 4, ""));
        let update = compare_object(held.as_bytes(), text.as_bytes(), &fields).unwrap();
        let known = delta_of(&update.edits, held.as_bytes(), &update.bytes).unwrap();
        assert_eq!(decode(text.as_bytes(), &known, held.len()).as_deref(), Some(held.as_bytes()));
        let searched = delta(&text, &held);
        assert!(known.len() <= searched.len(), "{} and {}", known.len(), searched.len());
        let long = Edit { old_start: 1, old_end: 1_000, new_start: 1, new_end: 1 };
        assert_eq!(delta_of(&[long], held.as_bytes(), text.as_bytes()), None, "a search may find more that is equal");
    }

    proptest! {
        #[test]
        fn any_known_difference_makes_the_old_text_of_the_new_one(
            members in prop::collection::vec((0..4u8, 0..1000u32, 0..1000u32, 0..4u8), 1..12),
        ) {
            let object = |new: bool| {
                let value = |(shape, old, changed, one_of_four): &(u8, u32, u32, u8)| {
                    let value = if new && *one_of_four > 0 { changed } else { old };
                    match shape {
                        0 => value.to_string(),
                        1 => format!("\"{value}-same-{value}\""),
                        2 => format!("[{value},{{\"same\":true}},{value}]"),
                        _ => format!("{{\"m{}\":{value}}}", if *one_of_four > 2 { *value } else { 0 }),
                    }
                };
                let members: Vec<String> = members.iter().enumerate().map(|(at, member)| format!("\"{at}\":{}", value(member))).collect();
                format!("{{\"same\":\"{}\",{}}}", "s".repeat(MIN_KNOWN_BYTES), members.join(","))
            };
            let (held, text) = (object(false), object(true));
            let update = compare_object(held.as_bytes(), text.as_bytes(), &FieldSet::new(Vec::new()));
            if let Some(delta) = update.and_then(|update| delta_of(&update.edits, held.as_bytes(), &update.bytes)) {
                prop_assert_eq!(decode(text.as_bytes(), &delta, held.len()), Some(held.into_bytes()));
            }
        }

        #[test]
        fn any_text_comes_back(base in prop::collection::vec(0..4u8, 0..600), edits in prop::collection::vec((any::<u16>(), 0..30usize, prop::collection::vec(0..4u8, 0..30)), 0..6)) {
            let mut text = base.clone();
            for (at, gone, new) in edits {
                let at = usize::from(at) % (text.len() + 1);
                let end = (at + gone).min(text.len());
                text.splice(at..end, new);
            }
            let mut coder = Coder::default();
            let delta = coder.encode(&base, &text, usize::MAX).unwrap();
            prop_assert_eq!(decode(&base, &delta, text.len()), Some(text));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(base in prop::collection::vec(any::<u8>(), 0..50), delta in prop::collection::vec(any::<u8>(), 0..50)) {
            let _read = decode(&base, &delta, 40);
        }
    }
}
