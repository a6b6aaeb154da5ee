//! Connections that end at every byte of what a server sends. The resource then goes on by another connection, to a server that resumes rightly.
//!
//! Each wire has a recorded stream of its own. One server plays them all, and one judge holds what a user may see. No event is lost, doubled or
//! out of order. There is no half object, and no version beyond what was delivered whole.

mod etcd;
mod kubernetes;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::stream::{self, StreamExt};
use watchcache::connection::Phase;
use watchcache::runtime::Timer;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::time::Millis;
use watchcache::watch::EventKind;

use crate::after;
use crate::helpers::client::Heard;
use crate::helpers::rig::{Rig, Rows, Setup};
use crate::helpers::upstream::Upstream;

/// A watch that ends sooner without anything new is taken for none, and another rule holds.
const QUIET_MS: Millis = 1500;

/// How a connection that is cut ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    InOrder,
    Broken,
    /// The history is gone.
    Compacted,
}

/// What a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Bytes, in chunks of at most so many.
    Bytes(usize),
    /// Messages: one that is not whole never comes.
    Messages,
    /// The same behind something that hands on what it has of a message.
    Torn,
}

/// A connection that ends behind so many bytes.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: usize,
    way: Way,
    end: End,
}

/// What has come once a number of units is whole.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    changes: usize,
    /// The version of a bookmark behind them.
    bookmark: u64,
    /// The last of them was an ERROR event.
    error: bool,
}

/// How a server speaks.
trait Wire {
    /// The version of the first list.
    fn base(&self) -> u64;
    /// What the first watch brings, unit by unit, and what has come with each.
    fn recorded(&self) -> Vec<(Vec<u8>, Delivered)>;
    /// How many of these come at once. All others come later.
    fn greeting(&self) -> usize;
    /// The units of any later watch.
    fn following(&self, after: u64) -> Vec<Vec<u8>>;
    /// A page, where the newest version is that of the first list or the last of all.
    fn page(&self, request: &ListRequest, first: bool) -> Vec<u8>;
    /// The core's reading of a page, and of a watch.
    fn read_page(&self, request: &ListRequest, body: PageStream) -> PageStream;
    fn read_watch(&self, request: &WatchRequest, carried: PageStream) -> LocalBoxFuture<'static, Result<FrameStream, Error>>;
}

/// A server whose connections are cut as planned.
struct Server {
    time: Rc<VirtualTime>,
    wire: Rc<dyn Wire>,
    /// Of lists and watches to come, the next first.
    list_cuts: RefCell<VecDeque<Option<Cut>>>,
    watch_cut: Cell<Option<Cut>>,
    /// In which order what was asked for.
    asked: RefCell<Vec<String>>,
    lists_first: Cell<bool>,
    watches: Cell<usize>,
    admits: Rc<Cell<bool>>,
}

impl Server {
    fn new(wire: Rc<dyn Wire>) -> Self {
        Self {
            time: VirtualTime::new(1),
            wire,
            list_cuts: RefCell::default(),
            watch_cut: Cell::default(),
            asked: RefCell::default(),
            lists_first: Cell::new(true),
            watches: Cell::default(),
            admits: Rc::new(Cell::new(true)),
        }
    }

    /// Waits until requests are answered.
    fn admitted(&self) -> LocalBoxFuture<'static, ()> {
        let (time, admits) = (self.time.clone(), self.admits.clone());
        Box::pin(async move {
            while !admits.get() {
                time.sleep(20).await;
            }
        })
    }

    /// Each chunk is polled by itself, so that anything may happen between two of them.
    fn one_by_one(&self, chunks: Vec<Result<Vec<u8>, Error>>) -> PageStream {
        let time = self.time.clone();
        let chunks = stream::iter(chunks).then(move |chunk| {
            let turn = time.yield_now();
            async move {
                turn.await;
                chunk
            }
        });
        chunks.boxed_local()
    }
}

/// What is carried of these units.
fn carried(units: &[Vec<u8>], cut: Cut) -> Vec<Vec<u8>> {
    let bytes = units.concat();
    match cut.way {
        Way::Bytes(size) => bytes[..cut.at.min(bytes.len())].chunks(size).map(<[u8]>::to_vec).collect(),
        Way::Messages | Way::Torn => {
            let mut left = cut.at;
            let mut messages = Vec::new();
            for unit in units {
                let taken = left.min(unit.len());
                left -= taken;
                if taken == unit.len() || cut.way == Way::Torn && taken > 0 {
                    messages.push(unit[..taken].to_vec());
                }
                if taken < unit.len() {
                    break;
                }
            }
            messages
        }
    }
}

fn end(how: End) -> Vec<Result<Vec<u8>, Error>> {
    match how {
        End::InOrder => Vec::new(),
        End::Broken => vec![Err(Error::network("connection reset by peer"))],
        End::Compacted => vec![Err(Status::new(410, "Expired", "compacted").into())],
    }
}

