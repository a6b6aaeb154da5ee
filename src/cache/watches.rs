//! How watches begin: what they ask for, where they start, and what they wait for.

use std::rc::Rc;

use futures::FutureExt;

use crate::cache::cacher::Cacher;
use crate::cache::freshness::FRESH_LIMIT_MS;
use crate::cache::list::NEAR_MS;
use crate::cache::list::options::ListOptions;
use crate::cache::resource::Resource;
use crate::json::path::Path;
use crate::key::prepare;
use crate::object::Object;
use crate::runtime::Millis;
use crate::selector::Filter;
use crate::status::{Error, Status};
use crate::version::Version;
use crate::watch::{Beginning, Bookmarks, Conversion, EndReason, EventKind, Start, WatchEvent, WatchOptions, Watcher, WatcherId};

/// The most a watcher may hold back by default, as in the apiserver: where no field routes events to watchers, where one does, and for
/// those that it routes them to.
const MOST_BUFFERED: [usize; 3] = [100, 1000, 10];

impl Cacher {
    /// Has this field route events to watchers: whoever demands a value of it hears of changes with that value alone.
    pub fn set_trigger(&mut self, path: &Path) {
        let slot = self.fields().borrow_mut().slot(path);
        self.dispatcher.set_trigger(slot);
    }

    /// Parses and registers a watcher that has not started. The error is the refusal.
    pub fn register(&mut self, options: &WatchOptions) -> (WatcherId, Result<Start, Error>) {
        let filter = Filter::new(
            options.namespace.as_deref(),
            options.name.as_deref(),
            options.label_selector.as_deref(),
            options.field_selector.as_deref(),
            &mut self.fields().borrow_mut(),
        );
        let filter = filter.and_then(|filter| filter.with_shard(options.shard_selector.as_deref()));
        let checked = filter.and_then(|filter| Ok((filter, options.start()?)));
        match checked {
            Ok((filter, start)) => (self.dispatcher.add(filter), Ok(start)),
            Err(error) => (self.dispatcher.add(Filter::default()), Err(error)),
        }
    }

    /// Ends a watcher that could not start with a direct error.
    pub fn refuse(&mut self, id: WatcherId, error: Error) {
        self.dispatcher.refuse(id, error);
    }

    /// Ends a watcher with an ERROR event.
    pub fn fail(&mut self, id: WatcherId, error: &Error) {
        let status = error.status.as_deref().cloned().unwrap_or_else(|| Status::internal(error.message.clone()));
        let reached = self.version().clone();
        self.dispatcher.fail(id, &status, &reached);
    }

    /// Captures the initial events of a watcher and begins to dispatch to it, in one step.
    ///
    /// Where it starts, as the apiserver's cacher does: from the state when the version is unset or `"0"` or when initial events are
    /// asked for; after `n` from the window; with `sendInitialEvents=false` after the basis (unset) or now (`"0"`).
    pub fn start_watch(&mut self, id: WatcherId, options: &WatchOptions, start: &Start, basis: &Basis, now: Millis) {
        let required = &basis.version;
        let from_history = match (start, options.send_initial_events) {
            (Start::After(version), None | Some(false)) => Some(version.clone()),
            (Start::Unset, Some(false)) => Some(required.clone()),
            _ => None,
        };
        let silent = *start == Start::Any && options.send_initial_events == Some(false);
        let Some(filter) = self.dispatcher.get(id).map(|watcher| watcher.filter().clone()) else { return };
        // What the upstream listed counts only while it is newer than what is held.
        let listed = basis.listed.as_ref().filter(|_| required > self.version());
        let state = if listed.is_some() { required.clone() } else { self.version().clone() };
        let captured = match (&from_history, listed) {
            (Some(version), _) => self.history_events(&filter, version),
            (None, _) if silent => Ok(Vec::new()),
            (None, Some(objects)) => {
                let fields = self.fields().borrow();
                Ok(state_events(objects.iter().filter(|object| filter.passes(object, &fields)).cloned(), &state))
            }
            (None, None) => Ok(state_events(self.select(&filter), &state)),
        };
        let mut events = match captured {
            Ok(events) => events,
            Err(error) => return self.fail(id, &error),
        };
        let interval = from_history.unwrap_or_else(|| state.clone());
        let newest = events.last().map(|event| event.version.clone()).unwrap_or_default();
        let gate = interval.max(required.clone()).max(newest);
        self.metrics().init_events.add(events.len() as u64);
        let bookmarks = match bookmark_after(options, start, required, self.version()) {
            Some(after) => {
                events.push(WatchEvent::bookmark(state, true));
                Bookmarks::Owed(after)
            }
            None if options.allow_watch_bookmarks => Bookmarks::Regular,
            None => Bookmarks::Unwanted,
        };
        let most = MOST_BUFFERED[match self.dispatcher.triggers(&filter) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        }];
        let capacity = options.buffer_size.unwrap_or_else(|| self.window().suggested_buffer(most)).max(1);
        let beginning = Beginning {
            interval: events,
            gate,
            capacity,
            on_overflow: options.on_overflow,
            bookmarks,
            deadline: options.timeout_seconds.map(|seconds| now + Millis::from(seconds) * 1000),
        };
        self.dispatcher.start(id, beginning, now);
    }

    fn history_events(&self, filter: &Filter, since: &Version) -> Result<Vec<WatchEvent>, Error> {
        let fields = self.fields().borrow();
        let entries = self.window().since(since)?;
        Ok(entries
            .filter_map(|entry| {
                let conversion = Conversion::new(entry);
                let kind = conversion.kind(|object| filter.passes(object, &fields))?;
                Some(conversion.event(kind))
            })
            .collect())
    }
}

