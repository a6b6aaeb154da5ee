//! A listener to a resource. It takes flushes as the binding layer does, and checks at each event that it may come.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use watchcache::cache::{Flush, Resource};
use watchcache::informer::Notifications;
use watchcache::status::{Error, Status};
use watchcache::view::ViewId;
use watchcache::watch::{EndReason, EventKind, WatchEvent, WatchOptions, WatcherId};

/// One event as it was heard. Its text is `ADDED ns/name@version`.
#[derive(Clone, PartialEq, Eq)]
pub struct Heard {
    pub kind: EventKind,
    pub key: String,
    /// The version of the event.
    pub version: u64,
    /// The version of its object.
    pub own: u64,
    pub document: String,
}

impl Heard {
    fn of(event: &WatchEvent) -> Self {
        Self {
            kind: event.kind,
            key: event.object.key().to_string(),
            version: event.version.as_u64().unwrap(),
            own: event.object.version().as_u64().unwrap(),
            document: String::from_utf8(event.object.text().to_vec()).unwrap(),
        }
    }

    /// Whether it tells of an object, and not of the stream.
    pub fn is_change(&self) -> bool {
        matches!(self.kind, EventKind::Added | EventKind::Modified | EventKind::Deleted)
    }
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EventKind::Added => write!(f, "ADDED {}@{}", self.key, self.version),
            EventKind::Modified => write!(f, "MODIFIED {}@{}", self.key, self.version),
            EventKind::Deleted => write!(f, "DELETED {}@{}", self.key, self.version),
            EventKind::Bookmark => write!(f, "BOOKMARK @{}", self.version),
            EventKind::InitialEventsEnd => write!(f, "INITIAL-EVENTS-END @{}", self.version),
            EventKind::Resync => write!(f, "RESYNC @{}", self.version),
            EventKind::Error => {
                let status = Status::parse(self.document.as_bytes()).unwrap();
                write!(f, "ERROR {} {}: {}", status.code, status.reason, status.message)
            }
        }
    }
}

/// All that one watcher heard.
#[derive(Debug, Default)]
pub struct Stream {
    pub id: WatcherId,
    pub options: WatchOptions,
    pub events: Vec<Heard>,
    pub ended: Option<EndReason>,
    pub resume_from: Option<u64>,
    pub refusal: Option<Error>,
    /// Its subscriber went away without stopping it.
    pub vanished: bool,
    resynced: bool,
    read: usize,
}

impl Stream {
    fn hear(&mut self, event: Heard) {
        assert!(self.ended.is_none(), "{event:?} came after the end");
        if let Some(last) = self.events.last() {
            assert!(last.kind != EventKind::Error, "{event:?} came after {last:?}");
            // Initial events all have the version of their state. A bookmark may repeat the version before it.
            let state = event.kind == EventKind::Added && last.kind == EventKind::Added && event.own <= event.version;
            // So are the deletions that a relist brings: nobody knows their own.
            let relist = self.resynced && event.kind == EventKind::Deleted && last.is_change();
            let marker = matches!(event.kind, EventKind::Bookmark | EventKind::InitialEventsEnd | EventKind::Resync);
            let repeats = state || relist || marker;
            let grows = event.version > last.version || repeats && event.version == last.version;
            assert!(grows || event.kind == EventKind::Error, "{event:?} came after {last:?}");
        }
        self.resynced |= event.kind == EventKind::Resync;
        self.events.push(event);
    }

    /// The events that tell of objects.
    pub fn changes(&self) -> Vec<Heard> {
        self.events.iter().filter(|event| event.is_change()).cloned().collect()
    }
}

type OnNotifications = Rc<dyn Fn(&Rc<Resource>, &Notifications)>;
type Between = Rc<dyn Fn(&Rc<Resource>)>;

/// The listener of one resource.
#[derive(Default)]
pub struct Client {
    pub streams: RefCell<Vec<Stream>>,
    by_id: RefCell<HashMap<WatcherId, usize>>,
    gone_in_flush: RefCell<HashSet<WatcherId>>,
    pub flushes: Cell<usize>,
    pub signals: Cell<u32>,
    pub views: RefCell<Vec<ViewId>>,
    busy: Cell<bool>,
    /// Called between events and at the end of each flush: what callbacks of users do.
    pub between: RefCell<Option<Between>>,
    /// Called first in each flush.
    pub on_flush: RefCell<Option<Between>>,
    /// Takes the notifications of the informers' handlers.
    pub on_notifications: RefCell<Option<OnNotifications>>,
}

