//! All informers of one cacher: what happens goes to their handlers' queues, and from there into flushes.

use std::rc::Rc;

use slab::Slab;

use crate::change::{Change, ChangeKind, Difference};
use crate::connection::Phase;
use crate::informer::handler::{Handler, HandlerOptions, notices_of};
use crate::informer::id::{HandlerId, InformerId};
use crate::informer::index::Indexer;
use crate::informer::interruption::Interruption;
use crate::informer::notice::{Notice, NoticeKind};
use crate::informer::shared::{Informer, InformerOptions};
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::runtime::Millis;
use crate::status::{Error, ErrorCode};
use crate::store::{Replacement, Store, StoreListener};
use crate::version::Version;

/// How many notices of one handler go into one flush; the rest follows in the next, after the host had its turn.
const PUMP_LIMIT: usize = 500;

/// What a flush tells the handlers.
#[derive(Debug, Default)]
pub struct Notices {
    /// Each once.
    pub table: Vec<Rc<Notice>>,
    /// Flat `[registration, index into the table]`.
    pub pairs: Vec<u32>,
    /// Informers that have synced.
    pub informers_synced: Vec<InformerId>,
    /// Registrations that have handled the state they began with.
    pub handlers_synced: Vec<HandlerId>,
    /// What went wrong with the stream.
    pub interruptions: Vec<Interruption>,
}

impl Notices {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.informers_synced.is_empty() && self.handlers_synced.is_empty() && self.interruptions.is_empty()
    }
}

/// How many informers a cacher has, and what waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InformerStats {
    /// Informers that have started and not ended.
    pub running: usize,
    /// Handlers of all informers, of those that have not started, too.
    pub handlers: usize,
    /// Notices that wait for them.
    pub queued: usize,
}

/// The informers by id, and the registrations of all of them by id.
#[derive(Debug, Default)]
pub struct Informers {
    informers: Slab<Informer>,
    handlers: Slab<Handler>,
    // Registrations with something to take or to be told.
    pending: Vec<HandlerId>,
    // Changes that go to handlers past their queues, until the flush that tells them is over.
    straight: Vec<Rc<Notice>>,
    // Registrations that the flush under way gave something to.
    served: Vec<HandlerId>,
    // Removed ones whose ids may be used again after the flush under way.
    retired: Vec<HandlerId>,
    // Informers whose sync has not been told.
    untold: Vec<InformerId>,
    interruptions: Vec<Interruption>,
    // Whether a queue overflowed since the last flush.
    overflowed: bool,
    // Between what a flush takes and its end.
    flushing: bool,
    flushes: u64,
}

impl Informers {
    // ------------------------------------------------------------------------------------------ their lives

    /// Adds an informer that has not started.
    pub fn open(&mut self, options: InformerOptions) -> InformerId {
        InformerId::of(self.informers.insert(Informer::new(options)))
    }

    /// The informer of this id.
    pub fn get(&self, id: InformerId) -> Option<&Informer> {
        self.informers.get(id.place())
    }

    /// The informer of this id, to give values to its indexes.
    pub fn get_mut(&mut self, id: InformerId) -> Option<&mut Informer> {
        self.informers.get_mut(id.place())
    }

    /// Starts it; with the state, where that is there. Returns whether it had not started: a second start does nothing.
    pub fn start(&mut self, id: InformerId, state: Option<&Store>, fields: &FieldSet) -> bool {
        let Some(informer) = self.informers.get_mut(id.place()).filter(|informer| !informer.started && !informer.stopped) else {
            return false;
        };
        informer.started = true;
        informer.check.start();
        if let Some(store) = state {
            self.sync(id, store, fields);
        }
        true
    }

    /// Ends it for good. What waits for its handlers is dropped; it can be read as long as the store is.
    pub fn stop(&mut self, id: InformerId) {
        let Some(informer) = self.informers.get_mut(id.place()) else { return };
        informer.stopped = true;
        informer.ticking = None;
        for handler in std::mem::take(&mut informer.handlers) {
            self.retire(handler);
        }
    }

