//! The watch cache, case by case, as a user of a resource sees it.
//!
//! Each test carries the id of the behaviour that it holds. Versions begin at 100 here: the upstream's at its start.

#![allow(unreachable_pub)]

#[allow(dead_code, unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod channel;
    pub mod client;
    pub mod disk;
    pub mod informed;
    pub mod model;
    pub mod rig;
    pub mod upstream;
}

mod cache;
mod channel;
mod informer;
mod relay;
mod source;
mod store;
mod watch;
mod wire;

use serde_json::json;
use watchcache::status::{Error, ErrorCode};
use watchcache::watch::WatchOptions;

use helpers::upstream::Upstream;

/// A watch after a version.
fn after(version: u64) -> WatchOptions {
    WatchOptions { resource_version: Some(version.to_string()), ..WatchOptions::default() }
}

/// A watch that says whether it wants the state first.
fn initial(resource_version: Option<&str>, send: bool, bookmarks: bool) -> WatchOptions {
    WatchOptions {
        resource_version: resource_version.map(Into::into),
        resource_version_match: Some("NotOlderThan".into()),
        send_initial_events: Some(send),
        allow_watch_bookmarks: bookmarks,
        ..WatchOptions::default()
    }
}

/// Writes a pod on a node.
fn on_node(upstream: &Upstream, namespace: &str, name: &str, node: &str) -> u64 {
    upstream.put_with(namespace, name, &[], &json!({"nodeName": node}))
}

/// Brings the upstream to the version before this one, so that the next write is at it.
fn before(upstream: &Upstream, version: u64) {
    upstream.pass(version - 1 - upstream.version());
}

/// Code and reason as a server would say them, and the message.
fn said(error: &Error) -> (ErrorCode, u16, &str, &str) {
    let status = error.status.as_ref().expect("a Status");
    (error.code, status.code, &status.reason, &status.message)
}
