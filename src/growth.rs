//! How much something has grown lately. If memory runs out, what grew most is stopped, which need not be the largest.
//!
//! Imports nothing of this crate.

/// Its bytes when they were last noted, and the time before, the older first. Growth counts from both, because the last note may be very
/// recent. `None` if it is new.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth(Option<(usize, usize)>);

impl Growth {
    /// Bytes by which it has grown to `now`. If nothing was noted it is new, and all of `now` is growth.
    pub(crate) fn until(self, now: usize) -> usize {
        now.saturating_sub(self.0.map_or(0, |(older, newer)| older.min(newer)))
    }

    /// Notes its bytes.
    pub(crate) fn note(&mut self, now: usize) {
        self.0 = Some((self.0.map_or(now, |(_, newer)| newer), now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_has_grown_by_all_of_it_and_what_stays_by_nothing() {
        let mut growth = Growth::default();
        assert_eq!(growth.until(10), 10);
        growth.note(10);
        assert_eq!(growth.until(12), 2);
        growth.note(12);
        assert_eq!(growth.until(13), 3, "the last note may be of just now");
        growth.note(12);
        assert_eq!(growth.until(12), 0);
        growth.note(2);
        assert_eq!(growth.until(12), 10, "it had shrunk");
    }
}
