//! Finds what an update changed, by comparing it with the text that is held of the object.
//!
//! Most updates change a version and a few timestamps. Bytes that equal proved bytes, at the same place of the grammar, need no second proof.
//! So equal stretches are only compared. Where two bytes differ, the held text says which value they stand in: that value is read strictly,
//! and the comparison goes on behind it. Where members came, went or moved, the object around them is read.
//! Members at the very beginning are an exception: items of lists lack `kind` and `apiVersion`, and the watch sends them.
//!
//! The result equals that of a full scan. Whatever cannot be told in this way, or would cost more than it saves, is left to one.

use super::comparison::{Comparison, Interest, Leading};
use super::cursor::Cursor;
use super::fields::{FieldSet, ROOT, Role};
use super::labels::{Labels, labels};
use super::patch::patch_of;
use super::routes::Routes;
use super::scalar::Scalar;
use super::scan::Walk;
use super::text::string;

/// One value that differs. Positions are of bytes: in the held text, and in the new one, both without what is stripped.
///
/// The first one may be members instead, with the comma behind each. They came in front of all others, or went from there, so one of the
/// spans is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The first byte of the value that goes.
    pub old_start: u32,
    /// The byte behind it.
    pub old_end: u32,
    /// The first byte of the value that comes.
    pub new_start: u32,
    /// The byte behind it.
    pub new_end: u32,
}

/// What an update changes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edits {
    /// In the order of the text; none lies inside another.
    pub edits: Vec<Edit>,
    /// The new `metadata.resourceVersion`; `None` if it is the old one.
    pub version: Option<Box<str>>,
    /// The new labels; `None` if no edit touches them.
    pub labels: Option<Labels>,
    /// Whether the annotation that ends initial events says so; `None` if no edit touches it. Only bookmarks have it.
    pub initial_events_end: Option<bool>,
    /// The slots that an edit touches, with their new values.
    pub fields: Vec<(usize, Scalar)>,
    /// Whether a wanted name occurs twice in one object of what is new.
    pub is_odd: bool,
    /// Whether a new value is nested as deep as it may be.
    pub is_deepest: bool,
    /// The new document without the `strip` paths.
    pub bytes: Box<[u8]>,
    /// As [`patch`](super::patch()) makes it of both texts, where that was asked for.
    pub patch: Option<Box<[u8]>>,
}

/// A comparison that told nothing. The document may be broken, or differ by too much, or in its identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InVain {
    /// Bytes that were compared and looked through.
    pub bytes: usize,
    /// Bytes of the text that is held.
    pub held: usize,
    /// Whether the document ended too soon, as a part of a list does.
    pub is_cut: bool,
}

/// Compares an object's document with the text that is held of it. Whitespace around it is allowed and not stored.
pub fn compare_object(held: &[u8], document: &[u8], fields: &FieldSet) -> Option<Edits> {
    let mut cursor = Cursor::new(document, 0, 0);
    cursor.peek_token();
    let start = cursor.at;
    let compared = Compared::new(held, document, start, 0, fields, false).ok()?;
    cursor.at = compared.end;
    cursor.expect_end(start).ok()?;
    compared.edits()
}

/// An object that was compared with the text that is held of it.
pub(super) struct Compared<'d, 'f> {
    comparison: Comparison<'d, 'f>,
    fields: &'f FieldSet,
    start: usize,
    /// The position behind the object.
    pub(super) end: usize,
}

impl<'d, 'f> Compared<'d, 'f> {
    /// Compares the object that starts at `start` inside `depth` objects and arrays.
    ///
    /// The held text must have been scanned with the same fields, and no wanted name may occur twice in one of its objects. A patch can be made where
    /// the routes to what differs are gathered.
    pub(super) fn new(
        held: &'d [u8],
        document: &'d [u8],
        start: usize,
        depth: usize,
        fields: &'f FieldSet,
        with_routes: bool,
    ) -> Result<Self, InVain> {
        if !fields.compares() || document.get(start) != Some(&b'{') {
            return Err(InVain::default());
        }
        let mut comparison = Comparison::new(held, document, fields.nodes(), Interest::Node(ROOT));
        comparison.depth = depth;
        comparison.routes = with_routes.then(Routes::default);
        match comparison.run(start) {
            Some(end) => Ok(Self { comparison, fields, start, end }),
            None => Err(InVain { bytes: comparison.bytes, held: held.len(), is_cut: comparison.is_cut }),
        }
    }

