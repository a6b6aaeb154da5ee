//! What was proved before, word for word.
//!
//! Servers keep with an object who manages which of its fields, in `metadata.managedFields`: a third of its bytes, more than half of its
//! names. Caches strip it, but what is stripped must be JSON as well. The long part of an entry, `fieldsV1`, is the same text for all objects
//! of a workload, version after version. To compare it with one that was read takes a tenth of the time of reading it again, and says as much.

use std::cell::RefCell;

use super::bytes::same;
use super::cursor::{Checked, Cursor};

/// What a value is looked up by: its first bytes. A shorter one is read.
const HEAD: usize = 256;
/// A longer one is read, too.
const LONGEST: usize = 16 * 1024;
/// Values whose heads fall together; the one that was met last goes first, and one too many takes the place of the last.
const TOGETHER: usize = 8;
const SETS: usize = 64;
/// All that is remembered; beyond it everything is forgotten.
const MOST_BYTES: usize = 512 * 1024;

/// The name of what a manager owns.
const OWNED: &[u8] = b"fieldsV1";

#[derive(Default)]
struct Known {
    sets: Vec<Vec<Proved>>,
    bytes: usize,
}

/// A value that is JSON.
struct Proved {
    hash: u64,
    text: Box<[u8]>,
    /// Inside so many objects and arrays it was not too deep.
    depth: usize,
    non_ascii: bool,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Steps over the array that starts here, in which `fieldsV1` may stand.
pub(super) fn skip_managed(cursor: &mut Cursor<'_>) -> Checked {
    let mut more = cursor.open_array()?;
    while more {
        if cursor.peek() == b'{' {
            let mut members = cursor.open_object()?;
            while members {
                if cursor.read_key()? == OWNED {
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

/// Steps over the value that starts here.
fn skip(cursor: &mut Cursor<'_>) -> Checked {
    let rest = &cursor.document[cursor.at..];
    // An object ends by itself: where the text of one stands, there is this one.
    let Some(head) = rest.first_chunk::<HEAD>().filter(|head| head[0] == b'{') else { return cursor.skip_value() };
    let hash = hash(head);
    KNOWN.with_borrow_mut(|known| {
        if known.step_over(cursor, rest, hash) {
            return Ok(());
        }
        let (start, depth) = (cursor.at, cursor.depth());
        let non_ascii_before = std::mem::take(&mut cursor.non_ascii);
        let read = cursor.skip_value();
        if read.is_ok() {
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
        if !(HEAD..=LONGEST).contains(&proved.text.len()) {
            return;
        }
        self.bytes += proved.text.len();
        if self.bytes > MOST_BYTES {
            *self = Known { sets: Vec::new(), bytes: proved.text.len() };
        }
        self.sets.resize_with(SETS, Vec::new);
        let set = &mut self.sets[set_of(proved.hash)];
        if set.len() == TOGETHER
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

fn hash(head: &[u8; HEAD]) -> u64 {
    let (words, _) = head.as_chunks::<8>();
    words.iter().fold(0, |hash: u64, word| (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::ErrorKind;

    /// The value of `fieldsV1`, of which a workload has some.
    fn owned(workload: &str) -> String {
        let names: Vec<String> = (0..40).map(|number| format!(r#""f:field-{number}":{{}}"#)).collect();
        format!(r#"{{"f:spec":{{{},"k:{{\"name\":\"{workload}\"}}":{{".":{{}}}}}}}}"#, names.join(","))
    }

    fn managed(owned: &str, time: usize) -> String {
        format!(r#"[{{"manager":"kubelet","fieldsV1":{owned},"time":"{time}"}},"odd",{{}}]"#)
    }

    /// The position behind the array, and whether something in it is no ASCII.
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
        assert!(bytes <= MOST_BYTES && remembered() <= SETS * TOGETHER);
    }
}
