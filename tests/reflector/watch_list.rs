//! The state over a watch, case by case: initial events instead of a list, and when a list is used after all.

use crate::helpers::replay::{ReflectorRig, Said};
use crate::helpers::scenario::{MINUTE, SECOND, config, fill, list_requests, status, waits};
use crate::helpers::upstream::{Request, Upstream, WatchFault};
use watchcache::change::ChangeKind;
use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;
use watchcache::source::{ListRequest, WatchRequest};
use watchcache::status::{Error, ErrorCode, Status};

fn rig(seed: u64, prepare: impl FnOnce(&Upstream)) -> ReflectorRig {
    ReflectorRig::with(seed, ReflectorConfig { watch_list: true, ..config() }, 0, prepare)
}

fn refuse(rig: &Upstream, errors: impl IntoIterator<Item = Error>) {
    rig.watch_faults.borrow_mut().extend(errors.into_iter().map(WatchFault::Refuse));
}

fn watch_requests(rig: &ReflectorRig) -> Vec<WatchRequest> {
    let requests = rig.upstream.requests.borrow();
    let watches = requests.iter().filter_map(|request| match request {
        Request::Watch(_, watch) => Some(WatchRequest { timeout_seconds: 0, ..watch.clone() }),
        Request::List(..) => None,
    });
    watches.collect()
}

/// A request for the state, not older than a version where one is held.
fn for_state(version: &str) -> WatchRequest {
    WatchRequest {
        resource_version: version.into(),
        history: None,
        resource_version_match: Some("NotOlderThan".into()),
        send_initial_events: Some(true),
        allow_watch_bookmarks: true,
        timeout_seconds: 0,
    }
}

fn for_changes(version: &str) -> WatchRequest {
    WatchRequest { resource_version: version.into(), allow_watch_bookmarks: true, ..WatchRequest::default() }
}

