//! Several namespaces as one resource: each has an upstream of its own here, whose versions say nothing of the others'.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use watchcache::cache::{ListOptions, MIN_CHECK_INTERVAL_MS, Outcome, signal};
use watchcache::connection::Phase;
use watchcache::informer::InformerOptions;
use watchcache::runtime::Spawn;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{DeleteOptions, Joined, Source, WriteParameters};
use watchcache::status::{Error, ErrorCode};
use watchcache::view::ViewOptions;
use watchcache::watch::EventKind;

use crate::helpers::informed::Informed;
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Shared, Upstream, WatchFault};
use crate::{after, initial};

/// A rig over several upstreams.
struct Namespaces {
    rig: Rig,
    upstreams: Rc<RefCell<BTreeMap<String, Rc<Upstream>>>>,
}

impl Namespaces {
    /// Not started, over these namespaces, in each of which `prepare` is called.
    fn idle(setup: &Setup, namespaces: &[&str], prepare: impl Fn(&str, &Upstream) + 'static) -> Self {
        fastrand::seed(setup.seed);
        let time = VirtualTime::new(setup.seed);
        let upstreams: Rc<RefCell<BTreeMap<String, Rc<Upstream>>>> = Rc::default();
        let (all, clock, seed) = (upstreams.clone(), time.clone(), setup.seed);
        let open = Box::new(move |namespace: &str| {
            let mut all = all.borrow_mut();
            let count = all.len() as u64;
            let upstream = all.entry(namespace.to_owned()).or_insert_with(|| {
                let upstream = Upstream::new(clock.clone(), seed + count);
                *upstream.namespace.borrow_mut() = Some(namespace.to_owned());
                prepare(namespace, &upstream);
                upstream
            });
            Rc::new(Shared(upstream.clone())) as Rc<dyn Source>
        });
        let source = Joined::new(&owned(namespaces), time.clone(), open).unwrap();
        let first = upstreams.borrow()[""].clone();
        Self { rig: Rig::over(setup, time, first, Rc::new(source)), upstreams }
    }

    /// The same, started, with one object in each.
    fn new(namespaces: &[&str]) -> Self {
        let all = Self::idle(&Setup::default(), namespaces, |namespace, upstream| {
            if !namespace.is_empty() {
                upstream.put(namespace, "first");
            }
        });
        all.rig.resource.start();
        all.rig.run(0);
        assert_eq!(all.rig.status().phase, Phase::Live);
        all
    }

    fn of(&self, namespace: &str) -> Rc<Upstream> {
        self.upstreams.borrow()[namespace].clone()
    }

    fn keys(&self) -> Vec<String> {
        self.rig.rows().into_keys().collect()
    }

    fn set(&self, namespaces: &[&str]) {
        self.rig.resource.set_namespaces(&owned(namespaces)).unwrap();
        self.rig.run(0);
    }

    /// What the branches say of themselves.
    fn branches(&self) -> Vec<(String, Phase, Option<ErrorCode>)> {
        let told = |branch: &watchcache::connection::BranchStatus| {
            (branch.namespace.to_string(), branch.phase, branch.error.as_ref().map(|error| error.code))
        };
        self.rig.status().branches.iter().flatten().map(told).collect()
    }
}

/// The keys of `key@version`.
fn without_versions(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| text.split('@').next().unwrap_or_default().to_owned()).collect()
}

fn owned(namespaces: &[&str]) -> Vec<String> {
    namespaces.iter().map(ToString::to_string).collect()
}

fn forbidden() -> Error {
    Error::new(ErrorCode::Forbidden, "pods is forbidden")
}

/// Two namespaces, of which the server refuses the second.
fn with_one_refused() -> Namespaces {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| match namespace {
        "a" => _ = upstream.put("a", "x"),
        "b" => upstream.list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden()))),
        _ => {}
    });
    all.rig.resource.start();
    all.rig.run(0);
    all
}

#[test]
fn objects_of_all_namespaces_are_held_with_the_versions_that_their_server_gave() {
    let all = Namespaces::new(&["b", "a"]);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    all.of("b").pass(40);
    let written = all.of("b").put("b", "second");
    all.rig.run(0);
    assert_eq!(all.rig.rows()["b/second"].0, written);
    assert!(all.rig.version() > 1_000_000, "the version of the whole is its own");
    assert!(!all.rig.status().stale);
}

