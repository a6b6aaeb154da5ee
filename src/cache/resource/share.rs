//! What a resource holds of the memory that all resources of a cache share.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::cache::cacher::Cacher;
use crate::cache::memory::{Account, Member, Memory, growth};
use crate::message::Message;
use crate::status::Error;

/// Counts what a cacher holds, and has it give way. Before it has joined a memory there is no bound.
pub(super) struct Share {
    cacher: Rc<RefCell<Cacher>>,
    account: RefCell<Option<Account>>,
}

impl Share {
    /// Of this cacher, in no memory yet.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>) -> Rc<Self> {
        Rc::new(Self { cacher, account: RefCell::default() })
    }

    /// Shares a bound with others from now on, as this member.
    pub(super) fn join(&self, memory: &Rc<Memory>, member: Weak<dyn Member>) {
        let account = memory.join(member);
        *self.account.borrow_mut() = Some(account);
        self.keep_bound();
    }

    /// Says how much is held. What has grown beyond the bound gives way.
    pub(super) fn keep_bound(&self) {
        let account = self.account.borrow();
        let Some(account) = &*account else { return };
        account.set(self.cacher.borrow().bytes());
        if account.memory().lacks(0) > 0 {
            self.reduce(account);
        }
        account.memory().note_bytes();
    }

    /// Says how much is held.
    pub(super) fn count(&self) {
        if let Some(account) = &*self.account.borrow() {
            account.set(self.cacher.borrow().bytes());
        }
    }

    /// What it takes to hold objects, or what is made of them, has grown beyond the bound: ends what may end, until that is kept.
    #[inline(never)]
    fn reduce(&self, account: &Account) {
        let memory = account.memory();
        memory.ending(|| {
            memory.let_go_decoded();
            memory.sift_strays();
            memory.evict_idle(0);
            self.release_history(account, 0);
            memory.end_grown(0, 0);
        });
    }

    /// Gives up history until there is room for so many bytes. Where all of it would not do, it stays.
    fn release_history(&self, account: &Account, growth: usize) {
        let mut cacher = self.cacher.borrow_mut();
        loop {
            let lacks = account.memory().lacks(growth);
            if lacks == 0 || cacher.held().window().bytes() < lacks {
                return;
            }
            cacher.held_mut().release_history(lacks);
            account.set(cacher.bytes());
        }
    }

    /// Whether there is room for so many bytes more. They count at once: what is held is counted anew by the next flush, and more may be asked for before it.
    pub(super) fn take_room(&self, bytes: usize) -> bool {
        let account = self.account.borrow();
        let Some(account) = &*account else { return true };
        let has_room = account.memory().lacks(bytes) == 0;
        if has_room {
            account.set(account.bytes() + bytes);
        }
        has_room
    }

    /// How much room there is, once what is held was counted anew.
    pub(super) fn room(&self) -> usize {
        let account = self.account.borrow();
        let Some(account) = &*account else { return usize::MAX };
        self.cacher.borrow_mut().held_mut().sift_strays();
        account.set(self.cacher.borrow().bytes());
        account.memory().room()
    }

    /// Makes room for a message that is about to be applied. Fails when there is none.
    pub(super) fn make_room(&self, message: &Message) -> Result<(), Error> {
        let account = self.account.borrow();
        let Some(account) = &*account else { return Ok(()) };
        let memory = account.memory();
        let growth = {
            let cacher = self.cacher.borrow();
            growth(message, cacher.store(), !cacher.availability().holds_list())
        };
        if growth == 0 || memory.lacks(growth) == 0 {
            return Ok(());
        }
        if self.cacher.borrow().held().needs_packing() {
            self.cacher.borrow_mut().held_mut().pack_all();
            self.keep_bound();
        }
        memory.let_go_decoded();
        memory.evict_idle(growth);
        self.release_history(account, growth);
        if memory.lacks(growth) == 0 {
            return Ok(());
        }
        memory.sift_strays();
        self.release_history(account, growth);
        // The objects grow as well, and it is them that there is no room for: another must have grown by more.
        let grown = self.cacher.borrow().held().grown() + growth;
        memory.ending(|| memory.end_grown(grown, growth));
        if memory.lacks(growth) == 0 { Ok(()) } else { Err(memory.exhausted()) }
    }
}