fn pod(kind: &str, name: &str, version: u64) -> String {
    format!(r#"{{"type":"{kind}","object":{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}}}"#)
}

fn bookmark(version: u64, annotation: &str) -> String {
    let annotations = format!(r#"{{"k8s.io/initial-events-end":"{annotation}"}}"#);
    format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}","annotations":{annotations}}}}}}}"#)
}

#[test]
fn ref_14_the_state_comes_over_the_watch_and_the_same_stream_goes_on() {
    let rig = rig(1, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.put("ns", "later");
    rig.run(10).assert_whole();
    assert_eq!(watch_requests(&rig), [for_state("")]);
    assert_eq!(rig.lists(), 0);
    let keys = || vec!["ns/pod0000".to_string(), "ns/pod0001".to_string()];
    let said: Vec<Said> = rig.replay.borrow().said.iter().map(|(_, said)| said.clone()).collect();
    assert_eq!(
        said,
        [
            Said::RoundStarted,
            Said::Connection(Connection::Listing { again: false }),
            Said::Page { keys: keys(), loaded: 2, remaining: None },
            Said::Replace { version: 102, keys: keys() },
            Said::Connection(Connection::Live),
            Said::Change(ChangeKind::Added, "ns/later".into(), 103),
        ]
    );
}

#[test]
fn wl_04_what_changes_before_the_state_is_whole_is_part_of_it() {
    let rig = rig(2, |upstream| {
        for name in ["p1", "p2"] {
            upstream.put("", name);
        }
        upstream.put("", "p1");
        upstream.put("", "p3");
        upstream.delete("", "p3");
    });
    let state = rig.upstream.state();
    let frame = |kind: &str, name: &str| format!(r#"{{"type":"{kind}","object":{}}}"#, state[name].1);
    let frames = vec![
        pod("ADDED", "p1", 101),
        frame("ADDED", "p2"),
        frame("MODIFIED", "p1"),
        pod("ADDED", "p3", 104),
        bookmark(104, "false"), // says how far the server is, and ends nothing
        pod("DELETED", "p3", 105),
        bookmark(105, "true"),
    ];
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(frames));
    rig.run(10).assert_whole();
    let replay = rig.replay.borrow();
    assert_eq!((replay.version, replay.changes().len()), (Some(105), 0));
    assert_eq!(replay.rows.iter().map(|(key, (version, _))| (key.as_str(), *version)).collect::<Vec<_>>(), [("p1", 103), ("p2", 102)]);
}

#[test]
fn many_objects_show_before_the_state_is_whole() {
    let rig = rig(3, |upstream| fill(upstream, 250));
    rig.run(10).assert_whole();
    let replay = rig.replay.borrow();
    let pages: Vec<usize> = replay
        .said
        .iter()
        .filter_map(|(_, said)| match said {
            Said::Page { loaded, .. } => Some(*loaded),
            _ => None,
        })
        .collect();
    assert_eq!(pages, [100, 200, 250]);
}

#[test]
fn wl_02_wl_05_without_the_end_nothing_is_replaced() {
    let rig = rig(4, |upstream| {
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(vec![pod("ADDED", "p1", 1), bookmark(1, "false")]));
    });
    rig.run(80 * SECOND);
    let replay = rig.replay.borrow();
    assert_eq!((replay.replaces(), replay.version, rig.watches(), rig.lists()), (0, None, 1, 0));
}

#[test]
fn ref_16_a_server_without_it_is_listed_in_the_same_round() {
    for error in [status(422, "Invalid"), status(403, "Forbidden"), status(500, "InternalError"), Error::network("connection refused")] {
        let rig = rig(5, |upstream| {
            fill(upstream, 2);
            refuse(upstream, [error.clone()]);
        });
        rig.run(0).assert_whole();
        assert_eq!(list_requests(&rig), [ListRequest { limit: Some(500), ..ListRequest::default() }]);
        assert_eq!(watch_requests(&rig), [for_state(""), for_changes("102")], "{error}");
        assert!(rig.replay.borrow().errors().is_empty(), "the round goes on");
        // The next round asks for it again.
        rig.run(2 * SECOND);
        rig.upstream.send_error(&Status::too_old("1", "2"));
        rig.run(10).assert_whole();
        assert_eq!(watch_requests(&rig)[2..], [for_state("102")]);
    }
}

/// A list would fail as well, and `auth` would be asked twice. So the watch is asked for again, after a wait.
#[test]
fn a_watch_that_was_never_sent_is_no_server_without_it() {
    let rig = rig(14, |upstream| {
        fill(upstream, 2);
        refuse(upstream, [Error::network("auth failed: signed out").unsent()]);
    });
    rig.run(700);
    assert_eq!((rig.lists(), rig.watches(), waits(&rig).len()), (0, 1, 1));
    rig.run(2 * SECOND).assert_whole();
    assert_eq!((rig.lists(), watch_requests(&rig)), (0, vec![for_state(""), for_state("")]));
}

#[test]
fn ref_16_an_error_in_the_stream_leads_to_the_list_too() {
    let error = format!(r#"{{"type":"ERROR","object":{}}}"#, Status::internal("RequestWatchProgress is disabled").to_json());
    for frame in [error, "nonsense".to_string()] {
        let rig = rig(6, |upstream| {
            fill(upstream, 2);
            upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(vec![pod("ADDED", "x", 50), frame.clone()]));
        });
        rig.run(0).assert_whole();
        assert_eq!((rig.lists(), rig.watches()), (1, 2));
    }
}

/// A server whose gate for such watches is off says so, and the list brings what the watch would have.
#[test]
fn lwt_02_a_watch_that_begins_with_the_state_or_is_forbidden() {
    let message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    for off in [false, true] {
        let rig = rig(13, |upstream| {
            upstream.put("", "foo");
            if off {
                refuse(upstream, [Status::new(422, "Invalid", message).into()]);
            }
        });
        rig.run(0).assert_whole();
        let first = &watch_requests(&rig)[0];
        assert_eq!((first.send_initial_events, first.allow_watch_bookmarks), (Some(true), true));
        assert_eq!((rig.lists(), rig.replay.borrow().version), (usize::from(off), Some(101)));
    }
}

#[test]
fn ref_17_too_many_requests_are_waited_for() {
    let rig = rig(7, |upstream| {
        fill(upstream, 1);
        refuse(upstream, [status(429, "TooManyRequests"), status(429, "TooManyRequests")]);
    });
    rig.run(700);
    assert_eq!(rig.watches(), 1);
    rig.run(10 * SECOND).assert_whole();
    assert_eq!(watch_requests(&rig), [for_state(""), for_state(""), for_state("")]);
    assert_eq!((rig.lists(), waits(&rig).len()), (0, 2));
}

#[test]
fn ref_18_a_stream_that_ends_early_is_followed_by_another_from_scratch() {
    for cut in [WatchFault::Cut(2), WatchFault::SayAndClose(vec![pod("ADDED", "ghost", 50)])] {
        let rig = rig(8, |upstream| {
            fill(upstream, 3);
            upstream.watch_faults.borrow_mut().push_back(cut);
        });
        rig.run(0).assert_whole();
        assert_eq!(watch_requests(&rig), [for_state(""), for_state("")]);
        assert_eq!(rig.lists(), 0);
        // After the state is whole, the end of the stream leads to a plain watch from the last version.
        rig.run(2 * SECOND);
        rig.upstream.put("ns", "later");
        rig.run(10);
        rig.upstream.drop_streams();
        rig.run(10).assert_whole();
        assert_eq!(watch_requests(&rig)[2..], [for_changes("104")]);
    }
}

#[test]
fn wl_17_what_an_attempt_brought_does_not_outlive_it() {
    let rig = rig(9, |upstream| {
        fill(upstream, 2);
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(vec![pod("ADDED", "ghost", 50)]));
    });
    // The stream falls silent. It is given up at its deadline, and a list follows.
    rig.run(2 * MINUTE).assert_whole();
    assert_eq!(rig.replay.borrow().rows.len(), 2);
}

