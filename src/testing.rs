//! Objects for tests, made the way the cache makes them: from JSON bytes, through the scanner.
//!
//! It is public because unit tests, the programs in `tests` and the benchmarks share it. No other code calls it, so the linker leaves it out
//! of the WebAssembly.

use std::fmt::Display;
use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::scan::scan_object;
use crate::json::write::Document;
use crate::object::Object;

/// An object of a JSON document.
///
/// # Panics
/// When the document is no object with a name and a version.
pub fn document(text: &str, fields: &FieldSet) -> Rc<Object> {
    Object::new(scan_object(text.as_bytes(), fields).expect("valid JSON")).expect("a name and a version")
}

/// `namespace/name` at a version, without labels.
pub fn object(key: &str, version: u64) -> Rc<Object> {
    labelled(key, version, &[])
}

/// A cluster-scoped object.
pub fn named(name: &str, version: u64) -> Rc<Object> {
    labelled(name, version, &[])
}

/// An object with labels.
pub fn labelled(key: &str, version: u64, labels: &[(&str, &str)]) -> Rc<Object> {
    with_spec(key, version, labels, &"{}")
}

/// An object with labels and a `spec`, which is anything that shows itself as JSON.
pub fn with_spec(key: &str, version: u64, labels: &[(&str, &str)], spec: &dyn Display) -> Rc<Object> {
    let (namespace, name) = crate::key::split(key);
    let (mut metadata, mut given) = (Document::new(), Document::new());
    for (label, value) in labels {
        given.text(label, value);
    }
    metadata.raw("labels", &given.finish()).text("name", name).filled("namespace", namespace);
    metadata.text("resourceVersion", &version.to_string()).text("uid", &format!("uid-{key}"));
    let text = format!("{{\"metadata\":{},\"spec\":{spec}}}", metadata.finish());
    document(&text, &FieldSet::new(Vec::new()))
}
