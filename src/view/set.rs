//! The open views of one store, and the ranges of their rows.

use std::rc::Rc;

use slab::Slab;

use crate::change::{Change, ChangeKind};
use crate::growth::Growth;
use crate::json::fields::{FieldSet, Slot};
use crate::object::{Object, ObjectId};
use crate::sort::sort_by;
use crate::status::Error;
use crate::store::{Replacement, Store, StoreObserver};
use crate::version::Version;

use super::id::{RangeId, ViewId};
use super::options::ViewOptions;
use super::spec::RowRange;
use super::view::View;

/// A store of no more objects is looked through at once when a view opens. A slice looks at the clock after as many.
const MAX_AT_ONCE: usize = 64;

struct Open {
    view: View,
    // Of the fields that it orders and groups by.
    _slots: Vec<Slot>,
    // Somebody was told to look at it, or will be with the next flush, and has not looked yet.
    told: bool,
    // What it takes, as it counts among the bytes of all.
    bytes: usize,
    // Of what it takes, with objects that only readers hold.
    growth: Growth,
    // There was no memory for it: it has no rows any more.
    failure: Option<Failure>,
    // It has failed, or come back, and nobody has looked since. The next look shows something else.
    failure_changed: bool,
}

impl Open {
    /// Whether somebody must be told to look at it: once until somebody has.
    #[inline]
    fn is_news(&mut self) -> bool {
        self.view.is_stirred() && !std::mem::replace(&mut self.told, true)
    }
}

/// Why a view has no rows any more.
struct Failure {
    error: Error,
    // It comes back when there is so much room: with less it would fail again and again.
    needs: usize,
}

/// The open views by id, and the ranges of their rows.
///
/// ```
/// use watchcache::json::{FieldSet, scan_object};
/// use watchcache::object::Object;
/// use watchcache::store::Store;
/// use watchcache::view::{RowRange, ViewOptions, Views};
///
/// let mut fields = FieldSet::new(Vec::new());
/// let mut store = Store::new();
/// for (name, phase) in [("a", "Running"), ("b", "Failed"), ("c", "Running")] {
///     let text = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"1"}},"status":{{"phase":"{phase}"}}}}"#);
///     store.upsert(Object::new(scan_object(text.as_bytes(), &fields).expect("a JSON document"))?);
/// }
/// let mut views = Views::default();
/// let options = ViewOptions {
///     field_selector: Some("status.phase=Running".into()),
///     order: vec![("metadata.name".into(), true, None)],
///     ..ViewOptions::default()
/// };
/// let view = views.open(&options, &store, true, &mut fields)?;
/// let range = views.open_range(view, RowRange { offset: 0, limit: 10 }).expect("it is open");
/// views.look(view, true, &fields);
/// let shown = views.get(view).expect("it is open");
/// let names: Vec<_> = shown.rows(range).map(|pod| pod.name()).collect();
/// assert_eq!((names, shown.total()), (vec!["c", "a"], 2));
/// # Ok::<_, watchcache::status::Error>(())
/// ```
#[derive(Default)]
pub struct Views {
    views: Slab<Open>,
    // The view of each range.
    ranges: Slab<ViewId>,
    stirred: Vec<ViewId>,
    // Some view has more to find, or more to take in than one look takes.
    unfinished: bool,
    bytes: usize,
    // They take more bytes than when that was last asked.
    grown: bool,
}

impl Views {
    /// Opens a view on a store, whose list is whole or not. Fails on a selector or path with a mistake.
    pub fn open(&mut self, options: &ViewOptions, store: &Store, listed: bool, fields: &mut FieldSet) -> Result<ViewId, Error> {
        let (mut view, slots) = options.view(fields)?;
        if let Some(from) = options.alike.iter().filter_map(|id| self.get(*id)).max_by_key(|view| view.told()) {
            view.inherit(from);
        }
        self.unfinished |= fill(&mut view, store, fields);
        view.look(listed, fields);
        let open = Open { view, _slots: slots, told: false, bytes: 0, growth: Growth::default(), failure: None, failure_changed: false };
        let id = ViewId::of(self.views.insert(open));
        self.weigh(id);
        Ok(id)
    }

