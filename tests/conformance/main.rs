//! The watch cache, case by case, through its resource: what a user of it sees.

#![allow(unreachable_pub)]

#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../common/upstream.rs"]
mod upstream;

mod life;
