//! What must hold for the cache whatever happens, as properties over random traces, judged by a naive model.
//!
//! A failure prints the shortest trace it was found with and the seed; `PROPTEST_CASES` asks for more than a run's usual number.

#![allow(unreachable_pub)]

#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../common/upstream.rs"]
mod upstream;

mod broken;
mod follow;
mod isolation;
mod loss;
mod order;
mod reentrancy;
mod replay;
mod resume;
mod rows;
mod skip;
mod split;
mod steps;
mod world;

use proptest::test_runner::Config;

/// 256 cases, unless the environment asks for another number.
fn cases() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}
