//! Packs objects at rest. Objects that were not touched for a pass are compressed, versions that were replaced become deltas.

use std::collections::VecDeque;
use std::mem::replace;
use std::rc::{Rc, Weak};

use super::arena::{Arena, PackedText};
use super::body::{Body, Compressed, Pattern};
use super::delta::Coder;
use super::dictionary::Dictionaries;
#[cfg(test)]
use super::parcel::Origin;
use super::parcel::{Recipient, open};
use crate::object::object::{Holder, Object};
use crate::status::Error;

/// Bytes of a text that is packed. A shorter one would save next to nothing.
const MIN_TEXT_BYTES: usize = 96;
/// Length of a chain of deltas; the next version is packed whole. It bounds the cost of reading an old version.
const MAX_CHAIN: u8 = 8;
/// Waiting bytes at which a pass begins. A small resource stays unpacked, because there is little to save.
const MIN_PASS_BYTES: usize = 64 << 10;
/// Waiting bytes. Beyond this, objects are packed at once.
const MAX_WAITING_BYTES: usize = 32 << 20;
/// Waiting bytes while a list loads. WebAssembly memory never shrinks, so a load must not peak much above the steady state.
const MAX_LISTED_BYTES: usize = 256 << 10;

/// The objects that wait to be packed, and the tools to do it.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    arena: Rc<Arena>,
    dictionaries: Dictionaries,
    coder: Coder,
    current: VecDeque<Waiting>,
    // Each with the version that replaced it.
    replaced: VecDeque<(Waiting, Weak<Object>)>,
    // Current objects that were there when the pass began.
    due: usize,
    waiting: usize,
    // Objects queued since the queues were last swept.
    arrived: usize,
}

#[derive(Debug)]
struct Waiting {
    object: Weak<Object>,
    bytes: usize,
}

/// Called when an object's form changed, with its holder and its bytes before and after.
pub(crate) type Reformed<'a> = &'a mut dyn FnMut(Holder, usize, usize);

impl Packer {
    /// Bytes that the queues need for an object that waits in both: as current, and as replaced.
    pub(crate) const WAITING_BYTES: usize = size_of::<Waiting>() + size_of::<(Waiting, Weak<Object>)>();

    /// The objects of a parcel, which rest here from now on. Fails with code `out-of-memory` where there is no room for them, and with `decode` where
    /// it is no parcel. What is held already is taken in its place.
    pub(crate) fn open(&mut self, parcel: &[u8], recipient: &Recipient<'_>) -> Result<Vec<Rc<Object>>, Error> {
        open(parcel, recipient, &self.arena, &mut self.dictionaries)
    }

    /// The same for nobody who holds anything.
    #[cfg(test)]
    pub(crate) fn open_alone(&mut self, parcel: &[u8]) -> Result<Vec<Rc<Object>>, Error> {
        self.open(parcel, &Recipient { origin: Origin::Thread, held: &|_, _| None, fields: 0 })
    }

    /// An object was stored. Later calls for it are ignored, and those for one that rests.
    pub(crate) fn stored(&mut self, object: &Rc<Object>) {
        if !object.form().1 || object.mark_queued() {
            return;
        }
        if let Some(waiting) = self.wait(object) {
            self.current.push_back(waiting);
        }
    }

    /// An object arrived in a list. `held` is the stored object at the same version, if there is one. Later calls for it are ignored.
    pub(crate) fn listed(&mut self, object: &Rc<Object>, held: Option<&Rc<Object>>) {
        match held {
            // A list may bring the very object that is held.
            Some(held) if Rc::ptr_eq(object, held) => {}
            Some(held) if !object.mark_queued() => self.replaced(object, held),
            Some(_) => {}
            None => {
                // Objects begin with different chain lengths. Otherwise objects that change in step would all be packed whole at the same
                // time.
                object.raise_depth((object.id() % (u64::from(MAX_CHAIN) + 1)) as u8);
                self.stored(object);
            }
        }
    }

    /// An object was replaced and is still held.
    pub(crate) fn replaced(&mut self, old: &Rc<Object>, new: &Rc<Object>) {
        if let Some(waiting) = self.wait(old) {
            self.replaced.push_back((waiting, Rc::downgrade(new)));
        }
    }

