//! Resyncs: informers are checked by the clock, and their handlers told everything once more when that is due.

use std::rc::Rc;

use super::shared_cacher::SharedCacher;
use crate::informer::{Informer, InformerId};
use crate::runtime::{SharedRuntime, Task};

/// Looks after the resyncs of an informer that has just started. The informer keeps the task, so that it ends with it.
pub(super) fn start_resyncing(cacher: &Rc<SharedCacher>, runtime: &SharedRuntime, id: InformerId) {
    let period = cacher.borrow().informers().get(id).map_or(0, Informer::check_period);
    if period == 0 {
        return;
    }
    let work = {
        let (cacher, runtime) = (Rc::downgrade(cacher), runtime.clone());
        async move {
            // By the clock: a check that is late is one check.
            let mut due = runtime.now() + period;
            loop {
                runtime.sleep(due.since(runtime.now())).await;
                let now = runtime.now();
                if now < due {
                    continue;
                }
                due = now + period;
                let Some(cacher) = cacher.upgrade() else { return };
                cacher.with(|cacher| cacher.informing().resync(id, now));
            }
        }
    };
    let task = Task::spawn(&**runtime, work);
    if let Some(informer) = cacher.borrow_mut().informers_mut().get_mut(id) {
        informer.look_after_resyncs(task);
    }
}
