//! Whether a cacher is there for its users: what they see of its connection, whether it can answer, and who waits for that.

use std::mem;
use std::rc::Rc;

use futures::channel::mpsc::UnboundedReceiver;
use futures::channel::oneshot;

use crate::cache::flush::signal;
use crate::cache::followers::{Followers, documents};
use crate::cache::ready::Ready;
use crate::cache::status::ResourceStatus;
use crate::cache::waiters::{ListWaiters, Listed, over};
use crate::connection::{BranchStatus, Connection, Phase};
use crate::message::Quarantined;
use crate::object::Object;
use crate::source::Standing;
use crate::status::{Error, ErrorCode};
use crate::time::{Instant, WallTime};
use crate::version::Version;

/// Follows what the reflector says, and tells who waits.
pub struct Availability {
    status: ResourceStatus,
    ready: Ready,
    waiters: ListWaiters,
    /// Lists applied so far.
    lists: u64,
    /// Whether the state is kept, so that what is held first may be what was kept.
    kept: bool,
    /// When what is being restored was kept. Where it proves to be no state, what has shown of it may stay until there is a list.
    restoring: Option<WallTime>,
    /// Whether it has proved to be none.
    unsound: bool,
    /// When the state that is held was kept, where nobody knows yet whether it still holds.
    restored: Option<WallTime>,
    /// Whether a whole state is held.
    holds: bool,
    /// Somebody asked for the next try, which has not ended.
    asked_again: bool,
    /// What was told last of an object or of a branch, while the whole goes on.
    latest: Option<Error>,
    /// What the next flush tells once.
    signals: u32,
    /// Whether what comes is only as new as the last poll.
    polled: bool,
    /// What the reflector said last, and who shares its stream and hears that.
    connection: Option<Connection>,
    followers: Followers,
    /// Objects in quarantine at the stream that this one is passed on from.
    apart: Vec<Quarantined>,
    /// A stream has begun, and has not told yet which objects it has in quarantine.
    untold: bool,
}