    /// Ends it, and forgets that it was.
    pub fn forget(&mut self, id: InformerId) {
        self.stop(id);
        self.informers.try_remove(id.place());
        self.untold.retain(|told| *told != id);
    }

    /// Adds indexes; what is held is in them at once. Fails, and adds none, when a name is taken or the informer has ended.
    pub fn add_indexers(
        &mut self,
        id: InformerId,
        indexers: Vec<Indexer>,
        store: &Store,
        fields: &crate::store::Fields,
    ) -> Result<(), Error> {
        match self.informers.get_mut(id.place()).filter(|informer| !informer.stopped) {
            Some(informer) => informer.indexes.add(indexers, store, fields),
            None => Err(Error::new(ErrorCode::Closed, "indexer was not added because it has stopped already")),
        }
    }

    // ------------------------------------------------------------------------------------------- handlers

    /// Registers a handler, at any time. It joins at the state of now: an addition of each object that is held, then every change.
    ///
    /// Fails with client-go's words when the informer has ended.
    pub fn add_handler(
        &mut self,
        id: InformerId,
        options: HandlerOptions,
        store: &Store,
        fields: &FieldSet,
        now: Millis,
    ) -> Result<HandlerId, Error> {
        let Some(informer) = self.informers.get_mut(id.place()).filter(|informer| !informer.stopped) else {
            let message = "handler was not added to shared informer because it has stopped already";
            return Err(Error::new(ErrorCode::Closed, message));
        };
        let before = informer.check;
        let resync = informer.check.admit(options.resync_period.unwrap_or(informer.options.resync_period), now);
        let handler = HandlerId::of(self.handlers.insert(Handler::new(options, resync)));
        informer.handlers.push(handler);
        let (synced, check) = (informer.synced, informer.check);
        if check != before {
            for other in informer.handlers.clone() {
                self.handlers[other.place()].resync.adapt(check, now);
            }
        }
        if synced {
            for notice in notices_of(store.iter(), NoticeKind::InitiallyAdded) {
                self.handlers[handler.place()].hear(&notice, fields);
            }
            self.handlers[handler.place()].upstream_synced();
            self.look_at(handler);
        }
        Ok(handler)
    }

    /// Takes a handler away: what was not delivered to it never will be. Doing so again, or with one that is not of this informer, does nothing.
    pub fn remove_handler(&mut self, id: InformerId, handler: HandlerId) {
        let Some(informer) = self.informers.get_mut(id.place()) else { return };
        if informer.handlers.contains(&handler) {
            informer.handlers.retain(|held| *held != handler);
            self.retire(handler);
        }
    }

    fn retire(&mut self, handler: HandlerId) {
        if let Some(handler) = self.handlers.get_mut(handler.place()) {
            handler.remove();
        }
        self.retired.push(handler);
    }

    /// A registration, while its id stands for it.
    pub fn handler(&self, id: HandlerId) -> Option<&Handler> {
        self.handlers.get(id.place()).filter(|handler| !handler.gone)
    }

    /// The handler is not done with the last of so many notices of this flush (see [`Handler::wait`]).
    pub fn handler_waits(&mut self, id: HandlerId, begun: usize, pace: bool) {
        if let Some(handler) = self.handlers.get_mut(id.place()).filter(|handler| !handler.gone) {
            handler.wait(begun, pace, &self.straight);
        }
    }

    /// The handler is done with what it was given, and takes more.
    pub fn handler_done(&mut self, id: HandlerId) {
        if let Some(handler) = self.handlers.get_mut(id.place()).filter(|handler| !handler.gone) {
            handler.done();
            self.look_at(id);
        }
    }

