//! A rig that plays traces, and judges at each flush and at the end what was seen.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use proptest::sample::Index;
use watchcache::cache::resource::Resource;
use watchcache::runtime::Clock;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::watch::event::EndReason;
use watchcache::watch::options::WatchOptions;
use watchcache::watch::watcher::Demand;

use crate::steps::{Fault, Plan, StartAt, Step};
use crate::support::client::{Client, Heard, Stream};
use crate::support::model::{SELECTIONS, changes, delete_pod, initial, put_pod};
use crate::support::rig::{Rig, Rows, Setup, rows_of, view_rows};
use crate::upstream::{ListFault, Request, Upstream, WatchFault};

/// A watch, and what the model knows of its start.
#[derive(Clone, Debug)]
pub struct Watched {
    pub stream: usize,
    pub selection: usize,
    /// Whether the state comes first.
    pub from_state: bool,
    /// The version after which it hears of everything; known at once, or when it has begun.
    pub from: Option<u64>,
}

#[derive(Default)]
struct Watching {
    watches: Vec<Watched>,
    views: Vec<(u32, usize)>,
    stopped: HashSet<usize>,
}

pub struct World {
    pub rig: Rig,
    watching: Rc<RefCell<Watching>>,
}

impl World {
    /// A live resource with six pods, judged at each flush.
    pub fn new(setup: Setup) -> Self {
        Self::of(Rig::new(setup, |upstream| {
            upstream.chunk.set(200);
            for number in 0..6 {
                put_pod(upstream, number, number, number / 2);
            }
        }))
    }

    /// One that has not begun.
    pub fn idle(setup: Setup) -> Self {
        Self::of(Rig::idle(setup, |upstream| {
            upstream.chunk.set(200);
            for number in 0..6 {
                put_pod(upstream, number, number, number / 2);
            }
        }))
    }

    fn of(rig: Rig) -> Self {
        let watching = Rc::new(RefCell::new(Watching::default()));
        let (judged, upstream, client) = (watching.clone(), rig.upstream.clone(), Rc::downgrade(&rig.client));
        *rig.client.on_flush.borrow_mut() = Some(Rc::new(move |resource| {
            learn(resource, &judged, &client.upgrade().unwrap());
            judge(resource, &judged.borrow().views, &upstream);
        }));
        Self { rig, watching }
    }

    pub fn watches(&self) -> Vec<Watched> {
        self.watching.borrow().watches.clone()
    }

