//! Values of JavaScript: options in, stats out, properties read.

use js_sys::Reflect;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsCast, JsValue};

use crate::web::error::{invalid_option, to_js};

/// A serde value as a plain JavaScript value: objects for maps, undefined for none.
pub(super) fn to_value<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let serializer = Serializer::new().serialize_maps_as_objects(true);
    value.serialize(&serializer).map_err(JsValue::from)
}

/// Reads an option bag.
pub(super) fn from_value<T: DeserializeOwned>(what: &str, value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| to_js(&invalid_option(what, &error.to_string())))
}

/// A property, `None` when it is undefined or null, or cannot be read.
pub(super) fn property(object: &JsValue, name: &str) -> Option<JsValue> {
    if !object.is_object() && !object.is_function() {
        return None;
    }
    Reflect::get(object, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined() && !value.is_null())
}

/// A text property.
pub(super) fn text(object: &JsValue, name: &str) -> Option<String> {
    property(object, name).and_then(|value| value.as_string())
}

/// A property of some class or callable.
pub(super) fn cast<T: JsCast>(object: &JsValue, name: &str) -> Option<T> {
    property(object, name).and_then(|value| value.dyn_into().ok())
}
