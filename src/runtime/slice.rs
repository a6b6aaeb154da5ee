//! How long work goes on before the host has its turn.

use std::cell::Cell;

use super::{Millis, Runtime};

/// The most work between two turns of the host, in milliseconds: a third of a frame of the screen.
pub const SLICE_MS: Millis = 5;

/// A wait that is no longer may have been a microtask's, in which a host does nothing else.
const MICROTASK_MS: Millis = 1;

/// What tasks that feed each other have worked since the host had its turn.
///
/// That a task waited says nothing about the host: what is there already comes with a microtask, and browsers run microtasks until there are
/// none, with no input and no painting between them. So short waits count as work. Longer ones do not, but end no slice either, because only
/// [`Self::rest`] is sure to have given the host its turn.
#[derive(Debug)]
pub struct Slice {
    worked: Cell<Millis>,
    seen: Cell<Millis>,
    /// Turns that the host had.
    turns: Cell<u64>,
}

impl Slice {
    /// Nothing is worked yet, at this time.
    pub fn new(now: Millis) -> Self {
        Self { worked: Cell::new(0), seen: Cell::new(now), turns: Cell::new(0) }
    }

    /// Up to now there was work; whether it is the host's turn.
    pub fn worked(&self, now: Millis) -> bool {
        self.worked.set(self.worked.get() + self.step(now));
        self.worked.get() >= SLICE_MS
    }

    /// Up to now there was nothing to do.
    pub fn waited(&self, now: Millis) {
        let wait = self.step(now);
        if wait <= MICROTASK_MS {
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

    fn step(&self, now: Millis) -> Millis {
        now.saturating_sub(self.seen.replace(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;
    use crate::runtime::virtual_time::VirtualTime;
    use futures::future::join;

    #[test]
    fn work_adds_up_to_the_hosts_turn() {
        let slice = Slice::new(100);
        assert!(!slice.worked(103));
        assert!(!slice.worked(104));
        assert!(slice.worked(105));
        assert!(slice.worked(105), "until the host has had it");
    }

    #[test]
    fn short_waits_are_work_and_longer_ones_are_not() {
        let slice = Slice::new(0);
        for now in 1..=4 {
            slice.waited(now);
            assert!(!slice.worked(now));
        }
        slice.waited(1000);
        assert!(!slice.worked(1000));
        assert!(slice.worked(1001), "nor do they end the slice");
    }

    #[test]
    fn after_the_hosts_turn_it_begins_anew() {
        let time = VirtualTime::new(0);
        let slice = Slice::new(0);
        assert!(slice.worked(7));
        time.run_until(slice.rest(&*time));
        assert!(!slice.worked(4));
    }

    #[test]
    fn who_rested_with_others_takes_no_work_of_theirs_for_rest() {
        let time = VirtualTime::new(0);
        let slice = Slice::new(0);
        assert!(slice.worked(7));
        let first = async {
            slice.rest(&*time).await;
            assert!(slice.worked(time.now() + 6));
        };
        time.run_until(join(first, slice.rest(&*time)));
        assert!(slice.worked(time.now() + 6));
    }
}
