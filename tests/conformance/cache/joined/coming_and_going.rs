//! Namespaces that come and go, and lists of which some are there before others.

use std::cell::Cell;
use std::rc::Rc;

use watchcache::cache::{ListOptions, signal};
use watchcache::connection::Phase;
use watchcache::informer::InformerOptions;
use watchcache::runtime::Spawn;
use watchcache::source::WriteParameters;
use watchcache::status::{Error, ErrorCode};
use watchcache::view::ViewOptions;
use watchcache::watch::EventKind;

use super::*;
use crate::helpers::informed::Informed;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, WatchFault};
use crate::{after, initial};

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

#[test]
fn one_whose_watch_waits_is_told_also_when_the_last_list_is_there() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
        match namespace {
            "a" => upstream.watch_faults.borrow_mut().extend((0..99).map(|_| WatchFault::Refuse(Error::network("no watch")))),
            _ => upstream.latency.set(20_000),
        }
    });
    all.rig.resource.start();
    all.rig.run(0);
    while all.rig.status().resource_version.is_none() {
        assert_eq!(all.rig.status().phase, Phase::Reconnecting, "of the first list, too");
        all.rig.run(10);
    }
    let status = all.rig.status();
    assert_eq!(all.branches()[0], ("a".into(), Phase::Reconnecting, Some(ErrorCode::Network)));
    assert_eq!((status.phase, status.stale, status.error.map(|error| error.code)), (Phase::Reconnecting, true, Some(ErrorCode::Network)));
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
fn a_list_before_the_first_has_a_version_to_watch_from() {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| _ = upstream.put(namespace, "first"));
    all.rig.resource.start();
    let (keys, version) = all.rig.list(ListOptions { wait: true, ..ListOptions::default() }).unwrap();
    assert_eq!((keys.len(), version), (2, all.rig.version()));
    assert!(version > 0);
}
