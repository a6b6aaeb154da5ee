//! Whether the cacher can answer, as seen from outside.

use std::rc::Rc;

use watchcache::cache::{ListOptions, signal};
use watchcache::connection::Phase;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::watch::{Demand, EndReason, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::ListFault;
use crate::{after, said};

fn broken_upstream() -> Rig {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "x");
        for _ in 0..3 {
            upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(500, "InternalError", "etcd is down").into()));
        }
    });
    rig.resource.start();
    rig
}

#[test]
fn rdy_12_a_start_that_fails_lets_nobody_hang() {
    let rig = broken_upstream();
    let early = rig.watch_as(after(0), false, Demand::All);
    rig.run(0);
    assert_eq!(rig.ended(early), Some(EndReason::Error));
    assert_eq!(said(&rig.refusal(early).unwrap()), (ErrorCode::TooManyRequests, 429, "TooManyRequests", "storage is (re)initializing"));
    let late = rig.watch_as(after(0), false, Demand::All);
    rig.run(0);
    let refusal = rig.refusal(late).unwrap();
    assert_eq!(said(&refusal).3, "storage is (re)initializing: etcd is down");
    assert_eq!(refusal.retry_after_seconds, Some(1));
    assert_eq!((rig.heard(late), rig.ended(late)), (vec![], Some(EndReason::Error)));
    let list = rig.list(ListOptions { resource_version: Some("0".into()), wait: false, ..ListOptions::default() });
    assert_eq!(said(&list.unwrap_err()).0, ErrorCode::TooManyRequests);
}

#[test]
fn rdy_12_a_request_that_waits_is_served_when_the_upstream_works_again() {
    let rig = broken_upstream();
    let patient = rig.watch(after(0));
    assert_eq!((rig.heard(patient), rig.ended(patient)), (vec![], None));
    assert_eq!(rig.wait(rig.resource.clone().synced()), Ok(()));
    assert_eq!(rig.heard(patient), ["ADDED a/x@101"]);

    let rig = broken_upstream();
    let listed = rig.list(ListOptions { resource_version: Some("0".into()), wait: true, ..ListOptions::default() }).unwrap();
    assert_eq!(listed.0, ["a/x@101"]);
    let lists = rig.upstream.requests.borrow().iter().filter(|request| request.is_list()).count();
    assert_eq!(lists, 4, "the cache's own: three that failed, and the one that it waited for");
}

#[test]
fn rdy_13_nothing_is_served_after_the_close_and_open_streams_end_without_an_error() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let open = rig.watch(after(101));
    rig.client.signals.set(0);
    rig.resource.close();
    assert_eq!((rig.heard(open), rig.ended(open), rig.resume_from(open)), (vec![], Some(EndReason::Closed), Some(101)));
    assert_eq!(rig.client.signals.get(), signal::STATUS, "a close is a change of the status");
    let late = rig.watch(after(0));
    assert_eq!((rig.heard(late), rig.ended(late)), (vec![], Some(EndReason::Error)));
    assert_eq!(rig.refusal(late).unwrap().code, ErrorCode::Closed);
    // An apiserver would ask its storage instead; here the upstream is somebody else's, and closed means closed.
    let closed = |result: Result<(), Error>| assert_eq!(result.unwrap_err().code, ErrorCode::Closed);
    for version in [None, Some("0"), Some("1")] {
        closed(rig.get("a/x", version).map(drop));
        closed(rig.list(ListOptions { resource_version: version.map(Into::into), wait: true, ..ListOptions::default() }).map(drop));
    }
    closed(rig.wait(rig.resource.clone().synced()));
    closed(rig.wait(rig.resource.clone().refresh()));
    assert_eq!((rig.status().phase, rig.upstream.connections()), (Phase::Closed, 0));
}

/// A callback closes in the midst of changes that have arrived already.
#[test]
fn rdy_13_what_is_under_way_at_the_close_is_dropped() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let blocked = rig.watch_as(WatchOptions { buffer_size: Some(1), ..after(100) }, true, Demand::None);
    let reader = rig.watch(after(100));
    *rig.client.between.borrow_mut() = Some(Rc::new(|resource| resource.close()));
    for name in ["a", "b", "c", "d", "e"] {
        rig.upstream.put("ns", name);
    }
    assert_eq!((rig.heard(reader), rig.ended(reader)), (vec!["ADDED ns/a@101".into(), "ADDED ns/b@102".into()], Some(EndReason::Closed)));
    rig.run(1000);
    assert_eq!((rig.rows().len(), rig.version()), (0, 102));
    rig.demand(blocked, Demand::All);
    assert_eq!((rig.heard(blocked), rig.ended(blocked)), (vec!["ADDED ns/a@101".into()], Some(EndReason::Closed)));
}

#[test]
fn rdy_13_a_request_that_waits_at_the_close_is_told() {
    let rig = Rig::idle(Setup::default(), |upstream| upstream.list_faults.borrow_mut().push_back(ListFault::Hang));
    rig.resource.start();
    let waiting = rig.watch(WatchOptions::default());
    let (synced, list) = (rig.resource.clone().synced(), rig.resource.clone().list(ListOptions { wait: true, ..ListOptions::default() }));
    let closing = async {
        rig.resource.close();
    };
    let (synced, list, ()) = rig.wait(async { futures::join!(synced, list, closing) });
    assert_eq!(synced.unwrap_err().code, ErrorCode::Closed);
    assert_eq!(list.map(drop).unwrap_err().code, ErrorCode::Closed);
    assert_eq!((rig.heard(waiting), rig.ended(waiting)), (vec![], Some(EndReason::Closed)));
    rig.run(600_000);
    assert_eq!(rig.upstream.connections(), 0);
}
