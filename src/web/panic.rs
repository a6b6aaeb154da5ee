//! A panic stops this instance: its state may be torn. Every later call says so, and nothing hangs.

use std::cell::{Cell, RefCell};

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::status::{Error, ErrorCode};
use crate::web::error::to_js;

thread_local! {
    /// Asked at every call, so it is no more than a flag.
    static POISONED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
    static CALLBACK: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Has panics recorded and told.
pub(super) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        POISONED.set(true);
        MESSAGE.with(|message| message.borrow_mut().get_or_insert(text.clone()).len());
        let callback = CALLBACK.with(|callback| callback.borrow().clone());
        if let Some(callback) = callback {
            // What the callback throws cannot matter any more.
            let _ignored = callback.call1(&JsValue::UNDEFINED, &JsValue::from_str(&text));
        }
    }));
}

/// Fails once a panic has happened.
pub(super) fn check() -> Result<(), JsValue> {
    if POISONED.get() { Err(stopped()) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn stopped() -> JsValue {
    let text = message().unwrap_or_default();
    let told = format!("the watch cache stopped after a fault of its own; create a new one in a fresh page or worker: {text}");
    to_js(&Error::new(ErrorCode::Internal, told))
}

/// The first panic's message.
pub(super) fn message() -> Option<String> {
    MESSAGE.with(|message| message.borrow().clone())
}

/// Sets who hears of a panic.
pub(super) fn set_callback(callback: Function) {
    CALLBACK.with(|told| *told.borrow_mut() = Some(callback));
}