#[test]
fn law_02_order_changes_are_told_as_they_come_whatever_their_own_versions() {
    let all = Namespaces::new(&["a", "b"]);
    let watch = all.rig.watch(after(all.rig.version()));
    all.of("b").pass(1_000);
    all.of("b").put("b", "late");
    all.rig.run(0);
    all.of("a").put("a", "early");
    all.rig.run(0);
    all.of("b").delete("b", "late");
    all.rig.run(0);
    let heard = all.rig.client.news(watch);
    let kinds: Vec<_> = heard.iter().map(|event| (event.kind, event.key.as_str())).collect();
    assert_eq!(kinds, [(EventKind::Added, "b/late"), (EventKind::Added, "a/early"), (EventKind::Deleted, "b/late")]);
    assert!(heard.windows(2).all(|pair| pair[0].version < pair[1].version));
}

#[test]
fn law_03_resume_a_watch_goes_on_from_any_version_of_the_whole() {
    let all = Namespaces::new(&["a", "b"]);
    let from = all.rig.version();
    all.of("a").put("a", "second");
    all.rig.run(0);
    let between = all.rig.version();
    all.of("b").put("b", "second");
    all.rig.run(0);
    let news = |version| {
        let watch = all.rig.watch(after(version));
        all.rig.run(0);
        all.rig.client.news(watch).iter().map(|event| event.key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(news(from), ["a/second", "b/second"]);
    assert_eq!(news(between), ["b/second"]);
}

#[test]
fn a_version_of_an_object_is_none_of_the_whole() {
    let all = Namespaces::new(&["a", "b"]);
    let own = all.rig.rows()["a/first"].0;
    let watch = all.rig.watch(after(own));
    all.rig.run(0);
    let heard = format!("{:?}", all.rig.client.news(watch));
    assert!(heard.starts_with("[ERROR 410 Expired"), "{heard}");
    let at_least = ListOptions {
        resource_version: Some(own.to_string()),
        resource_version_match: Some("NotOlderThan".into()),
        ..ListOptions::default()
    };
    assert_eq!(all.rig.list(at_least).unwrap_err().code, ErrorCode::Invalid);
    assert_eq!(all.rig.get("a/first", Some(&own.to_string())).unwrap_err().code, ErrorCode::Invalid);
}

/// Somebody remembers it, and the resource was closed and opened again meanwhile.
#[test]
fn a_version_of_an_earlier_session_is_an_old_one() {
    let all = Namespaces::new(&["a", "b"]);
    let earlier = (all.rig.version() - 5_000).to_string();
    let watch = all.rig.watch(after(all.rig.version() - 5_000));
    all.rig.run(0);
    assert!(format!("{:?}", all.rig.client.news(watch)).starts_with("[ERROR 410 Expired"));
    let list = |matching: &str| {
        let (version, matching) = (Some(earlier.clone()), Some(matching.to_owned()));
        all.rig.list(ListOptions { resource_version: version, resource_version_match: matching, ..ListOptions::default() })
    };
    assert_eq!(list("Exact").unwrap_err().code, ErrorCode::Expired);
    assert_eq!(list("NotOlderThan").unwrap().1, all.rig.version());
    assert_eq!(all.rig.get("a/first", Some(&earlier)).unwrap(), "a/first@101");
}

#[test]
fn lists_come_from_all_and_what_needs_one_version_is_refused() {
    let all = Namespaces::new(&["a", "b"]);
    let (keys, version) = all.rig.list(ListOptions::default()).unwrap();
    assert_eq!((keys.len(), version), (2, all.rig.version()));
    let held = ListOptions { resource_version: Some("0".into()), ..ListOptions::default() };
    assert_eq!(all.rig.list(held).unwrap().0.len(), 2);
    let one = ListOptions { namespace: Some("b".into()), ..ListOptions::default() };
    assert_eq!(all.rig.list(one).unwrap().0.len(), 1);
    let limited = ListOptions { limit: 1, ..ListOptions::default() };
    assert_eq!(all.rig.list(limited).unwrap_err().code, ErrorCode::Invalid);
    let watch = all.rig.watch(initial(None, true, true));
    all.rig.run(0);
    let heard = all.rig.client.news(watch);
    assert_eq!(heard.iter().filter(|event| event.kind == EventKind::Added).count(), 2);
    assert_eq!(heard.last().map(|event| event.kind), Some(EventKind::InitialEventsEnd));
}

#[test]
fn a_namespace_that_is_refused_is_named_and_leaves_the_others_their_rows() {
    let all = with_one_refused();
    assert_eq!(all.keys(), ["a/x"]);
    let status = all.rig.status();
    assert_eq!((status.phase, status.stale), (Phase::Live, false));
    assert_eq!(all.branches(), [("a".into(), Phase::Live, None), ("b".into(), Phase::Failed, Some(ErrorCode::Forbidden))]);
    assert!(all.rig.client.signals.get() & signal::ERROR != 0);
    all.rig.wait(all.rig.resource.clone().synced()).unwrap();
    // Once it may, its objects are told as changes.
    let watch = all.rig.watch(after(all.rig.version()));
    all.of("b").put("b", "y");
    all.rig.run(300_000);
    assert_eq!(all.keys(), ["a/x", "b/y"]);
    assert_eq!(all.rig.client.news(watch).iter().filter(|event| event.is_change()).count(), 1);
    assert!(all.branches().iter().all(|(_, phase, error)| *phase == Phase::Live && error.is_none()));
}

#[test]
fn refused_everywhere_is_refused() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |_, upstream| {
        upstream.list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden())));
    });
    all.rig.resource.start();
    all.rig.run(0);
    assert_eq!(all.rig.status().phase, Phase::Failed);
    let synced = all.rig.wait(all.rig.resource.clone().synced());
    assert_eq!(synced.unwrap_err().code, ErrorCode::Forbidden);
}

