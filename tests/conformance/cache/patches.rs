//! Patches and dry runs through the resource: what is sent, what is refused before, and what is held when they are done.

use std::rc::Rc;

use serde_json::{Value, json};
use watchcache::object::Object;
use watchcache::source::{DeleteOptions, Patch, PatchType, WriteParameters, WriteRequest};
use watchcache::status::{Error, ErrorCode, Status};

use super::writes::{asked, document_of, fail, new_pod, object_of, parse, peek, rig};
use crate::helpers::rig::Rig;
use crate::helpers::upstream::writes::{Asked, WriteFault};

fn by_me() -> WriteParameters {
    WriteParameters { field_manager: Some("me".into()), ..WriteParameters::default() }
}

fn dry() -> WriteParameters {
    WriteParameters { dry_run: true, ..WriteParameters::default() }
}

fn patch_as(rig: &Rig, kind: PatchType, document: &Value, parameters: WriteParameters) -> Result<Rc<Object>, Error> {
    let patch = Patch { kind, document: document.to_string().into_bytes(), force: false };
    rig.wait(rig.resource.clone().patch("ns/a".into(), patch, parameters)).map(object_of)
}

fn patch(rig: &Rig, document: &Value) -> Result<Rc<Object>, Error> {
    patch_as(rig, PatchType::Merge, document, WriteParameters::default())
}

#[test]
fn a_patch_is_made_upstream_and_shows_once_it_is_done() {
    let rig = rig();
    rig.upstream.latency.set(20);
    let patched = patch(&rig, &json!({"spec": {"count": 7}})).unwrap();
    assert_eq!(peek(&rig, "ns/a").as_deref(), Some("ns/a@102"));
    let held = rig.resource.with(|cacher| cacher.store().get("ns/a").cloned()).unwrap();
    assert!(Rc::ptr_eq(&held, &patched), "what is answered is what is held");
    assert_eq!(parse(&patched)["spec"], json!({"count": 7, "text": "kept"}));
    assert_eq!(asked(&rig), ["PATCH ns/a Merge"], "nothing is read for it");
}

#[test]
fn a_patch_carries_its_document_byte_for_byte() {
    let rig = rig();
    let document = br#"{ "spec" : {"big": 12345678901234567890, "text": "\u00e9"}}"#.to_vec();
    let patch = Patch { kind: PatchType::Apply, document: document.clone(), force: true };
    rig.wait(rig.resource.clone().patch("ns/a".into(), patch.clone(), by_me())).unwrap();
    let sent = rig.upstream.writes.asked.take().pop();
    let Some(Asked::Write(WriteRequest::Patch { object, patch: sent, parameters })) = sent else { panic!("{sent:?}") };
    assert_eq!((object.name.as_str(), &sent, &parameters), ("a", &patch, &by_me()));
}

#[test]
fn a_patch_that_no_server_would_take_is_not_sent() {
    let rig = rig();
    let operations = json!([{"op": "remove", "path": "/spec/count"}]);
    let fields = json!({"spec": {}});
    let plain = WriteParameters::default;
    let mut told = Vec::new();
    for (kind, document, parameters) in [
        (PatchType::Json, &fields, plain()),
        (PatchType::Merge, &operations, plain()),
        (PatchType::Apply, &operations, by_me()),
        (PatchType::Apply, &fields, plain()),
        (PatchType::Apply, &fields, WriteParameters { field_manager: Some(String::new()), ..plain() }),
    ] {
        let error = patch_as(&rig, kind, document, parameters).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
        told.push(error.message.split(':').next().unwrap().to_owned());
    }
    let array = r#"a patch of type "json" is an array of operations, such as [{ op"#;
    let operations = r#"operations are a patch of type "json""#;
    let manager = r#"a patch of type "apply" needs a fieldManager"#;
    assert_eq!(told, [array, operations, operations, manager, manager]);
    let error = patch_as(&rig, PatchType::Merge, &json!("text"), plain()).unwrap_err();
    assert_eq!(error.message, r#"a patch is an object, and of type "json" an array of operations"#);
    let forced = Patch { kind: PatchType::Merge, document: b"{}".to_vec(), force: true };
    let error = rig.wait(rig.resource.clone().patch("ns/a".into(), forced, plain())).unwrap_err();
    assert_eq!(error.message, r#"force is for patches of type "apply": no other type knows who owns a field"#);
    let of_nothing = Patch { kind: PatchType::Merge, document: b"{}".to_vec(), force: false };
    let error = rig.wait(rig.resource.clone().patch("ns/".into(), of_nothing, plain())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid);
    assert!(asked(&rig).is_empty());
}

#[test]
fn what_becomes_of_a_patch_is_the_upstreams_answer() {
    let rig = rig();
    fail(&rig, WriteFault::Refuse(Status::new(409, "Conflict", "field owned by another").into()));
    let error = patch(&rig, &json!({})).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Conflict, "field owned by another"));
    fail(&rig, WriteFault::Lost);
    let error = patch(&rig, &json!({"spec": {"count": 9}})).unwrap_err();
    assert_eq!(error.message, "connection reset by peer; whether the write has happened is not known");
    assert_eq!(asked(&rig), ["PATCH ns/a Merge", "PATCH ns/a Merge"], "neither is tried again: it may add what it added before");
}

#[test]
fn a_patch_that_changes_nothing_makes_no_version() {
    let rig = rig();
    let patched = patch(&rig, &json!({"spec": {"count": 1}})).unwrap();
    assert_eq!(format!("{patched:?}"), "ns/a@101");
}

#[test]
fn a_dry_run_keeps_nothing_and_waits_for_nothing() {
    let rig = rig();
    rig.upstream.freeze_streams();
    let began = rig.time.elapsed();
    let created = rig.wait(rig.resource.clone().create(new_pod().to_string().into_bytes(), dry())).map(document_of).unwrap();
    assert_eq!(created["metadata"]["name"], "new");
    let five = Patch { kind: PatchType::Merge, document: br#"{"spec":{"count":5}}"#.to_vec(), force: false };
    let patched = rig.wait(rig.resource.clone().patch("ns/a".into(), five, dry())).map(document_of).unwrap();
    assert_eq!(patched["spec"]["count"], 5, "as it would be");
    let count_up = |object: &Rc<Object>| {
        let mut object = parse(object);
        object["spec"]["count"] = 3.into();
        Ok::<_, String>(Some(object.to_string().into_bytes()))
    };
    let updated = rig.wait(rig.resource.clone().update("ns/a".into(), dry(), count_up)).map(document_of).unwrap();
    assert_eq!(updated["spec"]["count"], 3);
    let options = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    rig.wait(rig.resource.clone().delete("ns/a".into(), options)).unwrap();
    assert_eq!(rig.time.elapsed() - began, 0, "the stream has nothing to bring");
    assert_eq!((peek(&rig, "ns/a").as_deref(), peek(&rig, "ns/new")), (Some("ns/a@101"), None));
    assert_eq!(rig.upstream.object("ns/a").unwrap()["spec"]["count"], 1);
    assert_eq!(asked(&rig), ["POST new?", "PATCH ns/a? Merge", "PUT ns/a?@101", "DELETE ns/a"]);
}
