//! watchcache: the Kubernetes apiserver's watch cache, rebuilt for one browser thread.
//!
//! It reads one list and one watch stream of an upstream. It holds the state and a window of recent events, and serves watchers and live
//! views from them. The modules in the order in which a byte passes them:
//!
//! - [`source`] supplies bytes; [`reflector`] lists, watches, resumes and lists again.
//! - [`json`] scans documents without decoding them. The result is an [`object`] with a [`key`] and a [`version`].
//! - [`cache`] composes the parts: store, event window, readiness, and the loop that applies one message at a time.
//! - [`informer`] calls handlers for each change, as client-go's shared informers do.
//! - [`watch`] takes each change to the watchers that it concerns. [`view`] holds filtered, ordered and counted rows. Both use
//!   [`selector`].
//! - [`metrics`] counts under the apiserver's names.
//! - [`runtime`] stands for the host: clocks, timers, tasks. [`status`] has the failures.
//! - `web` is the binding layer. It exists only on `wasm32`, and only it knows JavaScript.
//! - `testing` makes objects for tests and benches. It is public for them alone, and may change at any time.
//!
//! # Example
//!
//! A resource over a source of one's own, in virtual time. In a browser the binding layer supplies source and runtime.
//!
//! ```
//! use std::cell::RefCell;
//! use std::rc::Rc;
//!
//! use futures::future::LocalBoxFuture;
//! use futures::stream::{self, StreamExt};
//! use futures::FutureExt;
//! use watchcache::cache::{Resource, ResourceConfig};
//! use watchcache::runtime::virtual_time::VirtualTime;
//! use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
//! use watchcache::status::Error;
//!
//! /// One pod at version 1, which changes once.
//! struct Pods;
//!
//! impl Source for Pods {
//!     fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
//!         let page = r#"{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","resourceVersion":"1"}}]}"#;
//!         async { Ok(stream::once(async { Ok(page.into()) }).boxed_local()) }.boxed_local()
//!     }
//!     fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
//!         let frame = r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"2"}}}"#;
//!         async { Ok(stream::once(async { Ok(frame.into()) }).chain(stream::pending()).boxed_local()) }.boxed_local()
//!     }
//! }
//!
//! # fn main() -> Result<(), Error> {
//! let time = VirtualTime::new(7);
//! let config = ResourceConfig { check_consistency: false, ..ResourceConfig::named("pods") };
//! let pods = Resource::new(config, Rc::new(Pods), time.clone())?;
//! let flushes = Rc::new(RefCell::new(0));
//! let counted = flushes.clone();
//! pods.on_flush(move |_| *counted.borrow_mut() += 1);
//! pods.start();
//! time.advance(1_000);
//! assert_eq!(pods.with(|cacher| cacher.version().to_string()), "2");
//! assert_eq!(pods.with(|cacher| cacher.store().get("a").map(|pod| pod.version().to_string())).as_deref(), Some("2"));
//! assert!(*flushes.borrow() > 0);
//! pods.close();
//! # Ok(())
//! # }
//! ```
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
pub mod reflector;
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