struct Asked(Rc<Server>);

impl Source for Asked {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let server = self.0.clone();
        server.asked.borrow_mut().push(if request.continue_token.is_some() { "page".into() } else { "list".into() });
        Box::pin(async move {
            server.admitted().await;
            let page = server.wire.page(&request, server.lists_first.get());
            let cut = server.list_cuts.borrow_mut().pop_front().flatten();
            let body = match cut {
                Some(cut) => {
                    let mut chunks: Vec<_> = carried(&[page], cut).into_iter().map(Ok).collect();
                    chunks.extend(end(cut.end));
                    server.admits.set(false);
                    server.one_by_one(chunks)
                }
                None => server.one_by_one(page.chunks(50).map(|chunk| Ok(chunk.to_vec())).collect()),
            };
            Ok(server.wire.read_page(&request, body))
        })
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let server = self.0.clone();
        server.asked.borrow_mut().push(format!("watch {}", request.resource_version));
        Box::pin(async move {
            server.admitted().await;
            let first = server.watches.replace(server.watches.get() + 1) == 0;
            let sent = if let Some(cut) = server.watch_cut.get().filter(|_| first) {
                let units: Vec<Vec<u8>> = server.wire.recorded().into_iter().map(|(unit, _)| unit).collect();
                let mut now: Vec<_> = carried(&units, cut).into_iter().map(Ok).collect();
                let mut then = now.split_off(server.wire.greeting().min(now.len()));
                then.extend(end(cut.end));
                let (quiet, admits, then) = (server.time.sleep(QUIET_MS), server.admits.clone(), server.one_by_one(then));
                let later = stream::once(async move {
                    quiet.await;
                    // No other connection is made before the judge has looked.
                    admits.set(false);
                    then
                });
                server.one_by_one(now).chain(later.flatten()).boxed_local()
            } else {
                let after = request.resource_version.parse().expect("a version");
                let units = server.wire.following(after).into_iter().map(Ok).collect();
                server.one_by_one(units).chain(stream::pending()).boxed_local()
            };
            server.wire.read_watch(&request, sent).await
        })
    }
}

/// What the judge compares with: what stands there at first, and all that follows.
struct Truth {
    rows: Rows,
    changes: Vec<Heard>,
}

impl Truth {
    /// As a resource tells it whose first watch ends in good order behind the last change of its record. `told`: which changes these are.
    fn of(wire: &Rc<dyn Wire>, told: &[&str]) -> Self {
        let recorded = wire.recorded();
        let sound: usize = recorded.iter().filter(|(_, delivered)| !delivered.error).map(|(unit, _)| unit.len()).sum();
        let way = Way::Messages;
        let game = Game::start(wire, |server| server.watch_cut.set(Some(Cut { at: sound, way, end: End::InOrder })));
        let rows = game.rig.rows();
        let stream = game.rig.watch(after(wire.base()));
        game.rig.run(2 * QUIET_MS);
        game.go_on();
        let changes = game.rig.client.streams.borrow()[stream].changes();
        assert_eq!(changes.iter().map(|change| format!("{change:?}")).collect::<Vec<_>>(), told);
        Self { rows, changes }
    }

    /// The rows behind so many changes.
    fn rows(&self, changes: usize) -> Rows {
        let mut rows = self.rows.clone();
        for change in &self.changes[..changes] {
            match change.kind {
                EventKind::Deleted => drop(rows.remove(&change.key)),
                _ => drop(rows.insert(change.key.clone(), (change.own, change.document.as_str().into()))),
            }
        }
        rows
    }

    /// The version behind so much.
    fn version(&self, base: u64, delivered: Delivered) -> u64 {
        let change = delivered.changes.checked_sub(1).map_or(base, |last| self.changes[last].version);
        change.max(delivered.bookmark)
    }
}

/// A resource and its server.
struct Game {
    rig: Rig,
    server: Rc<Server>,
}

impl Game {
    fn start(wire: &Rc<dyn Wire>, prepare: impl FnOnce(&Server)) -> Self {
        fastrand::seed(1);
        let server = Rc::new(Server::new(wire.clone()));
        prepare(&server);
        let time = server.time.clone();
        let setup = Setup { page_size: 2, ..Setup::default() };
        let rig = Rig::over(&setup, time.clone(), Upstream::new(time, 1), Rc::new(Asked(server.clone())));
        rig.resource.start();
        rig.run(0);
        Self { rig, server }
    }

    /// The server answers again, and knows all changes now.
    fn go_on(&self) {
        self.server.lists_first.set(false);
        self.server.admits.set(true);
        self.rig.run(8000);
    }

    fn asked(&self) -> Vec<String> {
        self.server.asked.borrow().clone()
    }
}

