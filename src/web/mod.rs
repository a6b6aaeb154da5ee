//! The binding layer: the only place that knows JavaScript. It converts and carries, and holds no logic of the cache.
//!
//! Two rules keep it sound. Exported handles are `&self` over `Rc`. No state is borrowed while JavaScript of users runs: the core collects what is
//! to be told, and `handle/delivery.rs` tells it with nothing borrowed. One borrow outlives a call into the host: a flush reads its clock.
//!
//! Start with `module.rs`, which opens resources. Then `handle` is what JavaScript holds of one, and `transport` where its bytes come from.
//!
//! Imports: cache, informer, json, metrics, object, persist, reflector, relay, runtime, selector, source, status, store, time, version, view, watch.

mod bag;
mod bytes;
mod error;
mod handle;
mod keeper;
mod module;
mod packet;
mod panic;
mod runtime;
mod texts;
mod transport;
mod values;

pub use handle::{Hooks, RawMetrics, RawResource, RawServing, open_metrics};
pub use module::{
    RawMemory, build_info, check_answer, check_grammar, check_view, memory_bytes, on_panic, open_kubernetes, open_shared, open_source,
    poisoned, slept, start,
};
pub use transport::{JsSource, RawEtcd, RawEtcdWatch, RawRemote};
