//! A storage of the facade's, which moves the bytes of a state.

use futures::FutureExt;
use futures::future::{LocalBoxFuture, pending};
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::error::from_thrown;
use super::values::{cast, property};
use crate::persist::{Keeper, Kept, Written};
use crate::status::Error;

#[wasm_bindgen]
extern "C" {
    /// What the facade gives.
    pub type JsKeeper;
    #[wasm_bindgen(method)]
    fn read(this: &JsKeeper) -> Promise;
    #[wasm_bindgen(method)]
    fn turn(this: &JsKeeper) -> Promise;
    #[wasm_bindgen(method)]
    fn write(this: &JsKeeper, head: Uint8Array, numbers: Vec<u32>, blocks: Array, removed: Vec<u32>, is_whole: bool) -> Promise;
}

impl Keeper for JsKeeper {
    fn read(&self) -> LocalBoxFuture<'static, Option<Kept>> {
        let read = Self::read(self);
        async move {
            let kept = JsFuture::from(read).await.ok()?;
            let head = property(&kept, "head")?.dyn_into::<Uint8Array>().ok()?.to_vec();
            let (numbers, blocks) = (cast::<Array>(&kept, "numbers")?, cast::<Array>(&kept, "blocks")?);
            let block = |at| {
                let number = numbers.get(at).as_f64()?;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                Some((number as u32, blocks.get(at).dyn_into::<Uint8Array>().ok()?.to_vec()))
            };
            Some(Kept { head, blocks: (0..numbers.length()).map(block).collect::<Option<_>>()? })
        }
        .boxed_local()
    }

    fn turn(&self) -> LocalBoxFuture<'static, bool> {
        let turn = Self::turn(self);
        async move {
            match JsFuture::from(turn).await {
                Ok(exclusive) => exclusive.is_truthy(),
                // There is no storage to write to.
                Err(_) => pending().await,
            }
        }
        .boxed_local()
    }

    fn write(&self, written: Written) -> LocalBoxFuture<'static, Result<(), Error>> {
        let Written { head, blocks, removed, is_whole } = written;
        let numbers = blocks.iter().map(|(number, _)| *number).collect();
        let blocks: Array = blocks.iter().map(|(_, block)| JsValue::from(Uint8Array::from(block.as_slice()))).collect();
        let written = Self::write(self, Uint8Array::from(head.as_slice()), numbers, blocks, removed, is_whole);
        async move { JsFuture::from(written).await.map(drop).map_err(|thrown| from_thrown(&thrown)) }.boxed_local()
    }
}
