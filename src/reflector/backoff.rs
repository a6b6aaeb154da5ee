//! When to try again.

use crate::time::{Instant, Millis};

/// How waits between tries grow. The defaults are client-go's.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The first wait, in milliseconds, before jitter.
    pub initial_ms: Millis,
    /// How much longer each wait is than the one before.
    pub factor: f64,
    /// The longest wait, in milliseconds, before jitter.
    pub cap_ms: Millis,
    /// A wait is drawn from [d, d + jitter · d).
    pub jitter: f64,
    /// After a connection that held for so many milliseconds the waits begin anew.
    pub reset_after_ms: Millis,
}

impl Default for Retry {
    fn default() -> Self {
        Self { initial_ms: 800, factor: 2.0, cap_ms: 30_000, jitter: 1.0, reset_after_ms: 120_000 }
    }
}

impl Retry {
    /// Before a source that is near: waits are there so that no failure makes a loop, and not for a server's sake.
    pub(super) fn near() -> Self {
        Self { initial_ms: 100, cap_ms: 1_000, reset_after_ms: 1_000, ..Self::default() }
    }
}

/// What fails again and again waits at least so long, before jitter: no settings make a loop of it.
const MIN_WAIT_MS: f64 = 50.0;

/// The sequence of waits. Lists and watches share one, so a server in trouble is left alone whatever fails.
#[derive(Debug)]
pub(super) struct Backoff {
    retry: Retry,
    base: f64,
    /// No wait is shorter, whatever was asked for. It doubles as the waits do, up to [`MIN_WAIT_MS`].
    min_wait: f64,
    healthy_since: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(retry: Retry) -> Self {
        Self { base: retry.initial_ms as f64, min_wait: 1.0, retry, healthy_since: None }
    }

    /// A connection stands. Only the time that it holds counts for the reset: failures that take long are no health.
    pub(super) fn healthy(&mut self, now: Instant) {
        self.healthy_since.get_or_insert(now);
    }

    /// The next wait in milliseconds, never 0.
    pub(super) fn next(&mut self, now: Instant, random: &mut fastrand::Rng) -> Millis {
        if self.healthy_since.take().is_some_and(|since| now.since(since) >= self.retry.reset_after_ms) {
            (self.base, self.min_wait) = (self.retry.initial_ms as f64, 1.0);
        }
        let cap = self.retry.cap_ms as f64;
        let base = self.base.min(cap);
        self.base = (base * self.retry.factor.max(1.0)).min(cap);
        let base = base.max(self.min_wait);
        self.min_wait = (2.0 * self.min_wait).min(MIN_WAIT_MS);
        let wait = base * (1.0 + self.retry.jitter.max(0.0) * random.f64());
        (wait as Millis).max(1)
    }
}

/// How long internal errors of the server are answered by watching again, before a new list is needed.
#[derive(Debug)]
pub(super) struct RetryDeadline {
    limit: Millis,
    first: Option<Instant>,
    last: Instant,
}

/// After so long without an internal error the next one counts as the first, as in client-go.
const MIN_QUIET_MS: Millis = 60_000;

impl RetryDeadline {
    pub(super) fn new(limit: Millis) -> Self {
        Self { limit, first: None, last: Instant::START }
    }

