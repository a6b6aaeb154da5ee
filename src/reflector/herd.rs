//! Many reflectors that lose or find their connections together, as those of a page that was asleep: they must not all come back at one
//! moment.

use std::cell::Cell;
use std::rc::Rc;

use super::gate::Servers;
use crate::runtime::Millis;

/// How far apart two of them come back, on average; and the most that the last one may wait.
const APART_MS: Millis = 20;
const MOST_MS: Millis = 1000;

/// The reflectors of a host.
#[derive(Default)]
pub struct Crowd {
    members: Cell<u64>,
    pub(super) servers: Servers,
}

/// One of the crowd, for as long as it lives.
pub(super) struct Member(Rc<Crowd>);

impl Member {
    pub(super) fn of(crowd: Rc<Crowd>) -> Self {
        crowd.members.set(crowd.members.get() + 1);
        Self(crowd)
    }

    /// How long this one waits before it comes back: the only one not at all, one of fifty up to a second.
    pub(super) fn turn(&self, random: &mut fastrand::Rng) -> Millis {
        let most = (self.0.members.get().saturating_sub(1) * APART_MS).min(MOST_MS);
        if most == 0 { 0 } else { random.u64(0..=most) }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.members.set(self.0.members.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_there_are_the_further_apart_and_never_beyond_the_bound() {
        let (mut random, crowd) = (fastrand::Rng::with_seed(1), Rc::<Crowd>::default());
        let member = || Member::of(Rc::clone(&crowd));
        let mut members = vec![member()];
        assert!((0..100).all(|_| members[0].turn(&mut random) == 0));
        members.extend((1..4).map(|_| member()));
        let waits: Vec<_> = (0..200).map(|_| members[0].turn(&mut random)).collect();
        assert!(waits.iter().all(|wait| *wait <= 60) && waits.iter().any(|wait| *wait > 40), "{waits:?}");
        members.extend((4..200).map(|_| member()));
        assert!((0..200).all(|_| members[0].turn(&mut random) <= MOST_MS));
        members.clear();
        assert_eq!(crowd.members.get(), 0);
    }
}
