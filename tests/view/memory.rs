//! Views, watchers and indexes count as memory. The one that grows beyond the bound ends, and no other.

use std::cell::RefCell;
use std::rc::Rc;

use crate::helpers::view::Still;
use serde_json::json;
use watchcache::cache::{Memory, Resource, ResourceConfig};
use watchcache::change::ChangeKind;
use watchcache::informer::{HandlerOptions, InformerOptions, Interruption, Stops};
use watchcache::json::path::Path;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::status::ErrorCode;
use watchcache::store::WindowBounds;
use watchcache::store::{IndexBy, IndexSpec};
use watchcache::testing::with_spec;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::view::{RowRange, ViewId, ViewOptions};
use watchcache::watch::{Demand, EndReason, WatchOptions, WatcherId};

/// What flushes told.
#[derive(Default)]
struct Told {
    views: Vec<ViewId>,
    ended: Vec<(WatcherId, EndReason)>,
    heard: Vec<u32>,
    interruptions: Vec<Interruption>,
}

struct World {
    time: Rc<VirtualTime>,
    resource: Rc<Resource>,
    told: Rc<RefCell<Told>>,
    version: u64,
}

/// A pod with a text unlike any other, so that packing does not make it smaller.
fn pod(number: usize, version: u64) -> Rc<Object> {
    let mut random = fastrand::Rng::with_seed(version);
    let text: String = (0..400).map(|_| random.alphanumeric()).collect();
    with_spec(&format!("a/pod-{number:05}"), version, &[("app", "web")], &json!({"text": text, "node": format!("node-{}", version % 50)}))
}

impl World {
    /// With so many objects, one index, and nearly no history.
    fn new(count: usize) -> Self {
        let by = IndexBy::Path(Path::parse("metadata.labels.app").unwrap());
        Self::indexed(count, vec![IndexSpec { name: "app".into(), by }])
    }

    fn indexed(count: usize, indexes: Vec<IndexSpec>) -> Self {
        let time = VirtualTime::new(7);
        let window = WindowBounds { lower: 1, upper: 1, ..WindowBounds::default() };
        let config = ResourceConfig { window, indexes, check_consistency: false, ..ResourceConfig::named("pods") };
        let resource = Resource::new(config, Rc::new(Still), time.clone()).unwrap();
        let told: Rc<RefCell<Told>> = Rc::default();
        let noted = told.clone();
        resource.on_flush(move |flush| {
            let mut told = noted.borrow_mut();
            told.views.extend(&flush.views);
            told.ended.extend(&flush.outbox.ended);
            told.interruptions.extend(flush.notifications.interruptions);
            told.heard.extend(flush.outbox.pairs().chunks_exact(2).map(|pair| pair[0]));
        });
        let objects = (0..count).map(|number| pod(number, number as u64 + 1)).collect();
        let mut world = Self { time, resource, told, version: count as u64 };
        world.version += 1;
        world.apply(Message::Replace { objects, version: Version::from(world.version) });
        world
    }

    /// With room for so many bytes beside what it holds.
    fn bounded(count: usize, room: usize) -> (Self, Rc<Memory>) {
        let world = Self::new(count);
        let memory = Memory::new(world.bytes() + room);
        world.resource.share_memory(&memory);
        (world, memory)
    }

    fn apply(&self, message: Message) {
        self.resource.with(|cacher| cacher.apply(message, Instant::START, WallTime::UNIX_EPOCH));
        self.time.run_until_idle();
    }

    /// As the loop does it: what is held is counted with each message.
    fn change(&mut self, number: usize) {
        self.version += 1;
        self.apply(Message::change(ChangeKind::Modified, pod(number, self.version), Instant::START));
        self.resource.keep_memory_bound();
        self.time.run_until_idle();
    }

    fn bytes(&self) -> usize {
        self.resource.with(|cacher| cacher.stats().bytes)
    }