impl Availability {
    /// Idle.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            status: ResourceStatus::new(),
            ready: Ready::new(now),
            waiters: ListWaiters::default(),
            lists: 0,
            kept: false,
            restoring: None,
            unsound: false,
            restored: None,
            holds: false,
            asked_again: false,
            latest: None,
            signals: 0,
            polled: false,
            connection: None,
            followers: Followers::default(),
            apart: Vec::new(),
            untold: false,
        }
    }

    /// What becomes of the stream, for who shares it: how it stands, if it is not live, and what follows. `shown` are the objects that show by now. What a
    /// try that was asked for has not answered yet is no refusal of who comes with it.
    pub(super) fn follow(&mut self, shown: impl Iterator<Item = Rc<Object>>) -> UnboundedReceiver<Standing> {
        let asked =
            |connection: &Connection| self.asked_again && matches!(connection, Connection::NeedsAuth { .. } | Connection::Failed { .. });
        let connection = self.connection.clone().filter(|connection| *connection != Connection::Live && !asked(connection));
        let listed = self.status.listed.filter(|_| !self.holds).map(|(loaded, remaining)| Standing::Listed {
            loaded,
            remaining,
            first: documents(shown),
            kept_at: self.being_restored(),
        });
        let apart = Standing::SetApart(self.all_quarantined());
        self.followers.join(connection.map(Standing::Connection).into_iter().chain(listed).chain([apart]))
    }

    /// When what arrives was kept, where it is no list.
    fn being_restored(&self) -> Option<WallTime> {
        self.restoring.filter(|_| !self.unsound)
    }

    /// What people see of it, at this version.
    pub(super) fn status(&self, version: &Version) -> ResourceStatus {
        let mut status = self.status.clone();
        status.resource_version = self.holds.then(|| version.clone());
        status.unconfirmed = self.restored.is_some();
        status.quarantined = self.all_quarantined();
        // Whatever else is well: of these objects nobody knows how they stand.
        if self.polled && self.holds_list() && status.phase == Phase::Live {
            (status.stale, status.stale_since) = (true, status.last_event_at);
        }
        let of_object = status.quarantined.last().map(|entry| entry.error.clone());
        let mut of_branches = status.branches.iter().flatten().filter_map(of_branch);
        let latest = self.latest.clone().filter(|latest| of_object.as_ref() == Some(latest) || of_branches.any(|error| error == *latest));
        let any = status.branches.iter().flatten().find_map(of_branch);
        status.error = status.error.or(latest).or(of_object).or(any);
        status
    }

    /// What comes is only as new as the last poll, and so stale between two of them.
    pub fn set_polled(&mut self) {
        self.polled = true;
    }

    /// Its state is kept.
    pub(super) fn set_kept(&mut self) {
        self.kept = true;
    }

    /// What it is doing.
    pub fn phase(&self) -> Phase {
        self.status.phase
    }

    /// Whether no stream brings anything of this namespace until then. It is paused, or the server says no and is not asked again before.
    pub(super) fn is_still(&self, namespace: &str, until: WallTime) -> bool {
        let (phase, retry_at) = self.of(namespace);
        match phase {
            Phase::Paused | Phase::Idle => true,
            Phase::Failed | Phase::NeedsAuth => !self.asked_again && retry_at.is_none_or(|at| at > until),
            // Waiting for its next try, or for its turn.
            Phase::Reconnecting => retry_at.is_some_and(|at| at > until),
            _ => false,
        }
    }

    /// Whether the server says no to this namespace.
    pub(super) fn is_refused(&self, namespace: &str) -> bool {
        matches!(self.of(namespace).0, Phase::Failed | Phase::NeedsAuth)
    }

    /// The phase of a namespace, and when its next try begins.
    fn of(&self, namespace: &str) -> (Phase, Option<WallTime>) {
        let branch = self.status.branches.iter().flatten().find(|branch| *branch.namespace == *namespace);
        branch.map_or((self.status.phase, self.status.retry_at), |branch| (branch.phase, branch.retry_at))
    }

    /// Whether it can answer.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// The same, to wait for it.
    pub fn ready_mut(&mut self) -> &mut Ready {
        &mut self.ready
    }

    /// Lists applied so far.
    pub fn lists(&self) -> u64 {
        self.lists
    }

    /// Whether a whole state is held, of a list or restored. A closed cacher holds nothing: it neither loads a view nor syncs an informer.
    pub fn holds_list(&self) -> bool {
        self.holds && self.status.phase != Phase::Closed
    }

    /// When the state that is held was kept, where the server has not confirmed it.
    pub fn restored_at(&self) -> Option<WallTime> {
        self.restored
    }

    /// Whether the server has said that what is held was a state of it. What was restored is none before that.
    pub fn is_confirmed(&self) -> bool {
        self.holds_list() && self.restored.is_none()
    }

    /// The objects that cannot be taken here, as they were last told. What a list leaves out of them stays.
    pub fn quarantined(&self) -> &[Quarantined] {
        &self.status.quarantined
    }

    /// Whether an object cannot be taken, here or by whoever passes the stream on.
    pub fn has_quarantined(&self) -> bool {
        !self.status.quarantined.is_empty() || !self.apart.is_empty()
    }

    fn all_quarantined(&self) -> Vec<Quarantined> {
        let here = &self.status.quarantined;
        let apart = self.apart.iter().filter(|entry| !here.iter().any(|other| other.key == entry.key));
        apart.chain(here).cloned().collect()
    }

    // ------------------------------------------------------------------------------------- what the reflector says

    /// A page of the list under way has come.
    pub(super) fn page(&mut self, objects: &[Rc<Object>], loaded: usize, remaining: Option<u64>) {
        self.status.listed = Some((loaded, remaining));
        // What is restored is no list.
        if self.being_restored().is_none() {
            self.status.phase = if self.holds { Phase::Relisting } else { Phase::Listing };
        }
        self.signals |= signal::STATUS;
        if self.followers.is_empty() {
            return;
        }
        let first = self.followers.first(if self.holds { &[] } else { objects });
        self.followers.tell(&Standing::Listed { loaded, remaining, first, kept_at: self.being_restored() });
    }

    /// The same of a joined resource, where the phase tells how all stand: of some the first list may be under way yet.
    pub(super) fn shown(&mut self, listed: (usize, Option<u64>)) {
        self.status.listed = Some(listed);
        if self.status.phase == Phase::Loading {
            self.status.phase = Phase::Listing;
        }
        self.signals |= signal::STATUS;
    }

    /// A list is applied.
    pub(super) fn list_applied(&mut self, now: Instant) {
        let is_first = !self.holds || self.restored.is_some();
        self.signals |= signal::STATUS | if is_first { signal::SYNCED } else { signal::RELIST };
        if is_first {
            // Also where it came without pages. What it shows is new, whatever was restored before.
            self.status.phase = Phase::Listing;
        }
        self.status.listed = None;
        self.lists += 1;
        (self.holds, self.restoring, self.restored) = (true, None, None);
        self.ready.set_ready(now);
        self.waiters.end_list_waits(&Ok(()));
    }

    /// What was kept at this time follows.
    pub(super) fn restoring(&mut self, at: WallTime) {
        self.restoring = Some(at);
    }

    /// A state that was kept at this time is held. It is stale since then.
    pub(super) fn restored(&mut self, at: WallTime) {
        self.signals |= signal::STATUS;
        (self.holds, self.restored, self.restoring) = (true, Some(at), None);
        (self.status.phase, self.status.listed) = (Phase::Reconnecting, None);
        self.status.stale_since = Some(at);
        self.waiters.restored();
    }

    /// A watch goes on from the state that was restored: that is a state of the server. Returns whether that is news.
    pub(super) fn confirmed(&mut self, now: Instant) -> bool {
        let is_news = self.restored.take().is_some();
        if is_news {
            self.signals |= signal::STATUS | signal::SYNCED;
            self.ready.set_ready(now);
            self.waiters.synced();
        }
        is_news
    }

    /// A list was applied at this time: what is polled is as new as that.
    pub(super) fn listed(&mut self, wall: WallTime) {
        if self.polled {
            self.heard(wall);
        }
    }

    /// An event or a bookmark arrived at this time.
    pub(super) fn heard(&mut self, wall: WallTime) {
        self.status.last_event_at = Some(wall);
        if self.polled {
            self.signals |= signal::STATUS;
        }
    }

    /// The round is over: until the next list it is not ready.
    pub(super) fn round_ended(&mut self, error: Option<&Error>, now: Instant) {
        self.ready.set_error(error, now);
    }

    /// A stream begins, with nothing in quarantine. What an earlier one had there is, until a state shows that it is not.
    pub(super) fn begins(&mut self) {
        self.untold = true;
    }

    /// A state is whole.
    pub(super) fn settled(&mut self) {
        if mem::take(&mut self.untold) {
            self.quarantine(Vec::new());
        }
    }

    /// These objects cannot be taken. Returns those of which that was not known.
    pub(super) fn quarantine(&mut self, all: Vec<Quarantined>) -> Vec<Quarantined> {
        self.untold = false;
        self.note_quarantined(|this| &mut this.status.quarantined, all)
    }

    /// These cannot be taken by whoever passes the stream on. Returns those of which that was not known.
    pub(super) fn set_apart(&mut self, all: Vec<Quarantined>) -> Vec<Quarantined> {
        self.note_quarantined(|this| &mut this.apart, all)
    }

    /// The upstream serves no state before this version any more.
    pub(super) fn compacted(&mut self, version: Version) {
        self.followers.compacted(version);
    }

    fn note_quarantined(&mut self, of: fn(&mut Self) -> &mut Vec<Quarantined>, all: Vec<Quarantined>) -> Vec<Quarantined> {
        if *of(self) == all {
            return Vec::new();
        }
        let known = self.all_quarantined();
        *of(self) = all;
        let mut new = self.all_quarantined();
        self.signals |= signal::STATUS;
        self.followers.tell(&Standing::SetApart(new.clone()));
        new.retain(|entry| !known.iter().any(|other| other.key == entry.key));
        if let Some(entry) = new.last() {
            self.latest = Some(entry.error.clone());
            self.signals |= signal::ERROR;
        }
        new
    }

    /// How the branches stand. One that is refused does not fail the whole, and is told of as an error of its own.
    ///
    /// Returns the error of one that was not known to be refused, and when it is tried again. Nothing where all are refused: that the whole tells.
    pub(super) fn branches(&mut self, all: Vec<BranchStatus>) -> Option<(Error, Option<WallTime>)> {
        let known = self.status.branches.replace(all).unwrap_or_default();
        self.signals |= signal::STATUS;
        let all = self.status.branches.as_deref().unwrap_or_default();
        let failed = |branch: &&BranchStatus| matches!(branch.phase, Phase::Failed | Phase::NeedsAuth);
        let is_new = |branch: &&BranchStatus| !known.iter().any(|other| other.namespace == branch.namespace && other.error == branch.error);
        let (refused, rest): (Vec<_>, Vec<_>) = all.iter().partition(failed);
        let news = refused.into_iter().find(is_new).filter(|_| !rest.is_empty())?;
        let error = of_branch(news)?;
        let retry_at = news.retry_at;
        self.latest = Some(error.clone());
        self.signals |= signal::ERROR;
        Some((error, retry_at))
    }

    /// What people see has branches, of which nothing is known yet.
    pub fn set_joined(&mut self) {
        self.status.branches = Some(Vec::new());
    }

    /// All branches have listed anew.
    pub(super) fn refreshed(&mut self) {
        self.signals |= signal::STATUS | signal::RELIST;
        self.waiters.end_list_waits(&Ok(()));
    }

    /// What the reflector says of its connection.
    pub(super) fn connection(&mut self, connection: Connection) {
        if self.status.phase == Phase::Closed {
            return;
        }
        let refused = match &connection {
            Connection::NeedsAuth { error, .. } | Connection::Failed { error, .. } => Some(error.clone()),
            _ => None,
        };
        if matches!(connection, Connection::Listing { .. }) {
            self.unsound = self.restoring.is_some();
            self.followers.list_begins();
        }
        let is_error = match &connection {
            Connection::Waiting { .. } | Connection::NeedsAuth { .. } | Connection::Failed { retry_at: Some(_), .. } => true,
            // A mistake is told once, however often somebody wants it tried again.
            Connection::Failed { retry_at: None, .. } => self.status.phase != Phase::Failed || self.status.error != refused,
            _ => false,
        };
        self.signals |= signal::STATUS | if is_error { signal::ERROR } else { 0 };
        self.followers.tell(&Standing::Connection(connection.clone()));
        self.connection = Some(connection.clone());
        self.asked_again &= matches!(connection, Connection::Listing { .. } | Connection::Reconnecting { .. });
        self.status.connection(connection);
        if !self.status.is_opening() {
            self.waiters.opened();
        }
        if let Some(error) = refused {
            self.waiters.refused(&error);
            self.ready.refused();
        }
    }

    /// Notes whether what is held is stale. `shows`: objects are held, though they may be of a list under way.
    pub(super) fn note_stale(&mut self, shows: bool, wall: WallTime) {
        if let Some(at) = self.restoring.filter(|_| shows) {
            (self.status.stale, self.status.stale_since) = (true, Some(self.status.stale_since.unwrap_or(at)));
            return;
        }
        self.status.note_stale(self.holds, shows, wall);
    }

    /// Whether something is held that may be out of date: the one rule, for the status and for informers.
    pub(super) fn is_stale(&self) -> bool {
        self.status.stale
    }

    // -------------------------------------------------------------------------------------------- its life

    /// The first list was asked for.
    pub(super) fn begin(&mut self) {
        if self.status.phase == Phase::Idle {
            self.status.phase = Phase::Loading;
            self.signals |= signal::STATUS;
        }
    }

    /// There is no memory to go on with: until a next list it is not ready.
    pub(super) fn starve(&mut self, error: &Error, now: Instant) {
        self.asked_again = false;
        self.status.phase = Phase::Failed;
        self.status.retry_at = None;
        self.status.listed = None;
        self.record_error(error.clone());
        self.ready.set_error(Some(error), now);
        self.waiters.end_list_waits(&Err(error.clone()));
        self.ready.refused();
        self.waiters.opened();
        // Who shares the stream would take the watch that is open at this end for one that brings something.
        let failed = Connection::Failed { error: error.clone(), retry_at: None };
        self.followers.tell(&Standing::Connection(failed.clone()));
        self.connection = Some(failed);
    }

    /// Closes for good: all waits end.
    pub(super) fn close(&mut self, now: Instant) {
        self.ready.stop(now);
        self.status.close();
        self.signals |= signal::STATUS;
        self.waiters.end_list_waits(&Err(Error::closed()));
        self.waiters.opened();
    }

    // ---------------------------------------------------------------------------------------- who waits for it

    /// Why the list will not come for now: the server says no, or there is no room for it.
    pub(super) fn refusal(&self) -> Option<&Error> {
        self.status.error.as_ref().filter(|_| !self.asked_again && matches!(self.status.phase, Phase::NeedsAuth | Phase::Failed))
    }

    /// A user asked for the next try: whoever asks from now on hears how that one ends.
    pub(super) fn ask_again(&mut self) {
        self.asked_again = true;
    }

    /// Completes when the first list is applied, or what was restored is confirmed. Fails when the server refuses that or the cache is closed.
    pub fn wait_synced(&mut self) -> Listed {
        if self.ready.is_stopped() {
            over(Err(Error::closed()))
        } else if self.is_confirmed() {
            over(Ok(()))
        } else if let Some(error) = self.refusal() {
            over(Err(error.clone()))
        } else {
            self.waiters.first()
        }
    }

    /// Completes when the next list is applied; fails when the cache is closed.
    pub fn wait_listed(&mut self) -> Listed {
        if self.ready.is_stopped() { over(Err(Error::closed())) } else { self.waiters.next() }
    }

    /// Completes when any whole state is held, also one that is only restored. Fails when the cache is closed or has no memory.
    pub fn wait_held(&mut self) -> Listed {
        if self.ready.is_stopped() {
            over(Err(Error::closed()))
        } else if self.holds {
            over(Ok(()))
        } else {
            self.waiters.held()
        }
    }

    /// Completes when what is held is a state of the server, whatever that refuses until then. None where it is, and where nothing is kept: others then
    /// have no rows that the server has not confirmed.
    pub fn wait_confirmed(&mut self) -> Option<Listed> {
        (self.kept && !self.is_confirmed() && !self.ready.is_stopped()).then(|| self.waiters.confirmed())
    }

    /// Ends when it is known how the connection stands; none where it is.
    pub(super) fn wait_opened(&mut self) -> Option<oneshot::Receiver<()>> {
        self.status.is_opening().then(|| self.waiters.opening())
    }

    // ------------------------------------------------------------------------------------------ what is told

    /// Notes an error in the status, and has it told.
    pub fn record_error(&mut self, error: Error) {
        self.status.error = Some(error);
        self.signals |= signal::STATUS | signal::ERROR;
    }

    /// A change came that goes backwards. The reflector refuses those; were one to slip through, nobody may see it.
    pub(super) fn refuse_change(&mut self, version: &Version, reached: &Version) {
        let message = format!("a change at version {version} arrived after version {reached}");
        self.record_error(Error::new(ErrorCode::Internal, message));
    }

    /// A watcher or a handler did not keep up.
    pub(super) fn overflowed(&mut self) {
        self.signals |= signal::OVERFLOW;
    }

    /// JavaScript is to let go of decoded versions.
    pub(super) fn let_go(&mut self) {
        self.signals |= signal::LET_GO;
    }

    /// Whether the next flush has something to tell once.
    pub(super) fn has_signals(&self) -> bool {
        self.signals != 0
    }

    /// Takes what this flush tells once, as bits of [`signal`].
    pub fn take_signals(&mut self) -> u32 {
        std::mem::take(&mut self.signals)
    }
}

