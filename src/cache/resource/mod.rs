//! A resource as its users hold it, and the parts that it is made of.
//!
//! Start with [`Resource`]. `lifecycle` opens and closes the stream, or the `streams` of all branches. What these tell is `incoming`. `driver` applies it
//! to the cacher, `flusher` tells of it. `building`, `packing`,
//! `checker`, `compactor` and `resyncs` work in the background. `watches`, `reads`, `writes` and `deletions` answer
//! users. What they share is their `access` to the state: they wait for it (`waits`), or ask past it (`upstream`, `requests`).

mod access;
mod building;
mod checker;
mod compactor;
mod content;
mod deletions;
mod driver;
mod flusher;
mod incoming;
mod index_function;
mod lifecycle;
mod packing;
mod persisting;
mod progress;
mod reads;
mod requests;
mod resource;
mod resyncs;
mod share;
mod shared_cacher;
mod streams;
mod upstream;
mod waits;
mod watches;
mod writes;

pub use checker::{Item, MIN_CHECK_INTERVAL_MS, Mismatch, Outcome};
pub use compactor::COMPACTION_INTERVAL_MS;
pub use deletions::Deleting;
pub use persisting::MIN_WRITE_INTERVAL_MS;
pub use resource::Resource;
pub use writes::{Failure, Written};
