//! Lists and gets, and how long they wait for a version.

use watchcache::cache::{Failure, ListOptions};
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::WriteParameters;
use watchcache::status::ErrorCode;

use crate::cache::lists::{HUGE, dataset};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Upstream};
use crate::{before, said};

fn list(namespace: &str, version: Option<&str>) -> ListOptions {
    ListOptions { resource_version: version.map(Into::into), ..crate::cache::lists::list(namespace) }
}

/// Does this to the upstream after so many milliseconds.
fn later(rig: &Rig, millis: u64, what: impl FnOnce(&Upstream) + 'static) {
    let (timer, upstream) = (rig.time.sleep(millis), rig.upstream.clone());
    rig.time.spawn(Box::pin(async move {
        timer.await;
        what(&upstream);
    }));
}

#[test]
fn get_01_a_get_is_not_older_than_asked() {
    let rig = Rig::new(Setup::default(), |_| {});
    let (created, updated) = (rig.upstream.put("a", "foo"), rig.upstream.put("a", "foo"));
    let other = rig.upstream.put("a", "bar");
    rig.run(0);
    for version in [None, Some("0".into()), Some(created.to_string()), Some(updated.to_string()), Some(other.to_string())] {
        assert_eq!(rig.get("a/foo", version.as_deref()).unwrap(), format!("a/foo@{updated}"), "{version:?}");
    }
    let began = rig.time.elapsed();
    let error = rig.get("a/foo", Some(HUGE)).unwrap_err();
    assert_eq!(rig.time.elapsed() - began, 3000);
    let message = format!("Timeout: Too large resource version: {HUGE}, current: {other}");
    assert_eq!(said(&error), (ErrorCode::Timeout, 504, "Timeout", message.as_str()));
    assert_eq!(error.retry_after_seconds, Some(1));
    let unreadable = rig.get("a/foo", Some("x")).unwrap_err();
    let (code, status, reason, message) = said(&unreadable);
    assert_eq!((code, status, reason), (ErrorCode::Invalid, 500, ""));
    assert!(message.starts_with("resourceVersion: Invalid value: \"x\""), "{message}");
}

#[test]
fn get_02_key_02_a_missing_key_is_404_and_what_is_no_key_400() {
    for progress in [false, true] {
        let rig = dataset(progress);
        for version in [None, Some("0")] {
            let error = rig.get("second/baz", version).unwrap_err();
            assert_eq!(said(&error), (ErrorCode::NotFound, 404, "NotFound", "pods \"baz\" not found"));
            let details = error.status.unwrap().details.unwrap();
            assert_eq!((details.name.as_deref(), details.kind.as_deref(), details.group), (Some("baz"), Some("pods"), None));
        }
        let nameless = rig.get("second/", None).unwrap_err();
        assert_eq!(said(&nameless), (ErrorCode::Invalid, 400, "BadRequest", "resource name may not be empty"));
        assert_eq!(rig.get("second/..", None).unwrap_err().message, "invalid key: \"/second/..\"");
    }
}

#[test]
fn frs_01_a_list_waits_until_its_version_is_reached() {
    let rig = Rig::new(Setup::window(3), |_| {});
    for (millis, name) in [(100, "foo"), (200, "bar"), (300, "baz")] {
        later(&rig, millis, move |upstream| {
            upstream.put("a", name);
        });
    }
    assert_eq!(rig.list(list("", Some("103"))), Ok((vec!["a/bar@102".into(), "a/baz@103".into(), "a/foo@101".into()], 103)));
    assert_eq!(rig.time.elapsed(), 300);
}

#[test]
fn frs_05_progress_alone_makes_it_fresh_enough() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.upstream.put("a", "foo");
    later(&rig, 50, |upstream| {
        upstream.pass(1);
        upstream.bookmark();
    });
    assert_eq!(rig.list(list("", Some("102"))), Ok((vec!["a/foo@101".into()], 102)));
}

