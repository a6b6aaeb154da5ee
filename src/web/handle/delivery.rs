//! The sending end of a flush: events and notifications go out as flat arrays of numbers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Float64Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::notifications::Notify;
use super::pins::Pins;
use super::scratch::Scratch;
use crate::cache::Flush;
use crate::informer::Notifications;
use crate::object::{IndexValues, Object, Pins as Handed};
use crate::watch::{Form, LastAudience};
use crate::web::runtime::global_function;

#[wasm_bindgen]
extern "C" {
    /// Whom the facade gave to hear of changes.
    pub type Hooks;
    #[wasm_bindgen(method, catch)]
    fn flush(
        this: &Hooks,
        events: &Float64Array,
        pairs: &Uint32Array,
        ended: &Uint32Array,
        views: &Uint32Array,
        signals: u32,
        audience: u32,
    ) -> Result<(), JsValue>;
    /// A flush that is one event for one watcher, or for the last audience told, and nothing else: no more than numbers cross.
    #[wasm_bindgen(method, catch)]
    fn event(this: &Hooks, kind: f64, id: f64, watcher: u32, audience: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn notify(
        this: &Hooks,
        table: &Float64Array,
        pairs: &Uint32Array,
        handlers: &Uint32Array,
        informers: &Uint32Array,
        interruptions: &Array,
    ) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = indexValues)]
    fn index_values(this: &Hooks, id: f64) -> Result<Array, JsValue>;
}

/// Tells the facade what happened. Nothing is borrowed while a hook runs.
pub(super) struct Delivery {
    hooks: Hooks,
    pub(super) pins: Pins,
    scratch: RefCell<Scratch>,
    /// Flushes so far.
    pub(super) flushes: Cell<u64>,
    audience: LastAudience,
}

impl Delivery {
    pub(super) fn new(hooks: Hooks, pins: Rc<Handed>) -> Self {
        let scratch = RefCell::new(Scratch::new());
        Self { hooks, pins: Pins(pins), scratch, flushes: Cell::new(0), audience: LastAudience::default() }
    }

    /// Tells a flush: one crossing for all of it, and one more for handlers of informers.
    pub(super) fn deliver(&self, flush: &Flush) {
        self.flushes.set(self.flushes.get() + 1);
        if !flush.notifications.is_empty() {
            self.notify(&flush.notifications);
        }
        let outbox = &flush.outbox;
        let told = match self.audience.form(outbox, flush.is_only_events()) {
            Form::Nothing => return,
            Form::Event { event, watcher, audience } => {
                let [kind, id] = self.pins.pin_event(event);
                return report(self.hooks.event(kind, id, watcher, audience));
            }
            Form::Flush { receivers, audience } => {
                let events = outbox.events.iter().flat_map(|event| self.pins.pin_event(event));
                let events: Vec<f64> = events.collect();
                let ended = outbox.ended.iter().flat_map(|(watcher, reason)| [watcher.number(), *reason as u32]);
                let (events, pairs, ended, views) = {
                    let mut scratch = self.scratch.borrow_mut();
                    (
                        scratch.doubles(&events),
                        scratch.numbers(&receivers),
                        scratch.rare(ended),
                        scratch.rare(flush.views.iter().map(|view| view.number())),
                    )
                };
                self.hooks.flush(&events, &pairs, &ended, &views, flush.signals, audience)
            }
        };
        if told.is_err() {
            self.audience.forget();
        }
        report(told);
    }

    /// Handlers of informers are told by a call of their own: pages without any do not carry its arguments.
    fn notify(&self, notifications: &Notifications) {
        let Notify { table, pairs, handlers, informers, interruptions } =
            Notify::of(notifications, &self.pins, &mut self.scratch.borrow_mut());
        report(self.hooks.notify(&table, &pairs, &handlers, &informers, &interruptions));
    }

    /// The values of an object in the computed indexes, by the facade's functions.
    pub(super) fn index_values(&self, object: &Rc<Object>) -> IndexValues {
        let texts = |values: JsValue| Array::from(&values).iter().filter_map(|value| value.as_string()).map(Into::into).collect();
        match self.hooks.index_values(self.pins.pin(object)) {
            Ok(values) => values.iter().map(texts).collect(),
            Err(thrown) => {
                report(Err(thrown));
                IndexValues::default()
            }
        }
    }
}

/// What escapes the facade is told to the host as an uncaught error; it stops nothing here.
fn report(told: Result<(), JsValue>) {
    let Err(thrown) = told else { return };
    if let Some(function) = global_function("reportError") {
        let _reported = function.call1(&JsValue::UNDEFINED, &thrown);
    } else if let Some(function) = global_function("queueMicrotask") {
        let rethrow = Closure::once_into_js(move || -> Result<(), JsValue> { Err(thrown) });
        let _reported = function.call1(&JsValue::UNDEFINED, &rethrow);
    }
}
