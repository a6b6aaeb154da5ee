//! A rig that plays traces, and judges at each flush and at the end what was seen.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use watchcache::cache::Resource;
use watchcache::json::path::Path;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::store::{IndexBy, IndexSpec};
use watchcache::view::ViewId;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions};

use crate::asks::{Answers, Asking};
use crate::helpers::client::{Client, Heard, Stream};
use crate::helpers::model::{SELECTIONS, WISHES, changes, delete_pod, initial, put_pod, replay};
use crate::helpers::rig::{Rig, Rows, Setup, rows_of, view_rows};
use crate::helpers::upstream::{ListFault, Request, Upstream, WatchFault};
use crate::steps::{Fault, Pick, Plan, StartAt, Step};

/// A watch, and what the model knows of its start.
#[derive(Clone, Debug)]
pub struct Watched {
    pub stream: usize,
    pub selection: usize,
    /// Of which fields it wants to hear.
    pub wish: Option<usize>,
    /// Whether the state comes first.
    pub from_state: bool,
    /// The version after which it hears of everything; known at once, or when it has begun.
    pub from: Option<u64>,
}

#[derive(Default)]
struct Watching {
    watches: Vec<Watched>,
    views: Vec<(ViewId, usize)>,
    stopped: HashSet<usize>,
}

pub struct World {
    pub rig: Rig,
    watching: Rc<RefCell<Watching>>,
    pub asking: Asking,
    // When objects are packed, and how many.
    packing: Option<RefCell<fastrand::Rng>>,
}

/// The fields that the objects are indexed by.
pub const INDEXES: [&str; 2] = ["metadata.labels.app", "spec.nodeName"];

fn indexes() -> Vec<IndexSpec> {
    INDEXES.map(|path| IndexSpec { name: path.into(), by: IndexBy::Path(Path::parse(path).unwrap()) }).into()
}

impl World {
    /// A live resource with six pods, judged at each flush. For one seed in four it has another resource as its source.
    pub fn new(setup: Setup) -> Self {
        Self::direct(Setup { relayed: setup.seed % 4 == 3, ..setup })
    }

    /// The same, whose source is the upstream itself.
    pub fn direct(setup: Setup) -> Self {
        Self::of(Rig::new(Setup { indexes: indexes(), ..setup }, six_pods))
    }

    /// The same, where objects are packed at random moments or as the test says.
    pub fn packing(setup: Setup, random: bool) -> Self {
        let world = Self::new(setup);
        Self { packing: world.packing.filter(|_| random), ..world }
    }

    /// The same, of an upstream that never fails.
    pub fn calm(setup: Setup) -> Self {
        let world = Self::new(setup);
        world.asking.answers.calm.set(true);
        world
    }

    /// One that has not begun.
    pub fn idle(setup: Setup) -> Self {
        Self::of(Rig::idle(Setup { indexes: indexes(), relayed: setup.seed % 4 == 3, ..setup }, six_pods))
    }

    fn of(rig: Rig) -> Self {
        let watching = Rc::new(RefCell::new(Watching::default()));
        let (judged, upstream, client) = (watching.clone(), rig.upstream.clone(), Rc::downgrade(&rig.client));
        *rig.client.on_flush.borrow_mut() = Some(Rc::new(move |resource| {
            learn(resource, &judged, &client.upgrade().unwrap());
            judge(resource, &judged.borrow().views, &upstream);
        }));
        // One in two has events found by a field before all others.
        if rig.resource.config().reflector.seed % 2 == 1 {
            rig.resource.with(|cacher| cacher.watching().set_trigger(&Path::parse("spec.nodeName").unwrap()));
        }
        let asking = Asking {
            resource: rig.resource.clone(),
            upstream: rig.upstream.clone(),
            time: rig.time.clone(),
            answers: Rc::new(Answers::default()),
        };
        let packing = Some(RefCell::new(fastrand::Rng::with_seed(rig.resource.config().reflector.seed)));
        Self { rig, watching, asking, packing }
    }

    pub fn watches(&self) -> Vec<Watched> {
        self.watching.borrow().watches.clone()
    }

