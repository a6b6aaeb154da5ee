//! How many bytes the resources of one cache may hold together.
//!
//! What counts is what a resource holds: its objects, what the window keeps beyond them, what is made of them for views, informers and indexes, and
//! objects that only queues and readers still hold. Before the bound is broken, resources that nobody uses go, then the history of the one that
//! grows. Then whoever has grown most lately ends: a view, a watcher, an informer, or the resource whose objects there is no room for. What has
//! not grown stays, however large it is.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::cache::cacher::Cacher;
use crate::cache::resource::Resource;
use crate::change::Change;
use crate::change::ChangeKind;
use crate::informer::InformerId;
use crate::message::Message;
use crate::object::Object;
use crate::object::rest::Packer;
use crate::runtime::Millis;
use crate::runtime::slice::Slice;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::view::ViewId;
use crate::watch::WatcherId;

/// The default bound, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 512 << 20;

/// The bound, and who shares it.
pub struct Memory {
    max_bytes: usize,
    held: Cell<usize>,
    members: RefCell<Vec<Weak<Resource>>>,
    // What was held when it was last noted what each takes.
    marked: Cell<usize>,
    // While somebody is being ended, what that changes ends nobody else.
    ending: Cell<bool>,
}

/// It is noted anew what each takes when the whole has changed by this part of the bound: who grew lately grew since then.
const LATELY: usize = 16;

/// What may end for want of memory, its resource living on.
#[derive(Clone, Copy)]
enum Side {
    View(ViewId),
    Watcher(WatcherId),
    Informer(InformerId),
}

impl Memory {
    /// So many bytes for all.
    pub fn new(max_bytes: usize) -> Rc<Self> {
        Rc::new(Self { max_bytes, held: Cell::new(0), members: RefCell::default(), marked: Cell::new(0), ending: Cell::new(false) })
    }

    /// Bytes held by all.
    pub fn held(&self) -> usize {
        self.held.get()
    }

    /// What is said to whom there is no room for.
    fn exhausted(&self) -> Error {
        let message = format!("the cache holds {} of {} bytes (memory.maxBytes)", self.held.get(), self.max_bytes);
        Error::new(ErrorCode::OutOfMemory, message)
    }

    fn lacks(&self, growth: usize) -> usize {
        (self.held.get() + growth).saturating_sub(self.max_bytes)
    }

