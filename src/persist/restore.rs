//! The state that a head and its blocks are, or nothing.

use std::rc::Rc;

use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::LocalBoxStream;

use super::block::{checksum, decode};
use super::head::Head;
use super::keeper::Kept;
use super::writer::Writer;
use crate::message::Restored;
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::status::Error;
use crate::time::{Millis, WallTime};

/// Makes objects of the parcel in a block.
pub(crate) type Open<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Vec<Rc<Object>>, Error>;

/// How long a storage may take for the next thing that it is asked for. A list is as good as one that hangs.
pub const MAX_READ_MS: Millis = 3_000;

/// What was kept. Its blocks are read one after the other, so that its first rows need not wait for the last.
pub struct Found {
    head: Head,
    blocks: LocalBoxStream<'static, Vec<u8>>,
    /// How many of them were read, and were sound.
    read: usize,
    at: WallTime,
    objects: Vec<Rc<Object>>,
}

impl Found {
    /// Of what was kept, if it is no older. `None` where its head is missing, changed, or of another format.
    pub fn of(kept: Kept, now: WallTime, max_age: Millis) -> Option<Self> {
        let Kept { head, blocks } = kept;
        let head = Head::decode(&head)?;
        if now.since(head.at) > max_age {
            return None;
        }
        let at = head.at.min(now);
        Some(Self { head, blocks, read: 0, at, objects: Vec::new() })
    }

    /// When it was kept.
    pub fn at(&self) -> WallTime {
        self.at
    }

    /// Reads the next block; the host has its turns meanwhile. Its objects, and how many follow. Nothing behind the last one; nor where a block is
    /// missing, changed, or no part of the state.
    pub async fn next(&mut self, open: Open<'_>, runtime: &SharedRuntime) -> Option<(Vec<Rc<Object>>, u64)> {
        let sum = self.head.blocks.get(self.read)?.checksum;
        let Either::Left((block, _)) = select(self.blocks.next(), runtime.sleep(MAX_READ_MS)).await else { return None };
        let block = block.filter(|block| checksum(block) == sum)?;
        let before = self.objects.len();
        self.take(open(&decode(&block)?).ok()?)?;
        self.read += 1;
        let left = u64::from(self.head.objects).saturating_sub(self.objects.len() as u64);
        Some((self.objects[before..].to_vec(), left))
    }

    fn take(&mut self, objects: Vec<Rc<Object>>) -> Option<()> {
        for object in objects {
            let is_sound = *object.version() <= self.head.version && self.objects.last().is_none_or(|last| last.key() < object.key());
            self.objects.push(is_sound.then_some(object)?);
        }
        Some(())
    }