    /// Closes a view and its ranges.
    pub fn close(&mut self, id: ViewId) {
        let Some(open) = self.views.try_remove(id.index()) else { return };
        for range in open.view.ranges() {
            self.ranges.try_remove(range.index());
        }
        self.bytes -= open.bytes;
        // Its id may stay among the stirred ones. It then names nothing, or a later view, which is asked whether it is stirred.
        if self.views.is_empty() {
            self.stirred.clear();
        }
    }

    /// Opens a range of the rows of a view.
    pub fn open_range(&mut self, id: ViewId, span: RowRange) -> Option<RangeId> {
        self.views.get(id.index())?;
        let range = RangeId::of(self.ranges.insert(id));
        self.arrange(id, |view| view.open_range(range, span));
        self.name_if_stirred(id);
        Some(range)
    }

    /// Moves a range. Its rows are others at once, and of the same state.
    pub fn move_range(&mut self, range: RangeId, span: RowRange) {
        if let Some(id) = self.ranges.get(range.index()).copied() {
            self.arrange(id, |view| view.move_range(range, span));
            self.name_if_stirred(id);
        }
    }

    /// Closes a range.
    pub fn close_range(&mut self, range: RangeId) {
        if let Some(id) = self.ranges.try_remove(range.index()) {
            self.arrange(id, |view| view.close_range(range));
        }
    }

    /// Works on the ranges of a view, and weighs it afterwards.
    fn arrange(&mut self, id: ViewId, work: impl FnOnce(&mut View)) {
        work(&mut self.views[id.index()].view);
        self.weigh(id);
    }

    /// Tells every view of one object that has changed.
    fn hear(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, fields: &FieldSet) {
        let mut bytes = 0;
        for (id, open) in &mut self.views {
            if open.failure.is_none() {
                open.view.change(before, after, fields);
            }
            open.bytes = open.view.bytes();
            bytes += open.bytes;
            if open.is_news() {
                self.stirred.push(ViewId::of(id));
            }
        }
        self.bytes = bytes;
    }

    /// The view that a range belongs to.
    pub fn of_range(&self, range: RangeId) -> Option<&View> {
        self.get(*self.ranges.get(range.index())?)
    }

    /// The rows of a range, in order; none where it is closed.
    pub fn rows(&self, range: RangeId) -> impl Iterator<Item = &Rc<Object>> {
        self.of_range(range).into_iter().flat_map(move |view| view.rows(range))
    }

    /// The stamps of the rows of a range; see [`View::stamps`].
    pub fn stamps(&mut self, range: RangeId) -> Vec<u64> {
        let Some(id) = self.ranges.get(range.index()).copied() else { return Vec::new() };
        let stamps = self.views[id.index()].view.stamps(range);
        self.weigh(id);
        stamps
    }

    /// Reads a view, as of its last look. One that is closed reads as nothing.
    pub fn read<R: Default>(&self, id: ViewId, read: impl FnOnce(&View) -> R) -> R {
        self.get(id).map(read).unwrap_or_default()
    }

    /// A view, as of its last look.
    pub fn get(&self, id: ViewId) -> Option<&View> {
        self.views.get(id.index()).map(|open| &open.view)
    }

    /// Has a view take in what waits, and says whether it may show something else now. From here on its changes are told again.
    pub fn look(&mut self, id: ViewId, listed: bool, fields: &FieldSet) -> bool {
        let Some(open) = self.views.get_mut(id.index()) else { return false };
        open.told = false;
        let changed = open.view.look(listed && open.failure.is_none(), fields) | std::mem::take(&mut open.failure_changed);
        self.unfinished |= open.view.is_behind();
        self.weigh(id);
        changed
    }