/// The first watch is cut so. Holds what stands between it and the next, and what is there in the end.
fn judge_watch(wire: &Rc<dyn Wire>, truth: &Truth, cut: Cut) {
    let recorded = wire.recorded();
    let (mut whole, mut sent) = (0, 0);
    while whole < recorded.len() && sent + recorded[whole].0.len() <= cut.at {
        sent += recorded[whole].0.len();
        whole += 1;
    }
    let delivered = whole.checked_sub(1).map_or(Delivered::default(), |last| recorded[last].1);
    let version = truth.version(wire.base(), delivered);
    // What is left of a message is no sign of a lost connection but of a server that sends nonsense.
    let torn = cut.way == Way::Torn && sent < cut.at;
    let anew = delivered.error || torn || cut.end == End::Compacted;

    let game = Game::start(wire, |server| server.watch_cut.set(Some(cut)));
    let greeted = whole >= wire.greeting();
    assert_eq!(game.rig.status().phase == Phase::Live, greeted, "{cut:?}");
    let stream = game.rig.watch(after(wire.base()));
    game.rig.run(QUIET_MS + 800);

    let status = game.rig.status();
    assert!(game.rig.rows() == truth.rows(delivered.changes), "the rows between, {cut:?}: {:?}", game.rig.rows());
    assert_eq!(game.rig.version(), version, "{cut:?}");
    assert!(status.stale || !greeted, "{cut:?}");
    let code = status.error.as_ref().map(|error| error.code);
    match (status.phase, code) {
        (phase, _) if !greeted => assert_ne!(phase, Phase::Live, "{cut:?}"),
        (phase, code) if torn => {
            assert_eq!(phase, Phase::Reconnecting, "{cut:?}");
            assert!(matches!(code, Some(ErrorCode::Protocol | ErrorCode::Decode)), "{cut:?}: {code:?}");
        }
        // Neither is an error while it is made good at once.
        said => assert_eq!(said, (if anew { Phase::Relisting } else { Phase::Reconnecting }, None), "{cut:?}"),
    }
    let heard = |count: usize| {
        let heard = game.rig.client.streams.borrow()[stream].changes();
        assert_eq!(heard, truth.changes[..count], "{cut:?}");
    };
    heard(delivered.changes);

    game.go_on();
    let last = truth.changes.last().expect("changes").version;
    assert!(game.rig.rows() == truth.rows(truth.changes.len()), "the rows at last, {cut:?}");
    assert_eq!((game.rig.status().phase, game.rig.version().max(last)), (Phase::Live, game.rig.version()), "{cut:?}");
    let asked = game.asked();
    if anew {
        assert!(asked[3..].iter().any(|asked| asked == "list"), "{cut:?}: {asked:?}");
        heard(delivered.changes);
    } else if greeted {
        let base = wire.base();
        assert_eq!(asked, ["list", &format!("watch {base}"), "page", &format!("watch {version}")], "{cut:?}");
        heard(truth.changes.len());
    }
}

/// A page of the first list, or of the next, is cut so.
fn judge_list(wire: &Rc<dyn Wire>, truth: &Truth, page: usize, again: bool, cut: Cut) {
    let before = wire.recorded().last().expect("a record").1;
    let recorded: usize = wire.recorded().iter().map(|(unit, _)| unit.len()).sum();
    let way = Way::Messages;
    let game = Game::start(wire, |server| {
        *server.list_cuts.borrow_mut() = (0..if again { 2 } else { 0 } + page).map(|_| None).chain([Some(cut)]).collect();
        if again {
            server.watch_cut.set(Some(Cut { at: recorded, way, end: End::Compacted }));
        }
    });
    let stream = again.then(|| game.rig.watch(after(wire.base())));
    // Pages of the first list are shown as they come, each whole.
    let mut held = (truth.rows.clone().into_iter().take(2 * page).collect(), None);
    if again {
        held = (truth.rows(before.changes), Some(truth.version(wire.base(), before)));
        game.server.lists_first.set(false);
        game.rig.run(QUIET_MS);
        // The watch has told that there is no way on, and the list begins.
        game.server.admits.set(true);
    }
    game.rig.run(QUIET_MS);
    let status = game.rig.status();
    assert!(game.rig.rows() == held.0, "the rows between, {cut:?} of page {page}: {:?}", game.rig.rows());
    assert_eq!(status.resource_version.and_then(|version| version.as_u64()), held.1, "{cut:?} of page {page}");
    assert_ne!(status.phase, Phase::Live, "{cut:?} of page {page}");
    assert!(!game.server.admits.get(), "{cut:?} of page {page} was met");
    if let Some(stream) = stream {
        assert_eq!(game.rig.client.streams.borrow()[stream].changes(), truth.changes[..before.changes], "{cut:?} of page {page}");
    }
    game.go_on();
    assert!(game.rig.rows() == truth.rows(truth.changes.len()), "the rows at last, {cut:?} of page {page}: {:?}", game.asked());
    assert_eq!(game.rig.status().phase, Phase::Live, "{cut:?} of page {page}");
}
