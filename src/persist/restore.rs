//! The state that a head and its blocks are, or nothing.

use std::cell::RefCell;

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
use crate::time::Millis;

/// A state that was found, and a writer that knows what is there of it.
#[derive(Debug)]
pub struct Found {
    /// The state.
    pub restored: Restored,
    /// The writer.
    pub writer: Writer,
}

/// Reads what was kept, if it is no older. The host has its turns meanwhile. `None` where anything of it is missing, changed, or of another format.
pub async fn restore(kept: Kept, fields: &RefCell<FieldSet>, runtime: SharedRuntime, max_age: Millis) -> Option<Found> {
    let head = Head::decode(&kept.head)?;
    let now = runtime.wall();
    if now.since(head.at) > max_age || !head.buckets.is_power_of_two() {
        return None;
    }
    let Kept { mut blocks, .. } = kept;
    blocks.sort_by_key(|(number, _)| *number);
    // Blocks of an earlier head that was not followed by a removal are no part of this one.
    blocks.retain(|(number, _)| head.blocks.binary_search_by_key(number, |(known, _)| *known).is_ok());
    let is_whole = blocks.len() == head.blocks.len()
        && blocks.iter().zip(&head.blocks).all(|((_, block), (number, sum))| *number < head.buckets && checksum(block) == *sum);
    if !is_whole {
        return None;
    }
    let open = format!(r#"{{"kind":"List","metadata":{{"resourceVersion":"{}"}},"items":["#, head.version).into_bytes();
    let texts = blocks.into_iter().enumerate().map(|(at, (_, block))| {
        let text = decode(&block).unwrap_or_default();
        if at == 0 { text } else { [b",", &text[..]].concat() }
    });
    let body = stream::iter([open].into_iter().chain(texts).chain([b"]}".to_vec()]).map(Ok));
    let (mut objects, mut is_sound) = (Vec::new(), true);
    let mut item = |scanned| match Object::new(scanned) {
        Ok(object) => objects.push(object),
        Err(_) => is_sound = false,
    };
    page::read(body.boxed_local(), fields, &*runtime, &mut item).await.ok()?;
    objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
    let is_sound = is_sound
        && objects.windows(2).all(|two| two[0].key() < two[1].key())
        && objects.iter().all(|object| *object.version() <= head.version);
    if !is_sound {
        return None;
    }
    let writer = Writer::of(&head, &objects);
    let at = head.at.min(now);
    Some(Found { restored: Restored { objects, version: head.version, at }, writer })
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

        fn restore(&self, kept: Kept) -> Option<Found> {
            self.time.run_until(restore(kept, &self.fields, self.time.clone(), AGE))
        }

        fn held(&self) -> Vec<(String, Vec<u8>)> {
            self.store.iter().map(|object| (object.key().to_string(), object.text().to_vec())).collect()
        }
    }

    fn texts(found: &Found) -> Vec<(String, Vec<u8>)> {
        found.restored.objects.iter().map(|object| (object.key().to_string(), object.text().to_vec())).collect()
    }

    #[test]
    fn a_state_comes_back_whole_and_its_writer_has_nothing_to_write() {
        for count in [0, 1, 64, 65, 1_000] {
            let mut rig = Rig::new(count);
            assert!(rig.keep(2_000).is_some());
            let found = rig.restore(rig.disk.kept()).unwrap();
            assert_eq!((texts(&found), &found.restored.version), (rig.held(), &Version::from(2_000)), "{count} objects");
            let mut store = Store::new();
            found.restored.objects.iter().for_each(|object| drop(store.upsert(object.clone())));
            assert!(found.writer.plan(&store, &Version::from(2_000)).is_none(), "{count} objects");
            let mut plan = found.writer.plan(&store, &Version::from(2_001)).unwrap();
            assert!(!plan.encode().unwrap(), "a version alone is no block");
        }
    }

    #[test]
    fn a_change_costs_its_block_and_what_is_as_it_was_costs_nothing() {
        let mut rig = Rig::new(1_000);
        assert_eq!(rig.keep(1_000), Some(16));
        assert_eq!(rig.keep(1_000), None);
        rig.put(7, 1_001);
        assert_eq!(rig.keep(1_001), Some(1));
        // A bookmark moves the head alone.
        assert_eq!(rig.keep(1_005), Some(0));
        let gone: Vec<String> = (0..1_000).map(|number| format!("ns/pod-{number}")).collect();
        gone.iter().skip(1).for_each(|key| drop(rig.store.remove(key)));
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
        let mut rig = Rig::new(300);
        rig.keep(300);
        let (old, before) = (rig.held(), rig.disk.clone());
        (0..40).for_each(|number| rig.put(number * 7, 301 + number));
        rig.store.remove("ns/pod-299");
        let (_, written) = rig.plan(400).unwrap();
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
        let mut rig = Rig::new(200);
        rig.keep(300);
        let kept = rig.disk.kept();
        for at in 0..kept.blocks.len() {
            let mut missing = kept.clone();
            missing.blocks.remove(at);
            assert!(rig.restore(missing).is_none());
            let mut changed = kept.clone();
            let last = changed.blocks[at].1.len() - 1;
            changed.blocks[at].1[last] ^= 1;
            assert!(rig.restore(changed).is_none());
            let mut exchanged = kept.clone();
            exchanged.blocks[at].1 = kept.blocks[(at + 1) % kept.blocks.len()].1.clone();
            assert!(rig.restore(exchanged).is_none());
        }
        let mut more = kept.clone();
        more.blocks.push((77, b"of an earlier head".to_vec()));
        assert_eq!(texts(&rig.restore(more).unwrap()), rig.held());
    }
}
