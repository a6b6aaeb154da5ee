//! watchcache: the Kubernetes apiserver's watch cache, rebuilt for one browser thread.
//!
//! It reads one list and one watch stream of an upstream. It holds the state and a window of recent events, and serves watchers and live
//! views from them. The modules in the order in which a byte passes them:
//!
//! - [`source`] supplies bytes; [`reflector`] lists, watches, resumes and lists again.
//! - [`json`] scans documents without decoding them. The result is an [`object`] with a [`key`] and a [`version`].
//! - [`cache`] composes the parts: store, event window, readiness, and the loop that applies one message at a time.
//! - [`relay`] makes a resource the source of others.
//! - [`informer`] calls handlers for each change, as client-go's shared informers do.
//! - [`watch`] takes each change to the watchers that it concerns. [`view`] holds filtered, ordered and counted rows. Both use
//!   [`selector`].
//! - [`metrics`] counts under the apiserver's names.
//! - [`runtime`] stands for the host: clocks, timers, tasks. [`status`] has the failures.
//! - `web` is the binding layer. It exists only on `wasm32`, and only it knows JavaScript.
//! - `testing` makes objects for tests and benches. It is public for them alone, and may change at any time.
//!
//! [`cache::Resource`] has an example: a resource over a source of one's own, in virtual time. In a browser the binding layer supplies source and
//! runtime.
//!
//! ARCHITECTURE.md lists the laws that hold everywhere, such as replay, order, resume and isolation. Each has tests named after it.

mod allocation;
mod base64url;
pub mod cache;
pub mod change;
pub mod connection;
mod growth;
mod id;
pub mod informer;
pub mod json;
pub mod key;
pub mod message;
pub mod metrics;
pub mod object;
pub mod persist;
pub mod reflector;
pub mod relay;
pub mod runtime;
pub mod selector;
mod sort;
pub mod source;
pub mod status;
pub mod store;
#[doc(hidden)]
pub mod testing;
pub mod time;
pub mod version;
pub mod view;
pub mod watch;
#[cfg(target_arch = "wasm32")]
pub mod web;
