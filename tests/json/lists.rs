//! List pages. However they are cut, the result is the same, and only pages that are strict JSON give one.

use crate::edits::{Change, change, changed, updated};
use crate::helpers::json::{any_document, any_object, mutated, pod};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use watchcache::json::{
    BrokenItem, ErrorKind, FieldSet, GivenItems, JsonError, ListHead, ListItems, ListScanner, Path, Scanned, scan_held_item, scan_object,
};

fn fields() -> FieldSet {
    let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
    fields.slot(&Path::parse("a.b").unwrap());
    fields.slot(&Path::parse("metadata.labels.b").unwrap());
    fields
}

/// The items handed out, and how the page ended.
type Outcome = (Vec<Scanned>, Result<ListHead, JsonError>);

fn scan<'p>(chunks: impl IntoIterator<Item = &'p [u8]>) -> Outcome {
    let fields = fields();
    let mut items = Vec::new();
    let mut scanner = ListScanner::new();
    for chunk in chunks {
        // What fails stays failed, whatever follows: finish says the same.
        let _ = scanner.push(chunk, &fields, &mut |item| items.push(item));
    }
    (items, scanner.finish())
}

/// The page cut at the given places.
fn cut<'p>(page: &'p [u8], places: &[prop::sample::Index]) -> Vec<&'p [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(page.len() + 1)).collect();
    places.extend([0, page.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &page[pair[0]..pair[1]]).collect()
}

fn places() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..12)
}

/// What serde_json makes of the page: the items and the list's own values, if the page is a list.
fn oracle(page: &[u8]) -> Option<(Vec<Value>, ListHead)> {
    let value: Value = serde_json::from_slice(page).ok()?;
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let members = value.as_object()?;
    let items = match members.get("items") {
        None | Some(Value::Null) => None,
        Some(items) => Some(items.as_array()?.clone()),
    };
    let head = ListHead {
        kind: text(&value["kind"]),
        version: text(&value["metadata"]["resourceVersion"]),
        continue_token: text(&value["metadata"]["continue"]),
        remaining: value["metadata"]["remainingItemCount"].as_u64(),
        items: match members.get("items") {
            None => GivenItems::Missing,
            Some(Value::Null) => GivenItems::Null,
            Some(_) => GivenItems::Array,
        },
    };
    let items = items.unwrap_or_default();
    items.iter().all(Value::is_object).then_some((items, head))
}

