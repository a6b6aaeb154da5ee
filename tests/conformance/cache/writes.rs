//! Writes through the resource: what is sent, what is tried again, and what is held when they are done.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Value, json};
use watchcache::cache::{Failure, Written};
use watchcache::connection::Phase;
use watchcache::object::Object;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::{DeleteOptions, Preconditions, WriteParameters, WriteRequest};
use watchcache::status::{Cause, Details, Error, ErrorCode, Status};
use watchcache::watch::WatchOptions;

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::writes::WriteFault;
use crate::helpers::upstream::{ListFault, Upstream, WatchFault};

/// One object, `ns/a` at version 101.
pub(super) fn one(upstream: &Upstream) {
    upstream.put_with("ns", "a", &[("app", "web")], &json!({"count": 1, "text": "kept"}));
}

pub(super) fn rig() -> Rig {
    Rig::new(Setup::default(), one)
}

pub(super) fn parse(object: &Object) -> Value {
    serde_json::from_slice(&object.text()).unwrap()
}

fn count_up(object: &Rc<Object>) -> Result<Option<Vec<u8>>, String> {
    let mut object = parse(object);
    object["spec"]["count"] = (object["spec"]["count"].as_u64().unwrap() + 1).into();
    Ok(Some(object.to_string().into_bytes()))
}

type Changed = Result<Rc<Object>, Failure<String>>;

/// The object that a write was answered with.
pub(super) fn object_of(written: Written) -> Rc<Object> {
    written.object().expect("an object")
}

/// The document of another kind that a write was answered with.
pub(super) fn document_of(written: Written) -> Value {
    match written {
        Written::Document(document) => serde_json::from_slice(&document).unwrap(),
        Written::Object(object) => panic!("an object: {object:?}"),
    }
}

fn update_of(rig: &Rig, key: &str, change: impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, String>) -> Changed {
    rig.wait(rig.resource.clone().update(key.into(), WriteParameters::default(), change)).map(object_of)
}

fn update(rig: &Rig, change: impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, String>) -> Changed {
    update_of(rig, "ns/a", change)
}

/// Another client's creation.
pub(super) fn create_request(document: &str) -> WriteRequest {
    WriteRequest::Create { namespace: "ns".into(), of: None, document: document.into(), parameters: WriteParameters::default() }
}

fn create(rig: &Rig, object: &Value) -> Result<Rc<Object>, Error> {
    rig.wait(rig.resource.clone().create(object.to_string().into_bytes(), WriteParameters::default())).map(object_of)
}

pub(super) fn delete(rig: &Rig, preconditions: Preconditions) -> Result<(), Error> {
    rig.wait(rig.resource.clone().delete("ns/a".into(), DeleteOptions { preconditions, ..DeleteOptions::default() }))
}

fn refused(result: Changed) -> Error {
    match result.unwrap_err() {
        Failure::Refused(error) => error,
        Failure::Thrown(text) => panic!("thrown: {text}"),
    }
}

/// What is held under a key, as text.
pub(super) fn peek(rig: &Rig, key: &str) -> Option<String> {
    rig.resource.with(|cacher| cacher.store().get(key).map(|object| format!("{object:?}")))
}

pub(super) fn asked(rig: &Rig) -> Vec<String> {
    rig.upstream.writes.taken()
}

pub(super) fn fail(rig: &Rig, fault: WriteFault) {
    rig.upstream.writes.fail(fault);
}

pub(super) fn new_pod() -> Value {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "ns", "name": "new"}})
}

// ------------------------------------------------------------------------------------------------- create

#[test]
fn a_created_object_is_the_one_that_is_held_then() {
    let rig = rig();
    let created = create(&rig, &new_pod()).unwrap();
    assert_eq!(peek(&rig, "ns/new").unwrap(), "ns/new@102");
    assert!(rig.resource.with(|cacher| Rc::ptr_eq(cacher.store().get("ns/new").unwrap(), &created)));
    assert_eq!(asked(&rig), ["POST new"]);
}

#[test]
fn the_upstream_may_make_up_the_name() {
    let rig = rig();
    let created = create(&rig, &json!({"metadata": {"namespace": "ns", "generateName": "job-"}})).unwrap();
    assert_eq!((&**created.key(), peek(&rig, "ns/job-101").unwrap().as_str()), ("ns/job-101", "ns/job-101@102"));
}

