//! What must hold for the cache whatever happens, as properties over random traces, judged by a naive model.
//!
//! A failure prints the smallest trace it was found with, as a test. A run plays 10,000 traces over all laws together; `WATCHCACHE_TRACES`
//! asks for another number, `WATCHCACHE_SEED` for the traces of an earlier run.

#![allow(unreachable_pub)]

#[allow(dead_code, unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod channel;
    pub mod client;
    pub mod informed;
    pub mod model;
    pub mod rig;
    pub mod upstream;
}

#[macro_use]
mod runner;

mod asks;
mod bounded;
mod broken;
mod etcd;
mod etcd_streams;
mod follow;
mod informers;
mod interest;
mod isolation;
mod loss;
mod order;
mod reads;
mod reentrancy;
mod replay;
mod rest;
mod resume;
mod rows;
mod skip;
mod split;
mod steps;
mod world;
