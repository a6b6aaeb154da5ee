//! watchcache: the Kubernetes apiserver's watch cache, rebuilt for one browser thread.

pub mod json;
pub mod key;
pub mod object;
pub mod reflector;
pub mod runtime;
pub mod selector;
pub mod source;
pub mod status;
#[doc(hidden)]
pub mod testing;
pub mod version;
pub mod cache;
pub mod view;
pub mod watch;
#[cfg(target_arch = "wasm32")]
pub mod web;
