//! Bytes into linear memory. A frame never crosses as `&str` or `String`: the glue would copy it character by character.

use std::cell::Cell;

use js_sys::{ArrayBuffer, JsString, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::source::buffers;
use crate::status::Error;

#[wasm_bindgen]
extern "C" {
    // web-sys's TextEncoder takes a Rust &str, which is what this must avoid.
    type TextEncoder;
    #[wasm_bindgen(constructor)]
    fn new() -> TextEncoder;
    #[wasm_bindgen(method, catch, js_name = encodeInto)]
    fn encode_into(this: &TextEncoder, text: &JsString, target: &Uint8Array) -> Result<JsValue, JsValue>;

    type EncodeResult;
    #[wasm_bindgen(method, getter)]
    fn read(this: &EncodeResult) -> u32;
    #[wasm_bindgen(method, getter)]
    fn written(this: &EncodeResult) -> u32;
}

thread_local! {
    static ENCODER: TextEncoder = TextEncoder::new();
    static SIZE_SEEN: Cell<usize> = const { Cell::new(0) };
}

/// Grows linear memory by an eighth at once when it has grown at all. The allocator asks for a page or two each time, and each time costs
/// as much as reading a frame: with objects that stay, every few frames.
fn stay_ahead() {
    const PAGE: usize = 65_536;
    let size = || core::arch::wasm32::memory_size(0) * PAGE;
    if size() > SIZE_SEEN.get() {
        // Taken and given back: from then on it is part of what the allocator hands out.
        drop(std::hint::black_box(Vec::<u8>::with_capacity((size() / 8).clamp(1 << 20, 16 << 20))));
        SIZE_SEEN.set(size());
    }
}

/// The bytes of a text frame (UTF-8), an ArrayBuffer or a typed array.
pub(super) fn frame_bytes(data: &JsValue) -> Result<Vec<u8>, Error> {
    stay_ahead();
    if let Some(text) = data.dyn_ref::<JsString>() {
        return encode(text);
    }
    // Copied once, straight to where it is needed: `Uint8Array::new` of an array would make another array first.
    if let Some(bytes) = data.dyn_ref::<Uint8Array>() {
        return Ok(copy(bytes));
    }
    if let Some(buffer) = data.dyn_ref::<ArrayBuffer>() {
        return Ok(copy(&Uint8Array::new(buffer)));
    }
    // Views of another realm fail instanceof; they still have a buffer.
    if data.is_object() && Reflect::has(data, &JsValue::from_str("byteLength")).unwrap_or(false) {
        let (buffer, offset, length) = view_parts(data);
        return Ok(copy(&Uint8Array::new_with_byte_offset_and_length(&buffer, offset, length)));
    }
    Err(Error::protocol("a frame is neither text nor bytes"))
}

fn copy(array: &Uint8Array) -> Vec<u8> {
    let length = array.length() as usize;
    let mut bytes = buffers::take(length);
    bytes.resize(length, 0);
    array.copy_to(&mut bytes);
    bytes
}

fn view_parts(view: &JsValue) -> (JsValue, u32, u32) {
    let number = |name: &str| {
        let value = Reflect::get(view, &JsValue::from_str(name)).ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let value = value as u32;
        value
    };
    let buffer = Reflect::get(view, &JsValue::from_str("buffer")).unwrap_or(JsValue::UNDEFINED);
    (buffer, number("byteOffset"), number("byteLength"))
}

/// Encodes a JavaScript string straight into a buffer of ours. Most frames are ASCII: their length is the first guess, and each step asks
/// for as little as it can, because every question crosses the boundary.
fn encode(text: &JsString) -> Result<Vec<u8>, Error> {
    let length = text.length();
    let mut bytes = buffers::take(length as usize);
    let read = append(&mut bytes, text)?;
    if read == length {
        return Ok(bytes);
    }
    // Some characters take more than a byte. No unit takes more than three, so one more step has room for the rest.
    let rest = text.slice(read, length);
    bytes.reserve((length - read) as usize * 3);
    if append(&mut bytes, &rest)? == length - read { Ok(bytes) } else { Err(Error::decode("a text frame could not be encoded")) }
}

/// Fills the spare room with the encoded text, as much of it as fits; how many UTF-16 units that was.
#[allow(unsafe_code)]
fn append(bytes: &mut Vec<u8>, text: &JsString) -> Result<u32, Error> {
    // SAFETY: the view covers spare capacity that `bytes` owns, and nothing allocates between its making and its use. Bytes that were not
    // written are never read: `set_len` covers only what the encoder says it wrote.
    unsafe {
        let spare = bytes.spare_capacity_mut();
        let view = Uint8Array::view_mut_raw(spare.as_mut_ptr().cast(), spare.len());
        let result =
            ENCODER.with(|encoder| encoder.encode_into(text, &view)).map_err(|_| Error::decode("a text frame could not be encoded"))?;
        let result: &EncodeResult = result.unchecked_ref();
        bytes.set_len(bytes.len() + result.written() as usize);
        Ok(result.read())
    }
}
