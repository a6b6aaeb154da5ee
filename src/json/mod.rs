//! JSON as bytes: one strict pass finds what the cache needs, and nothing else is decoded.
//!
//! A document is accepted exactly when `serde_json` would read it as a `Value`. Property tests compare the two.
//!
//! - [`scan`] reads objects, and [`frame`] watch frames.
//! - [`list`] reads a list page while it arrives; `siblings.rs` reads items that resemble each other.
//! - [`edits`] finds what an update changes, by comparing it with what is held; `comparison.rs` is the walk through both. [`update`]
//!   reads frames and items so.
//! - [`table`] finds the rows of a Table.
//! - [`path`] names one value in a document; [`fields`] joins the paths that a resource wants, [`columns`] those that somebody shows.
//!
//! Imports: sort.

pub mod columns;
pub mod edits;
pub mod error;
pub mod fields;
pub mod frame;
pub mod identity;
pub mod list;
pub mod patch;
pub mod path;
pub mod scalar;
pub mod scan;
pub mod stamp;
pub mod table;
pub mod update;

pub(crate) mod bytes;
mod comparison;
mod cursor;
mod grammar;
mod intern;
mod labels;
mod leap;
mod masks;
pub(crate) mod members;
mod proved;
mod range;
mod routes;
mod segment;
mod siblings;
mod text;
pub(crate) mod value;
pub(crate) mod write;

pub use columns::{Columns, append_row};
pub use edits::{Edit, Edits, InVain, compare_object};
pub use error::{ErrorKind, JsonError};
pub use fields::{FieldSet, Slot};
pub use frame::{Frame, FrameType, scan_frame};
pub use identity::{Identity, identify};
pub use labels::Labels;
pub(crate) use labels::{labels as read_labels, no_labels};
pub use list::{BrokenItem, GivenItems, ListHead, ListItems, ListScanner};
pub use patch::patch;
pub use path::Path;
pub use scalar::Scalar;
pub(crate) use scan::ITEM_DEPTH;
pub use scan::{Scanned, read_fields, scan_object};
pub use segment::PathError;
pub use stamp::stamp;
pub use table::{Row, Table, scan_table, scan_table_frame};
pub use update::{HeldVersion, Update, scan_held_item, scan_update};
