//! How many bytes the resources of one cache may hold together.
//!
//! What counts is what a resource holds: its objects, and what the window keeps beyond them. Before the bound is broken, resources that nobody
//! uses go, then the history of the one that grows, and then that one stops.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::cache::incoming::{ChangeKind, Incoming};
use crate::cache::resource::Resource;
use crate::cache::store::Store;
use crate::object::Object;
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

/// By how much a message makes a resource grow, at most.
fn growth(message: &Incoming, store: &Store, first_list: bool) -> usize {
    let new = |object: &&Rc<Object>| store.get(object.key()).is_none_or(|held| held.version() != object.version());
    match message {
        Incoming::Page { objects, .. } if first_list => objects.iter().filter(new).map(|object| object.size()).sum(),
        Incoming::Replace { objects, .. } => objects.iter().map(|object| object.size()).sum::<usize>().saturating_sub(store.bytes()),
        Incoming::Change { kind: ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted, object, .. } => object.size(),
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

    /// Says how much is held.
    pub(super) fn settle_memory(&self) {
        if let Some(share) = &*self.share.borrow() {
            let cacher = self.cacher.borrow();
            share.settle(cacher.store().bytes() + cacher.window().bytes());
        }
    }

    /// Makes room for a message that is about to be applied. Fails when there is none.
    pub(super) fn make_room(&self, message: &Incoming) -> Result<(), Error> {
        let Some(memory) = self.share.borrow().as_ref().map(|share| share.memory.clone()) else { return Ok(()) };
        let growth = {
            let cacher = self.cacher.borrow();
            growth(message, cacher.store(), cacher.stats().lists == 0)
        };
        if growth == 0 || memory.lacks(growth) == 0 {
            return Ok(());
        }
        memory.evict_idle(growth);
        let lacks = memory.lacks(growth);
        if lacks > 0 && self.cacher.borrow().window().bytes() >= lacks {
            self.cacher.borrow_mut().window.release(lacks);
            self.settle_memory();
        }
        if memory.lacks(growth) == 0 { Ok(()) } else { Err(memory.exhausted()) }
    }
}