#[test]
fn rows_of_a_namespace_that_is_refused_later_stay_and_are_stale() {
    let all = Namespaces::new(&["a", "b"]);
    let b = all.of("b");
    b.watch_faults.borrow_mut().extend((0..50).map(|_| WatchFault::Refuse(forbidden())));
    b.list_faults.borrow_mut().extend((0..50).map(|_| ListFault::Refuse(forbidden())));
    b.drop_streams();
    all.rig.run(60_000);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    let status = all.rig.status();
    assert_eq!((status.phase, status.stale), (Phase::Live, true));
    assert_eq!(all.branches()[1], ("b".into(), Phase::Failed, Some(ErrorCode::Forbidden)));
}

#[test]
fn namespaces_come_and_go_while_it_runs() {
    let all = Namespaces::new(&["a", "b"]);
    let watch = all.rig.watch(after(all.rig.version()));
    all.set(&["b", "c"]);
    assert_eq!(all.keys(), ["b/first", "c/first"]);
    all.of("c").put("c", "second");
    all.rig.run(0);
    let told: Vec<_> = all.rig.client.news(watch).iter().map(|event| (event.kind, event.key.clone())).collect();
    assert_eq!(told[0], (EventKind::Deleted, "a/first".into()));
    assert_eq!(all.keys(), ["b/first", "c/first", "c/second"]);
    assert_eq!(all.of("a").connections(), 0, "its stream is closed");
    // Away and back at once: it is listed anew, and nothing stands twice.
    all.set(&["c"]);
    all.set(&["b", "c"]);
    all.rig.run(0);
    assert_eq!(all.keys(), ["b/first", "c/first", "c/second"]);
    all.set(&[]);
    assert_eq!((all.keys().len(), all.rig.status().phase), (0, Phase::Live));
}

#[test]
fn one_that_is_added_leaves_the_others_live_while_it_loads() {
    let all = Namespaces::idle(&Setup::default(), &["a"], |namespace, upstream| {
        upstream.latency.set(if namespace == "c" { 5_000 } else { 0 });
    });
    all.rig.resource.start();
    all.rig.run(0);
    all.set(&["a", "c"]);
    assert_eq!((all.rig.status().phase, all.rig.status().stale), (Phase::Live, false));
    assert_eq!(all.branches()[1], ("c".into(), Phase::Loading, None));
    all.rig.run(20_000);
    assert_eq!(all.branches()[1].1, Phase::Live);
}

#[test]
fn without_a_namespace_it_is_empty_and_live() {
    let all = Namespaces::idle(&Setup::default(), &[], |_, _| {});
    all.rig.resource.start();
    all.rig.run(0);
    assert_eq!((all.rig.status().phase, all.keys().len()), (Phase::Live, 0));
    all.rig.wait(all.rig.resource.clone().synced()).unwrap();
    // Held is held, also where nobody else says so.
    all.rig.resource.go_idle();
    all.rig.run(0);
    assert_eq!(all.rig.status().phase, Phase::Paused);
    all.set(&["a"]);
    all.set(&[]);
    assert_eq!(all.rig.status().phase, Phase::Paused);
    all.rig.resource.resume();
    all.rig.run(0);
    assert_eq!(all.rig.status().phase, Phase::Live);
}

#[test]
fn a_list_of_one_namespace_is_told_as_changes_and_ends_no_watch() {
    let all = Namespaces::new(&["a", "b"]);
    let watch = all.rig.watch(after(all.rig.version()));
    let b = all.of("b");
    b.freeze_streams();
    b.put("b", "missed");
    b.delete("b", "first");
    b.expire();
    b.drop_streams();
    all.rig.run(120_000);
    assert_eq!(all.keys(), ["a/first", "b/missed"]);
    let changes: Vec<_> =
        all.rig.client.news(watch).into_iter().filter(|event| event.is_change()).map(|event| (event.kind, event.key)).collect();
    assert_eq!(changes, [(EventKind::Deleted, "b/first".into()), (EventKind::Added, "b/missed".into())]);
    assert_eq!(all.rig.ended(watch), None);
}

