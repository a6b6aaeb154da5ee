//! The vocabulary of the reflector's cases.

use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;
use watchcache::runtime::virtual_time::WALL_AT_START;
use watchcache::source::ListRequest;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::time::Millis;

use super::replay::ReflectorRig;
use super::upstream::{Request, Upstream};

pub const SECOND: Millis = 1000;
pub const MINUTE: Millis = 60 * SECOND;
pub const HOUR: Millis = 60 * MINUTE;

pub fn config() -> ReflectorConfig {
    ReflectorConfig::default()
}

pub fn pages(page_size: u32) -> ReflectorConfig {
    ReflectorConfig { page_size, ..config() }
}

pub fn fill(upstream: &Upstream, count: usize) {
    for number in 0..count {
        upstream.put("ns", &format!("pod{number:04}"));
    }
}

pub fn status(code: u16, reason: &str) -> Error {
    Status::new(code, reason, format!("{code} {reason}")).into()
}

pub fn list_requests(rig: &ReflectorRig) -> Vec<ListRequest> {
    let requests = rig.upstream.requests.borrow();
    requests
        .iter()
        .filter_map(|request| match request {
            Request::List(_, list) => Some(list.clone()),
            Request::Watch(..) => None,
        })
        .collect()
}

/// The waits that were announced, with the codes of their errors.
pub fn waits(rig: &ReflectorRig) -> Vec<(ErrorCode, Millis)> {
    let replay = rig.replay.borrow();
    let waits = replay.connections().filter_map(|(at, connection)| match connection {
        Connection::Waiting { retry_at, error, .. }
        | Connection::NeedsAuth { retry_at, error }
        | Connection::Failed { retry_at: Some(retry_at), error } => Some((error.code, retry_at.since(WALL_AT_START) - at)),
        _ => None,
    });
    waits.collect()
}
