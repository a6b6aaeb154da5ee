//! The cacher: store, event window, readiness, and the loop that keeps them.

pub mod cacher;
pub mod checker;
mod comparison;
mod content;
pub mod freshness;
pub mod get;
mod informers;
pub mod list;
pub mod memory;
mod packing;
pub mod progress;
mod reads;
pub mod ready;
pub mod resource;
pub mod status;
mod views;
mod waiters;
pub mod watches;
pub mod writes;