/// A page whose members stand in any order; `items` is there at most once.
fn any_page() -> impl Strategy<Value = String> {
    let items = prop_oneof![
        8 => prop::collection::vec(any_object(), 0..5).prop_map(|items| format!("\"items\" : [{} ]", items.join(" ,\n"))),
        1 => Just("\"items\":null".to_owned()),
        1 => Just("\"it\\u0065ms\":[{\"a\":{\"b\":1}}]".to_owned()),
        1 => prop::sample::select(&["\"items\":{}", "\"items\":[1]", "\"items\":[{},null]", "\"items\":\"[]\""][..]).prop_map(str::to_owned),
    ];
    let metadata = prop::sample::select(
        &[
            r#""metadata":{"resourceVersion":"17","continue":"abc","remainingItemCount":12}"#,
            r#""metadata":{"resourceVersion":"4"}"#,
            r#""metadata":{"resourceVersion":"","continue":"","items":[{"a":1}]}"#,
            r#""metadata":{"remainingItemCount":-1,"continue":"[{\"items\":["}"#,
            r#""metadata":null"#,
        ][..],
    );
    let other = any_document().prop_map(|value| format!("\"other\":{value}"));
    let kind = prop::sample::select(&["PodList", "Status", "items", "\\u0050odList"][..]).prop_map(|kind| format!("\"kind\":\"{kind}\""));
    (items, metadata, other, kind, 1..=4usize, Just(vec![0usize, 1, 2, 3]).prop_shuffle()).prop_map(
        |(items, metadata, other, kind, count, order)| {
            let members = [items, metadata.to_owned(), other, kind];
            let members: Vec<&str> = order.iter().take(count).map(|member| members[*member].as_str()).collect();
            format!(" {{{}}}\n", members.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_04_split_a_page_reads_the_same_however_it_is_cut(page in any_page(), places in places()) {
        let whole = scan([page.as_bytes()]);
        prop_assert_eq!(&scan(cut(page.as_bytes(), &places)), &whole, "{}", page);
        prop_assert_eq!(&scan(page.as_bytes().chunks(1)), &whole, "{}", page);
    }

    #[test]
    fn law_04_split_a_broken_page_fails_the_same_however_it_is_cut(
        page in any_page(), seed in mutated(), places in places(),
    ) {
        let page = seed.apply(page.as_bytes());
        let whole = scan([page.as_slice()]);
        prop_assert_eq!(&scan(cut(&page, &places)), &whole, "{}", String::from_utf8_lossy(&page));
        prop_assert_eq!(&scan(page.chunks(1)), &whole, "{}", String::from_utf8_lossy(&page));
    }

    #[test]
    fn law_11_whole_documents_a_page_is_read_as_the_oracle_reads_it(page in any_page(), places in places()) {
        let (items, end) = scan(cut(page.as_bytes(), &places));
        match oracle(page.as_bytes()) {
            None => prop_assert!(end.is_err(), "accepted {page}"),
            Some((values, head)) => {
                prop_assert_eq!(end, Ok(head), "{}", page);
                prop_assert_eq!(items.len(), values.len());
                for (item, mut value) in items.iter().zip(values) {
                    let alone = scan_object(value.to_string().as_bytes(), &fields()).unwrap();
                    prop_assert_eq!((&item.name, &item.version, &item.labels), (&alone.name, &alone.version, &alone.labels));
                    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
                        metadata.remove("managedFields");
                    }
                    prop_assert_eq!(serde_json::from_slice::<Value>(&item.bytes).unwrap(), value);
                }
            }
        }
    }

    #[test]
    fn law_11_whole_documents_only_valid_pages_are_accepted(page in any_page(), seed in mutated()) {
        let page = seed.apply(page.as_bytes());
        let (_, end) = scan([page.as_slice()]);
        let shown = String::from_utf8_lossy(&page);
        match oracle(&page) {
            None => prop_assert!(end.is_err(), "accepted {shown}"),
            // JSON allows this, and a list does not.
            Some(_) if end.as_ref().is_err_and(|error| error.kind == ErrorKind::DuplicateItems) => {}
            Some((_, head)) => prop_assert_eq!(end, Ok(head), "{}", shown),
        }
    }
}

#[test]
fn law_04_split_a_page_of_pods_cut_at_every_size() {
    let pod: Value = serde_json::from_slice(&pod()).unwrap();
    let pods: Vec<Value> = (0..5)
        .map(|number| {
            let mut pod = pod.clone();
            pod["metadata"]["name"] = json!(format!("pod-{number}"));
            pod
        })
        .collect();
    let page = json!({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "332940"}, "items": pods}).to_string();
    let whole = scan([page.as_bytes()]);
    let names: Vec<_> = whole.0.iter().map(|item| item.name.as_deref().unwrap_or_default()).collect();
    assert_eq!(names, ["pod-0", "pod-1", "pod-2", "pod-3", "pod-4"]);
    assert_eq!(whole.1.as_ref().unwrap().version.as_deref(), Some("332940"));
    for size in [1, 2, 3, 7, 16, 100, 1000, 4096, 16384, 65536] {
        assert_eq!(scan(page.as_bytes().chunks(size)), whole, "chunks of {size}");
    }
}

#[test]
fn items_come_as_soon_as_they_are_whole() {
    let fields = fields();
    let page = br#"{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"metadata":{}}"#;
    let mut scanner = ListScanner::new();
    let mut seen = Vec::new();
    for (at, byte) in page.iter().enumerate() {
        scanner.push(&[*byte], &fields, &mut |item| seen.push((at, item.name.unwrap().to_string()))).unwrap();
    }
    let first = page.windows(3).position(|window| window == b"}},").unwrap() + 1;
    let last = page.windows(3).position(|window| window == b"}}]").unwrap() + 1;
    assert_eq!(seen, [(first, "a".to_owned()), (last, "b".to_owned())]);
    assert_eq!(scanner.finish().unwrap().items, GivenItems::Array);
}

#[test]
fn law_11_whole_documents_every_cut_page_is_refused() {
    let page = r#"{"kind":"PodList","items":[{"a":"\u0041é"},{"b":[1.5e3,true]}],"metadata":{"continue":"x"}}"#.as_bytes();
    for end in 0..page.len() {
        let (_, result) = scan([&page[..end]]);
        assert_eq!(result, scan(page[..end].chunks(1)).1);
        let error = result.unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::UnexpectedEnd, end));
    }
}

