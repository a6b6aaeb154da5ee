//! How a reflector lists, watches and waits.

use std::rc::Rc;

use super::backoff::Retry;
use super::peers::Peers;
use crate::time::Millis;

/// Watches are not asked to end sooner than after so many seconds: each end costs the server a new one. It is client-go's least.
pub const MIN_WATCH_SECONDS: u32 = 300;

/// So many bytes of what a watch brings may wait for its list: as much as one frame may be long.
const MAX_AHEAD_BYTES: usize = 64 << 20;

/// How a reflector lists, watches and waits.
#[derive(Clone, Debug)]
pub struct ReflectorConfig {
    /// Objects a page of the list; 0 asks for everything at once.
    pub page_size: u32,
    /// Whether the state comes over the watch itself (`sendInitialEvents`); a list is the way back where a server does not have that.
    ///
    /// It spares a server that answers from its own cache. A list shows its pages earlier. Do not choose it over a streamed fetch: servers
    /// compress such a watch in pieces, of which browsers read only the first.
    pub watch_list: bool,
    /// A list or watch without any byte for so many milliseconds is taken for dead; 0 waits for ever.
    ///
    /// Servers send bookmarks about once a minute, so a healthy watch is never silent for much longer.
    pub idle_timeout_ms: Millis,
    /// The waits between tries.
    pub retry: Retry,
    /// `timeoutSeconds` of a watch is drawn between this and twice as much, so that many clients do not come back at the same moment. It is
    /// not less than [`MIN_WATCH_SECONDS`], whatever is asked for.
    pub watch_timeout_seconds: u32,
    /// How many bytes of changes may wait, merged by key, while the pages of a list are read. A watch that brings more is let go.
    pub ahead_bytes: usize,
    /// The reflectors of the same host. They come back one after the other, and one of them asks for all whether a server is there.
    pub peers: Rc<Peers>,
    /// Of all that is random here.
    pub seed: u64,
}

impl Default for ReflectorConfig {
    fn default() -> Self {
        Self {
            page_size: 500,
            watch_list: false,
            idle_timeout_ms: 90_000,
            retry: Retry::default(),
            watch_timeout_seconds: MIN_WATCH_SECONDS,
            ahead_bytes: MAX_AHEAD_BYTES,
            peers: Rc::default(),
            seed: 0,
        }
    }
}
