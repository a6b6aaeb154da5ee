//! How many bytes the resources of one cache may hold together, and who gives way.
//!
//! What a resource holds counts: its objects, and what the window keeps beyond them. So does what views, informers and indexes make of them, and
//! what only queues and readers still hold. Before the bound is broken, resources that nobody uses go, then the history of the one
//! that grows. Then whoever has grown most lately ends: a view, a watcher, an informer, or the resource whose objects there is no room for.
//! What has not grown stays, however large it is.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::change::{Change, ChangeKind};
use crate::informer::InformerId;
use crate::message::Message;
use crate::object::Object;
use crate::object::rest::Packer;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::view::ViewId;
use crate::watch::WatcherId;

/// The default bound, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 512 << 20;

/// What each takes is noted anew when the whole has changed by this part of the bound. Who grew lately grew since then.
const MARKS_IN_BOUND: usize = 16;

/// What may end for want of memory, its resource living on.
#[derive(Clone, Copy)]
pub(crate) enum Grower {
    /// A live view.
    View(ViewId),
    /// A watcher that does not take what waits for it.
    Watcher(WatcherId),
    /// An informer.
    Informer(InformerId),
}

/// Who shares the bound: a resource, as the memory sees it.
pub(crate) trait Member {
    /// Says anew how much it holds.
    fn count(&self);
    /// Notes what everything of it takes now.
    fn mark(&self);
    /// What has grown most lately beside its objects, and by how many bytes.
    fn grown(&self) -> (Grower, usize);
    /// Ends that, for this reason.
    fn shed(&self, grower: Grower, error: &Error);
    /// Looks which of the objects that were let go of are still held.
    fn settle_strays(&self);
    /// Whether nobody uses it.
    fn is_idle(&self) -> bool;
    /// Closes for good.
    fn close(&self);
}

/// The bound, and who shares it.
pub struct Memory {
    max_bytes: usize,
    held: Cell<usize>,
    members: RefCell<Vec<Weak<dyn Member>>>,
    // What was held when it was last noted what each takes.
    marked: Cell<usize>,
    // While somebody is being ended, what that changes ends nobody else.
    ending: Cell<bool>,
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

    /// Adds a member, which holds nothing yet.
    pub(crate) fn join(self: &Rc<Self>, member: Weak<dyn Member>) -> Account {
        let mut members = self.members.borrow_mut();
        members.retain(|member| member.strong_count() > 0);
        members.push(member);
        Account { memory: self.clone(), held: Cell::new(0) }
    }

    /// What is said to whom there is no room for.
    pub(crate) fn exhausted(&self) -> Error {
        let message = format!("the cache holds {} of {} bytes (memory.maxBytes)", self.held.get(), self.max_bytes);
        Error::new(ErrorCode::OutOfMemory, message)
    }

    /// By how many bytes so much growth would break the bound.
    pub(crate) fn lacks(&self, growth: usize) -> usize {
        (self.held.get() + growth).saturating_sub(self.max_bytes)
    }

    /// How much room there is.
    pub(crate) fn room(&self) -> usize {
        self.max_bytes.saturating_sub(self.held.get())
    }

    fn members(&self) -> Vec<Rc<dyn Member>> {
        self.members.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Notes what each takes, where what all take has changed much since that was done.
    pub(crate) fn mark(&self) {
        if !self.ending.get() && self.held.get().abs_diff(self.marked.get()) > self.max_bytes / MARKS_IN_BOUND {
            self.marked.set(self.held.get());
            self.members().iter().for_each(|member| member.mark());
        }
    }

    /// Does this, unless somebody is being ended already: what that changes ends nobody else.
    pub(crate) fn ending(&self, work: impl FnOnce()) {
        if !self.ending.replace(true) {
            work();
            self.ending.set(false);
        }
    }

    /// Makes room for so much growth: ends those who have grown most lately, one after the other. Objects are left alone, and so is who grew
    /// by no more than `more_than`.
    pub(crate) fn end_grown(&self, more_than: usize, growth: usize) {
        while self.lacks(growth) > 0 {
            let grown = self.members().into_iter().map(|member| {
                let (grower, by) = member.grown();
                (member, grower, by)
            });
            let Some((member, grower, _)) = grown.max_by_key(|(_, _, by)| *by).filter(|(_, _, by)| *by > more_than) else { return };
            // It is told soon, whatever else its resource does or does not do.
            member.shed(grower, &self.exhausted());
            member.count();
        }
    }

    /// Looks which of the objects that were let go of are still held.
    pub(crate) fn settle_strays(&self) {
        for member in self.members() {
            member.settle_strays();
            member.count();
        }
    }

    /// Closes resources that nobody uses, until there is room for so much growth or none is left.
    pub(crate) fn evict_idle(&self, growth: usize) {
        for member in self.members().into_iter().filter(|member| member.is_idle()) {
            if self.lacks(growth) == 0 {
                return;
            }
            member.close();
        }
    }
}

/// What one member holds of it. Its end gives that back.
pub(crate) struct Account {
    memory: Rc<Memory>,
    held: Cell<usize>,
}

impl Account {
    /// Whose part it is.
    pub(crate) fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// The member holds so much now.
    pub(crate) fn settle(&self, bytes: usize) {
        self.memory.held.set(self.memory.held.get() - self.held.replace(bytes) + bytes);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.settle(0);
    }
}

/// Bytes that one more object may take beside its own: its place in the store, its change in the window, and that it waits to be packed.
const ATTENDANTS: usize = Store::PLACE + size_of::<Change>() + Packer::WAITING;

/// By how much a message makes a resource grow, at most.
pub(crate) fn growth(message: &Message, store: &Store, first_list: bool) -> usize {
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
