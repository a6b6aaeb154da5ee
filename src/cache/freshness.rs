//! Waiting: until the cacher is ready, and until it has reached a version.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::select;

use crate::cache::progress::Progress;
use crate::cache::resource::Resource;
use crate::cache::waiters;
use crate::runtime::{Millis, SharedRuntime};
use crate::source::page::head_version;
use crate::source::{ListRequest, Source};
use crate::status::{Error, Status};
use crate::version::Version;

/// How long a request waits for a version before it fails with 504, as in the apiserver.
pub const FRESH_LIMIT_MS: Millis = 3_000;

/// Who waits for which version.
#[derive(Debug, Default)]
pub struct Freshness {
    waiters: Vec<(Version, oneshot::Sender<()>)>,
}

impl Freshness {
    /// Completes once the cacher reached the version; is cancelled when the cacher goes away.
    pub fn wait(&mut self, version: Version) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        waiters::add(&mut self.waiters, (version, sender), |(_, waiter)| waiter.is_canceled());
        receiver
    }

    /// The cacher has reached this version.
    pub fn reached(&mut self, version: &Version) {
        if self.waiters.is_empty() {
            return;
        }
        for (_, waiter) in self.waiters.extract_if(.., |(wanted, _)| &*wanted <= version) {
            let _gone = waiter.send(());
        }
    }

    /// Cancels all waits: the cacher is closed.
    pub fn cancel(&mut self) {
        self.waiters.clear();
    }
}

/// What a resource needs for its reads beside the cacher.
pub struct Reads {
    /// Asks for progress while somebody waits.
    pub(super) progress: Rc<Progress>,
    /// Whether a consistent read that the cache cannot serve in time is refused, and the upstream spared.
    pub(super) spare_upstream: Cell<bool>,
    /// Fields, as they stood together in a selector, that the upstream cannot select by.
    pub(super) refused_fields: RefCell<HashSet<String>>,
}

impl Reads {
    pub(super) fn new(source: Rc<dyn Source>, runtime: SharedRuntime) -> Self {
        Self { progress: Progress::new(source, runtime), spare_upstream: Cell::new(false), refused_fields: RefCell::default() }
    }
}

impl Resource {
    /// Has consistent reads that the cache cannot serve within 3 s fail with 429 (`true`), or be answered by the upstream (`false`, the
    /// default).
    pub fn spare_upstream(&self, spare: bool) {
        self.reads.spare_upstream.set(spare);
    }

    /// Waits until the cacher is ready; without `wait` fails with its 429, and with `refusable` as soon as the server refuses what it waits for.
    pub(super) async fn until_ready(&self, wait: bool, refusable: bool) -> Result<(), Error> {
        loop {
            let now = self.runtime.now();
            let waiter = {
                let mut cacher = self.cacher.borrow_mut();
                match cacher.ready().check(now) {
                    Ok(()) => return Ok(()),
                    Err(error) if !wait || cacher.ready().is_stopped() => return Err(error),
                    Err(_) => match cacher.refusal().filter(|_| refusable) {
                        Some(refusal) => return Err(refusal.clone()),
                        None => cacher.ready().wait(),
                    },
                }
            };
            if let Some(waiter) = waiter {
                let _woken = waiter.await;
            }
        }
    }

    /// Waits until the cacher has reached a version, so long at most; then 504, "Too large resource version". Meanwhile the upstream is asked
    /// for progress, where it can be. Dropping the future ends the wait and the asking.
    pub(super) async fn until_fresh(&self, version: &Version, limit: Millis) -> Result<(), Error> {
        if self.cacher.borrow().version() >= version && !self.cacher.borrow_mut().ready().is_stopped() {
            return Ok(());
        }
        let began = self.runtime.now();
        let asking = self.reads.progress.is_supported().then(|| self.reads.progress.wait());
        let result = self.wait_for(version, began + limit).await;
        drop(asking);
        self.cacher.borrow().metrics().read_wait.observe_ms(self.runtime.now().saturating_sub(began));
        result
    }

    async fn wait_for(&self, version: &Version, deadline: Millis) -> Result<(), Error> {
        loop {
            let waiter = {
                let mut cacher = self.cacher.borrow_mut();
                if cacher.ready().is_stopped() {
                    return Err(Error::closed());
                }
                if cacher.version() >= version {
                    return Ok(());
                }
                let left = deadline.saturating_sub(self.runtime.now());
                if left == 0 {
                    return Err(Status::too_large(version, cacher.version()).into());
                }
                select(cacher.freshness().wait(version.clone()), self.runtime.sleep(left))
            };
            let _woken = waiter.await;
        }
    }

    /// The upstream's current version: as it tells it, or by the smallest consistent list.
    pub(super) async fn current_version(&self) -> Result<Version, Error> {
        if let Some(asked) = self.source.current_version() {
            return asked.await;
        }
        let request = ListRequest { limit: Some(1), ..ListRequest::default() };
        let head = self.page(request, &mut |_| {}).await?;
        head_version(&head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_wake_whose_version_is_reached_and_no_others() {
        let mut freshness = Freshness::default();
        let mut early = freshness.wait(Version::from(5));
        let mut late = freshness.wait(Version::from(7));
        freshness.reached(&Version::from(4));
        assert_eq!(early.try_recv(), Ok(None));
        freshness.reached(&Version::from(5));
        assert_eq!(early.try_recv(), Ok(Some(())));
        assert_eq!(late.try_recv(), Ok(None));
        freshness.cancel();
        assert!(late.try_recv().is_err());
    }
}