    /// Notes an internal error and says whether the watch may be tried again as it is.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if self.limit == 0 {
            return false;
        }
        let first = match self.first {
            Some(first) if now.since(self.last) < MIN_QUIET_MS => first,
            _ => now,
        };
        self.last = now;
        let allowed = now.since(first) <= self.limit;
        self.first = allowed.then_some(first);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::at;

    fn total(retry: Retry, count: usize, seed: u64) -> Millis {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut backoff = Backoff::new(retry);
        (0..count).map(|_| backoff.next(Instant::START, &mut random)).sum()
    }

    const QUICK: Retry = Retry { initial_ms: 1, factor: 2.0, cap_ms: 50, jitter: 1.0, reset_after_ms: 120_000 };

    #[test]
    fn ref_12_waits_double_up_to_their_cap_and_stay_there() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut backoff = Backoff::new(QUICK);
            for base in [1, 2, 4, 8, 16, 32].into_iter().chain([50; 34]) {
                let wait = backoff.next(Instant::START, &mut random);
                assert!((base..=2 * base).contains(&wait), "{wait} of {base}");
            }
        }
    }

    #[test]
    fn rf_21_five_failures_take_a_moment_and_forty_the_cap_each() {
        for seed in 0..200 {
            let few = total(QUICK, 5, seed);
            assert!((31..=62).contains(&few), "{few}");
            // 1 + 2 + … + 32, then 34 times 50, each up to doubled.
            let many = total(QUICK, 40, seed);
            assert!((1763..=3526).contains(&many), "{many}");
        }
    }

    #[test]
    fn rf_22_a_custom_backoff_without_jitter_is_exact() {
        let retry = Retry { initial_ms: 10, factor: 2.0, cap_ms: 100, jitter: 0.0, reset_after_ms: 1 };
        assert_eq!(total(retry, 5, 0), 10 + 20 + 40 + 80 + 100);
    }

    /// The facade waits so, too, before there is a core: `tests/js/loader.test.mjs` asks the same of it.
    #[test]
    fn the_waits_of_a_page_that_asks_for_no_others_begin_at_800_ms_and_end_at_30_seconds() {
        for (jitter, factor) in [(0.0, 1), (1.0, 2)] {
            let mut random = fastrand::Rng::with_seed(1);
            let mut backoff = Backoff::new(Retry { jitter, ..Retry::default() });
            for base in [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000] {
                let wait = backoff.next(Instant::START, &mut random);
                assert!((base..=factor * base).contains(&wait), "{wait} of {base}");
            }
        }
    }

    #[test]
    fn rf_22_whatever_is_asked_for_a_failure_that_goes_on_is_tried_twenty_times_a_second_at_most() {
        for (initial_ms, cap_ms) in [(0, 0), (0, 30_000), (1, 1), (800, 0)] {
            let mut random = fastrand::Rng::with_seed(3);
            let mut backoff = Backoff::new(Retry { initial_ms, cap_ms, factor: 1.0, jitter: 0.0, reset_after_ms: 1000 });
            let waits: Vec<_> = (0..9).map(|_| backoff.next(Instant::START, &mut random)).collect();
            assert_eq!(waits, [1, 2, 4, 8, 16, 32, 50, 50, 50], "{initial_ms}, {cap_ms}");
            backoff.healthy(Instant::START);
            assert_eq!(backoff.next(at(1000), &mut random), 1);
        }
    }

    #[test]
    fn rf_33_only_a_connection_that_holds_resets_the_waits() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut backoff = Backoff::new(Retry::default());
        for (try_, base) in [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].into_iter().enumerate() {
            // Ten minutes pass between these failures: no health, hence no reset.
            let wait = backoff.next(at(try_ as Millis * 600_000), &mut random);
            assert!((base..2 * base).contains(&wait), "{base}: {wait}");
        }
        backoff.healthy(Instant::START);
        assert!(backoff.next(at(119_999), &mut random) >= 30_000);
        backoff.healthy(at(200_000));
        backoff.healthy(at(300_000));
        assert!((800..1600).contains(&backoff.next(at(320_000), &mut random)));
    }

    #[test]
    fn rf_24_the_deadline_takes_errors_up_to_its_limit() {
        let mut deadline = RetryDeadline::new(1000);
        assert!(deadline.allows(at(1000)));
        assert!(deadline.allows(at(2000)));
        assert!(!deadline.allows(at(3000)));
        assert!(deadline.allows(at(4000)), "a refusal starts anew");
    }

    #[test]
    fn ref_10_internal_errors_a_second_apart() {
        let retries = |limit: Millis, gap_at: Option<u64>| {
            let mut deadline = RetryDeadline::new(limit);
            let mut now = 5000;
            (1..)
                .take_while(|call| {
                    now += if Some(*call) == gap_at { MIN_QUIET_MS } else { 1000 };
                    deadline.allows(at(now))
                })
                .count()
        };
        assert_eq!(retries(30_000, None), 31);
        assert_eq!(retries(30_000, Some(10)), 40);
        assert_eq!(retries(0, None), 0);
    }
}
