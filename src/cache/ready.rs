//! Whether the cacher can answer: Pending, Ready or Stopped, with who waits for it.

use futures::channel::oneshot;

use crate::cache::waiters;
use crate::status::{Error, Status};
use crate::time::{Instant, Millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    Pending,
    Ready,
    Stopped,
}

/// The readiness of a cacher. Ready once a list is applied; pending again when a round of list and watch ended; stopped for good.
#[derive(Debug)]
pub struct Ready {
    readiness: Readiness,
    generation: u64,
    changed_at: Instant,
    last_error: Option<String>,
    waiters: Vec<oneshot::Sender<()>>,
}

impl Ready {
    /// Pending, since now.
    pub fn new(now: Instant) -> Self {
        Self { readiness: Readiness::Pending, generation: 0, changed_at: now, last_error: None, waiters: Vec::new() }
    }

    /// A list was applied. Only the step from not ready to ready begins a generation; being ready again changes nothing.
    pub fn set_ready(&mut self, now: Instant) {
        if self.readiness == Readiness::Stopped {
            return;
        }
        self.last_error = None;
        if self.readiness == Readiness::Pending {
            self.readiness = Readiness::Ready;
            self.generation += 1;
            self.changed_at = now;
            self.wake();
        }
    }

    /// The round ended. The error is kept for the answers given meanwhile. The next list begins another generation.
    pub fn set_error(&mut self, error: Option<&Error>, now: Instant) {
        if self.readiness == Readiness::Stopped {
            return;
        }
        self.last_error = error.map(|error| error.message.clone());
        if self.readiness == Readiness::Ready {
            self.readiness = Readiness::Pending;
            self.changed_at = now;
        }
    }

    /// What is waited for will not come for now. Wakes whoever waits, to decide anew whether to.
    pub fn refused(&mut self) {
        self.wake();
    }

    /// The cacher is closed. Wakes whoever waits.
    pub fn stop(&mut self, now: Instant) {
        if self.readiness != Readiness::Stopped {
            self.readiness = Readiness::Stopped;
            self.changed_at = now;
            self.wake();
        }
    }

    /// Ok when ready; else the 429 that an apiserver gives, with its Retry-After, or that the cache is closed.
    pub fn check(&self, now: Instant) -> Result<(), Error> {
        match self.readiness {
            Readiness::Ready => Ok(()),
            Readiness::Stopped => Err(Error::closed()),
            Readiness::Pending => {
                let message = match &self.last_error {
                    Some(error) => format!("storage is (re)initializing: {error}"),
                    None => "storage is (re)initializing".to_string(),
                };
                Err(Status::too_many_requests(message, retry_after_seconds(self.downtime(now))).into())
            }
        }
    }

