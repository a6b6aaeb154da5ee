//! A panic stops the instance: it is told at once, and every later call says so. A test program of its own, because nothing else can
//! run in an instance after it.
#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use watchcache::web::{RawMemory, on_panic, open_source, poisoned, start};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(inline_js = r#"
export function thrown(action) { try { action(); return undefined; } catch (error) { return error; } }
export function options() {
  return { name: "things", strip: [], pageSize: 500, watchList: false, idleTimeout: 90000,
    history: { minMs: 75000, minEvents: 100, maxBytes: 67108864 }, indexes: [], checkConsistency: false,
    retry: { initialMs: 5, factor: 2, capMs: 50, jitter: 0, resetAfterMs: 120000 } };
}
export function source() { return { list: () => new Promise(() => {}), watch: () => {} }; }
export function hooks() { return { flush() {} }; }
"#)]
extern "C" {
    fn thrown(action: &Function) -> JsValue;
    fn options() -> JsValue;
    fn source() -> JsValue;
    fn hooks() -> JsValue;
}

#[wasm_bindgen_test]
fn a_panic_is_told_at_once_and_every_later_call_says_so() {
    start();
    let memory = RawMemory::new(1e9);
    let resource = open_source(options(), source().unchecked_into(), hooks().unchecked_into(), &memory).expect("opens");
    assert_eq!(resource.size().expect("answers"), 0.0);
    assert_eq!(poisoned(), None);

    let told = Rc::new(RefCell::new(String::new()));
    let told_to = told.clone();
    let callback = Closure::<dyn FnMut(String)>::new(move |message: String| *told_to.borrow_mut() = message);
    on_panic(callback.as_ref().unchecked_ref::<Function>().clone());
    let action = Closure::<dyn FnMut()>::new(|| panic!("the reactor is open"));
    let error = thrown(action.as_ref().unchecked_ref());
    assert!(!error.is_undefined(), "the caller hears of it as an exception");

    assert!(told.borrow().contains("the reactor is open"), "{:?}", told.borrow());
    assert!(poisoned().is_some_and(|message| message.contains("the reactor is open")));
    let refused = resource.size().expect_err("nothing is answered any more");
    assert_eq!(Reflect::get(&refused, &"code".into()).unwrap(), "internal");
    assert!(open_source(options(), source().unchecked_into(), hooks().unchecked_into(), &memory).is_err());
}
