//! Views over many objects: built in slices, while what they are built from goes on changing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::json;
use watchcache::cache::{Resource, ResourceConfig};
use watchcache::change::ChangeKind;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::runtime::Timer;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::view::{RangeId, RowRange, ViewId, ViewOptions};

use crate::helpers::view::{Still, object};

const MANY: usize = 12_000;
/// Objects that a slice looks at, at most.
const SLICE: usize = 4_096;

struct World {
    time: Rc<VirtualTime>,
    resource: Rc<Resource>,
    version: Cell<u64>,
    random: RefCell<fastrand::Rng>,
    /// Rank by key.
    ranks: RefCell<BTreeMap<String, u64>>,
    named: Rc<RefCell<Vec<ViewId>>>,
}

impl World {
    /// With so many objects listed, unless they are still to come.
    fn new(count: usize) -> Self {
        let time = VirtualTime::new(7);
        let config = ResourceConfig { check_consistency: false, ..ResourceConfig::named("pods") };
        let resource = Resource::new(config, Rc::new(Still), time.clone()).unwrap();
        let named: Rc<RefCell<Vec<ViewId>>> = Rc::default();
        let noted = named.clone();
        resource.on_flush(move |flush| noted.borrow_mut().extend(flush.views));
        let random = RefCell::new(fastrand::Rng::with_seed(7));
        let world = World { time, resource, version: Cell::new(0), random, ranks: RefCell::default(), named };
        if count > 0 {
            world.list((0..count).map(|number| format!("a/pod-{number:05}")));
        }
        world.time.run_until_idle();
        world.named.borrow_mut().clear();
        world
    }

    fn make(&self, key: &str, version: u64) -> Rc<Object> {
        let rank = self.random.borrow_mut().u64(0..1_000);
        self.ranks.borrow_mut().insert(key.into(), rank);
        let name = key.strip_prefix("a/").unwrap();
        let document =
            json!({"metadata": {"namespace": "a", "name": name, "resourceVersion": version.to_string()}, "spec": {"rank": rank}});
        self.resource.with(|cacher| object(&document, &cacher.fields().borrow()))
    }

    fn next(&self) -> u64 {
        self.version.set(self.version.get() + 1);
        self.version.get()
    }

    fn apply(&self, message: Message) {
        self.resource.with(|cacher| cacher.apply(message, Instant::START, WallTime::UNIX_EPOCH));
    }

    fn list(&self, keys: impl Iterator<Item = String>) {
        self.ranks.borrow_mut().clear();
        let objects = keys.map(|key| self.make(&key, self.next())).collect();
        self.apply(Message::Replace { objects, version: Version::from(self.next()) });
    }

    /// Some object comes, changes or goes.
    fn change(&self) {
        let number = self.random.borrow_mut().usize(0..MANY + MANY / 10);
        let key = format!("a/pod-{number:05}");
        let gone = self.random.borrow_mut().u8(0..4) == 0;
        let object = self.make(&key, self.next());
        if gone {
            self.ranks.borrow_mut().remove(&key);
        }
        self.apply(Message::change(if gone { ChangeKind::Deleted } else { ChangeKind::Modified }, object, Instant::START));
    }

    fn open(&self, ordered: bool) -> (ViewId, RangeId) {
        let order = if ordered { vec![("spec.rank".into(), false, Some("number".into()))] } else { Vec::new() };
        let options = ViewOptions { field_selector: Some("spec.rank!=7".into()), order, ..ViewOptions::default() };
        let view = self.resource.open_view(&options).unwrap();
        (view, self.resource.with(|cacher| cacher.views_mut().open_range(view, RowRange { offset: 0, limit: 50 }).unwrap()))
    }

    /// The keys that the view has to show.
    fn truth(&self, ordered: bool) -> Vec<String> {
        let ranks = self.ranks.borrow();
        let mut rows: Vec<(u64, &String)> = ranks.iter().filter(|(_, rank)| **rank != 7).map(|(key, rank)| (*rank, key)).collect();
        if ordered {
            rows.sort();
        }
        rows.into_iter().map(|(_, key)| key.clone()).collect()
    }

    fn keys(&self, view: ViewId) -> Vec<String> {
        self.resource.with(|cacher| cacher.views().get(view).unwrap().keys().map(ToString::to_string).collect())
    }

    /// Whether it is loaded, and the total.
    fn seen(&self, view: ViewId) -> (bool, usize) {
        self.resource.with(|cacher| {
            let view = cacher.views().get(view).unwrap();
            (view.is_loaded(), view.total())
        })
    }

    fn look(&self, view: ViewId) -> bool {
        self.resource.with(|cacher| cacher.viewing().look(view))
    }

    /// Runs the host's turns until the view is loaded, and `during` in each. Returns their number.
    fn turns(&self, view: ViewId, mut during: impl FnMut(usize)) -> usize {
        let mut turns = 0;
        self.time.run_until(async {
            while !self.seen(view).0 {
                turns += 1;
                assert!(turns < 100, "it is never loaded");
                self.time.yield_now().await;
                during(turns);
                if std::mem::take(&mut *self.named.borrow_mut()).contains(&view) {
                    self.look(view);
                }
            }
        });
        turns
    }
}

