//! The cacher: store, event window, readiness, and the loop that keeps them.

pub mod cacher;
pub mod checker;
mod comparison;
mod content;
pub mod freshness;
pub mod get;
pub mod incoming;
pub mod index;
pub mod list;
pub mod memory;
mod packing;
pub mod progress;
pub mod ready;
pub mod resource;
pub mod snapshots;
pub mod state;
pub mod status;
pub mod store;
mod strays;
pub mod views;
mod waiters;
pub mod watches;
pub mod window;
pub mod writes;
