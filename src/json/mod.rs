//! JSON as bytes: scanning, paths and lists, without decoding a document.

pub mod fields;
pub mod list;
pub mod path;
pub mod scalar;
pub mod scan;
