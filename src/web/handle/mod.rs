//! What JavaScript holds of a resource: one class, and a file for each job that it does.
//!
//! Start with `resource.rs` for calls in, and with `delivery.rs` for flushes out.

mod delivery;
mod informers;
mod metrics;
mod notifications;
mod objects;
mod options;
mod pins;
mod reads;
mod resource;
mod scratch;
mod stats;
mod views;
mod watches;
mod writes;

pub use delivery::Hooks;
pub use metrics::{RawMetrics, open_metrics};
pub(super) use options::RawOptions;
pub use resource::RawResource;
