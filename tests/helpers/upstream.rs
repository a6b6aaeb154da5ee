//! An upstream in memory with the API server's rules. Every write has its own version, lists are consistent and paged, watches
//! replay the history, and old versions expire. On request it misbehaves in every way that networks, proxies and replicas do.

mod asked;
pub mod faults;
mod storage;
mod wire;
pub mod writes;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use asked::Compaction;
use faults::Spoiled;
pub use faults::{ListFault, WatchFault};
use futures::FutureExt;
use futures::channel::mpsc;
use futures::future::LocalBoxFuture;
use futures::stream::{self, StreamExt};
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::{Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, WatchRequest, WriteRequest};
use watchcache::status::{Error, Status};
use watchcache::time::Millis;
use watchcache::version::Version;
use wire::{Connection, Held, bookmark_frame, initial_events_end, said};
use writes::{Asked, Writes};

/// The state at a version: key → (version, document).
pub type State = BTreeMap<String, (u64, Rc<str>)>;

/// One write.
#[derive(Clone, Debug)]
pub struct Write {
    pub version: u64,
    pub kind: &'static str,
    pub key: String,
    /// With the version of the write; for DELETED the last state.
    pub document: Rc<str>,
}

impl Write {
    fn apply(&self, state: &mut State) {
        if self.kind == "DELETED" {
            state.remove(&self.key);
        } else {
            state.insert(self.key.clone(), (self.version, self.document.clone()));
        }
    }

    fn frame(&self, spoiled: &Spoiled) -> Vec<u8> {
        format!("{{\"type\":\"{}\",\"object\":{}}}\n", self.kind, spoiled.document(&self.key, &self.document)).into_bytes()
    }
}

/// What went out, and when.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    List(Millis, ListRequest),
    Watch(Millis, WatchRequest),
}

impl Request {
    pub fn at(&self) -> Millis {
        match self {
            Self::List(at, _) | Self::Watch(at, _) => *at,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Self::List(..))
    }
}

struct Open {
    id: u64,
    sender: mpsc::UnboundedSender<Result<Vec<u8>, Error>>,
    /// The version it was asked to start behind.
    from: u64,
    sent: u64,
    /// The version that its replica has reached; `None`: it is up to date.
    reached: Option<u64>,
    frozen: bool,
}

pub struct Upstream {
    time: Rc<VirtualTime>,
    pub random: RefCell<fastrand::Rng>,
    version: Cell<u64>,
    log: RefCell<Vec<Write>>,
    current: RefCell<State>,
    /// A state of the past and its version, so that walking forwards through the history is cheap.
    walked: RefCell<(u64, State)>,
    compacted: Cell<u64>,
    streams: RefCell<Vec<Open>>,
    next_stream: Cell<u64>,
    /// Open lists, open watches, and the most of both that were ever open at once.
    lists: Rc<Cell<usize>>,
    watches: Rc<Cell<usize>>,
    peak: Cell<(usize, usize)>,
    overlapped: Cell<bool>,
    /// How many writes watches can go back; 0: to the last compaction.
    pub remembers: Cell<usize>,
    pub requests: RefCell<Vec<Request>>,
    pub list_faults: RefCell<VecDeque<ListFault>>,
    pub watch_faults: RefCell<VecDeque<WatchFault>>,
    /// Objects that go out in a form that nobody can take, in lists and watches alike.
    pub spoiled: RefCell<Spoiled>,
    /// How many versions behind the replica is that answers.
    pub behind: Cell<u64>,
    /// A proxy holds back what watches bring until they end.
    pub buffers: Cell<bool>,
    /// Bytes a chunk of a list's body, at most.
    pub chunk: Cell<usize>,
    /// Requests are answered after at most so many milliseconds.
    pub latency: Cell<Millis>,
    /// Bookmarks on open watches, so many milliseconds apart; 0: none.
    pub bookmark_every: Cell<Millis>,
    /// Requests that are no lists and no watches.
    pub writes: Writes,
    /// Whether it tells its version and its progress on request, as etcd does and the Kubernetes API does not.
    pub tells_progress: Cell<bool>,
    /// Whether it tells what it has compacted, whether it leaves that question without an answer, and when it was asked.
    pub compaction: Compaction,
    /// Whether its objects are all of one kind, as those of a Kubernetes API.
    pub names_kinds: Cell<bool>,
    /// The one namespace that its collection is of.
    pub namespace: RefCell<Option<String>>,
    /// When it was asked for its version, and for progress.
    pub asked: RefCell<(Vec<Millis>, Vec<Millis>)>,
}

