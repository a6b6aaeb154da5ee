//! Reads: what is held at this moment, and requests that may wait.

use js_sys::{Array, Float64Array, Object, Promise};
use wasm_bindgen::prelude::*;

use super::options::list_options;
use super::resource::{RawResource, until};
use crate::web::error::to_js;
use crate::web::values::set;

#[wasm_bindgen]
#[allow(clippy::cast_precision_loss)]
impl RawResource {
    /// The object under a key; 0 when there is none.
    pub fn peek(&self, key: &str) -> Result<f64, JsValue> {
        let inner = self.sound()?;
        let found = inner.resource.with(|cacher| cacher.store().get(key).cloned());
        Ok(found.map_or(0.0, |object| inner.pin(&object)))
    }

    /// The objects under a value of an index, by key.
    #[wasm_bindgen(js_name = byIndex)]
    pub fn by_index(&self, index: &str, value: &str) -> Result<Float64Array, JsValue> {
        let inner = self.sound()?;
        let objects =
            inner.resource.with(|cacher| cacher.store().by_index(index, value).map(|objects| objects.cloned().collect::<Vec<_>>()));
        let objects = objects.map_err(|error| to_js(&error))?;
        Ok(inner.pin_all(&objects))
    }

    /// The values of an index, in their order.
    #[wasm_bindgen(js_name = indexValues)]
    pub fn index_values(&self, index: &str) -> Result<Array, JsValue> {
        let values = self.core()?.with(|cacher| cacher.store().index_values(index)).map_err(|error| to_js(&error))?;
        Ok(values.iter().map(|value| JsValue::from_str(value)).collect())
    }

    /// How many objects are held.
    pub fn size(&self) -> Result<f64, JsValue> {
        Ok(self.core()?.with(|cacher| cacher.store().len()) as f64)
    }

    /// Lists. Given up when `over` resolves.
    pub fn list(&self, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let options = list_options("list options", options)?;

        Ok(until(over, async move {
            let listed = inner.resource.clone().list(options).await.map_err(|error| to_js(&error))?;
            let answer = Object::new();
            set(&answer, "ids", &inner.pin_all(&listed.objects));
            set(&answer, "resourceVersion", &listed.version.to_string().into());
            if let Some(token) = &listed.continue_token {
                set(&answer, "continue", &token.into());
            }
            if let Some(count) = listed.remaining {
                set(&answer, "remainingItemCount", &(count as f64).into());
            }
            if let Some(shard) = &listed.shard {
                set(&answer, "shardSelector", &shard.into());
            }
            Ok(answer.into())
        }))
    }

    /// Gets one object. Given up when `over` resolves.
    pub fn get(&self, key: String, options: JsValue, over: Promise) -> Result<Promise, JsValue> {
        let inner = self.sound()?.clone();
        let options = list_options("get options", options)?;

        Ok(until(over, async move {
            let got = inner.resource.clone().get(key, options.resource_version).await;
            got.map(|object| inner.pin(&object).into()).map_err(|error| to_js(&error))
        }))
    }
}
