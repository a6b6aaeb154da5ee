//! The life of a resource: begun, held, out of memory, closed.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use futures::FutureExt;
use futures::channel::mpsc;
use futures::future::{LocalBoxFuture, select};

use super::checker::Checker;
use super::compactor::Compactor;
use super::driver::Driver;
use super::incoming::{Branched, Incoming};
use super::persisting::Persisting;
use super::progress::Progress;
use super::share::Share;
use super::shared_cacher::SharedCacher;
use super::streams::Streams;
use crate::cache::memory::{Grower, Member, Memory};
use crate::connection::Phase;
use crate::key::key;
use crate::message::{MAX_WAITING_MESSAGES, Message};
use crate::object::Object;
use crate::object::rest::Origin;
use crate::persist::Keeper;
use crate::reflector::{EarlyTries, Recipient, Reflector, ReflectorConfig, ReflectorHandle};
use crate::runtime::SharedRuntime;
use crate::runtime::slice::Slice;
use crate::source::{Branches, Source};
use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// How long whoever waits for the first list also waits for its watch.
const MAX_OPENING_WAIT_MS: Millis = 1000;

/// Where the stream of a resource stands.
enum Life {
    /// Nothing was asked of the upstream yet.
    New,
    /// The reflector is at work, or paused.
    Running(Streams),
    /// There was no memory to go on with; somebody has to ask for the next try.
    Starved,
    /// For good.
    Closed,
}

/// Opens, holds and closes the stream that a driver applies.
pub(super) struct Lifecycle {
    cacher: Rc<SharedCacher>,
    share: Rc<Share>,
    driver: Rc<Driver>,
    checker: Option<Checker>,
    compactor: Option<Compactor>,
    // Set before it begins, where the state is kept.
    persisting: OnceCell<Persisting>,
    progress: Rc<Progress>,
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    config: ReflectorConfig,
    life: RefCell<Life>,
    // Nobody uses it: what is held stays until memory is short.
    idle: Cell<bool>,
    // Whether a branch that is added now is to hold still.
    paused: Cell<bool>,
    // How often somebody asked for a try after memory had run out.
    early_tries: RefCell<EarlyTries>,
}

/// What a lifecycle works with.
pub(super) struct Parts {
    pub(super) cacher: Rc<SharedCacher>,
    pub(super) share: Rc<Share>,
    pub(super) driver: Rc<Driver>,
    /// None where the consistency is not looked after.
    pub(super) checker: Option<Checker>,
    /// None where the source does not tell what was compacted.
    pub(super) compactor: Option<Compactor>,
    pub(super) progress: Rc<Progress>,
    pub(super) source: Rc<dyn Source>,
    pub(super) runtime: SharedRuntime,
}

impl Lifecycle {
    /// One that has not begun.
    pub(super) fn new(parts: Parts, config: ReflectorConfig) -> Rc<Self> {
        let Parts { cacher, share, driver, checker, compactor, progress, source, runtime } = parts;
        Rc::new(Self {
            cacher,
            share,
            driver,
            checker,
            compactor,
            persisting: OnceCell::new(),
            progress,
            source,
            runtime,
            config,
            life: RefCell::new(Life::New),
            idle: Cell::new(false),
            paused: Cell::new(false),
            early_tries: RefCell::default(),
        })
    }

    /// See `Resource::start`.
    pub(super) fn start(self: &Rc<Self>) {
        let starved = match &*self.life.borrow() {
            Life::Running(_) | Life::Closed => return,
            Life::Starved => true,
            Life::New => false,
        };
        if starved {
            let now = self.runtime.now();
            if self.early_tries.borrow_mut().take(now).is_err() {
                return;
            }
        }
        self.cacher.borrow_mut().availability_mut().begins();
        match self.source.branches() {
            None => self.start_single(),
            Some(branches) => self.start_joined(&branches),
        }
        if let Some(checker) = &self.checker {
            checker.start();
        }
        if let Some(compactor) = &self.compactor {
            compactor.start();
        }
        if let Some(persisting) = self.persisting.get() {
            persisting.start();
        }
    }

    /// See `Resource::persist`.
    pub(super) fn persist(&self, name: &str, keeper: Rc<dyn Keeper>, max_age: Millis) -> Result<(), Error> {
        let why = if self.source.branches().is_some() {
            "several namespaces have no version together"
        } else if self.source.polls() {
            "what is polled has versions of its own"
        } else if !matches!(*self.life.borrow(), Life::New) {
            "it has begun"
        } else {
            let persisting = Persisting::new(name, keeper, max_age, self.cacher.clone(), self.runtime.clone());
            if self.persisting.set(persisting).is_ok() {
                self.cacher.borrow_mut().availability_mut().set_kept();
                return Ok(());
            }
            "it is kept already"
        };
        Err(Error::new(ErrorCode::Invalid, format!("this resource cannot be kept: {why}")))
    }