impl Upstream {
    pub fn new(time: Rc<VirtualTime>, seed: u64) -> Rc<Self> {
        Rc::new(Self {
            time,
            random: RefCell::new(fastrand::Rng::with_seed(seed)),
            version: Cell::new(100),
            log: RefCell::default(),
            current: RefCell::default(),
            walked: RefCell::default(),
            compacted: Cell::new(0),
            streams: RefCell::default(),
            next_stream: Cell::new(0),
            lists: Rc::default(),
            watches: Rc::default(),
            peak: Cell::default(),
            overlapped: Cell::default(),
            remembers: Cell::new(0),
            requests: RefCell::default(),
            list_faults: RefCell::default(),
            watch_faults: RefCell::default(),
            spoiled: RefCell::default(),
            behind: Cell::new(0),
            buffers: Cell::new(false),
            chunk: Cell::new(64),
            latency: Cell::new(0),
            bookmark_every: Cell::new(60_000),
            writes: Writes::default(),
            tells_progress: Cell::new(false),
            compaction: Compaction::default(),
            names_kinds: Cell::new(false),
            namespace: RefCell::default(),
            asked: RefCell::default(),
        })
    }

    pub fn version(&self) -> u64 {
        self.version.get()
    }

    /// The most lists, and the most watches, that were ever open at once.
    pub fn peak(&self) -> (usize, usize) {
        self.peak.get()
    }

    /// Whether a list and a watch were ever open at once.
    pub fn overlapped(&self) -> bool {
        self.overlapped.get()
    }

    /// Connections that are open now, requests under way included.
    pub fn connections(&self) -> usize {
        self.lists.get() + self.watches.get()
    }

    /// Every write that there ever was.
    pub fn log(&self) -> Vec<Write> {
        self.log.borrow().clone()
    }

    /// What stands there now.
    pub fn state(&self) -> State {
        self.current.borrow().clone()
    }

    /// What stood there at a version.
    pub fn state_at(&self, version: u64) -> State {
        let mut walked = self.walked.borrow_mut();
        if walked.0 > version {
            *walked = (0, State::new());
        }
        let log = self.log.borrow();
        for write in &log[after(&log, walked.0)..after(&log, version)] {
            write.apply(&mut walked.1);
        }
        walked.0 = version;
        walked.1.clone()
    }

    /// Creates or changes an object; its new version.
    pub fn put(&self, namespace: &str, name: &str) -> u64 {
        let size = self.random.borrow_mut().usize(..40);
        self.put_sized(namespace, name, size)
    }

    /// The same, with a text of so many bytes in it.
    pub fn put_sized(&self, namespace: &str, name: &str, size: usize) -> u64 {
        let key = key(namespace, name);
        let kind = if self.holds(&key) { "MODIFIED" } else { "ADDED" };
        let version = self.version() + 1;
        let filler = "x".repeat(size);
        let namespace_member = if namespace.is_empty() { String::new() } else { format!("\"namespace\":\"{namespace}\",") };
        let document = format!(
            "{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"{name}\",{namespace_member}\"uid\":\"{key}\",\
             \"resourceVersion\":\"{version}\",\"labels\":{{\"odd\":\"{}\"}}}},\"spec\":{{\"text\":\"{filler}\"}}}}",
            version % 2
        );
        self.write(Write { version, kind, key, document: document.into() });
        version
    }