/// The error of a branch, which says whose it is.
fn of_branch(branch: &BranchStatus) -> Option<Error> {
    let error = branch.error.as_ref()?;
    Some(Error { message: format!("namespace {}: {}", branch.namespace, error.message), ..error.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who follows the status alone must not go on showing it without the error.
    #[test]
    fn a_refused_change_is_told_as_an_error_and_in_the_status() {
        let mut availability = Availability::new(Instant::START);
        availability.refuse_change(&Version::from(3), &Version::from(5));
        let error = availability.status(&Version::from(5)).error.unwrap();
        assert_eq!(error.message, "a change at version 3 arrived after version 5");
        assert_eq!(availability.take_signals(), signal::STATUS | signal::ERROR);
    }

    #[test]
    fn what_was_restored_is_held_and_stale_and_synced_when_it_is_confirmed() {
        let mut availability = Availability::new(Instant::START);
        let kept = WallTime::from_unix_millis(5);
        availability.begin();
        availability.restored(kept);
        availability.note_stale(true, WallTime::from_unix_millis(9));
        let status = availability.status(&Version::from(7));
        assert_eq!((status.stale, status.stale_since, status.resource_version), (true, Some(kept), Some(Version::from(7))));
        assert!(status.unconfirmed && availability.holds_list() && !availability.is_confirmed() && !availability.ready().is_ready());
        assert_eq!((availability.lists(), availability.take_signals()), (0, signal::STATUS));
        let mut synced = availability.wait_synced();
        assert_eq!(synced.try_recv(), Ok(None));

        assert!(availability.confirmed(Instant::START) && !availability.confirmed(Instant::START));
        assert_eq!((synced.try_recv(), availability.take_signals()), (Ok(Some(Ok(()))), signal::STATUS | signal::SYNCED));
        assert!(availability.is_confirmed() && availability.ready().is_ready() && !availability.status(&Version::from(7)).unconfirmed);
    }

    #[test]
    fn a_list_in_the_place_of_what_was_restored_is_the_first_one() {
        let mut availability = Availability::new(Instant::START);
        availability.restored(WallTime::from_unix_millis(5));
        availability.note_stale(true, WallTime::from_unix_millis(9));
        assert!(availability.is_stale());
        availability.list_applied(Instant::START);
        availability.note_stale(true, WallTime::from_unix_millis(9));
        assert!(!availability.is_stale(), "who hears that it is synced sees no stale rows");
        assert!(availability.is_confirmed() && availability.take_signals() & (signal::SYNCED | signal::RELIST) == signal::SYNCED);
        availability.list_applied(Instant::START);
        assert!(availability.take_signals() & (signal::SYNCED | signal::RELIST) == signal::RELIST);
    }

    #[test]
    fn a_closed_cacher_holds_no_list() {
        let mut availability = Availability::new(Instant::START);
        assert!(!availability.holds_list());
        availability.list_applied(Instant::START);
        assert!(availability.holds_list());
        availability.close(Instant::START);
        assert!(!availability.holds_list());
    }
}
