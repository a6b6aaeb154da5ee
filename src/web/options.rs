//! Option bags as JavaScript gives them.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::cache::{ListOptions, ResourceConfig};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::reflector::{ReflectorConfig, Retry};
use crate::selector::{Filter, FilterText};
use crate::source::kubernetes::Selection;
use crate::source::{DeleteOptions, Preconditions};
use crate::store::WindowBounds;
use crate::store::{IndexBy, IndexSpec};
use crate::view::ViewOptions;
use crate::watch::{OnOverflow, WatchOptions};
use crate::web::bag::Bag;
use crate::web::error::{invalid_option, to_js};
use crate::web::values::{cast, millis, text};

/// The longest wait between two tries that can be asked for: who wants none asks for none, and a wait without end is none.
const DAY_MS: f64 = 86_400_000.0;

/// Options of a resource, complete: the facade fills in the defaults.
pub(super) struct RawOptions {
    pub(super) strip: Vec<Path>,
    pub(super) trigger: Option<Path>,
    pub(super) config: ResourceConfig,
}

impl RawOptions {
    pub(super) fn read(value: JsValue) -> Result<Self, JsValue> {
        let given = Bag::new("options", value);
        let retry = given.bag("retry");
        let strip: Vec<String> = given.required("strip");
        let trigger: Option<String> = given.get("trigger");
        let config = ResourceConfig {
            name: given.required("name"),
            window: window(&given.bag("history")),
            indexes: indexes(&given.list("indexes"))?,
            check_consistency: given.required("checkConsistency"),
            reflector: ReflectorConfig {
                page_size: given.required("pageSize"),
                watch_list: given.required("watchList"),
                idle_timeout_ms: millis(given.within("idleTimeout", 1.0..=f64::INFINITY)),
                retry: Retry {
                    initial_ms: millis(retry.within("initialMs", 1.0..=DAY_MS)),
                    factor: retry.within("factor", 1.0..=100.0),
                    cap_ms: millis(retry.within("capMs", 1.0..=DAY_MS)),
                    jitter: retry.within("jitter", 0.0..=100.0),
                    reset_after_ms: millis(retry.within("resetAfterMs", 0.0..=f64::INFINITY)),
                },
                peers: crate::web::runtime::peers(),
                // Pages that wake together must not come back together.
                seed: (js_sys::Math::random() * 9_007_199_254_740_991.0) as u64,
                ..ReflectorConfig::default()
            },
        };
        given.check()?;
        Ok(Self {
            strip: strip.iter().map(|text| path("strip", text)).collect::<Result<_, _>>()?,
            trigger: trigger.map(|text| path("trigger", &text)).transpose()?,
            config,
        })
    }
}

fn path(option: &str, text: &str) -> Result<Path, JsValue> {
    Path::parse(text).map_err(|error| to_js(&invalid_option(option, &error.to_string())))
}

/// Whether a text can be read as this option's: a selector where the option is named as one, else a path.
pub(super) fn check_grammar(option: &str, text: &str) -> Result<(), JsValue> {
    let given = |name: &str| (option == name).then_some(text);
    if !option.ends_with("Selector") {
        return path(option, text).map(drop);
    }
    let filter = Filter::new(
        FilterText { labels: given("labelSelector"), fields: given("fieldSelector"), ..FilterText::default() },
        &mut FieldSet::new(Vec::new()),
    );
    filter.and_then(|filter| filter.with_shard(given("shardSelector"))).map(drop).map_err(|error| to_js(&error))
}

fn window(given: &Bag) -> WindowBounds {
    let default = WindowBounds::for_freshness(millis(given.required("minMs")));
    let least = given.required::<u32>("minEvents") as usize;
    WindowBounds {
        lower: least,
        // As many as the time asks for, and never fewer than the least.
        upper: given.get::<u32>("maxEvents").map_or(default.upper.max(least), |most| most as usize),
        max_bytes: bytes(given.required("maxBytes")),
        ..default
    }
}

/// An index is by a path, or without one by the facade's function for it: the values of those come in the order of these.
fn indexes(given: &[Bag]) -> Result<Vec<IndexSpec>, JsValue> {
    let mut computed = 0..;
    let index = |given: &Bag| {
        let name: String = given.required("name");
        let by = match given.get::<String>("path") {
            None => IndexBy::Computed(computed.next().unwrap_or_default()),
            Some(text) => IndexBy::Path(path(&format!("indexes.{name}"), &text)?),
        };
        Ok(IndexSpec { name, by })
    };
    given.iter().map(index).collect()
}

/// A number of bytes; more than there can be is no bound.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn bytes(value: f64) -> usize {
    value.max(0.0) as usize
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
pub(super) fn delete_options(value: JsValue) -> Result<DeleteOptions, JsValue> {
    let given = Bag::new("delete options", value);
    let preconditions = given.bag("preconditions");
    let options = DeleteOptions {
        preconditions: Preconditions { uid: preconditions.get("uid"), resource_version: preconditions.get("resourceVersion") },
        grace_period_seconds: given.get("gracePeriodSeconds"),
        propagation_policy: given.get("propagationPolicy"),
    };
    given.check().map(|()| options)
}

/// Options of a watch, and whether it waits. Fails with `invalid` for a word that `onOverflow` does not know.
pub(super) fn watch_options(value: JsValue) -> Result<(WatchOptions, bool), JsValue> {
    let given = Bag::new("watch options", value);
    let on_overflow = match given.get::<String>("onOverflow") {
        None => OnOverflow::default(),
        Some(text) => OnOverflow::parse(&text)
            .ok_or_else(|| to_js(&invalid_option("onOverflow", &format!("is one of terminate, resync, coalesce, not {text:?}"))))?,
    };
    let options = WatchOptions {
        namespace: given.get("namespace"),
        name: given.get("name"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        shard_selector: given.get("shardSelector"),
        resource_version: given.get("resourceVersion"),
        resource_version_match: given.get("resourceVersionMatch"),
        continue_token: None,
        send_initial_events: given.get("sendInitialEvents"),
        allow_watch_bookmarks: given.get("allowWatchBookmarks").unwrap_or(false),
        timeout_seconds: given.get::<u32>("timeoutSeconds").filter(|seconds| *seconds > 0),
        buffer_size: given.get::<u32>("bufferSize").map(|size| size as usize),
        on_overflow,
    };
    let wait = given.get("wait").unwrap_or(true);
    given.check().map(|()| (options, wait))
}

/// Options of a list or get.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn list_options(what: &'static str, value: JsValue) -> Result<ListOptions, JsValue> {
    let given = Bag::new(what, value);
    let options = ListOptions {
        namespace: given.get("namespace"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        shard_selector: given.get("shardSelector"),
        resource_version: given.get("resourceVersion"),
        resource_version_match: given.get("resourceVersionMatch"),
        limit: given.get::<f64>("limit").map_or(0, |limit| limit as i64),
        continue_token: given.get("continue"),
        wait: given.get("wait").unwrap_or(true),
    };
    given.check().map(|()| options)
}

/// What a view shows.
pub(super) fn view_options(value: JsValue) -> Result<ViewOptions, JsValue> {
    let given = Bag::new("view", value);
    let level = |level: Bag| (level.required("path"), level.get("descending").unwrap_or(false), level.get("as"));
    let options = ViewOptions {
        namespaces: given.get("namespaces"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        order: given.list("orderBy").into_iter().map(level).collect(),
        group_by: given.get("groupBy"),
        predicate: given.get("predicate").unwrap_or(false),
    };
    given.check().map(|()| options)
}
