//! A server that is away, and many reflectors that want something of it. Counts what they ask together. Nobody waits for a path that is not
//! its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::helpers::scenario::{MINUTE, SECOND, config, fill, status};
use crate::helpers::upstream::{Shared, Upstream};
use futures::channel::mpsc;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use watchcache::connection::Connection;
use watchcache::json::FieldSet;
use watchcache::message::{MAX_WAITING_MESSAGES, Message};
use watchcache::reflector::{Peers, Reflector, ReflectorConfig, ReflectorHandle};
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
use watchcache::status::Error;
use watchcache::time::Millis;

const MANY: usize = 30;

/// How a request ends before it reaches the upstream.
#[derive(Clone)]
enum Fault {
    None,
    Refused,
    Silent,
    Answered(Error),
}

/// One server of many resources.
struct Server {
    time: Rc<VirtualTime>,
    latency: Cell<Millis>,
    fault: RefCell<Fault>,
    lists: RefCell<Vec<(usize, Millis)>>,
    watches: RefCell<Vec<(usize, Millis)>>,
}

impl Server {
    fn answer(self: &Rc<Self>, own: &Fault) -> LocalBoxFuture<'static, Result<(), Error>> {
        let (server, own) = (self.clone(), own.clone());
        async move {
            server.time.sleep(server.latency.get()).await;
            let fault = server.fault.borrow().clone();
            match if matches!(fault, Fault::None) { own } else { fault } {
                Fault::None => Ok(()),
                Fault::Refused => Err(Error::network("connection refused")),
                Fault::Silent => std::future::pending().await,
                Fault::Answered(error) => Err(error),
            }
        }
        .boxed_local()
    }

    fn asked(&self) -> (usize, usize) {
        (self.lists.borrow().len(), self.watches.borrow().len())
    }

    fn forget(&self) {
        self.lists.borrow_mut().clear();
        self.watches.borrow_mut().clear();
    }
}

/// One resource of it.
struct Path {
    number: usize,
    shared: bool,
    server: Rc<Server>,
    upstream: Shared,
    fault: Rc<RefCell<Fault>>,
}

impl Source for Path {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        self.server.lists.borrow_mut().push((self.number, self.server.time.elapsed()));
        let (answer, list) = (self.server.answer(&self.fault.borrow()), self.upstream.list(request));
        async move { answer.await.map(|()| list)?.await }.boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        self.server.watches.borrow_mut().push((self.number, self.server.time.elapsed()));
        let (answer, watch) = (self.server.answer(&self.fault.borrow()), self.upstream.watch(request));
        async move { answer.await.map(|()| watch)?.await }.boxed_local()
    }

    fn server(&self) -> Option<String> {
        self.shared.then(|| "https://kube.test".into())
    }
}

/// A resource at work.
struct One {
    upstream: Rc<Upstream>,
    fault: Rc<RefCell<Fault>>,
    handle: ReflectorHandle,
    said: Rc<RefCell<Vec<(Millis, Connection)>>>,
}

impl One {
    fn is_live(&self) -> bool {
        matches!(self.said.borrow().last(), Some((_, Connection::Live)))
    }

    fn is_waiting(&self) -> bool {
        matches!(self.said.borrow().last(), Some((_, Connection::Waiting { .. })))
    }

    /// When it was live for the last time, or came to be.
    fn live_at(&self) -> Millis {
        let said = self.said.borrow();
        said.iter().rev().find(|(_, said)| *said == Connection::Live).map_or(Millis::MAX, |(at, _)| *at)
    }
}

struct Page {
    time: Rc<VirtualTime>,
    server: Rc<Server>,
    peers: Rc<Peers>,
    all: Vec<One>,
}

impl Page {
    fn new(seed: u64, fault: Fault, shared: bool) -> Self {
        let mut page = Self::empty(seed, fault);
        for number in 0..MANY {
            page.add(number, seed, shared);
        }
        page
    }

    fn empty(seed: u64, fault: Fault) -> Self {
        let time = VirtualTime::new(seed);
        let server = Rc::new(Server {
            time: time.clone(),
            latency: Cell::new(5),
            fault: RefCell::new(fault),
            lists: RefCell::default(),
            watches: RefCell::default(),
        });
        Self { time, server, peers: Rc::default(), all: Vec::new() }
    }

