//! What a resource counts, under the names of the apiserver's own metrics, and of informers under client-go's.
//!
//! One [`Metrics`] belongs to a resource's cacher and is shared by whoever counts: `let metrics = cacher.metrics().clone();`. Counting
//! is a method on a field and borrows nothing:
//!
//! - `metrics.events_received.inc()`, `metrics.init_events.add(n)`: a [`Counter`] only grows; [`Gauge`] goes both ways (`set`, `inc`, `dec`).
//! - `metrics.read_wait.observe_ms(millis)`: a [`Histogram`] of seconds. Observe a wait only when there was one.
//! - `metrics.consistent_read(success, Fallback::Skipped)`, `metrics.consistency_check(CheckResult::Success)`.
//! - `metrics.list("namespace", fetched, returned)`: a list that was served here, by the index that narrowed it, or `""`.
//! - `metrics.capacity_changed(from, to)`: the window grew or shrank.
//!
//! They are read as numbers by [`Metrics::each`], or together with those of other resources as Prometheus text by [`Exposition`].
//!
//! Imports: version.

mod counter;
mod exposition;
mod format;
mod histogram;
mod resource;

pub use counter::{Counter, Gauge};
pub use exposition::{CONTENT_TYPE, Exposition, FAMILIES, Family};
pub use format::{Labels, series_name};
pub use histogram::Histogram;
pub use resource::{CheckResult, Fallback, Metrics, Now, Stage};
