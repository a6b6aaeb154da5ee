//! The informers of one store: their lives, and what a change of the store is to them.

use std::rc::Rc;

use slab::Slab;

use crate::change::{Change, ChangeKind, Difference};
use crate::connection::Phase;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::Interests;
use crate::status::{Error, ErrorCode};
use crate::store::{Fields, Replacement, Store, StoreObserver};
use crate::time::Instant;
use crate::version::Version;

use super::id::{HandlerId, InformerId};
use super::indexer::Indexer;
use super::informer::{Informer, InformerOptions};
use super::interruption::{Interruption, Stops};
use super::listener::{HandlerOptions, News, ProcessorListener};
use super::notification::{Notification, NotificationKind};
use super::processor::{Notifications, Processor};

/// How many informers there are, and what waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InformerStats {
    /// Informers that have started and not ended.
    pub running: usize,
    /// Handlers of all informers, of those that have not started, too.
    pub handlers: usize,
    /// Notifications that wait for them.
    pub queued: usize,
}

/// The informers by id, and the processor that they share.
#[derive(Default)]
pub struct Informers {
    informers: Slab<Informer>,
    processor: Processor,
    interests: Interests,
    // Those whose sync has not been told.
    untold: Vec<InformerId>,
    interruptions: Vec<Interruption>,
}

impl Informers {
    // ------------------------------------------------------------------------------------------------- their lives

    /// Adds an informer that has not started.
    pub fn open(&mut self, options: InformerOptions) -> InformerId {
        InformerId::of(self.informers.insert(Informer::new(options)))
    }

    /// The informer of this id.
    pub fn get(&self, id: InformerId) -> Option<&Informer> {
        self.informers.get(id.index())
    }

    /// The informer of this id, to give values to its indexes.
    pub fn get_mut(&mut self, id: InformerId) -> Option<&mut Informer> {
        self.informers.get_mut(id.index())
    }

    /// Starts it; with the state, where that is there. Returns whether it had not started: a second start does nothing.
    pub fn start(&mut self, id: InformerId, state: Option<&Store>, fields: &FieldSet) -> bool {
        let started = self.get_mut(id).is_some_and(Informer::start);
        if let Some(store) = state.filter(|_| started) {
            self.sync(id, store, fields);
        }
        started
    }

    /// Ends it for good. What waits for its handlers is dropped. It can be read as long as the store is.
    pub fn stop(&mut self, id: InformerId) {
        let Some(informer) = self.informers.get_mut(id.index()) else { return };
        for handler in informer.stop() {
            self.processor.remove(handler);
        }
    }

    /// Ends it, and forgets that it was.
    pub fn forget(&mut self, id: InformerId) {
        self.stop(id);
        self.informers.try_remove(id.index());
        self.untold.retain(|other| *other != id);
    }

    /// There is no memory for an informer: it ends for good with all that it holds, and says why.
    pub(crate) fn fail(&mut self, id: InformerId, phase: Phase, error: Error) {
        self.stop(id);
        self.informers[id.index()].drop_contents();
        self.interruptions.push(Interruption { stops: Stops::Informer(id), phase, error, stale: true });
    }

    /// The first state of an informer.
    fn sync(&mut self, id: InformerId, store: &Store, fields: &FieldSet) {
        let informer = &mut self.informers[id.index()];
        informer.sync();
        self.untold.push(id);
        if informer.handlers().is_empty() {
            return;
        }
        let state = Notification::of_each(store.iter(), NotificationKind::InitiallyAdded);
        for handler in informer.handlers() {
            self.processor.begin(*handler, &state, fields);
        }
    }

    /// Adds indexes; what is held is in them at once. Fails, and adds none, when a name is taken or the informer has ended.
    pub fn add_indexers(&mut self, id: InformerId, indexers: Vec<Indexer>, store: &Store, fields: &Fields) -> Result<(), Error> {
        match self.get_mut(id).filter(|informer| !informer.is_stopped()) {
            Some(informer) => informer.add_indexers(indexers, store, fields),
            None => Err(Error::new(ErrorCode::Closed, "indexer was not added because it has stopped already")),
        }
    }

    // ------------------------------------------------------------------------------------------------- handlers

