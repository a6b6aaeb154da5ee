//! Informers and their handlers by their numbers. The facade decodes what handlers read.

use std::rc::Rc;

use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::*;

use super::options::{handler_options, indexers_of, informer_options};
use super::resource::RawResource;
use crate::informer::{HandlerId, Lister};
use crate::object::Object;
use crate::status::Error;
use crate::web::bytes::frame_bytes;
use crate::web::error::to_js;

impl RawResource {
    fn read_informer<R>(&self, informer: u32, read: impl FnOnce(Lister<'_>) -> R) -> Result<R, JsValue> {
        let resource = self.core()?;
        let now = resource.now();
        Ok(resource.with(|cacher| read(Lister::of(cacher.informers().get(informer.into()), cacher.store(), now))))
    }

    fn informer_objects(
        &self,
        informer: u32,
        read: impl FnOnce(Lister<'_>) -> Result<Vec<Rc<Object>>, Error>,
    ) -> Result<Float64Array, JsValue> {
        let objects = self.read_informer(informer, read)?.map_err(|error| to_js(&error))?;
        Ok(self.sound()?.pin_all(&objects))
    }
}

#[wasm_bindgen]
impl RawResource {
    /// Opens an informer that has not started.
    pub fn informer(&self, options: JsValue) -> Result<u32, JsValue> {
        let resource = self.core()?;
        let options = informer_options(options)?;
        Ok(resource.with(|cacher| cacher.informers_mut().open(options).number()))
    }

    /// Starts it; the stream is opened by `start`. Whether it had not started.
    #[wasm_bindgen(js_name = informerStart)]
    pub fn informer_start(&self, informer: u32) -> Result<bool, JsValue> {
        Ok(self.core()?.start_informer(informer.into()))
    }

    /// Ends it; it can still be read.
    #[wasm_bindgen(js_name = informerStop)]
    pub fn informer_stop(&self, informer: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.informers_mut().stop(informer.into()));
        Ok(())
    }

    /// Gives its id back.
    #[wasm_bindgen(js_name = informerForget)]
    pub fn informer_forget(&self, informer: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.informers_mut().forget(informer.into()));
        Ok(())
    }

    /// Whether its first state is there.
    #[wasm_bindgen(js_name = informerSynced)]
    pub fn informer_synced(&self, informer: u32) -> Result<bool, JsValue> {
        self.read_informer(informer, |lister| lister.has_synced())
    }

    /// Registers a handler.
    #[wasm_bindgen(js_name = informerHandler)]
    pub fn informer_handler(&self, informer: u32, options: JsValue) -> Result<u32, JsValue> {
        let resource = self.core()?;
        let request = handler_options(options)?;
        let now = resource.now();
        let added = resource.with(|cacher| {
            let options = request.read(&mut cacher.fields().borrow_mut())?;
            cacher.informing().add_handler(informer.into(), options, now)
        });
        added.map(HandlerId::number).map_err(|error| to_js(&error))
    }

    /// Takes a handler away.
    #[wasm_bindgen(js_name = handlerRemove)]
    pub fn handler_remove(&self, informer: u32, handler: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.informers_mut().remove_handler(informer.into(), handler.into()));
        Ok(())
    }

    /// The handler is not done with the last of so many notifications of this flush, and did not get to those after it.
    #[wasm_bindgen(js_name = handlerWaits)]
    pub fn handler_waits(&self, handler: u32, begun: u32, pace: bool) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.informers_mut().handler_waits(handler.into(), begun as usize, pace));
        Ok(())
    }

    /// The handler is done with what it was given.
    #[wasm_bindgen(js_name = handlerDone)]
    pub fn handler_done(&self, handler: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.informers_mut().handler_done(handler.into()));
        Ok(())
    }

    /// The version reached; empty before the first list.
    #[wasm_bindgen(js_name = informerVersion)]
    pub fn informer_version(&self) -> Result<String, JsValue> {
        let reached = self.core()?.with(|cacher| cacher.status().resource_version);
        Ok(reached.map(|version| version.to_string()).unwrap_or_default())
    }

    /// The object under a key; 0 when there is none.
    #[wasm_bindgen(js_name = informerGet)]
    pub fn informer_get(&self, informer: u32, key: &str) -> Result<f64, JsValue> {
        let found = self.read_informer(informer, |lister| lister.get(key).cloned())?;
        let inner = self.sound()?;
        Ok(found.map_or(0.0, |object| inner.pin(&object)))
    }

    /// The objects that a label selector lets through, of one namespace or of all, by key.
    #[wasm_bindgen(js_name = informerList)]
    pub fn informer_list(&self, informer: u32, label_selector: Option<String>, namespace: &str) -> Result<Float64Array, JsValue> {
        self.informer_objects(informer, |lister| lister.list(label_selector.as_deref(), namespace))
    }

    /// Adds indexes, given as `{ name, path? }`; without a path by a function.
    #[wasm_bindgen(js_name = informerAddIndexers)]
    pub fn informer_add_indexers(&self, informer: u32, indexers: &Array) -> Result<(), JsValue> {
        let resource = self.core()?;
        let indexers = indexers_of(indexers)?;
        resource.with(|cacher| cacher.informing().add_indexers(informer.into(), indexers)).map_err(|error| to_js(&error))
    }

    /// The objects whose values in an index by a function are missing.
    #[wasm_bindgen(js_name = informerUndecided)]
    pub fn informer_undecided(&self, informer: u32, index: &str) -> Result<Float64Array, JsValue> {
        self.informer_objects(informer, |lister| Ok(lister.undecided(index)))
    }

    /// The values of an object in such an index.
    #[wasm_bindgen(js_name = informerDecide)]
    pub fn informer_decide(&self, informer: u32, index: &str, id: f64, values: &Array) -> Result<(), JsValue> {
        let inner = self.sound()?;
        let object = inner.pinned(id)?;
        let values = values.iter().filter_map(|value| value.as_string()).map(Into::into).collect();
        inner.resource.with(|cacher| cacher.informing().decide(informer.into(), index, object.key(), object.id(), values));
        Ok(())
    }

    /// The objects that have a value in an index, by key.
    #[wasm_bindgen(js_name = informerByIndex)]
    pub fn informer_by_index(&self, informer: u32, index: &str, value: &str) -> Result<Float64Array, JsValue> {
        self.informer_objects(informer, |lister| lister.by_index(index, value))
    }

    /// Their keys.
    #[wasm_bindgen(js_name = informerIndexKeys)]
    pub fn informer_index_keys(&self, informer: u32, index: &str, value: &str) -> Result<Array, JsValue> {
        let keys = self.read_informer(informer, |lister| lister.index_keys(index, value))?;
        Ok(keys.map_err(|error| to_js(&error))?.iter().map(|key| JsValue::from_str(key)).collect())
    }

    /// The values that some object has in an index.
    #[wasm_bindgen(js_name = informerIndexValues)]
    pub fn informer_index_values(&self, informer: u32, index: &str) -> Result<Array, JsValue> {
        let values = self.read_informer(informer, |lister| lister.index_values(index))?;
        Ok(values.iter().map(|value| JsValue::from_str(value)).collect())
    }

    /// What a write elsewhere left, as JSON: readers see it until the stream brings it.
    #[wasm_bindgen(js_name = informerMutated)]
    pub fn informer_mutated(&self, document: &JsValue) -> Result<(), JsValue> {
        let resource = self.core()?;
        let document = frame_bytes(document).map_err(|error| to_js(&error))?;
        resource.mutated(&document).map_err(|error| to_js(&error))
    }
}
