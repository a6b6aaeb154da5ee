//! What is held of several namespaces, told, listed, written and compared.

use std::collections::BTreeMap;

use watchcache::cache::{ListOptions, MIN_CHECK_INTERVAL_MS, Outcome};
use watchcache::connection::Phase;
use watchcache::source::{DeleteOptions, WriteParameters};
use watchcache::status::{Error, ErrorCode};
use watchcache::view::ViewOptions;
use watchcache::watch::EventKind;

use super::*;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::ListFault;
use crate::{after, initial};

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
