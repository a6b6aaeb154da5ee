//! Watches by their numbers.

use wasm_bindgen::prelude::*;

use super::options::watch_options;
use super::resource::RawResource;
use crate::watch::Demand;
use crate::web::error::to_js;
use crate::web::panic::check;

#[wasm_bindgen]
impl RawResource {
    /// Opens a watch.
    pub fn watch(&self, options: JsValue) -> Result<u32, JsValue> {
        check()?;
        let (options, wait) = watch_options(options)?;
        Ok(self.0.resource.watch(options, wait).number())
    }

    /// What the subscriber takes from now on, by its number.
    pub fn demand(&self, watcher: u32, mode: u8) -> Result<(), JsValue> {
        check()?;
        self.0.resource.demand(watcher.into(), Demand::numbered(mode).unwrap_or(Demand::None));
        Ok(())
    }

    /// Ends a watch.
    pub fn stop(&self, watcher: u32) -> Result<(), JsValue> {
        check()?;
        self.0.resource.stop(watcher.into());
        Ok(())
    }

    /// Why a watch was refused.
    pub fn refusal(&self, watcher: u32) -> Result<JsValue, JsValue> {
        check()?;
        let refusal = self.0.resource.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.refusal().cloned()));
        Ok(refusal.map_or(JsValue::UNDEFINED, |error| to_js(&error)))
    }

    /// The version from which an ended watch can be resumed.
    #[wasm_bindgen(js_name = lastVersion)]
    pub fn last_version(&self, watcher: u32) -> Result<Option<String>, JsValue> {
        check()?;
        let version =
            self.0.resource.with(|cacher| cacher.dispatcher().get(watcher.into()).and_then(|watcher| watcher.resume_from().cloned()));
        Ok(version.filter(|version| !version.is_zero()).map(|version| version.to_string()))
    }

    /// Gives a watcher's id back.
    pub fn forget(&self, watcher: u32) -> Result<(), JsValue> {
        check()?;
        self.0.resource.with(|cacher| cacher.dispatcher_mut().forget(watcher.into()));
        Ok(())
    }
}
