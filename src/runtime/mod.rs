//! What the core needs of the host: clocks, timers and tasks. The binding layer implements them for the browser, virtual time for native tests.
//!
//! Start with `host.rs`, the traits. `task.rs` runs work in the background until its handle is dropped. `slice.rs` says when to yield to the
//! host. `together.rs` runs two tasks as one.
//!
//! Imports: time.

mod host;
pub mod slice;
mod task;
pub mod together;
pub mod virtual_time;

pub use self::host::{Clock, Runtime, SharedRuntime, Spawn, Timer};
pub use self::task::{SingleTask, Task};
