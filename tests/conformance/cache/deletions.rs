//! Deletions through the resource: what is waited for until they show, and what is checked upstream.

use serde_json::json;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::{DeleteOptions, Preconditions};
use watchcache::status::ErrorCode;

use super::writes::{asked, create_request as create, delete, one, parse, peek, rig};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::Request;

#[test]
fn what_was_deleted_is_held_no_longer() {
    for gives_deleted in [false, true] {
        let rig = rig();
        rig.upstream.writes.gives_deleted.set(gives_deleted);
        rig.upstream.latency.set(20);
        delete(&rig, Preconditions::default()).unwrap();
        assert_eq!(peek(&rig, "ns/a"), None);
        assert_eq!(asked(&rig), ["DELETE ns/a"]);
    }
}

#[test]
fn a_deletion_that_the_stream_does_not_tell_of_in_time_has_happened_all_the_same() {
    for gives_deleted in [false, true] {
        let rig = rig();
        rig.upstream.writes.gives_deleted.set(gives_deleted);
        rig.upstream.freeze_streams();
        let began = rig.time.elapsed();
        delete(&rig, Preconditions::default()).unwrap();
        assert_eq!((rig.time.elapsed() - began, peek(&rig, "ns/a").as_deref()), (3000, Some("ns/a@101")));
    }
}

#[test]
fn what_ends_gracefully_is_marked_and_stays() {
    let rig = rig();
    rig.upstream.writes.graceful.set(true);
    delete(&rig, Preconditions::default()).unwrap();
    let held = rig.resource.with(|cacher| cacher.store().get("ns/a").cloned()).unwrap();
    assert!(parse(&held)["metadata"]["deletionTimestamp"].is_string());
}

#[test]
fn preconditions_are_checked_upstream() {
    let rig = rig();
    let uid = |uid: &str| Preconditions { uid: Some(uid.into()), resource_version: None };
    let version = |version: &str| Preconditions { uid: None, resource_version: Some(version.into()) };
    for wrong in [uid("another"), version("100")] {
        let error = delete(&rig, wrong).unwrap_err();
        assert_eq!(error.code, ErrorCode::Conflict);
        assert!(error.message.contains("in the precondition"), "{}", error.message);
    }
    assert!(peek(&rig, "ns/a").is_some());
    delete(&rig, Preconditions { uid: Some("ns/a".into()), ..version("101") }).unwrap();
    assert_eq!(peek(&rig, "ns/a"), None);
    let error = delete(&rig, Preconditions::default()).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotFound, r#"pods "a" not found"#));
}

#[test]
fn a_deletion_of_what_was_not_held_yet_waits_for_the_stream_a_little() {
    // The stream comes from a replica that hears of nothing for a while.
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.pass(2000);
        upstream.behind.set(1000);
    });
    one(&rig.upstream);
    rig.upstream.behind.set(0);
    let began = rig.time.elapsed();
    let upstream = rig.upstream.clone();
    let wait = rig.time.sleep(100);
    rig.time.spawn(Box::pin(async move {
        wait.await;
        upstream.catch_up();
    }));
    delete(&rig, Preconditions::default()).unwrap();
    assert_eq!(rig.time.elapsed() - began, 100, "both events came at once then");
    assert_eq!((peek(&rig, "ns/a"), rig.version()), (None, 2102));
}

#[test]
fn the_object_that_follows_under_the_same_name_is_not_waited_for() {
    let rig = rig();
    let upstream = rig.upstream.clone();
    let deleting = rig.resource.clone().delete("ns/a".into(), DeleteOptions::default());
    let began = rig.time.elapsed();
    rig.upstream.freeze_streams();
    rig.time.spawn(Box::pin(async move {
        deleting.await.unwrap();
    }));
    rig.run(0);
    // The stream comes back with the deletion and a new object at once.
    let object = json!({"metadata": {"namespace": "ns", "name": "a"}}).to_string();
    upstream.answer_write(&create(&object)).unwrap();
    upstream.drop_streams();
    rig.run(2500);
    assert_eq!(peek(&rig, "ns/a").unwrap(), "ns/a@103");
    assert!(rig.time.elapsed() - began < 3000);
}

/// To wait for the held object would say nothing of the deleted one.
#[test]
fn a_deletion_of_another_object_than_is_held_waits_for_the_upstreams_version() {
    let rig = rig();
    rig.upstream.freeze_streams();
    rig.upstream.delete("ns", "a");
    let second = json!({"metadata": {"namespace": "ns", "name": "a", "uid": "second"}}).to_string();
    rig.upstream.answer_write(&create(&second)).unwrap();
    rig.upstream.requests.borrow_mut().clear();
    let deleting = rig.resource.clone().delete("ns/a".into(), DeleteOptions::default());
    rig.time.spawn(Box::pin(async move { deleting.await.unwrap() }));
    rig.run(0);
    let limit = |request: &Request| matches!(request, Request::List(_, list) if list.limit == Some(1));
    assert_eq!(rig.upstream.requests.borrow().iter().filter(|request| limit(request)).count(), 1);
    rig.upstream.drop_streams();
    rig.run(2500);
    assert_eq!((peek(&rig, "ns/a"), rig.version()), (None, 104));
}