/// What a watch may begin with, made sure of before.
#[derive(Debug, Default)]
pub struct Basis {
    /// The version that it must not be older than.
    pub version: Version,
    /// The objects that the upstream listed at that version, where what is held is not known to be as new.
    pub listed: Option<Vec<Rc<Object>>>,
}

impl From<Version> for Basis {
    fn from(version: Version) -> Self {
        Self { version, listed: None }
    }
}

/// Objects as the initial events of a watch that begins with the state at a version.
fn state_events(objects: impl Iterator<Item = Rc<Object>>, version: &Version) -> Vec<WatchEvent> {
    objects.map(|object| WatchEvent { kind: EventKind::Added, object, version: version.clone() }).collect()
}

/// The version that the bookmark at the end of the initial events must have reached; none where no such bookmark is owed.
fn bookmark_after(options: &WatchOptions, start: &Start, required: &Version, current: &Version) -> Option<Version> {
    let owed = options.send_initial_events == Some(true) && options.allow_watch_bookmarks;
    owed.then(|| match start {
        Start::Unset => required.clone(),
        Start::Any => current.clone(),
        Start::After(version) => version.clone(),
    })
}

impl Resource {
    /// Opens a watch. The initial events are captured now where that is possible, else as soon as the cacher is ready and fresh enough.
    pub fn watch(self: &Rc<Self>, mut options: WatchOptions, wait: bool) -> WatcherId {
        // A request for one namespace names it twice, but namespaces are in none.
        if self.config.name == "namespaces" && options.namespace == options.name {
            options.namespace = None;
        }
        let (id, start) = self.with(|cacher| cacher.register(&options));
        let start = match start.and_then(|start| self.check_path(id, &options).map(|()| start)) {
            Ok(start) => start,
            Err(error) => {
                self.with(|cacher| cacher.refuse(id, error));
                return id;
            }
        };
        let now = self.runtime.now();
        let ready = self.cacher.borrow_mut().ready().check(now);
        match ready {
            Ok(()) if self.required_now(&options, &start).is_some() => {
                let required = self.required_now(&options, &start).unwrap_or_default();
                self.with(|cacher| cacher.start_watch(id, &options, &start, &required.into(), now));
                self.keep_ticking();
            }
            Err(error) if !wait || self.cacher.borrow_mut().ready().is_stopped() => {
                self.with(|cacher| cacher.refuse(id, error));
            }
            _ => {
                let this = self.clone();
                let serial = self.cacher.borrow().dispatcher.get(id).map_or(0, Watcher::serial);
                self.runtime.spawn(async move { this.watch_later(id, serial, options, start).await }.boxed_local());
            }
        }
        id
    }

    /// Refuses what is no path below the resource's own, as a list of it is refused.
    fn check_path(&self, id: WatcherId, options: &WatchOptions) -> Result<(), Error> {
        let (root, namespace) = (self.root(), options.namespace.as_deref().unwrap_or_default());
        let prefix = prepare(&root, &format!("{root}{namespace}"), true)?;
        let cacher = self.cacher.borrow();
        let demanded = cacher.dispatcher.get(id).and_then(|watcher| watcher.filter().predicate().single_name());
        // Of all namespaces it would be no key.
        let single = !namespace.is_empty() || cacher.store().iter().next().is_some_and(|object| object.namespace().is_empty());
        match options.name.as_deref().filter(|name| !name.is_empty()).or(demanded) {
            Some(name) if single => prepare(&root, &format!("{prefix}{name}"), false).map(drop),
            _ => Ok(()),
        }
    }

