//! What a resource counts under the apiserver's metric names, and informers under client-go's.
//!
//! Each resource's cacher has one [`Metrics`], and shares it: `let metrics = cacher.metrics().clone();`. Counting is a method on a field
//! and needs no mutable borrow:
//!
//! - `metrics.events_received.inc()`, `metrics.init_events.add(n)`: a [`Counter`] only grows. A [`Gauge`] has `set`, `inc` and `dec`.
//! - `metrics.read_wait.observe_ms(millis)`: a [`Histogram`] in seconds. Observe a wait only if there was one.
//! - `metrics.consistent_read(success, Fallback::Skipped)`, `metrics.consistency_check(CheckResult::Success)`.
//! - `metrics.list("namespace", fetched, returned)`: a list served here, by the index that narrowed it, or `""`.
//! - `metrics.capacity_changed(from, to)`: the window grew or shrank.
//!
//! [`Metrics::each`] reads them as numbers. [`Exposition`] gives those of several resources as Prometheus text.
//!
//! Imports: version.

mod counter;
mod exposition;
mod format;
mod histogram;
mod resource;

pub use counter::{Counter, Gauge};
pub use exposition::{Exposition, FAMILIES, Family, numbers};
pub use format::{Labels, series_name};
pub use histogram::Histogram;
pub use resource::{CheckResult, DispatchStage, Fallback, Metrics, Now};
