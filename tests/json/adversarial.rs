//! Documents that mean harm. Each is read as serde_json reads it, or refused where serde_json refuses it. Each is tried whole and in
//! pieces, as a frame, as an object and in a list page. `npm run guard` counts what they cost.

use serde_json::Value;
use watchcache::json::{ErrorKind, FieldSet, Frame, JsonError, ListScanner, Path, Scanned, scan_frame, scan_object};

/// Documents that any JSON parser takes, and those that none does, by name.
fn harmful(size: usize) -> Vec<(&'static str, String)> {
    let wrap = |value: &str| format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1"}},"spec":{value}}}"#);
    let text = |inner: &str| wrap(&format!("\"{inner}\""));
    let many = |part: &str| part.repeat(size / part.len() + 1);
    let labels: Vec<String> = (0..size / 10).map(|i| format!(r#""l{}":"{i}""#, i * 7919 % 1_000_003)).collect();
    vec![
        ("depth at the limit", wrap(&format!("{}{}", "[".repeat(126), "]".repeat(126)))),
        ("depth beyond the limit", wrap(&format!("{}{}", "[".repeat(127), "]".repeat(127)))),
        ("depth without end", wrap(&many("["))),
        ("depth of objects", wrap(&many(r#"{"a":"#))),
        ("a long string", text(&many("x"))),
        ("a string of escapes", text(&many(r#"\"\\\/\b\n\u0041"#))),
        ("a string of pairs", text(&many(r"\ud83d\ude00"))),
        ("a string of many bytes a character", text(&many("aü€😀"))),
        ("half a pair at the end", text(&format!("{}\\ud83d", many("x")))),
        ("half a pair amid others", text(&format!("{0}\\ude00{0}", many(r"\ud83d\ude00")))),
        ("a pair of first halves", text(&format!("{}\\ud83d\\ud83d", many("x")))),
        ("a control character at the end", text(&format!("{}\u{1}", many("x")))),
        ("a backslash at the end", text(&format!("{}\\", many("x")))),
        ("a number of many digits", wrap(&format!("0.{}", many("7")))),
        ("a whole number of 300 digits", wrap(&"7".repeat(300))),
        ("a whole number beyond a double", wrap(&many("77"))),
        ("a number with a long exponent", wrap(&format!("1e{}", many("9")))),
        ("a small number with a long exponent", wrap(&format!("1e-{}", many("9")))),
        ("numbers of a thousand digits", wrap(&format!("[{}1]", many(&format!("{}.5e-900,", "1".repeat(1000)))))),
        (
            "names in escapes",
            r#"{"\u006detadata":{"\u006e\u0061me":"a","resource\u0056ersion":"1","l\u0061bels":{"\u0061pp":"\u0077eb"}}}"#.into(),
        ),
        ("a long name in escapes", format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1"}},"m{}":0}}"#, many(r"\u0065"))),
        (
            "equal names",
            format!(r#"{{{}"metadata":{{"name":"b","resourceVersion":"2"}}}}"#, many(r#""metadata":{"name":"a","labels":{"x":"y"}},"#)),
        ),
        (
            "equal names in and out of escapes",
            r#"{"metadata":{"name":"a","n\u0061me":"b","resourceVersion":"1"},"metad\u0061ta":{"name":"c","resourceVersion":"1"}}"#.into(),
        ),
        ("many labels", format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1","labels":{{{}}}}}}}"#, labels.join(","))),
        ("equal labels", format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1","labels":{{{}"a":"z"}}}}}}"#, many(r#""a":"y","#))),
        (
            "labels that are none",
            format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1","labels":{{{}"a":"z"}}}}}}"#, many(r#""b":[0],"c":null,"#)),
        ),
        ("a long array", wrap(&format!("[{}0]", many("0,")))),
        ("empty objects", wrap(&format!("[{}{{}}]", many("{},")))),
        ("blanks", wrap(&format!("{0}[{0}]{0}", many(" \n\t\r")))),
        ("many members", format!(r#"{{{}"metadata":{{"name":"a","resourceVersion":"1"}}}}"#, many(r#""a":{"b":[1,"c"]},"#))),
        ("a comma too much", wrap(&format!("[{}]", many("0,")))),
        ("no bytes of text", text(&format!("{}\u{fffd}", many("x")))),
    ]
}

fn fields() -> FieldSet {
    let path = |text: &str| Path::parse(text).unwrap();
    let mut fields = FieldSet::new(vec![path("metadata.managedFields"), path("spec.removed")]);
    fields.slot(&path("spec[0]"));
    fields.slot(&path("metadata.labels.a"));
    fields
}

fn oracle(document: &[u8]) -> Option<Value> {
    serde_json::from_slice(document).ok()
}

/// What is read must be what the oracle reads.
fn agrees(name: &str, scanned: &Scanned, value: &Value) {
    let metadata = &value["metadata"];
    let text = |member: &str| metadata[member].as_str().filter(|text| !text.is_empty());
    assert_eq!(scanned.name.as_deref(), text("name"), "{name}");
    assert_eq!(scanned.version.as_deref(), text("resourceVersion"), "{name}");
    let mut expected: Vec<(&str, &str)> =
        metadata["labels"].as_object().into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect();
    expected.sort_unstable();
    let labels: Vec<(&str, &str)> = scanned.labels.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(labels, expected, "{name}");
    assert_eq!(oracle(&scanned.bytes).as_ref(), Some(value), "{name}: what is kept says the same");
}

type Outcome = (Vec<Scanned>, Result<(), JsonError>);

fn page(document: &[u8], chunk: usize, fields: &FieldSet) -> Outcome {
    let mut items = Vec::new();
    let mut scanner = ListScanner::new();
    for part in document.chunks(chunk) {
        let _told_at_the_end = scanner.push(part, fields, &mut |item| items.push(item));
    }
    let end = scanner.finish().map(drop);
    (items, end)
}

/// A list of the document between two that are harmless.
fn listed(document: &str) -> String {
    let other = |name: &str| format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"1"}}}}"#);
    format!(r#"{{"kind":"List","metadata":{{"resourceVersion":"9"}},"items":[{},{document},{}]}}"#, other("first"), other("last"))
}

#[test]
fn law_11_whole_documents_harmful_ones_are_judged_as_the_oracle_judges() {
    let fields = fields();
    for (name, document) in harmful(200_000) {
        let value = oracle(document.as_bytes());
        let object = scan_object(document.as_bytes(), &fields);
        assert_eq!(object.is_ok(), value.is_some(), "{name}: {:?}", object.err());
        let frame = format!(r#"{{"type":"ADDED","object":{document}}}"#);
        // A frame is an object more around it.
        let framed = scan_frame(frame.as_bytes(), &fields);
        assert_eq!(framed.is_ok(), oracle(frame.as_bytes()).is_some(), "{name} in a frame");
        if let (Ok(scanned), Some(value)) = (object, &value) {
            agrees(name, &scanned, value);
            if let Ok(Frame::Event { object, .. }) = framed {
                assert_eq!(object, Scanned { depth: object.depth, ..scanned }, "{name} in a frame");
            }
        }
    }
}

#[test]
fn law_04_split_harmful_items_read_the_same_however_a_page_is_cut() {
    let fields = fields();
    // Small enough to cut everywhere: in strings, escapes, pairs, characters, numbers, names, and between all of them.
    for (name, document) in harmful(40) {
        let text = listed(&document);
        let whole = page(text.as_bytes(), text.len(), &fields);
        assert_eq!(whole.1.is_ok(), oracle(text.as_bytes()).is_some(), "{name}");
        for chunk in 1..text.len().min(300) {
            assert_eq!(page(text.as_bytes(), chunk, &fields), whole, "{name} in pieces of {chunk}");
        }
        for place in 1..text.len() {
            let (mut items, mut scanner) = (Vec::new(), ListScanner::new());
            for part in [&text.as_bytes()[..place], &text.as_bytes()[place..]] {
                let _told_at_the_end = scanner.push(part, &fields, &mut |item| items.push(item));
            }
            assert_eq!((items, scanner.finish().map(drop)), whole, "{name} cut at {place}");
        }
    }
    for (name, document) in harmful(100_000) {
        let text = listed(&document);
        let whole = page(text.as_bytes(), text.len(), &fields);
        assert_eq!(whole.1.is_ok(), oracle(text.as_bytes()).is_some(), "{name}");
        for chunk in [61, 4_096, 65_536] {
            assert_eq!(page(text.as_bytes(), chunk, &fields), whole, "{name} in pieces of {chunk}");
        }
    }
}

#[test]
fn an_object_of_ten_megabytes_is_read_in_a_frame_and_in_a_page() {
    let fields = fields();
    let strings = vec![format!("\"{}\"", "x".repeat(1 << 20)); 10].join(",");
    let document = format!(r#"{{"metadata":{{"name":"big","resourceVersion":"1"}},"spec":[{strings}]}}"#);
    let frame = format!(r#"{{"object":{document},"type":"MODIFIED"}}"#);
    let Ok(Frame::Event { object, .. }) = scan_frame(frame.as_bytes(), &fields) else { panic!("no event") };
    assert_eq!(&*object.bytes, document.as_bytes());
    let (items, end) = page(listed(&document).as_bytes(), 65_536, &fields);
    assert_eq!((items.len(), end), (3, Ok(())));
    assert_eq!(items[1], Scanned { depth: 3, ..object });
}

/// 127 objects and arrays inside each other, as with serde_json; a list and its items count.
#[test]
fn what_is_too_deep_is_refused_by_name_and_place() {
    let fields = fields();
    for depth in [127, 10_000, 1_000_000] {
        let open = format!(r#"{{"a":{}"#, "[".repeat(depth));
        let error = scan_object(open.as_bytes(), &fields).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::TooDeep, 5 + 126), "{depth}");
        let (items, end) = page(format!(r#"{{"items":[{open}"#).as_bytes(), 1_000, &fields);
        let error = end.unwrap_err();
        assert_eq!((items.len(), error.kind, error.offset), (0, ErrorKind::TooDeep, 10 + 5 + 124), "{depth}");
    }
}

/// Each filter names the first element that it matches, however many filters there are at one array.
#[test]
fn many_filters_at_one_array_take_their_first_element_each() {
    let mut fields = FieldSet::new(Vec::new());
    let slots: Vec<usize> = (0..100).map(|i| fields.slot(&Path::parse(&format!("c[?(@.t=='{i}')].v")).unwrap())).collect();
    let elements: Vec<String> = (0..300).map(|i| format!(r#"{{"t":"{}","v":{i}}}"#, i % 100)).collect();
    let scanned = scan_object(format!(r#"{{"c":[{}]}}"#, elements.join(",")).as_bytes(), &fields).unwrap();
    let values: Vec<String> = slots.iter().map(|slot| scanned.fields[*slot].text().to_owned()).collect();
    assert_eq!(values, (0..100).map(|i| i.to_string()).collect::<Vec<_>>());
}
