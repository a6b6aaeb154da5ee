//! An object and a change of its bytes: what a comparison finds is what a full scan reads, and what it leaves says nothing.
//!
//! An input is a document, a zero byte, and steps: a position (two bytes), how many bytes go there, how many come, and these. Its length
//! says whether members come in front of all others, or go from there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use watchcache::json::{FieldSet, Frame, Path, Scanned, compare_object, scan_frame, scan_object, scan_update};

fn fields(strip: &[&str]) -> FieldSet {
    let path = |text: &str| Path::parse(text).expect("a path");
    let mut fields = FieldSet::new(strip.iter().map(|text| path(text)).collect());
    for text in [
        "kind",
        "apiVersion",
        "status.phase",
        "status.conditions[?(@.type=='Ready')].status",
        "spec.a",
        "spec",
        "metadata.name",
        "items[1]",
    ] {
        fields.slot(&path(text));
    }
    fields
}

fn changed(held: &[u8], mut steps: &[u8]) -> Vec<u8> {
    let mut text = held.to_vec();
    while let [high, low, gone, come, rest @ ..] = steps {
        let from = (usize::from(*high) << 8 | usize::from(*low)) % (text.len() + 1);
        let to = (from + usize::from(*gone)).min(text.len());
        let (new, behind) = rest.split_at(rest.len().min(usize::from(*come)));
        text.splice(from..to, new.iter().copied());
        steps = behind;
    }
    text
}

/// Members in front of all others. Items of lists lack the first two.
const FRONTS: [&str; 3] = [r#""kind":"Pod","apiVersion":"v1","#, r#""spec":1,"#, r#""x":"","k\u0069nd":"Pod","#];

/// A document with members in front of its own; unchanged if it does not begin with an object that has any.
fn led(document: &[u8], front: Option<&&str>) -> Vec<u8> {
    match (document, front) {
        ([b'{', rest @ ..], Some(front)) if rest.first() == Some(&b'"') => [b"{", front.as_bytes(), rest].concat(),
        _ => document.to_vec(),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == 0) else { return };
    let strips: [&[&str]; 3] = [&[], &["metadata.managedFields"], &["spec.b", "metadata.labels.x"]];
    let fields = fields(strips[end % strips.len()]);
    let way = input.len() % (2 * FRONTS.len() + 1);
    let Ok(held) = scan_object(&led(&input[..end], FRONTS.get(way)), &fields) else { return };
    if held.repeats {
        return;
    }
    let front = way.checked_sub(FRONTS.len()).and_then(|way| FRONTS.get(way));
    let document = led(&changed(&input[..end], &input[end + 1..]), front);
    if let Some(found) = compare_object(&held.bytes, &document, &fields) {
        let full = scan_object(&document, &fields).expect("what was compared is sound");
        assert!(serde_json::from_slice::<Value>(&document).is_ok());
        let mut now = Scanned { bytes: found.bytes, ..held.clone() };
        if found.edits.first().is_some_and(|edit| edit.old_start == edit.old_end || edit.new_start == edit.new_end) {
            // A frame tells the kind, see below.
            now.kind.clone_from(&full.kind);
        }
        now.version = found.version.or(now.version);
        now.labels = found.labels.unwrap_or(now.labels);
        now.initial_events_end = found.initial_events_end.unwrap_or(now.initial_events_end);
        found.fields.into_iter().for_each(|(slot, value)| now.fields[slot] = value);
        assert_eq!(now, Scanned { repeats: now.repeats, ..full });
    }
    let frame = [&br#"{"type":"MODIFIED","object":"#[..], &document, b"}\n"].concat();
    let name =
        |namespace: &str, name: &str| held.namespace.as_deref().unwrap_or("") == namespace && held.name.as_deref().unwrap_or("") == name;
    if let Ok(update) = scan_update(&frame, &fields, |space, text| name(space, text).then(|| &*held.bytes)) {
        let Ok(Frame::Event { kind, object }) = scan_frame(&frame, &fields) else { panic!("what was compared is a frame") };
        assert_eq!(update.frame, kind);
        assert!(update.kind.is_none() || update.kind == object.kind);
        assert_eq!((&update.edits.bytes, object.namespace, object.name, object.uid), (&object.bytes, held.namespace, held.name, held.uid));
    }
});
