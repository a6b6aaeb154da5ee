//! Live views: which rows, how many, in which order. The facade decodes the visible ones.

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::options::view_options;
use super::resource::RawResource;
use crate::object::ObjectId;
use crate::view::{RangeId, RowRange, View, ViewId};
use crate::web::error::to_js;
use crate::web::texts::parse;

impl RawResource {
    fn read_view<R: Default>(&self, view: u32, read: impl FnOnce(&View) -> R) -> Result<R, JsValue> {
        Ok(self.core()?.with(|cacher| cacher.views().read(view.into(), read)))
    }
}

#[wasm_bindgen]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl RawResource {
    /// Opens a view.
    pub fn view(&self, spec: JsValue) -> Result<u32, JsValue> {
        let resource = self.core()?;
        let options = view_options(spec)?;
        resource.open_view(&options).map(ViewId::number).map_err(|error| to_js(&error))
    }

    /// Closes a view and its ranges.
    #[wasm_bindgen(js_name = viewClose)]
    pub fn view_close(&self, view: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.views_mut().close(view.into()));
        Ok(())
    }

    /// Opens a range of a view's rows.
    #[wasm_bindgen(js_name = viewRange)]
    pub fn view_range(&self, view: u32, offset: f64, limit: f64) -> Result<u32, JsValue> {
        Ok(self.core()?.with(|cacher| cacher.views_mut().open_range(view.into(), window(offset, limit))).map_or(u32::MAX, RangeId::number))
    }

    /// Moves a range.
    #[wasm_bindgen(js_name = viewMove)]
    pub fn view_move(&self, range: u32, offset: f64, limit: f64) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.views_mut().move_range(range.into(), window(offset, limit)));
        Ok(())
    }

    /// Closes a range.
    #[wasm_bindgen(js_name = viewRangeClose)]
    pub fn view_range_close(&self, range: u32) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.views_mut().close_range(range.into()));
        Ok(())
    }

    /// Takes in what waits. A view that a flush has named is named again only after this.
    #[wasm_bindgen(js_name = viewSync)]
    pub fn view_sync(&self, view: u32) -> Result<bool, JsValue> {
        Ok(self.core()?.with(|cacher| cacher.viewing().look(view.into())))
    }

    /// Why a view has no rows any more; undefined while it has.
    #[wasm_bindgen(js_name = viewError)]
    pub fn view_error(&self, view: u32) -> Result<JsValue, JsValue> {
        Ok(self.core()?.with(|cacher| cacher.views().error(view.into()).map_or(JsValue::UNDEFINED, to_js)))
    }

    /// The rows of a range, in order.
    #[wasm_bindgen(js_name = viewRows)]
    pub fn view_rows(&self, range: u32) -> Result<Float64Array, JsValue> {
        let inner = self.sound()?;
        let rows: Vec<_> = inner.resource.with(|cacher| cacher.views().rows(range.into()).cloned().collect());
        Ok(inner.pin_all(&rows))
    }

    /// The stamps of the rows of a range, in order, where rows show selected fields. A row has another stamp when it shows something else.
    #[wasm_bindgen(js_name = viewStamps)]
    pub fn view_stamps(&self, range: u32) -> Result<Float64Array, JsValue> {
        let stamps = self.core()?.with(|cacher| cacher.views_mut().stamps(range.into()));
        let stamps: Vec<f64> = stamps.into_iter().map(|stamp| stamp as f64).collect();
        Ok(Float64Array::from(&*stamps))
    }

    /// What the rows at these positions of a range show: JSON, as `View::fields` of the core writes it.
    #[wasm_bindgen(js_name = viewFields)]
    pub fn view_fields(&self, range: u32, positions: &Float64Array) -> Result<JsValue, JsValue> {
        let positions: Vec<u32> = positions.to_vec().into_iter().map(|position| position as u32).collect();
        let text = self.core()?.with(|cacher| cacher.views().of_range(range.into()).map(|view| view.fields(range.into(), &positions)));
        parse(&text.unwrap_or_else(|| b"[]".to_vec()))
    }

    /// How many objects match.
    #[wasm_bindgen(js_name = viewTotal)]
    pub fn view_total(&self, view: u32) -> Result<f64, JsValue> {
        Ok(self.read_view(view, View::total)? as f64)
    }

    /// Values and counts, flat.
    #[wasm_bindgen(js_name = viewCounts)]
    pub fn view_counts(&self, view: u32) -> Result<Array, JsValue> {
        let counts = self.read_view(view, View::counts)?;
        Ok(counts.iter().flat_map(|(value, count)| [JsValue::from_str(value), JsValue::from_f64(*count as f64)]).collect())
    }

    /// The position of a key; -1 when it has no row.
    #[wasm_bindgen(js_name = viewIndexOf)]
    pub fn view_index_of(&self, view: u32, key: &str) -> Result<f64, JsValue> {
        Ok(self.read_view(view, |view| view.index_of(key))?.map_or(-1.0, |index| index as f64))
    }

    /// All keys, in order, with a `%` behind each, which no key contains. As one text they cross in a third of the time that they take one by one.
    #[wasm_bindgen(js_name = viewKeys)]
    pub fn view_keys(&self, view: u32) -> Result<String, JsValue> {
        self.read_view(view, |view| {
            let mut text = String::new();
            for key in view.keys() {
                text.push_str(key);
                text.push('%');
            }
            text
        })
    }

    /// Whether the list is whole and every object was asked.
    #[wasm_bindgen(js_name = viewLoaded)]
    pub fn view_loaded(&self, view: u32) -> Result<bool, JsValue> {
        self.read_view(view, View::is_loaded)
    }

    /// The objects that wait for a verdict, oldest first.
    #[wasm_bindgen(js_name = viewUndecided)]
    pub fn view_undecided(&self, view: u32) -> Result<Float64Array, JsValue> {
        let undecided = self.read_view(view, |view| view.undecided().cloned().collect::<Vec<_>>())?;
        Ok(self.sound()?.pin_all(&undecided))
    }

    /// The verdicts on them.
    #[wasm_bindgen(js_name = viewDecide)]
    pub fn view_decide(&self, view: u32, ids: &Float64Array, verdicts: &Uint8Array) -> Result<(), JsValue> {
        let (ids, verdicts) = (ids.to_vec(), verdicts.to_vec());
        self.core()?.with(|cacher| {
            for (id, verdict) in ids.iter().zip(verdicts) {
                cacher.views_mut().decide(view.into(), *id as ObjectId, verdict != 0);
            }
        });
        Ok(())
    }

    /// What the view asks of objects that wait for their place: JSON, as `View::asks` of the core writes it.
    #[wasm_bindgen(js_name = viewAsks)]
    pub fn view_asks(&self, view: u32, max: u32) -> Result<JsValue, JsValue> {
        parse(&self.core()?.with(|cacher| cacher.views_mut().asks(view.into(), max as usize)))
    }

    /// The same of the rows of a range, where these show derived columns.
    #[wasm_bindgen(js_name = viewAsksIn)]
    pub fn view_asks_in(&self, range: u32, max: u32) -> Result<JsValue, JsValue> {
        parse(&self.core()?.with(|cacher| cacher.views_mut().asks_in(range.into(), max as usize)))
    }

    /// The answers to what it asked last, as a JSON array.
    #[wasm_bindgen(js_name = viewTell)]
    pub fn view_tell(&self, view: u32, values: &str) -> Result<(), JsValue> {
        self.core()?.with(|cacher| cacher.views_mut().tell(view.into(), values));
        Ok(())
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn window(offset: f64, limit: f64) -> RowRange {
    RowRange { offset: offset.max(0.0) as usize, limit: limit.max(0.0) as usize }
}