    fn view(&self) -> ViewId {
        let order = vec![("spec.node".into(), false, Some("natural".into()))];
        let view = self.resource.with(|cacher| {
            let view = cacher.viewing().open(&ViewOptions { order, ..ViewOptions::default() }).unwrap();
            cacher.views_mut().open_range(view, RowRange { offset: 0, limit: 50 }).unwrap();
            view
        });
        self.time.run_until_idle();
        self.resource.with(|cacher| cacher.viewing().look(view));
        view
    }

    fn error(&self, view: ViewId) -> Option<ErrorCode> {
        self.resource.with(|cacher| cacher.views().error(view).map(|error| error.code))
    }

    fn total(&self, view: ViewId) -> usize {
        self.resource.with(|cacher| cacher.views().get(view).unwrap().total())
    }
}

/// Bytes that a view over so many objects takes.
fn rows(count: usize) -> usize {
    let world = World::new(count);
    let before = world.bytes();
    world.view();
    world.bytes() - before
}

#[test]
fn views_and_what_waits_for_them_are_counted_and_given_back() {
    let (mut world, memory) = World::bounded(5_000, 100 << 20);
    let before = world.bytes();
    let view = world.view();
    let opened = world.bytes();
    let row = (opened - before) / 5_000;
    assert!((80..400).contains(&row), "{row} bytes a row");
    assert_eq!(memory.bytes(), opened);
    // Until the next look the rows hold the replaced objects.
    (0..1_000).for_each(|number| world.change(number));
    let waiting = world.bytes() - opened;
    assert!((400_000..1_500_000).contains(&waiting), "{waiting} bytes of a thousand objects of more than 400");
    world.resource.with(|cacher| cacher.viewing().look(view));
    // A pass of packing notices what readers let go of.
    world.resource.with(|cacher| cacher.held_mut().begin_packing());
    assert!(world.bytes() < opened + 100_000, "{} bytes became {}", opened, world.bytes());
    world.resource.with(|cacher| cacher.views_mut().close(view));
    world.change(1);
    assert!(world.bytes() < before + 100_000);
}

/// A view with a function of the user's holds each object until the function has judged it.
#[test]
fn objects_that_wait_for_a_verdict_are_counted_one_by_one() {
    let waiting = |count: usize| {
        let world = World::new(count);
        let before = world.bytes();
        world.resource.with(|cacher| cacher.viewing().open(&ViewOptions { needs_verdict: true, ..ViewOptions::default() }).unwrap());
        world.time.run_until_idle();
        world.bytes() - before
    };
    let each = (waiting(300) - waiting(100)) / 200;
    assert!((60..300).contains(&each), "{each} bytes for an object");
}

#[test]
fn a_range_counts_until_its_view_is_closed() {
    let (world, _) = World::bounded(1_000, 100 << 20);
    let before = world.bytes();
    let view = world.resource.open_view(&ViewOptions::default()).unwrap();
    let opened = world.bytes();
    let range = world.resource.with(|cacher| cacher.views_mut().open_range(view, RowRange { offset: 0, limit: 500 }).unwrap());
    assert_eq!(world.bytes() - opened, 500 * size_of::<u32>());
    world.resource.with(|cacher| cacher.views_mut().move_range(range, RowRange { offset: 900, limit: 500 }));
    assert_eq!(world.bytes() - opened, 100 * size_of::<u32>());
    world.resource.with(|cacher| cacher.views_mut().close(view));
    assert_eq!(world.bytes(), before);
}

#[test]
fn a_view_without_room_says_so_and_the_resource_lives() {
    let (mut world, memory) = World::bounded(5_000, 200_000);
    let view = world.view();
    assert_eq!((world.error(view), world.total(view)), (Some(ErrorCode::OutOfMemory), 0));
    assert_eq!(world.told.borrow().views, [view], "a flush has named it");
    assert!(memory.bytes() <= world.bytes() && world.resource.with(|cacher| cacher.store().len()) == 5_000);
    world.change(3);
    world.resource.with(|cacher| cacher.viewing().look(view));
    assert_eq!(world.total(view), 0, "it is over");
    assert_eq!(world.resource.with(|cacher| cacher.status().error.map(|error| error.code)), None);
    // Another, of less, has room.
    let few = ViewOptions { field_selector: Some("metadata.name=pod-00007".into()), ..ViewOptions::default() };
    let few = world.resource.with(|cacher| cacher.viewing().open(&few)).unwrap();
    world.time.run_until_idle();
    world.resource.with(|cacher| cacher.viewing().look(few));
    assert_eq!((world.error(few), world.total(few)), (None, 1));
}

