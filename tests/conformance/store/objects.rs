//! The objects now and at past versions, and the named indexes.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::cache::Cacher;
use watchcache::change::ChangeKind;
use watchcache::json::{FieldSet, Path};
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::status::ErrorCode;
use watchcache::store::Store;
use watchcache::store::WindowBounds;
use watchcache::store::{IndexBy, IndexSpec, Indexes};
use watchcache::testing;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;

use crate::helpers::rig::{Rig, Setup};

fn texts<'a>(objects: impl Iterator<Item = &'a Rc<Object>>) -> Vec<String> {
    objects.map(|object| format!("{object:?}")).collect()
}

fn with_value(key: &str, version: u64, value: &str) -> Rc<Object> {
    testing::with_spec(key, version, &[], &serde_json::json!({"value": value}))
}

/// A store with the index `by_val` over `spec.value`.
fn indexed() -> Store {
    let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
    let by_val = IndexSpec { name: "by_val".into(), by: IndexBy::Path(Path::parse("spec.value").unwrap()) };
    Store::indexed(Indexes::new(&[by_val], &fields).unwrap())
}

fn of(store: &Store, value: &str) -> Vec<String> {
    texts(store.by_index("by_val", value).unwrap())
}

#[test]
fn sto_01_one_key_through_its_life() {
    let mut store = Store::new();
    let same = |store: &Store, expected: &[&str]| {
        assert_eq!(texts(store.get("foo").into_iter()), expected);
        assert_eq!(texts(store.iter()), expected);
        assert_eq!(texts(store.range("", "")), expected);
    };
    same(&store, &[]);
    for (version, value) in [(1, "bar"), (2, "baz"), (3, "baz")] {
        store.upsert(with_value("foo", version, value));
        same(&store, &[&format!("foo@{version}")]);
    }
    store.replace(vec![with_value("foo", 4, "bar")]);
    same(&store, &["foo@4"]);
    store.remove("foo");
    same(&store, &[]);
    assert!(store.remove("foo").is_none());
    same(&store, &[]);
    assert_eq!(store.bytes(), 0);
}

#[test]
fn sto_02_an_index_follows_every_change_of_a_value() {
    let mut store = indexed();
    let same = |store: &Store, bar: &[&str], baz: &[&str]| {
        assert_eq!(
            (of(store, "bar"), of(store, "baz")),
            (bar.iter().map(|&s| s.into()).collect(), baz.iter().map(|&s| s.into()).collect())
        );
    };
    same(&store, &[], &[]);
    store.upsert(with_value("foo", 1, "bar"));
    same(&store, &["foo@1"], &[]);
    store.upsert(with_value("foo", 2, "baz"));
    same(&store, &[], &["foo@2"]);
    store.upsert(with_value("foo", 3, "baz"));
    same(&store, &[], &["foo@3"]);
    store.replace(vec![with_value("foo", 4, "bar")]);
    same(&store, &["foo@4"], &[]);
    store.remove("foo");
    same(&store, &[], &[]);
    store.remove("foo");
    same(&store, &[], &[]);
    assert_eq!(store.index_values("by_val").unwrap(), [] as [Rc<str>; 0], "a value that nobody has is none");
}

#[test]
fn sto_02_the_index_by_namespace_follows_and_is_no_plain_prefix() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for (namespace, name) in [("foo", "a"), ("foo", "b"), ("foo2", "a"), ("foo-3", "a"), ("bar", "a")] {
            upstream.put(namespace, name);
        }
    });
    let of = |namespace: &str| -> Vec<String> {
        rig.run(0).resource.with(|cacher| texts(cacher.store().by_index("namespace", namespace).unwrap()))
    };
    let values = || -> Vec<String> {
        rig.run(0).resource.with(|cacher| cacher.store().index_values("namespace").unwrap().iter().map(ToString::to_string).collect())
    };
    assert_eq!(values(), ["bar", "foo", "foo-3", "foo2"]);
    assert_eq!(of("foo"), ["foo/a@101", "foo/b@102"]);
    assert_eq!(of("foo2"), ["foo2/a@103"]);
    assert_eq!(of("fo"), [""; 0]);
    rig.upstream.put("foo", "b");
    rig.upstream.delete("foo", "a");
    assert_eq!(of("foo"), ["foo/b@106"]);
    rig.lose_history(|upstream| {
        upstream.delete("foo", "b");
        upstream.put("baz", "a");
    });
    assert_eq!(of("foo"), [""; 0]);
    assert_eq!(of("baz"), ["baz/a@109"]);
    assert_eq!(values(), ["bar", "baz", "foo-3", "foo2"]);
}