    fn start_single(self: &Rc<Self>) {
        let (mut reflector, handle, messages) = self.reflector(self.source.clone(), 0);
        if let Some(restoring) = self.persisting.get().and_then(Persisting::restore) {
            reflector.restores(restoring);
        }
        let slice = handle.slice();
        *self.life.borrow_mut() = Life::Running(Streams::Single(handle));
        let driven = self.driven(Incoming::Single(messages), slice);
        // Each message of the one is applied by the other in the same poll. Both end by themselves once the reflector's handle is closed.
        self.runtime.spawn_together([reflector.run().boxed_local(), driven]);
    }

    fn start_joined(self: &Rc<Self>, branches: &Branches) {
        let reached = self.cacher.borrow().version().clone();
        let branched = Branched::new(&reached, self.runtime.clone());
        self.paused.set(false);
        *self.life.borrow_mut() = Life::Running(Streams::Joined(branched.clone(), RefCell::default()));
        self.follow(branches);
        let slice = Rc::new(Slice::new(self.runtime.now()));
        let driven = self.driven(Incoming::Joined(branched), slice);
        self.runtime.spawn(driven);
    }

    /// Follows these branches and no others: those that are new begin, and what is held of those that are gone goes.
    pub(super) fn follow(&self, branches: &Branches) {
        let life = self.life.borrow();
        let Life::Running(Streams::Joined(branched, handles)) = &*life else { return };
        let mut handles = handles.borrow_mut();
        handles.retain(|(namespace, handle)| {
            let stays = branches.source(namespace).is_some();
            if !stays {
                handle.close();
                branched.remove(namespace);
            }
            stays
        });
        for (namespace, source) in branches.all() {
            if handles.iter().any(|(other, _)| *other == namespace) {
                continue;
            }
            let (reflector, handle, messages) = self.reflector(source, handles.len());
            branched.add(namespace.clone(), messages);
            if self.paused.get() {
                handle.pause();
            }
            handles.push((namespace, handle));
            self.runtime.spawn(reflector.run().boxed_local());
        }
    }

    /// A reflector that has not begun, with its handle and what it tells.
    fn reflector(&self, source: Rc<dyn Source>, number: usize) -> (Reflector, ReflectorHandle, mpsc::Receiver<Message>) {
        let (sender, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
        let fields = self.cacher.borrow().fields().clone();
        let mut config = self.config.clone();
        config.seed = config.seed.wrapping_add(number as u64);
        let (mut reflector, handle) = Reflector::new(source, self.runtime.clone(), fields, config, sender);
        reflector.reads_for(Read(Rc::downgrade(&self.cacher)));
        let cacher = Rc::downgrade(&self.cacher);
        reflector.on_predecessors(Box::new(move |namespace, name| {
            let cacher = cacher.upgrade()?;
            let cacher = cacher.borrow();
            cacher.store().get(&key(namespace, name).ok()?).cloned()
        }));
        (reflector, handle, messages)
    }

    /// Applies what comes in.
    fn driven(self: &Rc<Self>, incoming: Incoming, slice: Rc<Slice>) -> LocalBoxFuture<'static, ()> {
        self.cacher.borrow_mut().availability_mut().begin();
        self.cacher.plan_flush();
        let this = self.clone();
        async move {
            if let Err(error) = this.driver.run(incoming, slice).await {
                this.starve(&error);
            }
        }
        .boxed_local()
    }

    /// See `Resource::synced`.
    pub(super) async fn synced(&self) -> Result<(), Error> {
        let waiter = self.cacher.borrow_mut().availability_mut().wait_synced();
        waiter.await.unwrap_or_else(|_| Err(Error::closed()))?;
        let opened = self.cacher.borrow_mut().availability_mut().wait_opened();
        if let Some(opened) = opened {
            select(opened, self.runtime.sleep(MAX_OPENING_WAIT_MS)).await;
        }
        Ok(())
    }

