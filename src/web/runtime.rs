//! Clocks, timers and tasks of the host: browser pages, workers and Node.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::reflector::Peers;
use crate::runtime::together::{Together, advance_number};
use crate::runtime::{Clock, Spawn, Timer};
use crate::source::kubernetes::Servers;
use crate::time::{Instant, Millis, WallTime};
use crate::web::values::{cast, property};

#[wasm_bindgen]
extern "C" {
    type MessageChannel;
    #[wasm_bindgen(constructor, catch)]
    fn new() -> Result<MessageChannel, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn port1(this: &MessageChannel) -> MessagePort;
    #[wasm_bindgen(method, getter)]
    fn port2(this: &MessageChannel) -> MessagePort;

    type Performance;
    // Looked up at each call, because tests replace it. It is called with every frame and cannot throw, so it goes without `catch`.
    #[wasm_bindgen(method)]
    fn now(this: &Performance) -> f64;

    type MessagePort;
    #[wasm_bindgen(method, setter)]
    fn set_onmessage(this: &MessagePort, handler: &JsValue);
    #[wasm_bindgen(method, catch, js_name = postMessage)]
    fn post_message(this: &MessagePort, message: &JsValue) -> Result<(), JsValue>;
}

/// The longest wait of gloo's timers, which count in i32. Who waits longer looks at the clock and waits again.
const MAX_TIMER_MS: Millis = i32::MAX as Millis;

thread_local! {
    static PEERS: Rc<Peers> = Rc::default();
    static SERVERS: Rc<Servers> = Rc::default();
    static SLEPT: Cell<Millis> = const { Cell::new(0) };
}

/// The machine has slept for so long in all, while its steady clock stood still. Deadlines count that time.
pub(super) fn slept(millis: Millis) {
    SLEPT.set(SLEPT.get().max(millis));
}

/// The reflectors of this page, or worker, or process.
pub(super) fn peers() -> Rc<Peers> {
    PEERS.with(Rc::clone)
}

/// What is remembered of their servers.
pub(super) fn servers() -> Rc<Servers> {
    SERVERS.with(Rc::clone)
}

/// How to give the host its turn.
enum Yield {
    Immediate(Function),
    Channel(Messages),
    Timeout,
}

/// The host this module runs in.
pub(super) struct WebRuntime {
    performance: Option<Performance>,
    yielding: Yield,
    /// The advance of the tasks in which the clock was read last, and what it said.
    read: Cell<(Option<u64>, Instant)>,
}

impl WebRuntime {
    pub(super) fn new() -> Self {
        let global: JsValue = js_sys::global().into();
        let performance =
            property(&global, "performance").filter(|object| cast::<Function>(object, "now").is_some()).map(JsCast::unchecked_into);
        Self { performance, yielding: choose_yield(&global), read: Cell::default() }
    }
}

fn choose_yield(global: &JsValue) -> Yield {
    // Node: a MessageChannel would keep the process alive.
    if let Some(function) = cast::<Function>(global, "setImmediate") {
        return Yield::Immediate(function);
    }
    // Not `scheduler.yield`: its continuations come before frames, of which Chromium then lets one through each 100 ms.
    let messages = property(global, "MessageChannel").and_then(|_| Messages::new());
    messages.map_or(Yield::Timeout, Yield::Channel)
}

/// The wall clock.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn wall_time() -> WallTime {
    WallTime::from_unix_millis(js_sys::Date::now() as Millis)
}

impl Clock for WebRuntime {
    fn now(&self) -> Instant {
        let millis = self.performance.as_ref().map_or_else(js_sys::Date::now, Performance::now);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let now = Instant::from_millis(millis as Millis + SLEPT.get());
        self.read.set((advance_number(), now));
        now
    }

    fn recent(&self) -> Instant {
        match self.read.get() {
            (Some(read), then) if advance_number() == Some(read) => then,
            _ => self.now(),
        }
    }

    fn wall(&self) -> WallTime {
        wall_time()
    }
}

impl Timer for WebRuntime {
    fn sleep(&self, millis: Millis) -> LocalBoxFuture<'static, ()> {
        #[allow(clippy::cast_possible_truncation)]
        let millis = millis.min(MAX_TIMER_MS) as u32;
        TimeoutFuture::new(millis).boxed_local()
    }

    fn yield_now(&self) -> LocalBoxFuture<'static, ()> {
        let promise = match &self.yielding {
            Yield::Immediate(function) => {
                let function = function.clone();
                Some(Promise::new(&mut |resolve, _| {
                    let _handle = function.call1(&JsValue::UNDEFINED, &resolve);
                }))
            }
            Yield::Channel(messages) => return messages.yield_now(),
            Yield::Timeout => None,
        };
        match promise {
            Some(promise) => JsFuture::from(promise).map(|_| ()).boxed_local(),
            None => TimeoutFuture::new(0).boxed_local(),
        }
    }
}

/// Yields by messages to ourselves: unlike timers they are neither clamped nor throttled.
struct Messages {
    sender: MessagePort,
    waiting: Rc<RefCell<VecDeque<oneshot::Sender<()>>>>,
    _receiver: MessagePort,
    _handler: Closure<dyn FnMut(JsValue)>,
}

impl Messages {
    fn new() -> Option<Self> {
        let channel = MessageChannel::new().ok()?;
        let (receiver, sender) = (channel.port1(), channel.port2());
        let waiting: Rc<RefCell<VecDeque<oneshot::Sender<()>>>> = Rc::default();
        let queue = waiting.clone();
        let handler = Closure::new(move |_: JsValue| {
            let next = queue.borrow_mut().pop_front();
            if let Some(next) = next {
                let _gone = next.send(());
            }
        });
        receiver.set_onmessage(handler.as_ref());
        Some(Self { sender, waiting, _receiver: receiver, _handler: handler })
    }

    fn yield_now(&self) -> LocalBoxFuture<'static, ()> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().push_back(sender);
        if self.sender.post_message(&JsValue::NULL).is_err() {
            self.waiting.borrow_mut().pop_back();
            return TimeoutFuture::new(0).boxed_local();
        }
        receiver.map(|_| ()).boxed_local()
    }
}

impl Spawn for WebRuntime {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        spawn_local(task);
    }

    fn spawn_together(&self, tasks: [LocalBoxFuture<'static, ()>; 2]) {
        spawn_local(Together::new(tasks));
    }
}

/// A seed of the host's: pages that wake together must not come back together.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn random_seed() -> u64 {
    (js_sys::Math::random() * 9_007_199_254_740_991.0) as u64
}

/// The global object's property, for functions that the user may replace.
pub(super) fn global_function(name: &str) -> Option<Function> {
    Reflect::get(&js_sys::global(), &JsValue::from_str(name)).ok().and_then(|value| value.dyn_into().ok())
}