impl Client {
    /// Takes a flush.
    pub fn take(&self, resource: &Rc<Resource>, flush: &Flush) {
        assert!(!self.busy.replace(true), "a flush within a flush");
        self.flushes.set(self.flushes.get() + 1);
        self.signals.set(self.signals.get() | flush.signals);
        self.views.borrow_mut().extend(&flush.views);
        // As the facade does; only then is a view named again.
        resource.with(|cacher| {
            for view in &flush.views {
                let _changed = cacher.viewing().look(*view);
            }
        });
        self.gone_in_flush.borrow_mut().clear();
        Self::call(&self.on_flush, resource);
        let on_notifications = self.on_notifications.borrow().clone();
        if let Some(on_notifications) = on_notifications {
            on_notifications(resource, &flush.notifications);
        }
        for pair in flush.outbox.pairs().chunks_exact(2) {
            let event = Heard::of(&flush.outbox.events[pair[1] as usize]);
            if let Some(stream) = self.stream_of(pair[0].into()) {
                self.streams.borrow_mut()[stream].hear(event);
                Self::call(&self.between, resource);
            }
        }
        for (id, reason) in &flush.outbox.ended {
            let Some(stream) = self.stream_of(*id) else { continue };
            let (resume_from, refusal) = resource.with(|cacher| {
                let watcher = cacher.dispatcher().get(*id).expect("it is known until it is forgotten");
                (watcher.resume_from().cloned(), watcher.refusal().cloned())
            });
            {
                let stream = &mut self.streams.borrow_mut()[stream];
                assert!(stream.ended.is_none(), "a stream ends once");
                stream.ended = Some(*reason);
                stream.resume_from = resume_from.and_then(|version| version.as_u64());
                stream.refusal = refusal;
            }
            self.forget(resource, *id);
            Self::call(&self.between, resource);
        }
        Self::call(&self.between, resource);
        self.busy.set(false);
    }

    fn call(slot: &RefCell<Option<Between>>, resource: &Rc<Resource>) {
        let call = slot.borrow().clone();
        if let Some(call) = call {
            call(resource);
        }
    }

    fn stream_of(&self, id: WatcherId) -> Option<usize> {
        let stream = self.by_id.borrow().get(&id).copied();
        assert!(stream.is_some() || self.gone_in_flush.borrow().contains(&id), "a delivery to nobody: {id:?}");
        stream
    }

    /// Notes a watcher; its place among the streams.
    pub fn listen(&self, id: WatcherId, options: WatchOptions) -> usize {
        let mut streams = self.streams.borrow_mut();
        streams.push(Stream { id, options, ..Stream::default() });
        let other = self.by_id.borrow_mut().insert(id, streams.len() - 1);
        assert!(other.is_none(), "the id {id:?} stands for two watchers");
        streams.len() - 1
    }

    fn forget(&self, resource: &Rc<Resource>, id: WatcherId) {
        resource.with(|cacher| cacher.dispatcher_mut().forget(id));
        self.by_id.borrow_mut().remove(&id);
        self.gone_in_flush.borrow_mut().insert(id);
    }

    /// The subscriber of a stream is gone without having stopped it.
    pub fn vanish(&self, resource: &Rc<Resource>, stream: usize) {
        let id = {
            let stream = &mut self.streams.borrow_mut()[stream];
            if stream.ended.is_some() || stream.vanished {
                return;
            }
            stream.vanished = true;
            stream.id
        };
        self.forget(resource, id);
    }

    /// Whether the stream is still heard, and by which id.
    pub fn open(&self, stream: usize) -> Option<WatcherId> {
        let stream = &self.streams.borrow()[stream];
        (stream.ended.is_none() && !stream.vanished).then_some(stream.id)
    }

    /// What a stream heard since the last call.
    pub fn news(&self, stream: usize) -> Vec<Heard> {
        let stream = &mut self.streams.borrow_mut()[stream];
        let from = std::mem::replace(&mut stream.read, stream.events.len());
        stream.events[from..].to_vec()
    }
}
