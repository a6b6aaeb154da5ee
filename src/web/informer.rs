//! Informers: calls in, packed notices out. The facade decodes what handlers read.

use std::rc::Rc;

use js_sys::{Array, Float64Array, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::informer::{DEFAULT_BOUND, HandlerId, HandlerOptions, Indexer, Informer, InformerOptions, Notifications};
use crate::json::path::Path;
use crate::object::{Object, ObjectId};
use crate::runtime::Millis;
use crate::selector::FilterText;
use crate::web::bytes::frame_bytes;
use crate::web::error::{invalid_option, to_js};
use crate::web::panic::check;
use crate::web::resource::{RawResource, Scratch};
use crate::web::values::{self, property, text};

/// What a flush tells handlers, as it crosses.
pub(super) struct PackedNotices {
    pub(super) table: Float64Array,
    pub(super) pairs: Uint32Array,
    pub(super) handlers: Uint32Array,
    pub(super) informers: Uint32Array,
    pub(super) interruptions: Array,
}

impl PackedNotices {
    /// Flat `[kind, id, id of the old object]`; 0 where there is none. Each id is pinned once.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn of(notices: &Notifications, pin: &dyn Fn(&Rc<Object>) -> f64, scratch: &mut Scratch) -> Self {
        let pinned = |object: &Option<Rc<Object>>| object.as_ref().map_or(0.0, pin);
        let mut table = Vec::with_capacity(notices.table.len() * 3);
        for notice in &notices.table {
            table.extend_from_slice(&[f64::from(notice.kind as u8), pinned(&notice.object), pinned(&notice.old)]);
        }
        let interruption = |interruption: &crate::informer::Interruption| {
            let value = js_sys::Object::new();
            let set = |name: &str, held: &JsValue| {
                let _plain = Reflect::set(&value, &name.into(), held);
            };
            set("phase", &interruption.phase.as_str().into());
            set("error", &to_js(&interruption.error));
            set("stale", &interruption.stale.into());
            if let Some(at) = interruption.retry_at {
                set("retryAt", &(at as f64).into());
            }
            if let Some(key) = &interruption.key {
                set("key", &(&**key).into());
            }
            if let Some(informer) = interruption.ended {
                set("ended", &informer.number().into());
            }
            JsValue::from(value)
        };
        Self {
            table: scratch.events(&table),
            pairs: scratch.pairs(&notices.pairs),
            handlers: scratch.rare(&notices.handlers_synced.iter().map(|id| id.number()).collect::<Vec<_>>()),
            informers: scratch.rare(&notices.informers_synced.iter().map(|id| id.number()).collect::<Vec<_>>()),
            interruptions: match notices.interruptions.as_slice() {
                [] => scratch.empty(),
                all => all.iter().map(interruption).collect(),
            },
        }
    }
}

impl RawResource {
    fn read_informer<R: Default>(&self, informer: u32, read: impl FnOnce(&Informer) -> R) -> Result<R, JsValue> {
        check()?;
        Ok(self.resource().with(|cacher| cacher.informers().get(informer.into()).map(read).unwrap_or_default()))
    }
}

#[wasm_bindgen]
impl RawResource {
    /// Opens an informer that has not started.
    pub fn informer(&self, options: &JsValue) -> Result<u32, JsValue> {
        check()?;
        let options = InformerOptions {
            resync_period: millis(options, "resyncPeriod").unwrap_or(0),
            relist_updates: flag(options, "relistUpdates"),
            read_your_writes: flag(options, "readYourWrites"),
        };
        Ok(self.resource().with(|cacher| cacher.informers_mut().open(options).number()))
    }

    /// Starts it; the stream is opened by `start`. Whether it had not started.
    #[wasm_bindgen(js_name = informerStart)]
    pub fn informer_start(&self, informer: u32) -> Result<bool, JsValue> {
        check()?;
        Ok(self.resource().start_informer(informer.into()))
    }

