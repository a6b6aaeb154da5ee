//! What the browser tests share: a recorder of flushes, a `Source` whose frames the test pushes, and waiting by condition.

use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use watchcache::web::{Hooks, RawMemory, RawResource, open_kubernetes, open_source};

#[wasm_bindgen(inline_js = r#"
export class Recorder {
  constructor() { this.flushes = []; this.delivered = []; this.ended = []; this.signals = 0; this.during = undefined; this.errors = []; }
  flush(events, given, ended, views, signals, audience) {
    if (audience !== 0 && given.length > 0) this.audience = [...given];
    const spread = (_, event) => this.audience.flatMap((watcher) => [watcher, event]);
    const pairs = audience === 0 ? given : Array.from({ length: events.length / 2 }, spread).flat();
    const flush = { events: [...events], pairs: [...pairs], ended: [...ended], views: [...views], signals };
    this.flushes.push(flush);
    this.signals |= signals;
    for (let i = 0; i < flush.pairs.length; i += 2) {
      const at = flush.pairs[i + 1] * 2;
      this.delivered.push([flush.pairs[i], flush.events[at], flush.events[at + 1]]);
    }
    for (let i = 0; i < flush.ended.length; i += 2) this.ended.push([flush.ended[i], flush.ended[i + 1]]);
    if (this.during) this.during(flush);
  }
  event(kind, id, watcher, audience) { this.flush([kind, id], audience === 0 ? [watcher, 0] : [], [], [], 0, audience); }
}
export class PushSource {
  constructor(list) { this.answer = list; this.lists = 0; this.watches = []; this.requests = []; this.frames = []; this.wake = () => {}; this.refusal = undefined; }
  async list(request) {
    this.lists += 1;
    this.requests.push(request);
    if (this.answer instanceof Error) throw this.answer;
    return { body: await this.answer };
  }
  async *watch(request, signal) {
    this.watches.push(request.resourceVersion);
    if (this.refusal) throw this.refusal;
    for (;;) {
      while (this.frames.length) {
        const frame = this.frames.shift();
        if (frame === "drop") return;
        yield frame;
      }
      if (signal.aborted) return;
      await new Promise((resolve) => { this.wake = resolve; signal.addEventListener("abort", resolve, { once: true }); });
    }
  }
  push(frame) { this.frames.push(frame); this.wake(); }
}
export function refusal(code, reason, message, retryAfterSeconds) { return Object.assign(new Error(message), { code, reason, retryAfterSeconds }); }
export function options(overrides) {
  return { name: "pods", checkConsistency: false, retry: { initialMs: 5, capMs: 50, jitter: 0 }, ...overrides };
}
export function kubernetes(server, path, extra) {
  return { server, path, transport: "websocket", credentials: "omit", WebSocket: globalThis.WebSocket, fetch: globalThis.fetch.bind(globalThis), ...extra };
}
export function thrown(action) { try { action(); return undefined; } catch (error) { return error; } }
"#)]
extern "C" {
    pub type Recorder;
    #[wasm_bindgen(constructor)]
    pub fn new() -> Recorder;
    #[wasm_bindgen(method, getter)]
    pub fn flushes(this: &Recorder) -> Array;
    #[wasm_bindgen(method, getter)]
    pub fn delivered(this: &Recorder) -> Array;
    #[wasm_bindgen(method, getter)]
    pub fn ended(this: &Recorder) -> Array;
    #[wasm_bindgen(method, getter)]
    pub fn signals(this: &Recorder) -> u32;
    #[wasm_bindgen(method, setter)]
    pub fn set_during(this: &Recorder, during: &JsValue);

    #[derive(Clone)]
    pub type PushSource;
    #[wasm_bindgen(constructor)]
    pub fn new_with(list: &JsValue) -> PushSource;
    #[wasm_bindgen(method)]
    pub fn push(this: &PushSource, frame: &JsValue);
    #[wasm_bindgen(method, getter)]
    pub fn lists(this: &PushSource) -> u32;
    #[wasm_bindgen(method, getter)]
    pub fn watches(this: &PushSource) -> Array;
    #[wasm_bindgen(method, setter)]
    pub fn set_answer(this: &PushSource, answer: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub fn set_refusal(this: &PushSource, refusal: &JsValue);

    pub fn refusal(code: u32, reason: &str, message: &str, retry_after: JsValue) -> JsValue;
    fn options(overrides: &JsValue) -> JsValue;
    fn kubernetes(server: &str, path: &str, extra: &JsValue) -> JsValue;
}

pub fn json(text: &str) -> JsValue {
    js_sys::JSON::parse(text).expect("valid JSON in the test")
}

pub fn pod(key: &str, version: u32, app: &str) -> String {
    let (namespace, name) = key.split_once('/').expect("namespace/name");
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"{version}","labels":{{"app":"{app}"}},"managedFields":[{{"manager":"kubelet"}}]}},"status":{{"phase":"Running","restarts":{version}}}}}"#
    )
}

