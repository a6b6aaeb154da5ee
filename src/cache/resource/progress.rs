//! Progress requests: while somebody waits for a version, the upstream is asked to say how far it is.
//!
//! A quiet resource hears of the upstream's version with the next bookmark only, up to a minute later. Some upstreams can be asked for one: etcd
//! can, the Kubernetes API over HTTP cannot. They are asked ten times a second, and only while that helps somebody.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::future::select;

use crate::runtime::{SharedRuntime, SingleTask};
use crate::source::Source;
use crate::time::{Instant, Millis};

/// The time from one request to the next, as in the apiserver.
const REQUEST_INTERVAL_MS: Millis = 100;
/// How long one request may take. One that hangs must not keep those after it.
const MAX_REQUEST_MS: Millis = 1_000;

/// Asks while somebody waits.
pub(super) struct Progress {
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    demand: Rc<Demand>,
    // None once it was stopped.
    asking: RefCell<Option<SingleTask>>,
}

/// What those who wait and the task that asks for them know of each other.
#[derive(Default)]
struct Demand {
    waiters: Cell<usize>,
    asked_at: Cell<Option<Instant>>,
}

/// Somebody who waits. Dropping it ends the wait.
pub(super) struct Waiting(Rc<Demand>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiters.set(self.0.waiters.get() - 1);
    }
}

impl Progress {
    /// One that is idle.
    pub(super) fn new(source: Rc<dyn Source>, runtime: SharedRuntime) -> Rc<Self> {
        Rc::new(Self { source, runtime, demand: Rc::default(), asking: RefCell::new(Some(SingleTask::default())) })
    }

    /// Whether the upstream tells its version and its progress on request. Consistent reads from the cache take both.
    pub(super) fn is_supported(&self) -> bool {
        self.source.current_version().is_some() && self.source.request_progress().is_some()
    }

    /// Begins to wait. The first request goes out at once, unless one has just gone out.
    pub(super) fn wait(&self) -> Waiting {
        self.demand.waiters.set(self.demand.waiters.get() + 1);
        if let Some(asking) = &*self.asking.borrow() {
            asking.start(&*self.runtime, || ask(self.source.clone(), self.runtime.clone(), self.demand.clone()));
        }
        Waiting(self.demand.clone())
    }

    /// Never asks again.
    pub(super) fn stop(&self) {
        self.asking.take();
    }
}

async fn ask(source: Rc<dyn Source>, runtime: SharedRuntime, demand: Rc<Demand>) {
    loop {
        let now = runtime.now();
        let due = demand.asked_at.get().map_or(now, |at| at + REQUEST_INTERVAL_MS);
        if due > now {
            runtime.sleep(due.since(now)).await;
        }
        let request = source.request_progress().filter(|_| demand.waiters.get() > 0);
        let Some(request) = request else { return };
        demand.asked_at.set(Some(runtime.now()));
        // Its answer comes on the watch. One that fails is followed by the next.
        drop(select(request, runtime.sleep(MAX_REQUEST_MS)).await);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::LocalBoxFuture;

    use super::*;

    use crate::runtime::virtual_time::VirtualTime;
    use crate::source::{FrameStream, ListRequest, PageStream, WatchRequest};
    use crate::status::Error;
    use crate::version::Version;

    /// Counts what it is asked.
    struct Counting {
        time: Rc<VirtualTime>,
        asked: RefCell<Vec<Millis>>,
        supported: bool,
        hangs: bool,
    }

    struct Shared(Rc<Counting>);

    impl Source for Shared {
        fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
            Box::pin(async { Err(Error::network("no lists here")) })
        }

        fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
            Box::pin(async { Err(Error::network("no watches here")) })
        }

        fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
            self.0.supported.then(|| futures::future::ready(Ok(Version::from(1))).boxed_local())
        }

        fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
            let counting = self.0.clone();
            self.0.supported.then(|| {
                async move {
                    counting.asked.borrow_mut().push(counting.time.elapsed());
                    if counting.hangs {
                        futures::future::pending::<()>().await;
                    }
                    Err(Error::network("lost"))
                }
                .boxed_local()
            })
        }
    }

    fn setup(supported: bool, hangs: bool) -> (Rc<VirtualTime>, Rc<Counting>, Rc<Progress>) {
        let time = VirtualTime::new(1);
        let counting = Rc::new(Counting { time: time.clone(), asked: RefCell::default(), supported, hangs });
        let progress = Progress::new(Rc::new(Shared(counting.clone())), time.clone());
        (time, counting, progress)
    }

    #[test]
    fn prg_01_it_asks_each_100_ms_while_somebody_waits() {
        let (time, counting, progress) = setup(true, false);
        let asked = || counting.asked.borrow().len();
        time.advance(200);
        assert_eq!(asked(), 0);
        let waiting = progress.wait();
        time.advance(0);
        assert_eq!(asked(), 1);
        for count in 2..=10 {
            time.advance(100);
            assert_eq!(asked(), count);
        }
        drop(waiting);
        time.advance(1000);
        assert_eq!(asked(), 10);
        let again = progress.wait();
        time.advance(0);
        assert_eq!(asked(), 11);
        progress.stop();
        time.advance(1000);
        assert_eq!(asked(), 11, "not even for one who waits");
        drop(again);
    }

    /// The other half of the case: an upstream that cannot be asked is not.
    #[test]
    fn prg_01_without_support_nobody_asks() {
        let (time, counting, progress) = setup(false, false);
        assert!(!progress.is_supported());
        let waiting = progress.wait();
        time.advance(1000);
        assert_eq!(counting.asked.borrow().len(), 0);
        drop(waiting);
    }

    #[test]
    fn many_waiters_in_quick_succession_cost_one_request_a_period() {
        let (time, counting, progress) = setup(true, false);
        for _ in 0..50 {
            drop(progress.wait());
            let _both = (progress.wait(), progress.wait());
            time.advance(10);
        }
        assert_eq!(*counting.asked.borrow(), [0, 100, 200, 300, 400, 500]);
    }

    #[test]
    fn a_request_that_hangs_does_not_keep_the_next() {
        let (time, counting, progress) = setup(true, true);
        let _waiting = progress.wait();
        time.advance(2500);
        assert_eq!(*counting.asked.borrow(), [0, 1000, 2000]);
    }

    #[test]
    fn one_that_is_stopped_or_dropped_leaves_no_task() {
        for end in [|progress: Rc<Progress>| progress.stop(), |progress: Rc<Progress>| drop(progress)] {
            let (time, _counting, progress) = setup(true, true);
            drop(progress.wait());
            let waiting = progress.wait();
            time.advance(10);
            assert_eq!(time.tasks(), 1, "a request is under way");
            end(progress);
            time.run_until_idle();
            assert_eq!((time.tasks(), time.elapsed()), (0, 10));
            drop(waiting);
        }
    }
}
