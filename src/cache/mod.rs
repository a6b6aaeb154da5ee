//! The cacher: store, event window, readiness, and the loop that keeps them.

pub mod cacher;
pub mod freshness;
pub mod incoming;
pub mod reads;
pub mod ready;
pub mod resource;
pub mod status;
pub mod store;
pub mod views;
pub mod window;
