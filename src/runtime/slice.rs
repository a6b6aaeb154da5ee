//! How long work goes on before the host runs: input, painting, other tasks.

use std::cell::Cell;

use super::host::Runtime;
use crate::time::{Instant, Millis};

/// The most work between two turns of the host, in milliseconds: a third of a frame of the screen.
pub const MAX_SLICE_MS: Millis = 5;

/// A wait that is no longer may have been a microtask's, in which a host does nothing else.
const MAX_MICROTASK_MS: Millis = 1;

/// What tasks that feed each other have worked since the host had its turn.
///
/// Awaiting does not yield to the host: a ready future resumes in a microtask, and browsers run all of those first, without input or
/// painting. So short waits count as work. Longer waits do not count, but they end no slice either: only [`Self::rest`] is sure to let the
/// host run.
#[derive(Debug)]
pub struct Slice {
    worked: Cell<Millis>,
    seen: Cell<Instant>,
    /// Turns that the host had.
    turns: Cell<u64>,
}

impl Slice {
    /// Nothing is worked yet, at this time.
    pub fn new(now: Instant) -> Self {
        Self { worked: Cell::new(0), seen: Cell::new(now), turns: Cell::new(0) }
    }

    /// There was work up to now. Whether it is the host's turn.
    pub fn worked(&self, now: Instant) -> bool {
        self.worked.set(self.worked.get() + self.step(now));
        self.worked.get() >= MAX_SLICE_MS
    }

    /// Up to now there was nothing to do.
    pub fn waited(&self, now: Instant) {
        let wait = self.step(now);
        if wait <= MAX_MICROTASK_MS {
            self.worked.set(self.worked.get() + wait);
        }
    }

    /// Gives the host its turn: input, painting, other tasks.
    pub async fn rest(&self, runtime: &dyn Runtime) {
        let turn = self.turns.get();
        runtime.yield_now().await;
        // When several rest, the turn was one for all of them, and the first may have worked since.
        if self.turns.get() == turn {
            self.turns.set(turn + 1);
            self.worked.set(0);
            self.seen.set(runtime.now());
        }
    }

    fn step(&self, now: Instant) -> Millis {
        now.since(self.seen.replace(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::time::at;
    use futures::future::join;

    #[test]
    fn work_adds_up_to_the_hosts_turn() {
        let slice = Slice::new(at(100));
        assert!(!slice.worked(at(103)));
        assert!(!slice.worked(at(104)));
        assert!(slice.worked(at(105)));
        assert!(slice.worked(at(105)), "until the host has had it");
    }

    #[test]
    fn short_waits_are_work_and_longer_ones_are_not() {
        let slice = Slice::new(Instant::START);
        for now in 1..=4 {
            slice.waited(at(now));
            assert!(!slice.worked(at(now)));
        }
        slice.waited(at(1000));
        assert!(!slice.worked(at(1000)));
        assert!(slice.worked(at(1001)), "nor do they end the slice");
    }

    #[test]
    fn after_the_hosts_turn_it_begins_anew() {
        let time = VirtualTime::new(0);
        let slice = Slice::new(Instant::START);
        assert!(slice.worked(at(7)));
        time.run_until(slice.rest(&*time));
        assert!(!slice.worked(at(4)));
    }

    #[test]
    fn who_rested_with_others_takes_no_work_of_theirs_for_rest() {
        let time = VirtualTime::new(0);
        let slice = Slice::new(Instant::START);
        assert!(slice.worked(at(7)));
        let first = async {
            slice.rest(&*time).await;
            assert!(slice.worked(time.now() + 6));
        };
        time.run_until(join(first, slice.rest(&*time)));
        assert!(slice.worked(time.now() + 6));
    }
}
