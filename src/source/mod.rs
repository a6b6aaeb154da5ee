//! Where objects come from: one list and one watch stream of any list+watch API.

pub mod buffers;
pub mod kubernetes;
pub mod page;
pub mod pager;
pub mod write;

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;

use crate::status::{Error, ErrorCode};
use crate::version::Version;

pub use pager::Pager;
pub use write::{DeleteOptions, ObjectName, Preconditions, WriteRequest};

/// What a list asks for; unset fields are left out of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// `resourceVersion`.
    pub resource_version: Option<String>,
    /// `resourceVersionMatch`: `Exact` or `NotOlderThan`.
    pub resource_version_match: Option<String>,
    /// `limit`, objects a page.
    pub limit: Option<u32>,
    /// `continue`, the token of the page before.
    pub continue_token: Option<String>,
    /// A part that would do. Whoever asks filters what comes, so a source that cannot narrow a list may leave it whole.
    pub narrow: Option<Narrow>,
}

/// A part of a resource, as a list of the API selects it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrow {
    /// A label selector.
    pub labels: Option<String>,
    /// A field selector. Servers know few fields, and answer 400 for others.
    pub fields: Option<String>,
    /// One namespace.
    pub namespace: Option<String>,
    /// One name.
    pub name: Option<String>,
}

/// What of a Kubernetes API a source lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// The one namespace that its path names; `None`: all of them, or a resource without namespaces.
    pub namespace: Option<String>,
}

/// What a watch asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// `resourceVersion` to start after; empty leaves it unset.
    pub resource_version: String,
    /// `resourceVersionMatch`: `NotOlderThan` where initial events are asked for.
    pub resource_version_match: Option<String>,
    /// `sendInitialEvents`: the state comes first, as ADDED events, and a bookmark with an annotation of its own ends it.
    pub send_initial_events: Option<bool>,
    /// `allowWatchBookmarks`.
    pub allow_watch_bookmarks: bool,
    /// `timeoutSeconds`, after which the server ends the stream.
    pub timeout_seconds: u32,
}

/// The body of one list page, as bytes in chunks of any size. Dropping it aborts the request.
pub type PageStream = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// A watch stream: one frame (`{"type":…,"object":…}`) an item. It ends when the connection is closed; an `Err` item is its last.
/// Dropping it closes the connection.
pub type FrameStream = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// An upstream.
pub trait Source {
    /// Asks for one page. Resolves when the answer has begun; a refusal is an error with the server's Status where it gave one.
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>>;
    /// Opens the watch. Resolves once it is open; an upstream that cannot be reached is [`crate::status::ErrorCode::Network`].
    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>>;
    /// Whether there is a request for one object. Without it, objects are looked for in lists.
    fn gets(&self) -> bool {
        false
    }
    /// Asks for one object as it stands now: its document.
    fn get(&self, _object: ObjectName) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        Box::pin(async { Err(Error::new(ErrorCode::Invalid, "this source gives no single objects")) })
    }
    /// Writes. Resolves with the answer's document: the object as it was written; for a deletion also a Status, or nothing. An object
    /// that has changed meanwhile is a [`ErrorCode::Conflict`], one that is not there [`ErrorCode::NotFound`].
    fn write(&self, _request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        Box::pin(async { Err(Error::new(ErrorCode::Invalid, "this source takes no writes")) })
    }

    /// Who is asked, by a name that all who ask the same one give: while it is away, one of them tries for all. `None`: it is asked alone.
    fn server(&self) -> Option<String> {
        None
    }

    /// The collection of a Kubernetes API that this is: its lists are narrowed as asked, and its continue tokens are those of the
    /// apiserver, which the cache reads and writes as well. `None`: tokens are known to the source alone, and what it narrows is its affair.
    fn collection(&self) -> Option<Collection> {
        None
    }

    /// Whether its objects are all of one kind, which they name as those of a Kubernetes API do.
    fn names_kinds(&self) -> bool {
        false
    }

    /// Asks for the upstream's current version; `None` where that cannot be asked. Nothing is sent before the future is polled.
    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        None
    }

    /// Asks the upstream to send a bookmark on its open watches now; `None` where that cannot be asked, as over the Kubernetes API.
    /// Nothing is sent before the future is polled. With [`Source::current_version`] it makes consistent reads from the cache possible.
    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        None
    }
}