    pub fn play(&self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    pub fn step(&self, step: &Step) {
        let (rig, upstream) = (&self.rig, &self.rig.upstream);
        match step {
            Step::Put(number, node, app) => {
                put_pod(upstream, *number, *node, *app);
            }
            Step::Delete(number) => delete_pod(upstream, *number),
            Step::Pass(versions) => upstream.pass(*versions),
            Step::Run(millis) => {
                rig.run(*millis);
            }
            Step::Fault(fault) => self.fault(fault),
            Step::Watch(plan) => {
                let watched = self.watch(plan);
                self.watching.borrow_mut().watches.push(watched);
                learn(&rig.resource, &self.watching, &rig.client);
            }
            Step::Demand(stream, demand) => {
                if let Some(stream) = self.pick(stream) {
                    rig.demand(stream, *demand);
                }
            }
            Step::Stop(stream) => {
                if let Some(stream) = self.pick(stream) {
                    rig.stop(stream);
                    self.watching.borrow_mut().stopped.insert(stream);
                }
            }
            Step::Vanish(stream) => {
                if let Some(stream) = self.pick(stream) {
                    rig.client.vanish(&rig.resource, stream);
                }
            }
            Step::View(selection) => self.view(*selection),
            Step::CloseView(view) => {
                let mut watching = self.watching.borrow_mut();
                if !watching.views.is_empty() {
                    let index = view.index(watching.views.len());
                    let (id, _) = watching.views.swap_remove(index);
                    rig.resource.with(|cacher| cacher.views.close(id));
                }
            }
            Step::Refresh => {
                let refresh = rig.resource.clone().refresh();
                watchcache::runtime::Spawn::spawn(
                    &*rig.time,
                    Box::pin(async move {
                        let _closed = refresh.await;
                    }),
                );
            }
            Step::Pause => rig.resource.pause(),
            Step::Resume => rig.resource.resume(),
        }
    }

    fn pick(&self, stream: &Index) -> Option<usize> {
        let watching = self.watching.borrow();
        (!watching.watches.is_empty()).then(|| stream.get(&watching.watches).stream)
    }

    pub fn view(&self, selection: usize) {
        if let Some(options) = SELECTIONS[selection].view() {
            let id = self.rig.view(&options);
            self.watching.borrow_mut().views.push((id, selection));
        }
    }

    fn fault(&self, fault: &Fault) {
        let (rig, upstream) = (&self.rig, &self.rig.upstream);
        match fault {
            Fault::Drop => {
                self.let_stand();
                upstream.drop_streams();
            }
            Fault::Freeze => upstream.freeze_streams(),
            Fault::LoseHistory => rig.lose_history(|_| {}),
            Fault::Behind(versions) => upstream.behind.set(*versions),
            Fault::CatchUp => upstream.catch_up(),
            Fault::Repeat(count) => upstream.repeat(*count),
            Fault::Bookmark => upstream.bookmark(),
            Fault::BrokenFrame => upstream.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"broken"),
            Fault::Stray => {
                upstream.send_raw("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"stray\",\"resourceVersion\":\"1\"}}}")
            }
            Fault::InternalError => upstream.send_error(&Status::internal("etcdserver: leader changed")),
            Fault::Gone => upstream.send_error(&Status::too_old(1, 2)),
            Fault::RefuseWatch => {
                upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Status::too_many_requests("slow down", 2).into()));
            }
            Fault::RefuseList => {
                upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(503, "ServiceUnavailable", "").into()));
            }
            Fault::CutList(at) => upstream.list_faults.borrow_mut().push_back(ListFault::Cut(*at)),
            Fault::ForeignPage => upstream.list_faults.borrow_mut().push_back(ListFault::Body(b"<html>Bad Gateway</html>".to_vec())),
        }
    }

    /// Lets the watch stand for a second: one that ends sooner is a short one, with another answer.
    fn let_stand(&self) {
        for _ in 0..100 {
            let last = self.rig.upstream.requests.borrow().last().map_or(0, Request::at);
            if self.rig.time.now() > last + 1000 {
                return;
            }
            self.rig.run(1000);
        }
    }

    /// Opens a watch as planned, out of the reach of other steps.
    pub fn watch(&self, plan: &Plan) -> Watched {
        let rig = &self.rig;
        let version = rig.version();
        let from = match plan.start {
            StartAt::Unset | StartAt::Zero => None,
            StartAt::Back(versions) => Some(version.saturating_sub(versions).max(1)),
            StartAt::Ahead(versions) => Some(version + versions),
            StartAt::At(version) => Some(version),
        };
        let options = WatchOptions {
            resource_version: from.map(|version| version.to_string()).or_else(|| (plan.start == StartAt::Zero).then(|| "0".into())),
            resource_version_match: plan.initial.map(|_| "NotOlderThan".into()),
            send_initial_events: plan.initial,
            allow_watch_bookmarks: plan.bookmarks,
            buffer_size: plan.buffer,
            timeout_seconds: plan.timeout,
            ..SELECTIONS[plan.selection].watch()
        };
        let from_state = match plan.initial {
            Some(initial) => initial,
            None => from.is_none(),
        };
        let id = rig.resource.watch(options.clone(), true);
        let stream = rig.client.listen(id, options);
        rig.resource.demand(id, plan.demand);
        Watched { stream, selection: plan.selection, from_state, from: from.filter(|_| !from_state) }
    }

    /// Ends all trouble and has everybody read what waits for them.
    pub fn settle(&self) {
        self.rig.heal();
        for watched in self.watches() {
            self.rig.demand(watched.stream, Demand::All);
        }
        self.rig.run(5000);
    }

    /// What a watch heard of objects.
    pub fn changes(&self, watched: &Watched) -> Vec<Heard> {
        self.rig.client.streams.borrow()[watched.stream].changes()
    }

    /// Every stream is what the model says.
    pub fn judge_streams(&self) {
        for watched in self.watches() {
            self.judge_stream(&watched);
        }
    }

    pub fn judge_stream(&self, watched: &Watched) {
        let streams = self.rig.client.streams.borrow();
        let stream = &streams[watched.stream];
        let heard = stream.changes();
        if let Some(refusal) = &stream.refusal {
            assert_eq!((refusal.code, heard), (ErrorCode::Closed, Vec::new()));
            return;
        }
        if let Some(error) = failure(stream) {
            assert_eq!(heard, [], "{error}");
            assert!(stream.ended == Some(EndReason::Error) || stream.vanished, "{error}");
            assert!(matches!(error.status.as_ref().unwrap().code, 410 | 500 | 503 | 504), "{error}");
            assert_eq!(stream.resume_from, None);
            return;
        }
        let Some(from) = watched.from else {
            assert_eq!(heard, [], "nothing comes before the beginning");
            return;
        };
        let upstream = &self.rig.upstream;
        // Who asked for what is new upstream began at a version that only the upstream knew: not after the first event.
        let asked_upstream = !watched.from_state && stream.options.resource_version.is_none();
        let from = match heard.first() {
            Some(first) if asked_upstream => from.min(first.version - 1),
            _ => from,
        };
        let expected = |to| expected(upstream, watched, from, to);
        // Who stops does not hear the rest, which may have been an error.
        let stopped = self.watching.borrow().stopped.contains(&watched.stream);
        let cut_short = stream.vanished || stopped && stream.resume_from.is_none();
        if cut_short {
            assert_eq!(heard, expected(self.rig.version())[..heard.len()], "{watched:?} is no prefix");
        } else if stream.ended.is_some() {
            let all = stream.resume_from.map_or(Vec::new(), expected);
            assert_eq!(heard, all, "{watched:?} ended by {:?} at {:?}", stream.ended, stream.resume_from);
        } else {
            assert_eq!(heard, expected(self.rig.version()), "{watched:?} is open");
        }
    }
}

