//! An object and a change of its bytes: what a comparison finds is what a full scan reads, and what it leaves says nothing.
//!
//! An input is a document, a zero byte, and steps: a position (two bytes), how many bytes go there, how many come, and these. Its length
//! says whether members come in front of all others, or go from there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use watchcache::json::{
    FieldSet, Frame, HeldVersion, Path, Scanned, Update, compare_object, scan_frame, scan_held_item, scan_object, scan_update,
};

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

/// With so many brackets no text is nested too deep in a frame or a list.
const MAX_SURE_DEPTH: usize = 120;

/// Members in front of all others. Items of lists lack the first two.
const FRONTS: [&str; 3] = [r#""kind":"Pod","apiVersion":"v1","#, r#""spec":1,"#, r#""x":"","k\u0069nd":"Pod","#];

/// A document with members in front of its own; unchanged if it does not begin with an object that has any.
fn led(document: &[u8], front: Option<&&str>) -> Vec<u8> {
    match (document, front) {
        ([b'{', rest @ ..], Some(front)) if rest.first() == Some(&b'"') => [b"{", front.as_bytes(), rest].concat(),
        _ => document.to_vec(),
    }
}

/// A held text that somebody has decoded, so that patches are made as well.
struct Decoded<'t>(&'t [u8]);

impl HeldVersion for Decoded<'_> {
    fn text(&self) -> &[u8] {
        self.0
    }

    fn is_decoded(&self) -> bool {
        true
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == 0) else { return };
    let strips: [&[&str]; 3] = [&[], &["metadata.managedFields"], &["spec.b", "metadata.labels.x"]];
    let fields = fields(strips[end % strips.len()]);
    let way = input.len() % (2 * FRONTS.len() + 1);
    let Ok(held) = scan_object(&led(&input[..end], FRONTS.get(way)), &fields) else { return };
    if held.is_odd {
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
        assert_eq!(now, Scanned { is_odd: now.is_odd, depth: now.depth, ..full });
    }
    if held.bytes.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_SURE_DEPTH {
        return;
    }
    let frame = [&br#"{"type":"MODIFIED","object":"#[..], &document, b"}\n"].concat();
    let name =
        |namespace: &str, name: &str| held.namespace.as_deref().unwrap_or("") == namespace && held.name.as_deref().unwrap_or("") == name;
    let held_text = |space: &str, text: &str| name(space, text).then(|| Decoded(&held.bytes));
    if let Ok((told, update)) = scan_update(&frame, &fields, held_text) {
        let Ok(Frame::Event { kind, object }) = scan_frame(&frame, &fields) else { panic!("what was compared is a frame") };
        assert_eq!((told, update.kind.as_deref()), (kind, object.kind.as_deref()));
        same(&held, update, object);
    }
    // The item of a list, which may be cut.
    let end = document.len().saturating_sub(usize::from(input.last().is_some_and(|byte| byte % 4 == 0)));
    let read = scan_held_item(&document[..end], 0, &fields, held_text);
    if let Ok((update, behind)) = read {
        let full = scan_object(&document[..behind], &fields).expect("what was compared is sound");
        same(&held, update, full);
    }
});

/// What was read by comparison is what a full scan reads.
fn same(held: &Scanned, update: Update<'_, Decoded<'_>>, full: Scanned) {
    let patch = update.edits.as_ref().and_then(|edits| edits.patch.as_ref());
    assert!(patch.is_none_or(|patch| serde_json::from_slice::<Value>(patch).is_ok()));
    let edited = update.edits.map(|edits| edits.bytes);
    assert_eq!((&full.namespace, &full.name, &full.uid), (&held.namespace, &held.name, &held.uid));
    match edited {
        Some(bytes) => assert_eq!(bytes, full.bytes),
        None => assert_eq!((&full.version, &full.labels), (&held.version, &held.labels)),
    }
}
