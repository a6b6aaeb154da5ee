//! Items of a list that are read beside a sibling, against a scan of each.

use crate::edits::{Change, STRIPS, change, changed, shown};
use crate::helpers::json::{FIELDS, any_object, mutated};
use proptest::prelude::*;
use watchcache::json::{BrokenItem, FieldSet, JsonError, ListHead, ListScanner, Path, Scanned};

/// Where elements of arrays are stripped nothing is compared. No document has this one.
const NONE: &str = "not-there[0]";

/// The paths, of the item and of what it has more.
fn both(paths: &[&str]) -> Vec<Path> {
    let more = paths.iter().map(|path| format!("more.{path}"));
    paths.iter().map(|path| (*path).to_string()).chain(more).map(|path| Path::parse(&path).unwrap()).collect()
}

fn fields(strip: &[&str]) -> FieldSet {
    let mut fields = FieldSet::new(both(strip));
    for path in both(FIELDS) {
        fields.slot(&path);
    }
    fields
}

/// What is told of a page: its items, those that are broken, and how it ended.
type Told = (Vec<Scanned>, Vec<BrokenItem>, Result<ListHead, JsonError>);

fn told(page: &[u8], size: usize, strip: &[&str]) -> Told {
    let (fields, mut items) = (fields(strip), Vec::new());
    let mut scanner = ListScanner::tolerant();
    for chunk in page.chunks(size) {
        let _told_at_the_end = scanner.push(chunk, &fields, &mut |item| items.push(item));
    }
    let broken = scanner.take_broken();
    (items, broken, scanner.finish())
}

/// An item of a template, with so much of it that a comparison is worth it.
fn item(number: usize, more: &str) -> Vec<u8> {
    let managed = format!(r#"[{{"time":"{number}"}},{{"fieldsV1":{{"k:{number}":{{}}}}}}]"#);
    let metadata = format!(r#"{{"name":"n{number}","uid":"u{number}","labels":{{"b":"{number}"}},"managedFields":{managed}}}"#);
    let filler = "x".repeat(600);
    format!(r#"{{"metadata":{metadata},"more":{more},"items":[{{"type":"Ready","a":{number}}}],"filler":"{filler}","last":1}}"#)
        .into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 400 }) })]

    #[test]
    fn law_14_differences_a_list_is_told_as_if_no_item_had_a_sibling(
        more in any_object(),
        variants in prop::collection::vec(prop::collection::vec(change(), 0..3), 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 3..24),
        strip in prop::sample::select(STRIPS),
        broken in prop::option::weighted(0.4, mutated()),
        size in 1..5000usize,
    ) {
        let items = order.iter().enumerate().map(|(number, variant)| {
            let changes: &Vec<(_, Change)> = variant.get(&variants);
            changes.iter().fold(item(number, &more), |item, (place, change)| changed(&item, *place, change))
        });
        let items = items.collect::<Vec<_>>().join(&b", "[..]);
        let page = [br#"{"metadata":{"resourceVersion":"7"},"items":["#, &items[..], b"]}"].concat();
        let page = broken.map_or(page.clone(), |broken| broken.apply(&page));
        let alone = told(&page, page.len().max(1), &[strip, &[NONE][..]].concat());
        prop_assert_eq!(&told(&page, page.len().max(1), strip), &alone, "{}", shown(&page));
        prop_assert_eq!(&told(&page, size, strip), &alone, "{}", shown(&page));
    }
}
