//! What a flush tells handlers of informers, as arguments of a call.

use std::rc::Rc;

use js_sys::{Array, Float64Array, Object as JsObject, Uint32Array};
use wasm_bindgen::JsValue;

use super::pins::Pins;
use super::scratch::Scratch;
use crate::informer::{Interruption, Notifications, Stops};
use crate::object::Object;
use crate::web::error::to_js;
use crate::web::values::set;

/// The arguments of `Hooks.notify`.
pub(super) struct Notify {
    pub(super) table: Float64Array,
    pub(super) pairs: Uint32Array,
    pub(super) handlers: Uint32Array,
    pub(super) informers: Uint32Array,
    pub(super) interruptions: Array,
}

impl Notify {
    /// The table is flat: kind, id, id of the old object, and 0 where there is no object. Each id is pinned once.
    pub(super) fn of(notifications: &Notifications, pins: &Pins, scratch: &mut Scratch) -> Self {
        let id = |object: &Option<Rc<Object>>| object.as_ref().map_or(0.0, |object| pins.pin(object));
        let mut table = Vec::with_capacity(notifications.table.len() * 3);
        for notification in &notifications.table {
            table.extend_from_slice(&[f64::from(notification.kind as u8), id(&notification.object), id(&notification.old)]);
        }
        Self {
            table: scratch.doubles(&table),
            pairs: scratch.numbers(&notifications.pairs),
            handlers: scratch.rare(notifications.handlers_synced.iter().map(|handler| handler.number())),
            informers: scratch.rare(notifications.informers_synced.iter().map(|informer| informer.number())),
            interruptions: match notifications.interruptions.as_slice() {
                [] => scratch.empty(),
                all => all.iter().map(interruption).collect(),
            },
        }
    }
}

#[allow(clippy::cast_precision_loss)]
fn interruption(interruption: &Interruption) -> JsValue {
    let told = JsObject::new();
    set(&told, "phase", &interruption.phase.as_str().into());
    set(&told, "error", &to_js(&interruption.error));
    set(&told, "stale", &interruption.stale.into());
    match &interruption.stops {
        Stops::Stream { retry_at: None } => {}
        Stops::Stream { retry_at: Some(at) } => set(&told, "retryAt", &(at.as_unix_millis() as f64).into()),
        Stops::Object(key) => set(&told, "key", &(&**key).into()),
        Stops::Informer(id) => set(&told, "ended", &id.number().into()),
    }
    told.into()
}
