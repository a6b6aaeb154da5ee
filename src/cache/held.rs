//! What is held of a resource: the store, the event window, and what of both is packed. In the apiserver it is the type `watchCache`
//! inside the Cacher; here the whole is called a watch cache.

use std::rc::Rc;

use crate::change::{Change, ChangeKind, Difference};
use crate::growth::Growth;
use crate::key::key;
use crate::message::Quarantined;
use crate::metrics::Metrics;
use crate::object::rest::{Origin, Packer, Recipient, Reformed};
use crate::object::{Facts, Holder, Object, Pins};
use crate::source::History;
use crate::status::{Error, Status};
use crate::store::{Indexes, Snapshot, Store, Strays, Window, WindowBounds};
use crate::time::Instant;
use crate::version::Version;

/// The objects at a version, and the changes that led there.
pub struct Held {
    store: Store,
    window: Window,
    /// What neither holds any more, and somebody still does.
    strays: Strays,
    packer: Packer,
    /// What JavaScript may read by number.
    pins: Rc<Pins>,
    version: Version,
    history: History,
    /// How far the histories before it came, the one that came furthest.
    past: Version,
    /// Of the objects, and what it takes to keep them.
    growth: Growth,
}

impl Held {
    /// Nothing, at no version.
    pub(super) fn new(bounds: WindowBounds, indexes: Indexes) -> Self {
        Self {
            store: Store::indexed(indexes),
            window: Window::new(bounds),
            strays: Strays::default(),
            packer: Packer::default(),
            pins: Rc::default(),
            version: Version::ZERO,
            history: History::begin(),
            past: Version::ZERO,
            growth: Growth::default(),
        }
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The recent changes.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The version reached.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Of which history it is.
    pub(super) fn history(&self) -> History {
        self.history
    }

    /// The same, to begin another one.
    pub(super) fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    // ------------------------------------------------------------------------------------------ past states

    /// The objects as they are.
    pub fn state(&self) -> Snapshot<'_> {
        Snapshot::present(&self.store, self.version.clone())
    }