    /// Ends it; it can still be read.
    #[wasm_bindgen(js_name = informerStop)]
    pub fn informer_stop(&self, informer: u32) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.informers_mut().stop(informer.into()));
        Ok(())
    }

    /// Gives its id back.
    #[wasm_bindgen(js_name = informerForget)]
    pub fn informer_forget(&self, informer: u32) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.informers_mut().forget(informer.into()));
        Ok(())
    }

    /// Whether its first state is there.
    #[wasm_bindgen(js_name = informerSynced)]
    pub fn informer_synced(&self, informer: u32) -> Result<bool, JsValue> {
        self.read_informer(informer, Informer::has_synced)
    }

    /// Registers a handler.
    #[wasm_bindgen(js_name = informerHandler)]
    pub fn informer_handler(&self, informer: u32, options: &JsValue) -> Result<u32, JsValue> {
        check()?;
        let (namespace, labels, fields) = (text(options, "namespace"), text(options, "labelSelector"), text(options, "fieldSelector"));
        let resource = self.resource();
        let now = resource.now();
        let added = resource.with(|cacher| {
            let filter = cacher.filter(FilterText {
                namespace: namespace.as_deref(),
                labels: labels.as_deref(),
                fields: fields.as_deref(),
                ..FilterText::default()
            })?;
            let options = HandlerOptions {
                resync_period: millis(options, "resyncPeriod"),
                coalesce: flag(options, "coalesce"),
                bound: whole(options, "bufferSize").unwrap_or(DEFAULT_BOUND),
                filter: (!filter.is_everything()).then_some(filter),
            };
            cacher.add_handler(informer.into(), options, now)
        });
        added.map(HandlerId::number).map_err(|error| to_js(&error))
    }

    /// Takes a handler away.
    #[wasm_bindgen(js_name = handlerRemove)]
    pub fn handler_remove(&self, informer: u32, handler: u32) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.informers_mut().remove_handler(informer.into(), handler.into()));
        Ok(())
    }

    /// The handler is not done with the last of so many notices of this flush, and did not get to those after it.
    #[wasm_bindgen(js_name = handlerWaits)]
    pub fn handler_waits(&self, handler: u32, begun: u32, pace: bool) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.informers_mut().handler_waits(handler.into(), begun as usize, pace));
        Ok(())
    }

    /// The handler is done with what it was given.
    #[wasm_bindgen(js_name = handlerDone)]
    pub fn handler_done(&self, handler: u32) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.informers_mut().handler_done(handler.into()));
        Ok(())
    }

    /// The version reached; empty before the first list.
    #[wasm_bindgen(js_name = informerVersion)]
    pub fn informer_version(&self) -> Result<String, JsValue> {
        check()?;
        Ok(self.resource().with(|cacher| if cacher.standing().is_listed() { cacher.version().to_string() } else { String::new() }))
    }

    /// The object under a key; 0 when there is none.
    #[wasm_bindgen(js_name = informerGet)]
    pub fn informer_get(&self, informer: u32, key: &str) -> Result<f64, JsValue> {
        check()?;
        let now = self.resource().now();
        let found = self.resource().with(|cacher| cacher.informers().get(informer.into())?.get(key, cacher.store(), now).cloned());
        Ok(found.map_or(0.0, |object| self.pin(&object)))
    }

    /// The objects that a label selector lets through, of one namespace or of all, by key.
    #[wasm_bindgen(js_name = informerList)]
    pub fn informer_list(&self, informer: u32, label_selector: Option<String>, namespace: &str) -> Result<Float64Array, JsValue> {
        check()?;
        let now = self.resource().now();
        let listed = self.resource().with(|cacher| {
            let filter = cacher.filter(FilterText { labels: label_selector.as_deref(), ..FilterText::default() })?;
            let mut objects =
                cacher.informers().get(informer.into()).map(|held| held.list(namespace, cacher.store(), now)).unwrap_or_default();
            let fields = cacher.fields().borrow();
            objects.retain(|object| filter.passes(object, &fields));
            Ok(objects)
        });
        let objects: Vec<Rc<Object>> = listed.map_err(|error| to_js(&error))?;
        Ok(self.pin_all(&objects))
    }

    /// Adds indexes, given as `{ name, path? }`; without a path by a function.
    #[wasm_bindgen(js_name = informerAddIndexers)]
    pub fn informer_add_indexers(&self, informer: u32, indexers: &Array) -> Result<(), JsValue> {
        check()?;
        let mut read = Vec::with_capacity(indexers.length() as usize);
        for indexer in indexers.iter() {
            let name = text(&indexer, "name").unwrap_or_default();
            let path = match text(&indexer, "path") {
                None => None,
                Some(path) => {
                    let parsed = Path::parse(&path);
                    Some(parsed.map_err(|error| to_js(&invalid_option(&format!("indexers.{name}"), &error.to_string())))?)
                }
            };
            read.push(Indexer { name, path });
        }
        self.resource().with(|cacher| cacher.add_indexers(informer.into(), read)).map_err(|error| to_js(&error))
    }

    /// The objects whose values in an index by a function are missing.
    #[wasm_bindgen(js_name = informerUndecided)]
    pub fn informer_undecided(&self, informer: u32, index: &str) -> Result<Float64Array, JsValue> {
        check()?;
        let now = self.resource().now();
        let objects = self.resource().with(|cacher| cacher.undecided(informer.into(), index, now));
        Ok(self.pin_all(&objects))
    }

    /// The values of an object in such an index.
    #[wasm_bindgen(js_name = informerDecide)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn informer_decide(&self, informer: u32, index: &str, id: f64, values: &Array) -> Result<(), JsValue> {
        let object = self.pinned(id)?;
        let values = values.iter().filter_map(|value| value.as_string()).map(Into::into).collect();
        self.resource().with(|cacher| cacher.decide(informer.into(), index, object.key(), id as ObjectId, values));
        Ok(())
    }

    /// The objects that have a value in an index, by key.
    #[wasm_bindgen(js_name = informerByIndex)]
    pub fn informer_by_index(&self, informer: u32, index: &str, value: &str) -> Result<Float64Array, JsValue> {
        check()?;
        let now = self.resource().now();
        let found = self.resource().with(|cacher| match cacher.informers().get(informer.into()) {
            Some(held) => held.by_index(index, value, cacher.store(), now),
            None => Ok(Vec::new()),
        });
        Ok(self.pin_all(&found.map_err(|error| to_js(&error))?))
    }

    /// Their keys.
    #[wasm_bindgen(js_name = informerIndexKeys)]
    pub fn informer_index_keys(&self, informer: u32, index: &str, value: &str) -> Result<Array, JsValue> {
        check()?;
        let now = self.resource().now();
        let found = self.resource().with(|cacher| match cacher.informers().get(informer.into()) {
            Some(held) => held.index_keys(index, value, cacher.store(), now),
            None => Ok(Vec::new()),
        });
        Ok(found.map_err(|error| to_js(&error))?.iter().map(|key| JsValue::from_str(key)).collect())
    }

    /// The values that some object has in an index.
    #[wasm_bindgen(js_name = informerIndexValues)]
    pub fn informer_index_values(&self, informer: u32, index: &str) -> Result<Array, JsValue> {
        check()?;
        let values = self.resource().with(|cacher| {
            let informer = cacher.informers().get(informer.into());
            informer.map(|held| held.index_values(index, cacher.store())).unwrap_or_default()
        });
        Ok(values.iter().map(|value| JsValue::from_str(value)).collect())
    }

    /// What a write elsewhere left, as JSON: readers see it until the stream brings it.
    #[wasm_bindgen(js_name = informerMutated)]
    pub fn informer_mutated(&self, document: &JsValue) -> Result<(), JsValue> {
        check()?;
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        self.resource().mutated(&document).map_err(|error| to_js(&error))
    }
}

fn flag(options: &JsValue, name: &str) -> bool {
    property(options, name).is_some_and(|value| value.is_truthy())
}

fn millis(options: &JsValue, name: &str) -> Option<Millis> {
    property(options, name).and_then(|value| value.as_f64()).map(values::millis)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(options: &JsValue, name: &str) -> Option<usize> {
    property(options, name).and_then(|value| value.as_f64()).map(|value| value.max(0.0) as usize)
}