    pub fn play(&self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    /// Packs some objects that nobody reads. Nobody may notice that.
    fn pack(&self) {
        let Some(random) = &self.packing else { return };
        let mut random = random.borrow_mut();
        if random.u8(..4) == 0 {
            self.rig.resource.with(|cacher| {
                cacher.held_mut().begin_packing();
                let _more = (0..random.usize(..20)).all(|_| cacher.held_mut().pack_resting());
            });
        }
    }

    pub fn step(&self, step: &Step) {
        self.pack();
        let (rig, upstream) = (&self.rig, &self.rig.upstream);
        match step {
            Step::Put(number, node, app) => {
                put_pod(upstream, *number, *node, *app);
            }
            Step::Delete(number) => delete_pod(upstream, *number),
            Step::Create(number, node, app) => self.asking.create(*number, *node, *app),
            Step::Update(number, node, app) => self.asking.update(*number, *node, *app),
            Step::Remove(number) => self.asking.remove(*number),
            Step::Pass(versions) => upstream.pass(*versions),
            Step::Compact(back, told) => {
                let version = upstream.version().saturating_sub(*back);
                upstream.expire_to(version);
                if *told {
                    rig.resource.with(|cacher| cacher.held_mut().compact(&version.into()));
                }
            }
            Step::List(ask) => self.asking.list(ask),
            Step::Get(number, at) => self.asking.get(*number, *at),
            Step::Run(millis) => {
                rig.run(*millis);
            }
            Step::Fault(fault) => self.fault(fault),
            Step::Watch(plan) => {
                let watched = self.watch(plan);
                self.watching.borrow_mut().watches.push(watched);
                learn(&rig.resource, &self.watching, &rig.client);
            }
            Step::Demand(stream, take) => {
                if let Some(stream) = self.pick(*stream) {
                    rig.demand(stream, (*take).into());
                }
            }
            Step::Stop(stream) => {
                if let Some(stream) = self.pick(*stream) {
                    rig.stop(stream);
                    self.watching.borrow_mut().stopped.insert(stream);
                }
            }
            Step::Vanish(stream) => {
                if let Some(stream) = self.pick(*stream) {
                    rig.client.vanish(&rig.resource, stream);
                }
            }
            Step::View(selection) => self.view(*selection),
            Step::CloseView(view) => {
                let mut watching = self.watching.borrow_mut();
                if !watching.views.is_empty() {
                    let index = view.of(watching.views.len());
                    let (id, _) = watching.views.swap_remove(index);
                    rig.resource.with(|cacher| cacher.views_mut().close(id));
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

    fn pick(&self, stream: Pick) -> Option<usize> {
        let watching = self.watching.borrow();
        (!watching.watches.is_empty()).then(|| watching.watches[stream.of(watching.watches.len())].stream)
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
            Fault::Die(millis) => {
                if let Some(channel) = &rig.channel {
                    channel.die(*millis);
                }
            }
            Fault::LoseHistory => rig.lose_history(|_| {}),
            Fault::Behind(versions) => {
                self.asking.answers.lagged.set(true);
                upstream.behind.set(*versions);
            }
            Fault::CatchUp => upstream.catch_up(),
            Fault::Repeat(count) => upstream.repeat(*count),
            Fault::Bookmark => upstream.bookmark(),
            Fault::BrokenFrame => upstream.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"broken"),
            Fault::CutFrame(at) => {
                let frame = br#"{"type":"MODIFIED","object":{"metadata":{"name":"cut","namespace":"ns0","resourceVersion":"9999"}}}"#;
                upstream.send_bytes(&frame[..1 + at.of(frame.len() - 1)]);
                upstream.drop_streams();
            }
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

    /// Lets the watch stand for a second. One that ends sooner counts as very short, and is answered in another way.
    fn let_stand(&self) {
        for _ in 0..100 {
            let last = self.rig.upstream.requests.borrow().last().map_or(0, Request::at);
            if self.rig.time.elapsed() > last + 1000 {
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
            on_overflow: plan.on_overflow,
            changes_of: plan.wish.map(|wish| WISHES[wish].paths()),
            ..SELECTIONS[plan.selection].watch()
        };
        let from_state = match plan.initial {
            Some(initial) => initial,
            None => from.is_none(),
        };
        let id = rig.resource.watch(options.clone(), true);
        let stream = rig.client.listen(id, options);
        rig.resource.demand(id, plan.take.into());
        Watched { stream, selection: plan.selection, wish: plan.wish, from_state, from: from.filter(|_| !from_state) }
    }

    /// Ends all trouble and has everybody read what waits for them.
    pub fn settle(&self) {
        self.rig.heal();
        for watched in self.watches() {
            self.rig.demand(watched.stream, Demand::All);
        }
        self.rig.run(5000);
        for _ in 0..100 {
            if self.asking.answers.open.get() == 0 {
                return;
            }
            self.rig.run(5000);
        }
        panic!("{} requests were never answered", self.asking.answers.open.get());
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
        let Some(from) = began(watched, stream) else {
            assert_eq!(heard, [], "nothing comes before the beginning");
            return;
        };
        let upstream = &self.rig.upstream;
        if stream.options.on_overflow != OnOverflow::Terminate {
            return self.judge_skipping(watched, stream, from);
        }
        let expected = |to| expected(upstream, watched, from, to);
        // A watch that stops does not hear what is left, which may have been an error.
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

impl World {
    /// A watch that skips changes hears of changes that can be applied, and in the end holds the whole state.
    fn judge_skipping(&self, watched: &Watched, stream: &Stream, from: u64) {
        let upstream = &self.rig.upstream;
        let heard = stream.changes();
        let selected = |version| selected(upstream, watched.selection, version);
        let before = if watched.from_state { BTreeMap::new() } else { selected(from) };
        let after = replay(before, &heard);
        let reached = match stream.ended {
            Some(_) => stream.resume_from,
            None if stream.vanished => None,
            None => Some(self.rig.version()),
        };
        if let Some(reached) = reached {
            let wanted = |rows: BTreeMap<String, String>| match watched.wish {
                Some(wish) => rows.into_iter().map(|(key, row)| (key, format!("{:?}", WISHES[wish].of(&row)))).collect(),
                None => rows,
            };
            assert_eq!(wanted(after), wanted(selected(reached.max(from))), "{watched:?} at {reached}, ended by {:?}", stream.ended);
        }
    }
}

/// The version after which a watch heard of everything, once it had begun. A watch from the newest version began at one that only the
/// upstream knew. It cannot have begun after its first event.
pub fn began(watched: &Watched, stream: &Stream) -> Option<u64> {
    let asked_upstream = !watched.from_state && stream.options.resource_version.is_none();
    let first = stream.events.iter().find(|event| event.is_change()).filter(|_| asked_upstream);
    watched.from.map(|from| first.map_or(from, |first| from.min(first.version - 1)))
}

/// The documents of a selection as they stood upstream at a version.
pub fn selected(upstream: &Upstream, selection: usize, version: u64) -> BTreeMap<String, String> {
    let rows = SELECTIONS[selection].of(&upstream.state_at(version));
    rows.into_iter().map(|(key, (_, document))| (key, document.to_string())).collect()
}

/// The failure that ended a stream.
pub fn failure(stream: &Stream) -> Option<Error> {
    let last = stream.events.last()?;
    (last.kind == watchcache::watch::EventKind::Error).then(|| Status::parse(last.document.as_bytes()).unwrap().into())
}

/// All that a watch has to hear up to a version.
pub fn expected(upstream: &Upstream, watched: &Watched, from: u64, to: u64) -> Vec<Heard> {
    let selection = &SELECTIONS[watched.selection];
    let mut events = if watched.from_state { initial(upstream, selection, from) } else { Vec::new() };
    let changes = changes(upstream, selection, from, to);
    events.extend(match watched.wish {
        Some(wish) => WISHES[wish].filter(upstream, changes),
        None => changes,
    });
    events
}

/// Notes where watches began that could not begin at once.
fn learn(resource: &Rc<Resource>, watching: &RefCell<Watching>, client: &Client) {
    for watched in watching.borrow_mut().watches.iter_mut().filter(|watched| watched.from.is_none()) {
        let Some(id) = client.open(watched.stream) else { continue };
        watched.from = resource.with(|cacher| cacher.dispatcher().get(id)?.gate()?.as_u64());
    }
}

fn six_pods(upstream: &Upstream) {
    upstream.chunk.set(200);
    for number in 0..6 {
        put_pod(upstream, number, number, number / 2);
    }
}

/// What holds at each flush. After the close nothing is held. Until then the store is the upstream's state at its version, and each view
/// shows the objects that pass its filter.
fn judge(resource: &Rc<Resource>, views: &[(ViewId, usize)], upstream: &Upstream) {
    let (rows, version, lists) =
        (rows_of(resource), resource.with(|cacher| cacher.version().as_u64().unwrap()), resource.with(|cacher| cacher.stats().lists));
    if resource.with(|cacher| cacher.availability().ready().is_stopped()) {
        assert!(rows.is_empty(), "a closed resource holds nothing");
        return;
    }
    if lists > 0 {
        assert_store(&rows, upstream, version);
    }
    judge_indexes(resource, &rows);
    for (view, selection) in views {
        assert!(!resource.with(|cacher| cacher.viewing().look(*view)), "a view shows something else, and no flush has named it");
        assert_eq!(view_rows(resource, *view), SELECTIONS[*selection].texts(&rows), "a view at version {version}");
    }
}

/// An index holds what a look at every object finds.
fn judge_indexes(resource: &Rc<Resource>, rows: &Rows) {
    for index in INDEXES {
        let mut scanned: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (key, (_, document)) in rows {
            let document: serde_json::Value = serde_json::from_str(document).unwrap();
            let value = index.split('.').fold(&document, |value, name| &value[name]);
            scanned.entry(value.as_str().unwrap_or("").to_owned()).or_default().push(key);
        }
        resource.with(|cacher| {
            assert!(cacher.store().index_values(index).unwrap().iter().map(|value| &**value).eq(scanned.keys()), "the values of {index}");
            for value in ["", "a", "b", "web", "db", "none"] {
                let found: Vec<&str> = cacher.store().by_index(index, value).unwrap().map(|object| &**object.key()).collect();
                assert_eq!(found, scanned.get(value).cloned().unwrap_or_default(), "{index}={value}");
            }
        });
    }
}

fn assert_store(rows: &Rows, upstream: &Upstream, version: u64) {
    let truth = upstream.state_at(version);
    assert!(*rows == truth, "the store at version {version}: {:?}, and not {:?}", rows.keys(), truth.keys());
}
