//! The state that a head and its blocks are, or nothing.

use std::cell::RefCell;
use std::rc::Rc;

use futures::StreamExt;
use futures::stream;

use super::block::{checksum, decode};
use super::head::Head;
use super::keeper::Kept;
use super::writer::Writer;
use crate::json::FieldSet;
use crate::message::Restored;
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::source::page;
use crate::time::{Millis, WallTime};

/// What was kept, all of which is there. Its objects are read block by block.
pub struct Found {
    head: Head,
    /// By their keys, and the first one last.
    blocks: Vec<Vec<u8>>,
    at: WallTime,
    objects: Vec<Rc<Object>>,
}

impl Found {
    /// Of what was kept, if it is no older. `None` where any of it is missing, changed, or of another format.
    pub fn of(kept: Kept, now: WallTime, max_age: Millis) -> Option<Self> {
        let head = Head::decode(&kept.head)?;
        if now.since(head.at) > max_age {
            return None;
        }
        let Kept { mut blocks, .. } = kept;
        blocks.sort_by_key(|(number, _)| *number);
        let mut block = |number: u32, sum: u64| {
            let at = blocks.binary_search_by_key(&number, |(number, _)| *number).ok()?;
            let block = std::mem::take(&mut blocks[at].1);
            (checksum(&block) == sum).then_some(block)
        };
        let mut blocks: Vec<Vec<u8>> = head.blocks.iter().map(|named| block(named.number, named.checksum)).collect::<Option<_>>()?;
        blocks.reverse();
        let at = head.at.min(now);
        Some(Self { head, blocks, at, objects: Vec::new() })
    }

    /// When it was kept.
    pub fn at(&self) -> WallTime {
        self.at
    }

    /// Reads the next block; the host has its turns meanwhile. Its objects, and how many follow. Nothing behind the last one, and where what was
    /// written is no state.
    pub async fn next(&mut self, fields: &RefCell<FieldSet>, runtime: &SharedRuntime) -> Option<(Vec<Rc<Object>>, u64)> {
        let text = decode(&self.blocks.pop()?);
        let read = self.objects.len();
        if self.read(text, fields, runtime).await.is_none() {
            // What is left makes no state.
            self.blocks.clear();
            self.objects.clear();
            return None;
        }
        let left = u64::from(self.head.objects).saturating_sub(self.objects.len() as u64);
        Some((self.objects[read..].to_vec(), left))
    }

    async fn read(&mut self, text: Option<Vec<u8>>, fields: &RefCell<FieldSet>, runtime: &SharedRuntime) -> Option<()> {
        let open = format!(r#"{{"kind":"List","metadata":{{"resourceVersion":"{}"}},"items":["#, self.head.version).into_bytes();
        let body = stream::iter([open, text?, b"]}".to_vec()].map(Ok)).boxed_local();
        let (objects, head) = (&mut self.objects, &self.head);
        let mut is_sound = true;
        let mut item = |scanned| match Object::new(scanned) {
            Ok(object) => {
                is_sound &= *object.version() <= head.version && objects.last().is_none_or(|last| last.key() < object.key());
                objects.push(object);
            }
            Err(_) => is_sound = false,
        };
        page::read(body, fields, &**runtime, &mut item).await.ok()?;
        is_sound.then_some(())
    }

    /// The whole state, once all its blocks are read, and a writer that knows what is there of it.
    pub fn whole(self) -> Option<(Restored, Writer)> {
        let Self { head, at, objects, blocks } = self;
        if !blocks.is_empty() || objects.len() != head.objects as usize {
            return None;
        }
        let writer = Writer::of(&head, &objects);
        Some((Restored { objects, version: head.version, at }, writer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persist::{Plan, Written};
    use crate::runtime::virtual_time::{VirtualTime, WALL_AT_START};
    use crate::store::Store;
    use crate::testing::named;
    use crate::version::Version;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    const AGE: Millis = 1_000;

    /// A disk that takes one thing after the other, as none does.
    #[derive(Clone, Default)]
    struct Disk {
        head: Vec<u8>,
        blocks: BTreeMap<u32, Vec<u8>>,
    }

    impl Disk {
        fn write(&mut self, written: Written) {
            if written.is_whole {
                self.blocks.clear();
            }
            written.removed.iter().for_each(|number| drop(self.blocks.remove(number)));
            self.blocks.extend(written.blocks);
            self.head = written.head;
        }

        fn kept(&self) -> Kept {
            Kept { head: self.head.clone(), blocks: self.blocks.clone().into_iter().collect() }
        }
    }

    struct Rig {
        time: Rc<VirtualTime>,
        fields: RefCell<FieldSet>,
        store: Store,
        writer: Writer,
        disk: Disk,
    }

    impl Rig {
        fn new(objects: usize) -> Self {
            let mut rig = Self {
                time: VirtualTime::new(0),
                fields: RefCell::new(FieldSet::new(Vec::new())),
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
            while plan.encode().unwrap() {}
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
            while let Some((objects, left)) = self.time.run_until(found.next(&self.fields, &runtime)) {
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
            assert!(!plan.encode().unwrap(), "a version alone is no block");
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
            let mut rig = Rig::new(300);
            rig.keep(300);
            let (old, before) = (rig.held(), rig.disk.clone());
            (0..changes).for_each(|number| rig.put(number * 7, 301 + number));
            (0..5).for_each(|number| drop(rig.store.remove(&format!("ns/pod-{}", 299 - number * 50))));
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
                disk.head = written.head[..left].to_vec();
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
        let mut rig = Rig::new(140);
        rig.keep(300);
        let kept = rig.disk.kept();
        for at in 0..kept.blocks.len() {
            let mut missing = kept.clone();
            missing.blocks.remove(at);
            assert!(rig.restore(missing).is_none());
            // In any byte, also in one that leaves an object which could have been.
            for byte in 0..kept.blocks[at].1.len() {
                let mut changed = kept.clone();
                changed.blocks[at].1[byte] ^= 1;
                assert!(rig.restore(changed).is_none(), "byte {byte} of block {at}");
            }
            let mut exchanged = kept.clone();
            exchanged.blocks[at].1 = kept.blocks[(at + 1) % kept.blocks.len()].1.clone();
            assert!(rig.restore(exchanged).is_none());
        }
        let mut more = kept.clone();
        more.blocks.push((77, b"of an earlier head".to_vec()));
        assert_eq!(texts(&rig.restore(more).unwrap()), rig.held());
    }
}
