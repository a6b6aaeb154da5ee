//! A resource as the source of other threads.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::resource::RawResource;
use crate::relay::{Relay, Serving, WATCH_PACE_MS};
use crate::source::Source;
use crate::web::error::to_js;
use crate::web::packet::{message, poster};
use crate::web::panic;
use crate::web::runtime::WebRuntime;

/// The end of a channel at which a resource answers: the facade carries its packets. Freed, it ends all that it was asked.
#[wasm_bindgen(skip_typescript)]
pub struct RawServing(Serving);

#[wasm_bindgen]
impl RawServing {
    /// Takes what came from the other end.
    pub fn take(&self, head: String, body: &JsValue) -> Result<(), JsValue> {
        panic::check()?;
        self.0.take(message(head, body).map_err(|error| to_js(&error))?);
        Ok(())
    }

    /// What it was asked and is not done with: while there is any, the resource is used.
    pub fn calls(&self) -> usize {
        self.0.calls()
    }
}

#[wasm_bindgen]
impl RawResource {
    /// Answers whoever is at the other end of a channel, to which `post` sends. From the first of these on, no watch of this handle is told
    /// anything: all of them are of other ends.
    pub fn serve(&self, post: Function) -> Result<RawServing, JsValue> {
        let inner = self.sound()?;
        let relay = inner.relay.get_or_init(|| Rc::new(Relay::new(inner.resource.clone(), inner.source.clone())));
        let relay: Rc<dyn Source> = relay.clone();
        Ok(RawServing(Serving::new(relay, Rc::new(WebRuntime::new()), WATCH_PACE_MS, poster(post))))
    }
}
