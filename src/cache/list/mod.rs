//! Lists: what a request means, and who answers it.
//!
//! The order of steps is the apiserver's. The options are checked ([`ListOptions`]) and the request is read ([`request`]). Then it is
//! decided who answers ([`delegate`]), and a page of a state is read ([`page`]). Waiting and asking the upstream is done in
//! `cache/resource/reads.rs`.

pub(super) mod delegate;
mod options;
mod page;
mod request;
mod token;

pub use options::{Checked, DEFAULT_WAIT, ListOptions, Want};
pub(super) use page::{read, shard_text};
pub use request::List;
pub(super) use request::Request;
pub use token::Token;
