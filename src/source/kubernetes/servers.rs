//! What is remembered of a server: whether it opens WebSockets, and the places that watches over fetch have there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::places::Places;
use crate::time::{Instant, Millis};

/// How long a server whose sockets are refused is asked for none. Each refusal behind it doubles that, up to a day.
pub(super) const FIRST_MEMORY_MS: Millis = 600_000;
pub(super) const MAX_MEMORY_MS: Millis = 86_400_000;

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
#[derive(Default)]
pub(super) struct Sockets {
    refused: Cell<Option<Refused>>,
    /// Nobody has been told of it.
    untold: Cell<bool>,
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

    /// One has opened.
    pub(super) fn opened(&self) {
        self.refused.set(None);
        self.untold.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;
    use crate::runtime::virtual_time::VirtualTime;

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