#[test]
fn errors_name_the_byte_of_the_page() {
    for (page, items, kind, offset) in [
        ("<!doctype html>", 0, ErrorKind::ExpectedValue, 0),
        (" []", 0, ErrorKind::NotAnObject, 1),
        ("", 0, ErrorKind::UnexpectedEnd, 0),
        (r#"{"items":7}"#, 0, ErrorKind::ItemsNotAnArray, 9),
        (r#"{"items":[7]}"#, 0, ErrorKind::NotAnObject, 10),
        (r#"{"items":[x]}"#, 0, ErrorKind::ExpectedValue, 10),
        (r#"{"items":[{},]}"#, 1, ErrorKind::ExpectedValue, 13),
        (r#"{"items":[{} {}]}"#, 1, ErrorKind::ExpectedCommaOrBracket, 13),
        (r#"{"items":[{},{"a":x}]}"#, 1, ErrorKind::ExpectedValue, 18),
        (r#"{"kind":PodList,"items":[{}]}"#, 0, ErrorKind::ExpectedValue, 8),
        (r#"{"items":[{},{}],"kind":x}"#, 2, ErrorKind::ExpectedValue, 24),
        (r#"{"items":[{},{}]} {}"#, 2, ErrorKind::TrailingCharacters, 18),
        (r#"{"items":[{}],"items":[]}"#, 1, ErrorKind::DuplicateItems, 20),
        (r#"{"items":[{}],"it\u0065ms":null}"#, 1, ErrorKind::DuplicateItems, 25),
    ] {
        let (read, end) = scan([page.as_bytes()]);
        let error = end.unwrap_err();
        assert_eq!((read.len(), error.kind, error.offset), (items, kind, offset), "{page}");
        assert_eq!(scan(page.as_bytes().chunks(1)), (read, Err(error)), "{page}");
    }
}

#[test]
fn depth_is_counted_from_the_page() {
    for depth in [124, 125, 126, 127] {
        let item = format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        let page = format!("{{\"items\":[{item}]}}");
        let valid = serde_json::from_str::<Value>(&page).is_ok();
        assert_eq!(valid, depth <= 125);
        assert_eq!(scan([page.as_bytes()]).1.is_ok(), valid, "{depth}");
        assert_eq!(scan(page.as_bytes().chunks(3)).1.is_ok(), valid, "{depth}");
    }
}

#[test]
fn a_failed_page_stays_failed() {
    let fields = fields();
    let mut scanner = ListScanner::new();
    let error = scanner.push(b"{\"items\":[{\"a\":x", &fields, &mut |_| panic!("no item is whole")).unwrap_err();
    let again = scanner.push(b"}]}", &fields, &mut |_| panic!("nothing is read behind an error")).unwrap_err();
    assert_eq!(error, again);
    assert_eq!(scanner.finish(), Err(error));
}

/// Whatever is wrong with an item, the items around it are read, however the page is cut. Only an item without an end or a name fails the
/// page.
#[test]
fn law_04_split_items_that_cannot_be_read_are_set_aside_with_their_names() {
    let bad: [&[u8]; 4] = [
        b"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"x\":\"\xff\"}",
        b"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"x\":01}",
        b"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"x\":[\"\x01\"]}",
        b"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"} \"x\"}",
    ];
    for item in bad {
        let page = [&b"{\"items\":[{\"metadata\":{\"name\":\"a\"}}, "[..], item, b",{\"metadata\":{\"name\":\"c\"}}]}"].concat();
        for size in 1..page.len() {
            let mut scanner = ListScanner::tolerant();
            let mut names = Vec::new();
            for chunk in page.chunks(size) {
                scanner.push(chunk, &FieldSet::new(vec![]), &mut |item| names.push(item.name.unwrap().to_string())).unwrap();
            }
            let broken = scanner.take_broken();
            assert_eq!((names.join(","), broken.len()), ("a,c".to_string(), 1));
            let identity = &broken[0].identity;
            assert_eq!((identity.namespace.as_str(), identity.name.as_str()), ("n", "b"));
            assert!(scanner.take_broken().is_empty());
            assert_eq!(scanner.finish().unwrap().items, GivenItems::Array);
            // A strict scanner says the same of it, and takes nothing.
            let mut strict = ListScanner::new();
            assert_eq!(strict.push(&page, &FieldSet::new(vec![]), &mut |_| {}).unwrap_err(), broken[0].error);
        }
    }
    for page in [
        &b"{\"items\":[{\"x\":01}]}"[..],
        b"{\"items\":[{\"metadata\":{\"name\":\"b\"},\"x\":\"\x01]}",
        b"{\"items\":[7]}",
        b"{\"items\":[]]}",
        b"{\"items\":[]",
    ] {
        let mut scanner = ListScanner::tolerant();
        let pushed = scanner.push(page, &FieldSet::new(vec![]), &mut |_| {});
        assert!(pushed.is_err() || scanner.finish().is_err(), "{}", String::from_utf8_lossy(page));
    }
}

/// Takes items by comparison where one can tell, and holds each against a full scan.
#[derive(Default)]
struct Beside {
    held: HashMap<String, Scanned>,
    items: Vec<Scanned>,
    compared: usize,
}

fn name_of(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// How deep an item stood where it was read says nothing of it.
fn plain(item: Scanned) -> Scanned {
    Scanned { depth: 0, ..item }
}

impl ListItems for Beside {
    fn item(&mut self, item: Scanned) {
        self.items.push(plain(item));
    }

    fn held_item(&mut self, document: &[u8], start: usize, fields: &FieldSet) -> Option<usize> {
        let held = |namespace: &str, name: &str| self.held.get(&name_of(namespace, name));
        let held =
            |namespace: &str, name: &str| held(namespace, name).filter(|held| held.depth >= 2 && !held.is_odd).map(|held| &*held.bytes);
        let (update, end) = scan_held_item(document, start, fields, held).ok()?;
        let full = scan_object(&document[start..end], fields).expect("what was compared is sound");
        let key = name_of(full.namespace.as_deref().unwrap_or(""), full.name.as_deref().unwrap_or(""));
        updated(&self.held[&key], &update, full.clone());
        self.items.push(plain(full));
        self.compared += 1;
        Some(end)
    }
}

type Told = (Vec<Scanned>, Vec<BrokenItem>, Result<ListHead, JsonError>);

/// What is told of a page, and how many of its items were compared with these.
fn told(page: &[u8], places: &[prop::sample::Index], held: HashMap<String, Scanned>) -> (Told, usize) {
    let fields = fields();
    let mut beside = Beside { held, ..Beside::default() };
    let mut scanner = ListScanner::tolerant();
    for chunk in cut(page, places) {
        let _told_at_the_end = scanner.push_to(chunk, &fields, &mut beside);
    }
    let broken = scanner.take_broken();
    ((beside.items, broken, scanner.finish()), beside.compared)
}

fn page(items: &[Vec<u8>]) -> Vec<u8> {
    let head = br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":["#;
    [head, &items.join(&b", "[..])[..], b"]}"].concat()
}

fn named(number: usize, kind: &str, more: &str) -> Vec<u8> {
    let metadata = format!(r#"{{"name":"n{number}","uid":"u","resourceVersion":"7","labels":{{"b":"1"}},"managedFields":[{more}]}}"#);
    format!(r#"{{{kind}"metadata":{metadata},"a":{{"b":[1,{more}]}},"more":{more},"last":1}}"#).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_14_differences_a_relist_is_told_as_if_nothing_were_held(
        items in prop::collection::vec((any_object(), prop::collection::vec(change(), 0..2)), 1..5),
        kind in prop::sample::select(&["", r#""kind":"Pod","apiVersion":"v1","#][..]),
        (goes, front) in any::<(bool, prop::sample::Index)>(),
        broken in prop::option::weighted(0.4, mutated()),
        places in places(),
    ) {
        let first: Vec<_> = items.iter().enumerate().map(|(number, (more, _))| named(number, kind, more)).collect();
        let ((listed, ..), _) = told(&page(&first), &[], HashMap::new());
        let fields = fields();
        let mut held = HashMap::new();
        let mut scanner = ListScanner::new();
        scanner.push(&page(&first), &fields, &mut |item| drop(held.insert(name_of("", item.name.as_deref().unwrap()), item))).unwrap();
        prop_assert_eq!(listed.len(), held.len());
        let next = first.iter().zip(&items).map(|(item, (_, changes))| {
            let item = if goes { changed(item, front, &Change::Beheaded(2)) } else { item.clone() };
            changes.iter().fold(item, |item, (place, change)| changed(&item, *place, change))
        });
        let next = page(&next.collect::<Vec<_>>());
        let next = broken.map_or(next.clone(), |broken| broken.apply(&next));
        let (scanned, none) = told(&next, &[], HashMap::new());
        prop_assert_eq!(none, 0);
        prop_assert_eq!(&told(&next, &[], held.clone()).0, &scanned, "{}", String::from_utf8_lossy(&next));
        prop_assert_eq!(&told(&next, &places, held).0, &scanned, "{}", String::from_utf8_lossy(&next));
    }
}

#[test]
fn a_relist_of_what_has_not_changed_is_compared_however_it_is_cut() {
    let items: Vec<_> = (0..20).map(|number| named(number, "", "{\"x\":[1,2,3]}")).collect();
    let (page, fields) = (page(&items), fields());
    let mut held = HashMap::new();
    let mut scanner = ListScanner::new();
    scanner.push(&page, &fields, &mut |item| drop(held.insert(name_of("", item.name.as_deref().unwrap()), item))).unwrap();
    for size in [1, 7, 100, 1000, page.len()] {
        let mut beside = Beside { held: held.clone(), ..Beside::default() };
        let mut scanner = ListScanner::tolerant();
        page.chunks(size).for_each(|chunk| scanner.push_to(chunk, &fields, &mut beside).unwrap());
        assert_eq!((beside.compared, scanner.finish().is_ok()), (20, true), "chunks of {size}");
    }
}

/// What stands in a frame may be one level deeper than what stands in a list.
#[test]
fn law_14_differences_what_is_as_deep_as_it_may_be_is_not_compared_one_level_deeper() {
    let item = |deep: usize, last: u32| {
        let text = format!(r#"{{"metadata":{{"name":"n"}},"a":{}{},"last":{last}}}"#, "[".repeat(deep), "]".repeat(deep));
        text.into_bytes()
    };
    let fields = fields();
    let mut depths = Vec::new();
    for deep in [123, 124, 125, 126] {
        let frame = [br#"{"type":"ADDED","object":"#, &item(deep, 1)[..], b"}"].concat();
        let depth = match watchcache::json::scan_frame(&frame, &fields) {
            Ok(watchcache::json::Frame::Event { object, .. }) => Some(object.depth),
            _ => None,
        };
        let in_list = told(&page(&[item(deep, 2)]), &[], HashMap::new()).0;
        assert_eq!(in_list.2.is_ok() && in_list.1.is_empty(), depth.is_some_and(|depth| depth >= 2), "{deep}");
        depths.push(depth);
    }
    assert_eq!(depths, [Some(2), Some(2), Some(1), None]);
}
