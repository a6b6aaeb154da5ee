//! Option bags as JavaScript gives them: each member is carried over, what is unset stays so, and what it means is the core's to say.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::cache::{DEFAULT_WAIT, Deleting, ListOptions, ResourceConfig};
use crate::informer::{HandlerRequest, Indexer, InformerOptions};
use crate::source::{DeleteOptions, Narrow, Patch, PatchType, Preconditions, WriteParameters};
use crate::store::{IndexSpec, WindowBounds, WindowRequest};
use crate::time::Millis;
use crate::view::{SearchOptions, ViewOptions};
use crate::watch::{OnOverflow, WatchOptions};
use crate::web::bag::Bag;
use crate::web::error::to_js;
use crate::web::runtime::{peers, random_seed};
use crate::web::values::{bound, millis};

/// How a resource is opened.
pub(in crate::web) struct Opening {
    /// The options that were given, in place of the core's defaults.
    pub(in crate::web) config: ResourceConfig,
    /// The time between two polls, where it is polled.
    pub(in crate::web) poll: Option<Millis>,
    /// Its namespaces, where it is of several.
    pub(in crate::web) namespaces: Option<Vec<String>>,
}

/// Options of a resource.
pub(in crate::web) fn resource_options(value: JsValue) -> Result<Opening, JsValue> {
    let given = Bag::new("options", value);
    let (retry, history) = (given.bag("retry"), given.bag("history"));
    let mut config = ResourceConfig::named(given.required::<String>("name"));
    given.put("strip", &mut config.strip);
    config.trigger = given.get("trigger");
    config.window = WindowBounds::asked(WindowRequest {
        fresh_ms: history.get("minMs").map(millis),
        lower: history.get::<u32>("minEvents").map(|events| events as usize),
        upper: history.get::<u32>("maxEvents").map(|events| events as usize),
        max_bytes: history.get("maxBytes").map(bound),
    });
    let indexes = given.list("indexes").iter().map(index).collect();
    config.indexes = IndexSpec::read(indexes).map_err(|error| to_js(&error))?;
    given.put("checkConsistency", &mut config.check_consistency);
    let reflector = &mut config.reflector;
    given.put("pageSize", &mut reflector.page_size);
    given.put("watchList", &mut reflector.watch_list);
    given.put_millis("idleTimeout", &mut reflector.idle_timeout_ms);
    retry.put_millis("initialMs", &mut reflector.retry.initial_ms);
    retry.put("factor", &mut reflector.retry.factor);
    retry.put_millis("capMs", &mut reflector.retry.cap_ms);
    retry.put("jitter", &mut reflector.retry.jitter);
    retry.put_millis("resetAfterMs", &mut reflector.retry.reset_after_ms);
    reflector.peers = peers();
    reflector.seed = random_seed();
    let (poll, namespaces) = (given.get("pollMs").map(millis), given.get("namespaces"));
    given.check().map(|()| Opening { config, poll, namespaces })
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
        changes_of: given.get("changesOf"),
        judged: given.get("judged").unwrap_or_default(),
        resync_period: given.get("resyncPeriod").map(millis),
        coalesce: given.get("coalesce").unwrap_or_default(),
        buffer_size: given.get("bufferSize").map(bound),
    };
    given.check().map(|()| request)
}

/// Options of a deletion.
pub(super) fn delete_options(value: JsValue) -> Result<DeleteOptions, JsValue> {
    let given = Bag::new("delete options", value);
    let options = deletion(&given);
    given.check().map(|()| options)
}

/// Options of a deletion of many.
pub(super) fn deleting(value: JsValue) -> Result<Deleting, JsValue> {
    let given = Bag::new("delete options", value);
    let narrow =
        Narrow { namespace: given.get("namespace"), labels: given.get("labelSelector"), fields: given.get("fieldSelector"), name: None };
    let deleting = Deleting { narrow, options: deletion(&given) };
    given.check().map(|()| deleting)
}

fn deletion(given: &Bag) -> DeleteOptions {
    let preconditions = given.bag("preconditions");
    DeleteOptions {
        preconditions: Preconditions { uid: preconditions.get("uid"), resource_version: preconditions.get("resourceVersion") },
        grace_period_seconds: given.get("gracePeriodSeconds"),
        propagation_policy: given.get("propagationPolicy"),
        dry_run: given.get("dryRun").unwrap_or_default(),
    }
}

/// What a write says beside its document.
pub(super) fn write_parameters(value: JsValue) -> Result<WriteParameters, JsValue> {
    let given = Bag::new("write options", value);
    let parameters = parameters(&given);
    given.check().map(|()| parameters)
}

fn parameters(given: &Bag) -> WriteParameters {
    WriteParameters {
        subresource: given.get("subresource"),
        dry_run: given.get("dryRun").unwrap_or_default(),
        field_manager: given.get("fieldManager"),
        field_validation: given.get("fieldValidation"),
    }
}

/// A patch, and what else is said.
pub(super) fn patch_of(document: Vec<u8>, value: JsValue) -> Result<(Patch, WriteParameters), JsValue> {
    let given = Bag::new("patch options", value);
    let kind = PatchType::parse(&given.required::<String>("type"));
    let force = given.get("force").unwrap_or_default();
    let parameters = parameters(&given);
    given.check()?;
    let kind = kind.map_err(|error| to_js(&error))?;
    Ok((Patch { kind, document, force }, parameters))
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
        changes_of: given.get("changesOf"),
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
pub(in crate::web) fn view_options(value: JsValue) -> Result<ViewOptions, JsValue> {
    let given = Bag::new("view", value);
    let level = |level: Bag| (level.required("path"), level.get("descending").unwrap_or_default(), level.get("as"));
    let search = given.bag("search");
    let options = ViewOptions {
        namespaces: given.get("namespaces"),
        label_selector: given.get("labelSelector"),
        field_selector: given.get("fieldSelector"),
        search: search.get("text").map(|text| SearchOptions { text, paths: search.get("paths") }),
        order: given.list("orderBy").into_iter().map(level).collect(),
        group_by: given.get("groupBy"),
        select: given.get("select"),
        derive: given.list("derive").into_iter().map(|column| (column.required("name"), column.required("paths"))).collect(),
        needs_verdict: given.get("predicate").unwrap_or_default(),
        alike: given.get::<Vec<u32>>("alike").unwrap_or_default().into_iter().map(Into::into).collect(),
    };
    given.check().map(|()| options)
}
