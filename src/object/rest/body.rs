//! The forms in which an object's text is held.

use std::rc::Rc;

use super::arena::PackedText;
use super::delta;
use super::dictionary::Dictionary;
use super::repack::Piece;
use super::text::{Lent, Text};
use crate::allocation::allocation;

/// What a delta is based on: something with a text.
pub(crate) trait Whole {
    /// The whole text.
    fn text(&self) -> Text;
}

/// Compressed bytes, and what they were compressed against.
pub(crate) struct Compressed {
    pub(super) packed: PackedText,
    pub(super) dictionary: Rc<Dictionary>,
}

/// What is known of the version that a text replaced, until both are packed.
#[derive(Default)]
pub(crate) struct Before {
    id: u64,
    // What makes its text of this one.
    delta: Option<Box<[u8]>>,
    // What makes this one of it, for who has it decoded: see `json::patch`.
    patch: Option<Box<[u8]>>,
    // What it was packed to.
    pattern: Option<Pattern>,
}

/// Along what a text may be packed.
pub(crate) struct Pattern {
    pub(super) block: Compressed,
    // Where the text has what was packed; nothing if it is all in its place.
    pub(super) pieces: Box<[Piece]>,
}

/// The text of one object. `W` is the object, a type that this module does not know.
pub(crate) enum Body<W> {
    /// Unpacked.
    Raw {
        /// The text.
        text: Text,
        /// What is known of the version that it replaced.
        before: Option<Box<Before>>,
    },
    /// Compressed against a dictionary.
    Packed(Compressed),
    /// A delta to the version that replaced it.
    Delta {
        /// The delta's bytes.
        packed: PackedText,
        /// The version that replaced it.
        next: Rc<W>,
    },
}

impl<W: Whole> Body<W> {
    /// The text.
    pub(crate) fn text(&self) -> Text {
        let packed = match self {
            Self::Raw { text, .. } => return text.clone(),
            Self::Packed(Compressed { packed, .. }) | Self::Delta { packed, .. } => packed,
        };
        if let Some(text) = packed.recent() {
            return text;
        }
        let unpacked = match self {
            Self::Packed(Compressed { dictionary, .. }) => packed.read(|bytes| dictionary.unpack(bytes, packed.len())),
            Self::Delta { next, .. } => {
                let next = next.text();
                packed.read(|bytes| delta::decode(&next, bytes, packed.len()).map(Vec::into_boxed_slice))
            }
            Self::Raw { .. } => None,
        };
        // What was packed was unpacked or compared before it took the text's place, so this cannot fail.
        debug_assert!(unpacked.is_some(), "a text at rest cannot be read");
        let text = Text::new(unpacked.unwrap_or_default());
        packed.remember(&text);
        text
    }

    /// The text for a caller that reads it once. It is not cached.
    pub(crate) fn lend(&self) -> Lent {
        let Self::Packed(Compressed { packed, dictionary }) = self else { return Lent::held(self.text()) };
        if let Some(text) = packed.recent() {
            return Lent::held(text);
        }
        let unpacked = packed.read(|bytes| Lent::unpacked(packed.len(), |place| dictionary.unpack_into(bytes, place)));
        unpacked.unwrap_or_else(|| Lent::held(self.text()))
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Raw { text, .. } => text.len(),
            Self::Packed(Compressed { packed, .. }) | Self::Delta { packed, .. } => packed.len(),
        }
    }

    /// Whether the text is held unpacked.
    pub(crate) fn is_raw(&self) -> bool {
        matches!(self, Self::Raw { .. })
    }

    /// Bytes that are held for it alone, beyond the value itself.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Raw { text, before } => text.cost() + before.as_ref().map_or(0, |before| before.cost()),
            Self::Packed(Compressed { packed, .. }) | Self::Delta { packed, .. } => packed.cost(),
        }
    }

    /// What it is packed to, or along what it may be packed. It is taken out of a form that is given up.
    pub(super) fn into_pattern(self) -> Option<Pattern> {
        match self {
            Self::Raw { before, .. } => before?.pattern,
            Self::Packed(block) => Some(Pattern { block, pieces: Box::default() }),
            Self::Delta { .. } => None,
        }
    }

    /// What the text of a delta has of the one that it is made of.
    pub(super) fn pieces(&self) -> Option<Box<[Piece]>> {
        let Self::Delta { packed, .. } = self else { return None };
        packed.read(delta::pieces)
    }

    /// Says what is known of the version before.
    pub(crate) fn set_before(&mut self, known: Option<Before>) {
        if let Self::Raw { before, .. } = self {
            *before = known.map(Box::new);
        }
    }

    /// Says along what the text may be packed.
    pub(super) fn set_pattern(&mut self, pattern: Pattern) {
        if let Self::Raw { before, .. } = self {
            before.get_or_insert_default().pattern = Some(pattern);
        }
    }

    /// The delta that makes the text of another version of this one, if it came with this one.
    pub(super) fn take_delta(&mut self, of: u64) -> Option<Box<[u8]>> {
        let Self::Raw { before: Some(before), .. } = self else { return None };
        if before.id == of { before.delta.take() } else { None }
    }

    /// What makes this version of another, for who has that decoded, if it came with this one.
    pub(crate) fn patch_of(&self, of: u64) -> Option<Box<[u8]>> {
        let Self::Raw { before: Some(before), .. } = self else { return None };
        if before.id == of { before.patch.clone() } else { None }
    }
}

impl Pattern {
    /// The same for the next version, which has those pieces of this one; nothing if it has all in its place. Only one version is known to have moved.
    pub(super) fn moved(self, pieces: Box<[Piece]>) -> Option<Self> {
        match (self.pieces.is_empty(), pieces.is_empty()) {
            (_, true) => Some(self),
            (true, false) => Some(Self { pieces, ..self }),
            (false, false) => None,
        }
    }
}

impl Before {
    /// The version with this id: the delta that makes it of the text, and the patch that makes the text's object of its object. Nothing if neither is
    /// known.
    pub(crate) fn of(id: u64, delta: Option<Box<[u8]>>, patch: Option<Box<[u8]>>) -> Option<Self> {
        (delta.is_some() || patch.is_some()).then_some(Self { id, delta, patch, pattern: None })
    }

    /// Along what the text may be packed.
    pub(super) fn into_pattern(self) -> Option<Pattern> {
        self.pattern
    }

    fn cost(&self) -> usize {
        let texts = [&self.delta, &self.patch].into_iter().flatten().map(|text| allocation(text.len())).sum::<usize>();
        let pattern = |Pattern { block, pieces }: &Pattern| block.packed.cost() + allocation(size_of_val(&**pieces));
        allocation(size_of::<Self>()) + texts + self.pattern.as_ref().map_or(0, pattern)
    }
}
