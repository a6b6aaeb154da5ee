//! Option bags as JavaScript gives them: each member is carried over, what is unset stays so, and what it means is the core's to say.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::cache::ResourceConfig;
use crate::cache::{DEFAULT_WAIT, ListOptions};
use crate::informer::{HandlerRequest, Indexer, InformerOptions};
use crate::json::path::Path;
use crate::reflector::{ReflectorConfig, Retry};
use crate::selector::parse_path;
use crate::source::{DeleteOptions, Preconditions};
use crate::store::{IndexSpec, WindowBounds};
use crate::view::ViewOptions;
use crate::watch::{OnOverflow, WatchOptions};
use crate::web::bag::Bag;
use crate::web::error::to_js;
use crate::web::runtime::peers;
use crate::web::values::{bytes, millis};

/// Options of a resource, complete: the facade fills in the defaults.
pub(in crate::web) struct RawOptions {
    pub(in crate::web) strip: Vec<Path>,
    pub(in crate::web) trigger: Option<Path>,
    pub(in crate::web) config: ResourceConfig,
}

impl RawOptions {
    pub(in crate::web) fn read(value: JsValue) -> Result<Self, JsValue> {
        let given = Bag::new("options", value);
        let (retry, history) = (given.bag("retry"), given.bag("history"));
        let strip: Vec<String> = given.required("strip");
        let trigger: Option<String> = given.get("trigger");
        let indexes = given.list("indexes").iter().map(index).collect();
        let config = ResourceConfig {
            name: given.required("name"),
            window: WindowBounds::asked(
                millis(history.required("minMs")),
                history.required::<u32>("minEvents") as usize,
                history.get::<u32>("maxEvents").map(|most| most as usize),
                bytes(history.required("maxBytes")),
            ),
            indexes: IndexSpec::read(indexes).map_err(|error| to_js(&error))?,
            check_consistency: given.required("checkConsistency"),
            reflector: ReflectorConfig {
                page_size: given.required("pageSize"),
                watch_list: given.required("watchList"),
                idle_timeout_ms: millis(given.required("idleTimeout")),
                retry: Retry {
                    initial_ms: millis(retry.required("initialMs")),
                    factor: retry.required("factor"),
                    cap_ms: millis(retry.required("capMs")),
                    jitter: retry.required("jitter"),
                    reset_after_ms: millis(retry.required("resetAfterMs")),
                },
                peers: peers(),
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
    parse_path(option, text).map_err(|error| to_js(&error))
}

/// An index: its name, and its path unless it goes by a function.
fn index(given: &Bag) -> (String, Option<String>) {
    (given.required("name"), given.get("path"))
}

/// The indexes that are added to an informer.
pub(super) fn indexers_of(value: &Array) -> Result<Vec<Indexer>, JsValue> {
    let given = Bag::new("indexers", JsValue::UNDEFINED);
    let indexers = given.each(value).iter().map(index).collect();
    given.check()?;
    let paths = IndexSpec::paths(indexers).map_err(|error| to_js(&error))?;
    Ok(paths.into_iter().map(|(name, path)| Indexer { name, path }).collect())
}

/// Options of an informer.
pub(super) fn informer_options(value: JsValue) -> Result<InformerOptions, JsValue> {
    let given = Bag::new("informer", value);
    let options = InformerOptions {
        resync_period: given.get("resyncPeriod").map(millis).unwrap_or_default(),
        relist_updates: given.get("relistUpdates").unwrap_or_default(),
        read_your_writes: given.get("readYourWrites").unwrap_or_default(),
    };
    given.check().map(|()| options)
}

/// Options of a handler.
pub(super) fn handler_options(value: JsValue) -> Result<HandlerRequest, JsValue> {
    let given = Bag::new("handler", value);
    let request = HandlerRequest {
        namespace: given.get("namespace"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        resync_period: given.get("resyncPeriod").map(millis),
        coalesce: given.get("coalesce").unwrap_or_default(),
        buffer_size: given.get("bufferSize").map(bytes),
    };
    given.check().map(|()| request)
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

/// Options of a watch, and whether it waits.
pub(super) fn watch_options(value: JsValue) -> Result<(WatchOptions, bool), JsValue> {
    let given = Bag::new("watch options", value);
    let on_overflow = given.get::<String>("onOverflow").map(|text| OnOverflow::parse(&text)).transpose();
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
        allow_watch_bookmarks: given.get("allowWatchBookmarks").unwrap_or_default(),
        timeout_seconds: given.get("timeoutSeconds"),
        buffer_size: given.get::<u32>("bufferSize").map(|size| size as usize),
        on_overflow: on_overflow.map_err(|error| to_js(&error))?.unwrap_or_default(),
    };
    let wait = given.get("wait").unwrap_or(DEFAULT_WAIT);
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
        wait: given.get("wait").unwrap_or(DEFAULT_WAIT),
    };
    given.check().map(|()| options)
}

/// What a view shows.
pub(super) fn view_options(value: JsValue) -> Result<ViewOptions, JsValue> {
    let given = Bag::new("view", value);
    let level = |level: Bag| (level.required("path"), level.get("descending").unwrap_or_default(), level.get("as"));
    let options = ViewOptions {
        namespaces: given.get("namespaces"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        order: given.list("orderBy").into_iter().map(level).collect(),
        group_by: given.get("groupBy"),
        predicate: given.get("predicate").unwrap_or_default(),
    };
    given.check().map(|()| options)
}
