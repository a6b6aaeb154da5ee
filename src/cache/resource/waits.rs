//! Waiting: until the cacher is ready, until it has reached a version, until an object is gone.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::select;
use rustc_hash::FxHashMap;

use super::progress::Progress;
use crate::cache::cacher::Cacher;
use crate::key::{Key, split};
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::status::{Error, Status};
use crate::time::{Instant, Millis};
use crate::version::Version;

/// How long a request waits for a version before it fails with 504, as in the apiserver.
pub(super) const MAX_FRESH_WAIT_MS: Millis = 3_000;

/// How long a read that nobody can hasten waits for the stream before it asks the upstream for the objects themselves. The stream of a busy
/// resource is there within that; a quiet one hears of the upstream's version with the next bookmark only.
pub(super) const MAX_NEAR_WAIT_MS: Millis = 250;

/// How the deletion of one object of many shows.
pub(super) struct Ending {
    object: Rc<Object>,
    /// At which version it is still there; else it is gone.
    left: Option<Version>,
}

impl Ending {
    /// Of an object as it was, where this is left of all.
    pub(super) fn of(object: Rc<Object>, left: &FxHashMap<Key, Rc<Object>>) -> Self {
        let same = left.get(object.key()).filter(|left| left.uid() == object.uid());
        Self { left: same.map(|left| left.version().clone()), object }
    }

    fn is_shown(&self, cacher: &Cacher) -> bool {
        cacher
            .store()
            .get(self.object.key())
            .is_none_or(|held| held.uid() != self.object.uid() || self.left.as_ref().is_some_and(|version| held.version() >= version))
    }
}

/// How often a wait looks whether its stream was paused.
const STILL_LOOK_MS: Millis = 100;

/// Waits for what the stream brings to a cacher.
pub(super) struct Waits {
    cacher: Rc<RefCell<Cacher>>,
    progress: Rc<Progress>,
    runtime: SharedRuntime,
}

