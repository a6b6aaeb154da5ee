//! The other end of a channel: the relay as a source for who shares it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::future::{LocalBoxFuture, poll_fn};
use futures::stream::LocalBoxStream;
use futures::{FutureExt, Stream, StreamExt};
use rustc_hash::FxHashMap;

use super::document::read_state_head;
use super::message::{Answer, CREDIT_BYTES, Call, CallId, Described, Request};
use crate::connection::Connection;
use crate::message::Quarantined;
use crate::source::{
    Collection, FrameStream, HeldState, ListRequest, ObjectName, PageStream, Source, Standing, WatchRequest, WriteRequest,
};
use crate::status::Error;
use crate::version::Version;

/// What a source says of itself before it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// [`Source::gets`].
    pub gets: bool,
    /// [`Source::selects`].
    pub selects: bool,
    /// [`Source::names_kinds`].
    pub names_kinds: bool,
    /// [`Source::collection`].
    pub collection: Option<Collection>,
    /// [`Source::part`].
    pub part: Option<&'static str>,
    /// [`Source::is_rendered`].
    pub is_rendered: bool,
    /// [`Source::polls`].
    pub polls: bool,
}

impl Traits {
    /// Those of a source.
    pub fn of(source: &dyn Source) -> Self {
        Self {
            gets: source.gets(),
            selects: source.selects(),
            names_kinds: source.names_kinds(),
            collection: source.collection(),
            part: source.part(),
            is_rendered: source.is_rendered(),
            polls: source.polls(),
        }
    }
}

/// A relay behind a channel, as a source.
pub struct Remote {
    line: Rc<Line>,
    traits: Traits,
}

struct Line {
    send: RefCell<Rc<dyn Fn(Request)>>,
    calls: RefCell<FxHashMap<CallId, Rc<Waiting>>>,
    last: Cell<CallId>,
    /// Why nobody answers any more.
    broken: RefCell<Option<Error>>,
    /// How the relay's stream stands, and who hears of that.
    stands: RefCell<Stands>,
    followers: RefCell<Vec<UnboundedSender<Standing>>>,
    /// What the relay's source said last of itself.
    described: RefCell<Described>,
}

/// What the relay told last of its stream.
#[derive(Default)]
struct Stands {
    connection: Option<Connection>,
    apart: Vec<Quarantined>,
    compacted: Option<Version>,
}

impl Stands {
    fn note(&mut self, standing: Standing) {
        match standing {
            Standing::Connection(connection) => self.connection = Some(connection),
            Standing::SetApart(all) => self.apart = all,
            Standing::Compacted(version) => self.compacted = Some(version),
            // What follows it is told on, too.
            Standing::Listed { .. } => {}
        }
    }

    /// For who begins to hear of it.
    fn told(&self) -> impl Iterator<Item = Standing> {
        let connection = self.connection.clone().map(Standing::Connection);
        // Also that nothing is: who begins anew may have known of something.
        connection.into_iter().chain([Standing::SetApart(self.apart.clone())]).chain(self.compacted.clone().map(Standing::Compacted))
    }
}

/// What came of one call.
#[derive(Default)]
struct Waiting {
    open: Cell<bool>,
    items: RefCell<VecDeque<Vec<u8>>>,
    end: RefCell<Option<Option<Error>>>,
    waker: RefCell<Option<Waker>>,
}

impl Waiting {
    fn wake(&self) {
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Line {
    fn stands(&self, standing: &Standing) {
        self.stands.borrow_mut().note(standing.clone());
        self.followers.borrow_mut().retain(|follower| follower.unbounded_send(standing.clone()).is_ok());
    }

    fn send(&self, request: Request) {
        let send = self.send.borrow().clone();
        send(request);
    }
}

impl Remote {
    /// What is asked goes out by `send`, and what comes back is given to [`Remote::take`].
    pub fn new(traits: Traits, send: impl Fn(Request) + 'static) -> Self {
        let (calls, last, broken, stands, followers, described) = Default::default();
        Self { line: Rc::new(Line { send: RefCell::new(Rc::new(send)), calls, last, broken, stands, followers, described }), traits }
    }

    /// There is another end from now on. What the one before answers no longer counts.
    pub fn reconnect(&self, send: impl Fn(Request) + 'static) {
        self.break_off(&Error::network("the relay was replaced"));
        self.line.send.replace(Rc::new(send));
        self.line.broken.take();
    }

    /// Takes what came from the other end. What is of no call is of one that was dropped.
    pub fn take(&self, answer: Answer) {
        let (Answer::Open(id, _) | Answer::Items(id, _) | Answer::End(id, _)) = &answer else {
            if let Answer::Stands(standing) = &answer {
                self.line.stands(standing);
            }
            return;
        };
        let Some(waiting) = self.line.calls.borrow().get(id).cloned() else { return };
        match answer {
            Answer::Stands(_) => {}
            Answer::Open(_, Described { columns, collection }) => {
                let mut described = self.line.described.borrow_mut();
                // What is not known any more was known, and is so.
                described.columns = columns.or(described.columns.take());
                described.collection = collection.or(described.collection.take());
                waiting.open.set(true);
            }
            Answer::Items(_, items) => waiting.items.borrow_mut().extend(items),
            Answer::End(id, error) => {
                waiting.end.replace(Some(error));
                self.line.calls.borrow_mut().remove(&id);
            }
        }
        waiting.wake();
    }

    /// Nobody answers any more: all calls end so, those that are begun later, too.
    pub fn break_off(&self, error: &Error) {
        self.line.broken.replace(Some(error.clone()));
        // Nobody knows any more; the next one says it anew, if it is not so.
        self.line.stands(&Standing::Connection(Connection::Live));
        if !self.line.stands.borrow().apart.is_empty() {
            self.line.stands(&Standing::SetApart(Vec::new()));
        }
        self.line.stands.borrow_mut().compacted = None;
        for (_, waiting) in std::mem::take(&mut *self.line.calls.borrow_mut()) {
            waiting.end.replace(Some(Some(error.clone())));
            waiting.wake();
        }
    }

    /// Calls that are not over.
    pub fn calls(&self) -> usize {
        self.line.calls.borrow().len()
    }

    /// Begins a call; completes when its answer has begun.
    fn call(&self, call: Call) -> LocalBoxFuture<'static, Result<Answered, Error>> {
        let line = self.line.clone();
        async move {
            let mut answered = Answered::begin(line, call)?;
            poll_fn(|cx| answered.poll_open(cx)).await?;
            Ok(answered)
        }
        .boxed_local()
    }

    /// The same of a call whose answer is one item.
    fn ask(&self, call: Call) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let answered = self.call(call);
        async move {
            match answered.await?.next().await {
                Some(item) => item,
                None => Err(Error::protocol("the relay answered nothing")),
            }
        }
        .boxed_local()
    }
}

