//! What JavaScript holds of a resource: [`RawResource`], with a file for each job that it does. Beside it stands [`RawMetrics`], the page on
//! which all resources of a cache write.
//!
//! A resource is one class because each further one costs its glue. Split by job into six, the JavaScript grew by 145 bytes (brotli, of 26.3 kB).
//! Nothing became simpler, because all of them need the same half of the core.
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
mod serving;
mod stats;
mod views;
mod watches;
mod writes;

pub use delivery::Hooks;
pub use metrics::{RawMetrics, open_metrics};
pub(super) use options::{Opening, resource_options, view_options};
pub use resource::RawResource;
pub use serving::RawServing;
