//! The scanner has to agree with serde_json on every document. Tried are random documents, mutations of realistic ones, and a
//! list of known edges.

use crate::helpers::json::{FIELDS, any_document, any_object, mutated, pod, read_path, remove_path};
use proptest::prelude::*;
use serde_json::{Value, json};
use watchcache::json::{ErrorKind, FieldSet, Frame, FrameType, Path, Scalar, Scanned, read_fields, scan_frame, scan_object};

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn fields(strip: &[&str]) -> FieldSet {
    let mut fields = FieldSet::new(strip.iter().map(|text| path(text)).collect());
    for field in FIELDS {
        fields.slot(&path(field));
    }
    fields
}

/// What the oracle says: the document as an object, if it is one.
fn oracle(document: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(document).ok().filter(Value::is_object)
}

fn non_empty(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Scans a document every way there is and holds each against the oracle.
fn agrees_with_the_oracle(document: &[u8]) {
    let shown = String::from_utf8_lossy(document);
    let any_value = serde_json::from_slice::<Value>(document).ok();
    assert_eq!(path("a").read(document).is_ok(), any_value.is_some(), "read {shown}");

    let kept = scan_object(document, &fields(&[]));
    let Some(value) = oracle(document) else {
        assert!(kept.is_err(), "accepted {shown}");
        // Also where what is removed was read before in a sound document, and is not read again.
        assert!(scan_object(document, &fields(&["metadata.managedFields"])).is_err(), "accepted {shown}");
        return;
    };
    let kept = kept.unwrap_or_else(|error| panic!("refused {shown}: {error}"));

    let metadata = &value["metadata"];
    assert_eq!(kept.namespace.as_deref(), non_empty(&metadata["namespace"]), "{shown}");
    assert_eq!(kept.name.as_deref(), non_empty(&metadata["name"]), "{shown}");
    assert_eq!(kept.version.as_deref(), non_empty(&metadata["resourceVersion"]), "{shown}");
    assert_eq!(kept.uid.as_deref(), non_empty(&metadata["uid"]), "{shown}");
    let ends = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
    assert_eq!(kept.initial_events_end, ends, "{shown}");
    let mut labels: Vec<(String, String)> = metadata["labels"]
        .as_object()
        .map(|labels| labels.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect())
        .unwrap_or_default();
    labels.sort();
    let scanned: Vec<_> = kept.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    assert_eq!(scanned, labels, "{shown}");
    assert_eq!(&*kept.bytes, document.trim_ascii(), "{shown}");

    let paths: Vec<Path> = FIELDS.iter().map(|field| path(field)).collect();
    for (field, scalar) in FIELDS.iter().zip(&kept.fields) {
        read_path(&value, field).agrees(scalar, &shown, field);
        assert_eq!(path(field).read(document).as_ref(), Ok(scalar), "{field} of {shown}");
        let span = path(field).find(document);
        assert_eq!(span.is_some(), *scalar != Scalar::Missing, "{field} of {shown}");
        if let Some(span) = span {
            let found: Value = serde_json::from_slice(&document[span]).unwrap();
            assert_eq!(Some(&found), read_path(&value, field).0, "{field} of {shown}");
        }
    }
    assert_eq!(read_fields(document, &paths), kept.fields, "{shown}");

    for strip in [&["metadata.managedFields"][..], &["a", "metadata.labels.b", "items[1]", "items[0].a"], FIELDS] {
        let stripped = scan_object(document, &fields(strip)).unwrap();
        let mut expected = value.clone();
        remove_path(&mut expected, strip);
        let got: Value = serde_json::from_slice(&stripped.bytes)
            .unwrap_or_else(|error| panic!("{error}: {} from {shown}", String::from_utf8_lossy(&stripped.bytes)));
        assert_eq!(got, expected, "{strip:?} from {shown}");
        assert_eq!((&stripped.name, &stripped.version, &stripped.labels), (&kept.name, &kept.version, &kept.labels));
        assert_eq!(stripped.fields, read_fields(&stripped.bytes, &paths).as_slice(), "{strip:?} from {shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_11_whole_documents_random_ones_are_read_as_the_oracle_reads_them(document in any_document()) {
        agrees_with_the_oracle(document.as_bytes());
    }

    #[test]
    fn law_11_whole_documents_only_valid_mutations_are_accepted(document in any_document(), seed in mutated()) {
        agrees_with_the_oracle(&seed.apply(document.as_bytes()));
    }

    #[test]
    fn law_11_whole_documents_random_bytes_are_judged_as_the_oracle_judges(
        tokens in prop::collection::vec(prop::sample::select(crate::helpers::json::TOKENS), 0..24),
    ) {
        agrees_with_the_oracle(&tokens.concat());
    }

    #[test]
    fn frames_are_read_in_any_order(
        object in any_object(),
        extra in any_document(),
        kind in prop::sample::select(&["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "SYNC", "added"][..]),
        order in Just(vec![0, 1, 2]).prop_shuffle(),
        escaped in any::<bool>(),
    ) {
        let kind_key = if escaped { "\"ty\\u0070e\"" } else { "\"type\"" };
        let members = [format!("{kind_key} :\"{kind}\""), format!("\"object\": {object}"), format!("\"extra\":{extra}")];
        let frame = format!(
            "{{{}}}\n",
            order.iter().map(|member| members[*member].as_str()).collect::<Vec<_>>().join(", ")
        );
        let fields = fields(&["metadata.managedFields", "a"]);
        let alone = Scanned { depth: 2, ..scan_object(object.as_bytes(), &fields).unwrap() };
        match (scan_frame(frame.as_bytes(), &fields).unwrap(), kind) {
            (Frame::Event { kind: FrameType::Added, object }, "ADDED")
            | (Frame::Event { kind: FrameType::Modified, object }, "MODIFIED")
            | (Frame::Event { kind: FrameType::Deleted, object }, "DELETED")
            | (Frame::Event { kind: FrameType::Bookmark, object }, "BOOKMARK") => prop_assert_eq!(object, alone),
            (Frame::Error { status }, "ERROR") => prop_assert_eq!(&*status, object.trim().as_bytes()),
            (Frame::Unknown { kind: given, object }, "SYNC" | "added") => {
                prop_assert_eq!(given, kind);
                prop_assert_eq!(object, alone);
            }
            (other, _) => prop_assert!(false, "{kind} became {other:?}"),
        }
    }

    #[test]
    fn law_11_whole_documents_only_valid_frames_are_accepted(object in any_object(), seed in mutated()) {
        let frame = seed.apply(format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n").as_bytes());
        let valid = oracle(&frame).is_some_and(|value| {
            value["type"].is_string() && (value["object"].is_object() || value["type"] == "ERROR" && value.get("object").is_some())
        });
        prop_assert_eq!(scan_frame(&frame, &fields(&[])).is_ok(), valid, "{}", String::from_utf8_lossy(&frame));
    }
}

#[test]
fn law_11_whole_documents_known_edges() {
    for number in [
        "0",
        "-0",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1.0",
        "-1.5",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "1e+",
        "1.e5",
        "0e1",
        "00",
        "-01",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e309",
        "1e-400",
        "0e999",
        "0.0e999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "Infinity",
        "NaN",
        "0x10",
        "1_000",
        "18446744073709551616",
        "123456789012345678901234567890",
    ] {
        agrees_with_the_oracle(format!("{{\"a\":{number}}}").as_bytes());
        agrees_with_the_oracle(format!("{{\"a\":[{number},{number}]}}").as_bytes());
        agrees_with_the_oracle(number.as_bytes());
    }
    for digits in [299, 300, 308, 309, 310, 400] {
        for number in ["1".repeat(digits), "9".repeat(digits), format!("0.{}", "0".repeat(digits))] {
            for exponent in ["", "e-300", "e5", ".5"] {
                agrees_with_the_oracle(format!("{{\"a\":{number}{exponent}}}").as_bytes());
            }
        }
    }
    for string in [
        r"\u0000",
        r"\uD83D\uDE00",
        r"\ud83d",
        r"\ud83d\n",
        r"\ud83dx",
        r"\ud83d\ud83d",
        r"\ude00",
        r"\ud83d\u",
        r"\u12",
        r"\u12G4",
        r"\x41",
        r"\'",
        r"\",
        r"\\",
        r#"\""#,
        r"\/",
        "\u{7f}",
        "\t",
        "\n",
        "\0",
        "\u{1f}",
        "é",
        "\u{2028}",
        "😀",
    ] {
        agrees_with_the_oracle(format!("{{\"a\":\"{string}\"}}").as_bytes());
        agrees_with_the_oracle(format!("{{\"{string}\":1}}").as_bytes());
        agrees_with_the_oracle(format!("{{\"z\":\"a long enough start, then {string} and as much behind it\"}}").as_bytes());
    }
    for bytes in [&b"\xff"[..], b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98", b"\xe2\x80"] {
        agrees_with_the_oracle(&[b"{\"a\":\"", bytes, b"\"}"].concat());
        agrees_with_the_oracle(&[b"{\"z\":{\"", bytes, b"\":1}}"].concat());
        agrees_with_the_oracle(&[b"{\"a\":1", bytes, b"}"].concat());
    }
    for document in [
        "",
        " ",
        "{",
        "}",
        "{}",
        " {} ",
        "{}x",
        "{} {}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "[]",
        "[1,]",
        "[,1]",
        "{\"a\":[1 2]}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":tru}",
        "{\"a\":truex}",
        "{\"a\":nul}",
        "{\"a\":True}",
        "null",
        "\"x\"",
        "{\"a\":1}\u{0}",
        "\u{feff}{}",
        "{\"a\":\u{a0}1}",
        "{\"a\":\u{b}1}",
        "{\"a\":/**/1}",
        "{\t\"a\"\r\n:\n1\t}",
        "{\"a\":[}",
        "{\"a\":{]}",
        "{\"metadata\":null}",
        "{\"metadata\":[]}",
        "{\"metadata\":{\"labels\":null,\"name\":7}}",
        "<html><body>502</body></html>",
    ] {
        agrees_with_the_oracle(document.as_bytes());
    }
    for depth in [1, 2, 126, 127, 128, 129, 5000] {
        agrees_with_the_oracle(format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
        agrees_with_the_oracle(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).as_bytes());
        agrees_with_the_oracle("[".repeat(depth).as_bytes());
    }
}

#[test]
fn law_11_whole_documents_equal_names_read_as_the_last() {
    for document in [
        r#"{"metadata":{"name":"a","labels":{"b":"1"}},"metadata":{"uid":"u"}}"#,
        r#"{"metadata":{"name":"a","name":"b","labels":{"b":"1"},"labels":{"c":"2","c":"3","a":"1"}}}"#,
        r#"{"metadata":{"name":"a"},"metadata":null}"#,
        r#"{"a":{"b":1},"a":[5]}"#,
        r#"{"\u0061":1,"a":2}"#,
        r#"{"a":2,"\u0061":{"b":"x"}}"#,
        r#"{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"annotations":{}}}"#,
        r#"{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}"#,
        r#"{"items":[{"type":"Ready","a":1}],"items":[{"type":"Other","a":2}]}"#,
        r#"{"items":[1,2],"items":{}}"#,
    ] {
        agrees_with_the_oracle(document.as_bytes());
    }
}

#[test]
fn law_11_whole_documents_a_cut_pod_is_refused() {
    let pod = pod();
    let fields = fields(&["metadata.managedFields"]);
    for end in (0..pod.len()).step_by(7) {
        let error = scan_object(&pod[..end], &fields).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::UnexpectedEnd, end));
    }
}

#[test]
fn law_11_whole_documents_a_broken_byte_of_a_pod_is_judged_as_the_oracle_judges() {
    let pod = pod();
    let fields = fields(&[]);
    for at in (0..pod.len()).step_by(23) {
        for byte in [b'"', b'\\', b'{', b'}', b',', b'1', 0x00, 0xff] {
            let mut document = pod.clone();
            document[at] = byte;
            let valid = oracle(&document).is_some();
            assert_eq!(scan_object(&document, &fields).is_ok(), valid, "byte {byte} at {at}");
        }
    }
}

#[test]
fn a_pod_is_read_and_stripped() {
    let pod = pod();
    let mut fields = FieldSet::new(vec![path("metadata.managedFields")]);
    let wanted = ["status.phase", "spec.containers[0].image", "status.conditions[?(@.type=='Ready')].status", "spec.nope"];
    for field in wanted {
        fields.slot(&path(field));
    }
    let scanned = scan_object(&pod, &fields).unwrap();
    let mut value: Value = serde_json::from_slice(&pod).unwrap();
    assert_eq!(scanned.name.as_deref(), value["metadata"]["name"].as_str());
    assert_eq!(scanned.version.as_deref(), value["metadata"]["resourceVersion"].as_str());
    assert_eq!(scanned.fields[0].text(), value["status"]["phase"].as_str().unwrap());
    assert_eq!(scanned.fields[1].text(), value["spec"]["containers"][0]["image"].as_str().unwrap());
    let ready = value["status"]["conditions"].as_array().unwrap().iter().find(|condition| condition["type"] == "Ready");
    assert_eq!(scanned.fields[2].text(), ready.unwrap()["status"].as_str().unwrap());
    assert_eq!(scanned.fields[3], Scalar::Missing);
    assert_eq!(scanned.labels.len(), value["metadata"]["labels"].as_object().unwrap().len());
    value["metadata"].as_object_mut().unwrap().remove("managedFields");
    assert_eq!(serde_json::from_slice::<Value>(&scanned.bytes).unwrap(), value);
    assert_eq!(scanned.bytes.len(), 9236);
}

#[test]
fn errors_name_the_kind_and_the_byte() {
    let fields = fields(&[]);
    for (document, kind, offset) in [
        (&b"{\"a\":x}"[..], ErrorKind::ExpectedValue, 5),
        (b"{\"a\" 1}", ErrorKind::ExpectedColon, 5),
        (b"{\"a\":1 2}", ErrorKind::ExpectedCommaOrBrace, 7),
        (b"{\"a\":[1 2]}", ErrorKind::ExpectedCommaOrBracket, 8),
        (b"{\"a\":1,}", ErrorKind::ExpectedKey, 7),
        (b"{\"a\":-}", ErrorKind::InvalidNumber, 6),
        (b"{\"a\":1e999}", ErrorKind::NumberOutOfRange, 5),
        (b"{\"a\":\"\n\"}", ErrorKind::ControlCharacter, 6),
        (b"{\"a\":\"\\x\"}", ErrorKind::InvalidEscape, 7),
        (b"{\"a\":\"\\udc00\"}", ErrorKind::LoneSurrogate, 6),
        (b"{\"a\":\"\xff\"}", ErrorKind::InvalidUtf8, 6),
        (b"{} {}", ErrorKind::TrailingCharacters, 3),
        (b" [1]", ErrorKind::NotAnObject, 1),
        (b"<html>", ErrorKind::ExpectedValue, 0),
        (b"", ErrorKind::UnexpectedEnd, 0),
    ] {
        let error = scan_object(document, &fields).unwrap_err();
        assert_eq!((error.kind, error.offset), (kind, offset), "{}", String::from_utf8_lossy(document));
        assert_eq!(error.to_string(), format!("{} at byte {offset}", error.message()));
    }
    let deep = format!("{{\"a\":{}", "[".repeat(200));
    let error = scan_object(deep.as_bytes(), &fields).unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::TooDeep, 5 + 126));
}

