//! What watchers and readers see while the loop of list and watch goes round.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::cache::{ListOptions, signal};
use watchcache::connection::Phase;
use watchcache::metrics::{FAMILIES, series_name};
use watchcache::source::WatchRequest;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::store::{IndexBy, IndexSpec};
use watchcache::view::ViewOptions;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Request, Upstream, WatchFault};
use crate::{after, said};

fn one_pod(upstream: &Upstream) {
    upstream.put("a", "x");
}

fn counts(upstream: &Upstream) -> (usize, usize) {
    let requests = upstream.requests.borrow();
    let lists = requests.iter().filter(|request| request.is_list()).count();
    (lists, requests.len() - lists)
}

/// What a list is told that does not wait.
fn refusal(rig: &Rig) -> Error {
    rig.list(ListOptions { resource_version: Some("0".into()), wait: false, ..ListOptions::default() }).unwrap_err()
}

fn metric(rig: &Rig, name: &str) -> f64 {
    let mut found = None;
    rig.resource.with(|cacher| {
        cacher.metrics().each(&cacher.metrics_now(), &mut |family, suffix, labels, value| {
            if series_name(FAMILIES[family].name, suffix, labels) == name {
                found = Some(value);
            }
        });
    });
    found.expect(name)
}

/// The round is over, and the next has not begun. Watchers stay and hear nothing, and new requests are told to come again. When the next
/// round begins, the watchers end without an error. When its list is there, the cacher is ready.
#[test]
fn between_two_rounds_watchers_stay_and_nobody_new_is_served() {
    let rig = Rig::new(Setup::default(), one_pod);
    let open = rig.watch(after(101));
    rig.run(2000);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Status::new(403, "Forbidden", "not any more").into()));
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    rig.upstream.drop_streams();
    rig.upstream.put("a", "y");
    rig.run(700);
    assert_eq!((rig.heard(open), rig.ended(open)), (vec![], None));
    let late = rig.watch_as(after(101), false, Demand::All);
    assert_eq!(rig.ended(late), Some(EndReason::Error));
    let refused = rig.refusal(late).unwrap();
    assert_eq!(said(&refused), (ErrorCode::TooManyRequests, 429, "TooManyRequests", "storage is (re)initializing: not any more"));
    assert_eq!(refused.retry_after_seconds, Some(1));
    assert_eq!(said(&refusal(&rig)), said(&refused));
    assert_eq!(rig.rows().len(), 1, "what is held stays");
    rig.run(900);
    assert_eq!((rig.heard(open), rig.ended(open), rig.resume_from(open)), (vec![], Some(EndReason::Relist), Some(101)));
    assert_eq!(said(&refusal(&rig)).3, "storage is (re)initializing: not any more", "ready only with the list");
    rig.run(95_000);
    assert_eq!((rig.status().phase, rig.rows().len()), (Phase::Live, 2));
}

/// The established watch is opened again, but its version is gone. The round ends with that error, and the store keeps its last state.
#[test]
fn ref_20_a_version_that_is_gone_at_the_reopening_ends_the_round() {
    let rig = Rig::new(Setup::default(), one_pod);
    let open = rig.watch(after(101));
    rig.run(2000);
    let expired = Status::new(410, "Expired", "rv already expired");
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(expired.into()));
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    rig.upstream.drop_streams();
    rig.upstream.put("a", "y");
    rig.run(10);
    assert_eq!(counts(&rig.upstream), (2, 2), "the next round begins with a list at once");
    assert_eq!(said(&refusal(&rig)).3, "storage is (re)initializing: rv already expired");
    assert_eq!(rig.rows().into_keys().collect::<Vec<_>>(), ["a/x"], "what is held stays");
    assert_eq!((rig.heard(open), rig.ended(open), rig.resume_from(open)), (vec![], Some(EndReason::Relist), Some(101)));
    assert!(rig.status().stale);
    rig.run(95_000);
    assert_eq!((rig.status().phase, rig.rows().len()), (Phase::Live, 2));
    assert!(rig.list(ListOptions { resource_version: Some("0".into()), wait: false, ..ListOptions::default() }).is_ok());
}

