//! The Kubernetes wire, without a transport: what is sent, and what answers mean.
//!
//! A transport asks with a path (`path.rs`) and a query (`query.rs`), over a WebSocket with its subprotocols (`socket.rs`). It hands
//! refusals to `answer.rs`, and a streamed watch to `frames.rs`. Writes have their form in `write.rs`.

mod answer;
mod frames;
mod path;
mod query;
mod socket;
mod write;

pub use self::answer::{content_error, error_from_response, retry_after};
pub use self::frames::FrameSplitter;
pub use self::path::{list_in, namespace_of, object_path};
pub use self::query::{Selection, list_query, object_query, watch_query};
pub use self::socket::{subprotocols, websocket_url};