#[test]
fn ref_18_a_server_that_always_ends_early_is_left_alone_for_longer() {
    let rig = rig(10, |upstream| {
        fill(upstream, 3);
        upstream.watch_faults.borrow_mut().extend((0..5).map(|_| WatchFault::Cut(1)));
    });
    rig.run(700);
    assert_eq!(rig.watches(), 2);
    rig.run(MINUTE).assert_whole();
    assert_eq!((rig.watches(), rig.lists()), (6, 0));
    let waits: Vec<_> = waits(&rig).into_iter().map(|(code, wait)| (code, wait >= 800)).collect();
    assert_eq!(waits, [(ErrorCode::Network, true); 4]);
}

#[test]
fn ref_20_an_established_watch_that_expires_ends_the_round_and_keeps_the_state() {
    let rig = rig(11, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    refuse(&rig.upstream, [Status::new(410, "Expired", "rv already expired").into()]);
    // The next round gets no state, so that the test sees what is held in between.
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Hang);
    rig.upstream.drop_streams();
    rig.run(10);
    let errors = rig.replay.borrow().errors();
    assert_eq!(errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(), ["rv already expired"]);
    assert_eq!((rig.replay.borrow().rows.len(), rig.replay.borrow().version), (3, Some(103)));
    assert_eq!(watch_requests(&rig), [for_state(""), for_changes("103"), for_state("103")]);
}

#[test]
fn a_version_that_the_server_cannot_serve_is_left_out_at_once() {
    for error in [Status::too_old("102", "110"), Status::too_large("102", "7")] {
        let rig = rig(12, |upstream| fill(upstream, 2));
        rig.run(2 * SECOND);
        rig.upstream.send_error(&Status::too_old("1", "2"));
        refuse(&rig.upstream, [error.into()]);
        rig.run(0).assert_whole();
        assert_eq!(watch_requests(&rig), [for_state(""), for_state("102"), for_state("")]);
        assert_eq!((rig.lists(), waits(&rig).len()), (0, 0));
    }
}

fn list_and_watch(rig: &ReflectorRig, version: &str) {
    assert_eq!(list_requests(rig), [ListRequest { limit: Some(500), ..ListRequest::default() }]);
    assert_eq!(watch_requests(rig).last(), Some(&for_changes(version)));
}