    /// Creates or changes an object with these labels and this `spec`; its new version.
    pub fn put_with(&self, namespace: &str, name: &str, labels: &[(&str, &str)], spec: &serde_json::Value) -> u64 {
        let key = key(namespace, name);
        let kind = if self.holds(&key) { "MODIFIED" } else { "ADDED" };
        let version = self.version() + 1;
        let labels: serde_json::Map<_, _> = labels.iter().map(|(label, value)| ((*label).to_string(), (*value).into())).collect();
        let mut metadata = serde_json::json!({"name": name, "uid": key, "resourceVersion": version.to_string(), "labels": labels});
        if !namespace.is_empty() {
            metadata["namespace"] = namespace.into();
        }
        let document = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec}).to_string();
        self.write(Write { version, kind, key, document: document.into() });
        version
    }

    /// Deletes an object; the version of the deletion.
    pub fn delete(&self, namespace: &str, name: &str) -> u64 {
        let key = key(namespace, name);
        let (old, document) = self.current.borrow().get(&key).cloned().expect("an object to delete");
        let version = self.version() + 1;
        let document = document.replace(&format!("\"resourceVersion\":\"{old}\""), &format!("\"resourceVersion\":\"{version}\""));
        self.write(Write { version, kind: "DELETED", key, document: document.into() });
        version
    }

    /// A random write among few names, so that objects come and go and come again.
    pub fn write_randomly(&self) {
        let (number, delete) = {
            let mut random = self.random.borrow_mut();
            (random.u32(..12), random.u32(..3) == 0)
        };
        let (namespace, name) = (format!("ns{}", number % 3), format!("pod{number}"));
        if delete && self.holds(&key(&namespace, &name)) {
            self.delete(&namespace, &name);
        } else {
            self.put(&namespace, &name);
        }
    }

    /// The version moves on by writes to other resources.
    pub fn pass(&self, versions: u64) {
        self.version.set(self.version() + versions);
    }

    fn holds(&self, key: &str) -> bool {
        self.current.borrow().contains_key(key)
    }

    fn write(&self, write: Write) {
        self.version.set(write.version);
        write.apply(&mut self.current.borrow_mut());
        self.log.borrow_mut().push(write);
        self.pump();
    }

    /// Forgets the history up to now: watches and continue tokens from before are answered 410.
    pub fn expire(&self) {
        self.compacted.set(self.version());
    }

    /// Forgets what lies before this version.
    pub fn expire_to(&self, version: u64) {
        self.compacted.set(self.compacted.get().max(version.min(self.version())));
    }

    /// The oldest version that it still knows.
    pub fn compacted(&self) -> u64 {
        self.compacted.get()
    }

    /// All open watches end, as servers end them.
    pub fn drop_streams(&self) {
        self.streams.borrow_mut().clear();
    }

    /// All open watches break.
    pub fn break_streams(&self, error: &Error) {
        for stream in self.streams.take() {
            let _gone = stream.sender.unbounded_send(Err(error.clone()));
        }
    }

    /// Open watches stay open and say nothing any more.
    pub fn freeze_streams(&self) {
        self.streams.borrow_mut().iter_mut().for_each(|stream| stream.frozen = true);
    }

    /// Replicas have caught up.
    pub fn catch_up(&self) {
        self.behind.set(0);
        self.streams.borrow_mut().iter_mut().for_each(|stream| stream.reached = None);
        self.pump();
    }

    /// Sends these bytes as a frame on all open watches.
    pub fn send_raw(&self, frame: &str) {
        self.send_bytes(frame.as_bytes());
    }

    /// The same, for what is no text.
    pub fn send_bytes(&self, frame: &[u8]) {
        for stream in self.streams.borrow().iter().filter(|stream| !stream.frozen) {
            let _ = stream.sender.unbounded_send(Ok(frame.to_vec()));
        }
    }

    /// Sends a Status as an ERROR event and ends the watches, as servers do.
    pub fn send_error(&self, status: &Status) {
        self.send_raw(&format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status.to_json()));
        self.drop_streams();
    }

    /// Sends the last writes of the open watches once more.
    pub fn repeat(&self, count: usize) {
        let log = self.log.borrow();
        for stream in self.streams.borrow().iter().filter(|stream| !stream.frozen) {
            let seen = after(&log, stream.sent);
            for write in &log[seen.saturating_sub(count).max(after(&log, stream.from))..seen] {
                let _ = stream.sender.unbounded_send(Ok(write.frame(&self.spoiled.borrow())));
            }
        }
    }

    /// Sends a bookmark on all open watches, at what each has been told.
    pub fn bookmark(&self) {
        let current = self.version();
        for stream in self.streams.borrow_mut().iter_mut().filter(|stream| !stream.frozen) {
            let version = stream.reached.unwrap_or(current).max(stream.sent);
            stream.sent = version;
            let _ = stream.sender.unbounded_send(Ok(bookmark_frame(version)));
        }
    }

    fn pump(&self) {
        let (log, current) = (self.log.borrow(), self.version());
        for stream in self.streams.borrow_mut().iter_mut().filter(|stream| !stream.frozen) {
            let reached = stream.reached.unwrap_or(current);
            for write in &log[after(&log, stream.sent)..after(&log, reached).max(after(&log, stream.sent))] {
                let _ = stream.sender.unbounded_send(Ok(write.frame(&self.spoiled.borrow())));
            }
            stream.sent = stream.sent.max(reached);
        }
    }

    fn connect(&self, open: &Rc<Cell<usize>>) -> Connection {
        open.set(open.get() + 1);
        let (lists, watches) = self.peak.get();
        self.peak.set((lists.max(self.lists.get()), watches.max(self.watches.get())));
        self.overlapped.set(self.overlapped.get() || self.connections() > self.lists.get().max(self.watches.get()));
        Connection(open.clone())
    }

    /// The oldest version that a watch can begin at.
    fn oldest(&self) -> u64 {
        let log = self.log.borrow();
        let forgotten = log.len().checked_sub(self.remembers.get()).filter(|count| self.remembers.get() > 0 && *count > 0);
        self.compacted.get().max(forgotten.map_or(0, |count| log[count - 1].version))
    }

    fn wait(&self) -> LocalBoxFuture<'static, ()> {
        let latency = self.latency.get();
        let wait = if latency == 0 { 0 } else { self.random.borrow_mut().u64(..=latency) };
        self.time.sleep(wait)
    }

    fn cut(&self, body: &[u8]) -> VecDeque<Result<Vec<u8>, Error>> {
        let mut chunks = VecDeque::new();
        let mut rest = body;
        while !rest.is_empty() {
            let size = self.random.borrow_mut().usize(1..=self.chunk.get()).min(rest.len());
            chunks.push_back(Ok(rest[..size].to_vec()));
            rest = &rest[size..];
        }
        chunks
    }

    fn body(self: &Rc<Self>, request: &ListRequest, fault: ListFault, connection: Connection) -> Result<PageStream, Error> {
        let page = match &fault {
            ListFault::Body(body) => body.clone(),
            _ => self.page(request)?.into_bytes(),
        };
        let held: PageStream = match fault {
            ListFault::Cut(at) => {
                let mut chunks = self.cut(&page[..at.min(page.len())]);
                chunks.push_back(Err(Error::network("connection reset by peer")));
                stream::iter(chunks).boxed_local()
            }
            ListFault::Trickle(ms) => {
                let time = self.time.clone();
                let each = move |byte: u8| time.sleep(ms).map(move |()| Ok(vec![byte]));
                stream::iter(page).then(each).boxed_local()
            }
            ListFault::Stall(at) => stream::iter(self.cut(&page[..at.min(page.len())])).chain(stream::pending()).boxed_local(),
            _ => stream::iter(self.cut(&page)).boxed_local(),
        };
        // Every chunk is polled by itself, so that anything may happen between two of them.
        let time = self.time.clone();
        Ok(Held {
            stream: held
                .then(move |chunk| {
                    let turn = time.yield_now();
                    async move {
                        turn.await;
                        chunk
                    }
                })
                .boxed_local(),
            _connection: connection,
        }
        .boxed_local())
    }

    fn open(self: &Rc<Self>, request: &WatchRequest, connection: Connection) -> Result<FrameStream, Error> {
        let initial = request.send_initial_events == Some(true);
        let asked = if request.resource_version.is_empty() { "0" } else { &request.resource_version };
        let from: u64 = asked.parse().map_err(|_| Error::from(Status::new(500, "", "resourceVersion: Invalid value")))?;
        let reached = self.version().saturating_sub(self.behind.get());
        if initial && from > reached {
            return Err(Status::too_large(from, reached).into());
        }
        if from < self.oldest() && !initial {
            self.compaction.refused.set(self.compaction.refused.get() + 1);
            return Err(Status::too_old(from, self.oldest()).into());
        }
        let (sender, receiver) = mpsc::unbounded();
        let from = if initial { reached } else { from };
        if initial {
            for (key, (_, document)) in self.state_at(reached) {
                let document = self.spoiled.borrow().document(&key, &document);
                let _ = sender.unbounded_send(Ok(format!("{{\"type\":\"ADDED\",\"object\":{document}}}\n").into_bytes()));
            }
            let _ = sender.unbounded_send(Ok(initial_events_end(reached)));
        }
        let id = self.next_stream.get();
        self.next_stream.set(id + 1);
        let reached = (self.behind.get() > 0).then(|| self.version().saturating_sub(self.behind.get()));
        self.streams.borrow_mut().push(Open { id, sender, from, sent: from, reached, frozen: false });
        self.pump();
        self.spawn_bookmarks(id);
        self.spawn_timeout(id, request.timeout_seconds);
        let stream = if self.buffers.get() {
            receiver.collect::<Vec<_>>().map(stream::iter).flatten_stream().boxed_local()
        } else {
            receiver.boxed_local()
        };
        Ok(connection.hold(stream))
    }

    /// The server ends the watch at its timeout.
    fn spawn_timeout(self: &Rc<Self>, id: u64, seconds: u32) {
        let (upstream, timeout) = (self.clone(), self.time.sleep(Millis::from(seconds) * 1000));
        self.time.spawn(Box::pin(async move {
            timeout.await;
            upstream.streams.borrow_mut().retain(|stream| stream.id != id || stream.frozen);
        }));
    }

    fn spawn_bookmarks(self: &Rc<Self>, id: u64) {
        let every = self.bookmark_every.get();
        if every == 0 {
            return;
        }
        let upstream = self.clone();
        self.time.spawn(Box::pin(async move {
            loop {
                upstream.time.sleep(every).await;
                let mut streams = upstream.streams.borrow_mut();
                streams.retain(|stream| !stream.sender.is_closed());
                let Some(stream) = streams.iter_mut().find(|stream| stream.id == id) else { return };
                if !stream.frozen {
                    let version = stream.reached.unwrap_or(upstream.version()).max(stream.sent);
                    stream.sent = version;
                    let _ = stream.sender.unbounded_send(Ok(bookmark_frame(version)));
                }
            }
        }));
    }
}

