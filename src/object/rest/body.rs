//! The forms in which an object's text is held.

use std::rc::Rc;

use super::arena::PackedText;
use super::delta;
use super::dictionary::Dictionary;
use super::text::{Lent, Text};

/// What a delta is based on: something with a text.
pub(crate) trait Whole {
    /// The whole text.
    fn text(&self) -> Text;
}

/// Compressed bytes, and what they were compressed against.
pub(crate) struct Block {
    pub(super) packed: PackedText,
    pub(super) dictionary: Rc<Dictionary>,
}

/// The text of one object. `W` is the object, a type that this module does not know.
pub(crate) enum Body<W> {
    /// Unpacked.
    Raw {
        /// The text.
        text: Text,
        /// What the text of the version before was packed to, if that was as long.
        pattern: Option<Block>,
    },
    /// Compressed against a dictionary.
    Packed {
        /// The compressed bytes.
        block: Block,
        /// The length of the text in bytes.
        length: u32,
    },
    /// A delta to the version that replaced it.
    Delta {
        /// The delta's bytes.
        packed: PackedText,
        /// The version that replaced it.
        next: Rc<W>,
        /// The length of the text in bytes.
        length: u32,
    },
}

impl<W: Whole> Body<W> {
    /// The text.
    pub(crate) fn text(&self) -> Text {
        let (packed, length) = match self {
            Self::Raw { text, .. } => return text.clone(),
            Self::Packed { block: Block { packed, .. }, length } | Self::Delta { packed, length, .. } => (packed, *length as usize),
        };
        if let Some(text) = packed.recent() {
            return text;
        }
        let unpacked = match self {
            Self::Packed { block, .. } => packed.read(|bytes| block.dictionary.unpack(bytes, length)),
            Self::Delta { next, .. } => {
                let next = next.text();
                packed.read(|bytes| delta::decode(&next, bytes, length).map(Vec::into_boxed_slice))
            }
            Self::Raw { .. } => None,
        };
        // Packing verified that each text can be read back, so this cannot fail.
        debug_assert!(unpacked.is_some(), "a text at rest cannot be read");
        let text = Text::new(unpacked.unwrap_or_default());
        packed.remember(&text);
        text
    }

    /// The text for a caller that reads it once. It is not cached.
    pub(crate) fn lend(&self) -> Lent {
        let Self::Packed { block: Block { packed, dictionary }, length } = self else { return Lent::held(self.text()) };
        if let Some(text) = packed.recent() {
            return Lent::held(text);
        }
        let unpacked = packed.read(|bytes| Lent::unpacked(*length as usize, |place| dictionary.unpack_into(bytes, place)));
        unpacked.unwrap_or_else(|| Lent::held(self.text()))
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Raw { text, .. } => text.len(),
            Self::Packed { length, .. } | Self::Delta { length, .. } => *length as usize,
        }
    }

    /// Whether the text is held unpacked.
    pub(crate) fn is_raw(&self) -> bool {
        matches!(self, Self::Raw { .. })
    }

    /// Bytes that are held for it alone, beyond the value itself.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Raw { text, pattern } => text.cost() + pattern.as_ref().map_or(0, |block| block.packed.cost()),
            Self::Packed { block: Block { packed, .. }, .. } | Self::Delta { packed, .. } => packed.cost(),
        }
    }

    /// What it is packed to, or along what it may be packed. It is taken out of a form that is given up.
    pub(super) fn into_block(self) -> Option<Block> {
        match self {
            Self::Raw { pattern, .. } => pattern,
            Self::Packed { block, .. } => Some(block),
            Self::Delta { .. } => None,
        }
    }

    /// Says along what the text may be packed.
    pub(super) fn set_pattern(&mut self, block: Block) {
        if let Self::Raw { pattern, .. } = self {
            *pattern = Some(block);
        }
    }
}