#[test]
fn a_view_that_nobody_looks_at_ends_when_it_holds_too_much() {
    let (mut world, memory) = World::bounded(1_000, 500_000);
    let view = world.view();
    assert_eq!(world.error(view), None);
    for number in 0..1_000 {
        world.change(number);
        assert!(memory.bytes() <= world.bytes());
    }
    assert_eq!(world.error(view), Some(ErrorCode::OutOfMemory));
    assert_eq!(world.resource.with(|cacher| cacher.store().len()), 1_000);
    let other = world.view();
    assert_eq!((world.error(other), world.total(other)), (None, 1_000), "what it held is there for others");
}

#[test]
fn law_06_a_watcher_that_holds_too_much_ends_and_says_from_where_it_can_go_on() {
    let (mut world, memory) = World::bounded(1_000, 300_000);
    let options =
        || WatchOptions { buffer_size: Some(100_000), resource_version: Some(world.version.to_string()), ..WatchOptions::default() };
    let (slow, quick) = (world.resource.watch(options(), true), world.resource.watch(options(), true));
    world.resource.demand(quick, Demand::All);
    world.time.run_until_idle();
    let began = world.version;
    // The objects that it has yet to hear of are replaced, so its queue alone holds them.
    for number in 0..1_000 {
        world.change(number % 10);
    }
    let told = world.told.borrow();
    assert_eq!(told.ended, [(slow, EndReason::Error)], "the other took everything");
    assert_eq!(told.heard.iter().filter(|id| **id == quick.number()).count(), 1_000);
    let (code, resume) = world.resource.with(|cacher| {
        let watcher = cacher.dispatcher().get(slow).unwrap();
        (watcher.refusal().map(|error| error.code), watcher.resume_from().cloned())
    });
    assert_eq!((code, resume.and_then(|version| version.as_u64())), (Some(ErrorCode::OutOfMemory), Some(began)), "it has heard of nothing");
    assert!(memory.bytes() <= world.bytes());
}

#[test]
fn indexes_are_counted() {
    let (without, with) = (World::indexed(1_000, Vec::new()), World::new(1_000));
    let index = with.resource.with(|cacher| cacher.store().index_bytes());
    assert!((32_000..100_000).contains(&index), "{index} bytes");
    assert!(with.bytes() >= without.bytes() + index);
}

/// A reader that was told of a view looks at it. Only that look may say that something else shows.
#[test]
fn law_06_a_view_that_ends_or_comes_back_shows_something_else_at_the_next_look_and_at_no_other() {
    for count in [900, 3_000] {
        let (mut world, memory) = World::bounded(count, rows(count) * 3 / 2);
        let look = |world: &World, view| world.resource.with(|cacher| cacher.viewing().look(view));
        let view = world.view();
        assert_eq!((world.error(view), world.total(view)), (None, count), "there is room for one");
        world.told.take();
        // Until the next look the view holds the replaced objects.
        let mut changed = 0;
        while world.error(view).is_none() {
            changed += 1;
            assert!(changed < 2_000, "{} bytes", memory.bytes());
            world.change(changed % count);
        }
        assert_eq!(world.told.take().views, [view], "named once, and not looked at since");
        assert!(look(&world, view), "the rows are gone, and the reason is there");
        assert!(!look(&world, view), "nothing happened since");

        // There is room enough, because no replaced object is held any more.
        world.resource.resume();
        world.time.run_until_idle();
        assert_eq!(world.told.take().views, [view]);
        assert!(look(&world, view) && world.error(view).is_none());
        world.time.run_until_idle();
        look(&world, view);
        assert_eq!(world.total(view), count);
        assert!(world.resource.with(|cacher| cacher.views().get(view).unwrap().is_loaded()));
    }
}

