//! What is held: the store, its indexes, the window, past states, views.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::cache::Cacher;
use watchcache::change::ChangeKind;
use watchcache::json::fields::FieldSet;
use watchcache::json::path::Path;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::store::Store;
use watchcache::store::WindowBounds;
use watchcache::store::{IndexBy, IndexSpec, Indexes};
use watchcache::testing;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::view::{RowRange, ViewId, ViewOptions};

use super::Growth;
use crate::counted::Work;
use crate::counted::pods::fill;

pub(super) const ALL: &[Growth] = &[
    Growth::other("store-replaced", 5_000, |n| {
        let (old, new) = (objects(n, 0, 1), objects(n, n, 2));
        let mut store = Store::new();
        store.replace(old);
        Box::new(move || assert_eq!(store.replace(new.clone()).len(), 2 * new.len()))
    }),
    Growth::other("window-that-grows", 5_000, |n| pushed(n, WindowBounds::default())),
    Growth::other("window-full-of-bytes", 5_000, |n| pushed(n, WindowBounds { max_bytes: 50_000, ..WindowBounds::default() })),
    Growth::other("past-state", 5_000, |n| {
        let mut cacher = cacher(WindowBounds { lower: 2 * n, ..WindowBounds::default() }, &[]);
        fill(&mut cacher, objects(n, 0, 1), 1);
        objects(n, 0, 2).into_iter().for_each(|object| change(&mut cacher, object));
        let past = Version::from(1);
        Box::new(move || assert_eq!(cacher.held().state_at(&past).expect("a past state").range("", "").count(), n))
    }),
    Growth::other("index-of-one-value", 5_000, |n| {
        let by = IndexSpec { name: "node".into(), by: IndexBy::Path(Path::parse("spec.nodeName").expect("a path")) };
        let mut cacher = cacher(WindowBounds::default(), &[by]);
        let objects = objects(n, 0, 1);
        Box::new(move || {
            fill(&mut cacher, objects.clone(), 1);
            assert_eq!(cacher.store().by_index("node", "").expect("an index").count(), n);
        })
    }),
    Growth::other("index-of-many-values", 5_000, |n| {
        let by = IndexSpec { name: "words".into(), by: IndexBy::Computed(0) };
        let mut cacher = cacher(WindowBounds::default(), &[by]);
        fill(&mut cacher, Vec::new(), 1);
        let versions = [2, 3].map(|version| {
            let object = testing::named("a", version);
            let values = (0..n).map(|i| format!("{}", i * 7_919 % 1_000_003 + version as usize).into());
            object.set_index_values(Box::new([values.collect()]));
            object
        });
        Box::new(move || {
            versions.iter().for_each(|object| change(&mut cacher, object.clone()));
            assert_eq!(cacher.store().index_values("words").expect("an index").len(), n);
        })
    }),
    Growth::other("view-opened", 5_000, |n| {
        let mut cacher = cacher(WindowBounds::default(), &[]);
        fill(&mut cacher, objects(n, 0, 1), 1);
        Box::new(move || {
            cacher.viewing().open(&view()).expect("a view");
            while cacher.viewing().build(n) {}
        })
    }),
    Growth::other("view-changed", 5_000, |n| {
        let mut cacher = cacher(WindowBounds::default(), &[]);
        fill(&mut cacher, objects(n, 0, 1), 1);
        let id = open(&mut cacher, &view());
        let changes = objects(n, 0, 2);
        Box::new(move || {
            changes.iter().for_each(|object| change(&mut cacher, object.clone()));
            assert_eq!(cacher.views_mut().take_changed(), [id]);
            while cacher.viewing().look(id) {}
        })
    }),
    Growth::other("view-of-waiting-rows", 5_000, |n| {
        let mut cacher = cacher(WindowBounds::default(), &[]);
        fill(&mut cacher, objects(n, 0, 1), 1);
        let id = open(&mut cacher, &ViewOptions { needs_verdict: true, ..view() });
        Box::new(move || {
            let waiting: Vec<u64> = cacher.views().get(id).expect("a view").undecided().map(|object| object.id()).collect();
            waiting.into_iter().for_each(|object| cacher.views_mut().decide(id, object, true));
            assert!(cacher.viewing().look(id));
            assert_eq!(cacher.views().get(id).expect("a view").total(), n);
        })
    }),
    Growth::other("views-closed", 2_000, |n| {
        let mut cacher = cacher(WindowBounds::default(), &[]);
        fill(&mut cacher, Vec::new(), 1);
        let ids: Vec<ViewId> = (0..n).map(|_| cacher.viewing().open(&ViewOptions::default()).expect("a view")).collect();
        change(&mut cacher, testing::named("a", 2));
        Box::new(move || ids.iter().for_each(|id| cacher.views_mut().close(*id)))
    }),
];

/// Pods of a namespace, from a number on, whose versions count up from `versions` times a million.
fn objects(n: usize, from: usize, versions: u64) -> Vec<Rc<Object>> {
    (0..n).map(|i| testing::object(&format!("ns/pod-{:07}", from + i * 7_919 % n), versions * 1_000_000 + i as u64)).collect()
}

fn cacher(bounds: WindowBounds, indexes: &[IndexSpec]) -> Cacher {
    let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
    let indexes = Indexes::new(indexes, &fields).expect("indexes");
    Cacher::new(fields, bounds, indexes, Instant::START)
}

fn change(cacher: &mut Cacher, object: Rc<Object>) {
    cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
}

fn pushed(n: usize, bounds: WindowBounds) -> Work {
    let mut cacher = cacher(bounds, &[]);
    fill(&mut cacher, objects(n, 0, 1), 1);
    let changes = objects(n, 0, 2);
    Box::new(move || changes.iter().for_each(|object| change(&mut cacher, object.clone())))
}

/// A view with a range, whole.
fn open(cacher: &mut Cacher, options: &ViewOptions) -> ViewId {
    let id = cacher.viewing().open(options).expect("a view");
    cacher.views_mut().open_range(id, RowRange { offset: 10, limit: 50 }).expect("a range");
    while cacher.viewing().build(1_000) {}
    cacher.viewing().look(id);
    id
}

/// Every row in one group, and ordered by what all have in common.
fn view() -> ViewOptions {
    ViewOptions { order: vec![("spec.nodeName".into(), true, None)], group_by: Some("spec.nodeName".into()), ..ViewOptions::default() }
}
