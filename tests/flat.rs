//! What is held stays the same however long a cache runs and however many come and go: bytes counted by the allocator, everything included.

#![cfg(not(target_arch = "wasm32"))]

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

use futures::channel::mpsc;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, stream};
use watchcache::cache::{Cacher, ListOptions, Resource, ResourceConfig};
use watchcache::change::ChangeKind;
use watchcache::connection::Phase;
use watchcache::json::{FieldSet, scan_object};
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::reflector::ReflectorConfig;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
use watchcache::status::Error;
use watchcache::store::Indexes;
use watchcache::store::WindowBounds;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::view::ViewOptions;
use watchcache::watch::{Demand, OnOverflow, WatchOptions, WatcherId};

#[global_allocator]
static HELD: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// Runs one test at a time, because all tests of this program share its allocator. Each runs in a thread of its own and waits for its end,
/// because only then the thread gives its tables back.
fn alone(test: impl FnOnce() + Send + 'static) {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ALONE.lock();
    if let Err(panic) = std::thread::spawn(test).join() {
        std::panic::resume_unwind(panic);
    }
}

const LISTED: u64 = 1_000;
const PODS: u64 = 200;

type Frames = mpsc::UnboundedSender<Result<Vec<u8>, Error>>;

/// An upstream whose frames are given by hand. It remembers nothing.
#[derive(Default)]
struct Fed(Rc<RefCell<Option<Frames>>>);

impl Source for Fed {
    fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let items: Vec<String> = (0..PODS).map(|pod| document(pod, LISTED, u64::MAX)).collect();
        let page = format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{LISTED}"}},"items":[{}]}}"#, items.join(","));
        async move { Ok(stream::iter([Ok(page.into_bytes())]).boxed_local()) }.boxed_local()
    }

    fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let (sender, receiver) = mpsc::unbounded();
        *self.0.borrow_mut() = Some(sender);
        async move { Ok(receiver.boxed_local()) }.boxed_local()
    }
}

/// A pod. One of its texts is unique, or comes again only after many others.
fn document(pod: u64, version: u64, texts: u64) -> String {
    let mut text = String::new();
    let _infallible = write!(
        text,
        r#"{{"metadata":{{"name":"pod-{pod}","namespace":"team-{}","resourceVersion":"{version}","uid":"u{pod}","labels":{{"app":"app-{}","hash":"h{}"}},"managedFields":[{version}]}},"spec":{{"nodeName":"node-{}"}}}}"#,
        pod % 7,
        pod % 5,
        version % texts,
        version % 50
    );
    text
}

struct Rig {
    time: Rc<VirtualTime>,
    resource: Rc<Resource>,
    frames: Rc<RefCell<Option<Frames>>>,
    version: u64,
    texts: u64,
}

impl Rig {
    fn new(texts: u64) -> Self {
        fastrand::seed(7);
        let time = VirtualTime::new(7);
        let source = Fed::default();
        let frames = source.0.clone();
        let config = ResourceConfig {
            window: WindowBounds { upper: 2_000, ..WindowBounds::default() },
            check_consistency: false,
            reflector: ReflectorConfig { seed: 7, ..ReflectorConfig::default() },
            ..ResourceConfig::named("pods")
        };
        let resource = Resource::new(config, Rc::new(source), time.clone()).unwrap();
        let told = Rc::downgrade(&resource);
        // As the binding layer and the facade do: a view that is named is looked at, and a watch that has ended is forgotten.
        resource.on_flush(move |flush| {
            let resource = told.upgrade().unwrap();
            for view in flush.views {
                resource.with(|cacher| cacher.viewing().look(view));
            }
            for (id, _) in flush.outbox.ended {
                resource.with(|cacher| cacher.dispatcher_mut().forget(id));
            }
        });
        resource.start();
        time.advance(0);
        let rig = Self { time, resource, frames, version: LISTED, texts };
        assert_eq!(rig.resource.with(|cacher| cacher.status().phase), Phase::Live);
        rig
    }

    /// One change upstream. Each pod is deleted now and then, and comes back.
    fn change(&mut self) {
        self.version += 1;
        let pod = self.version * 7 % PODS;
        let kind = if self.version.is_multiple_of(11) { "DELETED" } else { "MODIFIED" };
        let frame = format!("{{\"type\":\"{kind}\",\"object\":{}}}", document(pod, self.version, self.texts));
        self.frames.borrow().as_ref().unwrap().unbounded_send(Ok(frame.into_bytes())).unwrap();
    }

    fn changes(&mut self, count: usize) {
        for _ in 0..count {
            self.change();
        }
        self.time.advance(0);
        assert_eq!(self.resource.with(|cacher| cacher.version().as_u64()), Some(self.version));
    }

