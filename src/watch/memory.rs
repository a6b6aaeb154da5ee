//! What waits for watchers takes memory: whose grows, and its end for want of it.

use crate::status::Error;
use crate::version::Version;
use crate::watch::dispatcher::Dispatcher;
use crate::watch::event::EndReason;
use crate::watch::id::WatcherId;

impl Dispatcher {
    /// Whose waiting objects have grown most lately, and by how many bytes that nobody but readers hold. Looks at all that waits.
    pub(crate) fn grown(&self) -> (WatcherId, usize) {
        let all = self.watchers.iter().filter(|(_, watcher)| watcher.ended.is_none());
        let all = all.map(|(id, watcher)| (id, watcher.growth.until(watcher.held())));
        let (id, bytes) = all.max_by_key(|(_, bytes)| *bytes).unwrap_or_default();
        (WatcherId::of(id), bytes)
    }

    /// Notes what waits for each now.
    pub(crate) fn mark(&mut self) {
        for (_, watcher) in &mut self.watchers {
            watcher.growth.mark(watcher.held());
        }
    }

    /// Ends one stream at once, for this reason: what waits is not delivered any more.
    pub(crate) fn cut(&mut self, id: WatcherId, error: Error, reached: &Version) {
        self.end(id, EndReason::Error, reached);
        if let Some(watcher) = self.watchers.get_mut(id.place()) {
            watcher.discard();
            watcher.refusal = Some(Box::new(error));
        }
    }
}