#[test]
fn frames_without_type_or_object_are_refused() {
    let fields = fields(&[]);
    for (frame, kind) in [
        ("{}", ErrorKind::MissingType),
        (r#"{"object":{}}"#, ErrorKind::MissingType),
        (r#"{"type":7,"object":{}}"#, ErrorKind::MissingType),
        (r#"{"type":"ADDED"}"#, ErrorKind::MissingObject),
        (r#"{"type":"ERROR"}"#, ErrorKind::MissingObject),
        (r#"{"type":"ADDED","object":null}"#, ErrorKind::NotAnObject),
        (r#"{"type":"ADDED","object":"{}"}"#, ErrorKind::NotAnObject),
        (r#"{"type":"ADDED","object":{}} {}"#, ErrorKind::TrailingCharacters),
        (r#"[{"type":"ADDED","object":{}}]"#, ErrorKind::NotAnObject),
        ("<!doctype html>", ErrorKind::ExpectedValue),
        ("\n", ErrorKind::UnexpectedEnd),
    ] {
        assert_eq!(scan_frame(frame.as_bytes(), &fields).unwrap_err().kind, kind, "{frame}");
    }
}

#[test]
fn a_frame_repeating_its_members_counts_the_last() {
    let frame = br#"{"type":"ADDED","object":{"metadata":{"name":"a"}},"object":{"metadata":{"uid":"u"}},"type":"DELETED"}"#;
    let Frame::Event { kind, object } = scan_frame(frame, &fields(&[])).unwrap() else { panic!("no event") };
    assert_eq!(kind, FrameType::Deleted);
    assert_eq!((object.name, object.uid.as_deref()), (None, Some("u")));
}

#[test]
fn stripping_keeps_commas_and_whitespace_right() {
    let strip = |document: &str, strip: &[&str]| {
        let fields = FieldSet::new(strip.iter().map(|text| path(text)).collect());
        String::from_utf8(scan_object(document.as_bytes(), &fields).unwrap().bytes.into()).unwrap()
    };
    assert_eq!(strip(r#"{"a":1,"b":2,"c":3}"#, &["a"]), r#"{"b":2,"c":3}"#);
    assert_eq!(strip(r#"{"a":1,"b":2,"c":3}"#, &["b"]), r#"{"a":1,"c":3}"#);
    assert_eq!(strip(r#"{"a":1,"b":2,"c":3}"#, &["c"]), r#"{"a":1,"b":2}"#);
    assert_eq!(strip(r#"{"a":1,"b":2,"c":3}"#, &["c", "b"]), r#"{"a":1}"#);
    assert_eq!(strip(r#"{"a":1,"b":2,"c":3}"#, &["a", "b", "c"]), "{}");
    assert_eq!(strip("{ \"a\" : 1 ,\n \"b\" : 2 }", &["b"]), "{ \"a\" : 1 \n  }");
    assert_eq!(strip(r#"{"a":[1,{"b":2},3]}"#, &["a[1].b", "a[0]"]), r#"{"a":[{},3]}"#);
    assert_eq!(strip(r#"{"a":[{"t":"x"},{"t":"y","b":1}]}"#, &["a[?(@.t=='y')].b", "a[1].t"]), r#"{"a":[{"t":"x"},{}]}"#);
    assert_eq!(strip(r#"{"a":{"b":1},"c":2}"#, &["a.b", "a"]), r#"{"c":2}"#);
    assert_eq!(strip(r#"{"a":1,"a":2}"#, &["a"]), "{}");
}

#[test]
fn a_stripped_value_is_missing_but_the_key_is_known() {
    let mut fields = FieldSet::new(vec![path("metadata.labels"), path("metadata.annotations")]);
    fields.slot(&path("metadata.labels.app"));
    let document = json!({"metadata": {
        "name": "a", "labels": {"app": "x"}, "annotations": {"k8s.io/initial-events-end": "true"},
    }});
    let scanned = scan_object(document.to_string().as_bytes(), &fields).unwrap();
    assert_eq!(scanned.fields, [Scalar::Missing]);
    assert_eq!(scanned.labels, [("app".into(), "x".into())].into());
    assert!(scanned.initial_events_end);
    assert_eq!(&*scanned.bytes, br#"{"metadata":{"name":"a"}}"#);
}

#[test]
fn a_large_object_is_read() {
    let filler = "x".repeat(10 << 20);
    let document = json!({"data": {"filler": filler}, "metadata": {"name": "big"}}).to_string();
    let scanned = scan_object(document.as_bytes(), &FieldSet::new(vec![path("data.filler")])).unwrap();
    assert_eq!(scanned.name.as_deref(), Some("big"));
    assert_eq!(&*scanned.bytes, br#"{"data":{},"metadata":{"name":"big"}}"#);
}
