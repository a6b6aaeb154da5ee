//! What is remembered of a server: whether it opens WebSockets, and the places that watches over fetch have there.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use rustc_hash::FxHashMap;

use super::places::Places;
use crate::runtime::SharedRuntime;
use crate::source::source::FrameStream;
use crate::status::Error;
use crate::time::{Instant, Millis};

/// How long a server whose sockets are refused is asked for none. Each refusal behind it doubles that, up to a day.
pub(super) const FIRST_MEMORY_MS: Millis = 600_000;
pub(super) const MAX_MEMORY_MS: Millis = 86_400_000;

/// A socket that ends sooner than this, and brought nothing, came to no server: some proxies open it before they look where it leads.
const MIN_SOCKET_MS: Millis = 1000;

/// So many are a refusal, if none has served yet.
const MAX_EMPTY_SOCKETS: u32 = 3;

/// What the watches of one host remember of their servers.
#[derive(Default)]
pub struct Servers {
    sockets: RefCell<FxHashMap<String, Rc<Sockets>>>,
    places: RefCell<FxHashMap<String, Rc<Places>>>,
}

impl Servers {
    /// What is remembered of one. `server` is its base URL.
    pub(super) fn remembered(&self, server: &str, now: Instant) -> (Rc<Sockets>, Rc<Places>) {
        let mut sockets = self.sockets.borrow_mut();
        sockets.retain(|_, known| Rc::strong_count(known) > 1 || known.are_refused(now));
        let mut places = self.places.borrow_mut();
        places.retain(|_, known| Rc::strong_count(known) > 1);
        let sockets = sockets.entry(server.to_string()).or_default().clone();
        (sockets, places.entry(origin(server).to_string()).or_default().clone())
    }
}

/// The scheme, host and port of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |end| &url[..host + end])
}

/// What is remembered of a server's WebSockets.
pub(super) struct Sockets {
    refused: Cell<Option<Refused>>,
    /// Nobody has been told of it.
    untold: Cell<bool>,
    /// How many have opened and ended at once. `None`: one has served, so they come through.
    empty: Cell<Option<u32>>,
}

impl Default for Sockets {
    fn default() -> Self {
        Self { refused: Cell::default(), untold: Cell::default(), empty: Cell::new(Some(0)) }
    }
}

#[derive(Clone, Copy)]
struct Refused {
    until: Instant,
    memory: Millis,
}

impl Sockets {
    /// Whether none is asked for.
    pub(super) fn are_refused(&self, now: Instant) -> bool {
        self.refused.get().is_some_and(|refused| now < refused.until)
    }

    /// Whether they are refused, and nobody has been told yet.
    pub(super) fn tell(&self) -> bool {
        self.untold.take()
    }

    /// One was refused.
    pub(super) fn refuse(&self, now: Instant) {
        // Several that are tried at once are one refusal.
        if self.are_refused(now) {
            return;
        }
        let before = self.refused.get();
        if before.is_none() {
            self.untold.set(true);
        }
        let memory = before.map_or(FIRST_MEMORY_MS, |refused| (refused.memory * 2).min(MAX_MEMORY_MS));
        self.refused.set(Some(Refused { until: now.saturating_add(memory), memory }));
    }

    /// The frames of one that has opened. Those that end at once, one after another, are refused ones, too.
    pub(super) fn on_trial(self: &Rc<Self>, frames: FrameStream, runtime: SharedRuntime) -> FrameStream {
        let opened = runtime.now();
        Trial { frames, sockets: self.clone(), runtime, opened, passed: false }.boxed_local()
    }

    /// One has ended that lasted for so long, and brought nothing.
    fn ended(&self, millis: Millis, now: Instant) {
        if millis >= MIN_SOCKET_MS {
            self.empty.set(None);
        } else if let Some(empty) = self.empty.get() {
            self.empty.set(Some((empty + 1) % MAX_EMPTY_SOCKETS));
            if empty + 1 == MAX_EMPTY_SOCKETS {
                self.refuse(now);
            }
        }
    }

    /// One has opened.
    pub(super) fn opened(&self) {
        self.refused.set(None);
        self.untold.set(false);
    }
}