/// client-go asks a feature gate and the client. Here it is an option, and the first request shows whether the server supports it.
#[test]
fn wl_01_on_by_option_and_off_where_the_server_has_none() {
    let message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    for (on, refusal, lists) in
        [(false, None, 1), (true, None, 0), (true, Some(Status::new(422, "Invalid", message)), 1), (false, Some(Status::internal("?")), 2)]
    {
        let rig = ReflectorRig::with(20, ReflectorConfig { watch_list: on, ..config() }, 0, |upstream| {
            fill(upstream, 2);
            refuse(upstream, refusal.clone().map(Error::from));
        });
        rig.run(5 * SECOND).assert_whole();
        assert_eq!(rig.lists(), lists, "{on} {refusal:?}");
        assert_eq!(watch_requests(&rig)[0].send_initial_events, on.then_some(true));
    }
}

#[test]
fn wl_02_without_the_bookmark_there_is_no_state() {
    let rig = rig(21, |upstream| upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(vec![pod("ADDED", "p1", 1)])));
    rig.run(10 * SECOND);
    rig.handle.close();
    rig.run(MINUTE);
    let replay = rig.replay.borrow();
    assert_eq!((replay.replaces(), replay.rows.len(), rig.watches(), rig.lists()), (0, 0, 1, 0));
}

#[test]
fn wl_04_the_state_is_what_the_events_up_to_the_bookmark_leave() {
    let rig = rig(22, |upstream| {
        upstream.put("", "p1");
        upstream.put("", "p2");
        upstream.put("", "p1");
        upstream.put("", "p3");
        upstream.delete("", "p3");
        let log = upstream.log();
        let frames = log.iter().map(|write| format!(r#"{{"type":"{}","object":{}}}"#, write.kind, write.document));
        let frames: Vec<String> = frames.chain([bookmark(105, "true")]).collect();
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(frames));
    });
    rig.run(10).assert_whole();
    let replay = rig.replay.borrow();
    let rows: Vec<_> = replay.rows.iter().map(|(key, (version, _))| (key.as_str(), *version)).collect();
    assert_eq!((rows, replay.version, replay.changes().len()), (vec![("p1", 103), ("p2", 102)], Some(105), 0));
}

#[test]
fn wl_05_an_annotation_that_says_false_ends_nothing() {
    let rig = rig(23, |upstream| {
        let frames = vec![pod("ADDED", "p1", 1), bookmark(1, "false")];
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(frames));
    });
    rig.run(30 * SECOND);
    assert_eq!((rig.replay.borrow().replaces(), rig.replay.borrow().version, rig.watches()), (0, None, 1));
}

#[test]
fn wl_06_any_refusal_leads_to_a_list_and_a_watch_in_the_same_round() {
    for error in [status(422, "Invalid"), status(500, "InternalError"), status(404, "NotFound"), Error::network("reset")] {
        let rig = rig(24, |upstream| {
            upstream.put("", "p1");
            refuse(upstream, [error.clone()]);
        });
        rig.run(0);
        rig.upstream.put("", "p2");
        rig.run(0).assert_whole();
        list_and_watch(&rig, "101");
        assert!(rig.replay.borrow().errors().is_empty() && rig.replay.borrow().rows.len() == 2);
    }
}

/// An object that only the first attempt brought is dropped with it.
#[test]
fn wl_08_a_stream_that_closes_before_the_bookmark_is_followed_by_the_same_request() {
    let rig = rig(25, |upstream| {
        upstream.put("", "gone");
        upstream.put("", "stays");
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Cut(1));
        upstream.latency.set(50);
    });
    while rig.watches() < 2 {
        rig.run(1);
    }
    rig.upstream.delete("", "gone");
    rig.run(SECOND).assert_whole();
    assert_eq!((watch_requests(&rig), rig.lists()), (vec![for_state(""), for_state("")], 0));
    assert_eq!(rig.replay.borrow().rows.keys().collect::<Vec<_>>(), ["stays"]);
}

