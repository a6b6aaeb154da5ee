//! Where objects come from: whatever can be listed and watched.
//!
//! Start with [`Source`]. `pager.rs` walks the pages of a list, and `page.rs` reads one. `buffers.rs` lends the memory that frames are read
//! into. `standing.rs` is what a source that passes a stream on tells of it, and `history.rs` of which history its versions are. `polled` watches what can only be listed, `joined` makes one of several namespaces. `kubernetes` is the wire of that API without a transport, and `etcd` that of its
//! JSON gateway.
//!
//! Imports: base64url, connection, json, key, message, runtime, selector, status, time, version.

pub mod buffers;
mod composed;
pub mod etcd;
mod history;
mod joined;
pub mod kubernetes;
mod listed;
mod opening;
pub mod page;
mod pager;
mod polled;
mod refusal;
mod request;
#[allow(clippy::module_inception)] // the folder is named after what it holds
mod source;
mod standing;
mod write;

pub use self::history::History;
pub use self::joined::Joined;
pub use self::opening::opened;
pub use self::pager::Pager;
pub use self::polled::Polled;
pub use self::refusal::Refusal;
pub use self::request::{ListRequest, Narrow, WatchRequest};
pub use self::source::{Branches, Collection, FrameStream, HeldState, OpenBranch, PageStream, ParcelStream, Source, Turn};
pub use self::standing::Standing;
pub use self::write::{DeleteOptions, ObjectName, Patch, PatchType, Preconditions, WriteParameters, WriteRequest};
