//! Flushes: what happened is collected, and told afterwards with nothing borrowed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;

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
    flushing: Cell<bool>,
}

impl Flusher {
    /// Tells nobody yet.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) -> Rc<Self> {
        Rc::new(Self { cacher, share, runtime, hook: RefCell::default(), planned: SingleTask::default(), flushing: Cell::default() })
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
            let this = self.clone();
            self.runtime.spawn(
                async move {
                    this.runtime.yield_now().await;
                    this.flush();
                }
                .boxed_local(),
            );
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
