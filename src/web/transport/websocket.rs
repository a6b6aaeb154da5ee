//! A watch over a WebSocket: each message is a frame.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::channel::{mpsc, oneshot};
use futures::{Stream, StreamExt};
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{BinaryType, Event, MessageEvent, WebSocket};

use super::credentials::Credentials;
use crate::runtime::together::Poller;
use crate::source::FrameStream;
use crate::source::kubernetes::{Unopened, Unread, broken_message, closed, subprotocols, websocket_url};
use crate::status::{Error, ErrorCode};
use crate::web::bytes::{TextEncoder, frame_bytes, frame_bytes_by};
use crate::web::error::from_thrown;
use crate::web::values::{property, text};

#[wasm_bindgen]
extern "C" {
    /// Encodes the frames of a socket sooner for what it holds of those before.
    #[wasm_bindgen(extends = TextEncoder)]
    pub(super) type FrameEncoder;
    #[wasm_bindgen(method, catch, js_name = letGo)]
    fn let_go(this: &FrameEncoder) -> Result<(), JsValue>;
}

/// The encoder that all sockets of a resource share. What it holds goes with the last of them.
pub(super) struct Encoder {
    frames: FrameEncoder,
    sockets: Cell<usize>,
}

impl Encoder {
    /// Without a socket.
    pub(super) fn new(frames: FrameEncoder) -> Rc<Self> {
        Rc::new(Self { frames, sockets: Cell::default() })
    }

    fn opened(&self) {
        self.sockets.set(self.sockets.get() + 1);
    }

    fn closed(&self) {
        self.sockets.set(self.sockets.get() - 1);
        if self.sockets.get() == 0 {
            let _poisoned = self.frames.let_go();
        }
    }
}

/// Opens a watch: each message will be a frame. Without an encoder a plain one encodes them.
pub(super) async fn open(
    constructor: &Function,
    url: &str,
    credentials: &Credentials,
    encoder: Option<Rc<Encoder>>,
) -> Result<FrameStream, Unopened> {
    let told = |message: String| Unopened::Told(Error::new(ErrorCode::Invalid, message).unsent());
    let url = websocket_url(url).ok_or_else(|| told("the server's address is neither http nor https".to_string()))?;
    let protocols: Array = subprotocols(credentials.token.as_deref())
        .iter()
        .chain(&credentials.subprotocols)
        .map(|protocol| JsValue::from_str(protocol))
        .collect();
    let arguments = if protocols.length() == 0 { Array::of1(&url.into()) } else { Array::of2(&url.into(), &protocols) };
    let socket: WebSocket = Reflect::construct(constructor, &arguments).map_err(|thrown| thrown_by(&thrown))?.unchecked_into();
    socket.set_binary_type(BinaryType::Arraybuffer);

    let (frames, receiver) = mpsc::unbounded();
    let (opened, open) = oneshot::channel();
    let unread = Rc::<Unread>::default();
    let handlers = Handlers::new(&socket, encoder.clone(), frames, opened, unread.clone());
    if let Some(encoder) = &encoder {
        encoder.opened();
    }
    let stream = Frames { receiver, unread, socket, encoder, _handlers: handlers };
    match open.await {
        Ok(()) => Ok(stream.boxed_local()),
        Err(_) => Err(Unopened::Silent),
    }
}

/// Why a constructor threw. There is no socket then, so nothing was sent: mostly a subprotocol of `auth` is none.
fn thrown_by(thrown: &JsValue) -> Unopened {
    let error = from_thrown(thrown).unsent();
    match text(thrown, "name").as_deref() {
        Some("SecurityError") => Unopened::Forbidden(error),
        _ => Unopened::Told(error),
    }
}

type Frame = Result<Vec<u8>, Error>;

struct Handlers {
    _open: Closure<dyn FnMut(Event)>,
    _message: Closure<dyn Fn(MessageEvent)>,
    _close: Closure<dyn FnMut(Event)>,
}

impl Handlers {
    fn new(
        socket: &WebSocket,
        encoder: Option<Rc<Encoder>>,
        frames: mpsc::UnboundedSender<Frame>,
        opened: oneshot::Sender<()>,
        unread: Rc<Unread>,
    ) -> Self {
        let opened = Rc::new(RefCell::new(Some(opened)));
        let open = {
            let opened = opened.clone();
            Closure::new(move |_: Event| {
                if let Some(opened) = opened.borrow_mut().take() {
                    let _gone = opened.send(());
                }
            })
        };
        let message = {
            let (frames, socket) = (frames.clone(), socket.clone());
            // A frame is applied in the call that brings it: a task of its own would cost more than the work.
            let poller = Poller::current();
            Closure::new(move |event: MessageEvent| {
                let data = event.data();
                let frame = encoder.as_ref().map_or_else(|| frame_bytes(&data), |encoder| frame_bytes_by(&encoder.frames, &data));
                if let Err(error) = unread.came(frame.as_ref().map_or(0, Vec::len)) {
                    let _gone = frames.unbounded_send(Err(error));
                    frames.close_channel();
                    let _closing = socket.close();
                    return;
                }
                poller.poll_after(|| {
                    let _gone = frames.unbounded_send(frame);
                });
            })
        };
        // A close without an open leaves `open` cancelled; one after it ends the stream.
        let close = Closure::new(move |event: Event| {
            opened.borrow_mut().take();
            if let Some(error) = error_of(&event).or_else(|| close_of(&event)) {
                let _gone = frames.unbounded_send(Err(error));
            } else if event.type_() == "error" {
                return; // the close that follows says more
            }
            frames.close_channel();
        });
        socket.set_onopen(Some(open.as_ref().unchecked_ref()));
        socket.set_onmessage(Some(message.as_ref().unchecked_ref()));
        socket.set_onclose(Some(close.as_ref().unchecked_ref()));
        socket.set_onerror(Some(close.as_ref().unchecked_ref()));
        Self { _open: open, _message: message, _close: close }
    }
}

/// What the event of an error says where the host tells it; `None` also for an event that is none.
fn error_of(event: &Event) -> Option<Error> {
    let error = property(event, "error")?;
    broken_message(&text(&error, "code")?, &text(&error, "message").unwrap_or_default())
}

/// What the event of a close says; `None` also for an event that is none.
fn close_of(event: &Event) -> Option<Error> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let code = property(event, "code")?.as_f64()? as u16;
    closed(code, &text(event, "reason").unwrap_or_default())
}

thread_local! {
    /// Listens to sockets that are of no interest any more. It lives as long as the module, so no socket outlives it.
    static NOBODY: Closure<dyn FnMut()> = Closure::new(|| {});
}

/// The frames of an open socket. Dropping it closes the socket.
struct Frames {
    receiver: mpsc::UnboundedReceiver<Frame>,
    unread: Rc<Unread>,
    socket: WebSocket,
    encoder: Option<Rc<Encoder>>,
    // Dropped after the socket let go of them.
    _handlers: Handlers,
}

impl Stream for Frames {
    type Item = Frame;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        let polled = self.receiver.poll_next_unpin(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.unread.taken(frame.len());
        }
        polled
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        // Closing twice, or while connecting, is allowed. In Node, `ws` then throws an error that nobody listens for, out of
        // the event loop, so somebody has to.
        NOBODY.with(|nobody| self.socket.set_onerror(Some(nobody.as_ref().unchecked_ref())));
        let _closing = self.socket.close();
        if let Some(encoder) = &self.encoder {
            encoder.closed();
        }
    }
}