    /// Completes (or is cancelled) when the state changes, or what changes it was refused; the caller then checks again. `None` when there is nothing to wait for.
    pub fn wait(&mut self) -> Option<oneshot::Receiver<()>> {
        if self.readiness != Readiness::Pending {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        waiters::add(&mut self.waiters, sender, oneshot::Sender::is_canceled);
        Some(receiver)
    }

    /// How often it became ready. A registration that began in one generation must not complete in another.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether it is ready now.
    pub fn is_ready(&self) -> bool {
        self.readiness == Readiness::Ready
    }

    /// Whether it is stopped.
    pub fn is_stopped(&self) -> bool {
        self.readiness == Readiness::Stopped
    }

    /// Milliseconds since the last change of state.
    pub fn downtime(&self, now: Instant) -> Millis {
        now.since(self.changed_at)
    }

    fn wake(&mut self) {
        for waiter in self.waiters.drain(..) {
            let _gone = waiter.send(());
        }
    }
}

/// Seconds after which a client should ask a cacher again that has been down for this long: e^(0.06·seconds), between 1 and 30.
fn retry_after_seconds(downtime: Millis) -> u32 {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let seconds = (downtime as f64 / 1000.0 * 0.06).exp().clamp(1.0, 30.0) as u32;
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::time::at;

    fn message(ready: &Ready) -> String {
        ready.check(Instant::START).unwrap_err().message
    }

    #[test]
    fn rdy_01_a_new_cacher_is_initializing() {
        let ready = Ready::new(Instant::START);
        assert_eq!(message(&ready), "storage is (re)initializing");
        assert_eq!(ready.generation(), 0);
    }

    fn ready_after_errors() -> Ready {
        let mut ready = Ready::new(Instant::START);
        for _ in 0..3 {
            ready.set_error(Some(&Error::network("etcd is down")), Instant::START);
        }
        for _ in 0..3 {
            ready.set_ready(Instant::START);
        }
        ready
    }

    #[test]
    fn rdy_02_only_a_change_to_ready_counts_a_generation() {
        let ready = ready_after_errors();
        assert_eq!((ready.check(Instant::START).is_ok(), ready.generation()), (true, 1));
    }

    #[test]
    fn rdy_03_after_an_error_the_next_list_begins_another_generation() {
        let mut ready = ready_after_errors();
        ready.set_error(Some(&Error::network("etcd is down")), Instant::START);
        assert_eq!((ready.check(Instant::START).is_ok(), ready.generation()), (false, 1));
        ready.set_ready(Instant::START);
        assert_eq!((ready.check(Instant::START).is_ok(), ready.generation()), (true, 2));
    }

    #[test]
    fn rdy_04_all_who_wait_are_woken_when_it_becomes_ready() {
        let mut ready = Ready::new(Instant::START);
        let mut waiters: Vec<_> = (0..10).map(|_| ready.wait().unwrap()).collect();
        assert!(waiters.iter_mut().all(|waiter| waiter.try_recv() == Ok(None)));
        ready.set_ready(at(1));
        assert!(waiters.iter_mut().all(|waiter| waiter.try_recv() == Ok(Some(()))));
        assert!(ready.wait().is_none());
    }

    #[test]
    fn rdy_05_all_who_wait_are_woken_by_a_stop_and_see_it() {
        let mut ready = Ready::new(Instant::START);
        let mut waiters: Vec<_> = (0..10).map(|_| ready.wait().unwrap()).collect();
        ready.stop(at(1));
        assert!(waiters.iter_mut().all(|waiter| waiter.try_recv() == Ok(Some(()))));
        assert_eq!(ready.check(at(1)).unwrap_err().code, ErrorCode::Closed);
        ready.set_ready(at(2));
        assert!(ready.is_stopped(), "nothing revives a stopped cacher");
    }

    /// Whoever cancels drops the wait: in one thread there is nobody left to be told, and nothing may be kept for it.
    #[test]
    fn rdy_06_a_waiter_that_went_away_is_not_kept() {
        let mut ready = Ready::new(Instant::START);
        for _ in 0..10 {
            drop(ready.wait());
        }
        let _kept = ready.wait();
        assert_eq!(ready.waiters.len(), 1);
    }

    #[test]
    fn rdy_08_the_last_error_is_told_and_forgotten() {
        let mut ready = Ready::new(Instant::START);
        ready.set_error(Some(&Error::network("etcd is down")), Instant::START);
        assert_eq!(message(&ready), "storage is (re)initializing: etcd is down");
        ready.set_error(None, Instant::START);
        assert_eq!(message(&ready), "storage is (re)initializing");
    }

    #[test]
    fn rdy_09_downtime_counts_from_the_last_change_of_state() {
        const MINUTE: Millis = 60_000;
        let mut ready = Ready::new(Instant::START);
        assert_eq!(ready.downtime(at(MINUTE)), MINUTE);
        ready.set_ready(at(MINUTE));
        assert_eq!(ready.downtime(at(2 * MINUTE)), MINUTE);
        ready.set_ready(at(2 * MINUTE));
        assert_eq!(ready.downtime(at(3 * MINUTE)), 2 * MINUTE);
        ready.set_error(None, at(3 * MINUTE));
        assert_eq!(ready.downtime(at(4 * MINUTE)), MINUTE);
        ready.set_error(None, at(4 * MINUTE));
        assert_eq!(ready.downtime(at(5 * MINUTE)), 2 * MINUTE);
        ready.stop(at(5 * MINUTE));
        ready.stop(at(6 * MINUTE));
        assert_eq!(ready.downtime(at(7 * MINUTE)), 2 * MINUTE);
    }

    #[test]
    fn rdy_10_retry_after_grows_with_downtime_from_1_to_30() {
        let table = [(0, 1), (1, 1), (3, 1), (5, 1), (7, 1), (10, 1), (14, 2), (20, 3), (30, 6), (40, 11), (540, 30)];
        for (seconds, expected) in table {
            assert_eq!(retry_after_seconds(seconds * 1000), expected, "{seconds} s");
        }
    }
}
