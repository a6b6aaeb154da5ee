//! Keys: `namespace/name`, or `name` for what has no namespace. The store is ordered by them, byte by byte.

use std::rc::Rc;

use crate::status::{Error, ErrorCode};

/// The identity of an object within its resource. Shared, because every index and watcher holds it.
pub type Key = Rc<str>;

/// The key of an object. Fails on names that are no legal path segment, as the apiserver's key functions do.
pub fn key(namespace: &str, name: &str) -> Result<Key, Error> {
    check_segment("metadata.name", name)?;
    if namespace.is_empty() {
        return Ok(name.into());
    }
    check_segment("metadata.namespace", namespace)?;
    Ok([namespace, "/", name].concat().into())
}

/// Splits a key into namespace (empty for cluster-scoped) and name.
pub fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
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
    fn illegal_path_segments_are_refused() {
        for name in ["", ".", "..", "a/b", "a%b"] {
            assert_eq!(key("ns", name).unwrap_err().code, ErrorCode::Protocol, "{name:?}");
        }
        assert!(key("a/b", "n").is_err());
    }
}
