//! What a watch asks for, and which combinations the API allows.
use crate::status::{Error, Status};
use crate::time::{Instant, Millis};
use crate::version::Version;
use crate::watch::overflow::OnOverflow;

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
    /// Of updates only those that change the value at one of these paths.
    pub changes_of: Option<Vec<String>>,
    /// Where to start: unset or `"0"` from the state held, `n` after that version.
    pub resource_version: Option<String>,
    /// Only `NotOlderThan`, and only together with `send_initial_events`.
    pub resource_version_match: Option<String>,
    /// A token of a list, which no watch takes.
    pub continue_token: Option<String>,
    /// Whether the state comes first, as ADDED events.
    pub send_initial_events: Option<bool>,
    /// Whether bookmarks are wanted.
    pub allow_watch_bookmarks: bool,
    /// Seconds after which the stream ends; `None` or 0 = never.
    pub timeout_seconds: Option<u32>,
    /// Events the watcher may hold back before it counts as too slow; `None` = the cacher's suggestion.
    pub buffer_size: Option<usize>,
    /// What happens when it would have to hold back more.
    pub on_overflow: OnOverflow,
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
    /// When the stream ends by itself, if it does.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        self.timeout_seconds.filter(|seconds| *seconds > 0).map(|seconds| now + Millis::from(seconds) * 1000)
    }

    /// Checks the combination as the API's validation does, and reads the version. Fails with 422 and every mistake of the combination.
    pub fn start(&self) -> Result<Start, Error> {
        let mut faults = Vec::new();
        let mut forbid = |message: &str| faults.push(("FieldValueForbidden", format!("Forbidden: {message}")));
        let kind = self.resource_version_match.as_deref().filter(|kind| !kind.is_empty());
        if self.send_initial_events.is_some() && kind != Some(NOT_OLDER_THAN) {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if kind.is_some() && self.send_initial_events.is_none() {
            forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        if let Some(kind) = kind.filter(|kind| *kind != NOT_OLDER_THAN) {
            faults.push(("FieldValueNotSupported", format!("Unsupported value: {kind:?}: supported values: {NOT_OLDER_THAN:?}")));
        }
        if kind.is_some() && self.continue_token.as_deref().is_some_and(|token| !token.is_empty()) {
            faults.push(("FieldValueForbidden", "Forbidden: resourceVersionMatch is forbidden when continue is provided".into()));
        }
        if !faults.is_empty() {
            return Err(Status::invalid_options("resourceVersionMatch", faults).into());
        }
        match self.resource_version.as_deref() {
            None | Some("") => Ok(Start::Unset),
            Some(text) => {
                let version = Version::parse(text).map_err(|error| Error::no_version(&error))?;
                Ok(if version.is_zero() { Start::Any } else { Start::After(version) })
            }
        }
    }
}

const NOT_OLDER_THAN: &str = "NotOlderThan";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::time::at;

    fn options(initial: Option<bool>, kind: Option<&str>) -> WatchOptions {
        WatchOptions { send_initial_events: initial, resource_version_match: kind.map(str::to_string), ..WatchOptions::default() }
    }

    #[test]
    fn opt_08_initial_events_and_match_need_each_other() {
        const WITHOUT_EVENTS: &str =
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        const WITHOUT_MATCH: &str =
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        const EXACT: &str = "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"";
        const CONTINUE: &str = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
        let refused = |options: WatchOptions| {
            let error = options.start().unwrap_err();
            let status = error.status.unwrap();
            assert_eq!((error.code, status.code, status.reason.as_str()), (ErrorCode::Invalid, 422, "Invalid"));
            let details = status.details.unwrap();
            assert_eq!((details.group.as_deref(), details.kind.as_deref()), (Some("meta.k8s.io"), Some("ListOptions")));
            let causes = details.causes.iter().map(|cause| (cause.reason.clone(), format!("{}: {}", cause.field, cause.message)));
            (status.message, causes.collect::<Vec<_>>())
        };
        let (forbidden, unsupported) = ("FieldValueForbidden".to_string(), "FieldValueNotSupported".to_string());
        for send in [None, Some(true), Some(false)] {
            for bookmarks in [false, true] {
                let fine = WatchOptions { allow_watch_bookmarks: bookmarks, ..options(send, send.map(|_| "NotOlderThan")) };
                assert!(fine.start().is_ok(), "{fine:?}");
            }
        }
        let one = |text: &str| format!("ListOptions.meta.k8s.io \"\" is invalid: {text}");
        assert_eq!(
            refused(options(None, Some("NotOlderThan"))),
            (one(WITHOUT_EVENTS), vec![(forbidden.clone(), WITHOUT_EVENTS.to_string())])
        );
        for send in [true, false] {
            for kind in [None, Some("")] {
                assert_eq!(refused(options(Some(send), kind)), (one(WITHOUT_MATCH), vec![(forbidden.clone(), WITHOUT_MATCH.to_string())]));
            }
        }
        assert_eq!(
            refused(options(Some(true), Some("Exact"))),
            (one(&format!("[{WITHOUT_MATCH}, {EXACT}]")), vec![(forbidden.clone(), WITHOUT_MATCH.into()), (unsupported, EXACT.into())])
        );
        let continued = WatchOptions { continue_token: Some("t".into()), ..options(Some(true), Some("NotOlderThan")) };
        assert_eq!(refused(continued), (one(CONTINUE), vec![(forbidden, CONTINUE.to_string())]));
    }

    #[test]
    fn a_timeout_of_no_seconds_is_none() {
        let deadline = |timeout_seconds| WatchOptions { timeout_seconds, ..WatchOptions::default() }.deadline(at(500));
        assert_eq!((deadline(None), deadline(Some(0)), deadline(Some(2))), (None, None, Some(at(2_500))));
    }

    #[test]
    fn opt_04_versions_are_decimal() {
        let at = |text: &str| WatchOptions { resource_version: Some(text.into()), ..WatchOptions::default() }.start();
        assert_eq!(at("").unwrap(), Start::Unset);
        assert_eq!(at("0").unwrap(), Start::Any);
        assert_eq!(at("10").unwrap(), Start::After(Version::from(10)));
        for text in ["a", " ", "-1", "1.5"] {
            let error = at(text).unwrap_err();
            assert_eq!((error.code, error.status.unwrap().code), (ErrorCode::Invalid, 500), "{text:?}");
        }
    }
}
