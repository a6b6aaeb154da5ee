//! The watches of a relay: what a flush brings is kept for each until it is taken.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::Stream;
use rustc_hash::FxHashMap;

use super::document::{frame, refusal};
use crate::cache::{Flush, Resource};
use crate::status::{Error, Status};
use crate::version::Version;
use crate::watch::{Demand, EndReason, WatchEvent, WatchOptions, Watcher, WatcherId};

type Frame = Result<Vec<u8>, Error>;

/// All watches of a resource.
#[derive(Default)]
pub(super) struct Streams {
    open: RefCell<FxHashMap<WatcherId, Rc<Waiting>>>,
    /// Those that a relist has ended. They are silent until it is whole: whoever asked sooner would be given the state that it replaces.
    relisted: RefCell<Vec<Rc<Waiting>>>,
}

/// What came for one watch and is not taken yet: at most what one flush brings, because nothing more is asked for meanwhile.
#[derive(Default)]
struct Waiting {
    frames: RefCell<VecDeque<Frame>>,
    life: Cell<Life>,
    /// Whether a batch is on its way.
    asked: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// How far a watch is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Life {
    /// A watcher of the resource brings what it is told.
    #[default]
    Open,
    /// That has ended. Its id may be another's by now.
    Silent,
    /// So has the watch, once all is taken.
    Ended,
}

impl Waiting {
    fn end(&self, frames: impl IntoIterator<Item = Frame>) {
        self.life.set(Life::Ended);
        self.take(frames);
    }

    /// What was asked for.
    fn take(&self, frames: impl IntoIterator<Item = Frame>) {
        self.asked.set(false);
        self.push(frames);
    }

    fn push(&self, frames: impl IntoIterator<Item = Frame>) {
        self.frames.borrow_mut().extend(frames);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl Streams {
    /// Opens a watch.
    pub(super) fn open(self: &Rc<Self>, resource: &Rc<Resource>, options: WatchOptions) -> Watch {
        let (id, waiting) = (resource.watch(options, true), Rc::<Waiting>::default());
        self.open.borrow_mut().insert(id, waiting.clone());
        Watch { id, waiting, streams: self.clone(), resource: resource.clone() }
    }

    /// Takes a flush. Each event is written once, for all who are told of it.
    pub(super) fn take(&self, resource: &Resource, flush: &Flush) {
        let mut written: Vec<Option<Vec<u8>>> = vec![None; flush.outbox.events.len()];
        for pair in flush.outbox.pairs().chunks_exact(2) {
            let Some(waiting) = self.of(pair[0].into()) else { continue };
            let (Some(event), Some(written)) = (flush.outbox.events.get(pair[1] as usize), written.get_mut(pair[1] as usize)) else {
                continue;
            };
            waiting.take([Ok(written.get_or_insert_with(|| frame(event)).clone())]);
        }
        for (id, reason) in &flush.outbox.ended {
            let refused = resource.with(|cacher| {
                let refused = cacher.dispatcher().get(*id).and_then(|watcher| watcher.refusal().cloned());
                cacher.dispatcher_mut().forget(*id);
                refused
            });
            let Some(waiting) = self.open.borrow_mut().remove(id) else { continue };
            if *reason == EndReason::Relist {
                waiting.life.set(Life::Silent);
                self.relisted.borrow_mut().push(waiting);
            } else {
                waiting.end(refused.map(refusal));
            }
        }
        let is_whole = resource.with(|cacher| cacher.availability().ready().is_ready() || cacher.availability().ready().is_stopped());
        let relisted = if is_whole { self.relisted.take() } else { Vec::new() };
        for waiting in &relisted {
            // As a stream of the server would end. One that merely ended too early would be taken for broken.
            let error = Status::new(410, "Expired", "the relay has listed anew: what came between is not known").into();
            waiting.end([refusal(error)]);
        }
    }

    /// Tells all watches that this version holds now. Where events wait they come first, and the next time will do.
    pub(super) fn reached(&self, resource: &Resource, version: &Version) {
        let bookmark = frame(&WatchEvent::bookmark(version.clone(), false));
        let is_drained = |id| resource.with(|cacher| cacher.dispatcher().get(id).is_some_and(Watcher::is_drained));
        let open: Vec<_> = self.open.borrow().iter().map(|(id, waiting)| (*id, waiting.clone())).collect();
        for (id, waiting) in open {
            if waiting.frames.borrow().is_empty() && is_drained(id) {
                waiting.push([Ok(bookmark.clone())]);
            }
        }
    }

    fn of(&self, id: WatcherId) -> Option<Rc<Waiting>> {
        self.open.borrow().get(&id).cloned()
    }
}

/// One watch of a resource, as frames. Who drops it stops it.
pub(super) struct Watch {
    id: WatcherId,
    waiting: Rc<Waiting>,
    streams: Rc<Streams>,
    resource: Rc<Resource>,
}

impl Stream for Watch {
    type Item = Frame;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let waiting = &self.waiting;
        if let Some(frame) = waiting.frames.borrow_mut().pop_front() {
            return Poll::Ready(Some(frame));
        }
        if waiting.life.get() == Life::Ended {
            return Poll::Ready(None);
        }
        waiting.waker.replace(Some(cx.waker().clone()));
        if waiting.life.get() == Life::Open && !waiting.asked.replace(true) {
            self.resource.demand(self.id, Demand::Batch(0));
        }
        Poll::Pending
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.waiting.life.get() == Life::Open {
            self.streams.open.borrow_mut().remove(&self.id);
            self.resource.with(|cacher| cacher.dispatcher_mut().forget(self.id));
        }
        self.streams.relisted.borrow_mut().retain(|waiting| !Rc::ptr_eq(waiting, &self.waiting));
    }
}
