//! watchcache: the Kubernetes apiserver's watch cache, rebuilt for one browser thread.
//!
//! One list and one watch stream of an upstream become a local state with a window of recent events, fanned out to watchers and live
//! views. The way of a byte through the modules:
//!
//! - [`source`] is where bytes come from; [`reflector`] lists, watches, resumes and lists again.
//! - [`json`] scans documents without decoding them; what is found becomes an [`object`] with a [`key`] and a [`version`].
//! - [`cache`] keeps the state: store, event window, readiness, and the loop that applies one message at a time.
//! - [`informer`] calls handlers for each change, as client-go's shared informers do.
//! - [`watch`] takes each change to the watchers it concerns; [`view`] keeps filtered, ordered and counted rows; both select with [`selector`].
//! - [`metrics`] counts, under the apiserver's names.
//! - [`runtime`] stands for the host: clocks, timers, tasks. [`status`] is what goes wrong.
//! - `web` is the binding layer, on `wasm32` only, and the only module that knows JavaScript.
//!
//! The laws that hold everywhere (replay, order, resume, split, isolation, loud loss, rows stay, bounded, no JavaScript inside a borrow,
//! time is a deadline, whole documents, secrets) are written down in ARCHITECTURE.md; each has tests named after it.

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
pub mod reflector;
pub mod runtime;
pub mod selector;
mod sort;
pub mod source;
pub mod status;
pub mod store;
#[doc(hidden)]
pub mod testing;
mod time;
pub mod version;
pub mod view;
pub mod watch;
#[cfg(target_arch = "wasm32")]
pub mod web;
