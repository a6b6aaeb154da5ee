//! A cache that only replays the reflector's messages, and checks at each that it may come.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc;
use watchcache::change::ChangeKind;
use watchcache::connection::Connection;
use watchcache::json::FieldSet;
use watchcache::message::{MAX_WAITING_MESSAGES, Message, Quarantined};
use watchcache::object::Object;
use watchcache::reflector::{Reflector, ReflectorConfig, ReflectorHandle};
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::runtime::{Spawn, Timer};
use watchcache::status::Error;
use watchcache::time::Millis;

use super::upstream::{Request, Shared, State, Upstream};

/// A message without its objects, for comparisons.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    RoundStarted,
    Page { keys: Vec<String>, loaded: usize, remaining: Option<u64> },
    Replace { version: u64, keys: Vec<String> },
    Change(ChangeKind, String, u64),
    Bookmark(u64),
    Quarantine(Vec<String>),
    RoundEnded(Option<Error>),
    Connection(Connection),
}

/// What has been said, and what follows from it.
#[derive(Default)]
pub struct Replay {
    pub rows: State,
    pub version: Option<u64>,
    pub said: Vec<(Millis, Said)>,
    /// The objects in quarantine. Of each the cache holds what it held before.
    pub quarantined: BTreeSet<String>,
    /// The objects that ever were in quarantine. Their first sound version may be any.
    doubtful: BTreeSet<String>,
    in_round: bool,
    replaced: bool,
    /// A user said that the server was reset, and no list has come since.
    reset: bool,
    pub ended: bool,
}

impl Replay {
    fn take(&mut self, now: Millis, message: Message, upstream: &Upstream) {
        let said = match message {
            Message::RoundStarted => {
                assert!(!self.in_round, "rounds do not nest");
                (self.in_round, self.replaced) = (true, false);
                Said::RoundStarted
            }
            Message::RoundEnded(error) => {
                assert!(self.in_round, "a round ends once");
                self.in_round = false;
                Said::RoundEnded(error)
            }
            Message::Page { objects, loaded, remaining } => {
                assert!(self.in_round && !self.replaced, "pages belong to the list of a round");
                Said::Page { keys: keys(&objects), loaded, remaining }
            }
            Message::Replace { objects, version } => {
                assert!(self.in_round && !self.replaced, "a round has one list");
                self.replaced = true;
                let version = version.as_u64().unwrap();
                let reset = std::mem::take(&mut self.reset);
                assert!(reset || self.version.is_none_or(|held| held <= version), "a list never goes backwards");
                self.version = Some(version);
                let kept = std::mem::take(&mut self.rows).into_iter().filter(|(key, _)| self.quarantined.contains(key));
                let kept: State = kept.collect();
                self.rows = objects.iter().map(|object| row(object)).collect();
                assert_eq!(self.rows.len(), objects.len(), "a list holds each object once");
                for (key, row) in kept {
                    self.rows.entry(key).or_insert(row);
                }
                self.check(upstream);
                Said::Replace { version, keys: keys(&objects) }
            }
            Message::Change { kind, object, .. } => {
                assert!(self.in_round && self.replaced, "changes follow a list");
                let version = object.version().as_u64().unwrap();
                assert!(self.version < Some(version), "versions grow");
                self.version = Some(version);
                let (key, row) = row(&object);
                let known = !self.doubtful.contains(&key);
                if kind == ChangeKind::Deleted {
                    let held = self.rows.remove(&key).is_some();
                    assert!(held || !known, "{key} is deleted once");
                } else {
                    let new = self.rows.insert(key.clone(), row).is_none();
                    assert!(!known || new == (kind == ChangeKind::Added), "{key} is added once");
                }
                self.check(upstream);
                Said::Change(kind, key, version)
            }
            Message::Bookmark(version) => {
                assert!(self.in_round && self.replaced, "bookmarks follow a list");
                let version = version.as_u64().unwrap();
                assert!(self.version < Some(version), "bookmarks grow");
                self.version = Some(version);
                self.check(upstream);
                Said::Bookmark(version)
            }
            Message::Quarantine(all) => {
                // Where the name is not legal, the uid tells which row it is: in this upstream it is the key.
                let row = |entry: &Quarantined| entry.uid.as_deref().unwrap_or(&entry.key).to_string();
                self.quarantined = all.iter().map(row).collect();
                self.doubtful.extend(self.quarantined.iter().cloned());
                Said::Quarantine(all.iter().map(|entry| entry.key.to_string()).collect())
            }
            Message::Restoring(_)
            | Message::Restored(_)
            | Message::Shown { .. }
            | Message::Differences { .. }
            | Message::Branches(_)
            | Message::Reached { .. }
            | Message::SetApart(_)
            | Message::Compacted(_)
            | Message::Refreshed => {
                unreachable!("a reflector knows nothing of what is held, nor of others")
            }
            Message::Connection(connection) => Said::Connection(connection),
        };
        self.said.push((now, said));
    }

