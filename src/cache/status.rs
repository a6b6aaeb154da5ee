//! What people see of a resource: the phase of its connection, how fresh it is, when it tries again.

use crate::connection::{BranchStatus, Connection, Phase};
use crate::message::Quarantined;
use crate::status::Error;
use crate::time::WallTime;
use crate::version::Version;

/// A snapshot of it all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceStatus {
    /// What it is doing.
    pub phase: Phase,
    /// The version held, once a list was complete.
    pub resource_version: Option<Version>,
    /// Objects of the list under way, and how many follow where the server says it.
    pub listed: Option<(usize, Option<u64>)>,
    /// Something is held, but changes are not arriving.
    pub stale: bool,
    /// Since when.
    pub stale_since: Option<WallTime>,
    /// What is held was kept at an earlier time, and the server has not confirmed it.
    pub unconfirmed: bool,
    /// When the last event or bookmark arrived.
    pub last_event_at: Option<WallTime>,
    /// Tries since the last success.
    pub attempt: u32,
    /// When the next try begins.
    pub retry_at: Option<WallTime>,
    /// What failed last; gone once it is live again, and nothing is in quarantine.
    pub error: Option<Error>,
    /// Objects that cannot be taken, whatever is tried; what was held of them stays.
    pub quarantined: Vec<Quarantined>,
    /// The branches of a joined resource; `None` of any other.
    pub branches: Option<Vec<BranchStatus>>,
}

impl ResourceStatus {
    /// Whether how the connection stands is still to come.
    pub fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Loading | Phase::Listing)
    }

    /// Idle.
    pub fn new() -> Self {
        Self {
            phase: Phase::Idle,
            resource_version: None,
            listed: None,
            stale: false,
            stale_since: None,
            unconfirmed: false,
            last_event_at: None,
            attempt: 0,
            retry_at: None,
            error: None,
            quarantined: Vec::new(),
            branches: None,
        }
    }

    /// Notes whether what is held is stale, and since when.
    ///
    /// `whole`: a whole state is held, though it may be an empty one; `shows`: objects are, though they may be of a list under way.
    pub(super) fn note_stale(&mut self, whole: bool, shows: bool, wall: WallTime) {
        // Rows of the first list under way are new, not stale; once that list fails they are.
        let first_list = self.phase == Phase::Listing || !whole && self.is_opening();
        let behind = self.branches.iter().flatten().any(|branch| branch.holds && branch.phase != Phase::Live);
        self.stale = (self.phase != Phase::Live || behind) && !first_list && (whole || shows);
        self.stale_since = self.stale.then(|| self.stale_since.unwrap_or(wall));
    }

    /// Closed by the user.
    pub(super) fn close(&mut self) {
        self.phase = Phase::Closed;
        self.retry_at = None;
        (self.stale, self.stale_since) = (false, None);
    }

    /// A try begins. Who was refused stays refused until something arrives: a try is no answer.
    fn try_again(&mut self, phase: Phase) {
        if !matches!(self.phase, Phase::NeedsAuth | Phase::Failed) {
            self.phase = phase;
        }
        self.retry_at = None;
    }

    /// Takes over what the reflector says.
    pub fn connection(&mut self, connection: Connection) {
        match connection {
            Connection::Listing { again } => {
                self.try_again(if again { Phase::Relisting } else { Phase::Loading });
                self.listed = None;
            }
            Connection::Live => {
                self.phase = Phase::Live;
                self.listed = None;
                self.attempt = 0;
                self.retry_at = None;
                self.error = None;
            }
            Connection::Waiting { attempt, retry_at, error } => {
                self.phase = Phase::Reconnecting;
                self.attempt = attempt;
                self.retry_at = Some(retry_at);
                self.error = Some(error);
            }
            Connection::Queued { why, retry_at } => {
                self.phase = Phase::Reconnecting;
                self.retry_at = Some(retry_at);
                self.error = Some(why);
            }
            // That a connection broke is no error while it is resumed at once; informers hear of it.
            Connection::Reconnecting { lost: _ } => self.try_again(Phase::Reconnecting),
            Connection::NeedsAuth { error, retry_at } => {
                self.phase = Phase::NeedsAuth;
                self.retry_at = Some(retry_at);
                self.error = Some(error);
            }
            Connection::Failed { error, retry_at } => {
                self.phase = Phase::Failed;
                self.retry_at = retry_at;
                self.error = Some(error);
            }
            Connection::Paused => {
                self.phase = Phase::Paused;
                self.retry_at = None;
            }
        }
    }
}

impl Default for ResourceStatus {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_until_it_is_live_again() {
        let then = WallTime::from_unix_millis(5);
        let mut status = ResourceStatus::new();
        status.connection(Connection::Listing { again: false });
        assert_eq!(status.phase, Phase::Loading);
        let error = Error::network("refused");
        status.connection(Connection::Waiting { attempt: 2, retry_at: then, error: error.clone() });
        assert_eq!((status.phase, status.attempt, status.retry_at), (Phase::Reconnecting, 2, Some(then)));
        for lost in [None, Some(Error::network("reset"))] {
            status.connection(Connection::Reconnecting { lost });
            assert_eq!((status.retry_at, &status.error), (None, &Some(error.clone())));
        }
        status.connection(Connection::Live);
        assert_eq!((status.phase, status.attempt, status.error), (Phase::Live, 0, None));
    }

    #[test]
    fn who_was_refused_stays_refused_while_it_is_tried_again() {
        let retry_at = WallTime::from_unix_millis(5);
        let refused = || Error::network("no");
        let needs_auth = Connection::NeedsAuth { error: refused(), retry_at };
        let failed = Connection::Failed { error: refused(), retry_at: Some(retry_at) };
        for (connection, phase) in [(needs_auth, Phase::NeedsAuth), (failed, Phase::Failed)] {
            for again in
                [Connection::Listing { again: false }, Connection::Listing { again: true }, Connection::Reconnecting { lost: None }]
            {
                let mut status = ResourceStatus::new();
                for connection in [connection.clone(), again] {
                    status.connection(connection);
                }
                assert_eq!((status.phase, status.retry_at, status.error.as_ref()), (phase, None, Some(&refused())));
                // That nobody answers is another thing.
                status.connection(Connection::Waiting { attempt: 2, retry_at, error: refused() });
                assert_eq!((status.phase, status.retry_at), (Phase::Reconnecting, Some(retry_at)));
            }
        }
    }
}