#[test]
fn a_refresh_is_done_when_all_have_listed() {
    let all = Namespaces::new(&["a", "b"]);
    let lists = |namespace: &str| all.of(namespace).requests.borrow().iter().filter(|request| request.is_list()).count();
    let before = (lists("a"), lists("b"));
    all.rig.wait(all.rig.resource.clone().refresh()).unwrap();
    assert_eq!((lists("a"), lists("b")), (before.0 + 1, before.1 + 1));
    let refused = with_one_refused();
    refused.rig.wait(refused.rig.resource.clone().refresh()).unwrap();
}

#[test]
fn a_write_waits_for_the_stream_of_its_namespace() {
    let all = Namespaces::new(&["a", "b"]);
    // Another namespace is far ahead.
    all.of("a").pass(10_000);
    all.of("a").put("a", "ahead");
    all.rig.run(0);
    let document = br#"{"metadata":{"namespace":"b","name":"mine"}}"#.to_vec();
    all.rig.wait(all.rig.resource.clone().create(document, WriteParameters::default())).unwrap();
    assert!(all.keys().contains(&"b/mine".to_owned()));
    all.rig.wait(all.rig.resource.clone().delete("b/mine".into(), DeleteOptions::default())).unwrap();
    assert!(!all.keys().contains(&"b/mine".to_owned()));
    let elsewhere = br#"{"metadata":{"namespace":"c","name":"mine"}}"#.to_vec();
    let error = all.rig.wait(all.rig.resource.clone().create(elsewhere, WriteParameters::default())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid);
    assert!(error.message.contains("\"c\""), "{}", error.message);
}

#[test]
fn a_write_does_not_wait_for_a_stream_that_is_refused() {
    let all = Namespaces::new(&["a", "b"]);
    let b = all.of("b");
    b.watch_faults.borrow_mut().extend((0..50).map(|_| WatchFault::Refuse(forbidden())));
    b.list_faults.borrow_mut().extend((0..50).map(|_| ListFault::Refuse(forbidden())));
    b.drop_streams();
    all.rig.run(60_000);
    let waited = |write: &mut dyn FnMut()| {
        let began = all.rig.time.elapsed();
        write();
        all.rig.time.elapsed() - began
    };
    let document = br#"{"metadata":{"namespace":"b","name":"mine"}}"#.to_vec();
    let created = waited(&mut || _ = all.rig.wait(all.rig.resource.clone().create(document.clone(), WriteParameters::default())).unwrap());
    let deleted = waited(&mut || all.rig.wait(all.rig.resource.clone().delete("b/first".into(), DeleteOptions::default())).unwrap());
    assert_eq!((created, deleted), (0, 0));
    assert_eq!(all.keys(), ["a/first", "b/first"]);
}

#[test]
fn a_pause_holds_all_of_them_also_one_that_is_added() {
    let all = Namespaces::new(&["a", "b"]);
    all.rig.resource.pause();
    all.rig.run(0);
    assert_eq!(all.rig.status().phase, Phase::Paused);
    all.set(&["a", "b", "c"]);
    assert_eq!(all.of("c").requests.borrow().len(), 0);
    all.rig.resource.resume();
    all.rig.run(0);
    assert_eq!((all.rig.status().phase, all.keys().len()), (Phase::Live, 3));
}

fn check(all: &Namespaces) -> Outcome {
    all.rig.wait(all.rig.resource.clone().check_consistency())
}

