//! Watch frames. One is taken exactly when serde_json takes it and it has the shape of a frame. What is kept is what arrived.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use watchcache::json::{FieldSet, Frame, Path, scan_frame};
use watchcache::object::Object;

fuzz_target!(|document: &[u8]| {
    let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").expect("a path")]);
    fields.slot(&Path::parse("status.conditions[?(@.type=='Ready')].status").expect("a path"));
    let scanned = scan_frame(document, &fields);
    let parsed = serde_json::from_slice::<Value>(document).ok();
    // What is no Status ends a watch too, and is told as such where it is read.
    let is_frame = |value: &&Value| {
        let object = value.get("object");
        value["type"].is_string() && object.is_some_and(|object| object.is_object() || value["type"] == "ERROR")
    };
    let whole = parsed.as_ref().filter(is_frame);
    assert_eq!(scanned.is_ok(), whole.is_some(), "{scanned:?}");
    let (Ok(Frame::Event { object, .. } | Frame::Unknown { object, .. }), Some(whole)) = (scanned, whole) else { return };
    let mut expected = whole["object"].clone();
    if let Some(metadata) = expected["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    if expected["metadata"].is_null() && whole["object"].get("metadata").is_none() {
        expected.as_object_mut().expect("an object").remove("metadata");
    }
    assert_eq!(serde_json::from_slice::<Value>(&object.bytes).expect("what is kept is JSON"), expected);
    if let Ok(object) = Object::new(object) {
        assert_eq!(Some(object.name()), whole["object"]["metadata"]["name"].as_str());
    }
});
