//! Which blocks a state differs in from what was written last.
//!
//! Keys fall into buckets by their hash, and each bucket is a block. So a change costs the block that it falls into, and an object is in one block
//! alone.

use std::mem;
use std::rc::Rc;

use xxhash_rust::xxh64::xxh64;

use super::block::{checksum, encode};
use super::head::Head;
use super::keeper::Written;
use crate::object::Object;
use crate::status::{Error, ErrorCode};
use crate::store::Store;
use crate::time::WallTime;
use crate::version::Version;

/// Objects of a block, where the state is new. A block is written as soon as one of them has changed.
const OBJECTS: usize = 64;
/// By so much a bucket may be over- or underfilled before keys are spread anew.
const SLACK: usize = 4;

/// What is written of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    /// Of the versions in it; 0: none.
    fingerprint: u64,
    checksum: u64,
}

/// What was written last.
#[derive(Debug, Default)]
pub struct Writer {
    marks: Vec<Mark>,
    version: Option<Version>,
}

impl Writer {
    /// One for a state that was written with this head, and is held as these objects.
    pub(super) fn of(head: &Head, objects: &[Rc<Object>]) -> Self {
        let mut marks = vec![Mark::default(); head.buckets.try_into().unwrap_or(usize::MAX)];
        for object in objects {
            let at = bucket(object, marks.len());
            marks[at].add(object);
        }
        for (number, checksum) in &head.blocks {
            marks[*number as usize].checksum = *checksum;
        }
        Self { marks, version: Some(head.version.clone()) }
    }

    /// What is to be written so that this state is kept; `None` where it is. It is taken in one step, so it is of one version.
    pub fn plan(&self, store: &Store, version: &Version) -> Option<Plan> {
        let buckets = self.buckets(store.len());
        let is_whole = self.version.is_none() || buckets != self.marks.len();
        let mut marks = vec![Mark::default(); buckets];
        for object in store.iter() {
            marks[bucket(object, buckets)].add(object);
        }
        let known = |at: usize| self.marks.get(at).copied().filter(|_| !is_whole).unwrap_or_default();
        let mut places = vec![usize::MAX; buckets];
        let (mut dirty, mut removed) = (Vec::new(), Vec::new());
        for (at, mark) in marks.iter_mut().enumerate() {
            let before = known(at);
            if mark.fingerprint == before.fingerprint {
                *mark = before;
            } else if mark.fingerprint == 0 {
                removed.push(at);
            } else {
                places[at] = dirty.len();
                dirty.push((at, Vec::new()));
            }
        }
        if dirty.is_empty() && removed.is_empty() && !is_whole && self.version.as_ref() == Some(version) {
            return None;
        }
        for object in store.iter() {
            if let Some((_, objects)) = dirty.get_mut(places[bucket(object, buckets)]) {
                objects.push(object.clone());
            }
        }
        Some(Plan { version: version.clone(), marks, dirty, removed, is_whole, blocks: Vec::new() })
    }

    /// That plan was carried out.
    pub fn wrote(&mut self, plan: Plan) {
        (self.marks, self.version) = (plan.marks, Some(plan.version));
    }

    /// Nobody knows what is there.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// How many buckets so many objects fall into: a power of two, which stays while it is good enough.
    fn buckets(&self, objects: usize) -> usize {
        let now = self.marks.len();
        if now > 0 && objects <= now * OBJECTS * SLACK && (now == 1 || objects * SLACK >= now * OBJECTS) {
            return now;
        }
        objects.div_ceil(OBJECTS).next_power_of_two()
    }
}

impl Mark {
    fn add(&mut self, object: &Object) {
        // A sum knows no order. Each number is spread over all bits first, so that no two sums of a few are equal by chance.
        let id = xxh64(&object.id().to_le_bytes(), 1);
        self.fingerprint = self.fingerprint.wrapping_add(id).max(1);
    }
}

fn bucket(object: &Object, buckets: usize) -> usize {
    // A power of two, so the low bits are as good as a remainder.
    usize::try_from(xxh64(object.key().as_bytes(), 0) & (buckets as u64 - 1)).unwrap_or_default()
}

/// A state that is being written.
#[derive(Debug)]
pub struct Plan {
    version: Version,
    marks: Vec<Mark>,
    dirty: Vec<(usize, Vec<Rc<Object>>)>,
    removed: Vec<usize>,
    is_whole: bool,
    blocks: Vec<(u32, Vec<u8>)>,
}

impl Plan {
    /// Makes the next block. Returns whether there may be more. Fails where a block would be too large.
    pub fn encode(&mut self) -> Result<bool, Error> {
        let Some((at, objects)) = self.dirty.pop() else { return Ok(false) };
        let block = encode(&objects).ok_or_else(|| Error::new(ErrorCode::Invalid, "the objects of one block are longer than it may be"))?;
        self.marks[at].checksum = checksum(&block);
        self.blocks.push((number(at), block));
        Ok(true)
    }

    /// What the keeper is given, once no block is left to be made. The state was held at this time.
    pub fn written(&mut self, at: WallTime) -> Written {
        let kept = self.marks.iter().enumerate().filter(|(_, mark)| mark.fingerprint != 0);
        let head = Head {
            version: self.version.clone(),
            at,
            buckets: number(self.marks.len()),
            blocks: kept.map(|(at, mark)| (number(at), mark.checksum)).collect(),
        };
        Written {
            head: head.encode(),
            blocks: mem::take(&mut self.blocks),
            removed: self.removed.iter().map(|at| number(*at)).collect(),
            is_whole: self.is_whole,
        }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