/// The cache hears of an object that this namespace does not hold.
fn ghost(all: &Namespaces, namespace: &str) {
    let upstream = all.of(namespace);
    upstream.pass(1);
    let version = upstream.version();
    let object = format!(r#"{{"metadata":{{"namespace":"{namespace}","name":"ghost","resourceVersion":"{version}"}}}}"#);
    upstream.send_raw(&format!(r#"{{"type":"ADDED","object":{object}}}"#));
    all.rig.run(0);
}

#[test]
fn what_is_held_of_each_namespace_is_compared_at_a_version_of_its_own() {
    let all = Namespaces::new(&["a", "b"]);
    all.of("b").pass(1_000);
    all.of("b").put("b", "second");
    all.of("a").delete("a", "first");
    all.rig.run(0);
    assert!(matches!(check(&all), Outcome::Success(_)));
    // Where nothing happens, a bookmark says how far it is.
    all.of("a").pass(5);
    all.of("a").bookmark();
    all.rig.run(0);
    assert!(matches!(check(&all), Outcome::Success(_)));
    ghost(&all, "b");
    let Outcome::Failure(mismatch) = check(&all) else { panic!("they differ") };
    assert_eq!(mismatch.cache.map(|(key, _)| key.to_string()).as_deref(), Some("b/ghost"));
    let message = all.rig.status().error.unwrap().message;
    assert!(message.starts_with("the cache differs from its upstream: item 1 is b/ghost@"), "{message}");
    all.set(&["a"]);
    assert!(matches!(check(&all), Outcome::Success(_)), "it is gone");
}

#[test]
fn a_namespace_that_is_refused_is_not_compared() {
    let all = with_one_refused();
    assert!(matches!(check(&all), Outcome::Success(_)));
    ghost(&all, "a");
    assert!(matches!(check(&all), Outcome::Failure(_)));
    assert!(matches!(check(&Namespaces::new(&[])), Outcome::Success(_)));
}

#[test]
fn it_is_checked_by_itself() {
    let all = Namespaces::idle(&Setup { check_consistency: true, ..Setup::default() }, &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
    });
    all.rig.resource.start();
    all.rig.run(0);
    ghost(&all, "b");
    let in_doubt = || all.rig.resource.with(|cacher| !cacher.held().has_state_at(cacher.version()));
    assert!(!in_doubt());
    all.rig.run(MIN_CHECK_INTERVAL_MS * 2);
    assert!(in_doubt());
}

#[test]
fn an_object_of_another_namespace_is_set_aside() {
    let all = Namespaces::new(&["a", "b"]);
    all.of("b").put("a", "stray");
    all.rig.run(0);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    let quarantined: Vec<_> = all.rig.status().quarantined.iter().map(|entry| entry.key.to_string()).collect();
    assert_eq!(quarantined, ["a/stray"]);
}

#[test]
fn law_08_bounded_a_closed_one_leaves_nothing_behind() {
    let all = Namespaces::new(&["a", "b"]);
    all.rig.resource.close();
    all.rig.run(0);
    assert_eq!((all.of("a").connections(), all.of("b").connections()), (0, 0));
    all.rig.run(3_600_000); // the upstreams have timers of their own
    assert_eq!((all.rig.time.tasks(), all.of("a").connections(), all.of("b").connections()), (0, 0, 0));
    assert_eq!(all.rig.status().phase, Phase::Closed);
}

#[test]
fn what_follows_a_list_shows_before_the_lists_of_the_others() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
        if namespace == "b" {
            upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Error::network("down")));
        }
    });
    all.rig.resource.start();
    all.rig.run(0);
    assert_eq!(all.rig.status().resource_version, None);
    assert_eq!(all.branches()[1], ("b".into(), Phase::Reconnecting, Some(ErrorCode::Network)));
    let status = all.rig.status();
    assert_eq!((status.phase, status.attempt, status.error.map(|error| error.code)), (Phase::Reconnecting, 1, Some(ErrorCode::Network)));
    all.of("a").delete("a", "first");
    all.of("a").put("a", "second");
    all.rig.run(0);
    assert_eq!((all.keys(), all.rig.status().resource_version), (vec!["a/second".to_owned()], None));
    all.rig.run(60_000);
    assert_eq!((all.keys(), all.rig.status().phase), (vec!["a/second".to_owned(), "b/first".to_owned()], Phase::Live));
}

/// Two namespaces with an object in each, of which the server lets the second wait for a minute.
fn with_one_slow() -> Namespaces {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
        upstream.latency.set(if namespace == "b" { 20_000 } else { 0 });
    });
    all.rig.resource.start();
    all.rig.run(0);
    all
}