impl Waits {
    /// Of this cacher. Its upstream is asked for progress meanwhile.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>, progress: Rc<Progress>, runtime: SharedRuntime) -> Self {
        Self { cacher, progress, runtime }
    }

    /// Whether the upstream can be asked how far it is: then waiting for its version takes no longer than asking.
    pub(super) fn are_hastened(&self) -> bool {
        self.progress.is_supported()
    }

    /// Fails once the cacher is closed.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        if self.cacher.borrow().availability().ready().is_stopped() { Err(Error::closed()) } else { Ok(()) }
    }

    /// Waits until the cacher is ready; without `wait` fails with its 429, and with `refusable` as soon as the server refuses what it waits for.
    pub(super) async fn until_ready(&self, wait: bool, refusable: bool) -> Result<(), Error> {
        loop {
            let now = self.runtime.now();
            let waiter = {
                let mut cacher = self.cacher.borrow_mut();
                match cacher.availability().ready().check(now) {
                    Ok(()) => return Ok(()),
                    Err(error) if !wait || cacher.availability().ready().is_stopped() => return Err(error),
                    Err(_) => match cacher.availability().refusal().filter(|_| refusable) {
                        Some(refusal) => return Err(refusal.clone()),
                        None => cacher.availability_mut().ready_mut().wait(),
                    },
                }
            };
            if let Some(waiter) = waiter {
                let _woken = waiter.await;
            }
        }
    }

    /// Waits until the cacher has reached a version, so long at most; then 504, "Too large resource version". Meanwhile the upstream is asked
    /// for progress, where it can be. Dropping the future ends the wait and the asking. The time is counted, unless there is nothing to wait for.
    pub(super) async fn until_fresh(&self, version: &Version, limit: Millis) -> Result<(), Error> {
        if self.cacher.borrow().version() >= version && !self.cacher.borrow().availability().ready().is_stopped() {
            return Ok(());
        }
        let began = self.runtime.now();
        let asking = self.progress.is_supported().then(|| self.progress.wait());
        let result = self.wait_for(version, began + limit).await;
        drop(asking);
        let waited = self.runtime.now().since(began);
        self.cacher.borrow().metrics().read_wait.observe_ms(waited);
        result
    }

    async fn wait_for(&self, version: &Version, deadline: Instant) -> Result<(), Error> {
        loop {
            self.check_open()?;
            if self.cacher.borrow().version() >= version {
                return Ok(());
            }
            let left = deadline.since(self.runtime.now());
            if left == 0 {
                return Err(Status::too_large(version, self.cacher.borrow().version()).into());
            }
            let reached = self.cacher.borrow_mut().freshness_mut().wait(version.clone());
            let _woken = select(reached, self.runtime.sleep(left)).await;
        }
    }

    /// Waits until the stream has brought what was written, within the limit of every such wait. A stream that stands still is not waited for,
    /// whether it did before or does so meanwhile.
    pub(super) async fn until_streamed(&self, written: &Object) {
        if self.cacher.borrow().is_local() {
            // How far the stream of one namespace is shows by what it has brought.
            let was_held = self.cacher.borrow().store().get(written.key()).is_some();
            let shows = |held: Option<&Rc<Object>>| held.map_or(was_held, |held| held.version() >= written.version());
            return self.until(written.namespace(), |cacher| shows(cacher.store().get(written.key()))).await;
        }
        let deadline = self.runtime.now() + MAX_FRESH_WAIT_MS;
        if !self.is_still(written.namespace(), deadline) {
            let still = self.until_still(written.namespace(), deadline);
            let _first = select(Box::pin(self.until_fresh(written.version(), MAX_FRESH_WAIT_MS)), Box::pin(still)).await;
        }
    }

    /// The same for an object that was deleted, whose last state this is.
    pub(super) async fn until_deleted(&self, last: &Object) {
        if !self.cacher.borrow().is_local() {
            return self.until_streamed(last).await;
        }
        self.until(last.namespace(), |cacher| cacher.store().get(last.key()).is_none_or(|held| held.version() >= last.version())).await;
    }

    /// Whether no stream is to bring anything of this namespace until then: it is paused, was before it ever began, or is refused.
    fn is_still(&self, namespace: &str, deadline: Instant) -> bool {
        let until = self.runtime.wall() + deadline.since(self.runtime.now());
        self.cacher.borrow().availability().is_still(namespace, until)
    }

    async fn until_still(&self, namespace: &str, deadline: Instant) {
        while !self.is_still(namespace, deadline) {
            self.runtime.sleep(STILL_LOOK_MS).await;
        }
    }

    /// Waits until the object with this uid is no longer held, within the same limit.
    pub(super) async fn until_gone(&self, key: &str, uid: &str) {
        self.until(split(key).0, |cacher| cacher.store().get(key).is_none_or(|held| held.uid() != Some(uid))).await;
    }

    /// Waits until all of this is so, within the same limit.
    pub(super) async fn until_ended(&self, ends: &[Ending]) {
        // What is deleted at once lies in one namespace.
        let Some(first) = ends.first() else { return };
        // Those before it are so: nobody looks at them again.
        let mut next = 0;
        self.until(first.object.namespace(), |cacher| {
            next += ends[next..].iter().take_while(|end| end.is_shown(cacher)).count();
            next == ends.len()
        })
        .await;
    }

    /// Waits until this holds of the state, within the same limit, as for a version.
    async fn until(&self, namespace: &str, mut holds: impl FnMut(&Cacher) -> bool) {
        let deadline = self.runtime.now() + MAX_FRESH_WAIT_MS;
        loop {
            let left = deadline.since(self.runtime.now());
            let next = {
                if holds(&self.cacher.borrow()) || left == 0 || self.is_still(namespace, deadline) {
                    return;
                }
                let mut cacher = self.cacher.borrow_mut();
                // Whatever comes next: it wakes those who wait for what was reached before it.
                let reached = cacher.version().clone();
                cacher.freshness_mut().wait(reached)
            };
            let _woken = select(next, self.runtime.sleep(left.min(STILL_LOOK_MS))).await;
        }
    }
}