#[test]
fn nothing_shows_a_write_before_its_event() {
    let rig = rig();
    rig.upstream.freeze_streams();
    let stream = rig.watch(WatchOptions { resource_version: Some("101".into()), ..WatchOptions::default() });
    let writing = rig.resource.clone().create(new_pod().to_string().into_bytes(), WriteParameters::default());
    let done = Rc::new(Cell::new(None));
    let (result, clock) = (done.clone(), rig.time.clone());
    rig.time.spawn(Box::pin(async move {
        let object = object_of(writing.await.expect("a write that has happened is no failure"));
        result.set(Some((format!("{object:?}"), clock.elapsed())));
    }));
    let began = rig.time.elapsed();
    rig.run(2999);
    assert!(rig.upstream.object("ns/new").is_some(), "written upstream");
    assert_eq!((peek(&rig, "ns/new"), rig.heard(stream).len(), done.take()), (None, 0, None));
    // The stream says nothing: at the limit of every wait for a version the upstream's answer has to do.
    rig.run(1);
    assert_eq!((peek(&rig, "ns/new"), done.take()), (None, Some(("ns/new@102".into(), began + 3000))));
}

#[test]
fn a_creation_whose_answer_is_lost_is_not_tried_again() {
    let rig = rig();
    fail(&rig, WriteFault::Lost);
    let error = create(&rig, &new_pod()).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Network, "connection reset by peer; whether the write has happened is not known")
    );
    assert_eq!(asked(&rig), ["POST new"]);
}

#[test]
fn a_write_that_was_never_sent_has_not_happened() {
    let rig = rig();
    let refusal = Error::network("auth failed: signed out").unsent();
    fail(&rig, WriteFault::Refuse(refusal.clone()));
    assert_eq!(create(&rig, &new_pod()).unwrap_err(), refusal, "nothing is said of a write that may have happened");
}

#[test]
fn what_exists_is_not_created_again() {
    let rig = rig();
    let error = create(&rig, &json!({"metadata": {"namespace": "ns", "name": "a"}})).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Conflict, r#"pods "a" already exists"#));
    assert_eq!(asked(&rig), ["POST a"], "a conflict of a creation is an answer");
}