/// The failure that ended a stream.
pub fn failure(stream: &Stream) -> Option<Error> {
    let last = stream.events.last()?;
    (last.kind == watchcache::watch::event::EventKind::Error).then(|| Status::parse(last.document.as_bytes()).unwrap().into())
}

/// All that a watch has to hear up to a version.
pub fn expected(upstream: &Upstream, watched: &Watched, from: u64, to: u64) -> Vec<Heard> {
    let selection = &SELECTIONS[watched.selection];
    let mut events = if watched.from_state { initial(upstream, selection, from) } else { Vec::new() };
    events.extend(changes(upstream, selection, from, to));
    events
}

/// Notes where watches began that could not begin at once.
fn learn(resource: &Rc<Resource>, watching: &RefCell<Watching>, client: &Client) {
    for watched in watching.borrow_mut().watches.iter_mut().filter(|watched| watched.from.is_none()) {
        let Some(id) = client.open(watched.stream) else { continue };
        watched.from = resource.with(|cacher| {
            let watcher = cacher.dispatcher.get(id).filter(|watcher| watcher.started)?;
            watcher.gate.as_u64()
        });
    }
}

/// What holds at each flush: nothing is held after the close; until then the store is what stood upstream at its version, and each view shows what passes of it.
fn judge(resource: &Rc<Resource>, views: &[(u32, usize)], upstream: &Upstream) {
    let (rows, version, lists) =
        (rows_of(resource), resource.with(|cacher| cacher.version().as_u64().unwrap()), resource.with(|cacher| cacher.stats().lists));
    if resource.with(|cacher| cacher.ready().is_stopped()) {
        assert!(rows.is_empty(), "a closed resource holds nothing");
        return;
    }
    if lists > 0 {
        assert_store(&rows, upstream, version);
    }
    for (view, selection) in views {
        assert_eq!(view_rows(resource, *view), SELECTIONS[*selection].texts(&rows), "a view at version {version}");
    }
}

fn assert_store(rows: &Rows, upstream: &Upstream, version: u64) {
    let truth = upstream.state_at(version);
    assert!(*rows == truth, "the store at version {version}: {:?}, and not {:?}", rows.keys(), truth.keys());
}