#[test]
fn sto_04_a_range_is_a_prefix_from_a_key_on() {
    let mut store = Store::new();
    for (index, key) in ["foo3", "foo1", "bar", "foo2"].into_iter().enumerate() {
        store.upsert(testing::named(key, index as u64 + 1));
    }
    let range = |prefix: &str, from: &str| texts(store.range(prefix, from));
    assert_eq!(range("foo", ""), ["foo1@2", "foo2@4", "foo3@1"]);
    assert_eq!(range("foo2", ""), ["foo2@4"]);
    assert_eq!(range("foo", "foo1\0"), ["foo2@4", "foo3@1"]);
    assert_eq!(range("foo", "foo2\0"), ["foo3@1"]);
    assert_eq!(range("bar", ""), ["bar@3"]);
}

/// Three pods of which two are labelled value1 and two run on node2, with an index of the label.
fn labelled() -> Store {
    let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
    let path = Path::parse("metadata.labels.label").unwrap();
    let mut store = Store::indexed(Indexes::new(&[IndexSpec { name: "label".into(), by: IndexBy::Path(path) }], &fields).unwrap());
    for (key, version, label, node) in [("a/1", 2, "value1", "node1"), ("a/2", 3, "value1", "node2"), ("a/3", 5, "value2", "node2")] {
        store.upsert(testing::with_spec(key, version, &[("label", label)], &serde_json::json!({"nodeName": node})));
    }
    store
}

#[test]
fn frs_02_the_index_of_a_label_is_known_by_it_and_gives_candidates_alone() {
    let store = labelled();
    assert!(store.has_index("l:label") && store.has_index("label"));
    assert_eq!(texts(store.by_index("l:label", "value1").unwrap()), ["a/1@2", "a/2@3"]);
}

#[test]
fn an_index_that_does_not_exist_is_an_error() {
    let store = labelled();
    assert!(!store.has_index("l:not-exist"));
    let error = store.by_index("l:not-exist", "whatever").err().unwrap();
    assert_eq!((error.code, &*error.message), (ErrorCode::Invalid, "Index with name l:not-exist does not exist"));
}

/// A cacher alone, fed by hand, with a past of the changes that it was told.
struct Past(Cacher);

impl Past {
    fn new() -> Self {
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        Self(Cacher::new(fields, WindowBounds::default(), Indexes::default(), Instant::START))
    }

