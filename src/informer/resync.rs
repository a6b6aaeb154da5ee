//! When handlers are told everything once more: client-go's resync periods, kept as deadlines.

use crate::time::{Instant, Millis};

/// No resync comes more often than this, as in client-go.
pub(super) const MIN_RESYNC_MS: Millis = 1000;

/// How often an informer checks which handlers' resync is due. 0 is never, whatever they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckPeriod {
    millis: Millis,
    started: bool,
}

/// The resync of one handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resync {
    period: Millis,
    due: Instant,
    /// Whether it hears of objects that did not change. At first each does; after the first check, those whose resync was due at the last one.
    syncing: bool,
}

impl CheckPeriod {
    /// Of an informer that was asked for this period.
    pub(super) fn new(millis: Millis) -> Self {
        Self { millis, started: false }
    }

    /// From now on no handler makes it shorter.
    pub(super) fn start(&mut self) {
        self.started = true;
    }

    /// How often to check; 0 is never.
    pub(super) fn millis(self) -> Millis {
        self.millis
    }

    /// The resync of a handler that asks for this period.
    ///
    /// Before the start a shorter one shortens the check period: those who were there are checked more often, and keep their own period. After
    /// the start the handler's period is raised.
    pub(super) fn admit(&mut self, requested: Millis, now: Instant) -> Resync {
        let mut requested = if requested > 0 { requested.max(MIN_RESYNC_MS) } else { 0 };
        if requested > 0 && requested < self.millis {
            if self.started {
                requested = self.millis;
            } else {
                self.millis = requested;
            }
        }
        let period = if self.millis == 0 { 0 } else { requested };
        Resync { period, due: now + period, syncing: true }
    }
}

impl Resync {
    /// Whether this handler's resync is due. Then the next one is a period from now.
    pub(super) fn fall_due(&mut self, now: Instant) -> bool {
        self.syncing = self.period > 0 && self.due <= now;
        if self.syncing {
            self.due = now + self.period;
        }
        self.syncing
    }

    /// Whether it hears of objects that did not change.
    pub(super) fn is_syncing(self) -> bool {
        self.syncing
    }

    /// The period that came of what was asked for; 0 is never.
    #[cfg(test)]
    fn period(self) -> Millis {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::at;

    const SECOND: Millis = 1000;

    #[test]
    fn in_04_periods_below_a_second_are_raised_and_follow_the_informers() {
        let mut check = CheckPeriod::new(60 * SECOND);
        assert_eq!(check.admit(10, Instant::START).period(), SECOND, "the least there is");
        assert_eq!(check.millis(), SECOND, "and before the start the informer follows its handlers");

        let mut check = CheckPeriod::new(60 * SECOND);
        check.start();
        assert_eq!(check.admit(SECOND, Instant::START).period(), 60 * SECOND, "after the start they follow it");
        assert_eq!(check.admit(61 * SECOND, Instant::START).period(), 61 * SECOND);
        assert_eq!(check.admit(0, Instant::START).period(), 0);

        let mut check = CheckPeriod::new(0);
        assert_eq!(check.admit(10 * SECOND, Instant::START).period(), 0, "an informer without resync has none for anybody");
    }

    #[test]
    fn a_shorter_check_period_concerns_who_was_there() {
        let mut check = CheckPeriod::new(60 * SECOND);
        let mut first = check.admit(60 * SECOND, Instant::START);
        check.admit(7 * SECOND, Instant::START);
        assert_eq!((check.millis(), first.period()), (7 * SECOND, 60 * SECOND));
        // Looked at each 7 s, 60 s become 63.
        let due: Vec<u64> = (1..20).map(|check| check * 7 * SECOND).filter(|now| first.fall_due(at(*now))).collect();
        assert_eq!(due, [63 * SECOND, 126 * SECOND]);
    }
}
