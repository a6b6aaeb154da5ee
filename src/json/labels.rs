//! `metadata.labels`. The objects of a workload have equal labels, which are held once.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::sort::sort_by;

use super::cursor::{Checked, Cursor};
use super::intern::intern;
use super::text::string;

/// Names and values, sorted by name.
pub type Labels = Rc<[(Rc<str>, Rc<str>)]>;

/// Remembered sets, enough for the workloads of a page. At this number those that no object uses are forgotten.
const MAX_SETS: usize = 2_048;
/// Bytes of a set as written. A longer one is not remembered, nor are its texts: no workload has such labels.
const MAX_SET_BYTES: usize = 2_048;

thread_local! {
    static KNOWN: RefCell<HashMap<Box<[u8]>, Labels, FxBuildHasher>> = const { RefCell::new(HashMap::with_hasher(FxBuildHasher)) };
    static NONE: Labels = Rc::new([]);
}

/// No labels.
pub(crate) fn no_labels() -> Labels {
    NONE.with(Rc::clone)
}

/// The labels in a value that was checked before. If a name occurs twice, the last one counts. Labels that are not strings are left out. A
/// value that is not an object has no labels.
pub(crate) fn labels(raw: &[u8]) -> Labels {
    if raw.first() != Some(&b'{') {
        return no_labels();
    }
    if raw.len() > MAX_SET_BYTES {
        return read(raw, |text| text.into());
    }
    KNOWN.with_borrow_mut(|known| {
        // Changes rarely touch the labels, and the pods of one workload write them alike.
        if let Some(labels) = known.get(raw) {
            return labels.clone();
        }
        if known.len() >= MAX_SETS {
            known.retain(|_, labels| Rc::strong_count(labels) > 1);
            if known.len() > MAX_SETS / 2 {
                // Most are in use. Sweeping again for every new set would cost more than it saves.
                known.clear();
            }
        }
        let labels = read(raw, intern);
        known.insert(raw.into(), labels.clone());
        labels
    })
}

/// A name and its value; `None` if the value is not a string.
type Written<'d> = (Cow<'d, str>, Option<Cow<'d, str>>);

fn read(raw: &[u8], shared: fn(&str) -> Rc<str>) -> Labels {
    let mut labels: Vec<Written<'_>> = Vec::new();
    if each(raw, &mut labels).is_err() {
        return no_labels();
    }
    // Go writes maps sorted, so this is rare. The sort is stable, so of equal names the last one stays.
    if !labels.is_sorted_by(|left, right| left.0 < right.0) {
        labels.reverse();
        sort_by(&mut labels, |left, right| left.0.cmp(&right.0));
        labels.dedup_by(|left, right| left.0 == right.0);
    }
    labels.into_iter().filter_map(|(key, value)| Some((shared(&key), shared(&value?)))).collect()
}

fn each<'d>(raw: &'d [u8], labels: &mut Vec<Written<'d>>) -> Checked {
    let mut cursor = Cursor::new(raw, 0, 0);
    let mut more = cursor.open_object()?;
    while more {
        let start = cursor.at;
        let key = cursor.read_key()?;
        let value = cursor.at;
        cursor.skip_value()?;
        if let Some(name) = string(raw, (start, start + key.len() + 2)) {
            labels.push((name, string(raw, (value, cursor.at))));
        }
        more = cursor.next_member()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(raw: &str) -> Vec<(String, String)> {
        labels(raw.as_bytes()).iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.into(), value.into())
    }

    #[test]
    fn equal_sets_are_one() {
        let [first, again] = [(); 2].map(|()| labels(br#"{"app":"shared"}"#));
        assert!(Rc::ptr_eq(&first, &again));
        assert!(!Rc::ptr_eq(&first, &labels(br#"{"app":"other"}"#)));
    }

    #[test]
    fn they_are_sorted_the_last_of_equal_names_counts_and_what_is_no_string_is_left_out() {
        assert_eq!(pairs(r#"{"b":"1","a":"2","b":"3"}"#), [pair("a", "2"), pair("b", "3")]);
        assert_eq!(pairs(r#"{"a":"1","a":5}"#), []);
        assert_eq!(pairs(r#"{ "a\u0062" : "x\ny" , "n" : {"m":"1"} }"#), [pair("ab", "x\ny")]);
        assert_eq!(pairs("{}"), []);
        assert_eq!(pairs("null"), []);
        assert_eq!(pairs(r#"["a"]"#), []);
    }

    #[test]
    fn what_is_remembered_is_bounded_whether_it_is_in_use_or_not() {
        let held: Vec<_> = (0..2 * MAX_SETS).map(|number| labels(format!(r#"{{"held":"{number}"}}"#).as_bytes())).collect();
        for number in 0..2 * MAX_SETS {
            assert_eq!(pairs(&format!(r#"{{"passing":"{number}"}}"#)), [pair("passing", &number.to_string())]);
        }
        assert!(KNOWN.with_borrow(HashMap::len) <= MAX_SETS);
        assert_eq!(&*held[7][0].1, "7");
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_SET_BYTES));
        assert!(!Rc::ptr_eq(&labels(long.as_bytes()), &labels(long.as_bytes())));
    }
}
