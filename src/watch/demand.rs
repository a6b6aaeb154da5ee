//! What a subscriber takes at the moment.

use crate::status::{Error, ErrorCode};

/// Whether the subscriber takes events at the moment. The numbers are those that cross to here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// Nothing: events wait.
    #[default]
    None,
    /// One batch: what comes until the next flush. Counts what was taken.
    Batch(usize),
    /// Everything, at each flush.
    All,
}

impl Demand {
    /// The demand of a number that crossed to here. Fails with code `internal` for one that has no meaning.
    pub fn numbered(mode: u8) -> Result<Self, Error> {
        match mode {
            0 => Ok(Self::None),
            1 => Ok(Self::Batch(0)),
            2 => Ok(Self::All),
            // Taken for silence, it would leave the subscriber waiting for ever.
            _ => Err(Error::new(ErrorCode::Internal, format!("no demand has the number {mode}"))),
        }
    }

    /// Whether one more event is wanted. A batch is as large as what may wait.
    #[inline]
    pub(super) fn wants_more(self, capacity: usize) -> bool {
        match self {
            Self::None => false,
            Self::Batch(taken) => taken < capacity.max(1),
            Self::All => true,
        }
    }

    /// Notes that an event was taken; whether it was the first of a batch.
    #[inline]
    pub(super) fn took_first(&mut self) -> bool {
        let Self::Batch(taken) = self else { return false };
        *taken += 1;
        *taken == 1
    }

    /// A flush is over, and with it a batch that has received something.
    pub(super) fn end_batch(&mut self) {
        if matches!(self, Self::Batch(1..)) {
            *self = Self::None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_crosses_as_nothing_a_batch_or_everything() {
        assert_eq!([0, 1, 2].map(Demand::numbered), [Ok(Demand::None), Ok(Demand::Batch(0)), Ok(Demand::All)]);
        for mode in [3, u8::MAX] {
            let refusal = Demand::numbered(mode).unwrap_err();
            assert_eq!((refusal.code, refusal.message), (ErrorCode::Internal, format!("no demand has the number {mode}")));
        }
    }

    #[test]
    fn a_batch_is_as_large_as_what_may_wait_and_ends_with_the_flush_that_brought_something() {
        let mut demand = Demand::Batch(0);
        demand.end_batch();
        assert_eq!(demand, Demand::Batch(0), "it has received nothing");
        assert!(demand.wants_more(2) && demand.took_first());
        assert!(demand.wants_more(2) && !demand.took_first());
        assert!(!demand.wants_more(2));
        demand.end_batch();
        assert_eq!(demand, Demand::None);
        assert!(Demand::Batch(0).wants_more(0), "where nothing may wait, one event");
    }
}
