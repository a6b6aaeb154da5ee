//! How watches begin: what they ask for, where they start, and what they wait for.

use std::rc::Rc;

use super::access::Access;
use super::reads::{Reads, root};
use super::waits::{MAX_FRESH_WAIT_MS, MAX_NEAR_WAIT_MS};
use crate::cache::interval::Basis;
use crate::cache::list::ListOptions;
use crate::key::prepare;
use crate::runtime::{SingleTask, Task};
use crate::status::Error;
use crate::version::Version;
use crate::watch::{EndReason, Start, TICK_INTERVAL_MS, WatchOptions, WatcherId};

/// Opens watches on a cacher.
pub(super) struct Watches {
    access: Rc<Access>,
    reads: Rc<Reads>,
    ticking: SingleTask,
}

impl Watches {
    /// With these reads, where a watch begins with a list of the upstream.
    pub(super) fn new(access: Rc<Access>, reads: Rc<Reads>) -> Rc<Self> {
        Rc::new(Self { access, reads, ticking: SingleTask::default() })
    }

    /// See `Resource::watch`.
    pub(super) fn watch(self: &Rc<Self>, mut options: WatchOptions, wait: bool) -> WatcherId {
        // A request for one namespace names it twice, but namespaces are in none.
        if &*self.access.name == "namespaces" && options.namespace == options.name {
            options.namespace = None;
        }
        let (id, start) = self.access.cacher.with(|cacher| cacher.watching().register(&options));
        let start = match start.and_then(|start| self.check_path(id, &options).map(|()| start)) {
            Ok(start) => start,
            Err(error) => {
                self.access.cacher.with(|cacher| cacher.dispatcher_mut().refuse(id, error));
                return id;
            }
        };
        let now = self.access.runtime.now();
        let ready = self.access.cacher.borrow().availability().ready().check(now);
        match ready {
            Ok(()) if self.required_now(&options, &start).is_some() => {
                let required = self.required_now(&options, &start).unwrap_or_default();
                self.access.cacher.with(|cacher| cacher.watching().start(id, &options, &start, &required.into(), now));
                self.start_ticking();
            }
            Err(error) if !wait || self.access.cacher.borrow().availability().ready().is_stopped() => {
                self.access.cacher.with(|cacher| cacher.dispatcher_mut().refuse(id, error));
            }
            _ => {
                let this = self.clone();
                let task = Task::spawn(&*self.access.runtime, async move { this.watch_later(id, options, start).await });
                self.access.cacher.borrow_mut().dispatcher_mut().start_later(id, task);
            }
        }
        id
    }

    /// Refuses what is no path below the resource's own, as a list of it is refused.
    fn check_path(&self, id: WatcherId, options: &WatchOptions) -> Result<(), Error> {
        let (root, namespace) = (root(&self.access.name), options.namespace.as_deref().unwrap_or_default());
        let prefix = prepare(&root, &format!("{root}{namespace}"), true)?;
        let cacher = self.access.cacher.borrow();
        let demanded = cacher.dispatcher().get(id).and_then(|watcher| watcher.filter().predicate().single_name());
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
            (Start::After(version), Some(true)) if *version > *self.access.cacher.borrow().version() => None,
            (Start::After(version), _) => Some(version.clone()),
            (Start::Unset | Start::Any, _) => Some(Version::ZERO),
        }
    }

    /// The watcher keeps this as its task: a watch that ends while it waits ends it.
    async fn watch_later(self: Rc<Self>, id: WatcherId, options: WatchOptions, start: Start) {
        if self.access.waits.until_ready(true, false).await.is_err() {
            return; // closed, and with it every stream
        }
        let generation = self.access.cacher.borrow().availability().ready().generation();
        let basis = self.basis(&options, &start).await;
        let now = self.access.runtime.now();
        self.access.cacher.with(|cacher| {
            match basis {
                Err(error) => cacher.watching().fail(id, &error),
                Ok(basis) if cacher.availability().ready().is_ready() && cacher.availability().ready().generation() == generation => {
                    cacher.watching().start(id, &options, &start, &basis, now);
                }
                // What it waited for belongs to a state that is gone: an empty stream, to be opened again.
                Ok(_) => cacher.dispatcher_mut().end(id, EndReason::Relist, &Version::ZERO),
            }
        });
        self.start_ticking();
    }

    async fn basis(self: &Rc<Self>, options: &WatchOptions, start: &Start) -> Result<Basis, Error> {
        let state = options.send_initial_events == Some(true);
        match start {
            Start::Unset if state => self.newest_basis(options).await,
            // The state held, whatever it is: were the upstream ahead of it, what lies between would pass for delivered.
            Start::Unset if options.send_initial_events.is_none() => Ok(Basis::default()),
            Start::Unset => Ok(self.access.upstream.current_version().await?.into()),
            Start::Any => Ok(Basis::default()),
            Start::After(version) => {
                if state {
                    self.access.waits.until_fresh(version, MAX_FRESH_WAIT_MS).await?;
                }
                Ok(version.clone().into())
            }
        }
    }

    /// As new as the upstream is now. An upstream that tells its progress on request is waited for. Over the Kubernetes API there is no telling:
    /// writes to others may put it ahead of a quiet resource for a minute. Then the watch begins with the upstream's own list, and only what comes
    /// after that list's version follows.
    async fn newest_basis(self: &Rc<Self>, options: &WatchOptions) -> Result<Basis, Error> {
        let current = self.access.upstream.current_version().await?;
        if !self.access.waits.are_hastened() && self.access.waits.until_fresh(&current, MAX_NEAR_WAIT_MS).await.is_err() {
            let one = options.name.as_deref().map(|name| format!("metadata.name={name}"));
            let fields: Vec<String> = options.field_selector.iter().cloned().chain(one).filter(|text| !text.is_empty()).collect();
            let whole = ListOptions {
                namespace: options.namespace.clone(),
                label_selector: options.label_selector.clone(),
                field_selector: Some(fields.join(",")),
                shard_selector: options.shard_selector.clone(),
                ..ListOptions::default()
            };
            if let Ok(list) = self.access.upstream.list(&self.reads.request(whole)?).await {
                return Ok(Basis { version: list.version, listed: Some(list.objects) });
            }
        }
        self.access.waits.until_fresh(&current, MAX_FRESH_WAIT_MS).await?;
        Ok(current.into())
    }

    /// Looks after bookmarks and deadlines while a watcher needs it.
    fn start_ticking(&self) {
        self.ticking.start(&*self.access.runtime, || {
            let (cacher, runtime) = (self.access.cacher.clone(), self.access.runtime.clone());
            async move {
                loop {
                    runtime.sleep(TICK_INTERVAL_MS + fastrand::u64(0..TICK_INTERVAL_MS / 4)).await;
                    let now = runtime.now();
                    // After the close the schedule still names who has ended, and a timer would keep a process of Node alive.
                    if !cacher.with(|cacher| cacher.watching().tick(now) && !cacher.availability().ready().is_stopped()) {
                        return;
                    }
                }
            }
        });
    }
}
