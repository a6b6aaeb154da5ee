//! Flushes: what happened is collected, and told afterwards with nothing borrowed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::share::Share;
use crate::cache::cacher::Cacher;
use crate::cache::flush::Flush;
use crate::runtime::{SharedRuntime, SingleTask};

type FlushHook = Rc<dyn Fn(Flush)>;

/// Tells one hook what the cacher has to tell.
pub(super) struct Flusher {
    cacher: Rc<RefCell<Cacher>>,
    share: Rc<Share>,
    runtime: SharedRuntime,
    hook: RefCell<Option<FlushHook>>,
    planned: SingleTask,
    // Tells what did not fit into a flush.
    following: SingleTask,
    flushing: Cell<bool>,
}

impl Flusher {
    /// Tells nobody yet.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) -> Rc<Self> {
        Rc::new(Self {
            cacher,
            share,
            runtime,
            hook: RefCell::default(),
            planned: SingleTask::default(),
            following: SingleTask::default(),
            flushing: Cell::default(),
        })
    }

    /// Whose changes it tells.
    pub(super) fn cacher(&self) -> &Rc<RefCell<Cacher>> {
        &self.cacher
    }

    /// Sets who hears of changes. Called with nothing borrowed.
    pub(super) fn tell(&self, hook: impl Fn(Flush) + 'static) {
        *self.hook.borrow_mut() = Some(Rc::new(hook));
    }

    /// Tells the hook what happened since the last flush, with nothing borrowed; whether there was anything to tell. What the hook causes is
    /// told in another flush.
    pub(super) fn flush(self: &Rc<Self>) -> bool {
        if self.flushing.replace(true) {
            return false;
        }
        // The one borrow that outlives a call into the host: the clock is read only if somebody is told of an event.
        let (flush, more) = self.cacher.borrow_mut().take_flush(&|| self.runtime.now());
        let hook = self.hook.borrow().clone().filter(|_| !flush.is_empty());
        if let Some(hook) = &hook {
            hook(flush);
        }
        self.flushing.set(false);
        let more = self.cacher.borrow_mut().flush_given() || more;
        if more {
            self.following.start(&*self.runtime, || {
                let (this, turn) = (Rc::downgrade(self), self.runtime.yield_now());
                async move {
                    turn.await;
                    if let Some(this) = this.upgrade() {
                        // What the flush leaves over is told in another one.
                        this.following.end();
                        this.flush();
                    }
                }
            });
        }
        hook.is_some()
    }

    /// Has a flush follow soon, outside the call that caused it.
    pub(super) fn plan(self: &Rc<Self>) {
        self.planned.start(&*self.runtime, || {
            let this = self.clone();
            async move {
                // What the flush causes is told in another one.
                this.planned.end();
                if this.cacher.borrow().has_output() {
                    this.flush();
                }
            }
        });
    }

    /// The state was changed from outside: what views have grown by is settled, and a flush follows where there is something to tell.
    pub(super) fn tell_soon(self: &Rc<Self>) {
        if self.cacher.borrow_mut().views_mut().take_grown() {
            self.share.keep_bound();
        }
        if self.cacher.borrow().has_output() {
            self.plan();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::fields::FieldSet;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::store::{Indexes, WindowBounds};
    use crate::time::Instant;
    use crate::version::Version;
    use crate::watch::{Beginning, Demand, WatchEvent, WatchOptions};

    /// A flusher whose first flush leaves something over, and how many events it has told.
    fn overfull(time: &Rc<VirtualTime>) -> (Rc<Flusher>, Rc<Cell<usize>>) {
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let mut cacher = Cacher::new(fields, WindowBounds::default(), Indexes::default(), Instant::START);
        let (id, _) = cacher.watching().register(&WatchOptions::default());
        let interval = (1..=1200).map(|version| WatchEvent::bookmark(Version::from(version), false)).collect();
        cacher.dispatcher_mut().start(id, Beginning { interval, ..Beginning::default() }, Instant::START);
        cacher.dispatcher_mut().demand(id, Demand::All);
        let cacher = Rc::new(RefCell::new(cacher));
        let flusher = Flusher::new(cacher.clone(), Share::new(cacher), time.clone());
        let told = Rc::new(Cell::new(0));
        let counted = told.clone();
        flusher.tell(move |flush| counted.set(counted.get() + flush.outbox.events.len()));
        (flusher, told)
    }

    #[test]
    fn what_a_flush_leaves_over_follows_until_nothing_is_left() {
        let time = VirtualTime::new(1);
        let (flusher, told) = overfull(&time);
        assert!(flusher.flush());
        assert_eq!((told.get(), time.tasks()), (500, 1));
        time.run_until_idle();
        assert_eq!((told.get(), time.tasks()), (1200, 0));
    }

    #[test]
    fn one_that_is_dropped_leaves_no_task() {
        let time = VirtualTime::new(1);
        let (flusher, told) = overfull(&time);
        flusher.flush();
        drop(flusher);
        time.run_until_idle();
        assert_eq!((told.get(), time.tasks()), (500, 0), "nobody is told by one that is gone");
    }
}