/// The handle that [`Source`] is implemented for: the upstream itself must be shared.
pub struct Shared(pub Rc<Upstream>);

impl Source for Shared {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let upstream = self.0.clone();
        upstream.requests.borrow_mut().push(Request::List(upstream.time.elapsed(), request.clone()));
        let fault = upstream.list_faults.borrow_mut().pop_front().unwrap_or(ListFault::None);
        let connection = upstream.connect(&upstream.lists);
        Box::pin(async move {
            upstream.wait().await;
            match fault {
                ListFault::Refuse(error) => Err(error),
                ListFault::Hang => std::future::pending().await,
                fault => upstream.body(&request, fault, connection),
            }
        })
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection { namespace: self.0.namespace.borrow().clone(), group: None })
    }

    fn names_kinds(&self) -> bool {
        self.0.names_kinds.get()
    }

    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        asked::current_version(&self.0)
    }

    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        asked::request_progress(&self.0)
    }

    fn compacted_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        asked::compacted_version(&self.0)
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let upstream = self.0.clone();
        upstream.requests.borrow_mut().push(Request::Watch(upstream.time.elapsed(), request.clone()));
        let fault = upstream.watch_faults.borrow_mut().pop_front().unwrap_or(WatchFault::None);
        let connection = upstream.connect(&upstream.watches);
        Box::pin(async move {
            upstream.wait().await;
            match fault {
                WatchFault::Refuse(error) => Err(error),
                WatchFault::Hang => std::future::pending().await,
                WatchFault::Close => Ok(connection.hold(stream::empty())),
                WatchFault::Cut(frames) => Ok(upstream.open(&request, connection)?.take(frames).boxed_local()),
                WatchFault::Say(frames) => Ok(connection.hold(said(frames).chain(stream::pending()))),
                WatchFault::SayAndClose(frames) => Ok(connection.hold(said(frames))),
                WatchFault::Drip(frames, pause) => {
                    let time = upstream.time.clone();
                    let dripping = said(frames).then(move |frame| time.sleep(pause).map(|()| frame));
                    Ok(connection.hold(dripping.chain(stream::pending())))
                }
                WatchFault::None => upstream.open(&request, connection),
            }
        })
    }

    fn gets(&self) -> bool {
        !self.0.writes.only_lists.get()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let asked = Asked::Get(object.clone(), subresource.clone());
        self.ask(asked, move |upstream| upstream.answer_get(&object, subresource.as_deref()))
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let asked = Asked::Write(request.clone());
        self.ask(asked, move |upstream| upstream.answer_write(&request))
    }
}

/// Where in the log the writes after a version begin.
fn after(log: &[Write], version: u64) -> usize {
    log.partition_point(|write| write.version <= version)
}

fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.into() } else { format!("{namespace}/{name}") }
}
