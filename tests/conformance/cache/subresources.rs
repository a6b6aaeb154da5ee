//! Subresources through the resource, and deletions of many: what is asked, and what is waited for until they show.

use std::rc::Rc;

use serde_json::{Value, json};
use watchcache::cache::{Deleting, Failure};
use watchcache::object::Object;
use watchcache::source::{DeleteOptions, Narrow, WriteParameters};
use watchcache::status::ErrorCode;

use super::writes::{asked, document_of, fail, one, parse, peek, rig};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::writes::WriteFault;

fn of(subresource: &str) -> WriteParameters {
    WriteParameters { subresource: Some(subresource.into()), ..WriteParameters::default() }
}

fn scale_to(replicas: u32) -> impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, String> {
    move |scale| {
        let mut scale = parse(scale);
        assert_eq!(scale["kind"], "Scale");
        scale["spec"]["replicas"] = replicas.into();
        Ok(Some(scale.to_string().into_bytes()))
    }
}

#[test]
fn a_subresource_is_read_from_the_upstream() {
    let rig = rig();
    let scale = rig.wait(rig.resource.clone().get_subresource("ns/a".into(), "scale".into())).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&scale).unwrap()["spec"], json!({"replicas": 1}));
    let error = rig.wait(rig.resource.clone().get_subresource("ns/b".into(), "scale".into())).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert_eq!(asked(&rig), ["GET ns/a/scale", "GET ns/b/scale"]);
}

#[test]
fn an_update_of_a_subresource_begins_with_the_newest_of_it_and_shows_in_the_object() {
    let rig = rig();
    rig.upstream.latency.set(20);
    let scaled = rig.wait(rig.resource.clone().update("ns/a".into(), of("scale"), scale_to(4))).map(document_of).unwrap();
    assert_eq!((&scaled["kind"], &scaled["spec"]["replicas"]), (&json!("Scale"), &json!(4)));
    let held = rig.resource.with(|cacher| cacher.store().get("ns/a").cloned()).unwrap();
    assert_eq!((format!("{held:?}").as_str(), &parse(&held)["spec"]["count"]), ("ns/a@102", &json!(4)));
    assert_eq!(asked(&rig), ["GET ns/a/scale", "PUT ns/a/scale@101"]);
    // The object held is no scale: nothing of it is shown to the function.
    let unchanged = rig.wait(rig.resource.clone().update("ns/a".into(), of("scale"), |_: &Rc<Object>| Ok::<_, String>(None)));
    assert_eq!(unchanged.map(document_of).unwrap()["spec"]["replicas"], 4);
    assert_eq!(asked(&rig), ["GET ns/a/scale"]);
}

#[test]
fn an_update_of_a_subresource_meets_conflicts_as_one_of_the_object_does() {
    let rig = rig();
    let upstream = rig.upstream.clone();
    let mut shown = Vec::new();
    let change = |scale: &Rc<Object>| {
        shown.push(format!("{scale:?}"));
        if shown.len() == 1 {
            one(&upstream);
        }
        scale_to(9)(scale)
    };
    let scaled = rig.wait(rig.resource.clone().update("ns/a".into(), of("scale"), change)).map(document_of).unwrap();
    assert_eq!(scaled["spec"]["replicas"], 9);
    assert_eq!(shown, ["ns/a@101", "ns/a@102"]);
}

#[test]
fn a_status_is_written_with_the_whole_object_around_it() {
    let rig = rig();
    let change = |object: &Rc<Object>| {
        let mut object = parse(object);
        object["status"] = json!({"phase": "Failed"});
        Ok::<_, String>(Some(object.to_string().into_bytes()))
    };
    let updated = rig.wait(rig.resource.clone().update("ns/a".into(), of("status"), change)).unwrap().object().unwrap();
    assert_eq!(parse(&updated)["status"]["phase"], "Failed");
    assert_eq!(asked(&rig), ["PUT ns/a/status@101"], "what is held is the first guess");
}

#[test]
fn a_source_without_single_objects_has_no_subresources() {
    let rig = rig();
    rig.upstream.writes.only_lists.set(true);
    match rig.wait(rig.resource.clone().update("ns/a".into(), of("scale"), scale_to(2))) {
        Err(Failure::Refused(error)) => assert_eq!(error.code, ErrorCode::Invalid),
        other => panic!("{other:?}"),
    }
    assert!(asked(&rig).is_empty());
}

#[test]
fn an_eviction_is_over_when_the_pod_shows_it() {
    for graceful in [false, true] {
        let rig = rig();
        rig.upstream.writes.graceful.set(graceful);
        rig.upstream.latency.set(20);
        let eviction = json!({"kind": "Eviction", "metadata": {"namespace": "ns", "name": "a"}});
        let answer = rig.wait(rig.resource.clone().create(eviction.to_string().into_bytes(), of("eviction"))).unwrap();
        assert_eq!(document_of(answer)["kind"], "Status");
        let held = rig.resource.with(|cacher| cacher.store().get("ns/a").cloned());
        assert_eq!(held.is_some_and(|held| parse(&held)["metadata"]["deletionTimestamp"].is_string()), graceful);
        assert_eq!(peek(&rig, "ns/a").is_some(), graceful);
        assert_eq!(asked(&rig), ["POST a/eviction", "GET ns/a"]);
    }
}