    fn change(&mut self, kind: ChangeKind, object: Rc<Object>) {
        self.0.apply(Message::change(kind, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
    }

    fn put(&mut self, version: u64) {
        self.change(ChangeKind::Modified, testing::named("foo", version));
    }

    fn delete(&mut self, version: u64) {
        self.change(ChangeKind::Deleted, testing::named("foo", version));
    }

    fn replace(&mut self, objects: Vec<Rc<Object>>, version: u64) {
        self.0.apply(Message::Replace { objects, version: Version::from(version) }, Instant::START, WallTime::UNIX_EPOCH);
    }

    fn compact(&mut self, version: u64) {
        self.0.held_mut().compact(&Version::from(version));
    }

    /// All objects at a version, or why not.
    fn at(&self, version: u64) -> Result<Vec<String>, String> {
        let asked = Version::from(version);
        let state = self.0.held().state_at(&asked);
        assert_eq!(state.is_ok(), self.0.held().has_state_at(&asked));
        let state = state.map_err(|error| error.message)?;
        assert_eq!(*state.version(), asked);
        Ok(texts(state.range("", "")))
    }

    /// Those of the versions that can be read.
    fn readable(&self, versions: &[u64]) -> Vec<u64> {
        versions.iter().copied().filter(|version| self.at(*version).is_ok()).collect()
    }
}

fn gone(version: u64) -> Result<Vec<String>, String> {
    Err(format!("too old resource version: {version}"))
}

fn foo(version: u64) -> Result<Vec<String>, String> {
    Ok(vec![format!("foo@{version}")])
}

#[test]
fn snp_01_a_version_reads_as_the_last_change_up_to_it() {
    let mut past = Past::new();
    for version in [10, 20, 30, 40] {
        past.put(version);
    }
    past.0.apply(Message::Bookmark(Version::from(100)), Instant::START, WallTime::UNIX_EPOCH);
    assert_eq!(past.at(9), gone(9));
    for (asked, found) in [(10, 10), (11, 10), (22, 20), (100, 40)] {
        assert_eq!(past.at(asked), foo(found));
    }
    past.compact(30);
    assert_eq!((past.at(10), past.at(20), past.at(30), past.at(100)), (gone(10), gone(20), foo(30), foo(40)));
    past.compact(41);
    assert_eq!(past.readable(&[10, 20, 30, 40, 100]), [0; 0], "none is left on a resource where nothing happens");
    assert_eq!(texts(past.0.held().state().range("", "")), ["foo@40"], "the present is there all the same");
}

#[test]
fn snp_02_past_states_through_changes_trims_and_a_list() {
    let mut past = Past::new();
    past.put(100);
    past.put(200);
    past.delete(300);
    assert_eq!((past.at(99), past.at(100)), (gone(99), foo(100)));
    past.compact(200);
    assert_eq!((past.at(100), past.at(200), past.at(300)), (gone(100), foo(200), Ok(vec![])));
    past.put(400);
    assert_eq!(past.at(400), foo(400));
    past.compact(500);
    assert_eq!(past.at(400), gone(400));
    past.put(500);
    past.put(600);
    assert_eq!((past.at(499), past.at(500), past.at(600)), (gone(499), foo(500), foo(600)));
    past.replace(vec![testing::named("bar", 650)], 700);
    assert_eq!((past.at(500), past.at(600), past.at(700)), (gone(500), gone(600), Ok(vec!["bar@650".into()])));
}

#[test]
fn snp_04_what_is_in_doubt_is_not_served_until_a_change_after_the_all_clear() {
    let mut past = Past::new();
    past.put(100);
    assert_eq!(past.at(100), foo(100));
    past.0.held_mut().set_consistent(false);
    assert_eq!(past.at(100), gone(100));
    past.put(200);
    assert_eq!(past.at(200), gone(200));
    past.0.held_mut().set_consistent(true);
    assert_eq!(past.readable(&[100, 200]), [0; 0]);
    past.put(300);
    assert_eq!((past.at(200), past.at(300)), (gone(200), foo(300)));
}

#[test]
fn snp_05_there_is_no_past_before_the_first_write() {
    let mut past = Past::new();
    assert!(!past.0.held().has_state_at(&Version::ZERO));
    past.put(100);
    assert_eq!(past.at(100).unwrap().len(), 1);
}

#[test]
fn what_the_cacher_has_not_reached_is_no_past() {
    let mut past = Past::new();
    past.put(100);
    assert_eq!(past.at(101), Err("Timeout: Too large resource version: 101, current: 100".into()));
}

/// A resource with the computed index "apps", whose values stand before each '-' in the name; and the objects that were computed.
fn computed(prepare: impl FnOnce(&crate::helpers::upstream::Upstream)) -> (Rig, Rc<RefCell<Vec<String>>>) {
    let indexes = vec![IndexSpec { name: "apps".into(), by: IndexBy::Computed(0) }];
    let rig = Rig::idle(Setup { indexes, ..Setup::default() }, prepare);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (resource, noted) = (Rc::downgrade(&rig.resource), seen.clone());
    rig.resource.on_index(move |object| {
        // A user's function may do anything with the resource, because nothing is borrowed.
        let resource = resource.upgrade().unwrap();
        resource.with(|cacher| cacher.stats());
        let unread = resource.watch(watchcache::watch::WatchOptions::default(), false);
        resource.stop(unread);
        resource.with(|cacher| cacher.dispatcher_mut().forget(unread));
        noted.borrow_mut().push(format!("{object:?}"));
        let mut parts: Vec<Rc<str>> = object.name().split('-').map(Into::into).collect();
        parts.pop();
        Box::new([parts.into()])
    });
    rig.resource.start();
    rig.run(0);
    (rig, seen)
}

#[test]
fn law_09_values_are_computed_with_nothing_borrowed_and_once_for_each_object() {
    let (rig, seen) = computed(|upstream| {
        for name in ["web-db-1", "web-2", "3"] {
            upstream.put("a", name);
        }
    });
    let of = |value: &str| -> Vec<String> { rig.run(0).resource.with(|cacher| texts(cacher.store().by_index("apps", value).unwrap())) };
    let values = || -> Vec<String> {
        rig.run(0).resource.with(|cacher| cacher.store().index_values("apps").unwrap().iter().map(ToString::to_string).collect())
    };
    assert_eq!(
        (values(), of("web"), of("db")),
        (vec!["db".into(), "web".into()], vec!["a/web-2@102".into(), "a/web-db-1@101".into()], vec!["a/web-db-1@101".into()])
    );
    assert_eq!(of("3"), [""; 0], "an object may have no value");
    let version = rig.upstream.put("a", "web-2");
    assert_eq!(of("web"), [format!("a/web-2@{version}"), "a/web-db-1@101".into()]);
    rig.upstream.delete("a", "web-db-1");
    assert_eq!((values(), of("db")), (vec!["web".into()], vec![]));
    rig.lose_history(|upstream| {
        upstream.put("b", "db-1");
    });
    assert_eq!(of("db").len(), 1);
    let seen = seen.borrow();
    assert_eq!(seen[..], ["a/3@103", "a/web-2@102", "a/web-db-1@101", "a/web-2@104", "b/db-1@106"], "a relist computes what is new");
}

#[test]
fn law_09_a_function_that_closes_the_resource_stops_it_there() {
    let indexes = vec![IndexSpec { name: "apps".into(), by: IndexBy::Computed(0) }];
    let rig = Rig::idle(Setup { indexes, ..Setup::default() }, |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
    });
    let resource = Rc::downgrade(&rig.resource);
    rig.resource.on_index(move |_| {
        resource.upgrade().unwrap().close();
        Box::new([])
    });
    rig.resource.start();
    rig.run(0);
    assert_eq!(rig.status().phase, watchcache::connection::Phase::Closed);
    assert_eq!(rig.rows().len(), 0);
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused() {
    let path = || IndexBy::Path(Path::parse("spec.nodeName").unwrap());
    let refused = |names: &[&str], fresh_ms: u64| {
        let config = watchcache::cache::ResourceConfig {
            window: WindowBounds { fresh_ms, ..WindowBounds::default() },
            indexes: names.iter().map(|name| IndexSpec { name: (*name).into(), by: path() }).collect(),
            ..watchcache::cache::ResourceConfig::named("pods")
        };
        let time = watchcache::runtime::virtual_time::VirtualTime::new(1);
        let upstream = crate::helpers::upstream::Upstream::new(time.clone(), 1);
        let source = Rc::new(crate::helpers::upstream::Shared(upstream));
        let error = watchcache::cache::Resource::new(config, source, time).err().unwrap();
        assert_eq!(error.code, ErrorCode::Invalid);
        error.message
    };
    assert!(refused(&[], 74_999).starts_with("history.minMs is at least 75000"));
    assert_eq!(refused(&["namespace"], 75_000), "indexes lists \"namespace\", which always exists");
    assert_eq!(refused(&["node", "node"], 75_000), "indexes: the index \"node\" stands twice");
    assert_eq!(refused(&[""], 75_000), "indexes have names");
}