#[test]
fn a_view_over_many_objects_is_built_in_slices_and_loses_no_change() {
    for ordered in [true, false] {
        let world = World::new(MANY);
        let (view, range) = world.open(ordered);
        let (loaded, mut before) = world.seen(view);
        assert!(!loaded && before <= SLICE, "{before} rows while the page waits");
        let turns = world.turns(view, |turn| {
            (0..50).for_each(|_| world.change());
            if turn == 2 {
                // A relist in the middle of it.
                let keys: Vec<String> = world.ranks.borrow().keys().filter(|key| !key.ends_with('3')).cloned().collect();
                world.list(keys.into_iter());
            }
            let (loaded, total) = world.seen(view);
            let rows = world.resource.with(|cacher| cacher.views().of_range(range).unwrap().rows(range).count());
            if !loaded {
                assert!(total <= before + 2 * SLICE, "{total} after {before}");
                assert_eq!(rows, if ordered { 0 } else { total.min(50) }, "what something orders is shown when it is done");
            }
            before = total;
        });
        assert!(turns >= MANY / SLICE, "{turns} turns");
        world.look(view);
        let truth = world.truth(ordered);
        assert_eq!(world.keys(view), truth);
        assert_eq!(world.seen(view), (true, truth.len()));
    }
}

#[test]
fn a_relist_of_many_is_taken_in_by_slices() {
    for ordered in [true, false] {
        let world = World::new(MANY);
        let (view, range) = world.open(ordered);
        world.turns(view, |_| {});
        let before = world.keys(view);
        world.list((0..MANY).map(|number| format!("a/pod-{:05}", number + MANY / 2)));
        assert_eq!((world.keys(view), world.seen(view)), (before.clone(), (true, before.len())), "until somebody looks");
        world.time.run_until_idle();
        assert_eq!(std::mem::take(&mut *world.named.borrow_mut()), [view]);
        assert!(world.look(view));
        assert!(!world.seen(view).0);
        let mut looks = 0;
        let mut seen = world.seen(view);
        let turns = world.turns(view, |_| {
            assert_eq!(world.seen(view), seen, "it stands still between two looks");
            let rows = world.resource.with(|cacher| cacher.views().of_range(range).unwrap().rows(range).count());
            assert!(!ordered || rows == 0, "what something orders is shown when it is done");
            world.change();
            if !world.named.borrow().is_empty() {
                looks += 1;
                world.look(view);
                world.named.borrow_mut().clear();
            }
            seen = world.seen(view);
        });
        assert!((2..MANY / 1_000).contains(&turns), "{turns} turns");
        world.look(view);
        assert_eq!(world.keys(view), world.truth(ordered));
    }
}

/// A page looks at each frame. Between two frames the host has many turns.
#[test]
fn a_relist_of_many_needs_few_looks() {
    let world = World::new(MANY);
    let (view, _) = world.open(true);
    world.turns(view, |_| {});
    world.list((0..MANY).map(|number| format!("a/pod-{:05}", number + MANY / 2)));
    for look in 0..2 {
        world.time.run_until_idle();
        assert_eq!(std::mem::take(&mut *world.named.borrow_mut()), [view], "look {look}");
        assert!(world.look(view));
        assert_eq!(world.seen(view).0, look == 1);
    }
    assert_eq!(world.keys(view), world.truth(true));
}

#[test]
fn a_view_that_one_slice_is_enough_for_is_there_at_once() {
    for count in [10, 1_000, SLICE - 100] {
        let world = World::new(count);
        let (view, _) = world.open(true);
        assert_eq!(world.keys(view), world.truth(true));
        assert!(world.seen(view).0);
        world.time.run_until_idle();
        assert!(!world.named.borrow().contains(&view), "there is nothing new to look at");
    }
}

/// A page that mounts many views at a time has them all within a few turns, and no turn takes longer for it.
#[test]
fn views_that_open_in_one_turn_share_one_slice() {
    let world = World::new(SLICE / 2);
    let loaded = |views: &[ViewId]| views.iter().filter(|view| world.seen(**view).0).count();
    let mount = || (0..10).map(|_| world.open(true).0).collect::<Vec<ViewId>>();
    let views = mount();
    assert_eq!(loaded(&views), 1);
    let turns = world.turns(views[9], |_| views.iter().for_each(|view| _ = world.look(*view)));
    assert!(turns < 10, "{turns} turns");
    assert_eq!(loaded(&views), 10);
    assert_eq!(loaded(&[world.open(true).0]), 1, "in the next turn there is another slice");
}

#[test]
fn a_view_that_is_closed_while_it_is_built_leaves_no_task() {
    let world = World::new(MANY);
    let tasks = world.time.tasks();
    let (view, _) = world.open(true);
    world.resource.with(|cacher| cacher.views_mut().close(view));
    world.time.run_until_idle();
    assert_eq!(world.time.tasks(), tasks);
    let (_view, _) = world.open(true);
    world.resource.close();
    world.time.run_until_idle();
    assert_eq!(world.time.tasks(), tasks);
}

#[test]
fn a_view_over_a_closed_resource_has_no_rows_and_is_not_loaded() {
    let world = World::new(MANY);
    world.resource.close();
    let (view, _) = world.open(true);
    world.time.run_until_idle();
    world.resource.with(|cacher| {
        let view = cacher.views().get(view).unwrap();
        assert_eq!((view.total(), view.is_loaded()), (0, false));
    });
}
