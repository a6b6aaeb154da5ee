//! The scanner as it runs in the browser, where it searches a string by sixteen bytes a step. It is asked the same questions as
//! serde_json, which has no such step.

use serde_json::Value;
use wasm_bindgen_test::wasm_bindgen_test;
use watchcache::json::{FieldSet, ListScanner, Path, scan_object};

fn fields() -> FieldSet {
    let path = |text| Path::parse(text).unwrap();
    let mut fields = FieldSet::new(vec![path("metadata.managedFields")]);
    fields.slot(&path("a"));
    fields
}

/// The scanner accepts the document exactly when serde_json does, and reads the same at `a`.
fn agrees(document: &[u8]) {
    let shown = String::from_utf8_lossy(document);
    let oracle = serde_json::from_slice::<Value>(document).ok().filter(Value::is_object);
    match (scan_object(document, &fields()), oracle) {
        (Ok(scanned), Some(value)) => {
            assert_eq!(scanned.fields[0].text(), value["a"].as_str().unwrap_or_default(), "{shown}");
        }
        (Err(_), None) => {}
        (scanned, oracle) => panic!("{scanned:?} against {oracle:?}: {shown}"),
    }
}

#[wasm_bindgen_test]
fn law_11_whole_documents_every_byte_at_every_place_of_a_string() {
    for special in 0..=255u8 {
        for place in 0..36 {
            let mut inner = vec![b'x'; 36];
            inner[place] = special;
            agrees(&[b"{\"a\":\"", inner.as_slice(), b"\"}"].concat());
            // With room behind it, the last blocks are whole ones too.
            agrees(&[b"{\"a\":\"", inner.as_slice(), b"\",\"b\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"].concat());
        }
    }
}

#[wasm_bindgen_test]
fn law_11_whole_documents_strings_of_every_length() {
    for length in 0..70 {
        let text = "x".repeat(length);
        for end in ["\"}", "é\"}", "\\n\"}", "\\\"\"}", "", "\\", "\"", "\n\"}"] {
            agrees(format!("{{\"a\":\"{text}{end}").as_bytes());
        }
        agrees(format!("{{\"{text}\":{{\"{text}\":[\"{text}\"]}},\"a\":\"{text}\"}}").as_bytes());
    }
}

#[wasm_bindgen_test]
fn law_11_whole_documents_a_broken_byte_of_a_pod() {
    let pod = include_bytes!("../data/pod.json");
    agrees(pod);
    for at in (0..pod.len()).step_by(61) {
        for byte in [b'"', b'\\', b'}', b',', b'\n', 0x00, 0xff] {
            let mut document = pod.to_vec();
            document[at] = byte;
            agrees(&document);
        }
        agrees(&pod[..at]);
    }
}

#[wasm_bindgen_test]
fn law_04_split_a_page_of_pods_cut_at_every_size() {
    let pod = include_str!("../data/pod.json");
    let page = format!("{{\"kind\":\"PodList\",\"metadata\":{{\"resourceVersion\":\"7\"}},\"items\":[{pod},{pod},{pod}]}}");
    let scan = |size: usize| {
        let fields = fields();
        let mut items = Vec::new();
        let mut scanner = ListScanner::new();
        for chunk in page.as_bytes().chunks(size) {
            scanner.push(chunk, &fields, &mut |item| items.push(item)).unwrap();
        }
        (items, scanner.finish().unwrap())
    };
    let whole = scan(page.len());
    assert_eq!(whole.0.len(), 3);
    for size in [1, 15, 16, 17, 1000, 16384] {
        assert_eq!(scan(size), whole, "chunks of {size}");
    }
}
