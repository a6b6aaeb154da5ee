//! Deadlines that are kept by the clock, however late the timers are; and what the silence of a stream means for the next one.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll};

use futures::future::LocalBoxFuture;

use super::config::{MIN_WATCH_SECONDS, ReflectorConfig};
use crate::runtime::Runtime;
use crate::status::Error;
use crate::time::{Instant, Millis};

/// The last bookmark of a watch comes at most so long before its end: the apiserver aims at two seconds, and looks once a second.
const MAX_LAST_BOOKMARK_LEAD_MS: Millis = 5000;

/// Expires when it has not been fed for its limit.
///
/// The timer is armed once and looks at the clock when it fires, so feeding costs nothing. Whoever polls after a sleep of the machine
/// learns of the deadline at once, even when the timer has not fired yet.
pub(super) struct Watchdog {
    limit: Option<Millis>,
    fed: Cell<Instant>,
    /// Fed since the clock was last asked.
    just_fed: Cell<bool>,
    expired: Cell<bool>,
    timer: RefCell<Option<LocalBoxFuture<'static, ()>>>,
}

impl Watchdog {
    /// Starts now. Without a limit it never expires.
    pub(super) fn new(limit: Option<Millis>, now: Instant) -> Self {
        Self { limit, fed: Cell::new(now), just_fed: Cell::new(true), expired: Cell::new(false), timer: RefCell::new(None) }
    }

    pub(super) fn feed(&self, now: Instant) {
        self.fed.set(now);
        self.just_fed.set(true);
        self.expired.set(false);
    }

    /// Whether it was seen to expire, and not fed since.
    pub(super) fn is_expired(&self) -> bool {
        self.expired.get()
    }

    pub(super) fn poll_expired(&self, runtime: &dyn Runtime, cx: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = self.limit else { return Poll::Pending };
        let mut armed = self.timer.borrow_mut();
        loop {
            let deadline = self.fed.get().saturating_add(limit);
            // Fed in this very poll, mostly: the clock need not be asked again.
            let now = if self.just_fed.take() { self.fed.get() } else { runtime.recent() };
            if now >= deadline {
                self.expired.set(true);
                return Poll::Ready(());
            }
            let timer = armed.get_or_insert_with(|| runtime.sleep(deadline.since(now)));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            *armed = None; // it was armed for an earlier deadline, or the host's timers are early
        }
    }
}

/// How long a stream may be silent, and how long the next one is asked for.
pub(super) struct Liveness {
    idle_timeout_ms: Millis,
    watch_timeout_seconds: u32,
    /// The last watch was silent until it was given up.
    silent: Cell<bool>,
}

impl Liveness {
    pub(super) fn new(config: &ReflectorConfig) -> Self {
        let watch_timeout_seconds = config.watch_timeout_seconds.max(MIN_WATCH_SECONDS);
        Self { idle_timeout_ms: config.idle_timeout_ms, watch_timeout_seconds, silent: Cell::new(false) }
    }

    pub(super) fn watchdog(&self, now: Instant) -> Watchdog {
        Watchdog::new((self.idle_timeout_ms > 0).then_some(self.idle_timeout_ms), now)
    }

    /// Milliseconds until what began then is given up; `None`: never.
    pub(super) fn left(&self, began: Instant, now: Instant) -> Option<Millis> {
        (self.idle_timeout_ms > 0).then(|| began.saturating_add(self.idle_timeout_ms).since(now))
    }

    /// Whether what began then is given up.
    pub(super) fn is_over(&self, began: Instant, now: Instant) -> bool {
        self.left(began, now) == Some(0)
    }

    /// What it means that nothing came for so long.
    pub(super) fn silence(&self, what: &str) -> Error {
        Error::network(format!("{what} for {} s", self.idle_timeout_ms.div_ceil(1000)))
    }

    /// A watch was given up because nothing came of it any more.
    pub(super) fn given_up(&self, heard: bool) {
        self.silent.set(!heard);
    }

    /// A watch has brought something for the first time.
    pub(super) fn first_word(&self, opened: Instant, now: Instant) {
        // What comes late may be a server's last bookmark before the end, out of the buffer of a proxy.
        let patient = self.idle_timeout_ms * 2 / 3;
        self.silent.set(self.silent.get() && now.since(opened) + MAX_LAST_BOOKMARK_LEAD_MS > patient);
    }

    /// `timeoutSeconds` of the next watch. Behind a silent one it is so short that the server ends the watch first. A proxy that holds back
    /// what a stream brings lets go of it then.
    pub(super) fn watch_timeout(&self, random: &mut fastrand::Rng) -> u32 {
        let min = self.watch_timeout_seconds;
        let drawn = random.u32(min..=min.saturating_mul(2));
        let patient = u32::try_from(self.idle_timeout_ms / 1500).unwrap_or(u32::MAX).max(1);
        if self.silent.get() { drawn.min(patient) } else { drawn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::time::at;
    use std::future::poll_fn;
    use std::rc::Rc;

    #[test]
    fn it_expires_one_limit_after_the_last_feed() {
        let time = VirtualTime::new(0);
        let dog = Rc::new(Watchdog::new(Some(100), time.now()));
        let (fed, clock) = (dog.clone(), time.clone());
        crate::runtime::Spawn::spawn(
            &*time,
            Box::pin(async move {
                for _ in 0..5 {
                    crate::runtime::Timer::sleep(&*clock, 60).await;
                    fed.feed(clock.now());
                }
            }),
        );
        time.run_until(poll_fn(|cx| dog.poll_expired(&*time, cx)));
        assert_eq!(time.elapsed(), 400);
    }

    #[test]
    fn after_a_sleep_it_is_expired_before_its_timer_fires() {
        let time = VirtualTime::new(0);
        let dog = Watchdog::new(Some(100), time.now());
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(dog.poll_expired(&*time, &mut cx).is_pending());
        time.suspend(3_600_000);
        assert!(dog.poll_expired(&*time, &mut cx).is_ready());
    }

    #[test]
    fn without_a_limit_it_never_expires() {
        let time = VirtualTime::new(0);
        let dog = Watchdog::new(None, Instant::START);
        time.suspend(Millis::MAX / 2);
        assert!(dog.poll_expired(&*time, &mut Context::from_waker(std::task::Waker::noop())).is_pending());
    }

    #[test]
    fn ref_13_behind_a_silent_watch_the_next_ones_are_short_until_one_speaks_before_its_end() {
        let liveness = Liveness::new(&ReflectorConfig::default());
        let mut random = fastrand::Rng::with_seed(1);
        let mut timeout = || liveness.watch_timeout(&mut random);
        assert!((300..=600).contains(&timeout()));
        liveness.given_up(true);
        assert!(timeout() >= 300, "it had said something");
        liveness.given_up(false);
        assert_eq!(timeout(), 60, "two thirds of the 90 seconds that a stream may be silent");
        liveness.first_word(Instant::START, at(56_000));
        assert_eq!(timeout(), 60, "that may be the last bookmark before the end");
        liveness.first_word(Instant::START, at(54_000));
        assert!(timeout() >= 300);
    }
}
