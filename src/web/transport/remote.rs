//! A relay in another thread, as a source.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::relay::{Remote, Traits};
use crate::source::Source;
use crate::status::Error;
use crate::web::error::{from_thrown, to_js};
use crate::web::packet::{message, poster};
use crate::web::panic;

/// The end of a channel at which it is asked: the facade carries its packets.
#[wasm_bindgen(skip_typescript)]
pub struct RawRemote(Rc<Remote>);

#[wasm_bindgen]
impl RawRemote {
    /// Takes what came from the other end.
    pub fn take(&self, head: String, body: &JsValue) -> Result<(), JsValue> {
        panic::check()?;
        self.0.take(message(head, body).map_err(|error| to_js(&error))?);
        Ok(())
    }

    /// Nobody answers any more: what was asked fails, as with a connection that breaks.
    #[wasm_bindgen(js_name = breakOff)]
    pub fn break_off(&self, why: &str) -> Result<(), JsValue> {
        panic::check()?;
        self.0.break_off(&Error::network(why));
        Ok(())
    }

    /// There is another end from now on, and this function posts to it.
    pub fn reconnect(&self, post: Function) -> Result<(), JsValue> {
        panic::check()?;
        self.0.reconnect(poster(post));
        Ok(())
    }
}

/// A source with these traits behind a channel. The facade connects it: `connect` is given its end, and the
/// namespace where it is one of several.
pub(in crate::web) fn remote(traits: Traits, connect: &Function, namespace: Option<&str>) -> Result<Rc<dyn Source>, Error> {
    let remote = Rc::new(Remote::new(traits, |_| {}));
    remote.break_off(&Error::network("there is no channel yet"));
    let namespace = namespace.map_or(JsValue::UNDEFINED, JsValue::from_str);
    let connected = connect.call2(&JsValue::UNDEFINED, &RawRemote(remote.clone()).into(), &namespace);
    connected.map_err(|thrown| from_thrown(&thrown))?;
    Ok(remote)
}
