//! How a view takes changes: they wait, merged by object, until somebody looks.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::object::Object;

use super::pending::Next;
use super::view::View;

/// Changes of place that one look takes in, so that no look takes long. The others follow after the host's turn.
const MAX_MOVES: usize = 1_000;

impl View {
    /// Hears of one change of the store, by an event or as one difference of a relist. The object was added (`new` alone), replaced (both) or
    /// removed (`old` alone). `fields` is the set that the view was made with.
    ///
    /// Where the caller's condition decides too, a new object that passes the selectors waits for its verdict. The row of its predecessor stays meanwhile.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        let Some(key) = new.or(old).map(|object| object.key()) else { return };
        if !self.stage.has_passed(key) {
            // It is still to be found, or will never be.
            return if new.is_none() {
                self.forget_derived(key)
            };
        }
        match (self.rows.find(key), new) {
            (Some(row), Some(new)) => self.row_changes(row, new, fields),
            (Some(row), None) => self.row_goes(row),
            (None, _) => self.other_changes(old, new, fields),
        }
    }

    /// Whether what waits may show, so that somebody should look.
    pub fn is_stirred(&self) -> bool {
        self.stirred
    }

    /// Takes in all that waits, or as much as one look may. From here on everything is of this state. `listed` says whether the list of
    /// objects is whole.
    ///
    /// Returns whether a range, the total, the counts or `is_loaded` may say something else than before.
    pub fn look(&mut self, listed: bool, fields: &FieldSet) -> bool {
        self.stirred = false;
        let (total, shown) = (self.total(), self.rows.len());
        self.pending.shrink();
        self.take_some(MAX_MOVES, fields);
        let left = !self.pending.is_empty();
        if !left {
            for (object, passes) in self.verdicts.take() {
                self.take_verdict(object, passes, fields);
            }
        }
        let counted = self.rows.take_counts_changed();
        let was_loaded = self.is_loaded();
        let revealed = self.reveal(left, listed && self.verdicts.is_empty());
        let rearranged = std::mem::take(&mut self.rearranged);
        if rearranged || revealed || shown != self.rows.len() {
            self.note_ranges();
        }
        rearranged || revealed || counted || self.is_loaded() != was_loaded || total != self.total()
    }

    /// Whether a look has left something to take in.
    pub(crate) fn is_behind(&self) -> bool {
        self.stage.is_behind()
    }

    /// Takes in some of what a look has left. What is seen stays as it was. When nothing is left, somebody should look.
    pub(crate) fn catch_up(&mut self, max_moves: usize, fields: &FieldSet) {
        self.take_some(max_moves, fields);
        if self.pending.is_empty() {
            self.stir();
        }
    }

    /// Somebody should look.
    pub(crate) fn stir(&mut self) {
        self.stage.caught_up();
        self.stirred = true;
    }

    fn take_some(&mut self, max_moves: usize, fields: &FieldSet) {
        let mut moved = 0;
        while moved < max_moves
            && let Some(next) = self.pending.pop(&mut self.rows)
        {
            moved += usize::from(!next.stays);
            self.take_in(next, fields);
        }
    }

    fn row_changes(&mut self, at: u32, new: &Rc<Object>, fields: &FieldSet) {
        let row = self.rows.get(at);
        let pending = self.pending.of(row);
        if pending.is_none() && row.object.id() == new.id() {
            return;
        }
        let ranked = row.is_ranked();
        let (latest, stayed) = pending.map_or((Some(&row.object), ranked), |next| (next.object.as_ref(), next.stays));
        // A version that shares the facts of one that stays in its place stays there too. Nothing needs to be read.
        let judged = self.criteria.needs_verdict();
        let mut stays = stayed && !judged && latest.is_some_and(|latest| latest.shares_facts(new)) && self.is_settled(new);
        if !stays && !self.stirred && ranked && !judged {
            stays = self.is_settled(new) && self.stands(at, new, fields);
        }
        self.stirred |= !stays || self.shows_another(at, new);
        self.note(at, Some(new.clone()), stays);
    }

    fn row_goes(&mut self, at: u32) {
        let row = self.rows.get(at);
        if row.is_ranked() || self.verdicts.awaits(row.object.key()) {
            self.stirred = true;
            self.note(at, None, false);
            return;
        }
        // It came and went unseen.
        let key = row.object.key().clone();
        self.pending.forget(at, &mut self.rows);
        self.forget_derived(&key);
        self.rows.remove(at, false);
        self.stirred &= !(self.is_loaded() && self.pending.is_empty() && !self.verdicts.has_given());
    }

    /// The change of an object that has no row.
    fn other_changes(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        let Some(object) = new.or(old) else { return };
        let waits = self.verdicts.awaits(object.key());
        let enters = |new: &Rc<Object>| {
            // The version before it has no row, so it did not pass. One with the same facts does not either.
            let known = !self.criteria.needs_verdict() && old.is_some_and(|old| old.shares_facts(new));
            !known && self.criteria.passes(new, fields)
        };
        if !waits && !new.is_some_and(enters) {
            return if new.is_none() {
                self.forget_derived(object.key())
            };
        }
        let row = self.rows.add(object);
        self.note(row, new.cloned(), false);
        self.stirred = true;
    }

    /// Whether no derived column is to be asked for, and none was asked for on behalf of another version that waits.
    fn is_settled(&self, new: &Object) -> bool {
        self.derived.as_ref().is_none_or(|derived| !derived.places() || !self.verdicts.awaits(new.key())) && self.is_derived(new)
    }

    /// Has a row become this at the next look.
    fn note(&mut self, row: u32, object: Option<Rc<Object>>, stays: bool) {
        self.pending.note(Next { row, object, stays }, &mut self.rows);
    }

    /// Whether an object would stand where this row does, in its group.
    fn stands(&mut self, row: u32, object: &Object, fields: &FieldSet) -> bool {
        self.criteria.passes(object, fields) && self.rows.get(row).stands_at(&self.criteria.place(object, fields, self.derived.as_deref()))
    }

    fn take_in(&mut self, Next { row, object, stays }: Next, fields: &FieldSet) {
        let Some(object) = object else {
            let key = self.rows.get(row).object.key().clone();
            self.verdicts.void(&key);
            self.forget_derived(&key);
            return self.remove(row);
        };
        if stays {
            self.rearranged = self.rearranged || self.shows_another(row, &object);
            self.rows.replace(row, object);
            return;
        }
        self.verdicts.void(object.key());
        if !self.criteria.passes(&object, fields) {
            self.remove(row);
        } else if let Some(wait) = self.wait_of(&object) {
            self.verdicts.wait(&object, wait);
            if !self.rows.get(row).is_ranked() {
                self.remove(row);
            }
        } else {
            self.place(row, object, fields);
        }
    }

    fn take_verdict(&mut self, object: Rc<Object>, passes: bool, fields: &FieldSet) {
        match (self.rows.find(object.key()), passes) {
            (Some(row), true) => self.place(row, object, fields),
            (None, true) => {
                let row = self.rows.add(&object);
                self.place(row, object, fields);
            }
            (Some(row), false) => self.remove(row),
            (None, false) => {}
        }
    }

    /// Gives a row this object, and the place that goes with it.
    fn place(&mut self, row: u32, object: Rc<Object>, fields: &FieldSet) {
        if let Some(derived) = &mut self.derived {
            derived.settle(&object);
        }
        let place = self.criteria.place(&object, fields, self.derived.as_deref());
        match self.rows.renew(row, object.clone(), place, !self.rearranged) {
            Some(step) => self.moved(step),
            None => self.rearranged = self.rearranged || self.shows_another(row, &object),
        }
    }

    fn remove(&mut self, row: u32) {
        let step = self.rows.remove(row, !self.rearranged);
        self.moved(step);
    }

    /// An object has gone. What is known of one that is no row any more stays: it may be one again, also under another search.
    fn forget_derived(&mut self, key: &str) {
        if let Some(derived) = &mut self.derived {
            derived.forget(key);
        }
    }
}
