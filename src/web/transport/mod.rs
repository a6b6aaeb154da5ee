//! How bytes come from an upstream: over fetch and WebSocket, through a `Source` object of the user, or from a relay in another thread.
//!
//! Start with `kubernetes.rs` or `object.rs`: each is a [`crate::source::Source`].

mod abort;
mod body;
mod credentials;
mod dialect;
mod fetch;
mod iterator;
mod kubernetes;
mod object;
mod remote;
mod websocket;

pub use dialect::{RawEtcd, RawEtcdWatch};
pub(super) use kubernetes::KubernetesSource;
pub use object::JsSource;
pub(super) use object::ObjectSource;
pub use remote::RawRemote;
pub(super) use remote::remote;
