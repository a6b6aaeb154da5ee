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
const TURN_MS: Millis = TURN_SECONDS as Millis * 1000;
/// The same in seconds.
pub(super) const TURN_SECONDS: u32 = 10;

/// How soon whoever waits looks again, at the soonest.
const LOOK_AGAIN_MS: Millis = 1000;

/// The places of one origin.
#[derive(Default)]
pub(super) struct Places {
    holders: RefCell<Vec<Rc<Holder>>>,
    /// Who waits, in the order of asking.
    waiting: RefCell<VecDeque<Rc<Waiting>>>,
}

#[derive(Default)]
struct Holder {
    /// Since when its watch is open; `None` while it is being opened.
    since: Cell<Option<Instant>>,
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
    /// A place at once.
    pub(super) fn take(self: &Rc<Self>) -> Result<Place, Error> {
        if self.holders.borrow().len() >= MAX_WATCHES || self.is_waited_for() {
            return Err(why().unsent());
        }
        Ok(self.hold())
    }

    /// The wait for a place, which is over at once where one is free.
    pub(super) fn turn(self: &Rc<Self>, kept: &Kept, runtime: &Rc<dyn Runtime>) -> Turn {
        let turns = self.waiting.borrow().len() / MAX_WATCHES + 1;
        let (places, kept, runtime) = (self.clone(), kept.clone(), runtime.clone());
        let come = async move {
            let place = places.wait(&*runtime).await;
            kept.replace(Some(place));
            Box::new(Come(kept)) as Box<dyn std::any::Any>
        };
        Turn { why: why(), millis: turns as Millis * TURN_MS, come: come.boxed_local() }
    }

    /// Whether somebody waits for a place.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    fn hold(self: &Rc<Self>) -> Place {
        let holder = Rc::<Holder>::default();
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
                return self.hold();
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

fn why() -> Error {
    let message = format!(
        "{MAX_WATCHES} watches over fetch are open to this server, and over HTTP/1.1 a browser opens six connections to it: this one waits for \
         its turn, and turns change every {} s. Serve over HTTP/2, or let watches come over WebSockets",
        TURN_MS / 1000
    );
    Error::new(ErrorCode::Unavailable, message)
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

    /// The first of the queue calls back whose watch has been open for longest, once that one's turn is over. Completes when it is to look
    /// again. Who is still opening a watch is left to it.
    fn call_back(&self, runtime: &dyn Runtime) -> LocalBoxFuture<'static, ()> {
        let open = |holder: &Rc<Holder>| Some((holder.since.get().filter(|_| !holder.called_back.get())?, holder.clone()));
        let longest = self.places.holders.borrow().iter().filter_map(open).min_by_key(|(since, _)| *since);
        let Some((since, longest)) = longest else { return runtime.sleep(LOOK_AGAIN_MS) };
        let millis = runtime.now().since(since);
        if millis >= TURN_MS {
            longest.called_back.set(true);
            if let Some(waker) = longest.waker.take() {
                waker.wake();
            }
        }
        runtime.sleep(TURN_MS.saturating_sub(millis).max(LOOK_AGAIN_MS))
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
    /// The frames of a watch that is open from now on. It has this place until it ends, or until its turn is over and somebody waits.
    pub(super) fn held_by(self, frames: FrameStream, now: Instant) -> FrameStream {
        self.holder.since.set(Some(now));
        InTurn { place: self, frames }.boxed_local()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.holders.borrow_mut().retain(|holder| !Rc::ptr_eq(holder, &self.holder));
        self.places.wake_first();
    }
}

struct InTurn {
    place: Place,
    frames: FrameStream,
}

impl Stream for InTurn {
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
            let come = places.turn(&kept, &runtime).come.await;
            let place = kept.take().expect("whoever waited has a place");
            assert!(places.holders.borrow().len() <= MAX_WATCHES);
            drop(come);
            let mut frames = place.held_by(stream::pending().boxed_local(), runtime.now());
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
        let held: Vec<_> = (0..MAX_WATCHES).map(|_| places.take().ok().unwrap()).collect();
        let mut all = stream::select_all(held.into_iter().map(|place| place.held_by(stream::pending().boxed_local(), time.now())));
        let end = time.run_until(select(all.next(), time.sleep(100 * TURN_MS)));
        assert!(matches!(end, Either::Right(_)));
    }