    /// Registers a handler, at any time. It joins at the state of now: an addition of each object that is held, then every change.
    ///
    /// Fails with client-go's words when the informer has ended.
    pub fn add_handler(
        &mut self,
        id: InformerId,
        mut options: HandlerOptions,
        store: &Store,
        fields: &FieldSet,
        now: Instant,
    ) -> Result<HandlerId, Error> {
        let Some(informer) = self.informers.get_mut(id.index()).filter(|informer| !informer.is_stopped()) else {
            let message = "handler was not added to shared informer because it has stopped already";
            return Err(Error::new(ErrorCode::Closed, message));
        };
        if let News::Of(interest) = &mut options.news {
            *interest = self.interests.share(interest.clone());
        }
        let resync = informer.admit(options.resync_period, now);
        let handler = self.processor.add(ProcessorListener::new(options, resync));
        informer.add_handler(handler);
        if informer.has_synced() {
            self.processor.begin(handler, &Notification::of_each(store.iter(), NotificationKind::InitiallyAdded), fields);
        }
        Ok(handler)
    }

    /// Takes a handler away: what was not delivered to it never will be. Doing so again, or with one that is not of this informer, does nothing.
    pub fn remove_handler(&mut self, id: InformerId, handler: HandlerId) {
        if self.get_mut(id).is_some_and(|informer| informer.remove_handler(handler)) {
            self.processor.remove(handler);
        }
    }

    /// The listener of a handler, while its id stands for it.
    pub fn handler(&self, id: HandlerId) -> Option<&ProcessorListener> {
        self.processor.get(id)
    }

    /// The handler is not done with the last of so many notifications of this flush, and never got to those after it, which wait again. With
    /// `pace` it gets one at a time from now on, until it is done with one at once.
    pub fn handler_waits(&mut self, id: HandlerId, begun: usize, pace: bool) {
        self.processor.handler_waits(id, begun, pace);
    }

    /// The handler is done with what it was given, and takes more.
    pub fn handler_done(&mut self, id: HandlerId) {
        self.processor.handler_done(id);
    }

    // ------------------------------------------------------------------------------------------------- what happens

    /// What a relist is to informers that have their first state.
    fn relisted(&mut self, differences: &[Difference], store: &Store, fields: &FieldSet) {
        for Difference { before, after } in differences {
            if let (Some(gone), None) = (before, after) {
                self.tell(NotificationKind::DeletedUnseen, gone, Some(gone), fields);
            }
        }
        let mut changed = differences.iter().filter_map(|Difference { before, after }| Some((before, after.as_ref()?))).peekable();
        if !self.informers.iter().any(|(_, informer)| informer.tells_unchanged()) {
            for (before, after) in changed {
                self.tell_difference(before.as_ref(), after, fields);
            }
            return;
        }
        for object in store.iter() {
            match changed.next_if(|(_, after)| after.key() == object.key()) {
                Some((before, after)) => self.tell_difference(before.as_ref(), after, fields),
                None => self.tell(NotificationKind::Resynced, object, Some(object), fields),
            }
        }
    }

    fn tell_difference(&mut self, before: Option<&Rc<Object>>, after: &Rc<Object>, fields: &FieldSet) {
        let kind = if before.is_some() { NotificationKind::Updated } else { NotificationKind::Added };
        self.tell(kind, after, before, fields);
    }

    fn tell(&mut self, kind: NotificationKind, object: &Rc<Object>, old: Option<&Rc<Object>>, fields: &FieldSet) {
        let notification = Notification::new(kind, object.clone(), old.cloned());
        self.processor.distribute(&notification, &self.informers, fields);
    }

    /// Has the handlers of an informer whose resync is due hear of every object once more.
    pub fn resync(&mut self, id: InformerId, store: &Store, fields: &FieldSet, now: Instant) {
        let Some(informer) = self.informers.get(id.index()).filter(|informer| informer.distributes()) else { return };
        let mut notifications = None;
        for id in informer.handlers() {
            let Some(listener) = self.processor.get_mut(*id) else { continue };
            if !listener.resync_due(now) {
                continue;
            }
            let all = notifications.get_or_insert_with(|| Notification::of_each(store.iter(), NotificationKind::Resynced));
            listener.hear_resync(all.iter(), fields);
            self.processor.pend(*id);
        }
    }

    /// The stream was interrupted.
    pub fn interrupted(&mut self, interruption: Interruption) {
        if self.informers.iter().any(|(_, informer)| informer.is_running()) {
            self.interruptions.push(interruption);
        }
    }

    /// Whether some informer's readers see what was written before the stream brings it.
    pub fn show_writes(&self) -> bool {
        self.informers.iter().any(|(_, informer)| informer.shows_writes())
    }

    /// A write left this object.
    pub fn mutated(&mut self, object: &Rc<Object>, now: Instant) {
        for (_, informer) in &mut self.informers {
            informer.mutated(object, now);
        }
    }

    // ------------------------------------------------------------------------------------------------- flushes and numbers