#[test]
fn what_cannot_be_created_is_not_sent() {
    let rig = rig();
    for (document, message) in [
        (r#"{"metadata":{"name":"x","resourceVersion":"7"}}"#, "resourceVersion should not be set on objects to be created"),
        (r#"{"metadata":{"name":"a/b"}}"#, "metadata.name: Invalid value: \"a/b\": may not contain '/'"),
        ("[]", "the object cannot be read: "),
        ("", "the object cannot be read: "),
    ] {
        let error = rig.wait(rig.resource.clone().create(document.into(), WriteParameters::default())).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
        assert!(error.message.starts_with(message), "{document}: {}", error.message);
    }
    assert_eq!(asked(&rig), Vec::<String>::new());
}

// ------------------------------------------------------------------------------------------------- update

#[test]
fn the_object_held_is_the_first_guess() {
    let rig = rig();
    let changed = update(&rig, count_up).unwrap();
    assert_eq!(parse(&changed)["spec"], json!({"count": 2, "text": "kept"}));
    assert_eq!(peek(&rig, "ns/a").unwrap(), "ns/a@102");
    assert!(rig.resource.with(|cacher| Rc::ptr_eq(cacher.store().get("ns/a").unwrap(), &changed)));
    assert_eq!(asked(&rig), ["PUT ns/a@101"], "nothing was read for it");
}

#[test]
fn a_conflict_is_tried_again_with_the_newest() {
    let rig = rig();
    rig.upstream.freeze_streams(); // what is held stays old
    rig.upstream.put_with("ns", "a", &[("app", "web"), ("by", "another")], &json!({"count": 10, "text": "kept"}));
    let mut shown = Vec::new();
    let changed = update(&rig, |object| {
        shown.push(format!("{object:?}"));
        count_up(object)
    });
    let changed = parse(&changed.unwrap());
    assert_eq!((&changed["spec"]["count"], &changed["metadata"]["labels"]["by"]), (&json!(11), &json!("another")));
    assert_eq!(shown, ["ns/a@101", "ns/a@102"]);
    assert_eq!(asked(&rig), ["PUT ns/a@101", "GET ns/a", "PUT ns/a@102"]);
}

#[test]
fn a_conflict_that_news_cannot_cure_is_told() {
    let rig = rig();
    let error = refused(update(&rig, |object| {
        let mut object = parse(object);
        object["metadata"]["uid"] = "another".into();
        Ok(Some(object.to_string().into_bytes()))
    }));
    assert_eq!(error.code, ErrorCode::Conflict);
    assert_eq!(error.status.unwrap().reason, "Conflict");
    assert_eq!(asked(&rig), ["PUT ns/a@101", "GET ns/a"], "what was sent was made from the newest");
}

#[test]
fn an_update_that_meets_a_conflict_each_time_ends_within_a_minute() {
    let rig = rig();
    let upstream = rig.upstream.clone();
    let began = rig.time.elapsed();
    let error = refused(update(&rig, |object| {
        one(&upstream); // somebody is always quicker
        count_up(object)
    }));
    let (tries, took) = (asked(&rig).len() / 2, rig.time.elapsed() - began);
    assert_eq!(error.code, ErrorCode::Conflict);
    assert!((60_000..60_250).contains(&took), "{took} ms");
    assert!((240..600).contains(&tries), "{tries} tries, each at most a quarter of a second after the last");
}

#[test]
fn a_function_that_fails_on_an_old_guess_is_called_once_more_with_the_newest() {
    let picky = |object: &Rc<Object>| if parse(object)["spec"]["count"] == 1 { Err("not yet".to_string()) } else { count_up(object) };
    let old = rig();
    old.upstream.freeze_streams();
    old.upstream.put_with("ns", "a", &[], &json!({"count": 5}));
    assert_eq!(parse(&update(&old, picky).unwrap())["spec"]["count"], 6);
    assert_eq!(asked(&old), ["GET ns/a", "PUT ns/a@102"]);

    // The guess is the newest: its failure stands, and the function is not asked again.
    let newest = rig();
    let mut calls = 0;
    let failed = update(&newest, |object| {
        calls += 1;
        picky(object)
    });
    assert_eq!((failed.unwrap_err(), calls), (Failure::Thrown("not yet".into()), 1));
    assert_eq!(asked(&newest), ["GET ns/a"]);

    // Twice is enough.
    let both = rig();
    both.upstream.freeze_streams();
    one(&both.upstream);
    assert_eq!(update(&both, picky).unwrap_err(), Failure::Thrown("not yet".into()));
    assert_eq!(asked(&both), ["GET ns/a"]);
}

fn invalid() -> Error {
    let mut status = Status::new(422, "Invalid", "Pod \"a\" is invalid: spec.count: Invalid value: 2: too many");
    let cause = Cause { reason: "FieldValueInvalid".into(), message: "Invalid value: 2: too many".into(), field: "spec.count".into() };
    status.details = Some(Details { causes: vec![cause], ..Details::default() });
    status.into()
}

#[test]
fn a_change_that_is_refused_as_invalid_counts_only_when_it_was_made_from_the_newest() {
    let old = rig();
    old.upstream.freeze_streams();
    one(&old.upstream);
    fail(&old, WriteFault::Refuse(invalid()));
    update(&old, count_up).unwrap();
    assert_eq!(asked(&old), ["PUT ns/a@101", "GET ns/a", "PUT ns/a@102"]);

    let newest = rig();
    fail(&newest, WriteFault::Refuse(invalid()));
    let error = refused(update(&newest, count_up));
    assert_eq!(error.code, ErrorCode::Invalid);
    assert_eq!(error.status.unwrap().details.unwrap().causes[0].field, "spec.count");
    assert_eq!(asked(&newest), ["PUT ns/a@101", "GET ns/a"]);
}

#[test]
fn an_object_is_left_alone_only_after_a_look_at_the_newest() {
    let enough = |object: &Rc<Object>| if parse(object)["spec"]["count"] == 1 { Ok(None) } else { count_up(object) };
    let current = rig();
    let left = update(&current, enough).unwrap();
    assert!(current.resource.with(|cacher| Rc::ptr_eq(cacher.store().get("ns/a").unwrap(), &left)));
    assert_eq!(asked(&current), ["GET ns/a"]);

    let old = rig();
    old.upstream.freeze_streams();
    old.upstream.put_with("ns", "a", &[], &json!({"count": 8}));
    assert_eq!(parse(&update(&old, enough).unwrap())["spec"]["count"], 9);
    assert_eq!(asked(&old), ["GET ns/a", "PUT ns/a@102"]);
}

#[test]
fn what_is_not_held_is_read_first() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.upstream.freeze_streams();
    one(&rig.upstream);
    update(&rig, count_up).unwrap();
    assert_eq!(asked(&rig), ["GET ns/a", "PUT ns/a@101"]);
    let error = refused(update_of(&rig, "ns/none", count_up));
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotFound, r#"pods "none" not found"#));
}

#[test]
fn an_object_that_is_gone_is_not_found() {
    let rig = rig();
    rig.upstream.freeze_streams();
    rig.upstream.delete("ns", "a");
    assert_eq!(refused(update(&rig, count_up)).code, ErrorCode::NotFound);
    assert_eq!(asked(&rig), ["PUT ns/a@101"]);
}

#[test]
fn the_write_replaces_the_version_that_was_shown_whatever_the_function_gives() {
    let rig = rig();
    update(&rig, |object| {
        let mut object = parse(object);
        object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        object["spec"]["count"] = 4.into();
        Ok(Some(object.to_string().into_bytes()))
    })
    .unwrap();
    assert_eq!(asked(&rig), ["PUT ns/a@101"]);
}

#[test]
fn a_change_that_changes_nothing_makes_no_version() {
    let rig = rig();
    let same = update(&rig, |object| Ok(Some(object.text().to_vec()))).unwrap();
    assert_eq!((format!("{same:?}"), rig.upstream.version()), ("ns/a@101".into(), 101));
}

#[test]
fn a_field_that_was_stripped_is_not_lost_upstream() {
    let rig = Rig::new(Setup { strip: vec!["metadata.managedFields", "spec.text"], ..Setup::default() }, one);
    assert_eq!(parse(&rig.resource.with(|cacher| cacher.store().get("ns/a").cloned()).unwrap())["spec"], json!({"count": 1}));
    let changed = update(&rig, count_up).unwrap();
    assert_eq!(rig.upstream.object("ns/a").unwrap()["spec"], json!({"count": 2, "text": "kept"}));
    assert_eq!(parse(&changed)["spec"], json!({"count": 2}), "the answer is as it is held");
    assert_eq!(asked(&rig), ["GET ns/a", "PUT ns/a@101"], "what is held is no whole object, so it is no guess");
}

#[test]
fn managed_fields_may_be_stripped_because_servers_keep_them() {
    let rig = Rig::new(Setup { strip: vec!["metadata.managedFields"], ..Setup::default() }, |upstream| {
        let object = json!({"metadata": {"namespace": "ns", "name": "a", "managedFields": [{"manager": "kubelet"}]}, "spec": {"count": 1}});
        upstream.answer_write(&create_request(&object.to_string())).unwrap();
    });
    update(&rig, |object| {
        assert!(parse(object)["metadata"].get("managedFields").is_none());
        count_up(object)
    })
    .unwrap();
    assert_eq!(asked(&rig), ["PUT ns/a@101"]);
    assert_eq!(rig.upstream.object("ns/a").unwrap()["metadata"]["managedFields"], json!([{"manager": "kubelet"}]));
}

#[test]
fn a_source_that_only_lists_is_listed_for_the_newest() {
    let rig = Rig::new(Setup { page_size: 2, ..Setup::default() }, |upstream| {
        for name in ["0", "1", "2", "3"] {
            upstream.put("ns", name);
        }
        one(upstream);
    });
    rig.upstream.writes.only_lists.set(true);
    rig.upstream.freeze_streams();
    one(&rig.upstream);
    update(&rig, count_up).unwrap();
    assert_eq!(asked(&rig), ["PUT ns/a@105", "PUT ns/a@106"]);
    let error = refused(update_of(&rig, "ns/none", count_up));
    assert_eq!(error.code, ErrorCode::NotFound);

    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    let began = rig.time.elapsed();
    let error = refused(update_of(&rig, "ns/none", count_up));
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Timeout, "no answer came within 60000 ms"));
    assert_eq!(rig.time.elapsed() - began, 60_000);
}