    #[test]
    fn a_turn_begins_when_its_watch_is_open_and_nobody_waits_for_one_that_does_not_open() {
        let time = VirtualTime::new(1);
        let runtime: SharedRuntime = time.clone();
        let places = Rc::<Places>::default();
        // The first of all is still being opened.
        let opening = places.take().ok().unwrap();
        time.suspend(TURN_MS);
        let held: Vec<_> = (1..MAX_WATCHES).map(|_| places.take().ok().unwrap()).collect();
        let mut all = stream::select_all(held.into_iter().map(|place| place.held_by(stream::pending().boxed_local(), time.now())));
        let kept = Kept::default();
        let come = places.turn(&kept, &runtime).come;
        let began = time.elapsed();
        let mut waits = Box::pin(come);
        let before = time.run_until(select(&mut waits, select(all.next(), time.sleep(TURN_MS - 1))));
        assert!(matches!(before, Either::Right((Either::Right(_), _))));
        drop(before);
        // One of those that are open goes, whatever the other does.
        let _come = time.run_until(select(waits, async { while all.next().await.is_some() {} }.boxed_local()));
        assert!((TURN_MS..TURN_MS + LOOK_AGAIN_MS).contains(&(time.elapsed() - began)), "{}", time.elapsed() - began);
        let mut frames = opening.held_by(stream::iter([Ok(vec![1])]).chain(stream::pending()).boxed_local(), time.now());
        assert!(time.run_until(frames.next()).is_some(), "its turn begins now");
    }

    #[test]
    fn one_that_does_not_go_when_it_is_called_back_keeps_nobody_else_waiting() {
        let time = VirtualTime::new(1);
        let runtime: SharedRuntime = time.clone();
        let places = Rc::<Places>::default();
        let hold = |millis| {
            time.suspend(millis);
            places.take().ok().unwrap().held_by(stream::pending().boxed_local(), time.now())
        };
        // Nobody reads the oldest: whoever does is busy.
        let _unread = hold(1);
        let mut read = stream::select_all((1..MAX_WATCHES).map(|_| hold(1)));
        let waits = places.turn(&Kept::default(), &runtime).come;
        let reads = async { while read.next().await.is_some() {} };
        let came = time.run_until(select(waits, select(reads.boxed_local(), time.sleep(2 * TURN_MS))));
        assert!(matches!(came, Either::Left(_)));
    }

    #[test]
    fn a_place_that_is_free_needs_no_wait_and_others_come_turn_by_turn() {
        let time = VirtualTime::new(1);
        let runtime: SharedRuntime = time.clone();
        let (places, kept) = (Rc::<Places>::default(), Kept::default());
        let turn = places.turn(&kept, &runtime);
        assert!(turn.come.now_or_never().is_some(), "and gives it back");
        let _held: Vec<_> = (0..MAX_WATCHES).map(|_| places.take().ok().unwrap()).collect();
        let error = places.take().err().unwrap();
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(error.message.contains("4 watches over fetch") && error.message.contains("HTTP/2"), "{}", error.message);
        let mut waits = Vec::new();
        for millis in [1, 1, 1, 1, 2, 2].map(|turns| turns * TURN_MS) {
            let turn = places.turn(&Kept::default(), &runtime);
            assert_eq!(turn.millis, millis);
            let mut come = turn.come;
            assert!((&mut come).now_or_never().is_none());
            waits.push(come);
        }
    }

    #[test]
    fn a_turn_that_came_and_was_not_used_is_given_back_and_so_is_one_that_nobody_waits_for() {
        let time = VirtualTime::new(1);
        let runtime: SharedRuntime = time.clone();
        let (places, kept) = (Rc::<Places>::default(), Kept::default());
        let mut held: Vec<_> = (0..MAX_WATCHES).map(|_| places.take().ok().unwrap()).collect();
        let waits = places.turn(&kept, &runtime).come;
        let gives_up = places.turn(&Kept::default(), &runtime).come;
        let mut both = Box::pin(futures::future::join(gives_up, waits));
        assert!(both.as_mut().now_or_never().is_none());
        drop(both);
        assert!(places.waiting.borrow().is_empty());
        held.pop();
        held.push(places.take().ok().unwrap());
        let waits = places.turn(&kept, &runtime).come;
        held.pop();
        let come = time.run_until(waits);
        assert!(places.take().is_err(), "it is kept for whoever waited");
        drop(come);
        assert!(kept.borrow().is_none() && places.take().is_ok());
    }
}
