//! Which blocks a state differs in from what was written last.
//!
//! A block has the objects of one range of keys. So a change costs the block that it falls into, and who reads the blocks in their order reads the
//! objects in theirs.

use std::mem;
use std::rc::Rc;

use xxhash_rust::xxh64::xxh64;

use super::block::{checksum, encode};
use super::head::{Head, Named};
use super::keeper::Written;
use crate::object::Object;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::time::WallTime;
use crate::version::Version;

/// Objects of a block, where it is made.
const OBJECTS: usize = 64;
/// One that has grown beyond this is divided.
const MAX_OBJECTS: usize = 2 * OBJECTS;
/// One that has shrunk below this joins the one before it, if there is room.
const MIN_OBJECTS: usize = OBJECTS / 4;

/// What is written of one range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    number: u32,
    from: Rc<str>,
    /// Of the versions in it.
    fingerprint: u64,
    checksum: u64,
}

/// What was written last.
#[derive(Debug, Default)]
pub struct Writer {
    /// By their keys.
    marks: Vec<Mark>,
    version: Option<Version>,
}

/// Objects of one range of keys, and what was written of it, if anything.
struct Group {
    number: Option<u32>,
    from: Rc<str>,
    objects: Vec<Rc<Object>>,
}

impl Writer {
    /// One for a state that was written with this head, and is held as these objects, in the order of their keys.
    pub(super) fn of(head: &Head, objects: &[Rc<Object>]) -> Self {
        let mark =
            |Named { number, from, checksum }: &Named| Mark { number: *number, from: from.clone(), fingerprint: 0, checksum: *checksum };
        let mut marks: Vec<Mark> = head.blocks.iter().map(mark).collect();
        let mut at = 0;
        for object in objects {
            at = place(&marks, at, object);
            marks[at].fingerprint = marks[at].fingerprint.wrapping_add(spread(object));
        }
        Self { marks, version: Some(head.version.clone()) }
    }

    /// What is to be written so that this state is kept; `None` where it is. It is taken in one step, so it is of one version.
    pub fn plan(&self, store: &Store, version: &Version) -> Option<Plan> {
        let is_whole = self.version.is_none();
        let mut next = self.marks.iter().map(|mark| mark.number + 1).max().unwrap_or(0);
        let (mut marks, mut dirty) = (Vec::new(), Vec::new());
        for Group { number, from, objects } in self.groups(store) {
            let fingerprint = objects.iter().fold(0u64, |sum, object| sum.wrapping_add(spread(object)));
            let known = number.and_then(|number| self.marks.iter().find(|mark| mark.number == number));
            if let Some(known) = known.filter(|known| known.fingerprint == fingerprint && known.from == from) {
                marks.push(known.clone());
                continue;
            }
            let number = number.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            dirty.push((marks.len(), objects));
            marks.push(Mark { number, from, fingerprint, checksum: 0 });
        }
        let stays = |number: u32| marks.iter().any(|mark| mark.number == number);
        let removed: Vec<u32> = self.marks.iter().map(|mark| mark.number).filter(|number| !stays(*number)).collect();
        if dirty.is_empty() && removed.is_empty() && self.version.as_ref() == Some(version) {
            return None;
        }
        let objects = u32::try_from(store.len()).unwrap_or(u32::MAX);
        Some(Plan { version: version.clone(), objects, marks, dirty, removed, is_whole, blocks: Vec::new() })
    }

    /// That plan was carried out.
    pub fn wrote(&mut self, plan: Plan) {
        (self.marks, self.version) = (plan.marks, Some(plan.version));
    }

    /// Nobody knows what is there.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The objects by the blocks that they are to be in.
    fn groups(&self, store: &Store) -> Vec<Group> {
        let mut ranges: Vec<Group> =
            self.marks.iter().map(|mark| Group { number: Some(mark.number), from: mark.from.clone(), objects: Vec::new() }).collect();
        if ranges.is_empty() {
            ranges.push(Group { number: None, from: "".into(), objects: Vec::new() });
        }
        let mut at = 0;
        for object in store.iter() {
            while ranges.get(at + 1).is_some_and(|next| **object.key() >= *next.from) {
                at += 1;
            }
            ranges[at].objects.push(object.clone());
        }
        let mut groups: Vec<Group> = Vec::new();
        for range in ranges {
            let room = groups.last().map_or(0, |last| MAX_OBJECTS - last.objects.len().min(MAX_OBJECTS));
            match groups.last_mut() {
                Some(last) if range.objects.len() < MIN_OBJECTS && range.objects.len() <= room => last.objects.extend(range.objects),
                _ => groups.extend(range.divided()),
            }
        }
        groups.retain(|group| !group.objects.is_empty());
        groups
    }
}