#[test]
fn a_function_may_do_anything_to_the_cache_meanwhile() {
    let rig = rig();
    let (resource, heard) = (rig.resource.clone(), Cell::new(0));
    update(&rig, |object| {
        let stream = rig.watch(WatchOptions::default());
        heard.set(resource.with(|cacher| cacher.store().len()));
        rig.stop(stream);
        resource.pause();
        resource.resume();
        count_up(object)
    })
    .unwrap();
    assert_eq!((heard.get(), asked(&rig)), (1, vec!["PUT ns/a@101".to_string()]));

    let closed = refused(update(&rig, |object| {
        resource.close();
        count_up(object)
    }));
    assert_eq!((closed.code, asked(&rig)), (ErrorCode::Closed, Vec::new()), "what was closed writes no more");
}

// ------------------------------------------------------------------------------------------------- refusals

fn unauthorized() -> WriteFault {
    WriteFault::Refuse(Status::new(401, "Unauthorized", "Unauthorized").into())
}

#[test]
fn credentials_are_asked_for_once_more() {
    let rig = rig();
    fail(&rig, unauthorized());
    update(&rig, count_up).unwrap();
    assert_eq!(asked(&rig), ["PUT ns/a@101", "PUT ns/a@101"]);
    for _ in 0..2 {
        fail(&rig, unauthorized());
    }
    assert_eq!(refused(update(&rig, count_up)).code, ErrorCode::Unauthorized);
    assert_eq!(asked(&rig), ["PUT ns/a@102", "PUT ns/a@102"]);
}

