//! Watches that take turns, because the host has few connections: the Kubernetes source's places under many reflectors.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use watchcache::cache::{Resource, ResourceConfig};
use watchcache::connection::Phase;
use watchcache::reflector::ReflectorConfig;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::kubernetes::{Connector, Servers, Transport, Unopened, Wire};
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, Turn, WatchRequest, WriteParameters, WriteRequest};
use watchcache::status::{Error, ErrorCode};
use watchcache::time::Millis;

use crate::helpers::upstream::{Shared, Upstream};

/// A resource of a server that is asked over HTTP/1.1.
struct Plain {
    upstream: Rc<Shared>,
    connector: Rc<Connector>,
    open: Rc<Cell<usize>>,
    most: Rc<Cell<usize>>,
}

struct Lines(Rc<Shared>);

impl Wire for Lines {
    fn has_headers(&self) -> bool {
        false
    }

    fn socket(&self, _: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Unopened>> {
        async { Err(Unopened::Silent) }.boxed_local()
    }

    fn lines(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        self.0.watch(request.clone())
    }
}

/// Counts what is open.
struct Counted(Rc<Cell<usize>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Source for Plain {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        self.upstream.list(request)
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.upstream.write(request)
    }

    fn turn(&self) -> Option<Turn> {
        self.connector.turn(Some("http/1.1"))
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let (lines, connector, open, most) = (Lines(self.upstream.clone()), self.connector.clone(), self.open.clone(), self.most.clone());
        async move {
            let frames = connector.open(&lines, &request, Some("http/1.1")).await?;
            open.set(open.get() + 1);
            most.set(most.get().max(open.get()));
            let counted = Counted(open);
            Ok(frames.map(move |frame| (&counted, frame).1).boxed_local())
        }
        .boxed_local()
    }
}

struct Page {
    time: Rc<VirtualTime>,
    all: Vec<(Rc<Upstream>, Rc<Resource>)>,
    most: Rc<Cell<usize>>,
}

impl Page {
    fn new(seed: u64, many: usize, page_size: u32) -> Self {
        let (time, servers, open, most) = (VirtualTime::new(seed), Servers::default(), Rc::default(), Rc::default());
        let peers = Rc::default();
        let all = (0..many).map(|number| {
            let upstream = Upstream::new(time.clone(), seed);
            upstream.latency.set(30);
            (0..3).for_each(|pod| _ = upstream.put("default", &format!("pod-{pod}")));
            let source = Plain {
                upstream: Rc::new(Shared(upstream.clone())),
                connector: Rc::new(Connector::new(&servers, "http://kube.test/api", Transport::Fetch, time.clone())),
                open: Rc::clone(&open),
                most: Rc::clone(&most),
            };
            let reflector =
                ReflectorConfig { seed: seed + number as u64, page_size, peers: Rc::clone(&peers), ..ReflectorConfig::default() };
            let config = ResourceConfig { reflector, ..ResourceConfig::named("pods") };
            (upstream, Resource::new(config, Rc::new(source), time.clone()).unwrap())
        });
        let all = all.collect();
        Self { time, all, most }
    }

    fn start(&self) {
        self.all.iter().for_each(|(_, resource)| resource.start());
    }

    fn run(&self, millis: Millis) {
        self.time.advance(millis);
    }

    fn live(&self) -> usize {
        self.all.iter().filter(|(_, resource)| phase(resource) == Phase::Live).count()
    }

    fn behind(&self) -> usize {
        self.all.iter().filter(|(upstream, resource)| version(resource) != upstream.version()).count()
    }
}

fn phase(resource: &Resource) -> Phase {
    resource.with(|cacher| cacher.status().phase)
}

fn version(resource: &Resource) -> u64 {
    resource.with(|cacher| cacher.version().as_u64().unwrap_or_default())
}

#[test]
fn wir_20_the_fifth_watch_says_why_it_waits_and_all_are_new_again_within_a_few_turns() {
    // Of one page, and of several, beside which a watch would be begun.
    for (seed, page_size) in [(1, 500), (2, 2), (3, 1)] {
        let page = Page::new(seed, 10, page_size);
        page.start();
        page.run(3_000);
        assert_eq!((page.live(), page.most.get()), (4, 4));
        for (_, resource) in page.all.iter().filter(|(_, resource)| phase(resource) != Phase::Live) {
            let status = resource.with(|cacher| cacher.status());
            let error = status.error.clone().expect("it says why");
            assert_eq!((status.phase, error.code), (Phase::Reconnecting, ErrorCode::Unavailable));
            assert!(error.message.contains("waits for its turn") && status.retry_at.is_some() && status.stale, "{status:?}");
            assert_eq!(resource.with(|cacher| cacher.stats().objects), 3, "its list is there");
        }
        for _ in 0..4 {
            page.all.iter().for_each(|(upstream, _)| _ = upstream.put("default", "new"));
            page.run(40_000);
            assert_eq!((page.behind(), page.live(), page.most.get()), (0, 4, 4));
        }
        assert!(page.all.iter().all(|(_, resource)| resource.with(|cacher| cacher.stats().lists) == 1), "nothing is listed anew");
    }
}

#[test]
fn a_server_that_is_slower_than_a_turn_keeps_nobody_behind() {
    let page = Page::new(5, 6, 500);
    page.all.iter().for_each(|(upstream, _)| upstream.latency.set(25_000));
    page.start();
    page.run(120_000);
    for _ in 0..4 {
        page.all.iter().for_each(|(upstream, _)| _ = upstream.put("default", "new"));
        page.run(180_000);
        assert_eq!((page.behind(), page.most.get()), (0, 4));
    }
}

#[test]
fn a_write_of_one_that_waits_for_its_turn_is_answered_at_once_and_shown_in_its_turn() {
    let page = Page::new(6, 14, 500);
    page.start();
    page.run(3_000);
    let (_, waiting) = page.all.iter().rfind(|(_, resource)| phase(resource) != Phase::Live).unwrap();
    let document = br#"{"metadata":{"namespace":"default","name":"mine"}}"#.to_vec();
    let began = page.time.elapsed();
    page.time.run_until(waiting.clone().create(document, WriteParameters::default())).unwrap();
    assert!(page.time.elapsed() - began < 1_000, "it waits for nothing");
    page.run(60_000);
    assert_eq!(waiting.with(|cacher| cacher.stats().objects), 4);
}

#[test]
fn who_is_paused_or_closed_gives_up_its_place_and_its_turn() {
    let page = Page::new(4, 6, 500);
    page.start();
    page.run(3_000);
    let (live, waiting): (Vec<_>, Vec<_>) = page.all.iter().map(|(_, resource)| resource).partition(|one| phase(one) == Phase::Live);
    waiting[0].pause();
    live[0].pause();
    live[1].close();
    page.run(1_000);
    assert_eq!(phase(waiting[1]), Phase::Live);
    page.run(60_000);
    let error = waiting[1].with(|cacher| cacher.status().error.clone());
    assert_eq!((page.live(), error), (3, None), "four places, and three who want one");
    waiting[0].resume();
    page.run(1_000);
    assert_eq!(page.live(), 4);
}