impl Group {
    /// The same in parts of a good size, where it is too large. The first part keeps the number.
    fn divided(self) -> Vec<Self> {
        if self.objects.len() <= MAX_OBJECTS {
            return vec![self];
        }
        let part = |(at, objects): (usize, &[Rc<Object>])| Self {
            number: self.number.filter(|_| at == 0),
            from: if at == 0 { self.from.clone() } else { objects[0].key().to_string().into() },
            objects: objects.to_vec(),
        };
        let parts = self.objects.len().div_ceil(OBJECTS);
        self.objects.chunks(self.objects.len().div_ceil(parts)).enumerate().map(part).collect()
    }
}

/// Where an object belongs that is not before the range at this place.
fn place(marks: &[Mark], mut at: usize, object: &Object) -> usize {
    while marks.get(at + 1).is_some_and(|next| **object.key() >= *next.from) {
        at += 1;
    }
    at
}

/// Stands for a version of an object in a sum, which knows no order. It is spread over all bits, so that no two sums of a few are equal by chance.
fn spread(object: &Object) -> u64 {
    xxh64(&object.id().to_le_bytes(), 1)
}

/// A state that is being written.
#[derive(Debug)]
pub struct Plan {
    version: Version,
    objects: u32,
    marks: Vec<Mark>,
    dirty: Vec<(usize, Vec<Rc<Object>>)>,
    removed: Vec<u32>,
    is_whole: bool,
    blocks: Vec<(u32, Vec<u8>)>,
}

impl Plan {
    /// Makes the next block, of texts alone or of objects as they rest. Returns whether there may be more. Fails where a block would be too large.
    pub fn encode(&mut self, as_texts: bool) -> Result<bool, Error> {
        let Some((at, objects)) = self.dirty.pop() else { return Ok(false) };
        let block = encode(&objects, as_texts)
            .ok_or_else(|| Error::new(ErrorCode::Invalid, "the objects of one block are longer than it may be"))?;
        let mark = &mut self.marks[at];
        mark.checksum = checksum(&block);
        self.blocks.push((mark.number, block));
        Ok(true)
    }

    /// What the keeper is given, once no block is left to be made. The state was held at this time.
    pub fn written(&mut self, at: WallTime) -> Written {
        let named = |mark: &Mark| Named { number: mark.number, from: mark.from.clone(), checksum: mark.checksum };
        let head = Head { version: self.version.clone(), at, objects: self.objects, blocks: self.marks.iter().map(named).collect() };
        Written {
            head: head.encode(),
            blocks: mem::take(&mut self.blocks),
            order: self.marks.iter().map(|mark| mark.number).collect(),
            removed: mem::take(&mut self.removed),
            is_whole: self.is_whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    fn put(store: &mut Store, number: usize, version: usize) {
        store.upsert(named(&format!("ns/pod-{number:04}"), version as u64));
    }

    /// Carries out a plan; says how many blocks it wrote and removed, and how many there are.
    fn wrote(writer: &mut Writer, store: &Store, version: u64) -> (usize, usize, usize) {
        let mut plan = writer.plan(store, &Version::from(version)).unwrap();
        while plan.encode(false).unwrap() {}
        let Written { blocks, removed, .. } = plan.written(WallTime::UNIX_EPOCH);
        writer.wrote(plan);
        let mut numbers: Vec<u32> = writer.marks.iter().map(|mark| mark.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), writer.marks.len(), "each has a number of its own");
        assert!(writer.marks.windows(2).all(|two| two[0].from < two[1].from));
        (blocks.len(), removed.len(), writer.marks.len())
    }

    #[test]
    fn blocks_are_divided_and_joined_and_those_beside_them_stay() {
        let (mut writer, mut store) = (Writer::default(), Store::new());
        (0..640).for_each(|number| put(&mut store, number * 10, 1));
        assert_eq!(wrote(&mut writer, &store, 1), (10, 0, 10));
        // A block takes twice its objects, and is divided beyond that.
        (0..64).for_each(|number| put(&mut store, number * 10 + 1, 2));
        assert_eq!(wrote(&mut writer, &store, 2), (1, 0, 10));
        put(&mut store, 2, 3);
        assert_eq!(wrote(&mut writer, &store, 3), (3, 0, 12));
        // One of which nearly all is gone joins its neighbour.
        (70..128).for_each(|number| drop(store.remove(&format!("ns/pod-{:04}", number * 10))));
        let (blocks, removed, left) = wrote(&mut writer, &store, 4);
        assert_eq!((blocks, removed, left), (1, 1, 11));
        assert!(writer.plan(&store, &Version::from(4)).is_none());
        store.clear();
        assert_eq!(wrote(&mut writer, &store, 5), (0, 11, 0));
    }

    #[test]
    fn what_falls_before_the_first_key_or_behind_the_last_has_its_place() {
        let (mut writer, mut store) = (Writer::default(), Store::new());
        (100..400).for_each(|number| put(&mut store, number, 1));
        let (_, _, before) = wrote(&mut writer, &store, 1);
        put(&mut store, 0, 2);
        put(&mut store, 999, 2);
        assert_eq!(wrote(&mut writer, &store, 2), (2, 0, before));
    }
}
