//! How many bytes the resources of one cache may hold together, and who gives way.
//!
//! What a resource holds counts: its objects, and what the window keeps beyond them. So does what views, informers and indexes make of them, and
//! what only queues and readers still hold. Before the bound is broken, decoded versions that are held for their successors go.
//! Then go resources that nobody uses, then the history of the one that grows. Then whoever has grown most lately ends: a view, a watcher, an informer, or the resource whose objects there is no room for.
//! What has not grown stays, however large it is.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::change::{Change, ChangeKind};
use crate::informer::InformerId;
use crate::message::{Message, Restored};
use crate::object::Object;
use crate::object::rest::Packer;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::view::ViewId;
use crate::watch::WatcherId;

/// The default bound, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 512 << 20;

/// What each takes is noted anew when the whole has changed by one such step of the bound. Who grew lately grew since then.
const STEPS_IN_BOUND: usize = 16;

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
    fn note_bytes(&self);
    /// What has grown most lately beside its objects, and by how many bytes.
    fn grown(&self) -> (Grower, usize);
    /// Ends that, for this reason.
    fn shed(&self, grower: Grower, error: &Error);
    /// Has JavaScript let go of decoded versions that it holds for their successors alone.
    fn let_go_decoded(&self);
    /// Looks which of the objects that were let go of are still held.
    fn sift_strays(&self);
    /// Whether nobody uses it.
    fn is_idle(&self) -> bool;
    /// Closes for good.
    fn close(&self);
}

/// The bound, and who shares it.
pub struct Memory {
    max_bytes: usize,
    bytes: Cell<usize>,
    members: RefCell<Vec<Weak<dyn Member>>>,
    // What was held when it was last noted what each takes.
    noted: Cell<usize>,
    // While somebody is being ended, what that changes ends nobody else.
    ending: Cell<bool>,
}

impl Memory {
    /// So many bytes for all.
    pub fn new(max_bytes: usize) -> Rc<Self> {
        Rc::new(Self { max_bytes, bytes: Cell::new(0), members: RefCell::default(), noted: Cell::new(0), ending: Cell::new(false) })
    }

    /// Bytes held by all.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Adds a member, which holds nothing yet.
    pub(crate) fn join(self: &Rc<Self>, member: Weak<dyn Member>) -> Account {
        let mut members = self.members.borrow_mut();
        members.retain(|member| member.strong_count() > 0);
        members.push(member);
        Account { memory: self.clone(), bytes: Cell::new(0) }
    }

    /// What is said to whom there is no room for.
    pub(crate) fn exhausted(&self) -> Error {
        let message = format!("the cache holds {} of {} bytes (memory.maxBytes)", self.bytes.get(), self.max_bytes);
        Error::new(ErrorCode::OutOfMemory, message)
    }

    /// By how many bytes so much growth would break the bound.
    pub(crate) fn lacks(&self, growth: usize) -> usize {
        (self.bytes.get() + growth).saturating_sub(self.max_bytes)
    }

    /// How much room there is.
    pub(crate) fn room(&self) -> usize {
        self.max_bytes.saturating_sub(self.bytes.get())
    }