    /// The objects as they were at a version: those of the last list or change up to it. 410 Expired when the window does not reach back to
    /// it. 504 when the stream has not come so far: callers wait for that before.
    pub fn state_at(&self, version: &Version) -> Result<Snapshot<'_>, Error> {
        if *version > self.version {
            return Err(Status::too_large(version, &self.version).into());
        }
        match self.window.undo_to(version) {
            Some(since) => Ok(Snapshot::past(&self.store, version.clone(), since)),
            None => Err(Status::new(410, "Expired", format!("too old resource version: {version}")).into()),
        }
    }

    /// The changes after a version. 410 Expired where the window does not reach back to it, and where it is of an earlier history. That can be told where it
    /// was reached in one, and in this one it was not yet.
    pub(super) fn since(&self, version: &Version) -> Result<impl Iterator<Item = &Change>, Error> {
        if self.version < *version && *version <= self.past {
            return Err(Status::too_old(version, &self.version).into());
        }
        self.window.since(version)
    }

    /// Whether the objects as they were at a version can be read.
    pub fn has_state_at(&self, version: &Version) -> bool {
        *version <= self.version && self.window.undo_to(version).is_some()
    }

    /// The upstream has compacted what lies before this version: past states before it are no longer served. For who can tell: etcd says what it
    /// compacted, the REST API does not.
    pub fn compact(&mut self, version: &Version) {
        self.window.compact(version);
    }

    /// See [`Window::set_local`].
    pub(super) fn set_local(&mut self) {
        self.window.set_local();
        self.pins().set_local();
    }

    /// What is held proved to be what the upstream holds, or not: then no past state is served until it does.
    pub fn set_consistent(&mut self, consistent: bool) {
        self.window.set_consistent(consistent);
    }

    // --------------------------------------------------------------------------------------- what happens

    /// What is held of an object at this very version. A list that brings it again does not replace it: it keeps its identity.
    pub(super) fn same_version(&self, object: &Object) -> Option<&Rc<Object>> {
        self.store.get(object.key()).filter(|held| held.version() == object.version())
    }

    /// The objects of a parcel, which rest here from now on: see [`parcel`](crate::object::rest::parcel). What is held at the same version takes no
    /// room a second time.
    pub(super) fn open(&mut self, parcel: &[u8], origin: Origin, fields: usize) -> Result<Vec<Rc<Object>>, Error> {
        let Self { packer, store, .. } = self;
        let held = |facts: &Facts<'_>, length| {
            let is_it = |held: &&Rc<Object>| (held.version(), held.uid(), held.form().0) == (facts.version, facts.uid, length);
            store.get(&key(facts.namespace, facts.name).ok()?).filter(is_it).cloned()
        };
        packer.open(parcel, &Recipient { origin, held: &held, fields })
    }

    /// An object has come in a list, and waits to be packed; `known` is its [`Held::same_version`].
    pub(super) fn pack_later(&mut self, object: &Rc<Object>, known: Option<&Rc<Object>>) {
        self.packer.listed(object, known);
    }

    /// So many objects have come in a list that some of them are packed at once.
    pub(super) fn pack_arrived(&mut self) {
        while self.packer.is_behind() && self.pack_next() {}
    }

    /// An object of the first list is shown before the list is whole. Returns what it replaces.
    pub(super) fn show(&mut self, object: &Rc<Object>) -> Option<Rc<Object>> {
        self.store.upsert(object.clone())
    }

    /// An object of the first list is there no more. Returns what was shown of it.
    pub(super) fn hide(&mut self, object: &Object) -> Option<Rc<Object>> {
        let gone = self.store.remove(object.key())?;
        self.strays.note(&gone);
        Some(gone)
    }

    /// A list replaces the objects. Returns what differs. What is held of those that cannot be taken from the list stays: they are there, if
    /// only not as they stand.
    pub(super) fn replace(&mut self, objects: Vec<Rc<Object>>, quarantined: &[Quarantined]) -> Vec<Difference> {
        if quarantined.is_empty() {
            return self.store.replace(objects);
        }
        let kept = self.store.iter().filter(|held| quarantined.iter().any(|entry| entry.is(held)));
        // What the list does show of a key counts.
        let all = kept.cloned().chain(objects).collect();
        self.store.replace(all)
    }

    /// The same, told by what differs.
    pub(super) fn apply(&mut self, mut differences: Vec<Difference>, quarantined: &[Quarantined]) -> Vec<Difference> {
        let stays = |gone: &Rc<Object>| quarantined.iter().any(|entry| entry.is(gone));
        differences.retain(|one| one.after.is_some() || !one.before.as_ref().is_some_and(stays));
        self.store.apply(&differences);
        differences
    }

    /// Everybody has heard of the list that replaced the objects: the window begins anew.
    pub(super) fn replaced(&mut self, differences: Vec<Difference>, version: Version, now: Instant) {
        for difference in &differences {
            if let Some(after) = &difference.after {
                self.packer.listed(after, None);
            }
            if let Some(gone) = &difference.before {
                self.strays.note(gone);
            }
        }
        drop(differences);
        self.window.reset(version.clone(), now, &mut self.strays);
        if version < self.version {
            if self.version > self.past {
                self.past = self.version.clone();
            }
            self.history.reset();
        }
        self.version = version;
    }

    /// Makes a change of the objects, and tells it with what it replaced. The version reached is the change's, also where it changes nothing.
    pub(super) fn change(&mut self, kind: ChangeKind, mut object: Rc<Object>, version: Version, now: Instant) -> Change {
        let previous = match kind {
            ChangeKind::Deleted => self.store.remove(object.key()),
            ChangeKind::Added | ChangeKind::Modified => self.store.put(&mut object),
        };
        self.version = version.clone();
        Change { kind, object, previous, version, at: now }
    }

    /// Everybody has heard of a change: the window records it.
    pub(super) fn record(&mut self, change: Change, metrics: &Metrics) {
        self.packer.stored(&change.object);
        if let Some(previous) = &change.previous {
            self.packer.replaced(previous, &change.object);
        }
        if self.window.lacks_room(&change) {
            // What can be packed need not be given up.
            while self.packs(Packer::pack_replaced) {}
        }
        let capacity = self.window.capacity();
        self.window.push(change, &mut self.strays);
        metrics.capacity_changed(capacity, self.window.capacity());
    }

    /// The upstream has come to this version without a change.
    pub(super) fn advance(&mut self, version: Version) {
        self.version = version;
    }

    /// The objects go, whoever still holds this.
    pub(super) fn clear(&mut self, now: Instant) {
        self.store.clear();
        self.window.reset(self.version.clone(), now, &mut self.strays);
        self.packer = Packer::default();
    }

    // ------------------------------------------------------------------------------------------- packing

    /// Begins a pass of packing: what has not been touched since the last one is packed by [`Held::pack_resting`].
    pub fn begin_packing(&mut self) {
        self.sift_strays();
        self.packer.begin_pass();
    }

    /// Packs one object of the pass, or closes some holes. Returns whether there was anything to do.
    pub fn pack_resting(&mut self) -> bool {
        let more = self.packs(Packer::step);
        self.window.keep_bound(&mut self.strays);
        more
    }

    /// Packs all that waits.
    pub fn pack_all(&mut self) {
        while self.pack_next() {}
        self.packer.close_holes();
    }

    /// Packs while so much waits that it should not wait for a pass.
    pub(super) fn relieve(&mut self) {
        while self.packer.is_pressed() && self.pack_next() {}
    }

    /// Whether enough waits to be packed for a pass.
    pub fn needs_packing(&self) -> bool {
        self.packer.needs_pass()
    }

    fn pack_next(&mut self) -> bool {
        let more = self.packs(Packer::pack_next);
        self.window.keep_bound(&mut self.strays);
        more
    }

    /// Has the packer do one thing, and counts what that changes.
    fn packs(&mut self, step: fn(&mut Packer, Reformed<'_>) -> bool) -> bool {
        let Self { packer, store, window, .. } = self;
        step(packer, &mut |holder, before, after| match holder {
            Holder::Store => store.reformed(before, after),
            Holder::Window => window.reformed(before, after),
            Holder::Nobody => {}
        })
    }

    // -------------------------------------------------------------------------------------------- memory

    /// Bytes held: the objects, the window, what it takes to keep them, and what only late readers still hold. Decoded versions that are held for
    /// their successors count as well.
    pub(super) fn bytes(&self) -> usize {
        self.object_bytes() + self.strays.bytes() + self.pins.held_bytes()
    }

    /// What JavaScript may read by number.
    pub(super) fn pins(&self) -> &Rc<Pins> {
        &self.pins
    }

    fn object_bytes(&self) -> usize {
        self.store.bytes() + self.store.overhead() + self.window.bytes() + self.packer.overhead() + self.store.index_bytes()
    }

    /// By how much the objects have grown lately.
    pub(super) fn grown(&self) -> usize {
        self.growth.until(self.object_bytes())
    }

    /// Notes what the objects take now.
    pub(super) fn note_bytes(&mut self) {
        self.growth.note(self.object_bytes());
    }

    /// Gives up the oldest changes until at least so many bytes are free.
    pub(super) fn release_history(&mut self, bytes: usize) {
        self.window.release(bytes, &mut self.strays);
        self.packer.close_holes();
    }

    /// Looks which of the objects that were let go of are still held.
    pub(super) fn sift_strays(&mut self) {
        self.strays.sift();
    }

    /// JavaScript has collected what it did not hold.
    pub(super) fn collected(&mut self) {
        self.strays.collected();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::testing::object;

    /// Told whole and told by its differences, a list leaves the same.
    #[test]
    fn st_05_a_list_leaves_what_is_held_of_quarantined_objects() {
        let quarantined =
            ["a/bad", "a/cured"].map(|key| Quarantined { key: key.into(), uid: None, error: Error::new(ErrorCode::Decode, "no version") });
        let before = || {
            let mut held = Held::new(WindowBounds::default(), Indexes::default());
            for key in ["a/bad", "a/cured", "a/gone", "a/same"] {
                held.store.upsert(object(key, 1));
            }
            held
        };
        let all = |held: &Held| held.store.iter().map(|held| format!("{held:?}")).collect::<Vec<_>>();
        let told =
            |differences: Vec<Difference>| differences.iter().map(|one| format!("{:?}->{:?}", one.before, one.after)).collect::<Vec<_>>();
        let gone = |held: &Held, key: &str| Difference { before: held.store.get(key).cloned(), after: None };

        let mut whole = before();
        let same = whole.store.get("a/same").cloned().unwrap();
        let differences = told(whole.replace(vec![object("a/cured", 2), same], &quarantined));
        assert_eq!(all(&whole), ["a/bad@1", "a/cured@2", "a/same@1"]);
        assert_eq!(differences, ["Some(a/cured@1)->Some(a/cured@2)", "Some(a/gone@1)->None"]);

        let mut told_by_differences = before();
        let cured = Difference { before: told_by_differences.store.get("a/cured").cloned(), after: Some(object("a/cured", 2)) };
        let list = vec![gone(&told_by_differences, "a/bad"), cured, gone(&told_by_differences, "a/gone")];
        assert_eq!(told(told_by_differences.apply(list, &quarantined)), differences);
        assert_eq!(all(&told_by_differences), all(&whole));
    }
}
