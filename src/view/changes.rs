//! How a view takes changes: they wait, merged by object, until somebody looks.

use std::rc::Rc;

use crate::allocation::allocation;
use crate::json::fields::FieldSet;
use crate::object::{Object, ObjectId};

use super::view::{NONE_PENDING, Pending, View, Waiting};

/// Changes of place that one look takes in, so that no look takes long. The others follow after the host's turn.
const MAX_MOVES: usize = 1_000;

impl View {
    /// Hears of one change of the store, by an event or as one difference of a relist. The object was added (`new` alone), replaced (both) or
    /// removed (`old` alone). `fields` is the set that the view was made with.
    ///
    /// With a predicate, a new object that passes the selectors waits for its verdict. The row of its predecessor stays meanwhile.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        let Some(key) = new.or(old).map(|object| object.key()) else { return };
        if !self.stage.has_passed(key) {
            return; // it is still to be found
        }
        match (self.by_key.get(key).copied(), new) {
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
        let (total, shown) = (self.total(), self.ranks.len());
        // Memory that a burst took is given back.
        if self.pending.len() < self.pending.capacity() / 4 {
            self.pending.shrink_to(2 * self.pending.len());
        }
        self.take_some(MAX_MOVES, fields);
        let left = !self.pending.is_empty();
        if !left {
            for (id, passes) in std::mem::take(&mut self.decided) {
                self.take_verdict(id, passes, fields);
            }
        }
        let counted = self.counts.take_changed();
        let was_loaded = self.is_loaded();
        let revealed = self.reveal(left, listed && self.waiting.is_empty());
        let rearranged = std::mem::take(&mut self.rearranged);
        if rearranged || revealed || shown != self.ranks.len() {
            self.note_shown();
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
            && let Some(pending) = self.pending.pop()
        {
            moved += usize::from(!pending.stays);
            self.take_in(pending, fields);
        }
    }

    fn row_changes(&mut self, at: u32, new: &Rc<Object>, fields: &FieldSet) {
        let row = &self.rows[at as usize];
        let pending = self.pending.get(row.pending as usize);
        if pending.is_none() && row.object.id() == new.id() {
            return;
        }
        let (latest, stayed) = pending.map_or((Some(&row.object), row.ranked), |pending| (pending.object.as_ref(), pending.stays));
        // A version that shares the facts of one that stays in its place stays there too. Nothing needs to be read.
        let mut stays = stayed && !self.predicate && latest.is_some_and(|latest| latest.shares_facts(new));
        if !stays && !self.stirred && row.ranked && !self.predicate {
            stays = self.stands(at, new, fields);
        }
        self.stirred |= !stays || self.is_shown(at);
        self.note(at, Some(new.clone()), stays);
    }

    fn row_goes(&mut self, at: u32) {
        let row = &self.rows[at as usize];
        if row.ranked || self.waiting_by_key.contains_key(row.object.key()) {
            self.stirred = true;
            self.note(at, None, false);
            return;
        }
        // It came and went unseen.
        let row = self.rows.remove(at as usize);
        self.by_key.remove(row.object.key());
        self.pending.swap_remove(row.pending as usize);
        if let Some(moved) = self.pending.get(row.pending as usize) {
            self.rows[moved.row as usize].pending = row.pending;
        }
        self.stirred &= !(self.is_loaded() && self.pending.is_empty() && self.decided.is_empty());
    }

    /// The change of an object that has no row.
    fn other_changes(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, fields: &FieldSet) {
        let Some(object) = new.or(old) else { return };
        let waits = self.predicate && self.waiting_by_key.contains_key(object.key());
        let enters = |new: &Rc<Object>| {
            // The version before it has no row, so it did not pass. One with the same facts does not either.
            let known = !self.predicate && old.is_some_and(|old| old.shares_facts(new));
            !known && self.passes(new, fields)
        };
        if !waits && !new.is_some_and(enters) {
            return;
        }
        let row = self.add_row(object);
        self.note(row, new.cloned(), false);
        self.stirred = true;
    }

    /// Has a row become this at the next look.
    #[allow(clippy::cast_possible_truncation)] // no more than rows
    fn note(&mut self, row: u32, object: Option<Rc<Object>>, stays: bool) {
        let held = &mut self.rows[row as usize].pending;
        let pending = Pending { row, object, stays };
        if *held == NONE_PENDING {
            *held = self.pending.len() as u32;
            self.pending.push(pending);
        } else {
            self.pending[*held as usize] = pending;
        }
    }

    /// Whether an object would stand where this row does, in its group.
    fn stands(&mut self, row: u32, object: &Rc<Object>, fields: &FieldSet) -> bool {
        if !self.passes(object, fields) {
            return false;
        }
        let group = self.read(object, fields);
        let row = &self.rows[row as usize];
        *row.sort_key == *self.sort_key && row.group == group
    }

    fn take_in(&mut self, Pending { row: at, object, stays }: Pending, fields: &FieldSet) {
        let row = &mut self.rows[at as usize];
        row.pending = NONE_PENDING;
        let Some(object) = object else {
            let key = row.object.key().clone();
            self.drop_waiting(&key);
            return self.remove(at);
        };
        if stays {
            row.object = object;
            self.rearranged |= self.is_shown(at);
            return;
        }
        self.drop_waiting(object.key());
        if !self.passes(&object, fields) {
            self.remove(at);
        } else if !self.predicate {
            self.place(at, object, fields);
        } else {
            self.wait(&object);
            if !self.rows[at as usize].ranked {
                self.remove(at);
            }
        }
    }

    fn take_verdict(&mut self, object: ObjectId, passes: bool, fields: &FieldSet) {
        let Some(Waiting { object, .. }) = self.waiting.remove(&object) else { return };
        self.waiting_by_key.remove(object.key());
        match (self.by_key.get(object.key()).copied(), passes) {
            (Some(row), true) => self.place(row, object, fields),
            (None, true) => {
                let row = self.add_row(&object);
                self.place(row, object, fields);
            }
            (Some(row), false) => self.remove(row),
            (None, false) => {}
        }
    }

    pub(super) fn wait(&mut self, object: &Rc<Object>) {
        self.waiting_by_key.insert(object.key().clone(), object.id());
        self.waiting.insert(object.id(), Waiting { object: object.clone(), decided: false });
    }

    fn drop_waiting(&mut self, key: &str) {
        if self.predicate
            && let Some(id) = self.waiting_by_key.remove(key)
        {
            self.waiting.remove(&id);
        }
    }

    /// Gives a row this object, and the place that goes with it.
    fn place(&mut self, at: u32, object: Rc<Object>, fields: &FieldSet) {
        let row = &mut self.rows[at as usize];
        if !row.ranked {
            row.object = object;
            self.give_place(at, fields);
            let entered = self.enter(at);
            return self.touch(None, entered);
        }
        let group = self.read(&object, fields);
        let row = &mut self.rows[at as usize];
        row.object = object;
        if row.group != group {
            if let Some(group) = &row.group {
                self.counts.remove(group);
            }
            if let Some(group) = &group {
                self.counts.add(group);
            }
            row.group = group;
        }
        if *row.sort_key == *self.sort_key {
            self.rearranged |= self.is_shown(at);
            return;
        }
        let left = self.leave(at);
        let held = &mut self.rows[at as usize].sort_key;
        self.key_bytes = self.key_bytes - allocation(held.len()) + allocation(self.sort_key.len());
        if held.len() == self.sort_key.len() {
            held.copy_from_slice(&self.sort_key);
        } else {
            *held = self.sort_key.as_slice().into();
        }
        let entered = self.enter(at);
        self.touch(left, entered);
    }

    fn remove(&mut self, at: u32) {
        let left = if self.rows[at as usize].ranked { self.leave(at) } else { None };
        let row = self.rows.remove(at as usize);
        self.key_bytes -= if row.ranked { allocation(row.sort_key.len()) } else { 0 };
        self.by_key.remove(row.object.key());
        if let Some(group) = &row.group {
            self.counts.remove(group);
        }
        self.touch(left, None);
    }
}
