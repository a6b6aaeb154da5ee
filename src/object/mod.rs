//! One object at one version, and how its text is held while nobody reads it.
//!
//! Start with [`Object`]. `rest` has the forms of its text.
//!
//! Imports: allocation, json, key, status, version.

mod object;
pub(crate) mod rest;

pub use object::{Holder, IndexValues, Object, ObjectId};
pub use rest::{Lent, Text};
