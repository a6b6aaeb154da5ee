//! Objects for tests, made the way the cache makes them: from JSON bytes, through the scanner.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::scan::scan_object;
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
    with_spec(key, version, labels, &serde_json::json!({}))
}

/// An object with labels and a `spec`.
pub fn with_spec(key: &str, version: u64, labels: &[(&str, &str)], spec: &serde_json::Value) -> Rc<Object> {
    let (namespace, name) = crate::key::split(key);
    let labels: serde_json::Map<String, serde_json::Value> =
        labels.iter().map(|(key, value)| ((*key).to_string(), (*value).into())).collect();
    let mut metadata =
        serde_json::json!({"name": name, "resourceVersion": version.to_string(), "uid": format!("uid-{key}"), "labels": labels});
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    document(&serde_json::json!({"metadata": metadata, "spec": spec}).to_string(), &FieldSet::new(Vec::new()))
}
