//! Reads items of a list beside another item of the same page, their sibling.
//!
//! Objects of one template differ in names, times and addresses. These values stand at the same places of the text, and what lies between
//! them is the same text in all of them. So that is only compared: bytes that equal proved bytes, at the same place of the grammar, need no
//! second proof. The values are read strictly.
//!
//! Nothing of a sibling becomes part of an item but the proof, and where things stand. Everything is made of the item's own bytes.

use super::bytes::same;
use super::comparison::{Comparison, Interest, Limits, Span};
use super::cursor::{Cursor, MAX_DEPTH};
use super::error::JsonError;
use super::fields::{FieldSet, ROOT, Role};
use super::scan::{ITEM_DEPTH, Scanned, Walk, scan_object_at};
use crate::sort::sort_by;

/// So many objects and arrays may be nested in a sibling. What stands in a place is read as if all of them were around it.
const MAX_NESTED: usize = 64;

/// Places of one sibling.
const MAX_PLACES: usize = 128;

/// To learn the places may cost more than to compare one update: many items are read with them.
const LIMITS: Limits = Limits { edits: MAX_PLACES, edited_part: 1, looked_through: 6 };

/// What stands in all places may be this part of the text: one half.
const MAX_PLACED_PART: usize = 2;

/// A shorter text is read as quickly as it is compared.
const MIN_BYTES: usize = 512;

/// A longer text is not kept beside the page.
const MAX_BYTES: usize = 256 << 10;

/// After so many siblings in vain, more make the pause no longer.
const MAX_IN_VAIN: u32 = 4;

/// The items that are scanned without a look at a sibling, by how often it was in vain.
const PAUSES: [u32; MAX_IN_VAIN as usize + 1] = [0, 0, 7, 63, 255];

/// The sibling of a page's next item, and whether comparing has paid lately.
#[derive(Debug, Default)]
pub(super) struct Siblings {
    sibling: Option<Sibling>,
    // Items that had to be scanned beside a sibling, less those that were read beside one.
    in_vain: u32,
    // Items that are still to be scanned without a look at a sibling.
    passed_over: u32,
}

/// An item that was scanned whole, and where others differ from it.
#[derive(Debug)]
struct Sibling {
    text: Box<[u8]>,
    /// When it was scanned, see [`FieldSet::now`].
    read: u32,
    /// What was noted of it, see [`Walk::notes`].
    notes: Vec<Span>,
    /// The values in which others differ, ordered by position.
    places: Vec<Span>,
    /// Nodes of which something lies in a place, and where their values stand: a filter may find another element there.
    anew: Vec<(usize, usize)>,
    /// Where the places of the item that is read end.
    ends: Vec<usize>,
}

impl Siblings {
    /// Reads the item that starts at `start`. Returns the position behind it as well. An error's offset counts from the start of the
    /// document.
    pub(super) fn scan(&mut self, document: &[u8], start: usize, fields: &FieldSet) -> Result<(Scanned, usize), JsonError> {
        if self.passed_over > 0 || !fields.compares() {
            let read = scan_object_at(document, start, ITEM_DEPTH, fields)?;
            self.passed_over = self.passed_over.saturating_sub(1);
            return Ok(read);
        }
        if let Some(sibling) = self.sibling.as_mut().filter(|sibling| sibling.read == fields.now())
            && let Some(read) = sibling.read(document, start, fields)
        {
            self.in_vain = self.in_vain.saturating_sub(1);
            return Ok(read);
        }
        let mut walk = Walk::new(fields);
        let end = walk.whole_object_at(document, start, ITEM_DEPTH)?;
        self.meet(&document[start..end], start, &walk, fields);
        Ok((walk.finish(document, start, end), end))
    }

    /// Learns from an item that was scanned whole in what siblings differ, or makes it the sibling of those that follow.
    fn meet(&mut self, item: &[u8], start: usize, walk: &Walk<'_>, fields: &FieldSet) {
        if let Some(sibling) = &mut self.sibling {
            self.in_vain = (self.in_vain + 1).min(MAX_IN_VAIN);
            self.passed_over = PAUSES[self.in_vain as usize];
            if sibling.read == fields.now() && sibling.learn(item, fields).is_some() {
                return;
            }
        }
        self.sibling = Sibling::new(item, start, walk, fields);
    }
}

