//! Moments of the two clocks, and the time between them.
//!
//! The monotonic clock counts from an arbitrary start and never goes back: deadlines compare its moments. The wall clock is for what people
//! read; somebody may set it. Each has a type of its own, so a moment of one is never compared with a moment of the other.

use std::ops::Add;

/// A span of time, in milliseconds.
pub type Millis = u64;

/// "Never" in milliseconds: some hundred thousand years. It can be added to a moment of either clock without overflow.
pub const FOREVER: Millis = 1 << 52;

/// A moment of the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Millis);

impl Instant {
    /// The clock's start, before all other moments.
    pub const START: Self = Self(0);

    /// So long after the clock's start.
    pub const fn from_millis(since_start: Millis) -> Self {
        Self(since_start)
    }

    /// How long after the clock's start.
    pub const fn as_millis(self) -> Millis {
        self.0
    }

    /// How long it is since an earlier moment; 0 if that one is later.
    pub const fn since(self, earlier: Self) -> Millis {
        self.0.saturating_sub(earlier.0)
    }

    /// So long before this moment; `None` if that is before the clock's start.
    pub fn checked_sub(self, span: Millis) -> Option<Self> {
        self.0.checked_sub(span).map(Self)
    }

    /// So long after this moment, or the last moment that there is: for spans that a user chose.
    pub const fn saturating_add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span))
    }
}

impl Add<Millis> for Instant {
    type Output = Self;

    fn add(self, span: Millis) -> Self {
        Self(self.0 + span)
    }
}

/// A moment of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(Millis);

impl WallTime {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);

    /// So long after the Unix epoch.
    pub const fn from_unix_millis(since_epoch: Millis) -> Self {
        Self(since_epoch)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_unix_millis(self) -> Millis {
        self.0
    }

    /// How long it is since an earlier moment; 0 if that one is later.
    pub const fn since(self, earlier: Self) -> Millis {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Millis> for WallTime {
    type Output = Self;

    fn add(self, span: Millis) -> Self {
        Self(self.0 + span)
    }
}

/// A moment of the monotonic clock, for tests.
#[cfg(test)]
pub(crate) const fn at(since_start: Millis) -> Instant {
    Instant::from_millis(since_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_leads_from_one_moment_to_a_later_one_and_is_never_negative() {
        let (start, later) = (Instant::from_millis(5), Instant::from_millis(12));
        assert_eq!((start + 7, later.since(start), start.since(later)), (later, 7, 0));
        assert_eq!(later.saturating_add(Millis::MAX), Instant::from_millis(Millis::MAX));
        assert!(Instant::START < start && start + FOREVER > later);
    }

    #[test]
    fn the_wall_clock_counts_from_the_unix_epoch() {
        let new_year = WallTime::from_unix_millis(1_767_225_600_000);
        assert_eq!((new_year + 1).as_unix_millis(), 1_767_225_600_001);
        assert_eq!(std::mem::size_of::<WallTime>(), std::mem::size_of::<Millis>());
    }
}
