//! The forms in which an object's text is held.

use std::rc::Rc;

use super::arena::Slot;
use super::delta;
use super::dictionary::Dictionary;
use super::text::Text;
use crate::object::Object;

/// The text of one object.
pub(crate) enum Body {
    /// As it is.
    Raw(Text),
    /// Compressed against a dictionary.
    Packed {
        /// Where it lies.
        slot: Slot,
        /// What it was compressed against.
        dictionary: Rc<Dictionary>,
        /// The length of the text.
        length: u32,
    },
    /// What it takes to make it of the version that replaced it.
    Delta {
        /// Where that lies.
        slot: Slot,
        /// The version that replaced it.
        next: Rc<Object>,
        /// The length of the text.
        length: u32,
    },
}

impl Body {
    /// The text.
    pub(crate) fn text(&self) -> Text {
        let (slot, length) = match self {
            Self::Raw(text) => return text.clone(),
            Self::Packed { slot, length, .. } | Self::Delta { slot, length, .. } => (slot, *length as usize),
        };
        if let Some(text) = slot.recent() {
            return text;
        }
        let unpacked = match self {
            Self::Packed { dictionary, .. } => slot.read(|packed| dictionary.unpack(packed, length)),
            Self::Delta { next, .. } => {
                let next = next.text();
                slot.read(|packed| delta::decode(&next, packed, length).map(Vec::into_boxed_slice))
            }
            Self::Raw(_) => None,
        };
        // Only what was read back when it was packed is held packed: there is no other case.
        debug_assert!(unpacked.is_some(), "a text at rest cannot be read");
        let text = Text::new(unpacked.unwrap_or_default());
        slot.remember(&text);
        text
    }

    /// The length of the text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Raw(text) => text.len(),
            Self::Packed { length, .. } | Self::Delta { length, .. } => *length as usize,
        }
    }

    /// Whether the text is held as it is.
    pub(crate) fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// Bytes that are held for it alone, beyond the value itself.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Raw(text) => text.cost(),
            Self::Packed { slot, .. } | Self::Delta { slot, .. } => slot.cost(),
        }
    }
}