fn throttled(seconds: u32) -> WriteFault {
    WriteFault::Refuse(Status::too_many_requests("slow down", seconds).into())
}

#[test]
fn a_write_that_is_told_when_to_come_back_is_tried_again_then() {
    let rig = rig();
    for _ in 0..3 {
        fail(&rig, throttled(2));
    }
    let began = rig.time.elapsed();
    create(&rig, &new_pod()).unwrap();
    assert_eq!((rig.time.elapsed() - began, asked(&rig).len()), (6000, 4));
}

#[test]
fn a_write_is_tried_again_at_most_ten_times() {
    let rig = rig();
    for _ in 0..11 {
        fail(&rig, throttled(1));
    }
    let error = create(&rig, &new_pod()).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds, asked(&rig).len()), (ErrorCode::TooManyRequests, Some(1), 11));

    // Beyond what a call may take, the caller hears it at once.
    let began = rig.time.elapsed();
    fail(&rig, throttled(61));
    assert_eq!(create(&rig, &new_pod()).unwrap_err().retry_after_seconds, Some(61));
    assert_eq!((rig.time.elapsed() - began, asked(&rig).len()), (0, 1));
}

#[test]
fn a_write_that_is_not_told_when_to_come_back_is_tried_again_after_a_second() {
    // As a page sees it whose origin may not read the header.
    let rig = rig();
    fail(&rig, WriteFault::Refuse(Status::new(429, "TooManyRequests", "HTTP 429: Too many requests").into()));
    let began = rig.time.elapsed();
    create(&rig, &new_pod()).unwrap();
    assert_eq!((rig.time.elapsed() - began, asked(&rig).len()), (1000, 2));
}

#[test]
fn other_refusals_are_told_as_they_are() {
    let rig = rig();
    for (status, code) in [
        (Status::new(403, "Forbidden", "pods is forbidden"), ErrorCode::Forbidden),
        (Status::new(400, "BadRequest", "no"), ErrorCode::Invalid),
        (Status::new(500, "InternalError", "etcd"), ErrorCode::Unavailable),
        (Status::new(503, "ServiceUnavailable", "starting"), ErrorCode::Unavailable),
        (Status::new(504, "Timeout", "request did not complete"), ErrorCode::Timeout),
    ] {
        fail(&rig, WriteFault::Refuse(status.clone().into()));
        let error = create(&rig, &new_pod()).unwrap_err();
        assert_eq!((error.code, &error.message, error.status.as_deref()), (code, &status.message, Some(&status)));
    }
    assert_eq!(asked(&rig).len(), 5, "each is told at once: a 5xx does not say that nothing happened");
}