    /// The replay is the upstream's state at that version.
    fn check(&self, upstream: &Upstream) {
        let sound = |rows: &State| -> State {
            rows.iter().filter(|(key, _)| !self.quarantined.contains(*key)).map(|(key, row)| (key.clone(), row.clone())).collect()
        };
        let truth = upstream.state_at(self.version.unwrap());
        if self.quarantined.is_empty() && self.rows == truth {
            return;
        }
        let (rows, truth) = (sound(&self.rows), sound(&truth));
        if rows != truth {
            let versions = |rows: &State| rows.iter().map(|(key, (version, _))| (key.clone(), *version)).collect::<Vec<_>>();
            assert_eq!(versions(&rows), versions(&truth), "the state at version {:?}", self.version);
            panic!("the documents at version {:?} differ", self.version);
        }
    }

    pub fn connections(&self) -> impl Iterator<Item = (Millis, &Connection)> {
        self.said.iter().filter_map(|(at, said)| match said {
            Said::Connection(connection) => Some((*at, connection)),
            _ => None,
        })
    }

    pub fn last_connection(&self) -> Option<&Connection> {
        self.connections().last().map(|(_, connection)| connection)
    }

    /// Changes and bookmarks aside, what was said about rounds and lists.
    pub fn replaces(&self) -> usize {
        self.said.iter().filter(|(_, said)| matches!(said, Said::Replace { .. })).count()
    }

    pub fn changes(&self) -> Vec<(ChangeKind, String, u64)> {
        self.said
            .iter()
            .filter_map(|(_, said)| match said {
                Said::Change(kind, key, version) => Some((*kind, key.clone(), *version)),
                _ => None,
            })
            .collect()
    }

    /// The errors that ended rounds.
    pub fn errors(&self) -> Vec<Error> {
        self.said
            .iter()
            .filter_map(|(_, said)| match said {
                Said::RoundEnded(error) => error.clone(),
                _ => None,
            })
            .collect()
    }
}

fn keys(objects: &[Rc<Object>]) -> Vec<String> {
    objects.iter().map(|object| object.key().to_string()).collect()
}

fn row(object: &Object) -> (String, (u64, Rc<str>)) {
    let document = String::from_utf8(object.text().to_vec()).unwrap();
    (object.key().to_string(), (object.version().as_u64().unwrap(), document.into()))
}

/// A reflector at work between an upstream and a replay, in virtual time.
pub struct ReflectorRig {
    pub time: Rc<VirtualTime>,
    pub upstream: Rc<Upstream>,
    pub handle: ReflectorHandle,
    pub replay: Rc<RefCell<Replay>>,
}

impl ReflectorRig {
    pub fn new(seed: u64, config: ReflectorConfig) -> Self {
        Self::with(seed, config, 0, |_| {})
    }

