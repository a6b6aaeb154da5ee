//! Objects at rest: how the text of an object is held while nobody reads it.
//!
//! An object arrives as text. After a pass without access its text is compressed with LZ4 against another object of its resource, the
//! dictionary. A version that was replaced becomes a delta to its successor, which is packed along the block that this leaves. Packed texts lie
//! in a few large blocks. Readers always get the text and cannot see its form. What rests goes to other threads, and to the disk, as it is: see
//! `parcel.rs`.

mod arena;
pub(super) mod body;
pub(super) mod delta;
mod dictionary;
mod packer;
mod parcel;
mod recent;
mod repack;
pub(super) mod text;

pub(crate) use packer::{Packer, Reformed};
pub(crate) use parcel::{Origin, Recipient, parcel, parcel_of_texts};
pub use text::{Lent, Text};
