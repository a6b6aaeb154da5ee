//! Watches by their numbers.

use wasm_bindgen::prelude::*;

use super::options::watch_options;
use super::resource::RawResource;
use crate::watch::{Demand, Watcher};
use crate::web::error::to_js;

#[wasm_bindgen]
impl RawResource {
    /// Opens a watch.
    pub fn watch(&self, options: JsValue) -> Result<u32, JsValue> {
        let resource = self.core()?;
        let (options, wait) = watch_options(options)?;
        Ok(resource.watch(options, wait).number())
    }

    /// What the subscriber takes from now on, by its number.
    pub fn demand(&self, watcher: u32, mode: u8) -> Result<(), JsValue> {
        let demand = Demand::numbered(mode).map_err(|error| to_js(&error))?;
        self.core()?.demand(watcher.into(), demand);
        Ok(())
    }

    /// Ends a watch.
    pub fn stop(&self, watcher: u32) -> Result<(), JsValue> {
        self.core()?.stop(watcher.into());
        Ok(())
    }

    /// Why a watch was refused.
    pub fn refusal(&self, watcher: u32) -> Result<JsValue, JsValue> {
        let refusal = self.core()?.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.refusal().cloned()));
        Ok(refusal.map_or(JsValue::UNDEFINED, |error| to_js(&error)))
    }

    /// The version from which an ended watch can be resumed.
    #[wasm_bindgen(js_name = lastVersion)]
    pub fn last_version(&self, watcher: u32) -> Result<Option<String>, JsValue> {
        let version =
            self.core()?.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.resume_from().cloned()));
        Ok(version.map(|version| version.to_string()))
    }

    /// Whether a subscriber that missed what waits can go on from the last version that it saw.
    #[wasm_bindgen(js_name = resumesFromSeen)]
    pub fn resumes_from_seen(&self, watcher: u32, past_initial_events: bool) -> Result<bool, JsValue> {
        let watcher = watcher.into();
        let resumes = |watcher: &Watcher| watcher.resumes_from_seen(past_initial_events);
        Ok(self.core()?.with(|cacher| cacher.dispatcher().get(watcher).is_some_and(resumes)))
    }

    /// Gives a watcher's id back.
    pub fn forget(&self, watcher: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.dispatcher_mut().forget(watcher.into()));
        Ok(())
    }
}