    fn members(&self) -> Vec<Rc<Resource>> {
        self.members.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Notes what each takes, where what all take has changed much since that was done.
    fn mark(&self) {
        if !self.ending.get() && self.held.get().abs_diff(self.marked.get()) > self.max_bytes / LATELY {
            self.marked.set(self.held.get());
            self.members().iter().for_each(|member| member.cacher.borrow_mut().mark());
        }
    }

    /// Ends who has grown most lately beside the objects, and by more than this. Whether there was anybody.
    fn end_grown(&self, more_than: usize) -> bool {
        let grown = self.members().into_iter().map(|member| {
            let (side, growth) = member.cacher.borrow().grown();
            (member, side, growth)
        });
        let Some((member, side, growth)) = grown.max_by_key(|(_, _, growth)| *growth) else { return false };
        if growth <= more_than {
            return false;
        }
        let error = self.exhausted();
        // It is told soon, whatever else its resource does or does not do.
        member.with(|cacher| cacher.shed(side, &error));
        member.count_memory();
        true
    }

    /// Looks which of the objects that were let go of are still held.
    fn settle_strays(&self) {
        for member in self.members() {
            member.cacher.borrow_mut().settle_strays();
            member.count_memory();
        }
    }

    /// Closes resources that nobody uses, until there is room or none is left.
    fn evict_idle(&self, growth: usize) {
        for resource in self.members().into_iter().filter(|resource| resource.is_idle()) {
            if self.lacks(growth) == 0 {
                return;
            }
            resource.close();
        }
    }
}

/// What one resource holds of it.
pub(super) struct Share {
    memory: Rc<Memory>,
    held: Cell<usize>,
}

impl Share {
    /// The resource holds so much now.
    pub(super) fn settle(&self, bytes: usize) {
        self.memory.held.set(self.memory.held.get() - self.held.replace(bytes) + bytes);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.settle(0);
    }
}

/// Bytes that one more object may take beside its own: its place in the store, its change in the window, and that it waits to be packed.
const ATTENDANTS: usize = Store::PLACE + size_of::<Change>() + Packer::WAITING;

/// By how much a message makes a resource grow, at most.
fn growth(message: &Message, store: &Store, first_list: bool) -> usize {
    let new = |object: &&Rc<Object>| store.get(object.key()).is_none_or(|held| held.version() != object.version());
    let each = |object: &Rc<Object>| object.size() + ATTENDANTS;
    match message {
        Message::Page { objects, .. } if first_list => objects.iter().filter(new).map(each).sum(),
        Message::Replace { objects, .. } => {
            objects.iter().map(each).sum::<usize>().saturating_sub(store.bytes() + store.len() * ATTENDANTS)
        }
        Message::Differences { differences, .. } => {
            let (new, gone) =
                (differences.iter().filter_map(|one| one.after.as_ref()), differences.iter().filter_map(|one| one.before.as_ref()));
            new.map(each).sum::<usize>().saturating_sub(gone.map(each).sum())
        }
        Message::Change { kind: ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted, object, .. } => each(object),
        _ => 0,
    }
}

impl Resource {
    /// Has this resource share a bound with others. Without one there is none.
    pub fn share_memory(self: &Rc<Self>, memory: &Rc<Memory>) {
        let mut members = memory.members.borrow_mut();
        members.retain(|member| member.strong_count() > 0);
        members.push(Rc::downgrade(self));
        *self.share.borrow_mut() = Some(Share { memory: memory.clone(), held: Cell::new(0) });
        drop(members);
        self.settle_memory();
    }

    /// Says how much is held. What has grown beyond the bound gives way.
    pub fn settle_memory(&self) {
        let share = self.share.borrow();
        let Some(share) = &*share else { return };
        self.count_memory();
        if share.memory.lacks(0) > 0 {
            self.give_way(share);
        }
        share.memory.mark();
    }

    fn count_memory(&self) {
        if let Some(share) = &*self.share.borrow() {
            share.settle(self.cacher.borrow().bytes());
        }
    }

    /// What it takes to hold objects, or what is made of them, has grown beyond the bound.
    #[inline(never)]
    fn give_way(&self, share: &Share) {
        let memory = &share.memory;
        if memory.ending.replace(true) {
            return;
        }
        memory.settle_strays();
        if memory.lacks(0) > 0 {
            memory.evict_idle(0);
        }
        self.release_history(share, 0);
        while memory.lacks(0) > 0 && memory.end_grown(0) {}
        memory.ending.set(false);
    }

    /// Has views come back that there was no memory for, as far as there is now.
    pub(super) fn revive_views(self: &Rc<Self>) {
        let room = self.share.borrow().as_ref().map_or(usize::MAX, |share| {
            self.cacher.borrow_mut().settle_strays();
            self.count_memory();
            share.memory.max_bytes.saturating_sub(share.memory.held.get())
        });
        self.with(|cacher| cacher.revive_views(room));
    }

    /// JavaScript has collected what it did not hold.
    pub fn collected(&self) {
        self.cacher.borrow_mut().window.strays.collected();
        self.settle_memory();
    }

    /// Gives up history until there is room for so many bytes. Where all of it would not do, it stays.
    fn release_history(&self, share: &Share, growth: usize) {
        let mut cacher = self.cacher.borrow_mut();
        loop {
            let lacks = share.memory.lacks(growth);
            if lacks == 0 || cacher.window().bytes() < lacks {
                return;
            }
            cacher.window.release(lacks);
            cacher.close_holes();
            share.settle(cacher.bytes());
        }
    }

