//! How many bytes the resources of one cache may hold together.
//!
//! What counts is what a resource holds: its objects, and what the window keeps beyond them. Before the bound is broken, resources that nobody
//! uses go, then the history of the one that grows, and then that one stops.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::cache::cacher::Cacher;
use crate::cache::incoming::{ChangeKind, Incoming};
use crate::cache::resource::Resource;
use crate::cache::store::Store;
use crate::cache::window::Entry;
use crate::object::Object;
use crate::pack::Packer;
use crate::status::{Error, ErrorCode};

/// The default bound, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 512 << 20;

/// The bound, and who shares it.
pub struct Memory {
    max_bytes: usize,
    held: Cell<usize>,
    members: RefCell<Vec<Weak<Resource>>>,
}

impl Memory {
    /// So many bytes for all.
    pub fn new(max_bytes: usize) -> Rc<Self> {
        Rc::new(Self { max_bytes, held: Cell::new(0), members: RefCell::default() })
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

    /// Closes resources that nobody uses, until there is room or none is left.
    fn evict_idle(&self, growth: usize) {
        let members = self.members.borrow().clone();
        for resource in members.iter().filter_map(Weak::upgrade).filter(|resource| resource.is_idle()) {
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
const ATTENDANTS: usize = Store::PLACE + size_of::<Entry>() + Packer::WAITING;

/// By how much a message makes a resource grow, at most.
fn growth(message: &Incoming, store: &Store, first_list: bool) -> usize {
    let new = |object: &&Rc<Object>| store.get(object.key()).is_none_or(|held| held.version() != object.version());
    let each = |object: &Rc<Object>| object.size() + ATTENDANTS;
    match message {
        Incoming::Page { objects, .. } if first_list => objects.iter().filter(new).map(each).sum(),
        Incoming::Replace { objects, .. } => {
            objects.iter().map(each).sum::<usize>().saturating_sub(store.bytes() + store.len() * ATTENDANTS)
        }
        Incoming::Differences { differences, .. } => {
            let (new, gone) =
                (differences.iter().filter_map(|one| one.after.as_ref()), differences.iter().filter_map(|one| one.before.as_ref()));
            new.map(each).sum::<usize>().saturating_sub(gone.map(each).sum())
        }
        Incoming::Change { kind: ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted, object, .. } => each(object),
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
        if let Some(share) = &*self.share.borrow() {
            share.settle(self.cacher.borrow().bytes());
            if share.memory.lacks(0) > 0 {
                self.give_way(share);
            }
        }
    }

    /// What it takes to hold objects, or what is made of them, has grown beyond the bound.
    #[inline(never)]
    fn give_way(&self, share: &Share) {
        let memory = &share.memory;
        self.cacher.borrow_mut().settle_strays();
        share.settle(self.cacher.borrow().bytes());
        if memory.lacks(0) > 0 {
            memory.evict_idle(0);
        }
        self.release_history(share, 0);
        while memory.lacks(0) > 0 && self.cacher.borrow_mut().shed(&memory.exhausted()) {
            share.settle(self.cacher.borrow().bytes());
        }
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

    /// Makes room for a message that is about to be applied. Fails when there is none.
    pub(super) fn make_room(&self, message: &Incoming) -> Result<(), Error> {
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
        if memory.lacks(growth) == 0 { Ok(()) } else { Err(memory.exhausted()) }
    }
}

impl Cacher {
    /// Bytes held: the objects, the window, what it takes to keep them, and what is made of them or held back for somebody.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.store.overhead() + self.window.bytes() + self.packer.overhead() + self.side_bytes()
    }

    /// Of these, what indexes, views and informers take, and objects that nobody but who reads them late still holds.
    fn side_bytes(&self) -> usize {
        self.store.index_bytes() + self.views.bytes() + self.informers.bytes() + self.window.strays.bytes()
    }

    /// Looks which of the objects that were let go of are still held.
    pub(super) fn settle_strays(&mut self) {
        self.window.strays.settle();
    }

    /// Ends what holds most beside the store: a view, or a watcher that does not take what waits for it. Whether there was any.
    pub(super) fn shed(&mut self, error: &Error) -> bool {
        let (view, watcher) = (self.views.largest(), self.dispatcher.largest());
        if view.1.max(watcher.1) == 0 {
            return false;
        }
        if view.1 >= watcher.1 {
            self.views.fail(view.0, error.clone());
        } else {
            self.dispatcher.cut(watcher.0, error.clone(), &self.version);
        }
        self.settle_strays();
        true
    }
}
