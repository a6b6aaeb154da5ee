//! What users ask of a running reflector.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use crate::runtime::Task;
use crate::runtime::slice::Slice;

/// Controls a running [`super::Reflector`]. Cheap to clone; dropping it changes nothing.
#[derive(Clone)]
pub struct ReflectorHandle {
    pub(super) control: Rc<Control>,
    pub(super) slice: Rc<Slice>,
}

impl ReflectorHandle {
    /// Gives up the connection and holds still. What was read stays.
    pub fn pause(&self) {
        self.control.paused.set(true);
        self.control.wake();
    }

    /// Goes on after a pause, from the last version.
    ///
    /// It also ends a wait between tries at once, unless it was called too often. It checks whether an open connection has been
    /// silent for too long. Call it when the page becomes visible, when the network is back, or when somebody says "now".
    pub fn resume(&self) {
        self.control.paused.set(false);
        self.control.woken.set(true);
        self.control.wake();
    }

    /// Somebody has come who may be able to say who asks. A wait between tries ends, and no early try is counted: it is news, and no impatience.
    /// A server that is away is waited for as before.
    pub fn signed_in(&self) {
        self.control.signed_in.set(true);
        self.control.wake();
    }

    /// Lists anew, now; its end is the next `Replace`. A list that is under way counts as the answer, and while paused it is done when the
    /// pause ends. A wait between tries it ends as [`Self::resume`] does.
    pub fn refresh(&self) {
        self.control.refresh.set(true);
        self.control.wake();
    }

    /// Lists anew, as [`Self::refresh`], and takes the list whatever its version: for who knows that the server was reset to lower ones.
    pub fn reset(&self) {
        self.control.reset.set(true);
        self.refresh();
    }

    /// Ends the reflector for good: the connection is given up, and its channel ends.
    pub fn close(&self) {
        self.control.close();
    }

    /// The time before the host's turn, which it shares with whoever takes its messages.
    pub fn slice(&self) -> Rc<Slice> {
        self.slice.clone()
    }
}

/// The flags that the handle sets. They are levels, not events: what is asked twice before it is seen is done once.
#[derive(Default)]
pub(super) struct Control {
    pub(super) paused: Cell<bool>,
    pub(super) refresh: Cell<bool>,
    /// The next list is taken whatever its version.
    pub(super) reset: Cell<bool>,
    pub(super) woken: Cell<bool>,
    /// Until the next wait between tries, which it ends: a try that is under way may have asked others.
    pub(super) signed_in: Cell<bool>,
    closed: Cell<bool>,
    task: RefCell<Option<Task>>,
    waker: RefCell<Option<Waker>>,
}

impl Control {
    /// Whether somebody pauses or refreshes.
    pub(super) fn asks(&self) -> bool {
        self.paused.get() || self.refresh.get()
    }

    /// This is the task that runs the reflector.
    pub(super) fn runs_in(&self, task: Task) {
        if !self.closed.get() {
            *self.task.borrow_mut() = Some(task);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Ends the task, which drops all that the reflector holds.
    pub(super) fn close(&self) {
        self.closed.set(true);
        let _ended = self.task.take();
    }

    /// Has the task run again when one of the flags changes.
    pub(super) fn park(&self, cx: &Context<'_>) {
        *self.waker.borrow_mut() = Some(cx.waker().clone());
    }

    fn wake(&self) {
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
