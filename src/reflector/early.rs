//! Tries that come before their time, because somebody asks for them.

use std::collections::VecDeque;

use crate::time::{Instant, Millis};

/// So many within [`EARLY_PERIOD_MS`]: a button that is pressed works at once, and code that asks at each failure makes no loop.
pub const MAX_EARLY_TRIES: usize = 3;
/// The time in which early tries are counted.
pub const EARLY_PERIOD_MS: Millis = 60_000;

/// When waits were cut short because somebody asked for it.
#[derive(Default)]
pub struct EarlyTries(VecDeque<Instant>);

impl EarlyTries {
    /// Notes one more. Where that is too much: when there is room again.
    pub fn take(&mut self, now: Instant) -> Result<(), Instant> {
        if self.0.len() == MAX_EARLY_TRIES {
            let room = self.0[0].saturating_add(EARLY_PERIOD_MS);
            if now < room {
                return Err(room);
            }
            self.0.pop_front();
        }
        self.0.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::at;

    #[test]
    fn three_a_minute_and_the_next_when_the_first_is_a_minute_old() {
        let mut early = EarlyTries::default();
        assert_eq!([0, 10, 20].map(|now| early.take(at(now))), [Ok(()); 3]);
        assert_eq!((early.take(at(30)), early.take(at(59_999))), (Err(at(60_000)), Err(at(60_000))));
        assert_eq!((early.take(at(60_000)), early.take(at(60_001))), (Ok(()), Err(at(60_010))));
    }
}
