//! Who waits until the cacher has reached which version.

use futures::channel::oneshot;

use crate::cache::waiters;
use crate::version::Version;

/// Who waits for which version.
#[derive(Debug, Default)]
pub struct Freshness {
    waiters: Vec<(Version, oneshot::Sender<()>)>,
}

impl Freshness {
    /// Completes once the cacher reached the version; is cancelled when the cacher goes away.
    pub fn wait(&mut self, version: Version) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        waiters::add(&mut self.waiters, (version, sender), |(_, waiter)| waiter.is_canceled());
        receiver
    }

    /// The cacher has reached this version.
    pub fn reached(&mut self, version: &Version) {
        if self.waiters.is_empty() {
            return;
        }
        for (_, waiter) in self.waiters.extract_if(.., |(wanted, _)| &*wanted <= version) {
            let _gone = waiter.send(());
        }
    }

    /// Cancels all waits: the cacher is closed.
    pub fn cancel(&mut self) {
        self.waiters.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_wake_whose_version_is_reached_and_no_others() {
        let mut freshness = Freshness::default();
        let mut early = freshness.wait(Version::from(5));
        let mut late = freshness.wait(Version::from(7));
        freshness.reached(&Version::from(4));
        assert_eq!(early.try_recv(), Ok(None));
        freshness.reached(&Version::from(5));
        assert_eq!(early.try_recv(), Ok(Some(())));
        assert_eq!(late.try_recv(), Ok(None));
        freshness.cancel();
        assert!(late.try_recv().is_err());
    }
}
