//! Namespaces that the server refuses.

use std::cell::Cell;
use std::rc::Rc;

use watchcache::cache::{Outcome, signal};
use watchcache::connection::Phase;
use watchcache::informer::InformerOptions;
use watchcache::runtime::Spawn;
use watchcache::source::{DeleteOptions, WriteParameters};
use watchcache::status::{Error, ErrorCode, Status};

use super::*;
use crate::after;
use crate::helpers::informed::Informed;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::{ListFault, WatchFault};

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
    refuse_from_now_on(&all, "b");
    all.rig.run(60_000);
    assert_eq!(all.keys(), ["a/first", "b/first"]);
    let status = all.rig.status();
    assert_eq!((status.phase, status.stale), (Phase::Live, true));
    assert_eq!(all.branches()[1], ("b".into(), Phase::Failed, Some(ErrorCode::Forbidden)));
}

#[test]
fn a_write_does_not_wait_for_a_stream_that_is_refused() {
    let all = Namespaces::new(&["a", "b"]);
    refuse_from_now_on(&all, "b");
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
fn a_write_does_not_wait_for_a_stream_whose_next_try_is_after_its_patience() {
    let all = Namespaces::new(&["a", "b"]);
    let (b, later) = (all.of("b"), || Error::from(Status::too_many_requests("later", 300)));
    b.list_faults.borrow_mut().extend((0..9).map(|_| ListFault::Refuse(later())));
    b.watch_faults.borrow_mut().extend((0..9).map(|_| WatchFault::Refuse(later())));
    b.drop_streams();
    all.rig.run(5_000);
    assert_eq!(all.branches()[1], ("b".into(), Phase::Reconnecting, Some(later().code)));
    let began = all.rig.time.elapsed();
    let document = br#"{"metadata":{"namespace":"b","name":"mine"}}"#.to_vec();
    all.rig.wait(all.rig.resource.clone().create(document, WriteParameters::default())).unwrap();
    assert_eq!(all.rig.time.elapsed() - began, 0);
}

#[test]
fn a_namespace_that_is_refused_is_not_compared() {
    let all = with_one_refused();
    assert!(matches!(check(&all), Outcome::Success(_)));
    ghost(&all, "a");
    assert!(matches!(check(&all), Outcome::Failure(_)));
    assert!(matches!(check(&Namespaces::new(&[])), Outcome::Success(_)));
    // Nor is one whose rows are from before.
    let all = Namespaces::new(&["a", "b"]);
    ghost(&all, "b");
    refuse_from_now_on(&all, "b");
    all.rig.run(60_000);
    assert_eq!(all.keys(), ["a/first", "b/first", "b/ghost"]);
    assert!(matches!(check(&all), Outcome::Success(_)));
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
    refuse_from_now_on(&all, "b");
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
