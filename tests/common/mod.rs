//! What the tests of the core share: an upstream with a history and faults, and a cache that is nothing but a replay.

// Each test binary uses its own part of it.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod replay;
pub mod scenario;
pub mod upstream;