#[test]
fn rdy_10_downtime_makes_retry_after_longer() {
    let rig = Rig::new(Setup::default(), one_pod);
    rig.run(2000);
    rig.upstream.list_faults.borrow_mut().extend((0..20).map(|_| ListFault::Refuse(Status::new(500, "InternalError", "down").into())));
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(0);
    let mut seconds = Vec::new();
    for _ in 0..4 {
        seconds.push(refusal(&rig).retry_after_seconds.unwrap());
        rig.run(20_000);
    }
    assert_eq!(seconds, [1, 3, 11, 30]);
}

/// A stream that ends is followed by another at the last version. It is the same round: nobody is told, and nobody is refused.
#[test]
fn ref_09_a_stream_that_is_opened_again_is_no_new_round() {
    let rig = Rig::new(Setup::default(), one_pod);
    let open = rig.watch(after(101));
    for _ in 0..3 {
        rig.run(70_000); // longer than any wait
        rig.upstream.drop_streams();
        rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Status::too_many_requests("slow down", 1).into()));
        rig.run(0);
        assert!(rig.list(ListOptions { resource_version: Some("0".into()), wait: false, ..ListOptions::default() }).is_ok());
        rig.upstream.put("a", "y");
    }
    rig.run(70_000);
    assert_eq!(rig.heard(open).len(), 3);
    assert_eq!((rig.ended(open), counts(&rig.upstream).0), (None, 1));
}

#[test]
fn ref_10_watchers_outlive_internal_errors_for_thirty_seconds() {
    let rig = Rig::new(Setup::default(), one_pod);
    let open = rig.watch(after(101));
    rig.run(2000);
    for _ in 0..31 {
        rig.upstream.send_error(&Status::internal("etcdserver: leader changed"));
        rig.run(1000);
    }
    assert_eq!((rig.ended(open), counts(&rig.upstream)), (None, (1, 32)));
    rig.upstream.send_error(&Status::internal("etcdserver: leader changed"));
    rig.run(2000);
    assert_eq!((rig.ended(open), counts(&rig.upstream).0), (Some(EndReason::Relist), 2));
}

/// A watch that closes within a second, before anything came, ends the round.
#[test]
fn rf_04_a_very_short_watch_ends_the_round() {
    let rig = Rig::new(Setup::default(), one_pod);
    let open = rig.watch(after(101));
    rig.run(2000);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Close);
    rig.upstream.drop_streams();
    rig.run(100);
    assert_eq!(said(&refusal(&rig)).1, 429);
    assert_eq!(rig.ended(open), None);
    rig.run(1600);
    assert_eq!((rig.ended(open), rig.status().phase), (Some(EndReason::Relist), Phase::Live));
}

#[test]
fn ref_14_a_cache_whose_state_comes_over_the_watch_serves_as_any_other() {
    let rig = Rig::idle(Setup { watch_list: true, ..Setup::default() }, |upstream| {
        upstream.put("a", "x");
        upstream.put("b", "y");
    });
    let early = rig.watch(after(0));
    rig.resource.start();
    rig.run(0);
    assert_eq!(rig.heard(early), ["ADDED a/x@102", "ADDED b/y@102"]);
    rig.upstream.put("a", "z");
    assert_eq!(rig.heard(early), ["ADDED a/z@103"]);
    assert_eq!(rig.list(ListOptions { resource_version: Some("0".into()), ..ListOptions::default() }).unwrap().1, 103);
    let requests = rig.upstream.requests.borrow();
    let [Request::Watch(_, WatchRequest { send_initial_events: Some(true), .. })] = requests.as_slice() else { panic!("{requests:?}") };
}

