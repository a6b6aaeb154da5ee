//! Bytes into linear memory. A frame never crosses as `&str` or `String`: the glue would copy it character by character.

use std::cell::{Cell, RefCell};

use js_sys::{ArrayBuffer, JsString, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::source::buffers;
use crate::status::Error;

#[wasm_bindgen]
extern "C" {
    /// A `TextEncoder`, or what encodes as it does. web-sys's takes a Rust &str, which is what this must avoid.
    #[derive(Clone)]
    pub(super) type TextEncoder;
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
    static LAST_VIEW: RefCell<Option<View>> = const { RefCell::new(None) };
}

const PAGE_BYTES: usize = 65_536;

/// Bytes of linear memory.
pub(super) fn memory_bytes() -> usize {
    core::arch::wasm32::memory_size(0) * PAGE_BYTES
}

/// The buffer that a frame gets at first: most fit.
const USUAL_FRAME_BYTES: usize = 16 << 10;

/// A typed array over some of linear memory. It is of no use once that has grown.
struct View {
    place: *const u8,
    length: usize,
    memory: usize,
    array: Uint8Array,
}

/// How far linear memory grows at least when it grows. It never shrinks, so the step is small.
const MIN_GROWTH_BYTES: usize = 512 << 10;

/// Grows linear memory by a whole step when it has grown. The allocator asks for a page or two at a time, and each time costs as much as
/// reading a frame.
fn stay_ahead() {
    if memory_bytes() > SIZE_SEEN.get() {
        // Taken and given back, it is part of what the allocator hands out. Where there is no memory, reading the frame fails with that.
        let _ahead = buffers::reserve(std::hint::black_box(&mut Vec::new()), MIN_GROWTH_BYTES);
        SIZE_SEEN.set(memory_bytes());
    }
}

/// The bytes of a text frame (UTF-8), an ArrayBuffer or a typed array.
pub(super) fn frame_bytes(data: &JsValue) -> Result<Vec<u8>, Error> {
    ENCODER.with(|encoder| frame_bytes_by(encoder, data))
}

/// The same, where texts are encoded by this encoder.
pub(super) fn frame_bytes_by(encoder: &TextEncoder, data: &JsValue) -> Result<Vec<u8>, Error> {
    stay_ahead();
    if let Some(text) = data.dyn_ref::<JsString>() {
        return encode(encoder, text);
    }
    // Copied once, straight to where it is needed: `Uint8Array::new` of an array would make another array first.
    if let Some(bytes) = data.dyn_ref::<Uint8Array>() {
        return copy(bytes);
    }
    if let Some(buffer) = data.dyn_ref::<ArrayBuffer>() {
        return copy(&Uint8Array::new(buffer));
    }
    // Views of another realm fail instanceof; they still have a buffer.
    if data.is_object() && Reflect::has(data, &JsValue::from_str("byteLength")).unwrap_or(false) {
        let (buffer, offset, length) = view_parts(data);
        return copy(&Uint8Array::new_with_byte_offset_and_length(&buffer, offset, length));
    }
    Err(Error::protocol("a frame is neither text nor bytes"))
}

#[allow(unsafe_code)]
fn copy(array: &Uint8Array) -> Result<Vec<u8>, Error> {
    let length = array.length() as usize;
    let mut bytes = buffers::take(length)?;
    let written = array.copy_to_uninit(&mut bytes.spare_capacity_mut()[..length]).len();
    // SAFETY: so many bytes of the spare capacity were written just now.
    unsafe { bytes.set_len(written) };
    Ok(bytes)
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

/// Bytes of the longest character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// Encodes a JavaScript string straight into a buffer of ours. Its length would be a crossing of its own, so it is asked for only when the
/// buffer proves too small.
fn encode(encoder: &TextEncoder, text: &JsString) -> Result<Vec<u8>, Error> {
    let mut bytes = buffers::take(USUAL_FRAME_BYTES)?;
    let result = append(encoder, &mut bytes, text)?;
    if bytes.capacity() - bytes.len() >= MAX_CHARACTER_BYTES {
        return Ok(bytes); // nothing was left out: one more character would have fitted
    }
    let (read, length) = (result.read(), text.length());
    if read < length {
        // A UTF-16 unit takes three bytes at most, so the rest fits now.
        let rest = text.slice(read, length);
        buffers::look_ahead(length as usize)?;
        buffers::reserve(&mut bytes, ((length - read) as usize).saturating_mul(3).saturating_add(MAX_CHARACTER_BYTES))?;
        if append(encoder, &mut bytes, &rest)?.read() < length - read {
            return Err(Error::decode("a text frame could not be encoded"));
        }
    }
    Ok(bytes)
}

/// Fills the spare room with the encoded text, as much of it as fits.
#[allow(unsafe_code)]
fn append(encoder: &TextEncoder, bytes: &mut Vec<u8>, text: &JsString) -> Result<EncodeResult, Error> {
    let spare = bytes.spare_capacity_mut();
    let (place, length, memory) = (spare.as_mut_ptr().cast::<u8>(), spare.len(), memory_bytes());
    let known = LAST_VIEW.take().filter(|view| (view.place, view.length, view.memory) == (place.cast_const(), length, memory));
    // SAFETY: the view covers spare capacity that `bytes` owns, and nothing allocates before it is used. It is used again only for a buffer at
    // the same place, in memory that has not grown.
    let view = known.unwrap_or_else(|| View { place, length, memory, array: unsafe { Uint8Array::view_mut_raw(place, length) } });
    let result = encoder
        .encode_into(text, &view.array)
        .map_err(|_| Error::decode("a text frame could not be encoded"))?
        .unchecked_into::<EncodeResult>();
    LAST_VIEW.set(Some(view));
    let written = (result.written() as usize).min(length);
    // SAFETY: so many bytes of the spare capacity were written just now; others are never read.
    unsafe { bytes.set_len(bytes.len() + written) };
    Ok(result)
}
