//! What the cacher answers and does: reads, writes, failures, memory, and the loop of list and watch as seen from outside.

mod checker;
mod compaction;
mod delegation;
mod deletions;
mod failures;
mod joined;
mod kinds;
mod lists;
mod memory;
mod mistakes;
mod patches;
mod paths;
mod persist;
mod persist_shared;
mod reads;
mod ready;
mod reflector;
mod subresources;
mod writes;
