//! Packs what rests: objects that nobody has touched for a round are compressed, those that were replaced become deltas.

use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use super::arena::{Arena, Slot};
use super::body::Body;
use super::delta::Coder;
use super::dictionary::Dictionaries;
use crate::object::object::{Holder, Object};

/// Shorter texts stay as they are.
const SHORTEST: usize = 96;
/// So many deltas may hang on each other; the next one is packed whole. It bounds what reading an old version costs.
const DEEPEST: u8 = 8;
/// For less than so many bytes that wait it is not worth to begin: a small resource stays as it came.
const LITTLE: usize = 64 << 10;
/// Objects that wait may hold so many bytes. Beyond it they are packed at once.
const MOST_WAITING: usize = 32 << 20;
/// While a list arrives only so many: a long one needs hardly more memory then than it will later, and what a page of the browser took once it
/// never gives back.
const MOST_LISTED: usize = 256 << 10;

/// What waits to be packed, and where it goes.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    arena: Rc<Arena>,
    dictionaries: Dictionaries,
    coder: Coder,
    fresh: VecDeque<Waiting>,
    // With what replaced it.
    replaced: VecDeque<(Waiting, Weak<Object>)>,
    // How many of the fresh ones were there when the round began.
    ripe: usize,
    waiting: usize,
    // Since the queues were swept.
    arrived: usize,
}

#[derive(Debug)]
struct Waiting {
    object: Weak<Object>,
    bytes: usize,
}

/// An object's form has changed: who holds it, and how many bytes it took before and takes now.
pub(crate) type Reformed<'a> = &'a mut dyn FnMut(Holder, usize, usize);

impl Packer {
    /// Bytes that an object takes which waits, for itself and because it was replaced.
    pub(crate) const WAITING: usize = size_of::<Waiting>() + size_of::<(Waiting, Weak<Object>)>();

    /// An object arrived that will be held. Only the first call for it counts.
    pub(crate) fn stored(&mut self, object: &Rc<Object>) {
        if object.was_queued() {
            return;
        }
        if let Some(waiting) = self.wait(object) {
            self.fresh.push_back(waiting);
        }
    }

    /// An object arrived in a list, where `held` may be held at its version. Only the first call for it counts.
    pub(crate) fn listed(&mut self, object: &Rc<Object>, held: Option<&Rc<Object>>) {
        match held {
            Some(held) if !object.was_queued() => self.replaced(object, held),
            Some(_) => {}
            None => {
                // As if it had been changed before, one more often and the other less: so objects that change alike do not come to have a
                // version packed whole all at the same time.
                object.set_depth((object.id() % (u64::from(DEEPEST) + 1)) as u8);
                self.stored(object);
            }
        }
    }

    /// An object is held beside one that replaced it.
    pub(crate) fn replaced(&mut self, old: &Rc<Object>, new: &Rc<Object>) {
        if let Some(waiting) = self.wait(old) {
            self.replaced.push_back((waiting, Rc::downgrade(new)));
        }
    }

    fn wait(&mut self, object: &Rc<Object>) -> Option<Waiting> {
        let (length, raw) = object.form();
        if length < SHORTEST {
            return None;
        }
        self.arrived += 1;
        if self.arrived * 2 > self.fresh.len() + self.replaced.len() {
            self.sweep();
        }
        let bytes = if raw { length } else { 0 };
        self.waiting += bytes;
        Some(Waiting { object: Rc::downgrade(object), bytes })
    }

    /// Forgets what waits and is gone already, once in so many arrivals that it costs each of them little.
    fn sweep(&mut self) {
        self.arrived = 0;
        let mut bytes = 0;
        let mut waits = |waiting: &Waiting| {
            let waits = waiting.object.strong_count() > 0;
            bytes += if waits { waiting.bytes } else { 0 };
            waits
        };
        let (mut at, mut ripe) = (0, 0);
        self.fresh.retain(|waiting| {
            let waits = waits(waiting);
            ripe += usize::from(waits && at < self.ripe);
            at += 1;
            waits
        });
        self.replaced.retain(|(old, _)| waits(old));
        (self.ripe, self.waiting) = (ripe, bytes);
    }

