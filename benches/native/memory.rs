//! What the window holds, against the full objects it stands for.

use watchcache::change::ChangeKind;
use watchcache::message::Message;
use watchcache::time::{Instant, WallTime};

use crate::pods::{BETWEEN_TURNS, FIRST_VERSION, cacher, documents, fill, object, rest};

/// One pod that changes so many times: each change stands for the object before and after it.
pub(crate) fn measure(pod: &[u8], events: usize) -> serde_json::Value {
    let mut cacher = cacher();
    let before = resident();
    let mut full = 0;
    for (i, text) in documents(pod, events).iter().enumerate() {
        full += text.len();
        let object = object(text, &cacher.fields().borrow());
        if i == 0 {
            fill(&mut cacher, vec![object], FIRST_VERSION + 1);
        } else {
            cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
        }
        if (i + 1) % BETWEEN_TURNS == 0 {
            rest(&mut cacher);
        }
    }
    rest(&mut cacher);
    let window = cacher.held().window();
    serde_json::json!({
        "name": "memory",
        "events": window.len(),
        "held": window.bytes(),
        "full": full / events * window.len(),
        "resident": resident().saturating_sub(before),
    })
}

/// Bytes of memory this process has, 0 where the system does not tell.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}
