//! Packets of a channel into JavaScript, and out of it. What carries them there decides how: a port, a socket, or a call.

use js_sys::{Function, Uint8Array};
use wasm_bindgen::JsValue;

use super::bytes::frame_bytes;
use crate::relay::Packet;
use crate::status::Error;

/// Posts messages by a function of the facade, which is given the head and the bytes. It must not call back before it returns.
pub(super) fn poster<T: Into<Packet>>(post: Function) -> impl Fn(T) {
    move |message| {
        let Packet { head, body } = message.into();
        let body = if body.is_empty() { JsValue::UNDEFINED } else { Uint8Array::from(body.as_slice()).into() };
        // A port that is gone says nothing either.
        let _thrown = post.call2(&JsValue::UNDEFINED, &JsValue::from_str(&head), &body);
    }
}

/// The message that came as this. Fails for what no end of this version sends.
pub(super) fn message<T: TryFrom<Packet, Error = Error>>(head: String, body: &JsValue) -> Result<T, Error> {
    let body = if body.is_undefined() { Vec::new() } else { frame_bytes(body)? };
    T::try_from(Packet { head, body })
}