pub fn list(version: u32, pods: &[String]) -> String {
    format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{version}"}},"items":[{}]}}"#, pods.join(","))
}

pub fn frame(kind: &str, object: &str) -> JsValue {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into()
}

/// A resource over a pushed source, with three pods at version 3, synced.
pub struct World {
    pub source: PushSource,
    pub recorder: Recorder,
    pub resource: RawResource,
}

impl World {
    pub async fn synced() -> Self {
        let world = Self::of(&list(3, &[pod("a/x", 1, "web"), pod("a/y", 2, "web"), pod("b/z", 3, "db")]));
        JsFuture::from(world.resource.synced().unwrap()).await.expect("the first list");
        until("the watch is open", || world.source.watches().length() > 0).await;
        world
    }

    pub fn of(list: &str) -> Self {
        let source = PushSource::new_with(&list.into());
        let recorder = Recorder::new();
        let hooks: &Hooks = recorder.unchecked_ref();
        let resource = open_source(options(&JsValue::UNDEFINED), source.clone().unchecked_into(), clone(hooks), &memory()).expect("opens");
        resource.start().expect("starts");
        Self { source, recorder, resource }
    }

    pub fn phase(&self) -> String {
        status(&self.resource, "phase")
    }

    pub fn error_code(&self) -> String {
        error_code(&self.resource)
    }

    pub fn watch(&self, options: &str) -> u32 {
        let id = self.resource.watch(json(options)).expect("a watch");
        self.resource.demand(id, 2).expect("demand");
        id
    }

    /// The key of a pinned object.
    pub fn key(&self, id: f64) -> String {
        let names = String::from(self.resource.facts(id, false).expect("a pinned object"));
        names.split_once(' ').expect("a version and a key").1.to_string()
    }

    /// What a watcher received: (kind, key) in order.
    pub fn received(&self, watcher: u32) -> Vec<(u32, String)> {
        let delivered = self.recorder.delivered();
        let rows = delivered.iter().map(|row| Array::from(&row));
        rows.filter(|row| row.get(0).as_f64() == Some(f64::from(watcher)))
            .map(|row| (row.get(1).as_f64().unwrap() as u32, self.key(row.get(2).as_f64().unwrap())))
            .collect()
    }
}

pub fn kubernetes_resource(server: &str, path: &str, extra: &JsValue) -> (Recorder, RawResource) {
    let recorder = Recorder::new();
    let hooks: &Hooks = recorder.unchecked_ref();
    let resource = open_kubernetes(options(&JsValue::UNDEFINED), kubernetes(server, path, extra), clone(hooks), &memory()).expect("opens");
    resource.start().expect("starts");
    (recorder, resource)
}

/// More than any test needs.
fn memory() -> RawMemory {
    RawMemory::new(Some(f64::from(64 << 20)))
}

fn clone(hooks: &Hooks) -> Hooks {
    let value: &JsValue = hooks.as_ref();
    value.clone().unchecked_into()
}

pub fn status(resource: &RawResource, name: &str) -> String {
    let value = Reflect::get(&resource.status().expect("a status"), &name.into()).expect("a property");
    value.as_string().unwrap_or_else(|| format!("{value:?}"))
}

pub fn error_code(resource: &RawResource) -> String {
    let error = Reflect::get(&resource.status().expect("a status"), &"error".into()).expect("a property");
    code(&error)
}

pub fn code(error: &JsValue) -> String {
    Reflect::get(error, &"code".into()).ok().and_then(|code| code.as_string()).unwrap_or_else(|| format!("{error:?}"))
}

pub async fn rejected(promise: Promise) -> String {
    code(&JsFuture::from(promise).await.expect_err("a rejection"))
}

/// A busy machine takes long for what a quiet one does at once.
const PATIENCE_MS: f64 = 60_000.0;

/// Waits for a condition; fails by its name after a minute.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = js_sys::Date::now() + PATIENCE_MS;
    while !holds() {
        assert!(js_sys::Date::now() < deadline, "waited in vain until {what}");
        TimeoutFuture::new(2).await;
    }
}