    fn watch(&self, options: WatchOptions, demand: Demand) -> WatcherId {
        let id = self.resource.watch(options, true);
        self.resource.demand(id, demand);
        id
    }
}

fn options(labels: &str, fields: &str) -> WatchOptions {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    WatchOptions { label_selector: some(labels), field_selector: some(fields), ..WatchOptions::default() }
}

fn view() -> ViewOptions {
    ViewOptions {
        label_selector: Some("app!=app-3".into()),
        order: vec![("metadata.labels.hash".into(), true, Some("natural".into()))],
        group_by: Some("spec.nodeName".into()),
        ..ViewOptions::default()
    }
}

#[test]
fn law_08_bounded_a_million_events_leave_memory_as_it_was() {
    alone(|| {
        const BETWEEN: usize = 2_000;
        let mut rig = Rig::new(u64::MAX);
        rig.watch(options("", ""), Demand::All);
        rig.watch(options("app in (app-1, app-2)", ""), Demand::All);
        rig.watch(options("", "spec.nodeName=node-7"), Demand::All);
        // One watch never takes anything, and one takes a batch now and then.
        rig.watch(WatchOptions { on_overflow: OnOverflow::Coalesce, ..options("", "") }, Demand::None);
        let seldom = rig.watch(WatchOptions { on_overflow: OnOverflow::Resync, ..options("app", "") }, Demand::None);
        rig.resource.with(|cacher| cacher.viewing().open(&view())).unwrap();

        let mut held = Vec::new();
        for round in 0..500 {
            rig.changes(BETWEEN);
            rig.time.advance(1_000);
            if round % 10 == 0 {
                rig.resource.demand(seldom, Demand::Batch(0));
                rig.time.advance(0);
            }
            held.push(HELD.allocated());
        }
        assert_eq!(rig.version, LISTED + 1_000_000);
        // The first events fill what is bounded: the window and the table of shared texts. That table may still grow once, by a MiB. The
        // objects that are not packed yet differ by some 50 kB. Together that is less than two bytes for each of the other events.
        let most = |rounds: &[usize]| rounds.iter().copied().max().unwrap();
        let (before, after) = (most(&held[50..150]), most(&held[400..]));
        assert!(after <= before + (1 << 20) + (1 << 17), "{before} bytes became {after}");
        assert!(after < 16 << 20, "{after} bytes for {PODS} small pods");
    });
}

#[test]
fn law_08_bounded_ten_thousand_subscribers_that_come_and_go_leave_nothing_behind() {
    alone(|| {
        let mut rig = Rig::new(1_000);
        rig.changes(5_000);
        cycles(&mut rig, 2_000);
        let before = settled(&mut rig);
        cycles(&mut rig, 10_000);
        let after = settled(&mut rig);
        let (watchers, views) = rig.resource.with(|cacher| (cacher.dispatcher().stats().watchers, cacher.views().len()));
        assert_eq!((watchers, views, rig.time.tasks()), (0, 0, 2), "watchers, views, and tasks beside the reflector and the loop");
        assert!(after <= before + 4_096, "{before} bytes became {after}");
    });
}

#[test]
fn law_08_bounded_fields_that_nobody_asks_for_any_more_take_nothing() {
    alone(|| {
        let mut rig = Rig::new(1_000);
        // Each round asks for fields that nobody asked for before, and has all objects and changes read with them.
        let ask = |rig: &mut Rig, from: usize, count: usize| {
            for number in from..from + count {
                let watch = rig.watch(options("", &format!("spec.watched{number}.value!=x,spec.nodeName!=node-x")), Demand::All);
                let order = vec![(format!("spec.shown{number}.value"), false, None)];
                let view = ViewOptions { order, group_by: Some(format!("spec.counted{number}")), ..view() };
                let view = rig.resource.with(|cacher| cacher.viewing().open(&view)).unwrap();
                let field_selector = Some(format!("spec.listed{number}=x"));
                let page = ListOptions { resource_version: Some("0".into()), field_selector, ..ListOptions::default() };
                assert!(rig.time.run_until(rig.resource.clone().list(page)).unwrap().objects.is_empty());
                rig.changes(2);
                rig.resource.with(|cacher| cacher.views_mut().close(view));
                rig.resource.stop(watch);
                rig.time.advance(10);
            }
            // Every pod has changed by then.
            settled(rig)
        };
        // The ring of the window comes to its size in the first rounds.
        ask(&mut rig, 0, 300);
        let before = ask(&mut rig, 300, 300);
        let fields = rig.resource.with(|cacher| cacher.fields().borrow().len());
        let after = ask(&mut rig, 600, 1_000);
        let most = rig.resource.with(|cacher| cacher.fields().borrow().len());
        assert!(most <= fields + 1, "{fields} slots became {most}");
        assert!(after <= before + 4_096, "{before} bytes became {after}");
    });
}