    /// The verdict on an object that waits for one.
    pub fn decide(&mut self, id: ViewId, object: ObjectId, passes: bool) {
        if let Some(open) = self.views.get_mut(id.index()) {
            open.view.decide(object, passes);
            self.name_if_stirred(id);
        }
    }

    /// What a view asks of objects that wait for their place; see [`View::asks`].
    pub fn asks(&mut self, id: ViewId, max: usize) -> Vec<u8> {
        self.views.get_mut(id.index()).map_or_else(|| b"[]".to_vec(), |open| open.view.asks(max))
    }

    /// What the view of a range asks of the rows there; see [`View::asks_in`].
    pub fn asks_in(&mut self, range: RangeId, max: usize) -> Vec<u8> {
        let open = self.ranges.get(range.index()).and_then(|id| self.views.get_mut(id.index()));
        open.map_or_else(|| b"[]".to_vec(), |open| open.view.asks_in(range, max))
    }

    /// The answers to what a view asked last; see [`View::tell`].
    pub fn tell(&mut self, id: ViewId, values: &str) {
        if let Some(open) = self.views.get_mut(id.index()) {
            open.view.tell(values);
            self.name_if_stirred(id);
            self.weigh(id);
        }
    }

    /// The views that may show something else, or that wait for verdicts, when somebody looks. One that was named is not named again before
    /// somebody has looked: of a burst of events only the first is told.
    pub fn take_changed(&mut self) -> Vec<ViewId> {
        let mut named = std::mem::take(&mut self.stirred);
        // A view that was looked at and has changed since stands here twice.
        sort_by(&mut named, ViewId::cmp);
        named.dedup();
        named.retain(|id| {
            let Some(open) = self.views.get_mut(id.index()) else { return false };
            open.told = open.view.is_stirred();
            open.told
        });
        named
    }

    /// Whether some view may have changed.
    pub fn has_changes(&self) -> bool {
        !self.stirred.is_empty()
    }