    fn look_at(&mut self, id: HandlerId) {
        if let Some(handler) = self.handlers.get_mut(id.place())
            && handler.is_due()
            && !std::mem::replace(&mut handler.pending, true)
        {
            self.pending.push(id);
        }
    }

    // -------------------------------------------------------------------------------------- what happens

    fn relisted(&mut self, differences: &[Difference], store: &Store, fields: &FieldSet) {
        for Difference { before, after } in differences {
            if let (Some(gone), None) = (before, after) {
                self.tell(&Notice::new(NoticeKind::DeletedUnseen, gone.clone(), Some(gone.clone())), fields);
            }
        }
        let mut changed = differences.iter().filter_map(|Difference { before, after }| Some((before, after.as_ref()?))).peekable();
        if !self.informers.iter().any(|(_, informer)| informer.options.relist_updates) {
            for (before, after) in changed {
                self.tell_difference(before.as_ref(), after, fields);
            }
            return;
        }
        for object in store.iter() {
            match changed.next_if(|(_, after)| after.key() == object.key()) {
                Some((before, after)) => self.tell_difference(before.as_ref(), after, fields),
                None => self.tell(&Notice::new(NoticeKind::Resynced, object.clone(), Some(object.clone())), fields),
            }
        }
    }

    fn tell_difference(&mut self, before: Option<&Rc<Object>>, after: &Rc<Object>, fields: &FieldSet) {
        let kind = if before.is_some() { NoticeKind::Updated } else { NoticeKind::Added };
        self.tell(&Notice::new(kind, after.clone(), before.cloned()), fields);
    }

    /// Queues a notice for every handler of every informer that has synced.
    fn tell(&mut self, notice: &Rc<Notice>, fields: &FieldSet) {
        let place = self.straight.len();
        let may_go_straight = place < PUMP_LIMIT && notice.kind != NoticeKind::Resynced && !self.flushing;
        let mut went_straight = false;
        for (_, informer) in &self.informers {
            if !informer.synced || informer.stopped {
                continue;
            }
            let unchanged = notice.kind == NoticeKind::Resynced;
            for id in &informer.handlers {
                let handler = &mut self.handlers[id.place()];
                if unchanged && !(informer.options.relist_updates && handler.resync.syncing) {
                    continue;
                }
                if may_go_straight && handler.is_straight() && handler.straight == place {
                    handler.straight = place + 1;
                    went_straight = true;
                    if !std::mem::replace(&mut handler.pending, true) {
                        self.pending.push(*id);
                    }
                    continue;
                }
                self.overflowed |= handler.hear(notice, fields);
                if !handler.pending && handler.is_due() {
                    handler.pending = true;
                    self.pending.push(*id);
                }
            }
        }
        if went_straight {
            self.straight.push(notice.clone());
        }
    }

    /// The first state of an informer.
    fn sync(&mut self, id: InformerId, store: &Store, fields: &FieldSet) {
        let informer = &mut self.informers[id.place()];
        informer.synced = true;
        self.untold.push(id);
        let handlers = informer.handlers.clone();
        let notices = if handlers.is_empty() { Vec::new() } else { notices_of(store.iter(), NoticeKind::InitiallyAdded) };
        for id in handlers {
            let handler = &mut self.handlers[id.place()];
            for notice in &notices {
                handler.hear(notice, fields);
            }
            handler.upstream_synced();
            self.look_at(id);
        }
    }

    /// The informer looks whose resync is due, and has those hear of every object once more.
    pub fn resync(&mut self, id: InformerId, store: &Store, fields: &FieldSet, now: Millis) {
        let Some(informer) = self.informers.get_mut(id.place()).filter(|informer| informer.synced && !informer.stopped) else { return };
        let mut notices = None;
        for id in informer.handlers.clone() {
            let handler = &mut self.handlers[id.place()];
            if handler.resync.look(now) {
                let notices = notices.get_or_insert_with(|| notices_of(store.iter(), NoticeKind::Resynced));
                handler.hear_resync(notices.iter(), fields);
                self.look_at(id);
            }
        }
    }