#[test]
fn wl_09_after_the_state_a_closed_stream_is_followed_by_a_plain_watch() {
    let rig = rig(26, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.put("", "p3");
    rig.run(0);
    rig.upstream.drop_streams();
    rig.run(0);
    rig.upstream.put("", "p4");
    rig.run(0).assert_whole();
    assert_eq!((watch_requests(&rig), rig.lists()), (vec![for_state(""), for_changes("103")], 0));
}

#[test]
fn wl_10_a_watch_that_has_expired_ends_the_round_and_keeps_what_is_held() {
    let rig = rig(27, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    refuse(&rig.upstream, [Status::new(410, "Expired", "rv already expired").into()]);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Hang); // so that what is held in between shows
    rig.upstream.drop_streams();
    rig.run(10);
    let replay = rig.replay.borrow();
    let errors = replay.errors();
    assert_eq!((errors.len(), errors[0].code, errors[0].message.as_str()), (1, ErrorCode::Expired, "rv already expired"));
    assert_eq!((replay.rows.len(), replay.version), (3, Some(103)));
}

#[test]
fn wl_12_initial_events_do_not_move_the_version_and_their_end_does() {
    for end in [false, true] {
        let rig = rig(28, |upstream| {
            upstream.put("", "p1");
            let mut frames = vec![format!(r#"{{"type":"ADDED","object":{}}}"#, upstream.state()["p1"].1)];
            frames.extend(end.then(|| bookmark(102, "true")));
            upstream.pass(1);
            upstream.watch_faults.borrow_mut().extend([WatchFault::Say(frames), WatchFault::None]);
        });
        rig.run(10 * SECOND);
        assert_eq!(rig.replay.borrow().version, end.then_some(102));
        // The version at which it goes on shows the same.
        rig.handle.pause();
        rig.run(10);
        rig.handle.resume();
        rig.run(10);
        assert_eq!(watch_requests(&rig)[1..], [if end { for_changes("102") } else { for_state("") }]);
    }
}

/// Initial events come in the order of their keys, not of their versions. So a lower version is no step backwards.
#[test]
fn rf_10_versions_out_of_order_before_the_state_is_whole_are_no_step_backwards() {
    let rig = rig(29, |upstream| {
        for name in ["b", "x", "a"] {
            upstream.put("", name);
        }
        let state = upstream.state();
        upstream.put("", "a");
        let frame = |kind: &str, document: &str| format!(r#"{{"type":"{kind}","object":{document}}}"#);
        let mut frames = ["a", "b", "x"].map(|name| frame("ADDED", &state[name].1)).to_vec();
        frames.extend([bookmark(103, "true"), frame("MODIFIED", &upstream.state()["a"].1)]);
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(frames));
    });
    rig.run(10);
    let replay = rig.replay.borrow();
    assert_eq!((replay.version, replay.changes()), (Some(104), vec![(ChangeKind::Modified, "a".into(), 104)]));
    assert!(replay.errors().is_empty());
    assert_eq!((rig.lists(), watch_requests(&rig)), (0, vec![for_state("")]));
}

/// client-go warns every ten seconds and waits for ever. Here pages show what has come. A stream that brings anything is waited for,
/// however long it takes. One that is silent beyond the idle timeout is given up like any other.
#[test]
fn wl_13_the_bookmark_is_waited_for_as_long_as_anything_comes() {
    let rig = rig(30, |upstream| {
        let frames = (0..20).map(|number| pod("ADDED", &format!("p{number}"), number + 1));
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Drip(frames.collect(), 80 * SECOND));
    });
    for _ in 0..10 {
        rig.run(2 * MINUTE);
        assert_eq!((rig.watches(), rig.lists(), rig.replay.borrow().replaces()), (1, 0, 0));
        assert_eq!(rig.replay.borrow().last_connection(), Some(&Connection::Listing { again: false }));
    }
    rig.run(15 * MINUTE).assert_whole();
    assert_eq!((rig.watches(), rig.lists()), (2, 1), "silent in the end");
}

/// The partial state of a failed attempt is never shown with that of the next, whatever happens between them.
#[test]
fn wl_17_what_only_the_first_of_two_attempts_brought_does_not_appear() {
    for cut in
        [WatchFault::Say(vec![pod("ADDED", "ghost", 50), "nonsense".into()]), WatchFault::SayAndClose(vec![pod("ADDED", "ghost", 50)])]
    {
        let rig = rig(31, |upstream| {
            fill(upstream, 2);
            upstream.watch_faults.borrow_mut().extend([cut.clone(), cut.clone()]);
        });
        rig.run(MINUTE).assert_whole();
        assert!(
            !rig.replay
                .borrow()
                .said
                .iter()
                .any(|(_, said)| matches!(said, Said::Replace { keys, .. } if keys.iter().any(|key| key == "ghost")))
        );
    }
}