    fn wait(&mut self, object: &Rc<Object>) -> Option<Waiting> {
        let (length, raw) = object.form();
        if length < MIN_TEXT_BYTES {
            return None;
        }
        self.arrived += 1;
        if self.arrived * 2 > self.current.len() + self.replaced.len() {
            self.sweep();
        }
        let bytes = if raw { length } else { 0 };
        self.waiting += bytes;
        Some(Waiting { object: Rc::downgrade(object), bytes })
    }

    /// Forgets queued objects that were dropped. It runs when half of the queue is new, so it costs little for each object.
    fn sweep(&mut self) {
        self.arrived = 0;
        let mut bytes = 0;
        let mut waits = |waiting: &Waiting| {
            let waits = waiting.object.strong_count() > 0;
            bytes += if waits { waiting.bytes } else { 0 };
            waits
        };
        let (mut at, mut due) = (0, 0);
        self.current.retain(|waiting| {
            let waits = waits(waiting);
            due += usize::from(waits && at < self.due);
            at += 1;
            waits
        });
        self.replaced.retain(|(old, _)| waits(old));
        (self.due, self.waiting) = (due, bytes);
    }

    /// Whether enough waits for a pass.
    pub(crate) fn needs_pass(&self) -> bool {
        self.waiting >= MIN_PASS_BYTES
    }

    /// Whether so much waits that packing must not wait for the next pass.
    pub(crate) fn is_pressed(&self) -> bool {
        self.waiting > MAX_WAITING_BYTES
    }

    /// Whether too much waits while a list loads.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting > MAX_LISTED_BYTES
    }

    /// Begins a pass, which packs what has arrived until now.
    pub(crate) fn begin_pass(&mut self) {
        self.due = self.current.len();
        self.arena.forget_recent();
    }

    /// Packs one object of the pass, or closes some holes. Returns whether there was anything to do.
    pub(crate) fn step(&mut self, reformed: Reformed<'_>) -> bool {
        if self.replaced.is_empty() && self.due == 0 {
            self.free_buffers();
            return self.arena.tidy();
        }
        self.pack_next(reformed)
    }

    /// Packs one of all waiting objects. Returns whether there was one.
    pub(crate) fn pack_next(&mut self, reformed: Reformed<'_>) -> bool {
        // Replaced versions first. Otherwise one could be packed whole just before it becomes a delta.
        if self.pack_replaced(reformed) {
            return true;
        }
        let Some(waiting) = self.current.pop_front() else { return false };
        self.due = self.due.saturating_sub(1);
        self.waiting -= waiting.bytes;
        if let Some(object) = waiting.object.upgrade() {
            change_form(&object, |held| self.whole(held), reformed);
        }
        true
    }

    /// Packs one of the replaced versions. Returns whether there was one.
    pub(crate) fn pack_replaced(&mut self, reformed: Reformed<'_>) -> bool {
        let Some((old, new)) = self.replaced.pop_front() else { return false };
        self.waiting -= old.bytes;
        let Some(old) = old.object.upgrade() else { return true };
        let new = new.upgrade();
        let delta = new.as_ref().and_then(|new| self.delta(&old, new, reformed));
        let pattern = match delta {
            Some(delta) => {
                let pieces = delta.pieces();
                let pattern = change_form(&old, |held| replace(held, delta), reformed).into_pattern();
                pattern.zip(pieces).and_then(|(pattern, pieces)| pattern.moved(pieces))
            }
            None => {
                let stays = new.as_ref().is_some_and(|new| new.form().0 == old.form().0);
                let copied = |held: &mut Body<Object>| {
                    self.whole(held);
                    if stays { self.copied_pattern(held) } else { None }
                };
                change_form(&old, copied, reformed)
            }
        };
        // The next version is packed along what this one was packed to.
        if let (Some(new), Some(pattern)) = (new, pattern)
            && new.form().1
        {
            change_form(&new, |held| held.set_pattern(pattern), reformed);
        }
        true
    }

    /// Closes the holes that dropped objects left, and frees the buffers.
    pub(crate) fn close_holes(&mut self) {
        while self.arena.tidy() {}
        self.free_buffers();
    }

    fn free_buffers(&mut self) {
        self.dictionaries.free_buffers();
        self.coder.free_buffers();
    }

    /// A version as what makes it of the one that replaced it.
    fn delta(&mut self, old: &Object, new: &Rc<Object>, reformed: Reformed<'_>) -> Option<Body<Object>> {
        let depth = old.depth() + 1;
        if depth > MAX_CHAIN {
            return None;
        }
        let length = old.form().0;
        let stored = match change_form(new, |held| held.take_delta(old.id()), reformed) {
            Some(delta) => self.store(&delta, length)?,
            None => {
                let delta = self.coder.encode(&new.text(), &old.lend(), length / 2)?;
                self.store(&delta, length)?
            }
        };
        new.raise_depth(depth);
        Some(Body::Delta { packed: stored, next: new.clone() })
    }

    /// Packs a text by itself, unless that would save too little.
    fn whole(&mut self, held: &mut Body<Object>) {
        let Body::Raw { text, before } = held else { return };
        let (arena, dictionaries) = (&self.arena, &mut self.dictionaries);
        let pattern = before.take().and_then(|before| before.into_pattern());
        let packed = match &pattern {
            Some(Pattern { block, pieces }) => block.packed.read(|bytes| dictionaries.pack(text, Some((&block.dictionary, bytes, pieces)))),
            None => dictionaries.pack(text, None),
        };
        if let Some((dictionary, packed)) = packed
            && let Some(packed) = store(arena, packed, text.len())
        {
            *held = Body::Packed(Compressed { packed, dictionary });
        }
    }

    /// A copy of what a text was packed to, where it stays so.
    fn copied_pattern(&self, held: &Body<Object>) -> Option<Pattern> {
        let Body::Packed(Compressed { packed, dictionary }) = held else { return None };
        let bytes = packed.read(<[u8]>::to_vec);
        let packed = self.arena.store(&bytes, packed.len()).ok()?;
        Some(Pattern { block: Compressed { packed, dictionary: dictionary.clone() }, pieces: Box::default() })
    }

    fn store(&self, packed: &[u8], length: usize) -> Option<PackedText> {
        store(&self.arena, packed, length)
    }

    /// Bytes held beyond those of the objects: queues, holes, dictionaries, buffers.
    pub(crate) fn overhead(&self) -> usize {
        let queues = self.current.len() * size_of::<Waiting>() + self.replaced.len() * size_of::<(Waiting, Weak<Object>)>();
        self.arena.bytes() - self.arena.live() + self.dictionaries.bytes() + self.coder.bytes() + queues
    }
}

