//! What the branches of a joined resource tell, as one.
//!
//! Each branch has a reflector, and an order of versions of its own; nothing says how two of them stand to each other. So the changes of the
//! whole are numbered here, as they come. The numbers count up from the milliseconds of the wall clock when it began. So those of an earlier session are older than all of
//! this one, and no object's own version is among them. The objects keep theirs.
//!
//! The whole is told by one list, once each branch has listed or was refused. Until then what each has is shown, without a version. From then on
//! everything is told as changes. So is what a later list of a branch finds, and what becomes of a namespace that is added or taken away.

use std::collections::VecDeque;
use std::rc::Rc;

use super::status::ResourceStatus;
use crate::change::{ChangeKind, Difference};
use crate::connection::{BranchStatus, Connection, Phase};
use crate::message::{Message, Quarantined};
use crate::object::Object;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::time::{Instant, WallTime};
use crate::version::Version;

/// What is told, in order.
pub(super) type Told = VecDeque<Message>;

/// The branches, and what of them was told.
pub(super) struct Joint {
    branches: Vec<Branch>,
    /// The number of the last change, or what was reached before the first.
    last: u64,
    /// The least number of the list that tells the whole.
    begins: u64,
    /// Whether the whole was told.
    whole: bool,
    /// Whether it was ever: then what is held has a version, and changes only by changes.
    numbered: bool,
    connection: Option<Connection>,
    told: Vec<BranchStatus>,
    /// Somebody waits until all have listed anew.
    refreshing: bool,
    /// Held by the user: without a branch nobody else says so.
    paused: bool,
}

/// One namespace.
struct Branch {
    namespace: Rc<str>,
    connection: Connection,
    status: ResourceStatus,
    /// Whether it has listed since it began.
    listed: bool,
    /// Whether a list of it was told.
    holds: bool,
    loaded: usize,
    remaining: Option<u64>,
    quarantined: Vec<Quarantined>,
    /// Those of whoever passes its stream on.
    apart: Vec<Quarantined>,
    /// Somebody waits for its next list.
    refreshing: bool,
}

impl Branch {
    fn new(namespace: Rc<str>) -> Self {
        let connection = Connection::Listing { again: false };
        let mut status = ResourceStatus::new();
        status.connection(connection.clone());
        Self {
            namespace,
            connection,
            status,
            listed: false,
            holds: false,
            loaded: 0,
            remaining: None,
            quarantined: Vec::new(),
            apart: Vec::new(),
            refreshing: false,
        }
    }

    /// Whether the server says no. A new try is no answer yet.
    fn is_refused(&self) -> bool {
        self.status.phase == Phase::Failed
    }

    /// Sets aside what is of another namespace: nothing that is told later would find it here.
    fn takes(&mut self, object: &Rc<Object>) -> bool {
        let takes = object.namespace() == &*self.namespace;
        if !takes && !self.quarantined.iter().any(|entry| entry.is(object)) {
            let message = format!("{} came as an object of namespace {}", object.key(), self.namespace);
            let error = Error::protocol(message);
            self.quarantined.push(Quarantined { key: object.key().to_string().into(), uid: object.uid().map(Into::into), error });
        }
        takes
    }

    fn told(&self) -> BranchStatus {
        BranchStatus {
            namespace: self.namespace.clone(),
            phase: self.status.phase,
            error: self.status.error.clone(),
            retry_at: self.status.retry_at,
            holds: self.holds,
        }
    }
}

impl Joint {
    /// Without a branch. Its numbers are greater than what was reached before.
    pub(super) fn new(reached: &Version, wall: WallTime) -> Self {
        let last = reached.as_u64().unwrap_or_default();
        let (branches, told, begins) = (Vec::new(), Vec::new(), wall.as_unix_millis());
        Self { branches, last, begins, whole: false, numbered: last > 0, connection: None, told, refreshing: false, paused: false }
    }

    /// A namespace is added, of which nothing is known but what is held since before there was no memory to go on with. Whoever waits for new lists
    /// waits for this one, too.
    pub(super) fn add(&mut self, namespace: Rc<str>, store: &Store) {
        let holds = self.numbered && store.namespace(&namespace).next().is_some();
        self.branches.push(Branch { refreshing: self.refreshing, holds, ..Branch::new(namespace) });
    }

