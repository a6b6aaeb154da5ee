//! etcd's JSON gateway, without a transport: what its answers mean to a cache.
//!
//! `list.rs` turns the answer to a range request into a List, and `watch.rs` the messages of a watch into frames. `stream.rs` has
//! them do so while they come. `object.rs` makes one key an object. A key becomes a name in `name.rs`, a revision a version in `numbers.rs`.
//! Keys and values come in base64, and are decoded here.

mod base64;
mod list;
mod name;
mod numbers;
mod object;
mod stream;
mod watch;

pub use self::list::{RangeReader, object};
pub use self::numbers::Numbers;
pub use self::object::Dialect;
pub use self::stream::{frames, page};
pub use self::watch::WatchReader;