struct Trial {
    frames: FrameStream,
    sockets: Rc<Sockets>,
    runtime: SharedRuntime,
    opened: Instant,
    /// It brought something, or has ended.
    passed: bool,
}

impl Stream for Trial {
    type Item = Result<Vec<u8>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.frames.poll_next_unpin(cx);
        if !self.passed
            && let Poll::Ready(item) = &polled
        {
            match item {
                Some(Ok(_)) => self.sockets.empty.set(None),
                Some(Err(_)) | None => {
                    let now = self.runtime.now();
                    self.sockets.ended(now.since(self.opened), now);
                }
            }
            self.passed = true;
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, stream};

    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::runtime::{Clock, Timer};

    #[test]
    fn what_is_remembered_of_sockets_grows_to_a_day_and_is_told_although_nobody_hears_of_the_first_time() {
        let (time, sockets) = (VirtualTime::new(1), Sockets::default());
        for memory in (0..20).map(|doubled| (FIRST_MEMORY_MS << doubled).min(MAX_MEMORY_MS)) {
            sockets.refuse(time.now());
            sockets.refuse(time.now());
            time.suspend(memory - 1);
            assert!(sockets.are_refused(time.now()));
            time.suspend(1);
            assert!(!sockets.are_refused(time.now()), "{memory}");
        }
        assert!(sockets.tell() && !sockets.tell(), "it was not told before");
        sockets.opened();
        sockets.refuse(time.now());
        time.suspend(FIRST_MEMORY_MS);
        assert!(!sockets.are_refused(time.now()), "it begins anew");
        sockets.opened();
        assert!(!sockets.tell(), "what is over is not told");
    }

    #[test]
    fn three_sockets_that_open_and_end_at_once_are_a_refusal_until_one_has_served() {
        let time = VirtualTime::new(1);
        let ends_after = |sockets: &Rc<Sockets>, millis| {
            let frames = sockets.on_trial(time.sleep(millis).into_stream().filter_map(|()| async { None }).boxed_local(), time.clone());
            let all: Vec<_> = time.run_until(frames.collect());
            assert!(all.is_empty());
        };
        let brings = |sockets: &Rc<Sockets>| {
            let frames = sockets.on_trial(stream::iter([Ok(b"{}".to_vec())]).boxed_local(), time.clone());
            let _all: Vec<_> = time.run_until(frames.collect());
        };
        let sockets = Rc::<Sockets>::default();
        ends_after(&sockets, 0);
        ends_after(&sockets, 999);
        assert!(!sockets.are_refused(time.now()));
        ends_after(&sockets, 10);
        assert!(sockets.are_refused(time.now()) && sockets.tell());
        // Through a path that lets one through the others were cut by somebody else.
        for serves in [&brings as &dyn Fn(&Rc<Sockets>), &|sockets| ends_after(sockets, 1_000)] {
            let sockets = Rc::<Sockets>::default();
            ends_after(&sockets, 10);
            serves(&sockets);
            (0..9).for_each(|_| ends_after(&sockets, 10));
            assert!(!sockets.are_refused(time.now()));
        }
    }

    #[test]
    fn a_server_is_forgotten_that_nobody_uses_and_that_refuses_nothing() {
        let (time, servers) = (VirtualTime::new(1), Servers::default());
        let (sockets, places) = servers.remembered("http://host/a", time.now());
        let (others, same) = servers.remembered("http://host/b", time.now());
        assert!(!Rc::ptr_eq(&sockets, &others) && Rc::ptr_eq(&places, &same), "connections are the origin's");
        sockets.refuse(time.now());
        drop((sockets, places, others, same));
        let (sockets, _) = servers.remembered("http://host/a", time.now());
        assert!(sockets.are_refused(time.now()));
        drop(sockets);
        time.suspend(FIRST_MEMORY_MS);
        let _other = servers.remembered("http://other", time.now());
        assert_eq!((servers.sockets.borrow().len(), servers.places.borrow().len()), (1, 1));
    }

    #[test]
    fn an_origin_is_what_stands_before_the_path() {
        assert_eq!(origin("https://host:6443/clusters/x"), "https://host:6443");
        assert_eq!(origin("http://[::1]:80"), "http://[::1]:80");
    }
}
