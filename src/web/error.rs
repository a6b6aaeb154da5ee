//! Errors as JavaScript sees them, and what JavaScript throws as errors.

use js_sys::JSON;
use wasm_bindgen::prelude::*;

use crate::json::value::Value;
use crate::source::Refusal;
use crate::status::{Error, ErrorCode, Status};
use crate::web::values::{property, set, text};

/// A JavaScript error with `name`, `code`, `status`, `retryable` and `retryAfterSeconds`. The facade makes a `WatchCacheError` of it.
#[cold]
#[inline(never)]
pub(super) fn to_js(error: &Error) -> JsValue {
    let object = js_sys::Error::new(&error.message);
    object.set_name("WatchCacheError");
    set(&object, "code", &error.code.as_str().into());
    set(&object, "retryable", &error.retryable().into());
    if let Some(seconds) = error.retry_after_seconds {
        set(&object, "retryAfterSeconds", &seconds.into());
    }
    if let Some(status) = &error.status {
        set(&object, "status", &JSON::parse(&status.members()).unwrap_or(JsValue::UNDEFINED));
    }
    object.into()
}

/// The error for an option that cannot be read.
#[cold]
#[inline(never)]
pub(super) fn invalid_option(what: &str, message: &str) -> Error {
    Error::new(ErrorCode::Invalid, format!("{what}: {message}"))
}

/// What `auth`, a transport or a `Source` threw: an error with `code`, `reason` and `retryAfterSeconds`, or with the server's own `status`; or a
/// `Response`.
#[cold]
#[inline(never)]
pub(super) fn from_thrown(thrown: &JsValue) -> Error {
    let number = |name: &str| property(thrown, name).and_then(|number| number.as_f64());
    Error::from(Refusal {
        status: property(thrown, "status").and_then(status),
        code: number("code"),
        http_code: number("status"),
        mistake: text(thrown, "name").as_deref() == Some("WatchCacheError")
            && text(thrown, "code").as_deref() == Some(ErrorCode::Invalid.as_str()),
        reason: text(thrown, "reason"),
        message: text(thrown, "message").or_else(|| thrown.as_string()),
        retry_after_seconds: number("retryAfterSeconds"),
    })
}

/// Why something of the host's failed. Node keeps the cause apart, such as the address that refused.
#[cold]
#[inline(never)]
pub(super) fn reason(thrown: &JsValue) -> String {
    let reason = text(thrown, "message").unwrap_or_else(|| "no reason given".to_string());
    let cause = property(thrown, "cause").and_then(|cause| text(&cause, "message")).filter(|cause| !cause.is_empty());
    cause.map_or(reason.clone(), |cause| format!("{reason} ({cause})"))
}

/// A Status; `None` for what is none, such as the `status` of a Response.
fn status(status: JsValue) -> Option<Status> {
    if !status.is_object() {
        return None;
    }
    let text = JSON::stringify(&status).ok()?.as_string()?;
    Status::read(&Value::parse(text.as_bytes()).ok()?)
}
