//! The reflectors of one host, such as a page. They share what they know of their servers. If they lose or regain their connections at the
//! same time, they avoid asking all at once.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use super::breaker::Breakers;
use crate::time::Millis;

/// How far apart two of them come back, on average: about what a server needs for one of their requests.
const MEAN_GAP_MS: Millis = 20;
/// The longest that one of them waits for the others. A page that wakes up should be whole again within a second or so.
const MAX_STAGGER_MS: Millis = 1000;

/// The reflectors of a host. Each is handed them when it is made.
#[derive(Default)]
pub struct Peers {
    count: Cell<u64>,
    pub(super) breakers: Breakers,
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").field("count", &self.count).finish_non_exhaustive()
    }
}

/// One of them, for as long as it lives.
pub(super) struct Peer(Rc<Peers>);

impl Peer {
    pub(super) fn of(peers: Rc<Peers>) -> Self {
        peers.count.set(peers.count.get() + 1);
        Self(peers)
    }

    /// How long this one waits before it comes back: the only one not at all, one of fifty up to a second.
    pub(super) fn stagger(&self, random: &mut fastrand::Rng) -> Millis {
        let max = (self.0.count.get().saturating_sub(1) * MEAN_GAP_MS).min(MAX_STAGGER_MS);
        if max == 0 { 0 } else { random.u64(0..=max) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_there_are_the_further_apart_and_never_beyond_the_bound() {
        let (mut random, peers) = (fastrand::Rng::with_seed(1), Rc::<Peers>::default());
        let peer = || Peer::of(Rc::clone(&peers));
        let mut all = vec![peer()];
        assert!((0..100).all(|_| all[0].stagger(&mut random) == 0));
        all.extend((1..4).map(|_| peer()));
        let waits: Vec<_> = (0..200).map(|_| all[0].stagger(&mut random)).collect();
        assert!(waits.iter().all(|wait| *wait <= 60) && waits.iter().any(|wait| *wait > 40), "{waits:?}");
        all.extend((4..200).map(|_| peer()));
        assert!((0..200).all(|_| all[0].stagger(&mut random) <= MAX_STAGGER_MS));
        all.clear();
        assert_eq!(peers.count.get(), 0);
    }
}
