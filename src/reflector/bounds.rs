//! The bounds of what a reflector may be asked for.

use super::backoff::Retry;
use super::config::ReflectorConfig;
use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// The longest wait between two tries. A user who wants no tries asks for none, and a wait without end is none.
pub const MAX_WAIT_MS: Millis = 86_400_000;

/// The largest factor and jitter: with more a wait is soon as long as the clock can count.
pub const MAX_GROWTH: f64 = 100.0;

impl ReflectorConfig {
    /// Fails with code `invalid`, naming the option. A wait of 0 would make a loop.
    pub fn check(&self) -> Result<(), Error> {
        let Retry { initial_ms, factor, cap_ms, jitter, .. } = self.retry;
        let within = [
            ("idleTimeout", self.idle_timeout_ms >= 1),
            ("retry.initialMs", (1..=MAX_WAIT_MS).contains(&initial_ms)),
            ("retry.factor", (1.0..=MAX_GROWTH).contains(&factor)),
            ("retry.capMs", (1..=MAX_WAIT_MS).contains(&cap_ms)),
            ("retry.jitter", (0.0..=MAX_GROWTH).contains(&jitter)),
        ];
        match within.into_iter().find(|(_, holds)| !holds) {
            Some((option, _)) => Err(Error::new(ErrorCode::Invalid, format!("{option} is out of its bounds"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::FOREVER;

    #[test]
    fn waits_that_make_a_loop_or_never_end_are_refused() {
        let check = |retry: Retry| ReflectorConfig { retry, ..ReflectorConfig::default() }.check();
        let usual = Retry::default;
        assert_eq!(ReflectorConfig::default().check(), Ok(()));
        let refused = |retry: Retry| check(retry).unwrap_err().message;
        for initial_ms in [0, MAX_WAIT_MS + 1, FOREVER] {
            assert_eq!(refused(Retry { initial_ms, ..usual() }), "retry.initialMs is out of its bounds");
            assert_eq!(refused(Retry { cap_ms: initial_ms, ..usual() }), "retry.capMs is out of its bounds");
        }
        for factor in [0.0, 0.5, 101.0, f64::INFINITY, f64::NAN] {
            assert_eq!(refused(Retry { factor, ..usual() }), "retry.factor is out of its bounds");
        }
        for jitter in [-1.0, 101.0, f64::NAN] {
            assert_eq!(refused(Retry { jitter, ..usual() }), "retry.jitter is out of its bounds");
        }
        for retry in [
            Retry { initial_ms: 1, cap_ms: 1, factor: 1.0, jitter: 0.0, reset_after_ms: 0 },
            Retry { initial_ms: MAX_WAIT_MS, cap_ms: MAX_WAIT_MS, factor: 100.0, jitter: 100.0, reset_after_ms: FOREVER },
        ] {
            assert_eq!(check(retry), Ok(()));
        }
        let idle = ReflectorConfig { idle_timeout_ms: 0, ..ReflectorConfig::default() };
        assert_eq!(idle.check().unwrap_err().message, "idleTimeout is out of its bounds");
        assert_eq!(ReflectorConfig { idle_timeout_ms: FOREVER, ..idle }.check(), Ok(()));
    }
}