#[test]
fn rows_of_those_that_answered_show_and_follow_while_another_is_slow() {
    let all = with_one_slow();
    let view = all.rig.view(&ViewOptions::default());
    let informed = Informed::over(all.rig.clone(), InformerOptions::default());
    let handler = informed.handler();
    informed.start();
    let synced = Rc::new(Cell::new(false));
    let (waiting, told) = (all.rig.resource.clone().synced(), synced.clone());
    all.rig.time.spawn(Box::pin(async move { told.set(waiting.await.is_ok()) }));
    let watch = all.rig.watch(initial(Some("0"), true, true));
    all.of("a").put("a", "second");
    let changed = all.of("a").put("a", "first");
    all.rig.run(0);
    assert_eq!(without_versions(all.rig.view_rows(view)), ["a/first", "a/second"]);
    assert_eq!(all.rig.rows()["a/first"].0, changed);
    all.of("a").delete("a", "first");
    all.rig.run(0);
    assert_eq!((without_versions(all.rig.view_rows(view)), all.keys()), (vec!["a/second".to_owned()], vec!["a/second".to_owned()]));
    let status = all.rig.status();
    assert_eq!((status.phase, status.stale, status.resource_version), (Phase::Listing, false, None));
    assert!(status.last_event_at.is_some());
    assert_eq!(all.branches(), [("a".into(), Phase::Live, None), ("b".into(), Phase::Loading, None)]);
    assert!(!synced.get() && all.rig.client.news(watch).is_empty(), "a watch, and who waits for all, begin with all");
    assert!(informed.heard(handler).is_empty(), "handlers, too");

    all.rig.run(60_000);
    assert!(synced.get());
    assert_eq!((all.rig.status().phase, all.keys()), (Phase::Live, vec!["a/second".to_owned(), "b/first".to_owned()]));
    assert_eq!(without_versions(all.rig.view_rows(view)), all.keys());
    let told: Vec<_> = all.rig.client.news(watch).into_iter().map(|event| (event.kind, event.key)).collect();
    assert_eq!(told[..2], [(EventKind::Added, "a/second".into()), (EventKind::Added, "b/first".into())]);
    assert_eq!((told.len(), told[2].0), (3, EventKind::InitialEventsEnd));
    assert_eq!(informed.heard(handler), ["A!(a/second@102)", "A!(b/first@101)"]);
}

#[test]
fn a_write_shows_while_another_namespace_is_slow() {
    let all = with_one_slow();
    let began = all.rig.time.elapsed();
    let document = br#"{"metadata":{"namespace":"a","name":"mine"}}"#.to_vec();
    all.rig.wait(all.rig.resource.clone().create(document, WriteParameters::default())).unwrap();
    assert!(all.keys().contains(&"a/mine".to_owned()));
    assert!(all.rig.time.elapsed() - began < 1_000);
}

#[test]
fn one_that_fails_before_all_have_listed_is_told_once_and_not_with_each_row_of_the_others() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
        let down = || ListFault::Refuse(Error::network("down"));
        upstream.list_faults.borrow_mut().extend((0..if namespace == "b" { 9 } else { 0 }).map(|_| down()));
    });
    all.rig.resource.start();
    all.rig.run(0);
    let status = all.rig.status();
    assert_eq!((status.phase, status.stale, all.keys()), (Phase::Reconnecting, true, vec!["a/first".to_owned()]));
    all.rig.client.signals.set(0);
    all.of("a").put("a", "second");
    all.rig.run(0);
    assert_eq!((all.keys().len(), all.rig.client.signals.get() & signal::ERROR), (2, 0));
    assert_eq!(all.rig.status().phase, Phase::Reconnecting);
}

#[test]
fn rows_of_a_namespace_that_is_taken_away_go_at_once_also_before_all_have_listed() {
    let all = with_one_slow();
    let view = all.rig.view(&ViewOptions::default());
    assert_eq!((all.keys(), all.rig.status().resource_version), (vec!["a/first".to_owned()], None));
    all.set(&["b"]);
    assert!(all.keys().is_empty() && without_versions(all.rig.view_rows(view)).is_empty());
    assert_eq!(all.rig.status().phase, Phase::Listing);
    all.set(&["a", "b"]);
    assert_eq!(without_versions(all.rig.view_rows(view)), ["a/first"]);
    // Without the slow one all have listed.
    all.set(&["a"]);
    assert_eq!((all.rig.status().phase, all.keys()), (Phase::Live, vec!["a/first".to_owned()]));
}

#[test]
fn rows_of_a_namespace_that_is_taken_away_while_there_is_no_memory_go_with_the_next_try() {
    let all = Namespaces::new(&["a", "b"]);
    let informed = Informed::over(all.rig.clone(), InformerOptions::default());
    informed.start();
    all.rig.run(0);
    let a = all.of("a");
    a.list_faults.borrow_mut().push_back(ListFault::Refuse(Error::new(ErrorCode::OutOfMemory, "no more")));
    a.expire();
    a.drop_streams();
    all.rig.run(120_000);
    assert_eq!((all.rig.status().phase, all.keys().len()), (Phase::Failed, 2));
    let before = all.rig.version();
    all.set(&["a", "c"]);
    all.of("c").latency.set(20_000);
    all.rig.resource.resume();
    all.rig.run(5_000);
    assert_eq!(
        (all.keys(), without_versions(informed.list(""))),
        (vec!["a/first".to_owned()], vec!["a/first".to_owned()]),
        "c has not answered"
    );
    assert!(all.rig.list(ListOptions { resource_version: Some("0".into()), ..ListOptions::default() }).is_err());
    all.rig.run(60_000);
    assert_eq!((all.keys(), all.rig.status().phase), (vec!["a/first".to_owned(), "c/first".to_owned()], Phase::Live));
    assert_eq!(without_versions(informed.list("")), all.keys());
    assert!(all.rig.version() > before);
}

