//! What the upstream has compacted. A source that can tell is asked now and then, and what is gone there is not served from here either.
//!
//! Otherwise a list at an old version would depend on who answers it: the window may reach further back than the upstream.
//! Nobody is asked while the resource is paused, so the first question after that comes at once.

use std::rc::Rc;

use futures::future::{Either, select};

use super::shared_cacher::SharedCacher;
use crate::connection::Phase;
use crate::runtime::{SharedRuntime, SingleTask};
use crate::source::Source;
use crate::time::Millis;
use crate::version::Version;

/// The time from one question to the next, and before the first, as in the apiserver.
pub const COMPACTION_INTERVAL_MS: Millis = 15_000;
/// How long one question may take. One that hangs must not keep those after it.
const MAX_QUESTION_MS: Millis = 10_000;

/// Asks while the resource is open.
pub(super) struct Compactor {
    cacher: Rc<SharedCacher>,
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    task: SingleTask,
}

impl Compactor {
    /// One that has not begun. `None` where the source does not tell.
    pub(super) fn new(cacher: Rc<SharedCacher>, source: Rc<dyn Source>, runtime: SharedRuntime) -> Option<Self> {
        source.compacted_version().is_some().then(|| Self { cacher, source, runtime, task: SingleTask::default() })
    }

    /// Asks from now on, until it is ended. The first question comes after a period: the state that is held then is new.
    pub(super) fn start(&self) {
        self.ask_after(COMPACTION_INTERVAL_MS);
    }

    /// Asks at once, and from now on: nobody was asked for a while.
    pub(super) fn resume(&self) {
        self.task.end();
        self.ask_after(0);
    }

    fn ask_after(&self, wait: Millis) {
        self.task.start(&*self.runtime, || run(self.cacher.clone(), self.source.clone(), self.runtime.clone(), wait));
    }

    /// Ends it: a timer that outlived the resource would keep a process of Node alive.
    pub(super) fn end(&self) {
        self.task.end();
    }
}

/// While the resource is paused nobody is asked. A question that fails is followed by the next.
async fn run(cacher: Rc<SharedCacher>, source: Rc<dyn Source>, runtime: SharedRuntime, first_wait: Millis) {
    let mut compacted = Version::ZERO;
    let mut wait = first_wait;
    loop {
        if wait > 0 {
            runtime.sleep(wait).await;
            if cacher.borrow().availability().phase() == Phase::Paused {
                continue;
            }
        }
        wait = COMPACTION_INTERVAL_MS;
        let Some(asked) = source.compacted_version() else { return };
        if let Either::Left((Ok(version), _)) = select(asked, runtime.sleep(MAX_QUESTION_MS)).await
            && version > compacted
        {
            cacher.with(|cacher| cacher.compact(version.clone()));
            compacted = version;
        }
    }
}
