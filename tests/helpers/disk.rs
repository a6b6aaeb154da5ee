//! A storage in memory, which can hang, fail and change hands.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, stream};
use watchcache::persist::{Keeper, Kept, Written};
use watchcache::status::Error;

/// The storage of one resource.
#[derive(Default)]
pub struct Disk {
    head: RefCell<Option<Vec<u8>>>,
    pub blocks: RefCell<BTreeMap<u32, Vec<u8>>>,
    order: RefCell<Vec<u32>>,
    /// How many blocks each write had.
    pub writes: RefCell<Vec<usize>>,
    pub reads: Cell<usize>,
    /// Whether it leaves a read without an answer.
    pub hangs: Cell<bool>,
    /// Whether it refuses each write.
    pub is_full: Cell<bool>,
    /// Whether somebody else is the writer.
    pub is_taken: Cell<bool>,
}

impl Disk {
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    /// All that is kept, as it lies there.
    pub fn bytes(&self) -> Vec<u8> {
        self.head.borrow().iter().chain(self.blocks.borrow().values()).flatten().copied().collect()
    }
}

/// A page's way to it.
pub struct Opened(pub Rc<Disk>);

impl Keeper for Opened {
    fn read(&self) -> LocalBoxFuture<'static, Option<Kept>> {
        let disk = &self.0;
        disk.reads.set(disk.reads.get() + 1);
        if disk.hangs.get() {
            return pending().boxed_local();
        }
        let blocks = disk.blocks.borrow();
        let blocks: Vec<Vec<u8>> = disk.order.borrow().iter().map_while(|number| blocks.get(number).cloned()).collect();
        ready(disk.head.borrow().clone().map(|head| Kept { head, blocks: stream::iter(blocks).boxed_local() })).boxed_local()
    }

    fn turn(&self) -> LocalBoxFuture<'static, bool> {
        if self.0.is_taken.get() { pending().boxed_local() } else { ready(true).boxed_local() }
    }

    fn write(&self, written: Written) -> LocalBoxFuture<'static, Result<(), Error>> {
        let disk = &self.0;
        disk.writes.borrow_mut().push(written.blocks.len());
        if disk.is_full.get() {
            return ready(Err(Error::network("the quota is exceeded"))).boxed_local();
        }
        let mut blocks = disk.blocks.borrow_mut();
        if written.is_whole {
            blocks.clear();
        }
        written.removed.iter().for_each(|number| drop(blocks.remove(number)));
        blocks.extend(written.blocks);
        disk.order.replace(written.order);
        disk.head.replace(Some(written.head));
        ready(Ok(())).boxed_local()
    }
}