/// Subscribers of every kind, that leave in every way.
fn cycles(rig: &mut Rig, count: usize) {
    for cycle in 0..count {
        let live = [
            options("", ""),
            options(&format!("app=app-{}", cycle % 9), ""),
            options("", &format!("metadata.namespace=team-{},metadata.name=pod-{cycle}", cycle % 9)),
            options(&format!("hash in (h{cycle},x)"), &format!("spec.nodeName=node-{cycle}")),
            WatchOptions { allow_watch_bookmarks: true, timeout_seconds: Some(5), ..options("!x", "") },
            WatchOptions { buffer_size: Some(1), on_overflow: OnOverflow::Coalesce, ..options("", "") },
        ];
        let taken = live.len() - 1;
        let ids: Vec<WatcherId> = live
            .into_iter()
            .enumerate()
            .map(|(i, options)| rig.watch(options, if i == taken { Demand::None } else { Demand::All }))
            .collect();
        // These wait for what does not come: a version, and any event.
        let waits = rig.watch(WatchOptions { resource_version: Some("9999999999".into()), ..options("", "") }, Demand::All);
        let get = rig.resource.clone().get("team-0/pod-0".into(), Some("9999999999".into()));
        let view = rig.resource.with(|cacher| cacher.viewing().open(&view())).unwrap();
        rig.change();
        rig.change();
        rig.time.advance(0);
        drop(get);
        drop(rig.resource.clone().synced());
        let page = ListOptions { resource_version: Some("0".into()), limit: 10, ..ListOptions::default() };
        rig.time.run_until(rig.resource.clone().list(page)).unwrap();
        rig.resource.with(|cacher| cacher.views_mut().close(view));
        for (i, id) in ids.into_iter().chain([waits]).enumerate() {
            match (cycle + i) % 3 {
                0 => rig.resource.stop(id),
                1 => rig.resource.with(|cacher| cacher.dispatcher_mut().forget(id)),
                // The watch with a timeout ends by itself. The page closes the others a little later.
                _ if i == 4 => {}
                _ => {
                    rig.time.advance(0);
                    rig.resource.stop(id);
                }
            }
        }
        rig.time.advance(10);
    }
}

/// Bytes held once every timeout is over, the window is as full as ever, and what nobody reads is packed.
fn settled(rig: &mut Rig) -> usize {
    rig.time.advance(180_000);
    rig.changes(4_000);
    rig.time.advance(10_000);
    // What packed texts leave is room for the next ones: it depends on the moment.
    rig.resource.with(|cacher| cacher.held_mut().pack_all());
    HELD.allocated()
}

/// Objects of one kind that all differ, in a cacher of their own.
struct Different {
    cacher: Cacher,
    // How often each has changed.
    changes: Vec<u64>,
    version: u64,
    /// Letters that all have in common.
    common: String,
    random: fastrand::Rng,
}

impl Different {
    fn new(count: usize, common: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(7);
        let common = (0..common).map(|_| random.alphanumeric()).collect();
        let bounds = WindowBounds { lower: count, upper: count, ..WindowBounds::default() };
        let cacher = Cacher::new(Rc::new(RefCell::new(FieldSet::new(Vec::new()))), bounds, Indexes::default(), Instant::START);
        Self { cacher, changes: vec![0; count], version: LISTED, common, random }
    }

    fn object(&self, number: usize) -> Rc<Object> {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let uid: String = (0..36).map(|_| random.alphanumeric()).collect();
        let text = format!(
            r#"{{"metadata":{{"name":"pod-{number}","namespace":"team","resourceVersion":"{}","uid":"{uid}"}},"spec":{{"nodeName":"node-{}","text":"{}"}},"status":{{"changes":{}}}}}"#,
            self.version,
            number % 100,
            self.common,
            self.changes[number],
        );
        Object::new(scan_object(text.as_bytes(), &self.cacher.fields().borrow()).unwrap()).unwrap()
    }

    /// The list, in messages as the reflector sends them. Returns the most bytes that were held meanwhile.
    fn load(&mut self) -> usize {
        let (mut all, mut most) = (Vec::new(), 0);
        for from in (0..self.changes.len()).step_by(PAGE) {
            let objects: Vec<_> = (from..(from + PAGE).min(self.changes.len())).map(|number| self.object(number)).collect();
            all.extend(objects.iter().cloned());
            self.cacher.apply(Message::Page { objects, loaded: all.len(), remaining: None }, Instant::START, WallTime::UNIX_EPOCH);
            most = most.max(HELD.allocated());
        }
        self.cacher.apply(Message::Replace { objects: all, version: Version::from(LISTED) }, Instant::START, WallTime::UNIX_EPOCH);
        self.rest();
        most
    }

