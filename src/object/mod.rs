//! One object at one version, and how its text is held while nobody reads it.
//!
//! Start with [`Object`]. `rest` has the forms of its text.
//!
//! Imports: allocation, json, key, status, version.

mod array;
mod decoded;
mod object;
mod pins;
pub(crate) mod rest;

pub use array::{array_of, texts_of};
pub(crate) use object::Facts;
pub use object::{Holder, IndexValues, Object, ObjectId};
pub use pins::Pins;
pub use rest::{Lent, Text};
