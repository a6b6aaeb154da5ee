//! One pass over an object. It checks the whole document and notes the positions of what the cache needs. Values are made only afterwards,
//! when nothing can fail any more.

use std::rc::Rc;

use super::cursor::{Checked, Cursor, is_whitespace, no_object};
use super::error::JsonError;
use super::fields::{FieldSet, Node, ROOT, Role};
use super::intern::intern;
use super::labels::{Labels, labels};
use super::path::Path;
use super::proved::skip_managed;
use super::scalar::Scalar;
use super::text::string;

/// An item is nested in the list and its array.
pub(crate) const ITEM_DEPTH: usize = 2;

/// What the cache knows of an object. Go writes unset strings as "", so an empty name, namespace, version or uid counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// `metadata.namespace`.
    pub namespace: Option<Rc<str>>,
    /// `metadata.name`.
    pub name: Option<Rc<str>>,
    /// `metadata.resourceVersion`.
    pub version: Option<Box<str>>,
    /// `metadata.uid`.
    pub uid: Option<Box<str>>,
    /// `kind`, if the object has it. Items of lists often do not.
    pub kind: Option<Rc<str>>,
    /// `metadata.labels`, sorted by name. Labels that are not strings are left out.
    pub labels: Labels,
    /// Whether the annotation `k8s.io/initial-events-end` is `"true"`. It marks the bookmark after the initial events.
    pub initial_events_end: bool,
    /// The wanted fields, by slot.
    pub fields: Vec<Scalar>,
    /// The time at which the fields were read, see [`FieldSet::now`].
    pub read: u32,
    /// Whether a wanted name occurs twice in one object, or the kind stands behind the name. Such a document is never compared with a new one.
    pub is_odd: bool,
    /// The objects and arrays that may be around it. Inside of more it might be nested too deep.
    pub depth: usize,
    /// The document without the `strip` paths. Nothing else changes, not even whitespace.
    pub bytes: Box<[u8]>,
}

/// Reads an object. Whitespace around it is allowed and not stored.
pub fn scan_object(document: &[u8], fields: &FieldSet) -> Result<Scanned, JsonError> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let mut walk = Walk::new(fields);
    walk.whole_object(&mut cursor).map_err(|kind| cursor.error(kind))?;
    let end = cursor.at;
    cursor.expect_end(start)?;
    Ok(walk.finish(document, start, end))
}

/// Reads the object that starts at `start` inside `depth` objects and arrays, and returns the position behind it. An error's offset counts
/// from the start of the document.
pub(super) fn scan_object_at(document: &[u8], start: usize, depth: usize, fields: &FieldSet) -> Result<(Scanned, usize), JsonError> {
    let mut walk = Walk::new(fields);
    let end = walk.whole_object_at(document, start, depth)?;
    Ok((walk.finish(document, start, end), end))
}

/// The values of all slots in a document that was checked before. If it is broken nevertheless, all are missing.
pub(crate) fn read_slots(document: &[u8], fields: &FieldSet) -> Vec<Scalar> {
    read_spans(document, fields).into_iter().map(|(start, end)| Scalar::from_raw(&document[start..end])).collect()
}

/// Where the values of all slots stand in a document that was checked before. If it is broken nevertheless, all are missing.
pub(super) fn read_spans(document: &[u8], fields: &FieldSet) -> Vec<Span> {
    let mut cursor = Cursor::proved(document, 0);
    cursor.peek_token();
    let mut walk = Walk::new(fields);
    walk.strips = false;
    if walk.value(&mut cursor, ROOT).is_err() {
        return vec![MISSING; fields.len()];
    }
    walk.slots
}

/// The values at `paths`, in their order, in a document that was checked before.
pub fn read_fields(document: &[u8], paths: &[Path]) -> Vec<Scalar> {
    let mut fields = FieldSet::bare();
    let slots: Vec<usize> = paths.iter().map(|path| fields.slot(path)).collect();
    let values = read_slots(document, &fields);
    slots.into_iter().map(|slot| values[slot].clone()).collect()
}

/// The positions of a value's first byte and of the byte after it. Both are zero if there is no such value.
pub(super) type Span = (usize, usize);

const MISSING: Span = (0, 0);

/// Walks through a document and the tree of wanted paths together.
pub(super) struct Walk<'f> {
    fields: &'f FieldSet,
    nodes: &'f [Node],
    /// Whether to remove the `strip` paths. False for a stripped document: there the paths may name elements that moved up.
    strips: bool,
    slots: Vec<Span>,
    roles: [Span; Role::COUNT],
    /// What is to be removed, ordered by position.
    stripped: Vec<Span>,
    repeats: bool,
    depth: usize,
}

