//! An async iterable of the user's as a stream of frames.

use futures::{StreamExt, stream};
use js_sys::{Function, Promise, Reflect, Symbol};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::abort::Abort;
use crate::source::FrameStream;
use crate::status::Error;
use crate::web::bytes::frame_bytes;
use crate::web::error::from_thrown;
use crate::web::values::{cast, property};

/// The frames of what a source's `watch` gave.
pub(super) fn frames_of(iterable: &JsValue, abort: Abort) -> Result<FrameStream, Error> {
    let iterator = Iterator::of(iterable, abort)?;
    let frames = stream::unfold(iterator, |iterator| async move {
        let item = iterator.step().await?;
        Some((item, iterator))
    });
    Ok(frames.boxed_local())
}

/// An async iterator. Its `return` is called when it is dropped.
struct Iterator {
    iterator: JsValue,
    next: Function,
    _abort: Abort,
}

impl Iterator {
    fn of(iterable: &JsValue, abort: Abort) -> Result<Self, Error> {
        let none = || Error::protocol("the source's watch gave no async iterable");
        let make = |symbol: Symbol| -> Option<JsValue> {
            let function: Function = Reflect::get(iterable, &symbol).ok()?.dyn_into().ok()?;
            function.call0(iterable).ok()
        };
        let iterator = make(Symbol::async_iterator()).or_else(|| make(Symbol::iterator())).ok_or_else(none)?;
        let next = cast(&iterator, "next").ok_or_else(none)?;
        Ok(Self { iterator, next, _abort: abort })
    }

    /// The next frame; `None` at the end.
    async fn step(&self) -> Option<Result<Vec<u8>, Error>> {
        let answer = match self.next.call0(&self.iterator) {
            Ok(answer) => JsFuture::from(Promise::resolve(&answer)).await,
            Err(thrown) => Err(thrown),
        };
        match answer {
            Err(thrown) => Some(Err(from_thrown(&thrown))),
            Ok(result) if property(&result, "done").is_some_and(|done| done.is_truthy()) => None,
            Ok(result) => Some(frame_bytes(&property(&result, "value").unwrap_or(JsValue::UNDEFINED))),
        }
    }
}

impl Drop for Iterator {
    fn drop(&mut self) {
        if let Some(function) = cast::<Function>(&self.iterator, "return") {
            // The stream is given up: what its end throws concerns nobody.
            if let Ok(promise) = function.call0(&self.iterator)
                && let Ok(promise) = promise.dyn_into::<Promise>()
            {
                wasm_bindgen_futures::spawn_local(async move {
                    let _end = JsFuture::from(promise).await;
                });
            }
        }
    }
}