    fn add(&mut self, number: usize, seed: u64, shared: bool) {
        let (time, fault) = (self.time.clone(), Rc::new(RefCell::new(Fault::None)));
        let upstream = Upstream::new(time.clone(), seed);
        fill(&upstream, 2);
        let path = Path { number, shared, server: self.server.clone(), upstream: Shared(upstream.clone()), fault: fault.clone() };
        let (sender, mut receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let config = ReflectorConfig { seed: seed * 1000 + number as u64, peers: self.peers.clone(), ..config() };
        let (reflector, handle) = Reflector::new(Rc::new(path), time.clone(), fields, config, sender);
        time.spawn(Box::pin(reflector.run()));
        let said: Rc<RefCell<Vec<(Millis, Connection)>>> = Rc::default();
        let (into, clock) = (said.clone(), time.clone());
        time.spawn(Box::pin(async move {
            while let Some(message) = receiver.next().await {
                if let Message::Connection(connection) = message {
                    into.borrow_mut().push((clock.elapsed(), connection));
                }
            }
        }));
        self.all.push(One { upstream, fault, handle, said });
    }

    fn run(&self, millis: Millis) {
        self.time.advance(millis);
    }

    fn live(&self) -> usize {
        self.all.iter().filter(|one| one.is_live()).count()
    }

    fn set(&self, fault: Fault) {
        *self.server.fault.borrow_mut() = fault;
    }

    /// The server goes away, with all its streams.
    fn down(&self, fault: Fault) {
        self.set(fault);
        self.server.forget();
        self.all.iter().for_each(|one| one.upstream.break_streams(&Error::network("reset by peer")));
    }
}

#[test]
fn a_server_that_is_away_is_asked_ten_times_in_the_first_minute_by_all_together() {
    for seed in 1..40 {
        let page = Page::new(seed, Fault::Refused, true);
        page.run(MINUTE);
        let (lists, watches) = page.server.asked();
        assert!((8..=10).contains(&lists) && watches == 0, "seed {seed}: {lists} lists");
        assert!(page.all.iter().all(One::is_waiting), "each says so, with the time of the next try");
        page.set(Fault::None);
        page.run(MINUTE + SECOND);
        assert_eq!(page.live(), MANY, "seed {seed}");
        let back: Vec<_> = page.all.iter().map(One::live_at).collect();
        let (first, last) = (back.iter().min().unwrap(), back.iter().max().unwrap());
        assert!((100..1200).contains(&(last - first)), "all come with the first, and not at one moment: {}", last - first);
    }
}

#[test]
fn streams_that_break_with_their_server_are_resumed_by_ten_watches_in_a_minute() {
    for seed in 1..40 {
        let page = Page::new(seed, Fault::None, true);
        page.run(3 * SECOND);
        assert_eq!(page.live(), MANY);
        page.down(Fault::Refused);
        page.run(MINUTE);
        let (lists, watches) = page.server.asked();
        assert!((5..=10).contains(&watches) && lists == 0, "seed {seed}: {watches} watches, {lists} lists");
        page.set(Fault::None);
        page.run(MINUTE + SECOND);
        assert_eq!((page.live(), page.server.lists.borrow().len()), (MANY, 0), "all go on from their versions");
    }
}

#[test]
fn a_server_that_swallows_what_it_is_asked_is_asked_no_more_often() {
    let page = Page::new(3, Fault::Silent, true);
    page.run(MINUTE);
    assert_eq!(page.server.asked(), (10, 0));
    page.set(Fault::None);
    page.run(3 * MINUTE);
    assert_eq!(page.live(), MANY);
}

#[test]
fn a_server_that_answers_is_asked_by_all_at_once() {
    let live = |shared: bool| {
        let page = Page::new(4, Fault::None, shared);
        page.server.latency.set(200);
        page.run(5 * SECOND);
        assert_eq!((page.live(), page.server.asked()), (MANY, (MANY, MANY)));
        page.all.iter().map(One::live_at).max().unwrap()
    };
    let (alone, together) = (live(false), live(true));
    assert!(together <= alone + 220, "{together} ms, and {alone} ms if nobody waits: one answer later");
}

/// While only one path fails, no other waits for it.
#[test]
fn a_failure_of_one_path_holds_no_other_back() {
    for fault in
        [Fault::Answered(status(404, "NotFound")), Fault::Answered(status(503, "ServiceUnavailable")), Fault::Refused, Fault::Silent]
    {
        for bad in [0, 3, MANY - 1] {
            let page = Page::new(5, Fault::None, true);
            *page.all[bad].fault.borrow_mut() = fault.clone();
            page.run(3 * SECOND);
            assert_eq!(page.live(), MANY - 1);
            // Each stream is resumed at once, however often the bad path has failed meanwhile.
            page.run(2 * MINUTE);
            for one in &page.all {
                one.upstream.drop_streams();
                page.run(100);
            }
            page.run(SECOND);
            assert_eq!(page.live(), MANY - 1);
            let back = page.all.iter().filter(|one| one.is_live()).map(One::live_at).min().unwrap();
            assert!(back > 2 * MINUTE, "each was resumed");
            *page.all[bad].fault.borrow_mut() = Fault::None;
            page.run(3 * MINUTE);
            assert_eq!(page.live(), MANY);
        }
    }
}

/// One path of a server fails as if the server were away, and nothing else is open. The others are tried all the same.
#[test]
fn a_reflector_that_asked_in_vain_lets_another_one_ask() {
    let mut page = Page::new(6, Fault::Refused, true);
    page.run(10 * SECOND);
    *page.all[0].fault.borrow_mut() = Fault::Refused;
    page.set(Fault::None);
    page.run(MINUTE);
    assert_eq!(page.live(), MANY - 1);
    page.add(MANY, 6, true);
    page.run(SECOND);
    assert!(page.all[MANY].is_live());
}

/// Two caches of one page, and the `auth` of one fails. The other one asks at once, and is told nothing of it.
#[test]
fn who_fails_before_a_request_goes_out_holds_no_other_back() {
    for error in [Error::network("auth failed: signed out"), status(401, "Unauthorized")] {
        let unsent = Fault::Answered(error.unsent());
        for seed in 1..20 {
            let mut page = Page::empty(seed, Fault::None);
            page.add(0, seed, true);
            *page.all[0].fault.borrow_mut() = unsent.clone();
            page.run(30 * SECOND);
            assert!(!page.all[0].is_live());
            page.add(1, seed, true);
            page.run(SECOND / 10);
            assert!(page.all[1].is_live(), "seed {seed}");
            assert!(!page.all[1].said.borrow().iter().any(|(_, said)| matches!(said, Connection::Waiting { .. })));
        }
    }
}

/// It waits by its own backoff. Of a server that is away it says neither that it is there, nor that it is away for longer.
#[test]
fn who_fails_before_a_request_goes_out_ends_no_outage() {
    for error in [Error::network("auth failed: signed out"), status(401, "Unauthorized")] {
        let mut page = Page::empty(11, Fault::None);
        for number in 0..2 {
            page.add(number, 11, true);
        }
        *page.all[0].fault.borrow_mut() = Fault::Answered(error.unsent());
        *page.all[1].fault.borrow_mut() = Fault::Refused;
        page.run(MINUTE);
        let asked = |number| page.server.lists.borrow().iter().filter(|(asked, _)| *asked == number).count();
        assert!((3..=10).contains(&asked(0)) && (3..=10).contains(&asked(1)), "{} and {}", asked(0), asked(1));
        *page.all[1].fault.borrow_mut() = Fault::None;
        page.run(MINUTE);
        assert!(page.all[1].is_live());
    }
}

#[test]
fn a_user_who_says_that_the_server_is_back_is_believed_once() {
    let page = Page::new(7, Fault::Refused, true);
    page.run(MINUTE);
    page.server.forget();
    page.all.iter().for_each(|one| one.handle.resume());
    page.run(SECOND / 2);
    assert_eq!(page.server.asked(), (1, 0), "one asks for all");
    page.set(Fault::None);
    page.all[7].handle.refresh();
    page.run(2 * SECOND);
    assert_eq!(page.live(), MANY);
}

#[test]
fn a_reflector_can_be_paused_and_closed_while_it_waits_and_while_it_asks() {
    let page = Page::new(8, Fault::Silent, true);
    page.run(MINUTE);
    assert_eq!(page.server.asked().0, 10);
    page.set(Fault::None);
    // The reflectors that ask are paused or closed before they hear anything. Others ask in their place.
    let asking: Vec<usize> = page.server.lists.borrow().iter().map(|(number, _)| *number).collect();
    for (at, number) in asking.iter().enumerate() {
        let handle = &page.all[*number].handle;
        if at % 2 == 0 { handle.close() } else { handle.pause() }
    }
    page.run(3 * SECOND);
    assert_eq!(page.live(), MANY - asking.len());
    page.all.iter().for_each(|one| one.handle.resume());
    page.run(3 * SECOND);
    assert_eq!(page.live(), MANY - asking.len().div_ceil(2));
    page.down(Fault::Refused);
    page.run(MINUTE);
    let waiting = page.all.iter().position(One::is_waiting).unwrap();
    page.all[waiting].handle.pause();
    page.run(SECOND);
    assert_eq!(page.all[waiting].said.borrow().last().map(|(_, said)| said.clone()), Some(Connection::Paused));
}

/// The listeners of a page ask at each failure. Together they get as many early tries as one.
#[test]
fn early_tries_of_all_at_each_failure_are_granted_three_times_a_minute_together() {
    for name in ["resume", "refresh"] {
        let ask = |handle: &ReflectorHandle| if name == "resume" { handle.resume() } else { handle.refresh() };
        for lost in [false, true] {
            let page = Page::new(9, if lost { Fault::None } else { Fault::Refused }, true);
            if lost {
                page.run(3 * SECOND);
                assert_eq!(page.live(), MANY);
                page.down(Fault::Refused);
            }
            for _ in 0..1200 {
                page.run(50);
                page.all.iter().filter(|one| one.is_waiting()).for_each(|one| ask(&one.handle));
            }
            let (lists, watches) = page.server.asked();
            assert!((4..=22).contains(&(lists + watches)), "{name}, {lost}: {lists} lists, {watches} watches");
            // A minute after the last, a single early try is granted at once.
            page.run(3 * MINUTE);
            page.server.forget();
            ask(&page.all[0].handle);
            page.run(SECOND / 2);
            let (lists, watches) = page.server.asked();
            assert!((1..=2).contains(&(lists + watches)), "{name}, {lost}: {lists} lists, {watches} watches");
            page.set(Fault::None);
            page.run(3 * MINUTE);
            assert_eq!(page.live(), MANY, "{name}, {lost}");
        }
    }
}

/// Who asks says nothing of a server that does not answer.
#[test]
fn who_signs_in_does_not_bring_back_a_server_that_is_away() {
    let within_a_minute = |signs_in: bool| {
        let page = Page::new(11, Fault::Refused, true);
        for _ in 0..600 {
            page.run(SECOND / 10);
            if signs_in {
                page.all.iter().for_each(|one| one.handle.signed_in());
            }
        }
        let told: usize = page.all.iter().map(|one| one.said.borrow().len()).sum();
        (page.server.asked(), told)
    };
    // Neither is it asked more often, nor is any try counted, of which people are told.
    assert_eq!(within_a_minute(true), within_a_minute(false));
}

/// The server answers the others, so its own limit of early tries does not count. The limit of the resource does.
#[test]
fn early_tries_at_each_failure_of_one_path_are_granted_three_times_a_minute() {
    let page = Page::new(10, Fault::None, true);
    *page.all[0].fault.borrow_mut() = Fault::Answered(status(500, "InternalError"));
    page.run(3 * SECOND);
    page.server.forget();
    for _ in 0..1200 {
        page.run(50);
        page.all.iter().filter(|one| one.is_waiting()).for_each(|one| one.handle.resume());
    }
    let (lists, _) = page.server.asked();
    assert!((4..=12).contains(&lists), "{lists} lists in a minute");
}