    /// Whether a flush would tell anything.
    pub fn has_output(&self) -> bool {
        self.processor.has_output() || !self.untold.is_empty() || !self.interruptions.is_empty()
    }

    /// Whether a queue overflowed since the last call.
    pub fn take_overflowed(&mut self) -> bool {
        self.processor.take_overflowed()
    }

    /// What the next flush tells. [`Informers::given`] follows when it has been told.
    pub fn take(&mut self) -> Notifications {
        let mut flush = Notifications { interruptions: std::mem::take(&mut self.interruptions), ..Notifications::default() };
        for id in std::mem::take(&mut self.untold) {
            if self.get_mut(id).is_some_and(Informer::tell_synced) {
                flush.informers_synced.push(id);
            }
        }
        self.processor.take(&mut flush);
        flush
    }

    /// The flush is over: who did not say otherwise is done with it.
    pub fn given(&mut self) {
        self.processor.end_flush();
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> InformerStats {
        InformerStats {
            running: self.informers.iter().filter(|(_, informer)| informer.is_running()).count(),
            handlers: self.processor.iter().count(),
            queued: self.processor.iter().map(ProcessorListener::queued).sum(),
        }
    }

    /// Bytes of indexes, of what was written and has not come back, and of the places of what waits for handlers.
    pub fn bytes(&self) -> usize {
        self.informers.iter().map(|(_, informer)| informer.bytes()).sum::<usize>() + self.processor.bytes()
    }

    /// Bytes that go with an informer, with the objects that only readers and its queues hold. Looks at all that waits.
    fn bytes_with_late(&self, informer: &Informer) -> usize {
        informer.bytes() + self.processor.bytes_with_late(informer.handlers())
    }

    /// Who has grown most lately, and by how much.
    pub(crate) fn grown(&self) -> (InformerId, usize) {
        let all = self.informers.iter().filter(|(_, informer)| !informer.is_stopped());
        let all = all.map(|(at, informer)| (InformerId::of(at), informer.grown(self.bytes_with_late(informer))));
        all.max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }

    /// Notes what each takes now.
    pub(crate) fn note_bytes(&mut self) {
        let bytes: Vec<usize> = self.informers.iter().map(|(_, informer)| self.bytes_with_late(informer)).collect();
        for ((_, informer), bytes) in self.informers.iter_mut().zip(bytes) {
            informer.note_bytes(bytes);
        }
    }
}

impl StoreObserver for Informers {
    /// Nobody is told before the list is whole.
    fn shown(&mut self, previous: Option<&Rc<Object>>, object: Option<&Rc<Object>>, _fields: &FieldSet) {
        for (_, informer) in &mut self.informers {
            informer.store_changed(previous, object);
        }
    }

    /// A deletion of what was not held is nobody's news.
    fn changed(&mut self, change: &Change, fields: &FieldSet) {
        if self.informers.is_empty() {
            return;
        }
        let Change { kind, object, previous, at, .. } = change;
        let (deleted, before) = (*kind == ChangeKind::Deleted, previous.as_ref());
        for (_, informer) in &mut self.informers {
            informer.store_changed(before, (!deleted).then_some(object));
            if deleted {
                informer.deleted(object, *at);
            }
        }
        match (deleted, before) {
            (true, None) => {}
            (true, Some(_)) => self.tell(NotificationKind::Deleted, object, before, fields),
            (false, before) => self.tell_difference(before, object, fields),
        }
    }

    /// Deletions come first, then the rest in the order of keys, which is that of lists.
    fn replaced(&mut self, replacement: &Replacement<'_>, fields: &FieldSet) {
        if self.informers.is_empty() {
            return;
        }
        let Replacement { differences, store, at, .. } = *replacement;
        for (_, informer) in &mut self.informers {
            for Difference { before, after } in differences {
                informer.store_changed(before.as_ref(), after.as_ref());
                if let (Some(before), None) = (before, after) {
                    informer.deleted(before, at);
                }
            }
        }
        let running = self.informers.iter().filter(|(_, informer)| informer.is_running());
        let (told, new): (Vec<InformerId>, Vec<InformerId>) =
            running.map(|(place, _)| InformerId::of(place)).partition(|id| self.informers[id.index()].has_synced());
        if !told.is_empty() {
            self.relisted(differences, store, fields);
        }
        for informer in new {
            self.sync(informer, store, fields);
        }
    }

    /// All end.
    fn reset(&mut self, _reached: &Version) {
        for (_, informer) in &mut self.informers {
            informer.stop();
            informer.clear_indexes();
        }
        self.processor.clear();
        self.untold.clear();
        self.interruptions.clear();
    }
}
