//! The watch of a list that is still being read.
//!
//! It opens at the version that the first page names, while the others are read. So a server need not remember versions for longer than one
//! page takes. What the watch brings waits, merged by key, until the list is whole. Then it is part of what the list shows, and the watch
//! goes on. A watch that fails, or brings more than may wait, is let go with all that it brought. A watch behind the list takes its place.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::rc::Rc;
use std::slice;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::future::LocalBoxFuture;
use rustc_hash::FxHashMap;

use super::host::{Host, Listen, Stop};
use super::listing::List;
use super::liveness::{Liveness, Watchdog};
use super::order::{Novelty, Order};
use super::quarantine;
use super::reader::{Event, Reader};
use super::state::{BegunWatch, OpenWatch, PendingWatch};
use crate::change::ChangeKind;
use crate::key::Key;
use crate::message::Quarantined;
use crate::object::Object;
use crate::runtime::Runtime;
use crate::source::FrameStream;
use crate::status::Error;
use crate::time::Instant;
use crate::version::Version;

/// Frames that are taken before what the list brings comes first: a busy watch must not keep its list waiting.
const MAX_FRAMES_FIRST: usize = 16;

/// Objects that are merged between two readings of the clock, which costs a call into the host. They take some tens of microseconds.
const MAX_UNTIMED_OBJECTS: usize = 1000;

/// Bytes that a change takes beside its object: its place in the map, with the room that a map keeps.
const CHANGE_BYTES: usize = size_of::<(Key, LastChange)>() * 2;
/// Bytes that a frame takes which cannot be taken: its key, its uid, and an error with its words.
const UNREADABLE_BYTES: usize = 512;

/// A watch that is opening, or open.
pub(super) struct Ahead {
    stream: Stream,
    /// The version that it was opened at.
    from: Version,
    opened: Instant,
    watchdog: Watchdog,
    heard: bool,
    order: Order,
    /// By key: the last of each.
    changes: BTreeMap<Key, LastChange>,
    /// By key: the last of each, and after how many frames it came.
    unreadable: FxHashMap<Rc<str>, (usize, Quarantined)>,
    frames: usize,
    /// The bytes that all of that takes at most: objects are packed while they wait.
    bytes: usize,
}

enum Stream {
    Opening(LocalBoxFuture<'static, Result<FrameStream, Error>>),
    Open(FrameStream),
}

struct LastChange {
    kind: ChangeKind,
    object: Rc<Object>,
    /// After how many frames the first of its key came.
    first: usize,
    bytes: usize,
}

/// What came first, where both are waited for.
enum Came<T> {
    /// `None`: the watch is over.
    Frame(Option<Vec<u8>>),
    Other(T),
}

/// The waits of a list, and the watch beside it if there is one. Each wait takes what the watch brings meanwhile.
pub(super) struct Beside {
    host: Rc<Host>,
    reader: Rc<Reader>,
    liveness: Rc<Liveness>,
    max_bytes: usize,
    ahead: Option<Ahead>,
}

impl Beside {
    pub(super) fn new(host: Rc<Host>, reader: Rc<Reader>, liveness: Rc<Liveness>, max_bytes: usize) -> Self {
        Self { host, reader, liveness, max_bytes, ahead: None }
    }

    /// This watch was asked for, from the version of a first page.
    pub(super) fn begin(&mut self, from: &Version, opening: LocalBoxFuture<'static, Result<FrameStream, Error>>) {
        let mut order = Order::default();
        if order.replace(from).is_err() {
            return;
        }
        let now = self.host.now();
        self.ahead = Some(Ahead {
            stream: Stream::Opening(opening),
            from: from.clone(),
            opened: now,
            watchdog: self.liveness.watchdog(now),
            heard: false,
            order,
            changes: BTreeMap::new(),
            unreadable: FxHashMap::default(),
            frames: 0,
            bytes: 0,
        });
    }

    /// The watch with all that it has brought; nothing is beside what waits any more.
    pub(super) fn take(&mut self) -> Option<Ahead> {
        self.ahead.take()
    }

    /// Waits, as [`Host::until`], and takes what the watch brings meanwhile.
    pub(super) async fn until<F: Future>(&mut self, listen: Listen, watchdog: Option<&Watchdog>, future: F) -> Result<F::Output, Stop> {
        let mut future = pin!(future);
        let mut frames = 0;
        let host = self.host.clone();
        loop {
            let (runtime, ahead) = (&*host.runtime, &mut self.ahead);
            let came = poll_fn(|cx| {
                let mut frame = |cx: &mut Context<'_>| match ahead {
                    Some(ahead) => ahead.poll(runtime, cx).map(Came::Frame),
                    None => Poll::Pending,
                };
                // Neither keeps the other waiting: what came of the list is behind a few frames, and the rest of them behind that.
                let first = if frames < MAX_FRAMES_FIRST { frame(cx) } else { Poll::Pending };
                if first.is_ready() {
                    return first;
                }
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => Poll::Ready(Came::Other(output)),
                    Poll::Pending if frames < MAX_FRAMES_FIRST => Poll::Pending,
                    Poll::Pending => frame(cx),
                }
            });
            match host.until(listen, watchdog, came).await? {
                Came::Other(output) => return Ok(output),
                Came::Frame(frame) => {
                    frames += 1;
                    self.take_frame(frame);
                    host.took_frame().await;
                }
            }
        }
    }

    /// Takes what the watch has brought, or lets the watch go.
    fn take_frame(&mut self, frame: Option<Vec<u8>>) {
        let Some(mut ahead) = self.ahead.take() else { return };
        let Some(frame) = frame else {
            if ahead.watchdog.is_expired() {
                self.liveness.given_up(ahead.heard);
            }
            return;
        };
        if !mem::replace(&mut ahead.heard, true) {
            self.liveness.first_word(ahead.opened, self.host.now());
        }
        if frame.is_empty() {
            self.ahead = Some(ahead);
            return;
        }
        ahead.frames += 1;
        let kept = match self.reader.event(frame) {
            Ok(Event::Change(kind, object)) => {
                self.reader.arrived(slice::from_ref(&object));
                ahead.change(kind, object)
            }
            Ok(Event::Bookmark { version, .. }) => {
                ahead.order.bookmark(&version);
                true
            }
            Ok(Event::Failed(_)) => false,
            Err(unreadable) => quarantine::of_event(&unreadable).map(|entry| ahead.set_aside(entry)).is_some(),
        };
        if kept && ahead.fits(self.max_bytes) {
            self.ahead = Some(ahead);
        }
    }
}

