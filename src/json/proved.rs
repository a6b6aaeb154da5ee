//! Remembers values of `fieldsV1` that were found to be valid, and skips them when they occur again.
//!
//! `metadata.managedFields` says who manages which fields. It is a third of an object's bytes and more than half of its names. Caches strip
//! it, but what is stripped must be valid JSON too. The long part of an entry, `fieldsV1`, is the same text for all objects of a workload
//! and for all their versions. Comparing it with a known text takes a tenth of the time of checking it, and proves the same.

use std::cell::RefCell;

use super::bytes::same;
use super::cursor::{Checked, Cursor};

/// Values are looked up by a hash of their first bytes. A shorter value is checked as usual.
const PREFIX_BYTES: usize = 256;
/// A longer value is checked as usual, so that one value cannot displace many others.
const MAX_VALUE_BYTES: usize = 16 * 1024;
/// Values whose hashes fall into the same set. A hit moves to the front; a new value replaces the last.
const MAX_PER_SET: usize = 8;
const SETS: usize = 64;
/// Bytes of all remembered values. Beyond this everything is forgotten.
const MAX_BYTES: usize = 512 * 1024;

/// The member of `managedFields` that is remembered.
const FIELDS_V1: &[u8] = b"fieldsV1";

#[derive(Default)]
struct Known {
    sets: Vec<Vec<Proved>>,
    bytes: usize,
}

/// A value that was found to be valid JSON.
struct Proved {
    hash: u64,
    text: Box<[u8]>,
    /// The depth at which it was checked: at this depth and above it is not nested too deep.
    depth: usize,
    non_ascii: bool,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Steps over a `managedFields` array. The values of `fieldsV1` in it are looked up.
pub(super) fn skip_managed(cursor: &mut Cursor<'_>) -> Checked {
    let mut more = cursor.open_array()?;
    while more {
        if cursor.peek() == b'{' {
            let mut members = cursor.open_object()?;
            while members {
                if cursor.read_key()? == FIELDS_V1 {
                    skip(cursor)?
                } else {
                    cursor.skip_value()?
                }
                members = cursor.next_member()?;
            }
        } else {
            cursor.skip_value()?;
        }
        more = cursor.next_element()?;
    }
    Ok(())
}

/// Steps over one value, by comparison if it is known.
fn skip(cursor: &mut Cursor<'_>) -> Checked {
    let rest = &cursor.document[cursor.at..];
    // Only objects: an object's text ends at its brace, so a known text cannot be the start of a longer value.
    let Some(head) = rest.first_chunk::<PREFIX_BYTES>().filter(|head| head[0] == b'{') else { return cursor.skip_value() };
    let hash = hash(head);
    KNOWN.with_borrow_mut(|known| {
        if known.step_over(cursor, rest, hash) {
            return Ok(());
        }
        let (start, depth) = (cursor.at, cursor.depth());
        let non_ascii_before = std::mem::take(&mut cursor.non_ascii);
        let read = cursor.skip_value();
        // Who steps over a remembered value would not learn that it is nested as deep as may be.
        if read.is_ok() && !cursor.is_deepest {
            let text = &cursor.document[start..cursor.at];
            known.remember(Proved { hash, text: text.into(), depth, non_ascii: cursor.non_ascii });
        }
        cursor.non_ascii |= non_ascii_before;
        read
    })
}

impl Known {
    fn step_over(&mut self, cursor: &mut Cursor<'_>, rest: &[u8], hash: u64) -> bool {
        let Some(set) = self.sets.get_mut(set_of(hash)) else { return false };
        let is_here = |proved: &Proved| {
            proved.hash == hash
                && proved.depth >= cursor.depth()
                && rest.get(..proved.text.len()).is_some_and(|rest| same(rest, &proved.text))
        };
        let Some(place) = set.iter().position(is_here) else { return false };
        cursor.at += set[place].text.len();
        cursor.non_ascii |= set[place].non_ascii;
        set.swap(0, place);
        true
    }

