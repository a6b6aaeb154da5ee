//! Errors as JavaScript sees them, and what JavaScript throws as errors.

use js_sys::{JSON, Reflect};
use wasm_bindgen::prelude::*;

use crate::json::value::Value;
use crate::status::{Details, Error, ErrorCode, Status};
use crate::web::values::{property, text};

/// A JavaScript error with `name`, `code`, `status`, `retryable` and `retryAfterSeconds`. The facade makes a `WatchCacheError` of it.
#[cold]
#[inline(never)]
pub(super) fn to_js(error: &Error) -> JsValue {
    let object = js_sys::Error::new(&error.message);
    object.set_name("WatchCacheError");
    let set = |name: &str, value: JsValue| {
        // Setting a property of a fresh object cannot fail.
        let _set = Reflect::set(&object, &JsValue::from_str(name), &value);
    };
    set("code", error.code.as_str().into());
    set("retryable", error.retryable().into());
    if let Some(seconds) = error.retry_after_seconds {
        set("retryAfterSeconds", seconds.into());
    }
    if let Some(status) = &error.status {
        set("status", JSON::parse(&status.members()).unwrap_or(JsValue::UNDEFINED));
    }
    object.into()
}

/// The error for an option that cannot be read.
#[cold]
#[inline(never)]
pub(super) fn invalid_option(what: &str, message: &str) -> Error {
    Error::new(ErrorCode::Invalid, format!("{what}: {message}"))
}

/// What `auth`, a transport or a `Source` threw: a refusal `{ code, reason, message, retryAfterSeconds }`, one with the server's own `status`, or
/// a `Response`; else a failure of the network.
#[cold]
#[inline(never)]
pub(super) fn from_thrown(thrown: &JsValue) -> Error {
    if let Some(status) = property(thrown, "status").and_then(whole_status) {
        return status.into();
    }
    let number = |name: &str, least: f64| {
        let number = property(thrown, name).and_then(|code| code.as_f64()).filter(|code| (least..1000.0).contains(code));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        number.map(|code| code as u16)
    };
    // A Response that is thrown has its code as `status`, and so have the errors of most libraries.
    let code = number("code", 100.0).or_else(|| number("status", 400.0));
    let message = text(thrown, "message").or_else(|| thrown.as_string());
    let Some(code) = code else {
        return Error::network(message.unwrap_or_else(|| "the request failed without a reason".to_string()));
    };
    let message = message.unwrap_or_else(|| format!("the request was refused with code {code}"));
    let mut status = Status::new(code, &text(thrown, "reason").unwrap_or_default(), message);
    let seconds = property(thrown, "retryAfterSeconds").and_then(|seconds| seconds.as_f64());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) {
        status.details = Some(Details { retry_after_seconds: Some(seconds.ceil() as u32), ..Details::default() });
    }
    status.into()
}

/// What fetch rejects with tells little; whatever it is, the network is to blame.
#[cold]
#[inline(never)]
pub(super) fn network_error(what: &str, thrown: &JsValue) -> Error {
    let reason = text(thrown, "message").unwrap_or_else(|| "no reason given".to_string());
    // Node keeps the cause apart, such as the address that refused.
    let cause = property(thrown, "cause").and_then(|cause| text(&cause, "message")).filter(|cause| !cause.is_empty());
    let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    Error::network(format!("{what}: {reason}{cause}"))
}

/// A Status of a failure; `None` for what is none, such as the `status` of a fetch's response.
fn whole_status(status: JsValue) -> Option<Status> {
    if !status.is_object() {
        return None;
    }
    let text = JSON::stringify(&status).ok()?.as_string()?;
    Status::read(&Value::parse(text.as_bytes()).ok()?).filter(|status| status.code >= 400)
}