    /// Whether nobody uses it.
    pub fn is_idle(&self) -> bool {
        self.idle.get()
    }

    /// Makes room for a message that is about to be applied, with the time that it is then. Fails when there is none.
    pub(super) async fn find_room(self: &Rc<Self>, message: &Message, slice: &Slice, now: &mut Millis) -> Result<(), Error> {
        if self.make_room(message).is_ok() {
            return Ok(());
        }
        // What waits for a flush, or for whoever reads it in the host's turn, is all that may be in the way.
        self.flush();
        slice.rest(&*self.runtime).await;
        *now = self.runtime.now();
        if self.cacher.borrow_mut().ready().is_stopped() {
            return Ok(()); // closed meanwhile: nothing is applied
        }
        self.make_room(message)
    }

    /// The same at once.
    fn make_room(&self, message: &Message) -> Result<(), Error> {
        let share = self.share.borrow();
        let Some(share) = &*share else { return Ok(()) };
        let memory = &share.memory;
        let growth = {
            let cacher = self.cacher.borrow();
            growth(message, cacher.store(), !cacher.has_listed())
        };
        if growth == 0 || memory.lacks(growth) == 0 {
            return Ok(());
        }
        if !self.cacher.borrow().is_settled() {
            self.cacher.borrow_mut().pack_all();
            self.settle_memory();
        }
        memory.evict_idle(growth);
        self.release_history(share, growth);
        if memory.lacks(growth) == 0 {
            return Ok(());
        }
        memory.settle_strays();
        self.release_history(share, growth);
        // The objects grow as well, and it is them that there is no room for: another must have grown by more.
        let grown = self.cacher.borrow().objects_grown() + growth;
        if !memory.ending.replace(true) {
            while memory.lacks(growth) > 0 && memory.end_grown(grown) {}
            memory.ending.set(false);
        }
        if memory.lacks(growth) == 0 { Ok(()) } else { Err(memory.exhausted()) }
    }
}

impl Cacher {
    /// Bytes held: the objects, the window, what it takes to keep them, and what is made of them or held back for somebody.
    pub fn bytes(&self) -> usize {
        self.object_bytes() + self.side_bytes()
    }

    fn object_bytes(&self) -> usize {
        self.store.bytes() + self.store.overhead() + self.window.bytes() + self.packer.overhead() + self.store.index_bytes()
    }

    /// What views and informers take, and objects that nobody but who reads them late still holds.
    fn side_bytes(&self) -> usize {
        self.views.bytes() + self.informers.bytes() + self.window.strays.bytes()
    }

    /// Looks which of the objects that were let go of are still held.
    pub(super) fn settle_strays(&mut self) {
        self.window.strays.settle();
    }

    /// Notes what everything takes now.
    fn mark(&mut self) {
        self.growth.mark(self.object_bytes());
        self.views.mark();
        self.dispatcher.mark();
        self.informers.mark();
    }

    fn objects_grown(&self) -> usize {
        self.growth.until(self.object_bytes())
    }

    /// Who has grown most lately beside the objects, and by how many bytes.
    fn grown(&self) -> (Side, usize) {
        let (view, watcher, informer) = (self.views.grown(), self.dispatcher.grown(), self.informers.grown());
        let sides = [(Side::Informer(informer.0), informer.1), (Side::Watcher(watcher.0), watcher.1), (Side::View(view.0), view.1)];
        sides.into_iter().max_by_key(|(_, growth)| *growth).unwrap_or((Side::View(ViewId::default()), 0))
    }

    /// Ends a view, a watcher that does not take what waits for it, or an informer.
    fn shed(&mut self, side: Side, error: &Error) {
        match side {
            Side::View(view) => self.views.fail(view, error.clone(), &self.store),
            Side::Watcher(watcher) => self.dispatcher.cut(watcher, error.clone(), &self.version),
            Side::Informer(informer) => self.informers.fail(informer, self.status().phase, error.clone()),
        }
        self.settle_strays();
    }
}
