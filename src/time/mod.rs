//! Time: the moments of the two clocks, and times as text.
//!
//! Start with `clock.rs`: the monotonic clock and the wall clock have a type each. `rfc3339.rs` reads the times of Kubernetes objects,
//! `http_date.rs` those of headers.
//!
//! Imports: nothing of this crate.

mod clock;
pub(crate) mod http_date;
pub(crate) mod rfc3339;

#[cfg(test)]
pub(crate) use self::clock::at;
pub use self::clock::{FOREVER, Instant, Millis, WallTime};
