//! Values of JavaScript: objects out, properties in.

use js_sys::Reflect;
use serde::{Serialize, Serializer};
use wasm_bindgen::{JsCast, JsValue};

/// What a member of an object out is. One kind for all of them, so that the writer is compiled once.
pub(super) enum Given {
    /// Left out.
    Nothing,
    Number(f64),
    Text(String),
    Flag(bool),
}

impl Given {
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn count(count: usize) -> Self {
        Self::Number(count as f64)
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_string())
    }

    /// Left out when there is none.
    pub(super) fn maybe<T>(value: Option<T>, of: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Nothing, of)
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_unit(),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
        }
    }
}

/// A plain JavaScript object.
pub(super) fn to_object(members: &[(&str, Given)]) -> Result<JsValue, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true);
    let given = members.iter().filter(|(_, member)| !matches!(member, Given::Nothing));
    (&serializer).collect_map(given.map(|(name, member)| (*name, member))).map_err(JsValue::from)
}

/// Puts one more into it.
pub(super) fn set(object: &JsValue, name: &str, value: &JsValue) {
    // Setting a property of a fresh object cannot fail.
    let _set = Reflect::set(object, &JsValue::from_str(name), value);
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
