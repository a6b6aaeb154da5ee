//! The connections that watches over fetch may hold of those that a browser opens to one origin.
//!
//! Over HTTP/1.1 a browser opens six connections to an origin, and each such watch holds one for minutes. With all of them held, no list, no
//! write and no other request of the page would get through. So a few are left free, and who finds no place waits for its turn. While
//! somebody waits, nobody keeps a place for longer than a turn: the rows of each are new again within a few turns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::future::{Either, LocalBoxFuture, select};
use futures::{FutureExt, Stream, StreamExt};

use crate::runtime::Runtime;
use crate::source::source::{FrameStream, Turn};
use crate::status::{Error, ErrorCode};
use crate::time::{Instant, Millis};

/// Watches over fetch that one origin may have at once. Two of the six connections stay free.
const MAX_WATCHES: usize = 4;

/// How long a watch keeps its place while others wait.
pub(super) const TURN_MS: Millis = 10_000;

/// The places of one origin.
#[derive(Default)]
pub(super) struct Places {
    holders: RefCell<Vec<Rc<Holder>>>,
    /// Who waits, in the order of asking.
    waiting: RefCell<VecDeque<Rc<Waiting>>>,
}

struct Holder {
    since: Instant,
    /// Its turn is over, and somebody waits.
    called_back: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Default)]
struct Waiting(RefCell<Option<Waker>>);

/// A place, for as long as this lives.
pub(super) struct Place {
    places: Rc<Places>,
    holder: Rc<Holder>,
}

/// Where a place is kept between the turn that brought it and the watch that takes it.
pub(super) type Kept = Rc<RefCell<Option<Place>>>;

/// Somebody in the queue. Who is dropped has left it.
struct Queued {
    places: Rc<Places>,
    waiting: Rc<Waiting>,
}

/// A turn that has come. Who drops it without having watched gives the place back.
struct Come(Kept);

impl Places {
    /// A place at once. `limited`: whether the origin has so few; else there is always one.
    pub(super) fn take(self: &Rc<Self>, limited: bool, now: Instant) -> Result<Place, Error> {
        if limited && self.is_full() {
            return Err(self.why());
        }
        Ok(self.hold(now))
    }

    /// What has to be waited for before a place can be taken; `None` where one is free.
    pub(super) fn turn(self: &Rc<Self>, kept: &Kept, runtime: &Rc<dyn Runtime>) -> Option<Turn> {
        if !self.is_full() {
            return None;
        }
        let (places, kept, runtime) = (self.clone(), kept.clone(), runtime.clone());
        let come = async move {
            let place = places.wait(&*runtime).await;
            kept.replace(Some(place));
            Box::new(Come(kept)) as Box<dyn std::any::Any>
        };
        Some(Turn { why: self.why(), millis: TURN_MS, come: come.boxed_local() })
    }

    fn is_full(&self) -> bool {
        self.holders.borrow().len() >= MAX_WATCHES || !self.waiting.borrow().is_empty()
    }

    fn why(&self) -> Error {
        let message = format!(
            "{} watches over fetch are open to this server, and over HTTP/1.1 a browser opens six connections to it: this one waits for its \
             turn, and turns change every {} s. Serve over HTTP/2, or let watches come over WebSockets",
            self.holders.borrow().len(),
            TURN_MS / 1000
        );
        Error::new(ErrorCode::Unavailable, message)
    }

    fn hold(self: &Rc<Self>, now: Instant) -> Place {
        let holder = Rc::new(Holder { since: now, called_back: Cell::new(false), waker: RefCell::default() });
        self.holders.borrow_mut().push(holder.clone());
        Place { places: self.clone(), holder }
    }

    /// Waits for a place behind all who asked before.
    async fn wait(self: &Rc<Self>, runtime: &dyn Runtime) -> Place {
        let waiting = Rc::<Waiting>::default();
        self.waiting.borrow_mut().push_back(waiting.clone());
        let queued = Queued { places: self.clone(), waiting };
        poll_fn(|cx| queued.poll(cx, Queued::is_first)).await;
        loop {
            let look_again = queued.call_back(runtime);
            let free = poll_fn(|cx| queued.poll(cx, |queued| queued.places.holders.borrow().len() < MAX_WATCHES));
            if let Either::Left(_) = select(free, look_again).await {
                return self.hold(runtime.now());
            }
        }
    }

