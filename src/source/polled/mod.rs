//! Watches what can only be listed: it lists again and again, and tells what differs.
//!
//! Start with `polled.rs`, the source. `state.rs` holds what the last list showed, compares the next one with it, and gives the differences their
//! versions.

#[allow(clippy::module_inception)] // the folder is named after what it holds
mod polled;
mod state;

pub use self::polled::Polled;