    /// Whether too little waits for a round.
    pub(crate) fn is_settled(&self) -> bool {
        self.waiting < LITTLE
    }

    /// Whether so much waits that it should not wait for a round.
    pub(crate) fn is_pressed(&self) -> bool {
        self.waiting > MOST_WAITING
    }

    /// Whether more waits than should while a list arrives.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting > MOST_LISTED
    }

    /// A round begins: what has arrived up to now is not touched any more.
    pub(crate) fn begin_round(&mut self) {
        self.ripe = self.fresh.len();
        self.arena.forget_recent();
    }

    /// Packs one object of the round, or closes some holes. Returns whether there was anything to do.
    pub(crate) fn step(&mut self, reformed: Reformed<'_>) -> bool {
        if self.replaced.is_empty() && self.ripe == 0 {
            self.rest();
            return self.arena.tidy();
        }
        self.pack_next(reformed)
    }

    /// Packs one object of all that wait. Returns whether there was one.
    pub(crate) fn pack_next(&mut self, reformed: Reformed<'_>) -> bool {
        // Those that were replaced first: so none of them is packed whole just before.
        if self.pack_replaced(reformed) {
            return true;
        }
        let Some(waiting) = self.fresh.pop_front() else { return false };
        self.ripe = self.ripe.saturating_sub(1);
        self.waiting -= waiting.bytes;
        if let Some(object) = waiting.object.upgrade() {
            let body = self.whole(&object);
            reform(&object, body, reformed);
        }
        true
    }

    /// Packs one object of those that were replaced. Returns whether there was one.
    pub(crate) fn pack_replaced(&mut self, reformed: Reformed<'_>) -> bool {
        let Some((old, new)) = self.replaced.pop_front() else { return false };
        self.waiting -= old.bytes;
        if let Some(old) = old.object.upgrade() {
            let body = new.upgrade().and_then(|new| self.delta(&old, &new)).or_else(|| self.whole(&old));
            reform(&old, body, reformed);
        }
        true
    }

    /// Closes the holes that dropped objects left, and gives back what packing needs.
    pub(crate) fn close_holes(&mut self) {
        while self.arena.tidy() {}
        self.rest();
    }

    fn rest(&mut self) {
        self.dictionaries.rest();
        self.coder.rest();
    }

    fn delta(&mut self, old: &Object, new: &Rc<Object>) -> Option<Body<Object>> {
        let depth = old.depth() + 1;
        if depth > DEEPEST {
            return None;
        }
        let (text, next) = (old.text(), new.text());
        let packed = self.coder.encode(&next, &text, text.len() / 2)?;
        let slot = self.store(&packed, text.len())?;
        new.set_depth(depth);
        Some(Body::Delta { slot, next: new.clone(), length: u32::try_from(text.len()).ok()? })
    }

    fn whole(&mut self, object: &Object) -> Option<Body<Object>> {
        if !object.form().1 {
            return None;
        }
        let text = object.text();
        let (dictionary, packed) = self.dictionaries.pack(&text)?;
        let slot = store(&self.arena, packed, text.len())?;
        Some(Body::Packed { slot, dictionary, length: u32::try_from(text.len()).ok()? })
    }

    fn store(&self, packed: &[u8], length: usize) -> Option<Slot> {
        store(&self.arena, packed, length)
    }

    /// Bytes that are held beyond those of the objects: queues, holes, dictionaries, what packing needs.
    pub(crate) fn overhead(&self) -> usize {
        let queues = self.fresh.len() * size_of::<Waiting>() + self.replaced.len() * size_of::<(Waiting, Weak<Object>)>();
        self.arena.held() - self.arena.live() + self.dictionaries.held() + self.coder.held() + queues
    }
}

/// Puts a packed text down where that pays. Where there is no memory for it the text stays as it is.
fn store(arena: &Rc<Arena>, packed: &[u8], length: usize) -> Option<Slot> {
    if packed.len() * 4 > length * 3 { None } else { arena.store(packed).ok() }
}

fn reform(object: &Rc<Object>, body: Option<Body<Object>>, reformed: Reformed<'_>) {
    if let Some(body) = body {
        let (before, after) = object.reform(body);
        reformed(object.holder(), before, after);
    }
}
