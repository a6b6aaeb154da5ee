//! What the tests of the whole cache share: a resource over an upstream in memory, who listens to it, and a naive model.

// Each test binary uses its own part of it.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod client;
pub mod informed;
pub mod model;
pub mod rig;
