//! Objects by their ids: decoded, as bytes, field by field, and given back.

use std::rc::Rc;

use js_sys::{Array, Float64Array, JSON, JsString, Uint8Array};
use wasm_bindgen::prelude::*;

use super::pins::to_id;
use super::resource::RawResource;
use crate::json::scalar::Scalar;
use crate::json::write::quoted;
use crate::json::{Columns, patch};
use crate::object::{Object, array_of, texts_of};
use crate::selector::{differs, parse_path};
use crate::web::error::to_js;
use crate::web::texts::{parse, short, stored};
use crate::web::values::bound;

#[wasm_bindgen]
impl RawResource {
    /// Decodes an object.
    pub fn parse(&self, id: f64) -> Result<JsValue, JsValue> {
        parse(&self.sound()?.pinned(id)?.lend())
    }

    /// JavaScript is about to decode this object. The number of the newest version of it that was decoded before, unless that was long ago;
    /// 0 if there is none. It may have been given back since.
    #[allow(clippy::cast_precision_loss)]
    pub fn predecessor(&self, id: f64) -> Result<f64, JsValue> {
        let inner = self.sound()?;
        let object = inner.pinned(id)?;
        Ok(inner.delivery.pins.0.decode(&object).map_or(0.0, |before| before as f64))
    }

    /// The same of many objects.
    pub fn predecessors(&self, ids: &Float64Array) -> Result<Vec<f64>, JsValue> {
        ids.to_vec().into_iter().map(|id| self.predecessor(id)).collect()
    }

    /// The texts of the first of these objects, at least one, with a NUL between them.
    pub fn texts(&self, ids: &Float64Array) -> Result<JsString, JsValue> {
        Ok(stored(&texts_of(&self.all_pinned(ids)?)))
    }

    /// What makes one version of an object of another: routes and values in turn. Undefined where that would save too little.
    pub fn patch(&self, from: f64, to: f64) -> Result<JsValue, JsValue> {
        let inner = self.sound()?;
        let (from, to) = (inner.pinned(from)?, inner.pinned(to)?);
        // It was found when the new version came, if the old one was decoded then.
        match to.patch_of(from.id()) {
            Some(patch) => parse(&patch),
            None => patch(&from.text(), &to.text()).map_or(Ok(JsValue::UNDEFINED), |patch| parse(&patch)),
        }
    }

    /// JavaScript wants to hold the decoded object for the sake of its next version. False if it may not. Otherwise it lets go of another one; 0 is
    /// none.
    pub fn hold(&self, id: f64, instead_of: f64) -> Result<bool, JsValue> {
        let inner = self.sound()?;
        let may = inner.resource.hold_decoded(&*inner.pinned(id)?);
        if may {
            inner.delivery.pins.0.hold(to_id(instead_of), 0);
        }
        Ok(may)
    }

    /// JavaScript holds so many bytes of frames for the sake of the next ones. False if it may not: then it lets go of all of them.
    #[wasm_bindgen(js_name = holdFrames)]
    pub fn hold_frames(&self, bytes: f64) -> Result<bool, JsValue> {
        let inner = self.sound()?;
        Ok(inner.resource.hold_frames(&inner.delivery.pins.0, bound(bytes)))
    }

    /// A copy of an object's bytes.
    pub fn raw(&self, id: f64) -> Result<Uint8Array, JsValue> {
        Ok(Uint8Array::from(&*self.sound()?.pinned(id)?.lend()))
    }

    /// A copy of the bytes of these objects, as one JSON array.
    #[wasm_bindgen(js_name = rawList)]
    pub fn raw_list(&self, ids: &Float64Array) -> Result<Uint8Array, JsValue> {
        Ok(Uint8Array::from(array_of(&self.all_pinned(ids)?).as_slice()))
    }