#[test]
fn a_server_that_does_not_answer_is_given_a_minute() {
    let rig = rig();
    fail(&rig, WriteFault::Hang);
    let began = rig.time.elapsed();
    let error = create(&rig, &new_pod()).unwrap_err();
    assert_eq!((error.code, rig.time.elapsed() - began), (ErrorCode::Timeout, 60_000));
    assert_eq!(error.message, "no answer came within 60000 ms; whether the write has happened is not known");
}

#[test]
fn an_answer_that_is_no_object_says_that_the_write_was_taken() {
    let rig = rig();
    fail(&rig, WriteFault::Answer("<html>"));
    let error = create(&rig, &new_pod()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Decode);
    assert!(error.message.starts_with("the write was taken, but its answer cannot be read: "), "{}", error.message);
}

#[test]
fn a_paused_stream_is_not_waited_for() {
    let rig = rig();
    rig.resource.pause();
    rig.run(0);
    let began = rig.time.elapsed();
    assert_eq!(format!("{:?}", update(&rig, count_up).unwrap()), "ns/a@102");
    assert_eq!((rig.time.elapsed() - began, peek(&rig, "ns/a").unwrap().as_str()), (0, "ns/a@101"));
    delete(&rig, Preconditions::default()).unwrap();
    assert_eq!((rig.time.elapsed() - began, peek(&rig, "ns/a").unwrap().as_str()), (0, "ns/a@101"));
}

#[test]
fn a_stream_that_is_paused_while_a_write_waits_is_waited_for_no_longer() {
    let rig = rig();
    rig.upstream.freeze_streams();
    let began = rig.time.elapsed();
    let (resource, pause) = (rig.resource.clone(), rig.time.sleep(1_000));
    rig.time.spawn(Box::pin(async move {
        pause.await;
        resource.pause();
    }));
    update(&rig, count_up).unwrap();
    let waited = rig.time.elapsed() - began;
    assert!((1_000..=1_100).contains(&waited), "{waited} ms");
}

#[test]
fn a_stream_that_never_began_is_not_waited_for() {
    let rig = Rig::idle(Setup::default(), one);
    let began = rig.time.elapsed();
    assert_eq!(format!("{:?}", update(&rig, count_up).unwrap()), "ns/a@102");
    assert_eq!(rig.time.elapsed() - began, 0);
}

#[test]
fn a_stream_that_the_server_refuses_is_not_waited_for() {
    let rig = rig();
    let refuse = || Error::new(ErrorCode::Forbidden, "pods is forbidden");
    rig.upstream.watch_faults.borrow_mut().extend((0..50).map(|_| WatchFault::Refuse(refuse())));
    rig.upstream.list_faults.borrow_mut().extend((0..50).map(|_| ListFault::Refuse(refuse())));
    rig.upstream.drop_streams();
    rig.run(60_000);
    assert_eq!(rig.status().phase, Phase::Failed);
    let began = rig.time.elapsed();
    assert_eq!(format!("{:?}", update(&rig, count_up).unwrap()), "ns/a@102");
    assert_eq!(rig.time.elapsed() - began, 0);
}

/// Whoever signs in writes next.
#[test]
fn a_stream_that_is_asked_for_again_after_a_refusal_is_waited_for() {
    let rig = rig();
    let refused = || WatchFault::Refuse(Status::new(401, "Unauthorized", "no").into());
    rig.upstream.watch_faults.borrow_mut().extend([refused(), refused(), WatchFault::Hang]);
    rig.upstream.drop_streams();
    while rig.status().phase != Phase::NeedsAuth {
        rig.run(10);
    }
    rig.resource.resume();
    let began = rig.time.elapsed();
    assert_eq!(format!("{:?}", update(&rig, count_up).unwrap()), "ns/a@102");
    assert_eq!((rig.status().phase, rig.time.elapsed() - began), (Phase::NeedsAuth, 3_000), "nobody has answered it yet");
}

#[test]
fn a_closed_resource_writes_nothing() {
    let rig = rig();
    rig.resource.close();
    assert_eq!(create(&rig, &new_pod()).unwrap_err().code, ErrorCode::Closed);
    assert_eq!(delete(&rig, Preconditions::default()).unwrap_err().code, ErrorCode::Closed);
    assert_eq!(asked(&rig), Vec::<String>::new());
}