/// How often the cacher began anew, how often that failed, and how long it took.
#[test]
fn rounds_are_counted() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        one_pod(upstream);
        upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(500, "InternalError", "down").into()));
    });
    rig.resource.start();
    rig.run(2000);
    rig.upstream.put("a", "y");
    rig.upstream.put("a", "z");
    rig.run(0);
    rig.upstream.pass(1);
    rig.upstream.bookmark();
    rig.run(0);
    assert_eq!(metric(&rig, "apiserver_watch_cache_initializations_total"), 1.0);
    assert_eq!(metric(&rig, "apiserver_watch_cache_initialization_errors_total"), 1.0);
    assert_eq!(metric(&rig, "apiserver_watch_cache_events_received_total"), 2.0);
    assert_eq!(metric(&rig, "apiserver_watch_cache_events_dispatched_total"), 3.0, "the bookmark, too");
    assert_eq!(metric(&rig, "apiserver_watch_cache_resource_version"), 104.0);
    rig.upstream.latency.set(500);
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(2000);
    assert_eq!(metric(&rig, "apiserver_watch_cache_initializations_total"), 2.0);
    let took = metric(&rig, "apiserver_watch_cache_initialization_duration_seconds");
    assert!(took > 0.0 && took <= 0.5, "{took}");
}

/// A user who says that the server was reset gets its state. The watchers end as by any other list.
#[test]
fn ref_01_a_reset_server_is_read_anew() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
    });
    let open = rig.watch(after(102));
    // One that outlives relists does not outlive a state whose versions went back.
    let lasting = rig.watch(WatchOptions { on_overflow: OnOverflow::Resync, ..after(102) });
    rig.run(2000);
    rig.upstream.behind.set(1);
    rig.upstream.drop_streams();
    rig.run(2000);
    assert_eq!(rig.wait(rig.resource.clone().reset()), Ok(()));
    assert_eq!((rig.version(), rig.rows().len()), (101, 1));
    assert_eq!((rig.heard(open), rig.ended(open)), (vec![], Some(EndReason::Relist)));
    assert_eq!((rig.heard(lasting), rig.ended(lasting)), (vec![], Some(EndReason::Relist)));
    let late = rig.watch(after(101));
    // It would be silent until the versions have grown as far. One from further on never was of this cache.
    let from_before = rig.watch(after(102));
    let from_elsewhere = rig.watch(after(103));
    assert_eq!(rig.heard(from_before), ["ERROR 410 Expired: too old resource version: 102 (101)"]);
    rig.upstream.catch_up();
    assert_eq!(rig.heard(late), ["ADDED a/y@102"]);
    assert_eq!((rig.heard(from_elsewhere), rig.ended(from_elsewhere)), (vec![], None));
}

/// Changes and what watchers get of them, and how long that takes.
#[test]
fn changes_and_deliveries_are_counted() {
    let rig = Rig::new(Setup::window(2), one_pod);
    rig.run(10_000); // time that slow watchers may cost
    let state = rig.watch(after(0));
    let slow = rig.watch_as(WatchOptions { buffer_size: Some(1), ..after(101) }, true, Demand::None);
    let lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')";
    let shard = rig.watch(WatchOptions { shard_selector: Some(lower.into()), ..after(101) });
    assert_eq!(rig.heard(state).len(), 1);
    assert_eq!(metric(&rig, "apiserver_init_events_total"), 1.0);
    assert_eq!(metric(&rig, "apiserver_watch_shards_total"), 1.0);
    for name in ["b", "c", "d"] {
        rig.upstream.put("a", name);
    }
    rig.run(1000);
    rig.demand(slow, Demand::All); // its end follows what it holds
    assert_eq!(rig.heard(slow).len(), 1);
    assert_eq!((rig.heard(state).len(), rig.ended(slow), rig.heard(shard)), (3, Some(EndReason::Overflow), vec![]));
    assert_eq!(metric(&rig, "apiserver_watch_cache_events_received_total"), 3.0);
    assert_eq!(metric(&rig, "apiserver_terminated_watchers_total"), 1.0);
    assert_eq!(metric(&rig, "apiserver_watch_filtered_events_total"), 3.0);
    let dispatched = |stage: &str| metric(&rig, &format!("apiserver_watch_events_dispatch_duration_seconds_count{{stage=\"{stage}\"}}"));
    assert_eq!((dispatched("storage_to_cache"), dispatched("cache_to_watcher"), dispatched("total")), (3.0, 3.0, 3.0));
    // All of it in less than the tenth of a second that a slow watcher may cost.
    let bucket = "apiserver_watch_events_dispatch_duration_seconds_bucket{stage=\"total\",le=\"0.1\"}";
    assert_eq!(metric(&rig, bucket), 3.0);
}

