//! Option bags as JavaScript gives them, and results as it reads them.

use std::collections::BTreeMap;

use js_sys::Function;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;

use crate::cache::index::{IndexBy, IndexSpec};
use crate::cache::list::options::ListOptions;
use crate::cache::resource::ResourceConfig;
use crate::cache::status::ResourceStatus;
use crate::cache::views::ViewOptions;
use crate::cache::window::WindowBounds;
use crate::json::path::Path;
use crate::reflector::{ReflectorConfig, Retry};
use crate::runtime::Millis;
use crate::source::kubernetes::Selection;
use crate::source::{DeleteOptions, Preconditions};
use crate::status::Error;
use crate::watch::options::WatchOptions;
use crate::watch::overflow::OnOverflow;
use crate::web::error::{invalid_option, to_js};
use crate::web::values::{cast, from_value, text};

/// Options of a resource, complete: the facade fills in the defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawOptions {
    pub(super) name: String,
    pub(super) strip: Vec<String>,
    page_size: u32,
    watch_list: bool,
    idle_timeout: f64,
    retry: RawRetry,
    pub(super) trigger: Option<String>,
    history: RawHistory,
    indexes: Vec<RawIndex>,
    check_consistency: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawHistory {
    min_ms: f64,
    min_events: u32,
    max_events: Option<u32>,
    max_bytes: f64,
}

/// An index by a path, or without one by the facade's function for it: the values of those come in the order of these.
#[derive(Debug, Deserialize)]
struct RawIndex {
    name: String,
    path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRetry {
    initial_ms: f64,
    factor: f64,
    cap_ms: f64,
    jitter: f64,
    reset_after_ms: f64,
}

impl RawOptions {
    pub(super) fn read(value: JsValue) -> Result<Self, JsValue> {
        from_value("options", value)
    }

    pub(super) fn config(&self) -> Result<ResourceConfig, Error> {
        Ok(ResourceConfig {
            name: self.name.clone(),
            window: self.history.bounds(),
            indexes: indexes(&self.indexes)?,
            check_consistency: self.check_consistency,
            reflector: ReflectorConfig {
                page_size: self.page_size,
                watch_list: self.watch_list,
                idle_timeout_ms: millis(self.idle_timeout),
                retry: Retry {
                    initial_ms: millis(self.retry.initial_ms),
                    factor: self.retry.factor,
                    cap_ms: millis(self.retry.cap_ms),
                    jitter: self.retry.jitter,
                    reset_after_ms: millis(self.retry.reset_after_ms),
                },
                // Pages that wake together must not come back together.
                seed: (js_sys::Math::random() * 9_007_199_254_740_991.0) as u64,
                ..ReflectorConfig::default()
            },
        })
    }
}

impl RawHistory {
    fn bounds(&self) -> WindowBounds {
        let default = WindowBounds::for_freshness(millis(self.min_ms));
        WindowBounds {
            lower: self.min_events as usize,
            // As many as the time asks for, and never fewer than the least.
            upper: self.max_events.map_or(default.upper.max(self.min_events as usize), |most| most as usize),
            max_bytes: bytes(self.max_bytes),
            ..default
        }
    }
}

fn indexes(raw: &[RawIndex]) -> Result<Vec<IndexSpec>, Error> {
    let mut computed = 0..;
    let index = |index: &RawIndex| {
        let by = match &index.path {
            None => IndexBy::Computed(computed.next().unwrap_or_default()),
            Some(path) => {
                let path = Path::parse(path).map_err(|error| invalid_option(&format!("indexes.{}", index.name), &error.to_string()))?;
                IndexBy::Path(path)
            }
        };
        Ok(IndexSpec { name: index.name.clone(), by })
    };
    raw.iter().map(index).collect()
}

/// A number of bytes; more than there can be is no bound.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn bytes(value: f64) -> usize {
    value.max(0.0) as usize
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn millis(value: f64) -> Millis {
    value.max(0.0) as Millis
}

/// The transport of a Kubernetes resource.
pub(super) struct RawKubernetes {
    pub(super) server: String,
    pub(super) path: String,
    pub(super) selection: Selection,
    pub(super) streams: bool,
    pub(super) credentials: String,
    pub(super) auth: Option<Function>,
    pub(super) fetch: Function,
    pub(super) websocket: Option<Function>,
}

impl RawKubernetes {
    pub(super) fn read(value: &JsValue) -> Result<Self, JsValue> {
        let missing = |name: &str| to_js(&invalid_option(name, "is missing"));
        Ok(Self {
            server: text(value, "server").ok_or_else(|| missing("server"))?,
            path: text(value, "path").ok_or_else(|| missing("path"))?,
            selection: Selection { labels: text(value, "labelSelector"), fields: text(value, "fieldSelector") },
            streams: text(value, "transport").as_deref() == Some("fetch"),
            credentials: text(value, "credentials").unwrap_or_else(|| "same-origin".to_string()),
            auth: cast(value, "auth"),
            fetch: cast(value, "fetch").ok_or_else(|| missing("fetch"))?,
            websocket: cast(value, "WebSocket"),
        })
    }
}

/// Options of a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawDeleteOptions {
    preconditions: Option<RawPreconditions>,
    grace_period_seconds: Option<u32>,
    propagation_policy: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawPreconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl From<RawDeleteOptions> for DeleteOptions {
    fn from(raw: RawDeleteOptions) -> Self {
        let preconditions = raw.preconditions.unwrap_or_default();
        Self {
            preconditions: Preconditions { uid: preconditions.uid, resource_version: preconditions.resource_version },
            grace_period_seconds: raw.grace_period_seconds,
            propagation_policy: raw.propagation_policy,
        }
    }
}

/// Options of a watch.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawWatchOptions {
    namespace: Option<String>,
    name: Option<String>,
    label_selector: Option<String>,
    field_selector: Option<String>,
    shard_selector: Option<String>,
    resource_version: Option<String>,
    resource_version_match: Option<String>,
    send_initial_events: Option<bool>,
    allow_watch_bookmarks: Option<bool>,
    timeout_seconds: Option<u32>,
    buffer_size: Option<u32>,
    on_overflow: Option<String>,
    pub(super) wait: Option<bool>,
}

