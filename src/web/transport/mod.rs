//! How bytes come from an upstream: over fetch and WebSocket, or through a `Source` object of the user.
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
mod websocket;

pub use dialect::{RawEtcd, RawEtcdWatch};
pub(super) use kubernetes::KubernetesSource;
pub use object::JsSource;
pub(super) use object::ObjectSource;