    /// The stream was interrupted.
    pub fn interrupted(&mut self, interruption: Interruption) {
        if self.informers.iter().any(|(_, informer)| informer.started && !informer.stopped) {
            self.interruptions.push(interruption);
        }
    }

    /// Bytes of indexes, of what was written and has not come back, and of the places of what waits for handlers.
    pub fn bytes(&self) -> usize {
        let informers: usize = self.informers.iter().map(|(_, informer)| informer.bytes()).sum();
        informers + self.handlers.iter().map(|(_, handler)| handler.bytes()).sum::<usize>()
    }

    /// Bytes that go with an informer, with the objects that only readers and its queues hold. Looks at all that waits.
    fn held(&self, informer: &Informer) -> usize {
        let queues = informer.handlers.iter().filter_map(|id| self.handlers.get(id.place())).map(Handler::held);
        informer.bytes() + queues.sum::<usize>()
    }

    /// Who has grown most lately, and by how much.
    pub(crate) fn grown(&self) -> (InformerId, usize) {
        let all = self.informers.iter().filter(|(_, informer)| !informer.stopped);
        let all = all.map(|(at, informer)| (InformerId::of(at), informer.growth.until(self.held(informer))));
        all.max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }

    /// Notes what each takes now.
    pub(crate) fn mark(&mut self) {
        let held: Vec<usize> = self.informers.iter().map(|(_, informer)| self.held(informer)).collect();
        for ((_, informer), held) in self.informers.iter_mut().zip(held) {
            informer.growth.mark(held);
        }
    }

    /// There is no memory for an informer: it ends for good with all that it holds, and says why.
    pub(crate) fn fail(&mut self, id: InformerId, phase: Phase, error: Error) {
        self.stop(id);
        let informer = &mut self.informers[id.place()];
        informer.indexes.clear();
        informer.overlay = None;
        self.interruptions.push(Interruption { phase, error, retry_at: None, stale: true, key: None, ended: Some(id) });
    }

    /// Whether somebody wants to hear of it.
    pub fn is_empty(&self) -> bool {
        self.informers.is_empty()
    }

    /// A write left this object.
    pub fn mutated(&mut self, object: &Rc<Object>, now: Millis) {
        for (_, informer) in &mut self.informers {
            if let Some(overlay) = informer.overlay.as_mut().filter(|_| !informer.stopped) {
                overlay.mutated(object, now);
            }
        }
    }

    // -------------------------------------------------------------------------------------------- flushes

    /// Whether a flush would tell anything.
    pub fn has_output(&self) -> bool {
        !self.pending.is_empty() || !self.untold.is_empty() || !self.interruptions.is_empty()
    }