#[test]
fn frs_06_a_get_waits_until_its_version_is_reached() {
    let rig = Rig::new(Setup::default(), |_| {});
    for (millis, name, version) in [(100, "foo", 102), (1000, "bar", 105)] {
        later(&rig, millis, move |upstream| {
            before(upstream, version);
            upstream.put("a", name);
        });
    }
    assert_eq!(rig.get("a/bar", Some("105")), Ok("a/bar@105".into()));
    assert_eq!((rig.time.elapsed(), rig.version()), (1000, 105));
    assert_eq!(rig.get("a/foo", Some("0")), Ok("a/foo@102".into()));
    assert_eq!(rig.time.elapsed(), 1000, "what is there does not wait");
}

#[test]
fn frs_09_before_the_first_list_a_read_waits_for_it() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "foo");
        upstream.latency.set(400);
    });
    let impatient = rig.list(ListOptions { wait: false, ..list("", Some("0")) }).unwrap_err();
    assert_eq!(said(&impatient), (ErrorCode::TooManyRequests, 429, "TooManyRequests", "storage is (re)initializing"));
    rig.resource.start();
    assert_eq!(rig.list(list("", Some("101"))), Ok((vec!["a/foo@101".into()], 101)));
    assert_eq!(rig.list(list("", None)), Ok((vec!["a/foo@101".into()], 101)));
}

#[test]
fn frs_10_no_object_of_a_list_is_newer_than_the_list() {
    let newest = |objects: &[String]| objects.iter().map(|text| text.split_once('@').unwrap().1.parse::<u64>().unwrap()).max();
    let rig = Rig::new(Setup::default(), |_| {});
    for round in 0..200 {
        rig.upstream.put("a", &format!("pod{}", round % 7));
        if round % 3 == 0 {
            rig.run(0);
        }
        let (objects, version) = rig.list(list("", (round % 2 == 0).then_some("0"))).unwrap();
        assert!(newest(&objects).is_none_or(|newest| newest <= version));
        assert!(round % 2 == 0 || version == rig.upstream.version());
        // Each version is one write, so the state of a version has an object at it.
        let past = 101 + round / 2;
        let exact = ListOptions { resource_version_match: Some("Exact".into()), ..list("", Some(&past.to_string())) };
        let (objects, version) = rig.list(exact).unwrap();
        assert_eq!((version, newest(&objects)), (past, Some(past)));
    }
}

#[test]
fn pg_a_list_of_the_upstream_that_goes_in_circles_is_an_error() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    rig.upstream.pass(1);
    let page = r#"{"metadata":{"resourceVersion":"102","continue":"again"},"items":[]}"#;
    let faults = [ListFault::None, ListFault::Body(page.into()), ListFault::Body(page.into())];
    rig.upstream.list_faults.borrow_mut().extend(faults);
    let error = rig.list(list("", None)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Protocol);
    assert!(error.message.contains("goes in circles"), "{error}");
    assert_eq!(rig.list(list("", None)), Ok((vec!["a/x@101".into()], 102)));
}

#[test]
fn pg_a_get_and_an_update_refuse_a_list_that_comes_back_to_an_earlier_token() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    rig.upstream.writes.only_lists.set(true);
    let circle = || {
        let page = |token| format!(r#"{{"metadata":{{"resourceVersion":"102","continue":"{token}"}},"items":[]}}"#);
        ["A", "B", "A"].map(|token| ListFault::Body(page(token).into_bytes()))
    };
    rig.upstream.list_faults.borrow_mut().extend(circle());
    let error = rig.get("a/none", None).unwrap_err();
    assert_eq!(error.code, ErrorCode::Protocol, "{error}");
    assert!(error.message.contains("goes in circles"), "{error}");
    rig.upstream.list_faults.borrow_mut().extend(circle());
    let change = |_: &_| Ok::<_, String>(None);
    match rig.wait(rig.resource.clone().update("a/none".into(), WriteParameters::default(), change)) {
        Err(Failure::Refused(error)) => assert!(error.message.contains("goes in circles"), "{error}"),
        other => panic!("{other:?}"),
    }
}
