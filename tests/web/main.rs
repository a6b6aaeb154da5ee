//! What is tested in a real browser: `wasm-pack test --headless --chrome`.
#![cfg(target_arch = "wasm32")]

#[allow(unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod web;
}

mod json;
mod resource;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
