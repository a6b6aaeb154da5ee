//! Informers: handlers that are called for each change of a resource, as client-go's shared informers do it.
//!
//! Each handler has a listener with a queue of its own. What waits there are shared notifications, which hold objects and never copies. The
//! store changes first, then handlers are told: whoever reads in a callback sees at least the state that the callback is told of.
//!
//! Start with [`Informers`], the informers of one store, then [`Informer`].
//!
//! Imports: change, connection, growth, id, json, key, message, object, runtime, selector, status, store, time, version.

mod id;
mod indexer;
mod informer;
mod interruption;
mod listener;
mod lister;
mod notification;
mod overlay;
mod processor;
mod queue;
mod request;
mod resync;
mod set;
mod sync;

pub use id::{HandlerId, InformerId};
pub use indexer::Indexer;
pub use informer::{Informer, InformerOptions};
pub use interruption::{Interruption, Interruptions, Stops};
pub use listener::{DEFAULT_BUFFER_SIZE, HandlerOptions, News, ProcessorListener};
pub use lister::Lister;
pub use notification::{Notification, NotificationKind};
pub use processor::Notifications;
pub use request::HandlerRequest;
pub use set::{InformerStats, Informers};