impl<'f> Walk<'f> {
    pub(super) fn new(fields: &'f FieldSet) -> Self {
        Walk {
            fields,
            nodes: fields.nodes(),
            strips: true,
            slots: vec![MISSING; fields.len()],
            roles: [MISSING; Role::COUNT],
            stripped: Vec::new(),
            repeats: false,
            depth: 0,
        }
    }

    /// All positions that were noted: of slots, of roles, and of what is removed.
    pub(super) fn notes(&self) -> Vec<Span> {
        [&self.slots, &self.roles[..], &self.stripped].concat()
    }

    /// A walk that has noted these positions, see [`notes`](Self::notes). The document may stand inside `depth` objects and arrays.
    pub(super) fn noted(fields: &'f FieldSet, mut notes: impl Iterator<Item = Span>, depth: usize) -> Self {
        let mut walk = Self::new(fields);
        walk.depth = depth;
        walk.slots.iter_mut().chain(&mut walk.roles).zip(&mut notes).for_each(|(place, span)| *place = span);
        walk.stripped.extend(notes);
        walk
    }

    /// Notes anew what is wanted of the value at `at` in a checked document. Nothing is removed.
    pub(super) fn anew(&mut self, document: &[u8], at: usize, node: usize) -> Option<()> {
        self.forget(node, true);
        self.again(document, at, node)
    }

    /// Notes again what is wanted of the value at `at` in a checked document. Nothing is removed.
    pub(super) fn again(&mut self, document: &[u8], at: usize, node: usize) -> Option<()> {
        self.strips = false;
        self.value(&mut Cursor::proved(document, at), node).ok()
    }

    /// The value with this role.
    pub(super) fn role(&self, role: Role) -> Span {
        self.roles[role as usize]
    }

    /// The value in this slot.
    pub(super) fn slot(&self, document: &[u8], slot: usize) -> Scalar {
        let (start, end) = self.slots[slot];
        Scalar::from_raw(&document[start..end])
    }

    /// Whether a wanted name occurred twice in one object.
    pub(super) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Steps over the object that must start at `start` inside `depth` objects and arrays, and returns the position behind it.
    pub(super) fn whole_object_at(&mut self, document: &[u8], start: usize, depth: usize) -> Result<usize, JsonError> {
        let mut cursor = Cursor::new(document, start, depth);
        self.whole_object(&mut cursor).map_err(|kind| cursor.error(kind))?;
        cursor.expect_utf8(start)?;
        Ok(cursor.at)
    }

    /// Steps over the object that must start at the cursor.
    pub(super) fn whole_object(&mut self, cursor: &mut Cursor<'_>) -> Checked {
        self.depth = cursor.depth();
        match cursor.peek() {
            b'{' => {
                self.value(cursor, ROOT)?;
                self.depth += usize::from(!cursor.is_deepest);
                Ok(())
            }
            byte => Err(cursor.fault(no_object(byte))),
        }
    }