    /// Whether it is one of them.
    pub(super) fn has(&self, namespace: &str) -> bool {
        self.place(namespace).is_some()
    }

    /// A namespace is taken away. What is held of it goes by [`Joint::next_gone`].
    pub(super) fn remove(&mut self, namespace: &str, told: &mut Told) {
        self.branches.retain(|branch| *branch.namespace != *namespace);
        told.push_back(Message::Reached { namespace: namespace.into(), version: None });
        self.tell_states(told);
        self.tell_quarantined(told);
        self.tell_apart(told);
        self.tell_refreshed(told);
    }

    /// The deletion of the next object that is held of a namespace which was taken away.
    pub(super) fn next_gone(&mut self, namespace: &str, store: &Store, at: Instant) -> Option<Message> {
        store.namespace(namespace).next().map(|gone| self.deletion(gone, at))
    }

    /// What is told of a resource without a branch: nobody else would.
    pub(super) fn begin(&mut self, told: &mut Told) {
        if self.branches.is_empty() {
            self.tell_states(told);
        }
    }

    /// Somebody waits until all have listed anew. One that is refused keeps nobody waiting, unless all are. Before the whole is told, its list is the
    /// answer.
    pub(super) fn refresh(&mut self, told: &mut Told) {
        self.refreshing = self.whole;
        let accepted = self.branches.iter().any(|branch| !branch.is_refused());
        for branch in &mut self.branches {
            branch.refreshing = self.refreshing && !(accepted && branch.is_refused());
        }
        self.tell_refreshed(told);
    }

    /// All are held by the user, or not any more. Each branch tells of itself.
    pub(super) fn pause(&mut self, paused: bool, told: &mut Told) {
        self.paused = paused;
        self.begin(told);
    }

    /// Sets aside what a list of one namespace has of others.
    pub(super) fn sift(&mut self, namespace: &str, objects: &mut Vec<Rc<Object>>, told: &mut Told) {
        let Some(at) = self.place(namespace) else { return };
        let before = self.branches[at].quarantined.len();
        objects.retain(|object| self.branches[at].takes(object));
        if self.branches[at].quarantined.len() > before {
            self.tell_quarantined(told);
        }
    }

    /// What one branch tells, as the whole tells it. A list is given as what it changes ([`Message::Differences`]).
    pub(super) fn take(&mut self, namespace: &str, message: Message, now: Instant, told: &mut Told) {
        let Some(at) = self.place(namespace) else { return };
        let numbered = self.numbered;
        let branch = &mut self.branches[at];
        match message {
            Message::Page { mut objects, loaded, remaining } => {
                (branch.loaded, branch.remaining) = (loaded, remaining);
                if branch.status.phase == Phase::Loading {
                    branch.status.phase = Phase::Listing;
                }
                // Of a later list nothing is shown before it is whole.
                if !numbered && !branch.listed {
                    objects.retain(|object| branch.takes(object));
                    told.push_back(Message::Shown { objects, gone: Vec::new(), listed: self.progress() });
                }
                self.tell_states(told);
            }
            Message::Differences { differences, version } => {
                let namespace = branch.namespace.clone();
                told.push_back(Message::Reached { namespace: namespace.clone(), version: None });
                (branch.listed, branch.holds, branch.refreshing) = (true, true, false);
                if numbered {
                    for difference in differences {
                        told.extend(self.difference(difference, now));
                    }
                } else {
                    let gone = differences.iter().filter(|one| one.after.is_none()).filter_map(|one| one.before.clone());
                    let gone = gone.filter(|gone| !self.stays(gone)).collect();
                    let objects = differences.into_iter().filter_map(|one| one.after).collect();
                    told.push_back(Message::Shown { objects, gone, listed: self.progress() });
                }
                told.push_back(Message::Reached { namespace, version: Some(version) });
                self.tell_states(told);
                self.tell_quarantined(told);
                self.tell_refreshed(told);
            }
            Message::Change { kind, object, at, .. } => {
                if branch.takes(&object) {
                    told.push_back(self.change(kind, object, at));
                } else {
                    self.tell_quarantined(told);
                }
            }
            // How far a branch is says nothing of the others; that it lives does.
            Message::Bookmark(version) => {
                told.push_back(Message::Reached { namespace: branch.namespace.clone(), version: Some(version) });
                told.push_back(Message::Bookmark(Version::from(self.last)));
            }
            Message::Quarantine(all) => {
                branch.quarantined = all;
                self.tell_quarantined(told);
            }
            Message::SetApart(all) => {
                branch.apart = all;
                self.tell_apart(told);
            }
            Message::RoundEnded(Some(error)) if error.code == ErrorCode::OutOfMemory => told.push_back(Message::RoundEnded(Some(error))),
            // A list of one of them ends no watch of the whole. It was compared before it comes here.
            Message::RoundStarted
            | Message::RoundEnded(_)
            | Message::Replace { .. }
            | Message::Restoring(_)
            | Message::Restored(_)
            // Versions of the whole are none of the branch's.
            | Message::Compacted(_)
            | Message::Refreshed
            | Message::Branches(_)
            | Message::Reached { .. }
            | Message::Shown { .. } => {}
            Message::Connection(connection) => {
                branch.status.connection(connection.clone());
                branch.connection = connection;
                // Refused everywhere, the next list is waited for, as by a resource of one namespace.
                let keeps = !self.branches[at].is_refused() || self.branches.iter().all(Branch::is_refused);
                self.branches[at].refreshing &= keeps;
                self.tell_states(told);
                self.tell_refreshed(told);
            }
        }
    }