    /// Whether it is the held version: nothing differs, or only whether it says its kind, as items of lists do not.
    pub(super) fn is_held(&self) -> bool {
        match self.comparison.edits[..] {
            [] => true,
            [((from, to), (start, end))] => (from == to || start == end) && !self.comparison.leads_with_more,
            _ => false,
        }
    }

    /// What differs. `None` says nothing about the document.
    pub(super) fn edits(&self) -> Option<Edits> {
        self.comparison.finish(self.start, self.end, self.fields)
    }

    /// What leads from one version to the other, for who has the held one decoded.
    pub(super) fn patch(&mut self, length: usize) -> Option<Vec<u8>> {
        patch_of(&mut self.comparison, self.end, length)
    }

    /// What it costs to have compared, where the document turns out to be something else.
    pub(super) fn in_vain(&self) -> InVain {
        InVain { bytes: self.comparison.bytes, held: self.comparison.held.len(), is_cut: false }
    }
}

impl Comparison<'_, '_> {
    fn finish(&self, start: usize, end: usize, fields: &FieldSet) -> Option<Edits> {
        let Self { document, removed, touched, .. } = self;
        let mut walk = Walk::new(fields);
        let (mut slots, mut roles) = (self.leading_slots()?, Vec::new());
        for &Leading { node, came } in &self.leading {
            if let Some(at) = came {
                walk.again(document, at, node)?;
            }
        }
        for &(node, at) in touched {
            self.list(node, &mut slots, &mut roles);
            walk.again(document, at, node)?;
        }
        let mut version = None;
        let mut new_labels = None;
        let mut initial_events_end = None;
        for role in roles {
            let (from, to) = walk.role(role);
            match role {
                Role::Version => version = Some(string(document, (from, to)).filter(|text| !text.is_empty())?.into()),
                Role::Labels => new_labels = Some(labels(&document[from..to])),
                Role::InitialEventsEnd => initial_events_end = Some(string(document, (from, to)).is_some_and(|text| text == "true")),
                // The object is another one.
                _ => return None,
            }
        }
        let values = slots.into_iter().map(|slot| (slot, walk.slot(document, slot))).collect();

        let gone: usize = removed.iter().map(|(from, to)| to - from).sum();
        let mut bytes = Vec::with_capacity(end - start - gone);
        let mut at = start;
        for &(from, to) in removed {
            bytes.extend_from_slice(&document[at..from]);
            at = to;
        }
        bytes.extend_from_slice(&document[at..end]);
        let mut moved = start;
        let mut behind = removed.iter().peekable();
        let edits = self.edits.iter().map(|&((old_start, old_end), (new_start, new_end))| {
            while let Some((from, to)) = behind.next_if(|(_, to)| *to <= new_start) {
                moved += to - from;
            }
            let at = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
            Edit { old_start: at(old_start), old_end: at(old_end), new_start: at(new_start - moved), new_end: at(new_end - moved) }
        });
        let edits = edits.collect();
        Some(Edits {
            edits,
            version,
            labels: new_labels,
            initial_events_end,
            fields: values,
            is_odd: walk.repeats(),
            is_deepest: self.is_deepest,
            bytes: bytes.into_boxed_slice(),
            patch: None,
        })
    }

    /// The slots of what came in front of all others, or went from there. `None` if that makes another object of it: all but a kind does.
    fn leading_slots(&self) -> Option<Vec<usize>> {
        let (mut slots, mut roles) = (Vec::new(), Vec::new());
        self.leading.iter().for_each(|member| self.list(member.node, &mut slots, &mut roles));
        roles.iter().all(|role| *role == Role::Kind).then_some(slots)
    }

    /// All slots and roles at a node and below it.
    fn list(&self, index: usize, slots: &mut Vec<usize>, roles: &mut Vec<Role>) {
        let node = &self.nodes[index];
        slots.extend(node.slot);
        roles.extend(node.role);
        for child in node.children() {
            self.list(child, slots, roles);
        }
    }
}
