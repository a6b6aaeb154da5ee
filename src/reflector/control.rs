//! What users ask of a running reflector, and how every one of its waits listens to it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::liveness::Watchdog;
use crate::runtime::slice::Slice;
use crate::runtime::{Millis, SharedRuntime};

/// How many frames pass between two looks at the clock: each crosses into JavaScript, and a frame takes some tens of microseconds.
const FRAMES_A_LOOK: u32 = 8;

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

    /// Goes on after a pause, from the last version. Also ends a wait between tries at once, unless that was asked for too often, and looks
    /// whether an open connection has been silent for too long: for when the page becomes visible, the network is back, or somebody says "now".
    pub fn resume(&self) {
        self.control.paused.set(false);
        self.control.woken.set(true);
        self.control.wake();
    }

    /// Lists anew, now; its end is the next `Replace`. A list that is under way counts as the answer, and while paused it
    /// is done when the pause ends. A wait between tries it ends as [`Self::resume`] does.
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
        self.control.closed.set(true);
        self.control.wake();
    }

    /// The time before the host's turn, which it shares with whoever takes its messages.
    pub fn slice(&self) -> Rc<Slice> {
        self.slice.clone()
    }
}

/// So many tries within `HASTE_MS` may come before their time, whoever asks for them.
const HASTES: usize = 3;
const HASTE_MS: Millis = 60_000;

/// When waits were cut short because somebody asked for it. Who asks at each failure would otherwise make a loop of it.
#[derive(Default)]
pub struct Hastes(VecDeque<Millis>);

impl Hastes {
    /// Notes one more. Where that is too much: when there is room again.
    pub fn take(&mut self, now: Millis) -> Result<(), Millis> {
        if self.0.len() == HASTES {
            let room = self.0[0].saturating_add(HASTE_MS);
            if now < room {
                return Err(room);
            }
            self.0.pop_front();
        }
        self.0.push_back(now);
        Ok(())
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
    pub(super) closed: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Control {
    fn wake(&self) {
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The reflector was closed, or nobody listens to it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// Why a wait ended before what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Closed,
    /// Paused, refreshed or woken: whichever of them the wait listens to.
    Asked,
    /// The watchdog expired.
    Deadline,
}

/// What a wait listens to, beside the close.
#[derive(Clone, Copy)]
pub(super) struct Listen {
    pause: bool,
    pub(super) refresh: bool,
    wake: bool,
}

impl Listen {
    /// A message is being handed over: it must not be torn.
    pub(super) const SENDING: Self = Self { pause: false, refresh: false, wake: false };
    /// A list is under way: it is the answer to a refresh.
    pub(super) const LISTING: Self = Self { pause: true, refresh: false, wake: false };
    /// A watch is opening or open.
    pub(super) const WATCHING: Self = Self { pause: true, refresh: true, wake: false };
    /// Between tries.
    pub(super) const WAITING: Self = Self { pause: true, refresh: true, wake: true };
    /// Between tries, where the next one was asked for too often.
    pub(super) const WAITING_DEAF: Self = Self { pause: true, refresh: false, wake: false };
}

/// The runtime, and the user's wishes.
pub(super) struct Host {
    pub(super) runtime: SharedRuntime,
    pub(super) control: Rc<Control>,
    pub(super) slice: Rc<Slice>,
    frames: Cell<u32>,
}

impl Host {
    pub(super) fn new(runtime: SharedRuntime, control: Rc<Control>) -> Self {
        let slice = Rc::new(Slice::new(runtime.now()));
        Self { runtime, control, slice, frames: Cell::new(0) }
    }

    pub(super) fn now(&self) -> Millis {
        self.runtime.now()
    }

    /// The time, as of this turn.
    pub(super) fn recent(&self) -> Millis {
        self.runtime.recent()
    }

    /// Waits for the future, unless something comes before it.
    pub(super) async fn until<F: Future>(&self, listen: Listen, mut watchdog: Option<&mut Watchdog>, future: F) -> Result<F::Output, Stop> {
        let mut future = pin!(future);
        let mut waited = false;
        poll_fn(|cx| {
            let control = &self.control;
            if control.closed.get() {
                return Poll::Ready(Err(Stop::Closed));
            }
            if listen.pause && control.paused.get() || listen.refresh && control.refresh.get() || listen.wake && control.woken.get() {
                return Poll::Ready(Err(Stop::Asked));
            }
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                if waited {
                    self.slice.waited(self.recent());
                }
                return Poll::Ready(Ok(output));
            }
            if let Some(watchdog) = watchdog.as_deref_mut()
                && watchdog.poll_expired(&*self.runtime, cx).is_ready()
            {
                return Poll::Ready(Err(Stop::Deadline));
            }
            waited = true;
            self.park(cx);
            Poll::Pending
        })
        .await
    }

    /// Waits until nobody pauses it any more.
    pub(super) async fn unpaused(&self) -> Result<(), Closed> {
        poll_fn(|cx| {
            if self.control.closed.get() {
                return Poll::Ready(Err(Closed));
            }
            if !self.control.paused.get() {
                return Poll::Ready(Ok(()));
            }
            self.park(cx);
            Poll::Pending
        })
        .await
    }

    /// A frame was taken. Data that is always ready must not starve timers and input.
    pub(super) async fn pace(&self) {
        self.frames.set(self.frames.get().wrapping_add(1));
        if self.frames.get().is_multiple_of(FRAMES_A_LOOK) {
            self.give_way().await;
        }
    }

    /// Something longer than a frame was taken: lets the host have its turn when it is time.
    pub(super) async fn give_way(&self) {
        if self.slice.worked(self.now()) {
            self.slice.rest(&*self.runtime).await;
        }
    }

    fn park(&self, cx: &Context<'_>) {
        *self.control.waker.borrow_mut() = Some(cx.waker().clone());
    }
}