    /// Changes to any of them, and a round of packing now and then. Returns the most bytes that were counted after one.
    fn change(&mut self, events: usize) -> usize {
        let mut most = 0;
        for event in 1..=events {
            let number = self.random.usize(..self.changes.len());
            self.changes[number] += 1;
            self.version += 1;
            let object = self.object(number);
            self.cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
            if event % 1_000 == 0 {
                self.rest();
                most = most.max(self.cacher.bytes());
            }
        }
        most
    }

    fn rest(&mut self) {
        self.cacher.held_mut().begin_packing();
        while self.cacher.held_mut().pack_resting() {}
        let _told = self.cacher.availability_mut().take_signals();
    }
}

/// Objects of a message.
const PAGE: usize = 100;

#[test]
fn law_08_bounded_a_long_list_takes_little_more_while_it_arrives_than_afterwards() {
    alone(|| {
        let empty = HELD.allocated();
        let mut objects = Different::new(3_000, 10_000);
        let most = objects.load() - empty;
        let resting = HELD.allocated() - empty;
        assert!(resting < 3 << 20, "{resting} bytes for 30 MB of text");
        assert!(most < resting + (2 << 20), "{most} bytes meanwhile, {resting} afterwards");
    });
}

/// An upstream whose list is there at once, each page in as many pieces as it has objects. Notes the most bytes that were held when one of them
/// was asked for.
struct Long {
    objects: usize,
    most: Rc<Cell<usize>>,
}

impl Source for Long {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let from: usize = request.continue_token.map_or(0, |token| token.parse().unwrap());
        let to = (from + usize::try_from(request.limit.unwrap()).unwrap()).min(self.objects);
        let next = if to < self.objects { format!(r#","continue":"{to}""#) } else { String::new() };
        let head = format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{LISTED}"{next}}},"items":["#);
        let (texts, most) = (Different::new(to, 10_000), self.most.clone());
        let item = move |number: usize| {
            most.set(most.get().max(HELD.allocated()));
            let text = texts.object(number).text();
            Ok([if number > from { b",".as_slice() } else { b"" }, &text].concat())
        };
        let pieces =
            stream::iter([Ok(head.into_bytes())]).chain(stream::iter((from..to).map(item))).chain(stream::iter([Ok(b"]}".to_vec())]));
        async move { Ok(pieces.boxed_local()) }.boxed_local()
    }

    fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        async { Ok(stream::pending().boxed_local()) }.boxed_local()
    }
}

#[test]
fn law_08_bounded_a_long_list_that_arrives_faster_than_it_is_applied_waits_packed() {
    alone(|| {
        let empty = HELD.allocated();
        let time = VirtualTime::new(7);
        let most = Rc::new(Cell::new(0));
        let config = ResourceConfig {
            check_consistency: false,
            reflector: ReflectorConfig { page_size: 1_000, ..ReflectorConfig::default() },
            strip: Vec::new(),
            ..ResourceConfig::named("pods")
        };
        let source = Rc::new(Long { objects: 3_000, most: most.clone() });
        let resource = Resource::new(config, source, time.clone()).unwrap();
        resource.start();
        time.advance(0);
        let listed = |most: usize| {
            time.advance(1_000);
            assert_eq!(resource.with(|cacher| (cacher.status().phase, cacher.store().len())), (Phase::Live, 3_000));
            let resting = HELD.allocated() - empty;
            assert!(resting < 3 << 20, "{resting} bytes for 30 MB of text");
            // Beside them lie the objects that wait to be packed, and the buffers that pack them and pass them on. A page is 10 MB.
            assert!(most - empty < resting + (2 << 20), "{} bytes meanwhile, {resting} afterwards", most - empty);
        };
        listed(most.take());
        // A second list holds everything twice until it is whole. The second copy shares nearly all bytes with the first.
        let again = resource.clone().refresh();
        time.run_until(again).unwrap();
        listed(most.take());
    });
}

#[test]
fn law_08_bounded_different_objects_that_change_all_day_take_no_more_than_in_the_morning() {
    alone(|| {
        const COUNT: usize = 5_000;
        let empty = HELD.allocated();
        let mut objects = Different::new(COUNT, 700);
        objects.load();
        // Then each object has so many older versions that one of them is packed whole, as it always will be.
        objects.change(12 * COUNT);
        let morning = objects.change(5 * COUNT);
        let evening = objects.change(15 * COUNT);
        // Packed texts lie in blocks of 256 KiB, of which there may be one more or one less.
        assert!(evening <= morning + (1 << 18), "{morning} bytes became {evening}");
        let (counted, held) = (objects.cacher.bytes(), HELD.allocated() - empty);
        assert!(counted.abs_diff(held) < held / 10, "{counted} bytes are counted, and {held} held");
    });
}