    /// Whether a queue overflowed since the last call.
    pub fn take_overflowed(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    /// What the next flush tells. [`Informers::given`] follows when it has been told.
    pub fn take(&mut self) -> Notices {
        let mut notices = Notices { interruptions: std::mem::take(&mut self.interruptions), ..Notices::default() };
        self.flushes += 1;
        for id in std::mem::take(&mut self.untold) {
            if let Some(informer) = self.informers.get_mut(id.place()).filter(|informer| !informer.synced_told && !informer.stopped) {
                informer.synced_told = true;
                notices.informers_synced.push(id);
            }
        }
        self.flushing = true;
        for (place, notice) in self.straight.iter().enumerate() {
            notice.set_place(self.flushes, u32::try_from(place).unwrap_or(u32::MAX));
        }
        notices.table.clone_from(&self.straight);
        for id in std::mem::take(&mut self.pending) {
            let Some(handler) = self.handlers.get_mut(id.place()) else { continue };
            handler.pending = false;
            let straight = if handler.gone { 0 } else { handler.straight };
            for place in 0..straight {
                notices.pairs.extend_from_slice(&[id.number(), u32::try_from(place).unwrap_or(u32::MAX)]);
            }
            for notice in handler.take(PUMP_LIMIT.saturating_sub(handler.straight)) {
                let place = notice.place_in(self.flushes).unwrap_or_else(|| {
                    let place = u32::try_from(notices.table.len()).unwrap_or(u32::MAX);
                    notice.set_place(self.flushes, place);
                    notices.table.push(notice.clone());
                    place
                });
                notices.pairs.extend_from_slice(&[id.number(), place]);
            }
            if handler.tell_synced() {
                notices.handlers_synced.push(id);
            }
            self.served.push(id);
        }
        notices
    }

    /// The flush is over: who did not say otherwise is done with it.
    pub fn given(&mut self) {
        self.flushing = false;
        self.straight.clear();
        for id in std::mem::take(&mut self.served) {
            if let Some(handler) = self.handlers.get_mut(id.place()) {
                handler.given();
                self.look_at(id);
            }
        }
        for id in std::mem::take(&mut self.retired) {
            self.handlers.try_remove(id.place());
            self.pending.retain(|pending| *pending != id);
        }
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> InformerStats {
        let running = self.informers.iter().filter(|(_, informer)| informer.started && !informer.stopped).count();
        let mut stats = InformerStats { running, ..InformerStats::default() };
        for (_, handler) in self.handlers.iter().filter(|(_, handler)| !handler.gone) {
            stats.handlers += 1;
            stats.queued += handler.queued();
        }
        stats
    }
}

impl StoreListener for Informers {
    /// Nobody is told before the list is whole.
    fn appeared(&mut self, previous: Option<&Rc<Object>>, object: &Rc<Object>, _fields: &FieldSet) {
        for (_, informer) in &mut self.informers {
            informer.store_changed(previous, Some(object));
        }
    }

    /// A deletion of what was not held is nobody's news.
    fn changed(&mut self, change: &Change, fields: &FieldSet) {
        if self.informers.is_empty() {
            return;
        }
        let Change { kind, object, previous, at } = change;
        let (deleted, before) = (*kind == ChangeKind::Deleted, previous.as_ref());
        for (_, informer) in &mut self.informers {
            informer.store_changed(before, (!deleted).then_some(object));
            if let (Some(overlay), true) = (&mut informer.overlay, deleted) {
                overlay.deleted(object, *at);
            }
        }
        let kind = match (deleted, before) {
            (true, None) => return,
            (true, Some(_)) => NoticeKind::Deleted,
            (false, None) => NoticeKind::Added,
            (false, Some(_)) => NoticeKind::Updated,
        };
        let notice = Notice::new(kind, object.clone(), before.cloned());
        self.tell(&notice, fields);
    }

    /// Deletions come first, then the rest in the order of keys, which is that of lists.
    fn replaced(&mut self, replacement: &Replacement<'_>, fields: &FieldSet) {
        let Replacement { differences, store, at, .. } = *replacement;
        if self.informers.is_empty() {
            return;
        }
        for (_, informer) in &mut self.informers {
            for Difference { before, after } in differences {
                informer.store_changed(before.as_ref(), after.as_ref());
                if let (Some(overlay), Some(before), None) = (&mut informer.overlay, before, after) {
                    overlay.deleted(before, at);
                }
            }
        }
        let (told, new): (Vec<InformerId>, Vec<InformerId>) = self
            .informers
            .iter()
            .filter(|(_, informer)| informer.started && !informer.stopped)
            .map(|(informer, _)| InformerId::of(informer))
            .partition(|informer| self.informers[informer.place()].synced);
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
            informer.stopped = true;
            informer.ticking = None;
            informer.handlers.clear();
            informer.indexes.clear();
        }
        self.handlers.clear();
        self.pending.clear();
        self.straight.clear();
        self.served.clear();
        self.retired.clear();
        self.untold.clear();
        self.interruptions.clear();
    }
}