impl RawWatchOptions {
    /// Fails with `invalid` for a word that `onOverflow` does not know.
    pub(super) fn options(self) -> Result<WatchOptions, JsValue> {
        let on_overflow = match self.on_overflow.as_deref() {
            None => OnOverflow::default(),
            Some(text) => OnOverflow::parse(text)
                .ok_or_else(|| to_js(&invalid_option("onOverflow", &format!("is one of terminate, resync, coalesce, not {text:?}"))))?,
        };
        Ok(WatchOptions {
            namespace: self.namespace,
            name: self.name,
            label_selector: self.label_selector,
            field_selector: self.field_selector,
            shard_selector: self.shard_selector,
            resource_version: self.resource_version,
            resource_version_match: self.resource_version_match,
            continue_token: None,
            send_initial_events: self.send_initial_events,
            allow_watch_bookmarks: self.allow_watch_bookmarks.unwrap_or(false),
            timeout_seconds: self.timeout_seconds.filter(|seconds| *seconds > 0),
            buffer_size: self.buffer_size.map(|size| size as usize),
            on_overflow,
        })
    }
}

/// Options of a list or get.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawListOptions {
    namespace: Option<String>,
    label_selector: Option<String>,
    field_selector: Option<String>,
    shard_selector: Option<String>,
    pub(super) resource_version: Option<String>,
    resource_version_match: Option<String>,
    limit: Option<f64>,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    wait: Option<bool>,
}

impl From<RawListOptions> for ListOptions {
    fn from(raw: RawListOptions) -> Self {
        Self {
            namespace: raw.namespace,
            label_selector: raw.label_selector,
            field_selector: raw.field_selector,
            shard_selector: raw.shard_selector,
            resource_version: raw.resource_version,
            resource_version_match: raw.resource_version_match,
            limit: raw.limit.map_or(0, |limit| limit as i64),
            continue_token: raw.continue_token,
            wait: raw.wait.unwrap_or(true),
        }
    }
}

/// What a view shows.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawViewSpec {
    namespaces: Option<Vec<String>>,
    label_selector: Option<String>,
    field_selector: Option<String>,
    predicate: bool,
    order_by: Option<Vec<RawOrder>>,
    window: Option<RawWindow>,
    group_by: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawOrder {
    path: String,
    descending: Option<bool>,
    #[serde(rename = "as")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawWindow {
    offset: u32,
    limit: u32,
}

impl From<RawViewSpec> for ViewOptions {
    fn from(raw: RawViewSpec) -> Self {
        let order = raw.order_by.unwrap_or_default().into_iter();
        Self {
            namespaces: raw.namespaces,
            label_selector: raw.label_selector,
            field_selector: raw.field_selector,
            order: order.map(|level| (level.path, level.descending.unwrap_or(false), level.kind)).collect(),
            window: raw.window.map(|window| (window.offset as usize, window.limit as usize)),
            group_by: raw.group_by,
            predicate: raw.predicate,
        }
    }
}

/// A status as the facade reads it; the error is attached as a JavaScript error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawStatus {
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<RawListed>,
    stale: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event_at: Option<f64>,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quarantined: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RawListed {
    loaded: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<f64>,
}

#[allow(clippy::cast_precision_loss)]
impl RawStatus {
    /// Everything but the error.
    pub(super) fn of(status: &ResourceStatus) -> Self {
        Self {
            phase: status.phase.as_str(),
            resource_version: status.resource_version.as_ref().map(ToString::to_string),
            listed: status
                .listed
                .map(|(loaded, remaining)| RawListed { loaded: loaded as f64, remaining: remaining.map(|remaining| remaining as f64) }),
            stale: status.stale,
            last_event_at: status.last_event_at.map(|at| at as f64),
            attempt: status.attempt,
            retry_at: status.retry_at.map(|at| at as f64),
            quarantined: status.quarantined.iter().map(|entry| entry.key.to_string()).collect(),
        }
    }
}

/// Numbers of one resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawStats {
    pub(super) objects: f64,
    pub(super) bytes: f64,
    pub(super) events: f64,
    pub(super) lists: f64,
    pub(super) history: f64,
    pub(super) history_capacity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history_ms: Option<f64>,
    pub(super) history_bytes: f64,
    pub(super) history_increases: f64,
    pub(super) history_decreases: f64,
    pub(super) watchers: f64,
    pub(super) views: f64,
    pub(super) delivered: f64,
    pub(super) visited: f64,
    pub(super) terminated: f64,
    pub(super) flushes: f64,
    pub(super) pinned: f64,
    pub(super) metrics: BTreeMap<String, f64>,
}

/// How this build was made.
#[derive(Debug, Serialize)]
pub(super) struct BuildInfo {
    pub(super) version: &'static str,
    pub(super) simd: bool,
}
