//! A storage of the facade's, which moves the bytes of a state.

use futures::future::{LocalBoxFuture, pending};
use futures::{FutureExt, StreamExt, stream};
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::error::from_thrown;
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
    fn write(
        this: &JsKeeper,
        head: Uint8Array,
        numbers: Vec<u32>,
        blocks: Array,
        order: Vec<u32>,
        removed: Vec<u32>,
        is_whole: bool,
    ) -> Promise;

    /// What it has kept.
    type JsKept;
    #[wasm_bindgen(method, getter)]
    fn head(this: &JsKept) -> Uint8Array;
    #[wasm_bindgen(method)]
    fn next(this: &JsKept) -> Promise;
}

/// Some blocks more; `None` behind the last, and where they cannot be read.
async fn next_blocks(kept: &JsKept) -> Option<Vec<Vec<u8>>> {
    let blocks = JsFuture::from(kept.next()).await.ok()?.dyn_into::<Array>().ok()?;
    blocks.iter().map(|block| Some(block.dyn_into::<Uint8Array>().ok()?.to_vec())).collect()
}

impl Keeper for JsKeeper {
    fn read(&self) -> LocalBoxFuture<'static, Option<Kept>> {
        let read = Self::read(self);
        async move {
            let kept = JsFuture::from(read).await.ok().filter(JsValue::is_object)?.unchecked_into::<JsKept>();
            let head = kept.head().to_vec();
            let batches = stream::unfold(kept, |kept| async move { next_blocks(&kept).await.map(|blocks| (stream::iter(blocks), kept)) });
            Some(Kept { head, blocks: batches.flatten().boxed_local() })
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
        let Written { head, blocks, order, removed, is_whole } = written;
        let numbers = blocks.iter().map(|(number, _)| *number).collect();
        let blocks: Array = blocks.iter().map(|(_, block)| JsValue::from(Uint8Array::from(block.as_slice()))).collect();
        let written = Self::write(self, Uint8Array::from(head.as_slice()), numbers, blocks, order, removed, is_whole);
        async move { JsFuture::from(written).await.map(drop).map_err(|thrown| from_thrown(&thrown)) }.boxed_local()
    }
}
