//! What a watch asks for, and which combinations the API allows.

use crate::status::{Cause, Details, Error, Status};
use crate::version::Version;

/// The options of a watch, as the API names them. Unset is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchOptions {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Only objects of this name.
    pub name: Option<String>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// A shard selector.
    pub shard_selector: Option<String>,
    /// Where to start: unset or `"0"` from the state held, `n` after that version.
    pub resource_version: Option<String>,
    /// Only `NotOlderThan`, and only together with `send_initial_events`.
    pub resource_version_match: Option<String>,
    /// Whether the state comes first, as ADDED events.
    pub send_initial_events: Option<bool>,
    /// Whether bookmarks are wanted.
    pub allow_watch_bookmarks: bool,
    /// Seconds after which the stream ends; none = never.
    pub timeout_seconds: Option<u32>,
    /// Events the watcher may hold back before it counts as too slow; none = the cacher's suggestion.
    pub buffer_size: Option<usize>,
}

/// Where a watch starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// `resourceVersion` unset.
    Unset,
    /// `"0"`: any version.
    Any,
    /// After this version.
    After(Version),
}

impl WatchOptions {
    /// Checks the combination as the API's validation does, and reads the version. 422 for a forbidden combination.
    pub fn start(&self) -> Result<Start, Error> {
        if let Some(kind) = &self.resource_version_match {
            if self.send_initial_events.is_none() {
                return Err(forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if kind != "NotOlderThan" {
                return Err(invalid("resourceVersionMatch", &format!("Unsupported value: {kind:?}: supported values: \"NotOlderThan\"")));
            }
        } else if self.send_initial_events.is_some() {
            return Err(forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        match self.resource_version.as_deref() {
            None | Some("") => Ok(Start::Unset),
            Some(text) => {
                let version = Version::parse(text).map_err(|error| Status::bad_request(error.to_string()))?;
                Ok(if version.is_zero() { Start::Any } else { Start::After(version) })
            }
        }
    }
}

fn forbidden(field: &str, message: &str) -> Error {
    invalid(field, &format!("Forbidden: {message}"))
}

fn invalid(field: &str, message: &str) -> Error {
    let mut status = Status::new(422, "Invalid", format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {message}"));
    status.details = Some(Details {
        group: Some("meta.k8s.io".into()),
        kind: Some("ListOptions".into()),
        causes: vec![Cause { reason: "FieldValueForbidden".into(), message: message.into(), field: field.into() }],
        ..Details::default()
    });
    status.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;

    fn options(initial: Option<bool>, kind: Option<&str>) -> WatchOptions {
        WatchOptions { send_initial_events: initial, resource_version_match: kind.map(str::to_string), ..WatchOptions::default() }
    }

    #[test]
    fn opt_08_initial_events_and_match_need_each_other() {
        assert!(options(None, None).start().is_ok());
        assert!(options(Some(true), Some("NotOlderThan")).start().is_ok());
        assert!(options(Some(false), Some("NotOlderThan")).start().is_ok());
        for wrong in [options(None, Some("NotOlderThan")), options(Some(true), None), options(Some(true), Some("Exact"))] {
            let error = wrong.start().unwrap_err();
            assert_eq!((error.code, error.status.unwrap().code), (ErrorCode::Invalid, 422));
        }
    }

    #[test]
    fn opt_04_versions_are_decimal() {
        let at = |text: &str| WatchOptions { resource_version: Some(text.into()), ..WatchOptions::default() }.start();
        assert_eq!(at("").unwrap(), Start::Unset);
        assert_eq!(at("0").unwrap(), Start::Any);
        assert_eq!(at("10").unwrap(), Start::After(Version::from(10)));
        for text in ["a", " ", "-1", "1.5"] {
            assert_eq!(at(text).unwrap_err().code, ErrorCode::Invalid, "{text:?}");
        }
    }
}