    /// The whole state, once all its blocks are read, and a writer that knows what is there of it. `None` where they are no whole state.
    pub fn whole(self) -> Option<(Restored, Writer)> {
        let Self { head, at, objects, read, .. } = self;
        if read != head.blocks.len() || objects.len() != head.objects as usize {
            return None;
        }
        let writer = Writer::of(&head, &objects);
        Some((Restored { objects, version: head.version, at }, writer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::rest::Packer;
    use crate::persist::{Plan, Written};
    use crate::runtime::virtual_time::{VirtualTime, WALL_AT_START};
    use crate::store::Store;
    use crate::testing::named;
    use crate::version::Version;
    use futures::stream;
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    const AGE: Millis = 1_000;

    /// A disk that takes one thing after the other, as none does.
    #[derive(Clone, Default)]
    struct Disk {
        head: Vec<u8>,
        blocks: BTreeMap<u32, Vec<u8>>,
        order: Vec<u32>,
    }

    impl Disk {
        fn write(&mut self, written: Written) {
            if written.is_whole {
                self.blocks.clear();
            }
            written.removed.iter().for_each(|number| drop(self.blocks.remove(number)));
            self.blocks.extend(written.blocks);
            (self.head, self.order) = (written.head, written.order);
        }

        fn kept(&self) -> Kept {
            let blocks: Vec<Vec<u8>> = self.order.iter().map_while(|number| self.blocks.get(number).cloned()).collect();
            Kept { head: self.head.clone(), blocks: stream::iter(blocks).boxed_local() }
        }
    }

    struct Rig {
        time: Rc<VirtualTime>,
        packer: RefCell<Packer>,
        store: Store,
        writer: Writer,
        disk: Disk,
    }

    impl Rig {
        fn new(objects: usize) -> Self {
            let mut rig = Self {
                time: VirtualTime::new(0),
                packer: RefCell::default(),
                store: Store::new(),
                writer: Writer::default(),
                disk: Disk::default(),
            };
            (0..objects).for_each(|number| rig.put(number, number + 1));
            rig
        }

        fn put(&mut self, number: usize, version: usize) {
            self.store.upsert(named(&format!("ns/pod-{number}"), version as u64));
        }

        fn plan(&self, version: u64) -> Option<(Plan, Written)> {
            let mut plan = self.writer.plan(&self.store, &Version::from(version))?;
            while plan.encode(false).unwrap() {}
            let written = plan.written(WALL_AT_START);
            Some((plan, written))
        }

        /// Writes what is held; says how many blocks that took.
        fn keep(&mut self, version: u64) -> Option<usize> {
            let (plan, written) = self.plan(version)?;
            let blocks = written.blocks.len();
            self.disk.write(written);
            self.writer.wrote(plan);
            Some(blocks)
        }

        fn restore(&self, kept: Kept) -> Option<(Restored, Writer)> {
            let runtime: SharedRuntime = self.time.clone();
            let mut found = Found::of(kept, runtime.wall(), AGE)?;
            let mut read = 0;
            while let Some((objects, left)) =
                self.time.run_until(found.next(&mut |parcel| self.packer.borrow_mut().open_alone(parcel), &runtime))
            {
                read += objects.len();
                assert_eq!(left as usize + read, found.head.objects as usize);
            }
            found.whole()
        }

        fn held(&self) -> Vec<(String, Vec<u8>)> {
            self.store.iter().map(|object| (object.key().to_string(), object.text().to_vec())).collect()
        }
    }

    fn texts((restored, _): &(Restored, Writer)) -> Vec<(String, Vec<u8>)> {
        restored.objects.iter().map(|object| (object.key().to_string(), object.text().to_vec())).collect()
    }

    #[test]
    fn a_state_comes_back_whole_and_its_writer_has_nothing_to_write() {
        for count in [0, 1, 64, 65, 1_000] {
            let mut rig = Rig::new(count);
            assert!(rig.keep(2_000).is_some());
            let found = rig.restore(rig.disk.kept()).unwrap();
            let (restored, writer) = &found;
            assert_eq!((texts(&found), &restored.version), (rig.held(), &Version::from(2_000)), "{count} objects");
            let mut store = Store::new();
            restored.objects.iter().for_each(|object| drop(store.upsert(object.clone())));
            assert!(writer.plan(&store, &Version::from(2_000)).is_none(), "{count} objects");
            let mut plan = writer.plan(&store, &Version::from(2_001)).unwrap();
            assert!(!plan.encode(false).unwrap(), "a version alone is no block");
        }
    }

    #[test]
    fn a_change_costs_its_block_and_what_is_as_it_was_costs_nothing() {
        let mut rig = Rig::new(1_000);
        assert_eq!(rig.keep(1_000), Some(1_000_usize.div_ceil(64)));
        assert_eq!(rig.keep(1_000), None);
        rig.put(7, 1_001);
        assert_eq!(rig.keep(1_001), Some(1));
        // A bookmark moves the head alone.
        assert_eq!(rig.keep(1_005), Some(0));
        let keys: Vec<String> = rig.store.iter().map(|object| object.key().to_string()).collect();
        keys.iter().skip(1).for_each(|key| drop(rig.store.remove(key)));
        assert_eq!(rig.keep(2_001), Some(1), "one object needs one block");
        assert_eq!(rig.disk.blocks.len(), 1);
        assert_eq!(texts(&rig.restore(rig.disk.kept()).unwrap()), rig.held());
    }

    #[test]
    fn what_is_too_old_is_nothing() {
        let mut rig = Rig::new(3);
        rig.keep(9);
        rig.time.advance(AGE);
        assert!(rig.restore(rig.disk.kept()).is_some());
        rig.time.advance(1);
        assert!(rig.restore(rig.disk.kept()).is_none());
    }

    /// Also on a disk that takes no write as a whole: blocks and head come one after the other, and each may be cut.
    #[test]
    fn law_persist_killed_at_any_byte_a_write_leaves_one_of_the_two_states_or_nothing() {
        // What is only removed shows in no version of what is left.
        for changes in [0, 40] {
            let mut rig = Rig::new(140);
            rig.keep(300);
            let (old, before) = (rig.held(), rig.disk.clone());
            (0..changes).for_each(|number| rig.put(number * 3, 301 + number));
            (0..5).for_each(|number| drop(rig.store.remove(&format!("ns/pod-{}", 139 - number * 25))));
            let (_, written) = rig.plan(400).unwrap();
            cut_at_any_byte(&rig, &before, &old, written);
        }
    }

    fn cut_at_any_byte(rig: &Rig, before: &Disk, old: &[(String, Vec<u8>)], written: Written) {
        let new = rig.held();
        let (mut states, mut nothing) = ([0, 0], 0);
        let total: usize = written.blocks.iter().map(|(_, block)| block.len()).sum::<usize>() + written.head.len();
        for cut in 0..=total {
            let mut disk = before.clone();
            let mut left = cut;
            for (number, block) in &written.blocks {
                let taken = block.len().min(left);
                left -= taken;
                if taken > 0 {
                    disk.blocks.insert(*number, block[..taken].to_vec());
                }
            }
            if left > 0 {
                (disk.head, disk.order) = (written.head[..left].to_vec(), written.order.clone());
            }
            match rig.restore(disk.kept()).map(|found| texts(&found)) {
                Some(state) if state == old => states[0] += 1,
                Some(state) if state == new => states[1] += 1,
                Some(_) => panic!("a mixture after {cut} of {total} bytes"),
                None => nothing += 1,
            }
        }
        assert_eq!((states, nothing), ([1, 1], total - 1));
    }

    #[test]
    fn a_block_that_is_missing_exchanged_or_changed_makes_the_whole_nothing() {
        let mut rig = Rig::new(130);
        rig.keep(300);
        let disk = &rig.disk;
        for (at, number) in disk.order.iter().enumerate() {
            let mut missing = disk.clone();
            missing.blocks.remove(number);
            assert!(rig.restore(missing.kept()).is_none());
            let mut unnamed = disk.clone();
            unnamed.order.remove(at);
            assert!(rig.restore(unnamed.kept()).is_none());
            // In any byte, also in one that leaves an object which could have been.
            for byte in 0..disk.blocks[number].len() {
                let mut changed = disk.clone();
                changed.blocks.get_mut(number).unwrap()[byte] ^= 1;
                assert!(rig.restore(changed.kept()).is_none(), "byte {byte} of block {number}");
            }
            let mut exchanged = disk.clone();
            exchanged.order.swap(at, (at + 1) % disk.order.len());
            assert!(rig.restore(exchanged.kept()).is_none());
        }
        let mut more = disk.clone();
        more.blocks.insert(77, b"of an earlier head".to_vec());
        more.order.push(77);
        assert_eq!(texts(&rig.restore(more.kept()).unwrap()), rig.held());
    }

    #[test]
    fn a_storage_that_hangs_between_two_blocks_is_as_one_that_has_lost_the_second() {
        let mut rig = Rig::new(140);
        rig.keep(300);
        let kept = rig.disk.kept();
        let hangs = Kept { blocks: kept.blocks.take(1).chain(stream::pending()).boxed_local(), ..kept };
        let runtime: SharedRuntime = rig.time.clone();
        let mut found = Found::of(hangs, runtime.wall(), AGE).unwrap();
        assert!(rig.time.run_until(found.next(&mut |parcel| rig.packer.borrow_mut().open_alone(parcel), &runtime)).is_some());
        let began = runtime.now();
        assert!(rig.time.run_until(found.next(&mut |parcel| rig.packer.borrow_mut().open_alone(parcel), &runtime)).is_none());
        assert_eq!(runtime.now().since(began), MAX_READ_MS);
        assert!(found.whole().is_none());
    }
}
