//! What the WebAssembly module exports beside its classes.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::bag::Bag;
use super::bytes::memory_bytes as memory_size;
use super::error::to_js;
use super::handle::{Hooks, Opening, RawResource, resource_options, view_options};
use super::runtime::WebRuntime;
use super::transport::{JsSource, KubernetesSource, ObjectSource, remote};
use super::values::{Given, bound, to_object};
use super::{panic, runtime};
use crate::cache::{DEFAULT_MAX_BYTES, Memory};
use crate::relay::Traits;
use crate::source::kubernetes::Head;
use crate::source::{Joined, Polled, Source};
use crate::time::Millis;

/// Runs once when the module is instantiated.
#[wasm_bindgen(start, private)]
pub fn start() {
    panic::install();
    // Without a seed of the host's every tab would draw the same waits.
    fastrand::seed(runtime::random_seed());
}

/// Opens a resource of a Kubernetes API. Nothing is requested before `start`.
#[wasm_bindgen(js_name = openKubernetes, skip_typescript)]
pub fn open_kubernetes(options: JsValue, transport: JsValue, hooks: Hooks, memory: &RawMemory) -> Result<RawResource, JsValue> {
    panic::check()?;
    let Opening { config, poll, namespaces } = resource_options(options)?;
    let source = KubernetesSource::read(transport)?;
    let source: Rc<dyn Source> = match namespaces {
        None => polled(Rc::new(source), poll),
        Some(namespaces) => {
            let open = move |namespace: &str| polled(Rc::new(source.within(namespace)), poll);
            let joined = Joined::new(&namespaces, Rc::new(WebRuntime::new()), Box::new(open));
            Rc::new(joined.map_err(|error| to_js(&error))?)
        }
    };
    RawResource::new(config, source, hooks, &memory.0).map_err(|error| to_js(&error))
}

/// Opens a resource of a `Source` object, or of a function that resolves to one.
#[wasm_bindgen(js_name = openSource, skip_typescript)]
pub fn open_source(options: JsValue, source: JsSource, hooks: Hooks, memory: &RawMemory) -> Result<RawResource, JsValue> {
    panic::check()?;
    let Opening { config, poll, .. } = resource_options(options)?;
    RawResource::new(config, polled(Rc::new(ObjectSource::new(source)), poll), hooks, &memory.0).map_err(|error| to_js(&error))
}

/// Opens a resource that another thread holds; `connect` leads to it. `transport` says what it is, as for `openKubernetes`. Without one it is of a
/// source that only the other thread knows.
#[wasm_bindgen(js_name = openShared, skip_typescript)]
pub fn open_shared(
    options: JsValue,
    transport: JsValue,
    connect: js_sys::Function,
    hooks: Hooks,
    memory: &RawMemory,
) -> Result<RawResource, JsValue> {
    panic::check()?;
    let Opening { config, poll, namespaces } = resource_options(options)?;
    if transport.is_undefined() {
        // The relay looks for single objects in lists where its own source gives none.
        let traits = Traits { gets: true, polls: poll.is_some(), ..Traits::default() };
        let source = remote(traits, &connect, None).map_err(|error| to_js(&error))?;
        return RawResource::new(config, source, hooks, &memory.0).map_err(|error| to_js(&error));
    }
    let source = KubernetesSource::read(transport)?;
    let source: Rc<dyn Source> = match namespaces {
        None => remote(Traits::of(&*polled(Rc::new(source), poll)), &connect, None).map_err(|error| to_js(&error))?,
        Some(namespaces) => {
            let open = move |namespace: &str| {
                let own = polled(Rc::new(source.within(namespace)), poll);
                // That of no namespace is only asked what it is.
                if namespace.is_empty() { own } else { remote(Traits::of(&*own), &connect, Some(namespace)).unwrap_or(own) }
            };
            let joined = Joined::new(&namespaces, Rc::new(WebRuntime::new()), Box::new(open));
            Rc::new(joined.map_err(|error| to_js(&error))?)
        }
    };
    RawResource::new(config, source, hooks, &memory.0).map_err(|error| to_js(&error))
}

/// The bytes that the resources of one cache may hold together.
#[wasm_bindgen(skip_typescript)]
pub struct RawMemory(Rc<Memory>);

#[wasm_bindgen]
impl RawMemory {
    /// So many bytes for all who are opened with it; undefined: the core's default.
    #[wasm_bindgen(constructor)]
    pub fn new(max_bytes: Option<f64>) -> Self {
        Self(Memory::new(max_bytes.map_or(DEFAULT_MAX_BYTES, bound)))
    }
}

/// The source, made one that is polled if it is to be.
fn polled(source: Rc<dyn Source>, poll: Option<Millis>) -> Rc<dyn Source> {
    match poll {
        Some(period) => Rc::new(Polled::new(source, Rc::new(WebRuntime::new()), period)),
        None => source,
    }
}

/// Judges the answer to a request of the facade's own, as those to the core's are: fails with what it means. One that may be a document passes.
#[wasm_bindgen(js_name = checkAnswer, skip_typescript)]
pub fn check_answer(head: JsValue, body: &[u8]) -> Result<(), JsValue> {
    panic::check()?;
    let given = Bag::new("head", head);
    let head = Head {
        code: given.required("code"),
        redirected: given.required("redirected"),
        content_type: given.get("contentType"),
        retry_after: given.get("retryAfter"),
        date: given.get("date"),
    };
    given.check()?;
    let judged = if head.is_refusal() { Err(head.refusal(body, runtime::wall_time())) } else { head.check_content() };
    judged.map_err(|error| to_js(&error))
}

/// Judges an option's text before it is used, or an index's name: fails with `invalid`, in the words of its use.
#[wasm_bindgen(js_name = checkGrammar, skip_typescript)]
pub fn check_grammar(option: &str, text: Option<String>) -> Result<(), JsValue> {
    panic::check()?;
    crate::selector::check_grammar(option, text.as_deref()).map_err(|error| to_js(&error))
}

/// Judges what a view asks for before it is opened: fails with `invalid`, as opening it would.
#[wasm_bindgen(js_name = checkView, skip_typescript)]
pub fn check_view(spec: JsValue) -> Result<(), JsValue> {
    panic::check()?;
    view_options(spec)?.check().map_err(|error| to_js(&error))
}

/// The message of the panic that stopped this instance, or undefined.
#[wasm_bindgen(skip_typescript)]
pub fn poisoned() -> Option<String> {
    panic::message()
}

/// Sets who hears of a panic, so that nobody waits for ever for what will never come.
#[wasm_bindgen(js_name = onPanic, skip_typescript)]
pub fn on_panic(callback: js_sys::Function) {
    panic::set_callback(callback);
}

/// The machine has slept for so many milliseconds in all, of which the host's steady clock knows nothing.
#[wasm_bindgen(skip_typescript)]
pub fn slept(millis: f64) {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    runtime::slept(millis as u64);
}

/// Bytes of linear memory.
#[wasm_bindgen(js_name = memoryBytes, skip_typescript)]
pub fn memory_bytes() -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let bytes = memory_size() as f64;
    bytes
}

/// How this build was made.
#[wasm_bindgen(js_name = buildInfo, skip_typescript)]
pub fn build_info() -> JsValue {
    to_object(&[("version", Given::text(env!("CARGO_PKG_VERSION"))), ("simd", Given::Flag(cfg!(target_feature = "simd128")))])
}
