//! Many reflectors that wake together, as those of a page that was asleep: they must not all come back at one moment.

use std::cell::Cell;

use crate::runtime::Millis;

/// How far apart two of them come back, on average; and the most that the last one may wait.
const APART_MS: Millis = 20;
const MOST_MS: Millis = 1000;

thread_local! {
    static AT_WORK: Cell<u64> = const { Cell::new(0) };
}

/// Counts one reflector, for as long as it lives.
pub(super) struct Member(());

impl Member {
    pub(super) fn new() -> Self {
        AT_WORK.set(AT_WORK.get() + 1);
        Self(())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        AT_WORK.set(AT_WORK.get() - 1);
    }
}

/// How long one of those that wake together waits: the only one not at all, one of fifty up to a second.
pub(super) fn scatter(random: &mut fastrand::Rng) -> Millis {
    let most = (AT_WORK.get().saturating_sub(1) * APART_MS).min(MOST_MS);
    if most == 0 { 0 } else { random.u64(0..=most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_there_are_the_further_apart_and_never_beyond_the_bound() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut members = vec![Member::new()];
        assert!((0..100).all(|_| scatter(&mut random) == 0));
        members.extend((1..4).map(|_| Member::new()));
        let waits: Vec<_> = (0..200).map(|_| scatter(&mut random)).collect();
        assert!(waits.iter().all(|wait| *wait <= 60) && waits.iter().any(|wait| *wait > 40), "{waits:?}");
        members.extend((4..200).map(|_| Member::new()));
        assert!((0..200).all(|_| scatter(&mut random) <= MOST_MS));
        members.clear();
        assert_eq!(AT_WORK.get(), 0);
    }
}