    fn remember(&mut self, proved: Proved) {
        if !(PREFIX_BYTES..=MAX_VALUE_BYTES).contains(&proved.text.len()) {
            return;
        }
        self.bytes += proved.text.len();
        if self.bytes > MAX_BYTES {
            *self = Known { sets: Vec::new(), bytes: proved.text.len() };
        }
        self.sets.resize_with(SETS, Vec::new);
        let set = &mut self.sets[set_of(proved.hash)];
        if set.len() == MAX_PER_SET
            && let Some(last) = set.pop()
        {
            self.bytes -= last.text.len();
        }
        set.push(proved);
    }
}

fn set_of(hash: u64) -> usize {
    (hash >> 32) as usize % SETS
}

fn hash(head: &[u8; PREFIX_BYTES]) -> u64 {
    let (words, _) = head.as_chunks::<8>();
    words.iter().fold(0, |hash: u64, word| (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::ErrorKind;

    /// A value of `fieldsV1` as a workload has it.
    fn owned(workload: &str) -> String {
        let names: Vec<String> = (0..40).map(|number| format!(r#""f:field-{number}":{{}}"#)).collect();
        format!(r#"{{"f:spec":{{{},"k:{{\"name\":\"{workload}\"}}":{{".":{{}}}}}}}}"#, names.join(","))
    }

    fn managed(owned: &str, time: usize) -> String {
        format!(r#"[{{"manager":"kubelet","fieldsV1":{owned},"time":"{time}"}},"odd",{{}}]"#)
    }

    /// The position behind the array, and whether a byte outside ASCII was seen.
    fn read(document: &[u8], depth: usize) -> Result<(usize, bool), (ErrorKind, usize)> {
        let mut cursor = Cursor::new(document, 0, depth);
        match skip_managed(&mut cursor) {
            Ok(()) => Ok((cursor.at, cursor.non_ascii)),
            Err(kind) => Err((kind, cursor.at)),
        }
    }

    fn remembered() -> usize {
        KNOWN.with_borrow(|known| known.sets.iter().map(Vec::len).sum())
    }

    #[test]
    fn the_same_text_is_remembered_once_and_stepped_over_whatever_stands_around_it() {
        let text = owned("once");
        let before = remembered();
        for time in [7, 70, 700_000] {
            let document = managed(&text, time);
            assert_eq!(read(document.as_bytes(), 0), Ok((document.len(), false)));
            assert_eq!(remembered(), before + 1);
        }
        let other = managed(&owned("other"), 7);
        assert_eq!(read(other.as_bytes(), 0), Ok((other.len(), false)));
        assert_eq!(remembered(), before + 2);
    }

    #[test]
    fn law_11_whole_a_text_that_begins_like_one_that_was_proved_is_read_to_its_end() {
        let whole = managed(&owned("like"), 1);
        assert!(read(whole.as_bytes(), 0).is_ok());
        let fresh: Vec<_> = (1..whole.len()).map(|end| read(&whole.as_bytes()[..end], 1)).collect();
        for (end, result) in (1..).zip(&fresh) {
            assert!(matches!(result, Err((ErrorKind::UnexpectedEnd, at)) if *at <= end), "cut at {end}: {result:?}");
        }
        for place in 1..whole.len() {
            let mut broken = whole.clone().into_bytes();
            broken[place] = 1;
            assert!(read(&broken, 0).is_err(), "a control character at {place}");
            broken[place] = b'"';
            let oracle = serde_json::from_slice::<serde_json::Value>(&broken).is_ok();
            assert_eq!(read(&broken, 0).is_ok_and(|(end, _)| end == broken.len()), oracle, "a quote at {place}");
        }
    }

    #[test]
    fn what_was_proved_is_proved_for_its_depth_and_above_alone() {
        let deep = managed(&format!(r#"{{"f:a":{}{}{}}}"#, "[".repeat(60), "1, ".repeat(100) + "1", "]".repeat(60)), 1);
        assert!(read(deep.as_bytes(), 50).is_ok());
        assert!(read(deep.as_bytes(), 20).is_ok());
        assert!(matches!(read(deep.as_bytes(), 70), Err((ErrorKind::TooDeep, _))));
    }

    #[test]
    fn whether_it_is_ascii_is_remembered_with_it() {
        let document = managed(&owned("größer"), 1);
        for _ in 0..2 {
            assert_eq!(read(document.as_bytes(), 0), Ok((document.len(), true)));
        }
        let plain = managed(&owned("plain"), 1);
        assert_eq!(read(plain.as_bytes(), 0), Ok((plain.len(), false)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        for number in 0..2_000 {
            let document = managed(&owned(&format!("workload-{number}")), 1);
            assert_eq!(read(document.as_bytes(), 0), Ok((document.len(), false)));
        }
        let (bytes, counted) = KNOWN.with_borrow(|known| {
            let texts = known.sets.iter().flatten().map(|proved| proved.text.len());
            (known.bytes, texts.sum::<usize>())
        });
        assert_eq!(bytes, counted);
        assert!(bytes <= MAX_BYTES && remembered() <= SETS * MAX_PER_SET);
    }
}