/// Stores a packed text if it saves at least a quarter. Without memory for it the text stays unpacked.
fn store(arena: &Rc<Arena>, packed: &[u8], length: usize) -> Option<PackedText> {
    if packed.len() * 4 > length * 3 { None } else { arena.store(packed, length).ok() }
}

fn change_form<R>(object: &Rc<Object>, change: impl FnOnce(&mut Body<Object>) -> R, reformed: Reformed<'_>) -> R {
    let (changed, before, after) = object.reform(change);
    reformed(object.holder(), before, after);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, compare_object, scan_object};
    use crate::testing::with_spec;

    fn object(name: &str, version: u64, letters: usize) -> Rc<Object> {
        with_spec(name, version, &[], &format!("{{\"text\":\"{}\"}}", "x".repeat(letters)))
    }

    fn bytes<'o>(objects: impl IntoIterator<Item = &'o Rc<Object>>) -> usize {
        objects.into_iter().map(|object| object.form().0).sum()
    }

    fn is_packed(object: &Rc<Object>) -> bool {
        !object.form().1
    }

    #[test]
    fn a_packed_text_is_kept_where_it_saves_at_least_a_quarter() {
        let arena = Rc::<Arena>::default();
        assert!(store(&arena, &[0; 75], 100).is_some());
        assert!(store(&arena, &[0; 76], 100).is_none());
    }

    #[test]
    fn what_was_dropped_waits_no_more_and_the_rest_still_does() {
        let mut packer = Packer::default();
        let mut objects: Vec<_> = (0..9).map(|number| object(&format!("pod{number}"), 1, 200)).collect();
        objects.iter().for_each(|object| packer.stored(object));
        packer.begin_pass();
        assert_eq!(packer.waiting, bytes(&objects));
        objects.truncate(4);
        packer.sweep();
        assert_eq!((packer.waiting, packer.current.len(), packer.due), (bytes(&objects), 4, 4));
        while packer.pack_next(&mut |_, _, _| {}) {}
        assert!(objects.iter().all(is_packed));
        assert_eq!(packer.waiting, 0);
    }

    #[test]
    fn a_replaced_version_waits_until_it_is_packed() {
        let mut packer = Packer::default();
        let (old, new, other) = (object("pod", 1, 200), object("pod", 2, 200), object("other", 1, 200));
        packer.stored(&other);
        packer.replaced(&old, &new);
        assert_eq!(packer.waiting, bytes([&old, &other]));
        assert!(packer.pack_replaced(&mut |_, _, _| {}) && is_packed(&old));
        assert_eq!(packer.waiting, bytes([&other]));
        assert!(!packer.pack_replaced(&mut |_, _, _| {}), "there was but one");
    }

    #[test]
    fn a_version_is_packed_along_the_one_before_it() {
        let mut packer = Packer::default();
        let pack_all = |packer: &mut Packer| while packer.pack_next(&mut |_, _, _| {}) {};
        let version =
            |version: u64, letters: usize| with_spec("pod", version, &[], &format!("{{\"text\":\"{version}{}\"}}", "x".repeat(letters)));
        let mut versions = vec![version(1_000, 300)];
        packer.stored(&versions[0]);
        // Enough of others that tell how well such a text packs.
        let others: Vec<_> = (0..99).map(|number| version(2_000 + 7 * number, 300)).collect();
        others.iter().for_each(|other| packer.stored(other));
        pack_all(&mut packer);
        // Texts that were packed anew shorten the pause before the next challenge.
        let pause = packer.dictionaries.pause();
        let replace_by = |packer: &mut Packer, versions: &mut Vec<Rc<Object>>, new: Rc<Object>| {
            packer.stored(&new);
            packer.replaced(&versions[versions.len() - 1], &new);
            versions.push(new);
        };
        for number in 1..2 * u64::from(MAX_CHAIN) {
            replace_by(&mut packer, &mut versions, version(1_000 + number, 300));
            pack_all(&mut packer);
            assert_eq!(packer.dictionaries.pause(), pause, "version {number}");
        }
        // Several before a pass: the block is handed on.
        (20..25).for_each(|number| replace_by(&mut packer, &mut versions, version(1_000 + number, 300)));
        pack_all(&mut packer);
        assert_eq!(packer.dictionaries.pause(), pause);
        replace_by(&mut packer, &mut versions, version(1_030, 299));
        pack_all(&mut packer);
        assert_eq!(packer.dictionaries.pause(), pause, "another length");
        for held in &versions {
            assert!(is_packed(held) && held.text().ends_with(format!("{}\"}}}}", "x".repeat(299)).as_bytes()), "{:?}", held.text());
            assert!(String::from_utf8_lossy(&held.text()).contains(&format!("\"text\":\"{}x", held.version())));
        }
    }

    /// A version that was read by a comparison with the one before.
    fn update(old: &Rc<Object>, from: &str, to: &str) -> Rc<Object> {
        let held = old.text();
        let text = String::from_utf8_lossy(&held).replacen(from, to, 1);
        let edits = compare_object(&held, text.as_bytes(), &FieldSet::new(Vec::new())).unwrap();
        old.updated(&held, edits, 0).unwrap()
    }

    #[test]
    fn nothing_is_searched_where_the_difference_was_found_at_the_door() {
        // Long enough a difference that a search would need its table.
        let (one, other) = ("1".repeat(200), "2".repeat(200));
        for known in [true, false] {
            let spec = format!("{{\"letters\":\"{}\",\"differs\":\"{one}\"}}", "x".repeat(2_000));
            let old = with_spec("pod", 1, &[], &spec);
            let new = update(&old, &one, &other);
            let new = if known { new } else { Object::new(scan_object(&new.text(), &FieldSet::new(Vec::new())).unwrap()).unwrap() };
            let mut packer = Packer::default();
            packer.replaced(&old, &new);
            assert!(packer.pack_replaced(&mut |_, _, _| {}));
            assert_eq!(packer.coder.bytes() == 0, known);
            assert!(is_packed(&old) && old.text().ends_with(format!("{one}\"}}}}").as_bytes()));
        }
    }

    #[test]
    fn law_08_bounded_what_is_known_of_the_version_before_counts_until_it_is_packed() {
        let letters: String = (0..4_000u32).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect();
        let old = with_spec("pod", 1_000, &[], &format!("{{\"letters\":\"{letters}\",\"n\":1}}"));
        let mut packer = Packer::default();
        packer.stored(&old);
        while packer.pack_next(&mut |_, _, _| {}) {}
        let new = update(&old, "\"n\":1", "\"n\":100");
        let bare = Object::new(scan_object(&new.text(), &FieldSet::new(Vec::new())).unwrap()).unwrap().size();
        new.set_holder(Holder::Store);
        let with_delta = new.size();
        let mut counted = i64::try_from(with_delta).unwrap();
        packer.stored(&new);
        packer.replaced(&old, &new);
        let mut count = |holder: Holder, before: usize, after: usize| {
            counted += if holder == Holder::Store { after as i64 - before as i64 } else { 0 };
        };
        let packed = packer.arena.live();
        assert!(packer.pack_replaced(&mut count));
        // The block, the pieces that have moved, and no delta any more.
        let with_pattern = new.size();
        assert!(with_delta > bare && with_pattern > bare + packed, "{bare}, {with_delta} and {with_pattern}, of a block of {packed}");
        assert!(packer.pack_next(&mut count) && new.size() < bare);
        assert_eq!(counted, i64::try_from(new.size()).unwrap());
    }

    #[test]
    fn law_08_bounded_the_patch_of_a_decoded_version_counts_until_its_successor_is_packed() {
        let old = with_spec("pod", 1, &[], &format!("{{\"text\":\"{}\",\"n\":1}}", "x".repeat(2_000)));
        let (held, fields) = (old.text(), FieldSet::new(Vec::new()));
        let text = String::from_utf8_lossy(&held).replacen("\"n\":1", "\"n\":2", 1);
        let of_patch = |patch: Option<&[u8]>| {
            let edits = compare_object(&held, text.as_bytes(), &fields).unwrap();
            old.updated(&held, crate::json::Edits { patch: patch.map(Into::into), ..edits }, 0).unwrap()
        };
        let patch = br#"[["spec","n"],2]"#;
        let (new, without) = (of_patch(Some(patch)), of_patch(None));
        assert_eq!((new.patch_of(old.id()).as_deref(), new.patch_of(old.id() + 1)), (Some(&patch[..]), None));
        assert_eq!((without.patch_of(old.id()), new.size() - without.size()), (None, crate::allocation::allocation(patch.len())));
        let mut packer = Packer::default();
        packer.stored(&new);
        packer.replaced(&old, &new);
        while packer.pack_next(&mut |_, _, _| {}) {}
        assert!(is_packed(&new) && new.size() < without.size());
        assert_eq!(new.patch_of(old.id()), None);
    }

    #[test]
    fn what_packed_objects_leave_is_overhead_until_the_holes_are_closed() {
        let mut packer = Packer::default();
        let objects: Vec<_> = (0..9).map(|number| object(&format!("pod{number}"), 1, 200)).collect();
        objects.iter().for_each(|object| packer.stored(object));
        while packer.pack_next(&mut |_, _, _| {}) {}
        let (packed, live) = (packer.overhead(), packer.arena.live());
        drop(objects);
        assert!(live > 0);
        assert_eq!(packer.overhead(), packed + live);
        packer.close_holes();
        assert!(packer.overhead() < packed);
    }

    #[test]
    fn a_load_is_behind_while_more_waits_than_it_may() {
        let (mut packer, large) = (Packer::default(), object("large", 1, MAX_LISTED_BYTES));
        assert!(!packer.is_behind());
        packer.stored(&large);
        assert!(packer.is_behind() && packer.needs_pass() && !packer.is_pressed());
        while packer.pack_next(&mut |_, _, _| {}) {}
        assert!(!packer.is_behind() && !packer.needs_pass());
    }
}