    /// The version a watch must start at, when it need not be asked for nor waited for.
    fn required_now(&self, options: &WatchOptions, start: &Start) -> Option<Version> {
        match (start, options.send_initial_events) {
            (Start::Unset, Some(_)) => None,
            (Start::After(version), Some(true)) if *version > *self.cacher.borrow().version() => None,
            (Start::After(version), _) => Some(version.clone()),
            (Start::Unset | Start::Any, _) => Some(Version::ZERO),
        }
    }

    async fn watch_later(self: Rc<Self>, id: WatcherId, serial: u64, options: WatchOptions, start: Start) {
        if self.until_ready(true, false).await.is_err() {
            return; // closed, and with it every stream
        }
        let generation = self.cacher.borrow_mut().ready().generation();
        let basis = self.basis(&options, &start).await;
        let now = self.runtime.now();
        self.with(|cacher| {
            if !cacher.dispatcher.awaits_start(id, serial) {
                return; // stopped while it waited
            }
            match basis {
                Err(error) => cacher.fail(id, &error),
                Ok(basis) if cacher.ready().is_ready() && cacher.ready().generation() == generation => {
                    cacher.start_watch(id, &options, &start, &basis, now);
                }
                // What it waited for belongs to a state that is gone: an empty stream, to be opened again.
                Ok(_) => cacher.dispatcher.end(id, EndReason::Relist, &Version::ZERO),
            }
        });
        self.keep_ticking();
    }

    async fn basis(self: &Rc<Self>, options: &WatchOptions, start: &Start) -> Result<Basis, Error> {
        let state = options.send_initial_events == Some(true);
        match start {
            Start::Unset if state => self.newest_basis(options).await,
            // The state held, whatever it is: were the upstream ahead of it, what lies between would pass for delivered.
            Start::Unset if options.send_initial_events.is_none() => Ok(Basis::default()),
            Start::Unset => Ok(self.current_version().await?.into()),
            Start::Any => Ok(Basis::default()),
            Start::After(version) => {
                if state {
                    self.until_fresh(version, FRESH_LIMIT_MS).await?;
                }
                Ok(version.clone().into())
            }
        }
    }

    /// As new as the upstream is now. One that tells its progress on request is waited for. One that cannot, as over the Kubernetes API, may
    /// be ahead of a quiet resource for a minute, by writes to others, and there is no telling: then its own list is what the watch
    /// begins with, and only what comes after that list's version follows.
    async fn newest_basis(self: &Rc<Self>, options: &WatchOptions) -> Result<Basis, Error> {
        let current = self.current_version().await?;
        if !self.reads.progress.is_supported() && self.until_fresh(&current, NEAR_MS).await.is_err() {
            let one = options.name.as_deref().map(|name| format!("metadata.name={name}"));
            let fields: Vec<String> = options.field_selector.iter().cloned().chain(one).filter(|text| !text.is_empty()).collect();
            let whole = ListOptions {
                namespace: options.namespace.clone(),
                label_selector: options.label_selector.clone(),
                field_selector: Some(fields.join(",")),
                shard_selector: options.shard_selector.clone(),
                ..ListOptions::default()
            };
            if let Ok(list) = self.list_upstream(&self.request(whole)?).await {
                return Ok(Basis { version: list.version, listed: Some(list.objects) });
            }
        }
        self.until_fresh(&current, FRESH_LIMIT_MS).await?;
        Ok(current.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wat_04_the_end_of_the_initial_events_may_not_be_before_the_version_asked_for() {
        let after = |text: Option<&str>, send: Option<bool>, bookmarks: bool| {
            let options = WatchOptions {
                resource_version: text.map(Into::into),
                resource_version_match: send.map(|_| "NotOlderThan".into()),
                send_initial_events: send,
                allow_watch_bookmarks: bookmarks,
                ..WatchOptions::default()
            };
            bookmark_after(&options, &options.start().unwrap(), &Version::from(100), &Version::from(99)).and_then(|after| after.as_u64())
        };
        assert_eq!(after(None, Some(true), true), Some(100), "what the upstream has reached");
        assert_eq!(after(Some("0"), Some(true), true), Some(99), "what is held");
        assert_eq!(after(Some("95"), Some(true), true), Some(95), "what was asked for");
        for version in [None, Some("0"), Some("95")] {
            for (send, bookmarks) in [(Some(true), false), (Some(false), true), (Some(false), false), (None, true), (None, false)] {
                assert_eq!(after(version, send, bookmarks), None, "{version:?} {send:?} {bookmarks}");
            }
        }
    }
}
