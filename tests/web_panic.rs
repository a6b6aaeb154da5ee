//! A panic stops the instance: it is told at once, and every later call says so. A test program of its own, because nothing else can
//! run in an instance after it.
#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use watchcache::web::{RawMemory, on_panic, open_metrics, open_source, poisoned, start};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(inline_js = r#"
export function thrown(action) { try { action(); return undefined; } catch (error) { return error; } }
export function options() {
  return { name: "things", checkConsistency: false };
}
export function source() { return { list: () => new Promise(() => {}), watch: () => {} }; }
export function hooks() { return { flush() {} }; }
/** All methods of a handle. */
export function methods(handle) {
  const own = ["constructor", "free", "__destroy_into_raw"];
  return Object.getOwnPropertyNames(Object.getPrototypeOf(handle)).filter((name) => !own.includes(name));
}
const KINDS = ["x", 0, false];
/** Every choice of four arguments: the glue of a debug build looks at their kinds before the method begins. */
function* choices(length = 4) {
  if (length === 0) yield [];
  else for (const rest of choices(length - 1)) for (const kind of KINDS) yield [...rest, kind];
}
/** Those that do something else than to say that the instance is lost. */
export function others(handle, page) {
  return methods(handle).filter((name) => {
    for (const given of choices()) {
      try {
        handle[name](...(name === "metrics" ? [page, ...given] : given));
        return true;
      } catch (error) {
        if (error.code === "internal") return false;
      }
    }
    return true;
  });
}
"#)]
extern "C" {
    fn thrown(action: &Function) -> JsValue;
    fn options() -> JsValue;
    fn source() -> JsValue;
    fn hooks() -> JsValue;
    fn methods(handle: &JsValue) -> Vec<String>;
    fn others(handle: &JsValue, page: &JsValue) -> Vec<String>;
}

#[wasm_bindgen_test]
fn a_panic_is_told_at_once_and_every_later_call_says_so() {
    start();
    let memory = RawMemory::new(Some(1e9));
    let resource = open_source(options(), source().unchecked_into(), hooks().unchecked_into(), &memory).expect("opens");
    assert_eq!(resource.size().expect("answers"), 0.0);
    assert_eq!(poisoned(), None);
    let page = JsValue::from(open_metrics().expect("a page"));

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
    let handle = JsValue::from(resource);
    assert!(methods(&handle).len() > 60, "they were found");
    assert_eq!(others(&handle, &page), Vec::<String>::new(), "one rule for all of them");
}