/// The items of one call. Who drops it before its end says so.
struct Answered {
    id: CallId,
    line: Rc<Line>,
    waiting: Rc<Waiting>,
    /// Bytes that were taken, and not told of yet.
    taken: usize,
}

impl Answered {
    fn begin(line: Rc<Line>, call: Call) -> Result<Self, Error> {
        if let Some(error) = &*line.broken.borrow() {
            return Err(error.clone().unsent());
        }
        let (id, waiting) = (line.last.get() + 1, Rc::<Waiting>::default());
        line.last.set(id);
        line.calls.borrow_mut().insert(id, waiting.clone());
        line.send(Request::Begin(id, call));
        Ok(Self { id, line, waiting, taken: 0 })
    }

    fn poll_open(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        let waiting = &self.waiting;
        if waiting.open.get() {
            return Poll::Ready(Ok(()));
        }
        if let Some(end) = waiting.end.borrow_mut().take() {
            return Poll::Ready(Err(end.unwrap_or_else(|| Error::protocol("the relay ended what it had not begun"))));
        }
        waiting.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Stream for Answered {
    type Item = Result<Vec<u8>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = self.waiting.items.borrow_mut().pop_front();
        if let Some(item) = item {
            self.taken += item.len();
            // Half of it at once, so that the other end need not wait.
            if self.taken >= CREDIT_BYTES / 2 {
                let taken = std::mem::take(&mut self.taken);
                self.line.send(Request::Took(self.id, taken));
            }
            return Poll::Ready(Some(Ok(item)));
        }
        if let Some(end) = &mut *self.waiting.end.borrow_mut() {
            return Poll::Ready(end.take().map(Err));
        }
        self.waiting.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        if self.line.calls.borrow_mut().remove(&self.id).is_some() {
            self.line.send(Request::Drop(self.id));
        }
    }
}

impl Source for Remote {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        self.call(Call::List(request)).map(|answered| answered.map(StreamExt::boxed_local)).boxed_local()
    }

    fn held(&self) -> Option<LocalBoxFuture<'static, Result<HeldState, Error>>> {
        let answered = self.call(Call::Held);
        let state = async move {
            let mut answered = answered.await?;
            let strange = || Error::protocol("the relay does not say of which version it is what it holds");
            let head = answered.next().await.ok_or_else(strange)??;
            let (version, history, kept_at) = read_state_head(&head).ok_or_else(strange)?;
            Ok(HeldState { version, history, kept_at, parcels: answered.boxed_local() })
        };
        Some(state.boxed_local())
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        self.call(Call::Watch(request)).map(|answered| answered.map(StreamExt::boxed_local)).boxed_local()
    }

    fn standing(&self) -> Option<LocalBoxStream<'static, Standing>> {
        let (sender, receiver) = unbounded();
        for standing in self.line.stands.borrow().told() {
            let _gone = sender.unbounded_send(standing);
        }
        self.line.followers.borrow_mut().push(sender);
        Some(receiver.boxed_local())
    }

    fn gets(&self) -> bool {
        self.traits.gets
    }

    fn selects(&self) -> bool {
        self.traits.selects
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.ask(Call::Get(object, subresource))
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.ask(Call::Write(request))
    }

    fn collection(&self) -> Option<Collection> {
        self.traits.collection.clone().or_else(|| self.line.described.borrow().collection.clone())
    }

    fn reads_marks(&self) -> bool {
        true
    }

    fn is_near(&self) -> bool {
        true
    }

    fn names_kinds(&self) -> bool {
        self.traits.names_kinds
    }

    fn part(&self) -> Option<&'static str> {
        self.traits.part
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.line.described.borrow().columns.clone()
    }

    fn is_rendered(&self) -> bool {
        self.traits.is_rendered
    }

    fn polls(&self) -> bool {
        self.traits.polls
    }
}
