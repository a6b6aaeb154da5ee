//! The cacher: store, event window, readiness, and the loop that keeps them.

pub mod incoming;