#[test]
fn r13_a_view_without_room_comes_back_when_there_is_more_and_else_resume_changes_nothing() {
    for count in [900, 5_000] {
        let (world, _) = World::bounded(count, rows(count) * 3 / 2);
        let (first, second) = (world.view(), world.view());
        assert_eq!((world.error(first), world.error(second)), (None, Some(ErrorCode::OutOfMemory)), "the one that grew");
        world.resource.with(|cacher| cacher.viewing().look(second));
        world.told.take();
        for _ in 0..10 {
            world.resource.resume();
            world.time.run_until_idle();
        }
        assert!(world.told.take().views.is_empty(), "nobody is called, so nobody can make a loop of it");
        world.resource.with(|cacher| cacher.views_mut().close(first));
        world.resource.resume();
        world.time.run_until_idle();
        world.resource.with(|cacher| cacher.viewing().look(second));
        assert_eq!((world.error(second), world.total(second)), (None, count));
    }
}

#[test]
fn the_one_that_grows_ends_and_not_the_largest() {
    let (mut world, memory) = World::bounded(1_000, 900_000);
    let bound = memory.bytes() + 900_000;
    let view = world.view();
    let informer = world.resource.with(|cacher| cacher.informers_mut().open(InformerOptions::default()));
    world.resource.start_informer(informer);
    let options = HandlerOptions { buffer_size: 1_000_000, ..HandlerOptions::default() };
    let now = world.resource.now();
    let (quick, slow) = world.resource.with(|cacher| {
        let mut add = |options| cacher.informing().add_handler(informer, options, now).unwrap();
        (add(HandlerOptions::default()), add(options))
    });
    world.time.run_until_idle();
    world.resource.with(|cacher| {
        cacher.informers_mut().handler_waits(slow, 0, false);
        cacher.viewing().look(view);
    });
    let other = world.resource.with(|cacher| cacher.informers_mut().open(InformerOptions::default()));
    world.resource.start_informer(other);
    world.told.take();
    let mut ended = Vec::new();
    for number in 0..3_000 {
        // Few objects that change often, and a view that is looked at: what accumulates waits for the handler.
        world.change(number % 10);
        world.resource.with(|cacher| cacher.viewing().look(view));
        world.time.run_until_idle();
        ended.append(&mut world.told.borrow_mut().interruptions);
        if !ended.is_empty() {
            break;
        }
    }
    let stopped: Vec<_> = ended.iter().map(|ended| (&ended.stops, ended.error.code)).collect();
    assert_eq!(stopped, [(&Stops::Informer(informer), ErrorCode::OutOfMemory)]);
    assert_eq!((world.error(view), world.total(view)), (None, 1_000));
    world.resource.with(|cacher| {
        let running = |id| !cacher.informers().get(id).unwrap().is_stopped();
        assert!(!running(informer) && running(other));
        assert!(cacher.informers().handler(quick).is_none() && cacher.informers().handler(slow).is_none(), "its handlers ended with it");
    });
    world.change(1);
    assert!(memory.bytes() + 300_000 < bound, "{} of {bound} bytes", memory.bytes());
}

/// JavaScript gives back what it no longer holds only when it collects.
#[test]
fn what_javascript_has_not_collected_counts_only_when_it_has_outlived_collections() {
    let (mut world, memory) = World::bounded(1_000, 300_000);
    let mut pins = Vec::new();
    let mut view = world.view();
    for round in 0..2_000 {
        world.change(round % 10);
        let told = world.resource.with(|cacher| cacher.store().get(&format!("a/pod-{:05}", round % 10)).unwrap().clone());
        told.pinned(true);
        pins.push(told);
        if round % 100 == 0 {
            // A view that grows would end, and others with it.
            world.resource.with(|cacher| cacher.viewing().look(view));
        }
    }
    assert_eq!(world.error(view), None, "{} bytes", memory.bytes());
    world.resource.collected();
    world.resource.collected();
    assert!(world.bytes() > 1_000_000, "{} bytes are held by somebody", world.bytes());
    pins.iter().for_each(|object| object.pinned(false));
    pins.clear();
    world.change(1);
    view = world.view();
    assert_eq!((world.error(view), world.total(view)), (None, 1_000));
}
