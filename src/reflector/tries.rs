//! What is remembered of tries that failed, and the wait that follows each.

use super::backoff::{Backoff, Retry, RetryDeadline};
use super::breaker::Verb;
use super::host::Host;
use crate::connection::Connection;
use crate::status::{Error, ErrorCode};
use crate::time::{Instant, Millis};

/// How long internal errors in the stream are answered by watching again, as in the apiserver's cacher.
const MAX_INTERNAL_ERROR_MS: Millis = 30_000;

/// A wait before the next try.
pub(super) struct Wait {
    /// How it is announced.
    pub(super) told: Connection,
    /// `None`: only somebody who asks ends it.
    pub(super) until: Option<Instant>,
    /// What was asked in vain of a server that is away.
    pub(super) away: Option<Verb>,
}

/// A server that is away, after it was asked in vain: what was asked, and how long it is left alone.
pub(super) struct LeftAlone {
    pub(super) millis: Millis,
    pub(super) verb: Option<Verb>,
}

/// The tries since the last success.
pub(super) struct Tries {
    backoff: Backoff,
    internal_errors: RetryDeadline,
    reset_after_ms: Millis,
    count: u32,
    /// The credentials were refused since then: the first time they are asked for again at once.
    refused_credentials: bool,
    /// When an expired version was last answered by a list without a wait.
    free_relist: Option<Instant>,
}

impl Tries {
    pub(super) fn new(retry: Retry) -> Self {
        Self {
            reset_after_ms: retry.reset_after_ms,
            backoff: Backoff::new(retry),
            internal_errors: RetryDeadline::new(MAX_INTERNAL_ERROR_MS),
            count: 0,
            refused_credentials: false,
            free_relist: None,
        }
    }

    /// How many tries have failed.
    pub(super) fn failures(&self) -> u32 {
        self.count
    }

    /// One try more; how many there were.
    pub(super) fn failed(&mut self) -> u32 {
        self.count = self.count.saturating_add(1);
        self.count
    }

    /// A watch stands since then.
    pub(super) fn opened(&mut self, at: Instant) {
        self.backoff.healthy(at);
    }

    /// A watch stood for more than a moment, or brought something new.
    pub(super) fn succeeded(&mut self) {
        self.count = 0;
        self.refused_credentials = false;
    }

    /// How long to wait after this error, in milliseconds.
    pub(super) fn wait_millis(&mut self, host: &Host, error: &Error) -> Millis {
        if error.code == ErrorCode::Unauthorized && !self.refused_credentials {
            self.refused_credentials = true;
            return 0;
        }
        let own = self.backoff.next(host.now(), &mut host.random());
        own.max(Millis::from(error.retry_after_seconds.unwrap_or(0)) * 1000)
    }

    /// The wait after this error, of so many milliseconds, or of more where the server is left alone for longer.
    pub(super) fn wait(&mut self, host: &Host, error: Error, millis: Millis, server: &LeftAlone) -> Wait {
        let wait = millis.max(server.millis);
        let attempt = self.failed();
        let retry_at = host.runtime.wall() + wait;
        let until = (!error.is_mistake()).then(|| host.now() + wait);
        let told = match error.code {
            // The first refusal may only mean that the token is old: it is asked for anew at once, and nobody has to sign in yet.
            ErrorCode::Unauthorized if wait > 0 => Connection::NeedsAuth { error, retry_at },
            ErrorCode::Forbidden | ErrorCode::NotFound | ErrorCode::Invalid => {
                Connection::Failed { error, retry_at: until.map(|_| retry_at) }
            }
            _ => Connection::Waiting { attempt, retry_at, error },
        };
        Wait { told, until, away: server.verb }
    }

    /// Whether a watch that ended with an internal error may be opened again as it was.
    pub(super) fn allow_internal_error(&mut self, now: Instant) -> bool {
        self.internal_errors.allows(now)
    }

    /// The version asked for is no longer kept: whether the list comes without a wait. After a long sleep that is nobody's fault, so it
    /// does. A server that says it again soon gets the waits of a failure.
    pub(super) fn relists_freely(&mut self, now: Instant) -> bool {
        let again = self.free_relist.is_some_and(|last| now.since(last) < self.reset_after_ms);
        if !again {
            self.free_relist = Some(now);
        }
        !again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::{VirtualTime, WALL_AT_START};
    use crate::status::Status;
    use crate::time::at;

    const NOWHERE: LeftAlone = LeftAlone { millis: 0, verb: None };

    fn host() -> Host {
        Host::new(VirtualTime::new(0), 1)
    }

    fn refused(code: u16, reason: &str) -> Error {
        Status::new(code, reason, "no").into()
    }

    #[test]
    fn refused_credentials_are_asked_for_at_once_and_then_with_waits_until_a_watch_has_stood() {
        let (host, mut tries, error) = (host(), Tries::new(Retry::default()), refused(401, "Unauthorized"));
        assert_eq!(tries.wait_millis(&host, &error), 0);
        assert!(tries.wait_millis(&host, &error) >= 800);
        tries.succeeded();
        assert_eq!(tries.wait_millis(&host, &error), 0);
    }

    #[test]
    fn the_longest_of_backoff_retry_after_and_a_server_left_alone_is_waited_for_and_announced() {
        let (host, mut tries) = (host(), Tries::new(Retry::default()));
        let mut error = refused(503, "ServiceUnavailable");
        error.retry_after_seconds = Some(30);
        assert_eq!(tries.wait_millis(&host, &error), 30_000);
        let away = LeftAlone { millis: 40_000, verb: Some(Verb::List) };
        for (server, expected) in [(&NOWHERE, 30_000), (&away, 40_000)] {
            let wait = tries.wait(&host, error.clone(), 30_000, server);
            assert_eq!(wait.until, Some(at(expected)));
            assert!(matches!(wait.told, Connection::Waiting { retry_at, .. } if retry_at == WALL_AT_START + expected));
        }
    }

    #[test]
    fn each_refusal_has_its_phase_and_a_mistake_on_this_side_has_no_next_try() {
        let (host, mut tries) = (host(), Tries::new(Retry::default()));
        let mut told = |error: Error| tries.wait(&host, error, 5, &NOWHERE).told;
        assert!(matches!(told(refused(401, "Unauthorized")), Connection::NeedsAuth { .. }));
        assert!(matches!(told(refused(403, "Forbidden")), Connection::Failed { retry_at: Some(_), .. }));
        assert!(matches!(told(Error::network("lost")), Connection::Waiting { attempt: 3, .. }));
        let mistake = Error::new(ErrorCode::Invalid, "auth gave no text");
        assert!(mistake.is_mistake());
        assert!(matches!(told(mistake), Connection::Failed { retry_at: None, .. }));
    }

    #[test]
    fn an_expired_version_is_listed_anew_at_once_unless_that_was_lately() {
        let mut tries = Tries::new(Retry::default());
        assert!(tries.relists_freely(at(1000)));
        assert!(!tries.relists_freely(at(120_999)));
        assert!(tries.relists_freely(at(121_000)), "measured from the last list that came at once");
    }
}
