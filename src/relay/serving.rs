//! The relay's end of a channel: it answers calls by a source.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::future::{Either, poll_fn, select};
use futures::stream::LocalBoxStream;
use futures::{FutureExt, StreamExt, stream};
use rustc_hash::FxHashMap;

use super::document::state_head;
use super::message::{Answer, BATCH_BYTES, CREDIT_BYTES, Call, CallId, Described, Request};
use crate::runtime::{SharedRuntime, Task};
use crate::source::{HeldState, Source};
use crate::status::Error;
use crate::time::{Instant, Millis};

type Items = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// Answers the calls of one who shares. Dropping it ends them all.
pub struct Serving {
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    pace: Millis,
    send: Rc<dyn Fn(Answer)>,
    calls: Rc<RefCell<FxHashMap<CallId, Answering>>>,
    _standing: Option<Task>,
}

struct Answering {
    credit: Rc<Credit>,
    _task: Task,
}

/// How much one call may still send.
#[derive(Default)]
struct Credit {
    sent: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

impl Credit {
    /// Completes when there is some.
    async fn left(&self) {
        poll_fn(|cx| {
            if self.sent.get() < CREDIT_BYTES {
                return Poll::Ready(());
            }
            self.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn took(&self, bytes: usize) {
        self.sent.set(self.sent.get().saturating_sub(bytes));
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Has the events of a busy watch cross together: one message costs the other end more than the few events that are in it.
struct Pace {
    runtime: SharedRuntime,
    millis: Millis,
    sent: Option<Instant>,
}

impl Pace {
    /// Completes when the next message may be sent. After a pause that is at once.
    async fn due(&self) {
        let since = self.sent.map_or(self.millis, |sent| self.runtime.recent().since(sent));
        if since < self.millis {
            self.runtime.sleep(self.millis - since).await;
        }
    }

    /// A message was sent. What comes behind a full one is of a watch that catches up, and is not waited for.
    fn sent(&mut self, was_full: bool) {
        self.sent = (!was_full).then(|| self.runtime.recent());
    }
}

impl Serving {
    /// Answers by this source. `send` carries an answer to the other end; between two of one watch is this time at least, mostly [`super::WATCH_PACE_MS`].
    pub fn new(source: Rc<dyn Source>, runtime: SharedRuntime, pace: Millis, send: impl Fn(Answer) + 'static) -> Self {
        let send: Rc<dyn Fn(Answer)> = Rc::new(send);
        let standing = source.standing().map(|mut standing| {
            let send = send.clone();
            Task::spawn(&*runtime, async move {
                while let Some(standing) = standing.next().await {
                    send(Answer::Stands(standing));
                }
            })
        });
        Self { source, runtime, pace, send, calls: Rc::default(), _standing: standing }
    }

    /// Takes what came from the other end.
    pub fn take(&self, request: Request) {
        match request {
            Request::Begin(id, call) => self.begin(id, call),
            Request::Took(id, bytes) => {
                if let Some(answering) = self.calls.borrow().get(&id) {
                    answering.credit.took(bytes);
                }
            }
            Request::Drop(id) => {
                let dropped = self.calls.borrow_mut().remove(&id);
                drop(dropped);
            }
        }
    }

    /// Calls that are not over.
    pub fn calls(&self) -> usize {
        self.calls.borrow().len()
    }

    fn begin(&self, id: CallId, call: Call) {
        let (source, send, credit) = (self.source.clone(), self.send.clone(), Rc::<Credit>::default());
        let pace = matches!(call, Call::Watch(_)).then(|| Pace { runtime: self.runtime.clone(), millis: self.pace, sent: None });
        // Weakly: the work would keep its own handle, and outlive all of this.
        let (calls, sent) = (Rc::downgrade(&self.calls), credit.clone());
        let work = async move {
            let error = match open(&*source, call).await {
                Ok(items) => {
                    send(Answer::Open(id, Described { columns: source.columns(), collection: source.collection() }));
                    pass_on(id, items, &sent, pace, &*send).await.err()
                }
                Err(error) => Some(error),
            };
            let over = calls.upgrade().and_then(|calls| calls.borrow_mut().remove(&id));
            send(Answer::End(id, error));
            drop(over);
        };
        // What is done at once must not be noted afterwards.
        let (task, work) = Task::new(work);
        self.calls.borrow_mut().insert(id, Answering { credit, _task: task });
        self.runtime.spawn(work.boxed_local());
    }
}

/// The items of the answer, once it has begun.
async fn open(source: &dyn Source, call: Call) -> Result<Items, Error> {
    let one = |document: Vec<u8>| stream::iter([Ok(document)]).boxed_local();
    match call {
        Call::List(request) => source.list(request).await,
        Call::Held => {
            let HeldState { version, history, kept_at, parcels } = match source.held() {
                Some(held) => held.await?,
                None => return Err(Error::protocol("the relay is asked for what it holds, and holds nothing")),
            };
            Ok(stream::iter([Ok(state_head(&version, history, kept_at))]).chain(parcels).boxed_local())
        }
        Call::Watch(request) => source.watch(request).await,
        Call::Get(object, subresource) => source.get(object, subresource).await.map(one),
        Call::Write(request) => source.write(request).await.map(one),
    }
}

/// Sends items as they come, those that are there together.
async fn pass_on(id: CallId, mut items: Items, credit: &Credit, mut pace: Option<Pace>, send: &dyn Fn(Answer)) -> Result<(), Error> {
    loop {
        credit.left().await;
        let Some(first) = items.next().await else { return Ok(()) };
        let mut batch = Batch::of(first?);
        let mut end = batch.take_ready(&mut items);
        if let Some(pace) = pace.as_ref().filter(|_| end.is_none()) {
            end = batch.take_until(&mut items, pace.due()).await;
        }
        credit.sent.set(credit.sent.get() + batch.bytes);
        let was_full = batch.is_full();
        send(Answer::Items(id, batch.items));
        if let Some(pace) = &mut pace {
            pace.sent(was_full);
        }
        if let Some(end) = end {
            return end;
        }
    }
}

/// Items that cross together.
struct Batch {
    items: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batch {
    fn of(first: Vec<u8>) -> Self {
        Self { bytes: first.len(), items: vec![first] }
    }

    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES
    }

    /// Takes what is there, as far as there is room. Returns how the items have ended, if they have.
    fn take_ready(&mut self, items: &mut Items) -> Option<Result<(), Error>> {
        while !self.is_full()
            && let Some(next) = items.next().now_or_never()
        {
            if let Err(end) = self.take(next) {
                return Some(end);
            }
        }
        None
    }

    /// The same of what comes until then. It is asked for all the while: a watch of which nobody asks holds up the whole stream.
    async fn take_until(&mut self, items: &mut Items, due: impl Future<Output = ()>) -> Option<Result<(), Error>> {
        let mut due = pin!(due);
        while !self.is_full()
            && let Either::Left((next, _)) = select(items.next(), due.as_mut()).await
        {
            if let Err(end) = self.take(next) {
                return Some(end);
            }
        }
        None
    }

    /// Fails with how the items have ended, where they have.
    fn take(&mut self, next: Option<Result<Vec<u8>, Error>>) -> Result<(), Result<(), Error>> {
        let item = next.ok_or(Ok(()))?.map_err(Err)?;
        self.bytes += item.len();
        self.items.push(item);
        Ok(())
    }
}