impl Sibling {
    fn new(item: &[u8], start: usize, walk: &Walk<'_>, fields: &FieldSet) -> Option<Self> {
        if !(MIN_BYTES..MAX_BYTES).contains(&item.len()) || walk.repeats() {
            return None;
        }
        let from_item = |&(from, to): &Span| (from.saturating_sub(start), to.saturating_sub(start));
        Some(Self {
            text: item.into(),
            read: fields.now(),
            notes: walk.notes().iter().map(from_item).collect(),
            places: Vec::new(),
            anew: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// Reads an item by comparing it. `None` says nothing about the item.
    fn read(&mut self, document: &[u8], start: usize, fields: &FieldSet) -> Option<(Scanned, usize)> {
        let Self { text, places, ends, .. } = self;
        if places.is_empty() {
            // Nobody knows yet how deep it is nested.
            return None;
        }
        let mut cursor = Cursor::new(document, start, ITEM_DEPTH + MAX_NESTED);
        let mut behind = 0;
        ends.clear();
        for &(from, to) in &*places {
            pass(&mut cursor, &text[behind..from])?;
            cursor.skip_value().ok()?;
            ends.push(cursor.at);
            behind = to;
        }
        pass(&mut cursor, &text[behind..])?;
        if cursor.is_deepest {
            return None;
        }
        cursor.expect_utf8(start).ok()?;

        let notes = self.notes.iter().map(|&(from, to)| if to == 0 { (0, 0) } else { (self.moved(from, start), self.moved(to, start)) });
        let mut walk = Walk::noted(fields, notes, ITEM_DEPTH + 1);
        for &(node, at) in &self.anew {
            walk.anew(document, self.moved(at, start), node)?;
        }
        Some((walk.finish(document, start, cursor.at), cursor.at))
    }

    /// Where a position of the sibling lies in the item that starts at `start`.
    fn moved(&self, at: usize, start: usize) -> usize {
        let before = self.places.partition_point(|&(_, to)| to <= at);
        match before.checked_sub(1) {
            Some(last) => self.ends[last] + at - self.places[last].1,
            None => start + at,
        }
    }

    /// Learns from an item, which is sound, where others differ. `None` if they are not alike.
    fn learn(&mut self, item: &[u8], fields: &FieldSet) -> Option<()> {
        if self.places.is_empty() {
            Cursor::new(&self.text, 0, MAX_DEPTH - MAX_NESTED).skip_value().ok()?;
        }
        let mut comparison = Comparison::new(&self.text, item, fields.nodes(), Interest::Node(ROOT));
        comparison.limits = LIMITS;
        comparison.run(0)?;
        let Comparison { edits, removed, touched, nodes, .. } = &comparison;
        // Members that came or went, as nothing stands in their place.
        if !removed.is_empty() || edits.iter().any(|&((from, to), (start, end))| from == to || start == end) {
            return None;
        }
        let gone = self.notes.get(fields.len() + Role::COUNT..)?;
        for &(node, at) in touched {
            let before = edits.partition_point(|&(_, (_, end))| end <= at);
            let at = before.checked_sub(1).map_or(at, |last| edits[last].0.1 + at - edits[last].1.1);
            if nodes[node].is_leaf() || self.anew.contains(&(node, at)) {
                continue;
            }
            // Of what is removed nothing is noted.
            if gone.iter().any(|&(from, to)| (from..to).contains(&at)) {
                return None;
            }
            self.anew.push((node, at));
        }
        self.places.extend(edits.iter().map(|&(place, _)| place));
        sort_by(&mut self.places, |one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)));
        let mut behind = 0;
        self.places.retain(|&(from, to)| {
            let is_outermost = from >= behind;
            behind = behind.max(to);
            is_outermost
        });
        // What lies inside of a place is found from the place itself.
        self.anew.retain(|&(_, at)| !self.places.iter().any(|&(from, to)| from < at && at < to));
        let placed: usize = self.places.iter().map(|(from, to)| to - from).sum();
        (self.places.len() <= MAX_PLACES && placed <= self.text.len() / MAX_PLACED_PART).then_some(())
    }
}

/// Steps over a text that is known to be sound.
fn pass(cursor: &mut Cursor<'_>, text: &[u8]) -> Option<()> {
    let end = cursor.at + text.len();
    if !same(cursor.document.get(cursor.at..end)?, text) {
        return None;
    }
    cursor.at = end;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{ErrorKind, Path};

    fn fields() -> FieldSet {
        let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
        for path in ["spec.node", "status.conditions[?(@.type=='Ready')].status"] {
            fields.slot(&Path::parse(path).unwrap());
        }
        fields
    }

    /// An object of a template: all but `spec`, `conditions` and the filler differ from number to number.
    fn item(number: usize, spec: &str, conditions: &str) -> Vec<u8> {
        let managed = format!(r#"[{{"manager":"m","fieldsV1":{{"f:a":{{"k:{{\"uid\":\"{number}\"}}":{{}}}}}},"time":"{number}"}}]"#);
        let metadata = format!(r#""name":"n-{number}","uid":"u{number}","resourceVersion":"{number}","managedFields":{managed}"#);
        let filler = "x".repeat(600);
        format!(r#"{{"metadata":{{{metadata}}},"spec":{spec},"status":{{"conditions":[{conditions}]}},"filler":"{filler}"}}"#).into_bytes()
    }

    fn ready(status: &str) -> String {
        format!(r#"{{"type":"Disk","status":"ok"}},{{"type":"Ready","status":"{status}"}}"#)
    }

    /// Scans an item, and holds what is read against a scan of it alone. Says whether it was read beside its sibling.
    fn scan(siblings: &mut Siblings, item: &[u8], fields: &FieldSet) -> bool {
        let beside = siblings.sibling.as_mut().is_some_and(|sibling| sibling.read(item, 0, fields).is_some());
        let alone = scan_object_at(item, 0, ITEM_DEPTH, fields);
        assert_eq!(siblings.scan(item, 0, fields), alone, "{}", String::from_utf8_lossy(item));
        beside
    }

    #[test]
    fn items_of_one_template_are_read_beside_the_first() {
        let (fields, mut siblings) = (fields(), Siblings::default());
        let next = |number: usize| item(number, &format!(r#"{{"node":"node-{}"}}"#, number * 77), &ready("True"));
        let beside: Vec<bool> = (8..40).map(|number| scan(&mut siblings, &next(number), &fields)).collect();
        assert_eq!(beside.iter().position(|beside| *beside), Some(2));
        assert!(beside[2..].iter().all(|beside| *beside));
        assert_eq!((siblings.in_vain, siblings.passed_over), (0, 0));
    }

    #[test]
    fn what_does_not_resemble_is_looked_at_seldom() {
        let (fields, mut siblings) = (fields(), Siblings::default());
        let mut looks = 0;
        for number in 0..500 {
            looks += usize::from(siblings.passed_over == 0);
            let other = format!(r#"{{"a-{number}":{{"b":"{}"}}}}"#, "y".repeat(600));
            assert!(!scan(&mut siblings, other.as_bytes(), &fields));
        }
        assert_eq!(looks, 6);
    }

    /// Siblings that learned all in which these items differ.
    fn taught(items: &[&[u8]], fields: &FieldSet) -> Siblings {
        let mut siblings = Siblings::default();
        for item in items {
            siblings.passed_over = 0;
            scan(&mut siblings, item, fields);
        }
        siblings.passed_over = 0;
        siblings
    }

    #[test]
    fn law_14_differences_a_filter_finds_the_element_that_it_would_find_in_a_scan() {
        let (fields, node) = (fields(), r#"{"node":"a"}"#);
        let other = r#"{"type":"Ready","status":"first"},{"type":"Disk","status":"last"}"#;
        let items = [item(1, node, &ready("True")), item(2, node, other)];
        let mut siblings = taught(&[&items[0], &items[1]], &fields);
        for conditions in [other, &ready("False"), &ready("gone").replace("Ready", "Net"), &ready("True").replace("\"True\"", "{}")] {
            assert!(scan(&mut siblings, &item(3, node, conditions), &fields), "{conditions}");
        }
    }

    /// The inner place is found from the outer one, which it may not be in any more.
    #[test]
    fn law_14_differences_a_place_that_another_one_takes_in_is_forgotten() {
        let (fields, one) = (fields(), ready("True"));
        let full = ready("b").replace("ok", "full");
        let items = [item(1, r#"{"node":"a"}"#, &one), item(2, r#"{"node":"b"}"#, &full), item(3, r#"{"node":"b"}"#, &one)];
        let other = String::from_utf8(item(4, r#"{"node":"b"}"#, &one)).unwrap().replace("{\"conditions\"", "{\"a\":[],\"conditions\"");
        let mut siblings = taught(&[&items[0], &items[1], &items[2], other.as_bytes()], &fields);
        assert!(scan(&mut siblings, other.replace("\"a\":[]", "\"abc\":[{}]").as_bytes(), &fields));
        assert!(scan(&mut siblings, other.replace("\"a\":[],\"cond", "\"a\":[],\"sond").as_bytes(), &fields));
        assert!(scan(&mut siblings, &items[1], &fields));
    }

    #[test]
    fn law_14_differences_what_is_broken_in_a_place_is_an_error_of_the_scan() {
        let fields = fields();
        let items = [1, 2].map(|number| item(number, &format!(r#"{{"node":"{number}"}}"#), &ready("True")));
        let mut siblings = taught(&[&items[0], &items[1]], &fields);
        for (node, kind) in [
            (&b"\"\xff\""[..], ErrorKind::InvalidUtf8),
            (b"\"\x01\"", ErrorKind::ControlCharacter),
            (b"01", ErrorKind::ExpectedCommaOrBrace),
            (b"\"a\" 1", ErrorKind::ExpectedCommaOrBrace),
            (b"", ErrorKind::ExpectedValue),
            (b"1e999", ErrorKind::NumberOutOfRange),
        ] {
            let at = items[0].windows(5).position(|text| text == b"\"1\"}," as &[u8]).unwrap();
            let broken = [&items[0][..at], node, &items[0][at + 3..]].concat();
            assert!(!scan(&mut siblings, &broken, &fields));
            assert_eq!(siblings.scan(&broken, 0, &fields).unwrap_err().kind, kind);
        }
        assert!(scan(&mut siblings, &items[1], &fields));
        for end in 1..items[1].len() {
            assert!(!scan(&mut siblings, &items[1][..end], &fields), "cut at {end}");
        }
    }

    #[test]
    fn law_14_differences_what_is_as_deep_as_it_may_be_is_read_without_a_sibling() {
        let fields = fields();
        let nested = |number: usize, deep: usize| item(number, &format!("{}{}", "[".repeat(deep), "]".repeat(deep)), &ready("True"));
        let mut siblings = taught(&[&nested(1, 1), &nested(2, 2)], &fields);
        let beside: Vec<usize> = (1..130).filter(|deep| scan(&mut siblings, &nested(3, *deep), &fields)).collect();
        // 127 of them, less those that are around the item and those that might be around the place; and not the last.
        assert_eq!(beside, (1..61).collect::<Vec<_>>());
        for deep in 60..130 {
            let (one, two) = (nested(1, deep), nested(2, deep));
            taught(&[&one[..], &one[..], &two[..], &nested(3, deep), &nested(4, deep + 1)], &fields);
        }
        // The place lies deeper than what may be around one.
        let within = |number: usize, inner: &str| item(number, &format!("{}{inner}{}", "[".repeat(90), "]".repeat(90)), &ready("True"));
        let mut siblings = taught(&[&within(1, "1"), &within(2, "2")], &fields);
        assert!(!scan(&mut siblings, &within(3, &format!("{}{}", "[".repeat(40), "]".repeat(40))), &fields));
    }

    #[test]
    fn law_14_differences_what_is_stripped_stays_missing_where_a_place_lies_in_it() {
        let mut fields = FieldSet::new(vec![Path::parse("spec").unwrap()]);
        fields.slot(&Path::parse("spec.list[?(@.a==1)].b").unwrap());
        let items = [1, 2, 3, 4].map(|number| item(number, &format!(r#"{{"list":[{{"a":1,"b":{number}}}]}}"#), &ready("True")));
        taught(&items.each_ref().map(|item| &item[..]), &fields);
    }

    #[test]
    fn items_with_more_members_take_the_place_of_a_sibling_without_them() {
        let fields = fields();
        let without = |number: usize| {
            let text = String::from_utf8(item(number, "1", &ready("True"))).unwrap();
            let from = text.find(",\"managedFields\"").unwrap();
            let to = text.find("},\"spec\"").unwrap();
            [&text[..from], &text[to..]].concat().into_bytes()
        };
        let with = |number: usize| item(number, "1", &ready("True"));
        let led = |number: usize| String::from_utf8(with(number)).unwrap().replacen('{', "{\"kind\":\"Pod\",", 1).into_bytes();
        let all = (1..6).map(|number| [without(number), with(number), led(number)]).collect::<Vec<_>>();
        for (before, after) in [(0, 1), (1, 2), (2, 1)] {
            let mut siblings = taught(&[&all[0][before], &all[1][before], &all[2][after], &all[3][after]], &fields);
            assert!(scan(&mut siblings, &all[4][after], &fields));
        }
    }

    #[test]
    fn law_14_differences_a_name_that_stands_twice_is_told_as_in_a_scan() {
        let fields = fields();
        let twice = r#"{"node":"a","node":"b"}"#;
        let items = [item(1, r#"{"node":"a"}"#, &ready("True")), item(2, twice, &ready("True"))];
        let mut siblings = taught(&[&items[0], &items[1]], &fields);
        assert!(scan(&mut siblings, &item(3, twice, &ready("True")), &fields));
        assert!(taught(&[&items[1]], &fields).sibling.is_none());
    }

    #[test]
    fn a_path_that_is_asked_for_amid_a_page_is_read_of_all_that_follow() {
        let mut fields = fields();
        let items: Vec<_> = (0..6).map(|number| item(number, r#"{"node":"a","zone":"b"}"#, &ready("True"))).collect();
        let mut siblings = taught(&[&items[0], &items[1]], &fields);
        assert!(scan(&mut siblings, &items[2], &fields));
        let slot = fields.slot(&Path::parse("spec.zone").unwrap());
        for item in &items[3..] {
            siblings.passed_over = 0;
            assert_eq!(siblings.scan(item, 0, &fields).unwrap().0.fields[slot].text(), "b");
        }
        assert!(scan(&mut siblings, &items[5], &fields));
    }
}
