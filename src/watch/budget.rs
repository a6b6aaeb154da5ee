//! The time that slow watchers may cost all others.

use crate::time::{Instant, Millis};

/// A budget that refills with 50 ms for each second that passes. Whoever waits takes all of it and gives back the rest.
#[derive(Debug)]
pub struct TimeBudget {
    available: f64,
    max: f64,
    last: Instant,
}

/// Milliseconds earned for each that passes, as in the apiserver.
const REFILL_PER_MS: f64 = 0.05;

impl TimeBudget {
    /// An empty budget, which fills from now on and holds at most `max` milliseconds.
    pub fn new(now: Instant, max: Millis) -> Self {
        #[allow(clippy::cast_precision_loss)]
        Self { available: 0.0, max: max as f64, last: now }
    }

    /// Takes all there is, in milliseconds.
    pub fn take(&mut self, now: Instant) -> f64 {
        #[allow(clippy::cast_precision_loss)]
        let earned = now.since(self.last) as f64 * REFILL_PER_MS; // nothing when the clock went backwards
        self.available = (self.available + earned).min(self.max);
        self.last = now;
        std::mem::take(&mut self.available)
    }

    /// Gives back what was not used. A debt is forgiven.
    pub fn give_back(&mut self, unused: f64) {
        self.available = (self.available + unused.max(0.0)).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::at;

    #[test]
    fn tbg_01_refill_maximum_return_and_a_clock_that_goes_backwards() {
        let mut now = 1_000_000;
        let mut budget = TimeBudget::new(at(now), 200);
        let take = |budget: &mut TimeBudget, now: Instant| budget.take(now).round() as i64;
        assert_eq!(take(&mut budget, at(now)), 0);
        now += 10_000;
        assert_eq!(take(&mut budget, at(now)), 200);
        now += 2_000;
        assert_eq!(take(&mut budget, at(now)), 100);
        budget.give_back(50.0);
        assert_eq!(take(&mut budget, at(now)), 50);
        budget.give_back(-0.00005);
        assert_eq!(take(&mut budget, at(now)), 0);
        now -= 120_000;
        assert_eq!(take(&mut budget, at(now)), 0);
        now += 600_000;
        assert_eq!(take(&mut budget, at(now)), 200);
        budget.give_back(10_000.0);
        now -= 120_000;
        assert_eq!(take(&mut budget, at(now)), 200);
    }

    #[test]
    fn law_10_deadline_a_budget_fills_with_the_time_that_passed_however_often_it_is_asked() {
        let earned = |looks: u64| {
            let mut budget = TimeBudget::new(Instant::START, 200);
            let taken: f64 = (1..=looks).map(|look| budget.take(at(look * 2_000 / looks))).sum();
            taken.round() as i64
        };
        assert_eq!([1, 2, 10, 2_000].map(earned), [100; 4]);
    }
}