    /// Whether [`go_on`](Views::go_on) has something to do.
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Has the views that are being built find some more of their rows, and those that are behind take in some more of what waits.
    pub fn go_on(&mut self, store: &Store, max: usize, fields: &FieldSet) {
        self.unfinished = false;
        for (_, open) in &mut self.views {
            let view = &mut open.view;
            if let Some(key) = view.finds_after().map(ToOwned::to_owned) {
                view.find(store.after(&key).take(max), fields);
            } else if view.is_behind() {
                view.catch_up(max, fields);
            }
            self.unfinished |= view.finds_after().is_some() || view.is_behind();
            let bytes = view.bytes();
            self.grown |= bytes > open.bytes;
            self.bytes = self.bytes - std::mem::replace(&mut open.bytes, bytes) + bytes;
        }
        self.stir(|_| false);
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether they take more than when this was last asked. What changes have added does not count.
    pub(crate) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Who has grown most lately, and by how many bytes. Looks at all rows.
    pub(crate) fn grown(&self) -> (ViewId, usize) {
        let all = self.views.iter().filter(|(_, open)| open.failure.is_none());
        let all = all.map(|(id, open)| (ViewId::of(id), open.growth.until(open.view.bytes_with_late())));
        all.max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }

    /// Notes what each takes now.
    pub(crate) fn note_bytes(&mut self) {
        for (_, open) in &mut self.views {
            open.growth.note(open.view.bytes_with_late());
        }
    }

    /// There is no memory for a view: it loses its rows, and says why.
    pub(crate) fn fail(&mut self, id: ViewId, error: Error, store: &Store) {
        let open = &mut self.views[id.index()];
        // Estimate: the share of objects with a row is the same in what is still to be found.
        let left = open.view.finds_after().map_or(0, |key| store.after(key).count());
        let found = (store.len() - left).max(1);
        let needs = if left == 0 { open.bytes } else { (open.bytes / found + 1) * store.len() };
        open.failure = Some(Failure { error, needs });
        open.view.clear();
        self.tell_failure_changed(id);
    }

    /// Views that there was no memory for come back, as far as this room goes.
    pub(crate) fn revive(&mut self, mut room: usize, store: &Store, fields: &FieldSet) {
        let ids: Vec<ViewId> = self.views.iter().filter(|(_, open)| open.failure.is_some()).map(|(id, _)| ViewId::of(id)).collect();
        for id in ids {
            let open = &mut self.views[id.index()];
            let needs = open.failure.as_ref().map_or(0, |failure| failure.needs);
            if needs > room {
                continue;
            }
            room -= needs;
            open.failure = None;
            open.growth = Growth::default();
            self.unfinished |= fill(&mut open.view, store, fields);
            self.tell_failure_changed(id);
        }
    }

    /// It has failed, or come back: whoever looks next sees that.
    fn tell_failure_changed(&mut self, id: ViewId) {
        let open = &mut self.views[id.index()];
        open.failure_changed = true;
        open.view.stir();
        self.name_if_stirred(id);
        self.weigh(id);
    }

    /// Why a view has no rows any more.
    pub fn error(&self, id: ViewId) -> Option<&Error> {
        self.views.get(id.index())?.failure.as_ref().map(|failure| &failure.error)
    }

    /// Counts what a view takes now.
    fn weigh(&mut self, id: ViewId) {
        let open = &mut self.views[id.index()];
        let bytes = open.view.bytes();
        self.grown |= bytes > open.bytes;
        self.bytes = self.bytes - std::mem::replace(&mut open.bytes, bytes) + bytes;
    }

    /// How many views are open.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Asks for a look at the views of which this holds, and names all that somebody must look at.
    fn stir(&mut self, which: fn(&View) -> bool) {
        for (id, open) in &mut self.views {
            if which(&open.view) {
                open.view.stir();
            }
            if open.is_news() {
                self.stirred.push(ViewId::of(id));
            }
        }
    }

    fn name_if_stirred(&mut self, id: ViewId) {
        let open = &mut self.views[id.index()];
        if open.is_news() {
            self.stirred.push(id);
        }
    }
}

impl StoreObserver for Views {
    fn shown(&mut self, previous: Option<&Rc<Object>>, object: Option<&Rc<Object>>, fields: &FieldSet) {
        self.hear(previous, object, fields);
    }

    fn changed(&mut self, change: &Change, fields: &FieldSet) {
        let after = (change.kind != ChangeKind::Deleted).then_some(&change.object);
        self.hear(change.previous.as_ref(), after, fields);
    }

    fn replaced(&mut self, replacement: &Replacement<'_>, fields: &FieldSet) {
        for difference in replacement.differences {
            self.hear(difference.before.as_ref(), difference.after.as_ref(), fields);
        }
        // The list is whole: who waited for that is loaded at its next look.
        self.stir(|view| !view.is_loaded());
    }

