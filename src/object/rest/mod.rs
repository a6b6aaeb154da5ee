//! Objects at rest: how the text of an object is held while nobody reads it.
//!
//! An object arrives as text. Once it has not been touched for a round, its text is compressed against another object of its resource, the
//! dictionary (LZ4 blocks); a version that was replaced is told by what replaced it, as a delta. Packed texts lie in few large blocks. Who
//! reads an object gets its text and cannot tell which form it had.

mod arena;
pub(super) mod body;
mod delta;
mod dictionary;
mod packer;
mod recent;
pub(super) mod text;

pub(crate) use packer::{Packer, Reformed};
pub use text::{Lent, Text};