    fn members(&self) -> Vec<Rc<dyn Member>> {
        self.members.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Notes what each takes, where what all take has changed much since that was done.
    pub(crate) fn note_bytes(&self) {
        if !self.ending.get() && self.bytes.get().abs_diff(self.noted.get()) > self.max_bytes / STEPS_IN_BOUND {
            self.noted.set(self.bytes.get());
            self.members().iter().for_each(|member| member.note_bytes());
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

    /// Has JavaScript let go of decoded versions that it holds for their successors alone. That is the cheapest to give up.
    pub(crate) fn let_go_decoded(&self) {
        for member in self.members() {
            member.let_go_decoded();
            member.count();
        }
    }

    /// Looks which of the objects that were let go of are still held.
    pub(crate) fn sift_strays(&self) {
        for member in self.members() {
            member.sift_strays();
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
    bytes: Cell<usize>,
}

impl Account {
    /// Whose part it is.
    pub(crate) fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// What the member holds, as it was told last.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The member holds so much now.
    pub(crate) fn set(&self, bytes: usize) {
        self.memory.bytes.set(self.memory.bytes.get() - self.bytes.replace(bytes) + bytes);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Bytes that one more object may take beside its own: its place in the store, its change, and its place among those to be packed.
const ATTENDANT_BYTES: usize = Store::PLACE_BYTES + size_of::<Change>() + Packer::WAITING_BYTES;

/// By how much a message makes a resource grow, at most.
pub(crate) fn growth(message: &Message, store: &Store, first_list: bool) -> usize {
    let new = |object: &&Rc<Object>| store.get(object.key()).is_none_or(|held| held.version() != object.version());
    let each = |object: &Rc<Object>| object.size() + ATTENDANT_BYTES;
    match message {
        Message::Page { objects, .. } | Message::Shown { objects, .. } if first_list => objects.iter().filter(new).map(each).sum(),
        Message::Replace { objects, .. } | Message::Restored(Restored { objects, .. }) => {
            objects.iter().map(each).sum::<usize>().saturating_sub(store.bytes() + store.len() * ATTENDANT_BYTES)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    /// A resource that holds so many bytes, of which somebody made so many grow lately.
    struct Holder {
        account: RefCell<Option<Account>>,
        bytes: Cell<usize>,
        grown: Cell<usize>,
        is_idle: bool,
        notes: Cell<usize>,
    }

    impl Holder {
        fn of(memory: &Rc<Memory>, bytes: usize, is_idle: bool) -> Rc<Self> {
            let grown = Cell::default();
            let holder = Rc::new(Self { account: RefCell::default(), bytes: Cell::new(bytes), grown, is_idle, notes: Cell::default() });
            let member: Rc<dyn Member> = holder.clone();
            *holder.account.borrow_mut() = Some(memory.join(Rc::downgrade(&member)));
            holder.count();
            holder
        }
    }

    impl Member for Holder {
        fn count(&self) {
            self.account.borrow().as_ref().expect("an account").set(self.bytes.get());
        }
        fn note_bytes(&self) {
            self.notes.set(self.notes.get() + 1);
        }
        fn grown(&self) -> (Grower, usize) {
            (Grower::View(ViewId::default()), self.grown.get())
        }
        fn shed(&self, _: Grower, _: &Error) {
            self.bytes.set(self.bytes.get() - self.grown.take());
        }
        fn let_go_decoded(&self) {}
        fn sift_strays(&self) {}
        fn is_idle(&self) -> bool {
            self.is_idle
        }
        fn close(&self) {
            self.bytes.set(0);
            self.count();
        }
    }

    #[test]
    fn what_is_held_is_the_sum_of_what_each_said_last() {
        let memory = Memory::new(1000);
        let (first, second) = (Holder::of(&memory, 300, false), Holder::of(&memory, 500, false));
        assert_eq!((memory.bytes(), memory.room(), memory.lacks(200), memory.lacks(201)), (800, 200, 0, 1));
        first.bytes.set(100);
        first.count();
        assert_eq!(memory.bytes(), 600);
        drop(first);
        assert_eq!(memory.bytes(), 500, "its end gives back what it held");
        drop(second);
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn it_is_noted_anew_who_takes_what_once_a_sixteenth_of_the_bound_has_changed() {
        let memory = Memory::new(1600);
        let holder = Holder::of(&memory, 100, false);
        memory.note_bytes();
        assert_eq!(holder.notes.get(), 0, "no more than a sixteenth");
        holder.bytes.set(101);
        holder.count();
        memory.ending(|| memory.note_bytes());
        assert_eq!(holder.notes.get(), 0, "somebody is being ended");
        memory.note_bytes();
        memory.note_bytes();
        assert_eq!(holder.notes.get(), 1);
        holder.bytes.set(0);
        holder.count();
        memory.note_bytes();
        assert_eq!(holder.notes.get(), 2, "also where it fell");
    }

    #[test]
    fn who_has_grown_most_ends_first_and_only_while_there_is_no_room() {
        let memory = Memory::new(1000);
        let (large, small) = (Holder::of(&memory, 600, false), Holder::of(&memory, 400, false));
        large.grown.set(50);
        small.grown.set(200);
        memory.end_grown(0, 100);
        assert_eq!((large.bytes.get(), small.bytes.get()), (600, 200));
        memory.end_grown(50, 300);
        assert_eq!(large.bytes.get(), 600, "it has grown by no more than was said");
        memory.end_grown(49, 300);
        assert_eq!(large.bytes.get(), 550);
    }

    #[test]
    fn idle_ones_are_closed_until_there_is_room() {
        let memory = Memory::new(1000);
        let holders = [(300, false), (300, true), (400, true)].map(|(bytes, is_idle)| Holder::of(&memory, bytes, is_idle));
        memory.evict_idle(200);
        assert_eq!(holders.map(|holder| holder.bytes.get()), [300, 0, 400]);
    }

    #[test]
    fn pages_of_the_first_list_grow_it_and_those_of_a_later_list_wait_for_the_whole() {
        let mut store = Store::default();
        let (mut held, new) = (named("held", 1), named("new", 2));
        store.put(&mut held);
        let page = Message::Page { objects: vec![held, new.clone()], loaded: 2, remaining: None };
        assert_eq!(growth(&page, &store, true), new.size() + ATTENDANT_BYTES);
        assert_eq!(growth(&page, &store, false), 0);
    }
}
