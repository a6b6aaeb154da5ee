//! Deadlines that are kept by the clock, however late the timers are.

use std::task::{Context, Poll};

use futures::future::LocalBoxFuture;

use crate::runtime::{Millis, Runtime};

/// Expires when it has not been fed for its limit.
///
/// The timer is armed once and looks at the clock when it fires, so that feeding costs nothing; and whoever polls after a
/// sleep of the machine learns of the deadline at once, even when the timer has not fired yet.
pub(super) struct Watchdog {
    limit: Option<Millis>,
    fed: Millis,
    /// Fed since the clock was last asked.
    fresh: bool,
    expired: bool,
    timer: Option<LocalBoxFuture<'static, ()>>,
}

impl Watchdog {
    /// Starts now. Without a limit it never expires.
    pub(super) fn new(limit: Option<Millis>, now: Millis) -> Self {
        Self { limit, fed: now, fresh: true, expired: false, timer: None }
    }

    pub(super) fn feed(&mut self, now: Millis) {
        self.fed = now;
        self.fresh = true;
        self.expired = false;
    }

    /// Whether it was seen to expire, and not fed since.
    pub(super) fn is_expired(&self) -> bool {
        self.expired
    }

    pub(super) fn poll_expired(&mut self, runtime: &dyn Runtime, cx: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = self.limit else { return Poll::Pending };
        loop {
            let deadline = self.fed.saturating_add(limit);
            // Fed in this very turn, mostly: the clock need not be asked again.
            let now = if std::mem::take(&mut self.fresh) { self.fed } else { runtime.recent() };
            if now >= deadline {
                self.expired = true;
                return Poll::Ready(());
            }
            let timer = self.timer.get_or_insert_with(|| runtime.sleep(deadline - now));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.timer = None; // it was armed for an earlier deadline, or the host's timers are early
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;
    use crate::runtime::virtual_time::VirtualTime;
    use std::cell::RefCell;
    use std::future::poll_fn;
    use std::rc::Rc;

    #[test]
    fn it_expires_one_limit_after_the_last_feed() {
        let time = VirtualTime::new(0);
        let dog = Rc::new(RefCell::new(Watchdog::new(Some(100), time.now())));
        let (fed, clock) = (dog.clone(), time.clone());
        crate::runtime::Spawn::spawn(
            &*time,
            Box::pin(async move {
                for _ in 0..5 {
                    crate::runtime::Timer::sleep(&*clock, 60).await;
                    fed.borrow_mut().feed(clock.now());
                }
            }),
        );
        time.run_until(poll_fn(|cx| dog.borrow_mut().poll_expired(&*time, cx)));
        assert_eq!(time.now(), 400);
    }

    #[test]
    fn after_a_sleep_it_is_expired_before_its_timer_fires() {
        let time = VirtualTime::new(0);
        let mut dog = Watchdog::new(Some(100), time.now());
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(dog.poll_expired(&*time, &mut cx).is_pending());
        time.suspend(3_600_000);
        assert!(dog.poll_expired(&*time, &mut cx).is_ready());
    }

    #[test]
    fn without_a_limit_it_never_expires() {
        let time = VirtualTime::new(0);
        let mut dog = Watchdog::new(None, 0);
        time.suspend(Millis::MAX / 2);
        assert!(dog.poll_expired(&*time, &mut Context::from_waker(std::task::Waker::noop())).is_pending());
    }
}