#[test]
fn an_eviction_in_a_resource_of_one_namespace_need_not_name_it() {
    let rig = rig();
    rig.upstream.namespace.replace(Some("ns".into()));
    rig.upstream.freeze_streams();
    let began = rig.time.elapsed();
    let eviction = json!({"kind": "Eviction", "metadata": {"name": "a"}}).to_string().into_bytes();
    rig.wait(rig.resource.clone().create(eviction, of("eviction"))).unwrap();
    assert_eq!(asked(&rig), ["POST a/eviction", "GET ns/a"]);
    assert_eq!(rig.time.elapsed() - began, 3000, "its end was waited for");
}

#[test]
fn a_subresource_leads_nowhere_else() {
    let rig = rig();
    for name in ["", ".", "..", "a/b"] {
        let error = rig.wait(rig.resource.clone().get_subresource("ns/a".into(), name.into())).unwrap_err();
        assert_eq!((error.code, error.message), (ErrorCode::Invalid, format!("{name:?} is the name of no subresource")));
        let eviction = json!({"metadata": {"namespace": "ns", "name": "a"}}).to_string().into_bytes();
        assert_eq!(rig.wait(rig.resource.clone().create(eviction, of(name))).unwrap_err().code, ErrorCode::Invalid);
        assert!(rig.wait(rig.resource.clone().update("ns/a".into(), of(name), scale_to(2))).is_err());
    }
    assert!(asked(&rig).is_empty());
}

#[test]
fn what_is_made_in_an_object_names_it() {
    let rig = rig();
    let nameless = json!({"metadata": {"namespace": "ns", "generateName": "x-"}}).to_string().into_bytes();
    let error = rig.wait(rig.resource.clone().create(nameless, of("eviction"))).unwrap_err();
    assert_eq!(error.message, "metadata.name says whose eviction it is, and it is missing");
    assert!(asked(&rig).is_empty());
}

fn several() -> Rig {
    Rig::new(Setup::default(), |upstream| {
        upstream.put_with("ns", "a", &[("app", "web")], &json!({}));
        upstream.put_with("ns", "b", &[("app", "db")], &json!({}));
        upstream.put_with("other", "c", &[("app", "web")], &json!({}));
    })
}

fn delete_all(rig: &Rig, labels: &str, dry_run: bool) {
    let narrow = Narrow { namespace: Some("ns".into()), labels: Some(labels.into()), ..Narrow::default() };
    let options = DeleteOptions { dry_run, ..DeleteOptions::default() };
    rig.wait(rig.resource.clone().delete_collection(Deleting { narrow, options })).unwrap();
}

#[test]
fn what_was_deleted_together_is_held_no_longer() {
    let rig = several();
    rig.upstream.latency.set(20);
    delete_all(&rig, "app=web", true);
    assert_eq!(peek(&rig, "ns/a").as_deref(), Some("ns/a@101"), "a dry run deletes nothing");
    delete_all(&rig, "app=web", false);
    assert_eq!((peek(&rig, "ns/a"), rig.resource.with(|cacher| cacher.store().len())), (None, 2));
    assert_eq!(asked(&rig), ["DELETE ns/* app=web", "DELETE ns/* app=web"]);
}

#[test]
fn what_ends_gracefully_is_waited_for_until_it_is_marked_and_not_twice() {
    let rig = several();
    rig.upstream.writes.graceful.set(true);
    rig.upstream.latency.set(20);
    delete_all(&rig, "app=web", false);
    let held = rig.resource.with(|cacher| cacher.store().get("ns/a").cloned()).unwrap();
    assert!(parse(&held)["metadata"]["deletionTimestamp"].is_string());
    let began = rig.time.elapsed();
    delete_all(&rig, "app=web", false);
    assert!(rig.time.elapsed() - began < 3000, "it was ending before, and nothing more comes of it");
}

/// Servers mark a pod before they delete it, and answer with what it was before both. A newer version than that is no end.
#[test]
fn what_was_deleted_together_is_waited_for_until_it_is_gone_and_not_until_it_is_marked() {
    let rig = several();
    rig.upstream.freeze_streams();
    let began = rig.time.elapsed();
    let before = r#"{"kind":"PodList","metadata":{"resourceVersion":"104"},"items":[{"metadata":{"namespace":"ns","name":"a","uid":"ns/a","resourceVersion":"100"}}]}"#;
    fail(&rig, WriteFault::Answer(before));
    delete_all(&rig, "app=web", false);
    assert_eq!((rig.time.elapsed() - began, peek(&rig, "ns/a").as_deref()), (3000, Some("ns/a@101")));
}

#[test]
fn a_stream_that_is_silent_is_waited_for_no_longer_than_for_one() {
    let rig = several();
    rig.upstream.freeze_streams();
    let began = rig.time.elapsed();
    delete_all(&rig, "app=web", false);
    assert_eq!(rig.time.elapsed() - began, 3000);
    assert!(rig.upstream.object("ns/a").is_none());
}
