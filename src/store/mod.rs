//! What is held of one resource: the objects in key order with their indexes, and the event window, from which past states are made.
//!
//! Start with [`Store`], then [`Window`].
//!
//! Imports: allocation, change, json, key, object, selector, sort, status, time, version.

mod bounds;
mod index;
mod observer;
mod snapshot;
mod snapshots;
mod store;
mod strays;
mod table;
mod window;

pub use bounds::{DEFAULT_FRESH_MS, DEFAULT_LOWER, DEFAULT_MAX_BYTES, WindowBounds, WindowRequest};
pub use index::{Fields, IndexBy, IndexSpec, Indexes};
pub use observer::{Replacement, StoreObserver};
pub use snapshot::Snapshot;
pub use store::Store;
pub use strays::Strays;
pub use window::Window;
