//! Keys: `namespace/name`, or `name` for objects without a namespace. The store is ordered by their bytes.
//!
//! Imports: status.

use std::rc::Rc;

use crate::status::{Error, ErrorCode, Status};

/// The identity of an object within its resource. Shared, because every index and watcher holds it.
pub type Key = Rc<str>;

/// The key of an object. Fails if a name is not a legal path segment, such as one with a slash, as in the
/// apiserver's key functions.
pub fn key(namespace: &str, name: &str) -> Result<Key, Error> {
    check_segment("metadata.name", name)?;
    if namespace.is_empty() {
        return Ok(name.into());
    }
    check_segment("metadata.namespace", namespace)?;
    Ok([namespace, "/", name].concat().into())
}

/// Whether this is a legal name.
pub fn is_name(name: &str) -> bool {
    check_segment("", name).is_ok()
}

/// Splits a key at its first slash into namespace and name. The namespace is empty for cluster-scoped objects.
pub fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}

/// Prepares the path of a request: the key of one object, or with `recursive` a prefix that ends in "/".
///
/// The apiserver's cacher compares keys as plain text. Like it, this refuses elements that a path cleaner would remove, so that no path
/// leaves the resource's prefix.
pub fn prepare(resource_prefix: &str, path: &str, recursive: bool) -> Result<String, Error> {
    let refused = |message: String| Err(Status::bad_request(message).into());
    if path.split('/').any(|element| matches!(element, "." | "..")) {
        return refused(format!("invalid key: {path:?}"));
    }
    if matches!(path, "" | "/") {
        return refused(format!("empty key: {path:?}"));
    }
    let slash = if recursive && !path.ends_with('/') { "/" } else { "" };
    let prepared = format!("{path}{slash}");
    if !has_path_prefix(&prepared, resource_prefix) {
        return refused(format!("invalid key: {prepared:?} lacks resource prefix: {resource_prefix:?}"));
    }
    Ok(prepared)
}

/// Whether a path is at or below a prefix, element by element. Nothing is normalized.
pub fn has_path_prefix(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || prefix.is_empty() || prefix.ends_with('/') || rest.starts_with('/'))
}

fn check_segment(field: &str, value: &str) -> Result<(), Error> {
    let reason = match value {
        "" => "may not be empty",
        "." | ".." => "may not be '.' or '..'",
        _ if value.contains('/') => "may not contain '/'",
        _ if value.contains('%') => "may not contain '%'",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorCode::Protocol, format!("{field}: Invalid value: {value:?}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn st_01_keys_are_namespace_and_name_or_name_alone() {
        assert_eq!(&*key("a", "b").unwrap(), "a/b");
        assert_eq!(&*key("", "n").unwrap(), "n");
        assert_eq!(split("a/b"), ("a", "b"));
        assert_eq!(split("n"), ("", "n"));
    }

    #[test]
    fn key_01_a_path_lies_below_a_prefix_element_by_element() {
        for (path, prefix) in [("", ""), ("a", "a"), ("a/", "a/"), ("a/../", "a/../"), ("a/b", "a"), ("a/b", "a/"), ("中文/", "中文")] {
            assert!(has_path_prefix(path, prefix), "{path:?} {prefix:?}");
        }
        for (path, prefix) in
            [("a", "b"), ("a", "a/"), ("ns2", "ns"), ("ns2", "ns/"), ("中文文", "中文"), ("a/c/../b/", "a/b/"), ("a/", "a/b/..")]
        {
            assert!(!has_path_prefix(path, prefix), "{path:?} {prefix:?}");
        }
    }

    #[test]
    fn key_02_paths_outside_of_the_resource_are_refused() {
        for recursive in [false, true] {
            let refused = |path: &str| {
                let error = prepare("/pods/", path, recursive).unwrap_err();
                assert_eq!((error.code, error.status.unwrap().code), (ErrorCode::Invalid, 400), "{path:?}");
                error.message
            };
            for empty in ["", "/"] {
                assert_eq!(refused(empty), format!("empty key: {empty:?}"));
            }
            for invalid in [".", "..", "/pods/../secrets", "/pods/./a", "../pods/", "/pods/a/..", "/pods/a/."] {
                assert_eq!(refused(invalid), format!("invalid key: {invalid:?}"));
            }
            for outside in ["pods", "/pods.apps", "/foo/"] {
                let message = refused(outside);
                assert!(message.contains("lacks resource prefix: \"/pods/\""), "{message}");
            }
        }
        assert_eq!(prepare("/pods/", "/pods", true).unwrap(), "/pods/");
        assert!(prepare("/pods/", "/pods", false).is_err());
        assert_eq!(prepare("/pods/", "/pods/ns", true).unwrap(), "/pods/ns/");
        assert_eq!(prepare("/pods/", "/pods/ns/a..b", false).unwrap(), "/pods/ns/a..b");
    }

    #[test]
    fn illegal_path_segments_are_refused() {
        for name in ["", ".", "..", "a/b", "a%b"] {
            assert_eq!(key("ns", name).unwrap_err().code, ErrorCode::Protocol, "{name:?}");
        }
        assert!(key("a/b", "n").is_err());
    }
}
