//! A state on disk: what is held is written in blocks as it changes, and read before the network answers.
//!
//! | file | what |
//! |---|---|
//! | `keeper.rs` | who moves the bytes: the host's storage |
//! | `block.rs` | some objects as they rest, compressed |
//! | `head.rs` | what belongs together: the version, and the checksum of each block |
//! | `writer.rs` | which blocks a state differs in from what was written last |
//! | `restore.rs` | the state that a head and its blocks are, or nothing |
//!
//! Storage is a convenience. What does not check out is thrown away whole, and the state is listed. A mixture of two states is never shown: a head
//! names the checksum of each of its blocks. So it stands for nothing until the last of them is there.
//!
//! Imports: json, message, object, runtime, status, store, time, version.

mod block;
mod head;
mod keeper;
mod restore;
mod writer;

pub use keeper::{Keeper, Kept, Written};
pub use restore::{Found, MAX_READ_MS};
pub use writer::{Plan, Writer};