    /// Steps over the value at the cursor and notes what the tree wants of it.
    fn value(&mut self, cursor: &mut Cursor<'_>, index: usize) -> Checked {
        let node = &self.nodes[index];
        let start = cursor.at;
        match cursor.peek() {
            b'{' if !node.is_leaf() => self.object(cursor, node)?,
            b'[' if !node.is_leaf() => self.array(cursor, node)?,
            b'[' if node.strip => skip_managed(cursor)?,
            _ => cursor.skip_value()?,
        }
        let span = (start, cursor.at);
        if let Some(slot) = node.slot {
            self.slots[slot] = span;
        }
        if let Some(role) = node.role {
            self.roles[role as usize] = span;
        }
        Ok(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, node: &'f Node) -> Checked {
        let mut seen = 0u64;
        let mut more = cursor.open_object()?;
        while more {
            let key_start = cursor.at;
            let key = cursor.read_key()?;
            match node.member(key) {
                None => cursor.skip_value()?,
                Some((position, child)) => {
                    // If a name occurs twice, the last member counts, with all its members. Bits stand for the first 64 names; beyond them
                    // it is always cleared.
                    let bit = 1u64.checked_shl(position as u32).unwrap_or(0);
                    if bit == 0 || seen & bit != 0 {
                        self.forget(child, true);
                        self.repeats = true;
                    }
                    seen |= bit;
                    self.value(cursor, child)?;
                    self.strip(child, (key_start, cursor.at));
                }
            }
            more = cursor.next_member()?;
        }
        Ok(())
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, node: &'f Node) -> Checked {
        let mut matched = vec![false; node.filters.len()];
        let mut index = 0;
        let mut more = cursor.open_array()?;
        while more {
            let start = cursor.at;
            match node.indexes.iter().find(|(wanted, _)| *wanted == index) {
                None => cursor.skip_value()?,
                Some((_, child)) => self.element(cursor, *child)?,
            }
            // A filter needs the whole element. If it matches, the element is walked again.
            for (position, (filter, child)) in node.filters.iter().enumerate() {
                if !matched[position] && filter.holds(&cursor.document[start..cursor.at]) {
                    matched[position] = true;
                    cursor.at = start;
                    self.element(cursor, *child)?;
                }
            }
            index += 1;
            more = cursor.next_element()?;
        }
        Ok(())
    }

    fn element(&mut self, cursor: &mut Cursor<'_>, child: usize) -> Checked {
        let start = cursor.at;
        self.value(cursor, child)?;
        self.strip(child, (start, cursor.at));
        Ok(())
    }

    /// Notes a member or element to remove. Its slots read as missing, as they would in the stored document. What every object needs stays
    /// known.
    fn strip(&mut self, child: usize, span: Span) {
        if self.strips && self.nodes[child].strip {
            let place = self.stripped.partition_point(|known| known.0 < span.0);
            self.stripped.insert(place, span);
            self.forget(child, false);
        }
    }

    /// Forgets the slots noted inside a value. With `roles` also what every object needs.
    fn forget(&mut self, index: usize, roles: bool) {
        let node = &self.nodes[index];
        if let Some(slot) = node.slot {
            self.slots[slot] = MISSING;
        }
        match node.role {
            Some(role) if roles => self.roles[role as usize] = MISSING,
            _ => {}
        }
        for child in node.children() {
            self.forget(child, roles);
        }
    }

    fn scalars(&self, document: &[u8]) -> Vec<Scalar> {
        (0..self.slots.len()).map(|slot| self.slot(document, slot)).collect()
    }

    /// Makes the values at the noted positions, and the stored bytes.
    pub(super) fn finish(self, document: &[u8], start: usize, end: usize) -> Scanned {
        let roles = self.roles;
        let (kind, name) = (roles[Role::Kind as usize], roles[Role::Name as usize]);
        let kind_is_behind = name != MISSING && kind > name;
        let text = |role: Role| string(document, roles[role as usize]).filter(|text| !text.is_empty());
        let (from, to) = roles[Role::Labels as usize];
        let bytes = copy_without(document, (start, end), &self.stripped);
        // Removing an element moves later ones, and may change which one a filter finds.
        let moved = !self.stripped.is_empty() && self.fields.strips_in_arrays();
        Scanned {
            namespace: text(Role::Namespace).map(|text| intern(&text)),
            name: text(Role::Name).map(Into::into),
            version: text(Role::Version).map(Into::into),
            uid: text(Role::Uid).map(Into::into),
            kind: text(Role::Kind).map(|text| intern(&text)),
            labels: labels(&document[from..to]),
            initial_events_end: text(Role::InitialEventsEnd).is_some_and(|text| text == "true"),
            read: self.fields.now(),
            is_odd: self.repeats || kind_is_behind,
            depth: self.depth,
            fields: if moved { read_slots(&bytes, self.fields) } else { self.scalars(document) },
            bytes,
        }
    }
}

/// The bytes of a value without the given members and elements. Each is removed with one comma: the next one, or for the last member the
/// one before it.
fn copy_without(document: &[u8], (start, end): Span, removed: &[Span]) -> Box<[u8]> {
    if removed.is_empty() {
        return document[start..end].into();
    }
    // The exact size: shrinking a larger allocation would leave a hole behind every object.
    let mut gone = 0;
    let mut behind = start;
    for &(from, to) in removed {
        if from >= behind {
            // Counts its comma as well. An only member has none: then one byte too much is subtracted, and the vector grows once below.
            gone += to - from + 1;
            behind = to;
        }
    }
    let mut kept = Vec::with_capacity((end - start).saturating_sub(gone));
    let mut at = start;
    for &(from, to) in removed {
        if from < at {
            continue; // inside a part that is removed already
        }
        kept.extend_from_slice(&document[at..from]);
        let mut cursor = Cursor::new(document, to, 0);
        if cursor.peek_token() == b',' {
            at = cursor.at + 1;
        } else {
            at = to;
            if let Some(last) = kept.iter().rposition(|byte| !is_whitespace(*byte))
                && kept[last] == b','
            {
                kept.remove(last);
            }
        }
    }
    kept.extend_from_slice(&document[at..end]);
    kept.into_boxed_slice()
}