    fn place(&self, namespace: &str) -> Option<usize> {
        self.branches.iter().position(|branch| *branch.namespace == *namespace)
    }

    fn change(&mut self, kind: ChangeKind, object: Rc<Object>, at: Instant) -> Message {
        if !self.numbered {
            let (objects, gone) = if kind == ChangeKind::Deleted { (Vec::new(), vec![object]) } else { (vec![object], Vec::new()) };
            return Message::Shown { objects, gone, listed: None };
        }
        self.last += 1;
        Message::Change { kind, object, version: Version::from(self.last), at }
    }

    /// How much of the first lists has come.
    fn progress(&self) -> Option<(usize, Option<u64>)> {
        Some((self.branches.iter().map(|branch| branch.loaded).sum(), self.branches.iter().map(|branch| branch.remaining).sum()))
    }

    /// Whether what is held of an object is kept, because what a list has of it cannot be taken.
    fn stays(&self, gone: &Object) -> bool {
        self.branches.iter().flat_map(|branch| &branch.quarantined).any(|entry| entry.is(gone))
    }

    /// Of an object whose last state nobody sent: what is held of it stands for that, as an object of its own.
    fn deletion(&mut self, held: &Rc<Object>, at: Instant) -> Message {
        let last = held.restamped(held.version()).unwrap_or_else(|_| held.clone());
        self.change(ChangeKind::Deleted, last, at)
    }

    /// What a later list of a branch changes. What cannot be taken from it stays as it is held.
    fn difference(&mut self, difference: Difference, at: Instant) -> Option<Message> {
        match (difference.before, difference.after) {
            (before, Some(after)) => {
                let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
                Some(self.change(kind, after, at))
            }
            (Some(gone), None) => (!self.stays(&gone)).then(|| self.deletion(&gone, at)),
            (None, None) => None,
        }
    }

    /// The whole, if that is known now; and how the connections stand, if that has changed.
    fn tell_states(&mut self, told: &mut Told) {
        let known = self.branches.iter().all(|branch| branch.listed || branch.is_refused());
        let some = self.branches.is_empty() || self.branches.iter().any(|branch| branch.listed);
        if !self.whole && known && some {
            self.last = self.begins.max(self.last + 1);
            (self.whole, self.numbered) = (true, true);
            // What is held is what each of them has listed, and what came after its list.
            told.push_back(Message::Differences { differences: Vec::new(), version: Version::from(self.last) });
            // A list is taken for one whose watch is on its way. How the branches stand may have been told before it.
            self.connection = None;
        }
        let states: Vec<_> = self.branches.iter().map(Branch::told).collect();
        if states != self.told {
            told.push_back(Message::Branches(states.clone()));
            self.told = states;
        }
        let connection = self.connection();
        if self.connection.as_ref() != Some(&connection) {
            let begins = connection == Connection::Listing { again: false } && !self.numbered;
            told.push_back(Message::Connection(connection.clone()));
            self.connection = Some(connection);
            if begins && self.branches.iter().any(|branch| branch.loaded > 0) {
                // Of some there are rows already.
                told.push_back(Message::Shown { objects: Vec::new(), gone: Vec::new(), listed: self.progress() });
            }
        }
    }

