//! What a list and a watch ask of a source.

use super::history::History;

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

/// What a watch asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// `resourceVersion` to start after; empty leaves it unset.
    pub resource_version: String,
    /// Of which history that is, where it came from a cache. No server is told.
    pub history: Option<History>,
    /// `resourceVersionMatch`: `NotOlderThan` where initial events are asked for.
    pub resource_version_match: Option<String>,
    /// `sendInitialEvents`: the state comes first, as ADDED events, and a bookmark with an annotation of its own ends it.
    pub send_initial_events: Option<bool>,
    /// `allowWatchBookmarks`.
    pub allow_watch_bookmarks: bool,
    /// `timeoutSeconds`, after which the server ends the stream.
    pub timeout_seconds: u32,
}