    /// Lists anew, as the reflector is asked to; completes when that list is applied.
    pub(super) async fn list_anew(self: &Rc<Self>, ask: fn(&ReflectorHandle)) -> Result<(), Error> {
        self.start();
        let waiter = self.cacher.borrow_mut().availability_mut().wait_listed();
        match &*self.life.borrow() {
            Life::Running(streams) => streams.list_anew(ask),
            Life::Starved => return Err(self.cacher.borrow().status().error.unwrap_or_else(Error::closed)),
            Life::New | Life::Closed => {}
        }
        waiter.await.unwrap_or_else(|_| Err(Error::closed()))
    }

    /// See `Resource::pause`.
    pub(super) fn pause(&self) {
        if let Life::Running(streams) = &*self.life.borrow() {
            self.paused.set(true);
            streams.pause();
        }
    }

    /// See `Resource::go_idle`.
    pub(super) fn go_idle(&self) {
        self.idle.set(true);
        self.pause();
    }

    /// See `Resource::resume`.
    pub(super) fn resume(self: &Rc<Self>) {
        self.idle.set(false);
        self.paused.set(false);
        let room = self.share.room();
        self.cacher.with(|cacher| cacher.viewing().revive(room));
        match &*self.life.borrow() {
            Life::Running(streams) => {
                let was_paused = self.cacher.borrow().availability().phase() == Phase::Paused;
                if let Some(compactor) = self.compactor.as_ref().filter(|_| was_paused) {
                    compactor.resume();
                }
                self.cacher.borrow_mut().availability_mut().ask_again();
                return streams.resume();
            }
            Life::New | Life::Closed => return,
            Life::Starved => {}
        }
        self.start();
    }

    /// See `Resource::signed_in`.
    pub(super) fn signed_in(&self) {
        if let Life::Running(streams) = &*self.life.borrow() {
            self.cacher.borrow_mut().availability_mut().ask_again();
            streams.signed_in();
        }
    }

    /// There is no memory to go on with.
    fn starve(&self, error: &Error) {
        if matches!(*self.life.borrow(), Life::Closed) {
            return; // what was under way when it was closed
        }
        self.end_reflector(Life::Starved);
        let (now, wall) = (self.runtime.now(), self.runtime.wall());
        self.cacher.with(|cacher| cacher.starve(error, now, wall));
    }

    /// Shares a bound of memory with others from now on.
    pub(super) fn share_memory(self: &Rc<Self>, memory: &Rc<Memory>) {
        let this: Rc<dyn Member> = self.clone();
        let member: Weak<dyn Member> = Rc::downgrade(&this);
        self.share.join(memory, member);
    }

    /// Closes for good: all that runs in the background ends, and so does everything that was opened on the state.
    pub(super) fn close(&self) {
        if let Some(checker) = &self.checker {
            checker.end();
        }
        if let Some(compactor) = &self.compactor {
            compactor.end();
        }
        if let Some(persisting) = self.persisting.get() {
            persisting.end();
        }
        self.driver.close();
        self.end_reflector(Life::Closed);
        self.progress.stop();
        let now = self.runtime.now();
        self.cacher.with(|cacher| cacher.close(now));
        self.share.keep_bound();
    }

    fn end_reflector(&self, next: Life) {
        if let Life::Running(streams) = self.life.replace(next) {
            streams.close();
        }
    }
}

/// What a reflector reads is for this cacher, as long as it lives.
struct Read(Weak<SharedCacher>);

impl Recipient for Read {
    fn arriving(&self, objects: &[Rc<Object>]) {
        if let Some(cacher) = self.0.upgrade() {
            cacher.borrow_mut().arriving(objects);
        }
    }

    fn open(&self, parcel: &[u8]) -> Result<Vec<Rc<Object>>, Error> {
        self.0.upgrade().ok_or_else(Error::closed)?.borrow_mut().open(parcel, Origin::Thread)
    }
}

impl Member for Lifecycle {
    fn count(&self) {
        self.share.count();
    }

    fn note_bytes(&self) {
        self.cacher.borrow_mut().note_bytes();
    }

    fn grown(&self) -> (Grower, usize) {
        self.cacher.borrow().grown()
    }

    fn shed(&self, grower: Grower, error: &Error) {
        self.cacher.with(|cacher| cacher.shed(grower, error));
    }

    fn let_go_decoded(&self) {
        self.cacher.with(|cacher| cacher.let_go_decoded());
    }

    fn sift_strays(&self) {
        self.cacher.borrow_mut().held_mut().sift_strays();
    }

    fn is_idle(&self) -> bool {
        self.idle.get()
    }

    fn close(&self) {
        Self::close(self);
    }
}