    fn reset(&mut self, _reached: &Version) {
        *self = Self::default();
    }
}

/// Gives a view without rows those of a store. Returns whether they are still to be found.
fn fill(view: &mut View, store: &Store, fields: &FieldSet) -> bool {
    let at_once = store.len() <= MAX_AT_ONCE;
    if at_once {
        view.fill(store.iter(), fields);
    } else {
        view.begin();
    }
    !at_once
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::labelled;

    fn opened(options: &ViewOptions, store: &Store, fields: &mut FieldSet) -> (Views, ViewId, RangeId) {
        let mut views = Views::default();
        let id = views.open(options, store, true, fields).unwrap();
        let range = views.open_range(id, RowRange::ALL).unwrap();
        (views, id, range)
    }

    fn rows(views: &Views, range: RangeId) -> Vec<String> {
        views.of_range(range).unwrap().rows(range).map(|row| row.key().to_string()).collect()
    }

    #[test]
    fn a_view_hears_of_changes_once_a_flush_and_only_while_open() {
        let mut fields = FieldSet::new(Vec::new());
        let mut store = Store::new();
        store.upsert(labelled("a/x", 1, &[("app", "web")]));
        let options = ViewOptions { label_selector: Some("app=web".into()), ..ViewOptions::default() };
        let (mut views, id, range) = opened(&options, &store, &mut fields);
        assert_eq!((views.get(id).unwrap().total(), views.get(id).unwrap().is_loaded()), (1, true));
        assert!(views.take_changed().is_empty(), "what was there at the start is no change");

        let y = |version, app| labelled("a/y", version, &[("app", app)]);
        views.hear(None, Some(&y(1, "db")), &fields);
        assert!(!views.has_changes(), "y is none of its objects");
        views.hear(Some(&y(1, "db")), Some(&y(2, "web")), &fields);
        views.hear(Some(&y(2, "web")), None, &fields);
        assert!(views.take_changed().is_empty(), "y came and went within one flush");
        views.hear(None, Some(&labelled("a/z", 5, &[("app", "web")])), &fields);
        assert_eq!(views.take_changed(), [id]);
        assert_eq!(rows(&views, range), ["a/x"], "nothing moves before somebody looks");
        assert!(views.look(id, true, &fields));
        assert_eq!(rows(&views, range), ["a/x", "a/z"]);
        views.close(id);
        views.hear(None, Some(&labelled("a/q", 6, &[("app", "web")])), &fields);
        assert!(!views.has_changes());
        assert!(views.of_range(range).is_none(), "its ranges went with it");
    }

    #[test]
    fn a_view_that_nobody_has_looked_at_is_not_told_again() {
        let mut fields = FieldSet::new(Vec::new());
        let (mut views, id, range) = opened(&ViewOptions::default(), &Store::new(), &mut fields);
        views.hear(None, Some(&labelled("a/x", 1, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);
        views.hear(None, Some(&labelled("a/y", 2, &[])), &fields);
        assert!(!views.has_changes(), "it is known already");
        assert!(views.look(id, true, &fields));
        assert_eq!(rows(&views, range).len(), 2, "whoever looks sees all");
        assert!(views.take_changed().is_empty());
        views.hear(None, Some(&labelled("a/z", 3, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);

        // One that is looked at between its change and the flush is not told of what was seen.
        assert!(views.look(id, true, &fields));
        views.hear(None, Some(&labelled("a/q", 4, &[])), &fields);
        assert!(views.look(id, true, &fields));
        assert!(views.has_changes() && views.take_changed().is_empty());
        views.hear(None, Some(&labelled("a/r", 5, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);
        assert!(views.look(id, true, &fields));
        assert!(!views.look(id, true, &fields), "a second look finds nothing new");
    }

    #[test]
    fn a_range_that_moves_to_where_something_waits_is_told() {
        let mut fields = FieldSet::new(Vec::new());
        let mut store = Store::new();
        let objects: Vec<Rc<Object>> = (0..9).map(|i| labelled(&format!("a/{i}"), 1, &[])).collect();
        objects.iter().for_each(|object| _ = store.upsert(object.clone()));
        let mut views = Views::default();
        let id = views.open(&ViewOptions::default(), &store, true, &mut fields).unwrap();
        let range = views.open_range(id, RowRange { offset: 0, limit: 2 }).unwrap();
        views.hear(Some(&objects[7]), Some(&labelled("a/7", 2, &[])), &fields);
        assert!(!views.has_changes(), "nobody sees that row");
        views.move_range(range, RowRange { offset: 6, limit: 2 });
        assert_eq!(rows(&views, range), ["a/6", "a/7"]);
        let version = |views: &Views| views.of_range(range).unwrap().rows(range).nth(1).unwrap().version().to_string();
        assert_eq!(version(&views), "1", "it is of the same state");
        assert_eq!(views.take_changed(), [id]);
        assert!(views.look(id, true, &fields));
        assert_eq!(version(&views), "2");
    }
}