    fn wake_first(&self) {
        let waker = self.waiting.borrow().front().and_then(|first| first.0.take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Queued {
    fn is_first(&self) -> bool {
        self.places.waiting.borrow().front().is_some_and(|first| Rc::ptr_eq(first, &self.waiting))
    }

    fn poll(&self, cx: &Context<'_>, done: impl Fn(&Self) -> bool) -> Poll<()> {
        if done(self) {
            return Poll::Ready(());
        }
        self.waiting.0.replace(Some(cx.waker().clone()));
        Poll::Pending
    }

    /// The first of the queue calls back who has held a place for longest, once that one's turn is over. Completes when it is to look again.
    fn call_back(&self, runtime: &dyn Runtime) -> LocalBoxFuture<'static, ()> {
        let oldest = self.places.holders.borrow().iter().min_by_key(|holder| holder.since).cloned();
        let held = oldest.as_ref().map_or(0, |oldest| runtime.now().since(oldest.since));
        if let Some(oldest) = oldest.filter(|_| held >= TURN_MS) {
            oldest.called_back.set(true);
            if let Some(waker) = oldest.waker.take() {
                waker.wake();
            }
        }
        runtime.sleep(TURN_MS.saturating_sub(held).max(1000))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.places.waiting.borrow_mut().retain(|waiting| !Rc::ptr_eq(waiting, &self.waiting));
        self.places.wake_first();
    }
}

impl Drop for Come {
    fn drop(&mut self) {
        let _unused = self.0.take();
    }
}

impl Place {
    /// The frames of a watch, which holds this place until it ends, or until its turn is over and somebody waits.
    pub(super) fn held_by(self, frames: FrameStream) -> FrameStream {
        Held { place: self, frames }.boxed_local()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.holders.borrow_mut().retain(|holder| !Rc::ptr_eq(holder, &self.holder));
        self.places.wake_first();
    }
}

struct Held {
    place: Place,
    frames: FrameStream,
}

impl Stream for Held {
    type Item = Result<Vec<u8>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // An end in good order: the watch goes on from its last version when its turn comes again.
        if self.place.holder.called_back.get() {
            return Poll::Ready(None);
        }
        self.place.holder.waker.replace(Some(cx.waker().clone()));
        self.frames.poll_next_unpin(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::runtime::{Clock, SharedRuntime, Timer};

    /// Watches so long, as often as it may.
    async fn watch(places: Rc<Places>, runtime: SharedRuntime, watched: Rc<Cell<u32>>) {
        let kept = Kept::default();
        loop {
            let come = match places.turn(&kept, &runtime) {
                Some(turn) => Some(turn.come.await),
                None => None,
            };
            let place = kept.take().map_or_else(|| places.take(true, runtime.now()), Ok).expect("whoever waited has a place");
            assert!(places.holders.borrow().len() <= MAX_WATCHES);
            drop(come);
            let mut frames = place.held_by(stream::pending().boxed_local());
            watched.set(watched.get() + 1);
            assert!(frames.next().await.is_none(), "it ends in good order when others wait");
        }
    }

    #[test]
    fn no_more_than_four_watch_and_everybody_has_a_turn() {
        let time = VirtualTime::new(7);
        let (places, watched) = (Rc::<Places>::default(), [(); 9].map(|()| Rc::<Cell<u32>>::default()));
        for counts in &watched {
            let runtime: SharedRuntime = time.clone();
            crate::runtime::Spawn::spawn(&*time, watch(places.clone(), runtime, counts.clone()).boxed_local());
        }
        time.advance(1);
        assert_eq!(watched.iter().filter(|watched| watched.get() == 1).count(), MAX_WATCHES);
        time.advance(TURN_MS - 2);
        assert_eq!(watched.iter().filter(|watched| watched.get() > 0).count(), MAX_WATCHES, "a turn is not over before its time");
        time.advance(20 * TURN_MS);
        let turns: Vec<_> = watched.iter().map(|watched| watched.get()).collect();
        let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
        assert!(*least >= 8 && most - least <= 1, "{turns:?}");
    }

    #[test]
    fn while_nobody_waits_a_watch_keeps_its_place() {
        let time = VirtualTime::new(1);
        let places = Rc::<Places>::default();
        let held: Vec<_> = (0..MAX_WATCHES).map(|_| places.take(true, time.now()).ok().unwrap()).collect();
        let mut all = stream::select_all(held.into_iter().map(|place| place.held_by(stream::pending().boxed_local())));
        let end = time.run_until(select(all.next(), time.sleep(100 * TURN_MS)));
        assert!(matches!(end, Either::Right(_)));
    }

    #[test]
    fn where_connections_are_not_few_there_is_always_a_place() {
        let places = Rc::<Places>::default();
        let held: Vec<_> = (0..20).map(|_| places.take(false, Instant::START).ok().unwrap()).collect();
        let error = places.take(true, Instant::START).err().expect("they count all the same");
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(error.message.contains("20 watches over fetch") && error.message.contains("HTTP/2"), "{}", error.message);
        drop(held);
        assert!(places.take(true, Instant::START).is_ok());
    }

    #[test]
    fn a_turn_that_came_and_was_not_used_is_given_back_and_so_is_one_that_nobody_waits_for() {
        let time = VirtualTime::new(1);
        let runtime: SharedRuntime = time.clone();
        let (places, kept) = (Rc::<Places>::default(), Kept::default());
        let mut held: Vec<_> = (0..MAX_WATCHES).map(|_| places.take(true, time.now()).ok().unwrap()).collect();
        let waits = places.turn(&kept, &runtime).unwrap().come;
        let gives_up = places.turn(&Kept::default(), &runtime).unwrap().come;
        let mut both = Box::pin(futures::future::join(gives_up, waits));
        assert!(both.as_mut().now_or_never().is_none());
        drop(both);
        assert!(places.waiting.borrow().is_empty());
        held.pop();
        held.push(places.take(true, time.now()).ok().unwrap());
        let waits = places.turn(&kept, &runtime).unwrap().come;
        held.pop();
        let come = time.run_until(waits);
        assert!(places.take(true, time.now()).is_err(), "it is kept for whoever waited");
        drop(come);
        assert!(kept.borrow().is_none() && places.take(true, time.now()).is_ok());
    }
}
