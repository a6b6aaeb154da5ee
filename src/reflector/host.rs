//! The runtime and the user's wishes: every wait of a reflector listens to both.

use std::cell::{Cell, RefCell, RefMut};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use super::handle::Control;
use super::liveness::Watchdog;
use crate::runtime::SharedRuntime;
use crate::runtime::slice::Slice;
use crate::time::Instant;

/// Frames between two readings of the clock. A reading is a call into the host, and a frame takes some tens of microseconds.
const MAX_UNTIMED_FRAMES: u32 = 8;

/// Why a wait ended before what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Paused, refreshed, woken or signed in: whichever of them the wait listens to.
    Asked,
    /// The watchdog expired.
    Deadline,
}

/// Somebody paused or refreshed: what was to be done is not what is wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked;

/// What a wait listens to.
#[derive(Clone, Copy)]
pub(super) struct Listen {
    pause: bool,
    pub(super) refresh: bool,
    wake: bool,
    news: bool,
}

impl Listen {
    /// A message is being handed over: it must not be torn.
    pub(super) const SENDING: Self = Self { pause: false, refresh: false, wake: false, news: false };
    /// A list is under way: it is the answer to a refresh.
    pub(super) const LISTING: Self = Self { pause: true, refresh: false, wake: false, news: false };
    /// A watch is opening or open.
    pub(super) const WATCHING: Self = Self { pause: true, refresh: true, wake: false, news: false };
    /// A watch has not opened for a while.
    pub(super) const OPENING: Self = Self { pause: true, refresh: true, wake: true, news: false };
    /// Between tries.
    pub(super) const WAITING: Self = Self { pause: true, refresh: true, wake: true, news: true };
    /// Between tries, where the next one was asked for too often.
    pub(super) const WAITING_DEAF: Self = Self { pause: true, refresh: false, wake: false, news: true };

    /// The same, which hears of who signs in, or does not.
    pub(super) const fn hearing_news(self, news: bool) -> Self {
        Self { news, ..self }
    }
}

/// The runtime, the user's wishes, and chance.
pub(super) struct Host {
    pub(super) runtime: SharedRuntime,
    pub(super) control: Rc<Control>,
    pub(super) slice: Rc<Slice>,
    random: RefCell<fastrand::Rng>,
    frames: Cell<u32>,
}

impl Host {
    pub(super) fn new(runtime: SharedRuntime, seed: u64) -> Self {
        let slice = Rc::new(Slice::new(runtime.now()));
        let random = RefCell::new(fastrand::Rng::with_seed(seed));
        Self { runtime, control: Rc::default(), slice, random, frames: Cell::new(0) }
    }

    pub(super) fn now(&self) -> Instant {
        self.runtime.now()
    }

    /// The time, as of this poll.
    pub(super) fn recent(&self) -> Instant {
        self.runtime.recent()
    }

    pub(super) fn random(&self) -> RefMut<'_, fastrand::Rng> {
        self.random.borrow_mut()
    }

    /// Waits for the future, unless something comes before it.
    pub(super) async fn until<F: Future>(&self, listen: Listen, watchdog: Option<&Watchdog>, future: F) -> Result<F::Output, Stop> {
        let mut future = pin!(future);
        let mut waited = false;
        poll_fn(|cx| {
            let control = &self.control;
            if control.is_closed() {
                return Poll::Pending; // the task is dropped behind this poll
            }
            let asked = listen.pause && control.paused.get() || listen.refresh && control.refresh.get();
            if asked || listen.wake && control.woken.get() || listen.news && control.signed_in.get() {
                return Poll::Ready(Err(Stop::Asked));
            }
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                if waited {
                    self.slice.waited(self.recent());
                }
                return Poll::Ready(Ok(output));
            }
            if watchdog.is_some_and(|watchdog| watchdog.poll_expired(&*self.runtime, cx).is_ready()) {
                return Poll::Ready(Err(Stop::Deadline));
            }
            waited = true;
            control.park(cx);
            Poll::Pending
        })
        .await
    }

    /// Waits until nobody pauses it any more.
    pub(super) async fn unpaused(&self) {
        poll_fn(|cx| {
            if !self.control.paused.get() {
                return Poll::Ready(());
            }
            self.control.park(cx);
            Poll::Pending
        })
        .await;
    }

    /// A frame was taken. Data that is always ready must not starve timers and input.
    pub(super) async fn took_frame(&self) {
        self.frames.set(self.frames.get().wrapping_add(1));
        if self.frames.get().is_multiple_of(MAX_UNTIMED_FRAMES) {
            self.give_way().await;
        }
    }

    /// Something longer than a frame was taken: lets the host have its turn when it is time.
    pub(super) async fn give_way(&self) {
        if self.slice.worked(self.now()) {
            self.slice.rest(&*self.runtime).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Timer;
    use crate::runtime::virtual_time::VirtualTime;
    use std::future::pending;

    #[test]
    fn a_wait_ends_by_what_it_listens_to_and_by_nothing_else() {
        for (listen, hears) in [
            (Listen::SENDING, [false, false, false, false]),
            (Listen::LISTING, [true, false, false, false]),
            (Listen::WATCHING, [true, true, false, false]),
            (Listen::OPENING, [true, true, true, false]),
            (Listen::WAITING, [true, true, true, true]),
            (Listen::WAITING_DEAF, [true, false, false, true]),
        ] {
            for (which, heard) in hears.into_iter().enumerate() {
                let time = VirtualTime::new(0);
                let host = Host::new(time.clone(), 0);
                let control = &host.control;
                [&control.paused, &control.refresh, &control.woken, &control.signed_in][which].set(true);
                let waited = time.run_until(host.until(listen, None, time.sleep(10)));
                assert_eq!((waited, time.elapsed()), if heard { (Err(Stop::Asked), 0) } else { (Ok(()), 10) }, "{which}");
            }
        }
    }

    #[test]
    fn behind_a_close_nothing_goes_on_even_in_the_poll_that_closes() {
        let time = VirtualTime::new(0);
        let host = Host::new(time.clone(), 0);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let mut waiting = pin!(host.until(Listen::SENDING, None, async { host.control.close() }));
        assert!(waiting.as_mut().poll(&mut cx).is_ready());
        let mut next = pin!(host.until(Listen::SENDING, None, async { unreachable!("it is closed") }));
        assert!(next.as_mut().poll(&mut cx).is_pending());
    }

    #[test]
    fn a_deadline_ends_a_wait_unless_what_is_waited_for_is_there() {
        let time = VirtualTime::new(0);
        let host = Host::new(time.clone(), 0);
        let dog = Watchdog::new(Some(50), Instant::START);
        assert_eq!(time.run_until(host.until(Listen::WATCHING, Some(&dog), pending::<()>())), Err(Stop::Deadline));
        assert_eq!(time.elapsed(), 50);
        assert_eq!(time.run_until(host.until(Listen::WATCHING, Some(&dog), async { 7 })), Ok(7));
    }

    #[test]
    fn frames_that_are_always_ready_leave_the_host_its_turn() {
        let time = VirtualTime::new(0);
        let host = Host::new(time.clone(), 0);
        time.suspend(100);
        let rested = std::cell::Cell::new(false);
        time.run_until(futures::future::join(
            async {
                for _ in 0..MAX_UNTIMED_FRAMES {
                    assert!(!rested.get(), "the clock is asked now and then only");
                    host.took_frame().await;
                }
                assert!(rested.get());
            },
            async { rested.set(true) },
        ));
    }
}
