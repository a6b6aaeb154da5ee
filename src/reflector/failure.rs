//! What a failure means: which of them end a round, and which are waited out.

use crate::status::{Error, ErrorCode};

/// What follows a watch that was refused, or that its server ended by an ERROR event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The version is no longer kept: a list, mostly at once.
    ListForVersion,
    /// A list, after a wait.
    List,
    /// The same watch, after a wait.
    Watch,
    /// The same watch almost at once, unless that has gone on for long: then a list.
    WatchSoon,
}

/// The server did not open the watch.
pub(super) fn of_opening(error: &Error) -> Next {
    match error.code {
        ErrorCode::Expired => Next::ListForVersion,
        ErrorCode::TooManyRequests | ErrorCode::Unauthorized => Next::Watch,
        _ if is_lost(error) || is_overloaded(error) => Next::Watch,
        _ => Next::List,
    }
}

/// The server ended the watch by an ERROR event.
pub(super) fn of_event(error: &Error) -> Next {
    match error.code {
        ErrorCode::Expired => Next::ListForVersion,
        ErrorCode::TooManyRequests | ErrorCode::Unauthorized => Next::Watch,
        _ if is_internal(error) => Next::WatchSoon,
        _ => Next::List,
    }
}

/// Whether the connection is to blame and not what was asked for.
pub(super) fn is_lost(error: &Error) -> bool {
    match error.code {
        ErrorCode::Network | ErrorCode::Overflow | ErrorCode::Closed => true,
        ErrorCode::Timeout => error.status.as_ref().is_none_or(|status| !status.is_too_large()),
        _ => false,
    }
}

/// Whether a server, or whatever stands before it, only asks for patience. A list would be the wrong answer.
fn is_overloaded(error: &Error) -> bool {
    error.code == ErrorCode::Unavailable
        && (error.retry_after_seconds.is_some() || error.status.as_ref().is_none_or(|status| matches!(status.code, 502..=504)))
}

/// InternalError, or code 500 without a reason.
fn is_internal(error: &Error) -> bool {
    error.status.as_ref().is_some_and(|status| status.reason == "InternalError" || status.reason.is_empty() && status.code == 500)
}

/// Whether the token of a page is no longer kept. Only the reason Expired is about the token; client-go does not take Gone for it either.
pub(super) fn is_token_expired(error: &Error) -> bool {
    error.code == ErrorCode::Expired && error.status.as_ref().is_none_or(|status| status.reason != "Gone")
}

/// Whether the same page may be there a moment later.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(
        error.code,
        ErrorCode::Network
            | ErrorCode::Timeout
            | ErrorCode::TooManyRequests
            | ErrorCode::Unavailable
            | ErrorCode::Unauthorized
            | ErrorCode::Overflow
    )
}

/// Whether the version that was asked for is none that the server can serve: no longer, or not yet.
pub(super) fn is_outdated(error: &Error) -> bool {
    error.code == ErrorCode::Expired || error.status.as_ref().is_some_and(|status| status.is_too_large())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;
    use crate::version::Version;

    fn status(code: u16, reason: &str) -> Error {
        Status::new(code, reason, "no").into()
    }

    fn not_yet() -> Error {
        Status::too_large(Version::from(9), Version::from(5)).into()
    }

    #[test]
    fn a_refused_watch_is_opened_again_where_only_the_way_or_the_moment_is_wrong() {
        let patient = Error { retry_after_seconds: Some(1), ..status(500, "ServiceUnavailable") };
        for (error, next) in [
            (Error::network("refused"), Next::Watch),
            (status(429, "TooManyRequests"), Next::Watch),
            (status(401, "Unauthorized"), Next::Watch),
            (status(502, ""), Next::Watch),
            (status(503, "ServiceUnavailable"), Next::Watch),
            (status(504, "Timeout"), Next::Watch),
            (patient, Next::Watch),
            (status(410, "Expired"), Next::ListForVersion),
            (status(410, "Gone"), Next::ListForVersion),
            (not_yet(), Next::List),
            (status(400, "BadRequest"), Next::List),
            (status(403, "Forbidden"), Next::List),
            (status(404, "NotFound"), Next::List),
            (status(405, "MethodNotAllowed"), Next::List),
            (status(500, "InternalError"), Next::List),
        ] {
            assert_eq!(of_opening(&error), next, "{error:?}");
        }
    }

    #[test]
    fn an_error_event_leads_to_a_list_unless_the_server_itself_stumbled_or_asks_for_patience() {
        for (error, next) in [
            (status(500, "InternalError"), Next::WatchSoon),
            (status(500, ""), Next::WatchSoon),
            (status(500, "Other"), Next::List),
            (status(429, "TooManyRequests"), Next::Watch),
            (status(401, "Unauthorized"), Next::Watch),
            (status(410, "Expired"), Next::ListForVersion),
            (status(503, "ServiceUnavailable"), Next::List),
            (Error::protocol("no Status"), Next::List),
        ] {
            assert_eq!(of_event(&error), next, "{error:?}");
        }
    }

    #[test]
    fn a_version_of_the_past_and_one_of_the_future_cannot_be_served() {
        assert!(is_outdated(&status(410, "Expired")) && is_outdated(&not_yet()) && !is_outdated(&status(504, "Timeout")));
        assert!(!is_lost(&not_yet()) && is_lost(&status(504, "Timeout")));
        assert!(is_token_expired(&status(410, "Expired")) && !is_token_expired(&status(410, "Gone")));
    }
}