/// An object comes again and again in a form that cannot be read. Its row stays as it was, the status names it, and all other objects go
/// on. Its first sound version ends that, and watchers hear of it as of any change.
#[test]
fn a_poisoned_object_is_set_apart_and_everything_else_goes_on() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["x", "y", "z"] {
            upstream.put("a", name);
        }
    });
    let view = rig.view(&ViewOptions::default());
    rig.run(2000);
    rig.upstream.spoiled.borrow_mut().0.insert("a/y".into(), Spoil::BadVersion);
    rig.upstream.put("a", "y");
    rig.run(2000);
    assert_eq!(counts(&rig.upstream), (2, 2));
    let open = rig.watch(after(104));
    let stays = rig.watch(WatchOptions { on_overflow: OnOverflow::Resync, ..after(104) });
    for _ in 0..3 {
        rig.upstream.put("a", "y");
        rig.upstream.put("a", "z");
        rig.run(2000);
    }
    let status = rig.status();
    assert_eq!((status.phase, status.stale), (Phase::Live, false));
    assert_eq!(status.quarantined.iter().map(|entry| &*entry.key).collect::<Vec<_>>(), ["a/y"]);
    let error = status.error.unwrap();
    assert!(error.code == ErrorCode::Protocol && error.message.starts_with("a/y cannot be taken: "), "{error}");
    assert_eq!(counts(&rig.upstream), (2, 2), "one list was tried, and no other");
    assert_eq!(rig.view_rows(view), ["a/x@101", "a/y@102", "a/z@110"]);
    assert_eq!(rig.heard(open), ["MODIFIED a/z@106", "MODIFIED a/z@108", "MODIFIED a/z@110"]);
    assert_ne!(rig.client.signals.get() & signal::ERROR, 0);
    rig.client.signals.set(0);
    rig.lose_history(|upstream| {
        upstream.delete("a", "x");
    });
    assert_eq!(rig.view_rows(view), ["a/y@102", "a/z@110"], "nor does a list later on take it away");
    assert_eq!(rig.heard(stays)[3..], ["RESYNC @110", "DELETED a/x@112"]);
    rig.upstream.spoiled.borrow_mut().0.clear();
    rig.upstream.put("a", "y");
    rig.run(0);
    assert_eq!(rig.heard(stays), ["MODIFIED a/y@113"]);
    let status = rig.status();
    assert_eq!((status.quarantined, status.error, rig.rows()), (vec![], None, rig.upstream.state()));
}

/// client-go transforms an object of the initial events twice, since they pass through a store of their own first. Here what is computed of
/// an object is computed once, when it arrives: two initial events, the bookmark, and one more event make three calls.
#[test]
fn wl_14_what_is_computed_of_an_object_is_computed_once() {
    let index = IndexSpec { name: "computed".into(), by: IndexBy::Computed(0) };
    let rig = Rig::idle(Setup { watch_list: true, indexes: vec![index], ..Setup::default() }, |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
    });
    let calls: Rc<RefCell<Vec<String>>> = Rc::default();
    let noted = calls.clone();
    rig.resource.on_index(move |object| {
        noted.borrow_mut().push(format!("{object:?}"));
        [Vec::new().into()].into()
    });
    rig.resource.start();
    rig.run(0);
    rig.upstream.put("a", "x");
    rig.run(0);
    assert_eq!(*calls.borrow(), ["a/x@101", "a/y@102", "a/x@103"]);
    assert_eq!(counts(&rig.upstream), (0, 1));
}
