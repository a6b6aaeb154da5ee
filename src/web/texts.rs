//! Texts out of linear memory. They go out as `String` only where that is rare. The glue's decoder checks them once more, and for a short
//! text costs more than its letters.

use js_sys::JsString;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    // web-sys's TextDecoder copies what it is given into a string of Rust's.
    type TextDecoder;
    #[wasm_bindgen(constructor)]
    fn new() -> TextDecoder;
    #[wasm_bindgen(method)]
    fn decode(this: &TextDecoder, bytes: &[u8]) -> JsString;
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = parse)]
    fn parse_text(text: &JsString) -> Result<JsValue, JsValue>;
    // For a short text of ASCII, where a decoder's start costs more than the text.
    #[wasm_bindgen(js_namespace = ["String", "fromCharCode"], js_name = apply)]
    fn letters(this: &JsValue, codes: &[u8]) -> JsString;
}

/// Letters that are handed over one by one. A longer text is quicker by a decoder.
const MAX_LETTERS: usize = 512;

/// A text that is mostly short and of ASCII. It is UTF-8, as all that is stored.
pub(super) fn short(text: &[u8]) -> JsString {
    if text.len() <= MAX_LETTERS && text.is_ascii() { letters(&JsValue::UNDEFINED, text) } else { stored(text) }
}

thread_local! {
    static DECODER: TextDecoder = TextDecoder::new();
}

/// Stored bytes as a text. They were checked when they arrived, so the host decodes them as they are: a `&str` would be checked again.
pub(super) fn stored(bytes: &[u8]) -> JsString {
    DECODER.with(|decoder| decoder.decode(bytes))
}

/// `JSON.parse` of stored bytes.
pub(super) fn parse(bytes: &[u8]) -> Result<JsValue, JsValue> {
    parse_text(&stored(bytes))
}
