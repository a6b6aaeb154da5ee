//! Status and numbers of a resource, as the facade reads them.

use wasm_bindgen::JsValue;

use super::metrics;
use crate::cache::{Cacher, ResourceStatus};
use crate::time::{Instant, WallTime};
use crate::web::error::to_js;
use crate::web::values::{Given, set, to_object};

#[allow(clippy::cast_precision_loss)]
fn number(number: u64) -> Given {
    Given::Number(number as f64)
}

/// A time as JavaScript's `Date` counts.
fn date(at: WallTime) -> Given {
    number(at.as_unix_millis())
}

/// What people see of a resource.
pub(super) fn status(status: &ResourceStatus) -> JsValue {
    let told = to_object(&[
        ("phase", Given::text(status.phase.as_str())),
        ("resourceVersion", Given::maybe(status.resource_version.as_ref(), |version| Given::Text(version.to_string()))),
        ("stale", Given::Flag(status.stale)),
        ("staleSince", Given::maybe(status.stale_since, date)),
        ("lastEventAt", Given::maybe(status.last_event_at, date)),
        ("attempt", Given::Number(status.attempt.into())),
        ("retryAt", Given::maybe(status.retry_at, date)),
    ]);
    if status.unconfirmed {
        set(&told, "unconfirmed", &JsValue::TRUE);
    }
    if let Some((loaded, remaining)) = status.listed {
        set(&told, "listed", &to_object(&[("loaded", Given::count(loaded)), ("remaining", Given::maybe(remaining, number))]));
    }
    if let Some(error) = &status.error {
        set(&told, "error", &to_js(error));
    }
    if let Some(branches) = &status.branches {
        let namespaces = to_object(&[]);
        for branch in branches {
            let of = to_object(&[("phase", Given::text(branch.phase.as_str())), ("retryAt", Given::maybe(branch.retry_at, date))]);
            if let Some(error) = &branch.error {
                set(&of, "error", &to_object(&[("code", Given::text(error.code.as_str())), ("message", Given::text(&error.message))]));
            }
            set(&namespaces, &branch.namespace, &of);
        }
        set(&told, "namespaces", &namespaces);
    }
    if !status.quarantined.is_empty() {
        let keys: js_sys::Array = status.quarantined.iter().map(|entry| JsValue::from_str(&entry.key)).collect();
        set(&told, "quarantined", &keys);
    }
    told
}

/// Its numbers. `flushes` and `pinned` are those of the binding, `transport` how the last watch came.
pub(super) fn stats(cacher: &Cacher, now: Instant, flushes: u64, pinned: usize, transport: Option<&'static str>) -> JsValue {
    let stats = cacher.stats();
    let told = to_object(&[
        ("objects", Given::count(stats.objects)),
        ("bytes", Given::count(stats.bytes)),
        ("events", number(stats.events)),
        ("lists", number(stats.lists)),
        ("history", Given::count(stats.history)),
        ("historyCapacity", Given::count(stats.history_capacity)),
        ("historyFrom", Given::maybe(cacher.held().window().oldest(), |version| Given::Text(version.to_string()))),
        ("historyMs", Given::maybe(cacher.held().window().reach(now), number)),
        ("historyBytes", Given::count(stats.history_bytes)),
        ("historyIncreases", number(stats.history_resizes.0)),
        ("historyDecreases", number(stats.history_resizes.1)),
        ("watchers", Given::count(stats.dispatcher.watchers)),
        ("views", Given::count(stats.views)),
        ("informers", Given::count(stats.informers.running)),
        ("handlers", Given::count(stats.informers.handlers)),
        ("queued", Given::count(stats.informers.queued)),
        ("delivered", number(stats.dispatcher.delivered)),
        ("visited", number(stats.dispatcher.visited)),
        ("terminated", number(stats.dispatcher.terminated)),
        ("flushes", number(flushes)),
        ("pinned", Given::count(pinned)),
        ("transport", Given::maybe(transport, Given::text)),
    ]);
    set(&told, "metrics", &metrics::series(cacher));
    told
}