impl Ahead {
    /// The next frame; `None` when no more come.
    fn poll(&mut self, runtime: &dyn Runtime, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if let Stream::Opening(opening) = &mut self.stream
            && let Poll::Ready(opened) = opening.as_mut().poll(cx)
        {
            let Ok(stream) = opened else { return Poll::Ready(None) };
            self.stream = Stream::Open(stream);
            self.opened = runtime.now();
            self.watchdog.feed(self.opened);
        }
        if let Stream::Open(stream) = &mut self.stream
            && let Poll::Ready(frame) = stream.poll_next_unpin(cx)
        {
            self.watchdog.feed(runtime.recent());
            return Poll::Ready(frame.and_then(Result::ok));
        }
        self.watchdog.poll_expired(runtime, cx).map(|()| None)
    }

    /// Whether it can be kept.
    fn change(&mut self, kind: ChangeKind, object: Rc<Object>) -> bool {
        match self.order.change(&object) {
            Ok(Novelty::Next) => {}
            Ok(Novelty::Repeated) => return true,
            Err(_) => return false,
        }
        let bytes = object.size() + CHANGE_BYTES;
        let change = LastChange { kind, first: self.frames, bytes, object };
        let key = change.object.key().clone();
        self.bytes += bytes;
        if let Some(before) = self.changes.insert(key.clone(), change) {
            self.bytes -= before.bytes;
            if let Some(change) = self.changes.get_mut(&key) {
                change.first = before.first;
            }
        }
        true
    }

    /// Remembers a frame that cannot be taken. Whether it is passed over is known when the list is whole.
    fn set_aside(&mut self, entry: Quarantined) {
        if self.unreadable.insert(entry.key.clone(), (self.frames, entry)).is_none() {
            self.bytes += UNREADABLE_BYTES;
        }
    }

    /// Whether all that waits is within the bound. It is counted anew where it seems not to be, because what waits has been packed
    /// meanwhile.
    fn fits(&mut self, max_bytes: usize) -> bool {
        if self.bytes > max_bytes {
            self.bytes = self.unreadable.len() * UNREADABLE_BYTES;
            for change in self.changes.values_mut() {
                change.bytes = change.object.size() + CHANGE_BYTES;
                self.bytes += change.bytes;
            }
        }
        self.bytes <= max_bytes
    }

    /// Whether the frames that cannot be taken are passed over, as in any watch. They are if the list could not show their objects either,
    /// and none of them came behind a sound frame of its object.
    fn passes_over(&self, inside: &[Quarantined]) -> bool {
        self.unreadable.values().all(|(at, entry)| {
            inside.iter().any(|held| held.key == entry.key)
                && !self.changes.values().any(|change| change.first < *at && entry.is(&change.object))
        })
    }

    /// The whole list with all that came while it was read, and the watch that goes on. What the list shows already is dropped.
    pub(super) async fn join(mut self, mut list: List, host: &Host) -> (List, Option<BegunWatch>) {
        self.changes.retain(|_, change| *change.object.version() > list.version);
        if list.version < self.from || !self.passes_over(&list.quarantined) {
            return (list, None);
        }
        for entry in &mut list.quarantined {
            if let Some((_, last)) = self.unreadable.remove(&entry.key) {
                entry.error = last.error;
            }
        }
        list.quarantined.retain(|entry| !self.changes.values().any(|change| entry.is(&change.object)));
        let mut objects = Vec::with_capacity(list.objects.len() + self.changes.len());
        for (count, object) in list.objects.into_iter().enumerate() {
            match self.changes.remove(object.key()) {
                None => objects.push(object),
                Some(change) => objects.extend(change.shown()),
            }
            if count % MAX_UNTIMED_OBJECTS == 0 {
                host.give_way().await;
            }
        }
        objects.extend(self.changes.into_values().filter_map(LastChange::shown));
        let reached = self.order.last().cloned().unwrap_or_default();
        let known_to = (reached < list.version).then(|| list.version.clone());
        let begun = match self.stream {
            Stream::Opening(answer) => BegunWatch::Pending(PendingWatch { answer, known_to }),
            Stream::Open(stream) => {
                BegunWatch::Open(OpenWatch { stream, opened: self.opened, from: Some(self.from), heard: self.heard, known_to })
            }
        };
        let version = list.version.max(reached);
        (List { objects, version, ahead: self.order, ..list }, Some(begun))
    }
}

impl LastChange {
    /// What a list shows of it.
    fn shown(self) -> Option<Rc<Object>> {
        (self.kind != ChangeKind::Deleted).then_some(self.object)
    }
}