    /// Which fields `facts` brings from now on.
    pub fn columns(&self, paths: Vec<String>) -> Result<(), JsValue> {
        let paths = paths.iter().map(|path| parse_path("path", path)).collect::<Result<Vec<_>, _>>();
        let paths = paths.map_err(|error| to_js(&error))?;
        *self.sound()?.columns.borrow_mut() = (!paths.is_empty()).then(|| Columns::new(&paths));
        Ok(())
    }

    /// An object's version, or that of the event which told of it, and its key, with a space between them. With columns it is a JSON array of that and their values, see
    /// [`Columns::append_to`].
    pub fn facts(&self, id: f64, of_event: bool) -> Result<JsString, JsValue> {
        let inner = self.sound()?;
        let object = inner.pinned(id)?;
        let mut names = inner.names.take();
        names.clear();
        let told_at = if of_event { inner.delivery.pins.0.told_at(to_id(id)) } else { None };
        told_at.as_ref().unwrap_or_else(|| object.version()).append_to(&mut names);
        names.push(' ');
        names.push_str(object.key());
        let told = match &*inner.columns.borrow() {
            None => short(names.as_bytes()),
            Some(columns) => {
                let mut row = vec![b'['];
                row.extend_from_slice(quoted(&names).as_bytes());
                columns.append_to(&mut row, &object.lend());
                row.push(b']');
                short(&row)
            }
        };
        inner.names.set(names);
        Ok(told)
    }

    /// One field, without decoding the object; a sub-document is decoded alone.
    pub fn field(&self, id: f64, path: &str) -> Result<JsValue, JsValue> {
        let object = self.sound()?.pinned(id)?;
        let path = parse_path("path", path).map_err(|error| to_js(&error))?;
        let text = object.text();
        let Some(span) = path.find(&text) else { return Ok(JsValue::UNDEFINED) };
        Ok(match Scalar::from_raw(&text[span.clone()]) {
            Scalar::Missing => JsValue::UNDEFINED,
            Scalar::Null => JsValue::NULL,
            Scalar::Bool(value) => value.into(),
            Scalar::Text(value) => JsValue::from_str(&value),
            Scalar::Number(value) => JSON::parse(&value)?,
            Scalar::Composite => parse(&text[span])?,
        })
    }

    /// Whether the value at a path is another than in the version of the number `before`. 0 stands for the one that the object replaced.
    /// What is unknown counts as changed.
    pub fn changed(&self, id: f64, before: f64, path: &str) -> Result<bool, JsValue> {
        let inner = self.sound()?;
        let object = inner.pinned(id)?;
        let path = parse_path("path", path).map_err(|error| to_js(&error))?;
        let earlier = (before != 0.0).then(|| to_id(before));
        let known = earlier.and_then(|earlier| inner.delivery.pins.0.get(earlier).ok());
        let before = known.or_else(|| inner.resource.with(|cacher| cacher.held().window().before(&object, earlier).cloned()));
        Ok(before.is_none_or(|before| differs(&before, &object, &path)))
    }

    /// Gives objects back.
    pub fn release(&self, ids: &Float64Array) -> Result<(), JsValue> {
        let pins = &self.sound()?.delivery.pins;
        ids.to_vec().into_iter().for_each(|id| pins.release(id));
        Ok(())
    }

    /// JavaScript has collected what it did not hold, so what it still holds counts as memory.
    pub fn collected(&self) -> Result<(), JsValue> {
        self.core()?.collected();
        Ok(())
    }

    /// The keys of pinned objects.
    #[wasm_bindgen(js_name = keysOf)]
    pub fn keys_of(&self, ids: &Float64Array) -> Result<Array, JsValue> {
        let inner = self.sound()?;
        ids.to_vec().into_iter().map(|id| Ok(JsValue::from_str(inner.pinned(id)?.key()))).collect()
    }
}

impl RawResource {
    fn all_pinned(&self, ids: &Float64Array) -> Result<Vec<Rc<Object>>, JsValue> {
        let inner = self.sound()?;
        ids.to_vec().into_iter().map(|id| inner.pinned(id)).collect()
    }
}