    /// `prepare` sees the upstream before the first request; the replay takes `slow` milliseconds over each message.
    pub fn with(seed: u64, config: ReflectorConfig, slow: Millis, prepare: impl FnOnce(&Upstream)) -> Self {
        Self::on(VirtualTime::new(seed), seed, config, slow, prepare)
    }

    /// The same with a virtual time that others share.
    pub fn on(time: Rc<VirtualTime>, seed: u64, config: ReflectorConfig, slow: Millis, prepare: impl FnOnce(&Upstream)) -> Self {
        let upstream = Upstream::new(time.clone(), seed);
        prepare(&upstream);
        let (sender, mut receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let config = ReflectorConfig { seed, ..config };
        let (reflector, handle) = Reflector::new(Rc::new(Shared(upstream.clone())), time.clone(), fields, config, sender);
        time.spawn(Box::pin(reflector.run()));
        let replay = Rc::new(RefCell::new(Replay::default()));
        let (into, clock, truth) = (replay.clone(), time.clone(), upstream.clone());
        time.spawn(Box::pin(async move {
            while let Some(message) = receiver.next().await {
                into.borrow_mut().take(clock.elapsed(), message, &truth);
                if slow > 0 {
                    clock.sleep(slow).await;
                }
            }
            into.borrow_mut().ended = true;
        }));
        Self { time, upstream, handle, replay }
    }

    /// Runs for so long.
    pub fn run(&self, millis: Millis) -> &Self {
        self.time.advance(millis);
        self
    }

    /// Says that the server was reset.
    pub fn reset(&self) {
        self.replay.borrow_mut().reset = true;
        self.handle.reset();
    }

    /// How long it has run.
    pub fn elapsed(&self) -> Millis {
        self.time.elapsed()
    }

    pub fn lists(&self) -> usize {
        self.upstream.requests.borrow().iter().filter(|request| request.is_list()).count()
    }

    pub fn watches(&self) -> usize {
        self.upstream.requests.borrow().len() - self.lists()
    }

    fn has_paged(&self) -> bool {
        let requests = self.upstream.requests.borrow();
        requests.iter().any(|request| matches!(request, Request::List(_, list) if list.continue_token.is_some()))
    }

    /// The versions that were asked for, by watches in order; 0 where none was.
    pub fn watched_from(&self) -> Vec<u64> {
        self.upstream
            .requests
            .borrow()
            .iter()
            .filter_map(|request| match request {
                Request::Watch(_, watch) => Some(watch.resource_version.parse().unwrap_or(0)),
                Request::List(..) => None,
            })
            .collect()
    }

    /// Nothing is missing: the replay holds what the upstream holds.
    pub fn assert_whole(&self) {
        let replay = self.replay.borrow();
        assert_eq!(replay.last_connection(), Some(&Connection::Live));
        assert!(replay.rows == self.upstream.state(), "rows are missing or wrong");
        let (lists, watches) = self.upstream.peak();
        assert!(lists <= 1 && watches <= 1, "never two lists at once, nor two watches");
        assert!(!self.upstream.overlapped() || self.has_paged(), "a list of one page is over before its watch begins");
    }
}

/// How often each row went away without a deletion upstream: by lists that lack it.
pub fn rows_lost(replay: &Replay) -> usize {
    let mut held: BTreeMap<&str, ()> = BTreeMap::new();
    let mut lost = 0;
    for (_, said) in &replay.said {
        match said {
            Said::Replace { keys, .. } => {
                let next: BTreeMap<&str, ()> = keys.iter().map(|key| (key.as_str(), ())).collect();
                lost += held.keys().filter(|key| !next.contains_key(*key)).count();
                held = next;
            }
            Said::Change(ChangeKind::Deleted, key, _) => lost += usize::from(held.remove(key.as_str()).is_some()),
            Said::Change(_, key, _) => {
                held.insert(key, ());
            }
            _ => {}
        }
    }
    lost
}
