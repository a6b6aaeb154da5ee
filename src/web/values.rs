//! Values of JavaScript: objects out, properties in.

use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::time::{FOREVER, Millis};

/// A member of an object that goes out. One kind for all of them, so that the writer is compiled once.
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

/// A plain JavaScript object.
pub(super) fn to_object(members: &[(&str, Given)]) -> JsValue {
    let object = Object::new();
    for (name, member) in members {
        let value = match member {
            Given::Nothing => continue,
            Given::Number(number) => JsValue::from_f64(*number),
            Given::Text(text) => JsValue::from_str(text),
            Given::Flag(flag) => JsValue::from_bool(*flag),
        };
        set(&object, name, &value);
    }
    object.into()
}

/// Sets a property of an object that is ours.
pub(super) fn set(object: &JsValue, name: &str, value: &JsValue) {
    // Of such an object that cannot fail.
    let _set = Reflect::set(object, &JsValue::from_str(name), value);
}

/// A property, `None` when it is undefined or null, or cannot be read.
pub(super) fn property(object: &JsValue, name: &str) -> Option<JsValue> {
    if !object.is_object() && !object.is_function() {
        return None;
    }
    Reflect::get(object, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined() && !value.is_null())
}

/// A duration as it was given; one without an end is [`FOREVER`].
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn millis(value: f64) -> Millis {
    (value.max(0.0) as Millis).min(FOREVER)
}

/// A bound as it was given; one beyond all that there can be bounds nothing.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn bound(value: f64) -> usize {
    value.max(0.0) as usize
}

/// A text property.
pub(super) fn text(object: &JsValue, name: &str) -> Option<String> {
    property(object, name).and_then(|value| value.as_string())
}

/// A property of some class or callable.
pub(super) fn cast<T: JsCast>(object: &JsValue, name: &str) -> Option<T> {
    property(object, name).and_then(|value| value.dyn_into().ok())
}
