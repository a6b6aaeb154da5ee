//! Live views: which rows, how many, in which order. The facade decodes the visible ones.

use std::rc::Rc;

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::object::{Object, ObjectId};
use crate::view::{View, Window};
use crate::web::error::to_js;
use crate::web::options::view_options;
use crate::web::panic::check;
use crate::web::resource::RawResource;

impl RawResource {
    fn read_view<R: Default>(&self, view: u32, read: impl FnOnce(&View) -> R) -> Result<R, JsValue> {
        check()?;
        Ok(self.resource().with(|cacher| cacher.views.get(view).map(read).unwrap_or_default()))
    }

    fn look_at(&self, view: u32, read: fn(&View) -> Vec<Rc<Object>>) -> Result<Vec<Rc<Object>>, JsValue> {
        check()?;
        Ok(self.resource().with(|cacher| cacher.views.read(view).map(read).unwrap_or_default()))
    }
}

#[wasm_bindgen]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl RawResource {
    /// Opens a view.
    pub fn view(&self, spec: JsValue) -> Result<u32, JsValue> {
        check()?;
        let options = view_options(spec)?;
        self.resource().with(|cacher| cacher.open_view(&options)).map_err(|error| to_js(&error))
    }

    /// The window's rows, in order, up to date. A view that a flush has named is named again only after this, or after `viewUndecided`.
    #[wasm_bindgen(js_name = viewRows)]
    pub fn view_rows(&self, view: u32) -> Result<Float64Array, JsValue> {
        Ok(self.pin_all(&self.look_at(view, |view| view.rows().to_vec())?))
    }

    /// How many objects match.
    #[wasm_bindgen(js_name = viewTotal)]
    pub fn view_total(&self, view: u32) -> Result<f64, JsValue> {
        Ok(self.read_view(view, View::total)? as f64)
    }

    /// Values and counts, flat.
    #[wasm_bindgen(js_name = viewCounts)]
    pub fn view_counts(&self, view: u32) -> Result<Array, JsValue> {
        let counts: Vec<(Rc<str>, usize)> =
            self.read_view(view, |view| view.counts().map(|(value, count)| (value.clone(), count)).collect())?;
        Ok(counts.iter().flat_map(|(value, count)| [JsValue::from_str(value), JsValue::from_f64(*count as f64)]).collect())
    }

    /// The position of a key; -1 when it has no row.
    #[wasm_bindgen(js_name = viewIndexOf)]
    pub fn view_index_of(&self, view: u32, key: &str) -> Result<f64, JsValue> {
        Ok(self.read_view(view, |view| view.index_of(key))?.map_or(-1.0, |index| index as f64))
    }

    /// Moves the window.
    #[wasm_bindgen(js_name = viewWindow)]
    pub fn view_window(&self, view: u32, offset: f64, limit: f64) -> Result<(), JsValue> {
        check()?;
        let window = Window { offset: offset.max(0.0) as usize, limit: limit.max(0.0) as usize };
        self.resource().with(|cacher| {
            if let Some(view) = cacher.views.get_mut(view) {
                view.set_window(window);
            }
        });
        Ok(())
    }

    /// The objects that wait for a verdict, oldest first.
    #[wasm_bindgen(js_name = viewUndecided)]
    pub fn view_undecided(&self, view: u32) -> Result<Float64Array, JsValue> {
        Ok(self.pin_all(&self.look_at(view, |view| view.undecided().cloned().collect())?))
    }

    /// The verdicts on them.
    #[wasm_bindgen(js_name = viewDecide)]
    pub fn view_decide(&self, view: u32, ids: &Float64Array, verdicts: &Uint8Array) -> Result<(), JsValue> {
        check()?;
        let (ids, verdicts) = (ids.to_vec(), verdicts.to_vec());
        self.resource().with(|cacher| {
            if let Some(view) = cacher.views.get_mut(view) {
                for (id, verdict) in ids.iter().zip(verdicts) {
                    view.decide(*id as ObjectId, verdict != 0);
                }
            }
        });
        Ok(())
    }

    /// Closes a view.
    #[wasm_bindgen(js_name = viewClose)]
    pub fn view_close(&self, view: u32) -> Result<(), JsValue> {
        check()?;
        self.resource().with(|cacher| cacher.views.close(view));
        Ok(())
    }
}
