//! The Kubernetes wire, without a transport: what is sent, and what answers mean.
//!
//! A transport asks with a path (`path.rs`), a query (`query.rs`) and headers (`headers.rs`), or over a WebSocket (`socket.rs`). It hands
//! the head of an answer to `answer.rs`, and a streamed watch to `frames.rs`. What of the objects is asked for stands in `form.rs`. Writes
//! have their form in `write.rs`. In whose name is decided in `asked.rs`. By which transport a watch comes is decided in `connector.rs`, by what `servers.rs` remembers. Who waits for a
//! connection does so in `places.rs`.

mod answer;
mod asked;
mod connector;
mod form;
mod frames;
mod headers;
mod path;
mod places;
mod query;
mod servers;
mod socket;
mod write;

pub use self::answer::{Head, MAX_REFUSAL_BYTES, no_answer};
pub use self::asked::asked_in_turn;
pub use self::connector::{Connector, Transport, Unopened, Wire};
pub use self::form::{ColumnsSeen, Form, row_of_answer, rows_of_frames, rows_of_page};
pub use self::frames::{FrameSplitter, frames};
pub use self::headers::{Header, JSON, headers};
pub use self::path::{group_of, in_namespace, list_in, namespace_of, object_path, with_subresource};
pub use self::query::{Selection, list_query, object_query, watch_query};
pub use self::servers::Servers;
pub use self::socket::{Unread, broken_message, closed, subprotocols, websocket_url};