    /// How the whole stands: as the worst of its branches does. One that was refused is told of by name and keeps nobody waiting, and so is one
    /// that is new to a whole.
    fn connection(&self) -> Connection {
        if self.branches.is_empty() && self.paused {
            return Connection::Paused;
        }
        let accepted = self.branches.iter().any(|branch| !branch.is_refused());
        let shows = self.whole && self.branches.iter().any(|branch| branch.holds && !branch.is_refused());
        let counts = |branch: &&Branch| (!shows || branch.holds) && !(accepted && branch.is_refused());
        let all = || self.branches.iter().filter(counts);
        let first = |wanted: fn(&Connection) -> bool| all().map(|branch| &branch.connection).find(|connection| wanted(connection)).cloned();
        first(|connection| matches!(connection, Connection::Paused))
            .or_else(|| first(|connection| matches!(connection, Connection::NeedsAuth { .. })))
            .or_else(|| first(|connection| matches!(connection, Connection::Failed { .. })))
            .or_else(|| all().filter_map(|branch| waiting(&branch.connection)).reduce(sooner))
            .or_else(|| first(|connection| matches!(connection, Connection::Queued { .. })))
            .or_else(|| first(|connection| matches!(connection, Connection::Reconnecting { .. })))
            .or_else(|| first(|connection| matches!(connection, Connection::Listing { .. })))
            .unwrap_or(Connection::Live)
    }

    fn tell_quarantined(&self, told: &mut Told) {
        let all = self.branches.iter().flat_map(|branch| branch.quarantined.iter().cloned()).collect();
        told.push_back(Message::Quarantine(all));
    }

    fn tell_apart(&self, told: &mut Told) {
        let all = self.branches.iter().flat_map(|branch| branch.apart.iter().cloned()).collect();
        told.push_back(Message::SetApart(all));
    }

    /// Says that all have listed anew, where somebody waits for it.
    fn tell_refreshed(&mut self, told: &mut Told) {
        if self.refreshing && !self.branches.iter().any(|branch| branch.refreshing) {
            self.refreshing = false;
            told.push_back(Message::Refreshed);
        }
    }
}

fn waiting(connection: &Connection) -> Option<Connection> {
    matches!(connection, Connection::Waiting { .. }).then(|| connection.clone())
}

/// Of two that wait: who has tried more often, and when the first of them tries again.
fn sooner(one: Connection, other: Connection) -> Connection {
    match (one, other) {
        (Connection::Waiting { attempt, retry_at, error }, Connection::Waiting { attempt: tries, retry_at: at, error: failed }) => {
            let (attempt, error) = if tries > attempt { (tries, failed) } else { (attempt, error) };
            Connection::Waiting { attempt, retry_at: retry_at.min(at), error }
        }
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;

    fn begun(reached: u64) -> Vec<Message> {
        let mut told = Told::new();
        Joint::new(&Version::from(reached), WallTime::from_unix_millis(NOW)).begin(&mut told);
        told.into()
    }

    fn version(told: &[Message]) -> Option<u64> {
        told.iter().find_map(|message| match message {
            Message::Differences { version, .. } => version.as_u64(),
            _ => None,
        })
    }

    #[test]
    fn law_02_order_numbers_go_on_behind_what_was_reached_before() {
        assert_eq!(version(&begun(5)), Some(NOW));
        assert_eq!(version(&begun(NOW + 7)), Some(NOW + 8), "more than a change a millisecond since it began");
    }

    #[test]
    fn without_a_branch_it_is_empty_and_live() {
        let told = begun(0);
        assert!(
            matches!(&told[..], [Message::Differences { differences, .. }, Message::Connection(Connection::Live)] if differences.is_empty()),
            "{told:?}"
        );
    }
}