#[test]
fn what_cannot_be_taken_from_a_later_list_stays_as_it_is_held() {
    let all = Namespaces::new(&["a", "b"]);
    let b = all.of("b");
    b.spoiled.borrow_mut().0.insert("b/first".into(), Spoil::Broken);
    b.put("b", "first");
    b.expire();
    b.drop_streams();
    all.rig.run(120_000);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    assert_eq!(all.rig.status().quarantined.len(), 1);
    all.set(&["a"]);
    assert_eq!((all.keys().len(), all.rig.status().quarantined.len()), (1, 0));
}

/// Whether it is done after so many milliseconds.
fn refreshed(all: &Namespaces, millis: u64) -> bool {
    let done = Rc::new(Cell::new(false));
    let (refresh, told) = (all.rig.resource.clone().refresh(), done.clone());
    all.rig.time.spawn(Box::pin(async move { told.set(refresh.await.is_ok()) }));
    all.rig.run(millis);
    done.get()
}

#[test]
fn a_refresh_waits_for_what_was_just_added_and_for_nothing_where_there_is_nothing() {
    let all = Namespaces::idle(&Setup::default(), &["a"], |namespace, upstream| {
        upstream.put(namespace, "first");
        upstream.latency.set(if namespace == "c" { 5_000 } else { 0 });
    });
    all.rig.resource.start();
    all.rig.run(0);
    all.rig.resource.set_namespaces(&owned(&["c"])).unwrap();
    all.rig.wait(all.rig.resource.clone().refresh()).unwrap();
    assert_eq!(all.keys(), ["c/first"]);
    all.set(&[]);
    assert!(refreshed(&all, 0));
}

#[test]
fn a_refresh_of_what_is_refused_everywhere_waits_until_it_may() {
    let all = Namespaces::new(&["a", "b"]);
    for name in ["a", "b"] {
        all.of(name).list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden())));
    }
    assert!(!refreshed(&all, 1_000));
    assert_eq!(all.rig.status().phase, Phase::Failed);
    all.rig.run(600_000);
    assert!(refreshed(&all, 0));
}

#[test]
fn namespaces_that_are_all_refused_later_fail_the_whole() {
    let all = Namespaces::idle(&Setup::default(), &["a"], |namespace, upstream| {
        if namespace == "b" {
            upstream.list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden())));
        }
    });
    all.rig.resource.start();
    all.rig.run(0);
    all.set(&["b"]);
    assert_eq!((all.rig.status().phase, all.rig.status().error.map(|error| error.code)), (Phase::Failed, Some(ErrorCode::Forbidden)));
    all.rig.resource.pause();
    all.rig.run(0);
    assert_eq!(all.rig.status().phase, Phase::Paused);
}

#[test]
fn an_error_tells_of_the_namespace_that_was_refused_last() {
    let all = with_one_refused();
    let said = |all: &Namespaces| all.rig.status().error.map(|error| error.message);
    assert_eq!(said(&all).as_deref(), Some("namespace b: pods is forbidden"));
    all.rig.client.signals.set(0);
    let informed = Informed::over(all.rig.clone(), InformerOptions::default());
    informed.start();
    all.rig.resource.set_namespaces(&owned(&["a", "b", "c"])).unwrap();
    all.of("c").list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden())));
    all.rig.run(0);
    assert_eq!(said(&all).as_deref(), Some("namespace c: pods is forbidden"));
    assert!(all.rig.client.signals.get() & signal::ERROR != 0);
    let heard: Vec<_> = informed.interruptions().into_iter().map(|told| told.error.message).collect();
    assert_eq!(heard, ["namespace c: pods is forbidden"]);
}

#[test]
fn rows_of_one_that_is_refused_outlive_a_want_of_memory() {
    let all = Namespaces::new(&["a", "b"]);
    let b = all.of("b");
    b.watch_faults.borrow_mut().extend((0..50).map(|_| WatchFault::Refuse(forbidden())));
    b.list_faults.borrow_mut().extend((0..50).map(|_| ListFault::Refuse(forbidden())));
    b.drop_streams();
    all.rig.run(5_000);
    let a = all.of("a");
    a.list_faults.borrow_mut().push_back(ListFault::Refuse(Error::new(ErrorCode::OutOfMemory, "no more")));
    a.freeze_streams();
    a.put("a", "first");
    a.expire();
    a.drop_streams();
    all.rig.run(120_000);
    assert_eq!(all.rig.status().error.map(|error| error.code), Some(ErrorCode::OutOfMemory));
    all.rig.resource.resume();
    all.rig.run(5_000);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    assert!(all.rig.status().stale, "{:?}", all.rig.status());
}

#[test]
fn a_list_before_the_first_has_a_version_to_watch_from() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| _ = upstream.put(namespace, "first"));
    all.rig.resource.start();
    let (keys, version) = all.rig.list(ListOptions { wait: true, ..ListOptions::default() }).unwrap();
    assert_eq!((keys.len(), version), (2, all.rig.version()));
    assert!(version > 0);
}

#[test]
fn a_refresh_does_not_wait_for_one_that_is_refused_meanwhile_or_taken_away() {
    for refused in [true, false] {
        let all = Namespaces::new(&["a", "b"]);
        let b = all.of("b");
        b.latency.set(5_000);
        b.list_faults.borrow_mut().extend((0..9).map(|_| ListFault::Refuse(forbidden())));
        let done = Rc::new(Cell::new(false));
        let (refreshed, told) = (all.rig.resource.clone().refresh(), done.clone());
        all.rig.time.spawn(Box::pin(async move { told.set(refreshed.await.is_ok()) }));
        all.rig.run(0);
        assert!(!done.get(), "b has not answered");
        if refused {
            all.rig.run(6_000)
        } else {
            all.set(&["a"]);
            &all.rig
        };
        assert!(done.get());
    }
}

/// Whatever happens to each of them: nothing is lost, told twice or out of order, and in the end all is held that is there.
#[test]
fn law_01_no_loss_over_random_lives_of_several_namespaces() {
    for seed in 1..60 {
        let setup = Setup::seeded(seed);
        let all = Namespaces::idle(&setup, &["a", "b", "c"], move |namespace, upstream| {
            upstream.latency.set(if namespace == "c" && seed % 2 == 0 { 2_000 } else { 20 });
            (0..3).for_each(|number| _ = upstream.put(namespace, &format!("p{number}")));
        });
        let mut random = fastrand::Rng::with_seed(seed);
        all.rig.resource.start();
        all.rig.run(random.u64(0..500));
        let watch = all.rig.watch(initial(None, true, false));
        let view = all.rig.view(&ViewOptions::default());
        let mut names = vec!["a", "b", "c"];
        for _ in 0..60 {
            let upstream = all.of(names[random.usize(0..names.len())]);
            let namespace = upstream.namespace.borrow().clone().unwrap();
            let name = format!("p{}", random.u8(0..6));
            match random.u8(0..10) {
                0..=4 => _ = upstream.put(&namespace, &name),
                5 if upstream.state().contains_key(&format!("{namespace}/{name}")) => _ = upstream.delete(&namespace, &name),
                6 => upstream.drop_streams(),
                7 => {
                    upstream.expire();
                    upstream.drop_streams();
                }
                8 => upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Error::network("down"))),
                9 if random.u8(0..3) == 0 => {
                    names = ["a", "b", "c", "d"].into_iter().filter(|_| random.bool()).chain(["e"]).collect();
                    all.rig.resource.set_namespaces(&owned(&names)).unwrap();
                }
                _ => {}
            }
            all.rig.run(random.u64(0..200));
            if random.u8(0..8) == 0 {
                let outcome = check(&all);
                assert!(!matches!(outcome, Outcome::Failure(_)), "seed {seed}: {outcome:?}");
            }
        }
        all.rig.resource.resume();
        all.rig.run(600_000);
        names.iter().for_each(|name| all.of(name).list_faults.borrow_mut().clear());
        let checked = check(&all);
        assert!(matches!(checked, Outcome::Success(_)), "seed {seed}: {checked:?}");
        let mut there: Vec<(String, u64)> = Vec::new();
        for name in &names {
            there.extend(all.of(name).state().iter().map(|(key, object)| (key.clone(), object.0)));
        }
        there.sort();
        let held: Vec<_> = all.rig.rows().into_iter().map(|(key, (version, _))| (key, version)).collect();
        assert_eq!(held, there, "seed {seed}: {:?}", all.rig.status());
        let keys: Vec<_> = there.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(without_versions(all.rig.view_rows(view)), keys, "seed {seed}");
        assert_eq!(all.rig.ended(watch), None, "seed {seed}");
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        for event in all.rig.client.news(watch).into_iter().filter(|event| event.is_change()) {
            match event.kind {
                EventKind::Added => assert!(told.insert(event.key.clone(), event.own).is_none(), "seed {seed}: {event:?} twice"),
                EventKind::Modified => assert!(told.insert(event.key.clone(), event.own).is_some(), "seed {seed}: {event:?} of nothing"),
                EventKind::Deleted => assert!(told.remove(&event.key).is_some(), "seed {seed}: {event:?} of nothing"),
                _ => {}
            }
        }
        assert_eq!(told.into_iter().collect::<Vec<_>>(), there, "seed {seed}");
    }
}
