//! The reflector's watches, case by case: resume, refusals, liveness, order.

use crate::helpers::replay::{ReflectorRig, Said};
use crate::helpers::scenario::{HOUR, MINUTE, SECOND, config, fill, status, waits};
use crate::helpers::upstream::{ListFault, Request, WatchFault};
use watchcache::change::ChangeKind;
use watchcache::connection::Connection;
use watchcache::reflector::{ReflectorConfig, Retry};
use watchcache::source::ListRequest;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::time::Millis;

#[test]
fn rf_01_a_list_then_a_watch_from_its_version() {
    let rig = ReflectorRig::with(1, config(), 0, |upstream| {
        upstream.put("", "foo");
    });
    rig.run(10);
    rig.upstream.put("", "foo");
    for name in ["bar", "baz", "qux", "zoo"] {
        rig.upstream.put("", name);
    }
    rig.run(10).assert_whole();
    let requests = rig.upstream.requests.borrow();
    let [Request::List(0, list), Request::Watch(0, watch)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(*list, ListRequest { limit: Some(500), ..ListRequest::default() });
    assert_eq!((watch.resource_version.as_str(), watch.allow_watch_bookmarks), ("101", true));
    let replay = rig.replay.borrow();
    assert_eq!(replay.rows.keys().collect::<Vec<_>>(), ["bar", "baz", "foo", "qux", "zoo"]);
    assert_eq!(replay.changes()[0], (ChangeKind::Modified, "foo".into(), 102));
    let said: Vec<&Said> = replay.said.iter().map(|(_, said)| said).take(5).collect();
    assert_eq!(
        said,
        [
            &Said::RoundStarted,
            &Said::Connection(Connection::Listing { again: false }),
            &Said::Page { keys: vec!["foo".into()], loaded: 1, remaining: None },
            &Said::Replace { version: 101, keys: vec!["foo".into()] },
            &Said::Connection(Connection::Live),
        ]
    );
}

#[test]
fn rf_02_every_failure_is_told_and_the_rows_follow_the_server() {
    let rig = ReflectorRig::with(9, config(), 0, |upstream| {
        fill(upstream, 3);
        upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(status(500, "InternalError")));
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(status(500, "")));
    });
    rig.run(10);
    assert!(rig.replay.borrow().rows.is_empty());
    rig.run(2 * SECOND);
    assert_eq!(rig.replay.borrow().rows.len(), 3);
    rig.upstream.put("ns", "more");
    rig.run(10 * SECOND).assert_whole();
    let errors = rig.replay.borrow().errors();
    assert_eq!(errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(), ["500 InternalError", "500 "]);
    assert_eq!((rig.lists(), rig.watches()), (3, 2));
}

#[test]
fn rf_04_a_watch_that_closes_at_once_leads_to_a_list_after_a_wait() {
    for open in [0, 10] {
        let rig = ReflectorRig::with(10, config(), 0, |upstream| {
            fill(upstream, 1);
            if open == 0 {
                upstream.watch_faults.borrow_mut().push_back(WatchFault::Close);
            }
        });
        rig.run(open);
        rig.upstream.drop_streams();
        rig.run(799);
        assert_eq!((rig.lists(), rig.watches()), (1, 1), "closed after {open} ms");
        rig.run(801).assert_whole();
        assert_eq!((rig.lists(), rig.watches()), (2, 2));
        assert!(rig.replay.borrow().errors()[0].message.contains("within a second"));
    }
}

#[test]
fn rf_06_an_error_event_ends_the_stream() {
    let rig = ReflectorRig::with(13, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    // The server does not close the stream, so the client does.
    rig.upstream.send_raw(&format!("{{\"type\":\"ERROR\",\"object\":{}}}", Status::too_many_requests("slow", 5).to_json()));
    rig.run(10);
    assert_eq!(rig.upstream.connections(), 0);
    rig.run(6 * SECOND).assert_whole();
}

#[test]
fn ref_05_a_watch_goes_on_from_the_last_change_or_bookmark() {
    let rig = ReflectorRig::with(14, config(), 0, |upstream| {
        upstream.put("", "a");
    });
    rig.run(2 * SECOND);
    let mut expected = vec![101];
    for step in 0..4 {
        let version = match step {
            0 => rig.upstream.put("", "b"),
            1 => rig.upstream.put("", "b"),
            2 => {
                rig.upstream.pass(17);
                rig.upstream.bookmark();
                rig.upstream.version()
            }
            _ => rig.upstream.delete("", "b"),
        };
        rig.run(2 * SECOND);
        rig.upstream.drop_streams();
        rig.run(2 * SECOND);
        expected.push(version);
    }
    assert_eq!(rig.watched_from(), expected);
    assert_eq!(expected, [101, 102, 103, 120, 121]);
    assert_eq!(rig.lists(), 1);
    rig.assert_whole();
}

#[test]
fn rf_08_changes_and_bookmarks_move_the_version_as_they_come() {
    let rig = ReflectorRig::with(14, config(), 0, |upstream| {
        upstream.put("", "a");
    });
    rig.run(2 * SECOND);
    rig.upstream.pass(8);
    let mut moved = vec![rig.replay.borrow().version.unwrap()];
    for kind in ["ADDED", "MODIFIED", "BOOKMARK", "DELETED"] {
        match kind {
            "BOOKMARK" => rig.upstream.bookmark(),
            "DELETED" => assert_eq!(rig.upstream.delete("", "b"), 139),
            _ => assert_eq!(rig.upstream.put("", "b") % 10, 0),
        }
        rig.run(10);
        moved.push(rig.replay.borrow().version.unwrap());
        rig.upstream.pass(9);
    }
    assert_eq!(moved, [101, 110, 120, 129, 139]);
    let said: Vec<Said> = rig.replay.borrow().said.iter().map(|(_, said)| said.clone()).skip(5).collect();
    assert_eq!(
        said,
        [
            Said::Change(ChangeKind::Added, "b".into(), 110),
            Said::Change(ChangeKind::Modified, "b".into(), 120),
            Said::Bookmark(129),
            Said::Change(ChangeKind::Deleted, "b".into(), 139),
        ]
    );
    assert_eq!((rig.lists(), rig.watches()), (1, 1), "all over one stream");
}

#[test]
fn rf_09_an_unknown_type_leads_to_a_list() {
    let rig = ReflectorRig::with(15, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.send_raw(r#"{"type":"MERGED","object":{"metadata":{"name":"x","resourceVersion":"177"}}}"#);
    rig.run(2 * SECOND).assert_whole();
    let error = rig.replay.borrow().errors()[0].clone();
    assert_eq!((error.code, rig.lists()), (ErrorCode::Protocol, 2));
    assert!(error.message.contains("MERGED"));
}

fn four_refusals_and_a_watch() -> ReflectorRig {
    let rig = ReflectorRig::with(16, config(), 0, |upstream| {
        fill(upstream, 3);
        let refusal = || WatchFault::Refuse(status(429, "TooManyRequests"));
        upstream.watch_faults.borrow_mut().extend([refusal(), refusal(), refusal(), refusal()]);
    });
    rig.run(MINUTE).assert_whole();
    rig
}

#[test]
fn ref_09_too_many_requests_at_the_start_of_a_watch_need_no_list() {
    let rig = four_refusals_and_a_watch();
    assert_eq!((rig.lists(), rig.watches(), rig.replay.borrow().replaces()), (1, 5, 1));
    assert!(rig.replay.borrow().errors().is_empty(), "the round goes on");
}

#[test]
fn rf_20_a_watch_that_is_put_off_four_times_is_tried_at_its_version_with_growing_waits() {
    let rig = four_refusals_and_a_watch();
    assert_eq!((rig.lists(), rig.watched_from()), (1, vec![103; 5]));
    let waits = waits(&rig);
    assert_eq!(waits.len(), 4);
    for ((code, wait), base) in waits.into_iter().zip([800, 1600, 3200, 6400]) {
        assert_eq!(code, ErrorCode::TooManyRequests);
        assert!((base..2 * base).contains(&wait), "{wait} of {base}");
    }
}

/// client-go passes over an event of the wrong kind. Here it is not passed over, because it may stand for a change of a held object. The
/// round ends and says why, and a list shows the change. A version that went backwards is not taken.
#[test]
fn ref_06_what_is_of_the_wrong_kind_ends_the_round_and_loses_nothing() {
    let table =
        r#"{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"155"},"rows":[]}}"#;
    let status = r#"{"type":"MODIFIED","object":{"kind":"Status","metadata":{},"code":500}}"#;
    let lower = r#"{"type":"MODIFIED","object":{"metadata":{"name":"foo","resourceVersion":"32"}}}"#;
    for (frame, says) in [(table, "a Table"), (status, "metadata.name"), (lower, "version 32 behind version 103")] {
        let rig = ReflectorRig::with(50, config(), 0, |upstream| fill(upstream, 2));
        rig.run(2 * SECOND);
        rig.upstream.put("", "foo");
        rig.upstream.send_raw(frame);
        rig.upstream.put("", "bar");
        rig.run(2 * SECOND).assert_whole();
        let error = rig.replay.borrow().errors()[0].clone();
        assert!(error.code == ErrorCode::Protocol && error.message.contains(says), "{error}");
        assert_eq!((rig.replay.borrow().changes().len(), rig.lists()), (1, 2));
    }
}

#[test]
fn ref_08_too_many_requests_in_the_stream_need_no_list() {
    let rig = ReflectorRig::with(17, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.send_error(&Status::new(429, "TooManyRequests", "slow down"));
    rig.run(700);
    assert_eq!(rig.watches(), 1);
    rig.run(SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 2));
}

#[test]
fn rf_21_an_upstream_that_cannot_be_reached_is_tried_again_at_the_same_version() {
    let retry = Retry { initial_ms: 1, factor: 2.0, cap_ms: 50, jitter: 1.0, reset_after_ms: 120_000 };
    let rig = ReflectorRig::with(18, ReflectorConfig { retry, ..config() }, 0, |upstream| {
        let refused = || WatchFault::Refuse(Error::network("connection refused"));
        upstream.watch_faults.borrow_mut().extend((0..5).map(|_| refused()));
    });
    rig.run(30);
    assert!(rig.watches() < 6);
    rig.run(35).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 6));
    assert!(rig.watched_from().iter().all(|version| *version == 100));
}

#[test]
fn rf_25_an_object_that_cannot_be_read_upstream_leads_to_a_list() {
    let rig = ReflectorRig::with(19, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    rig.upstream.send_error(&Status::new(500, "StorageReadError", "data from the storage is not transformable"));
    rig.upstream.delete("ns", "pod0001");
    rig.run(2 * SECOND).assert_whole();
    assert_eq!(rig.lists(), 2);
    assert_eq!(rig.replay.borrow().rows.len(), 2);
}

#[test]
fn ref_10_internal_errors_are_retried_for_thirty_seconds() {
    let rig = ReflectorRig::with(20, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    for _ in 0..31 {
        rig.upstream.send_error(&Status::internal("leader changed"));
        rig.run(99);
        assert_eq!(rig.upstream.connections(), 0);
        rig.run(901);
        assert_eq!(rig.upstream.connections(), 1);
    }
    assert_eq!((rig.lists(), rig.watches()), (1, 32));
    rig.upstream.send_error(&Status::internal("leader changed"));
    rig.run(2 * SECOND).assert_whole();
    assert_eq!(rig.lists(), 2);
}

/// Whatever else goes wrong meanwhile, the thirty seconds are those of the internal errors. Nothing makes them longer or begins them anew.
#[test]
fn rf_24_other_errors_do_not_touch_the_deadline_of_internal_ones() {
    let rig = ReflectorRig::with(20, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    let began = rig.elapsed();
    let mut others = 0;
    while rig.lists() == 1 {
        let other = rig.elapsed() > began + 10 * SECOND && others < 3;
        others += usize::from(other);
        let status = if other { Status::new(429, "TooManyRequests", "slow") } else { Status::internal("leader changed") };
        rig.upstream.send_error(&status);
        rig.run(0);
        while rig.lists() == 1 && rig.upstream.connections() == 0 && !ended(&rig) {
            rig.run(100);
        }
        if ended(&rig) {
            break;
        }
        rig.run(900);
    }
    let lasted = rig.elapsed() - began;
    assert!(others == 3 && (30 * SECOND..33 * SECOND).contains(&lasted), "{others} others, {lasted} ms");
}

fn ended(rig: &ReflectorRig) -> bool {
    !rig.replay.borrow().errors().is_empty()
}

/// What forty watches say of their end.
fn timeouts(config: &ReflectorConfig) -> Vec<u32> {
    let drawn = (0..40).map(|seed| {
        let rig = ReflectorRig::new(seed, config.clone());
        rig.run(1);
        let requests = rig.upstream.requests.borrow();
        let Request::Watch(_, watch) = &requests[1] else { panic!("{requests:?}") };
        watch.timeout_seconds
    });
    drawn.collect()
}

fn at_least(watch_timeout_seconds: u32) -> ReflectorConfig {
    ReflectorConfig { watch_timeout_seconds, ..config() }
}

#[test]
fn ref_13_no_watch_is_asked_to_end_within_five_minutes() {
    for (config, range) in [(config(), 300..=600), (at_least(1), 300..=600), (at_least(30 * 60), 1800..=3600)] {
        for timeout in timeouts(&config) {
            assert!(range.contains(&timeout), "{timeout} of {range:?}");
        }
    }
}

#[test]
fn rf_26_timeouts_are_drawn_from_all_of_their_range() {
    assert_eq!(timeouts(&at_least(1)), timeouts(&config()), "a second is not honoured");
    for (config, least) in [(config(), 300), (at_least(30 * 60), 1800)] {
        let mut drawn = timeouts(&config);
        drawn.sort_unstable();
        assert!(drawn[0] >= least && drawn[39] <= 2 * least, "{drawn:?}");
        assert!(drawn[0] < least * 5 / 4 && drawn[39] > least * 7 / 4, "near both ends: {drawn:?}");
        drawn.dedup();
        assert!(drawn.len() > 25, "they differ: {drawn:?}");
    }
}

#[test]
fn rf_29_the_end_of_a_watch_is_followed_by_the_next_without_a_wait() {
    let rig = ReflectorRig::with(22, config(), 0, |upstream| fill(upstream, 1));
    rig.run(11 * MINUTE).assert_whole();
    let requests = rig.upstream.requests.borrow();
    let Request::Watch(begun, first) = &requests[1] else { panic!("{requests:?}") };
    let Request::Watch(again, _) = &requests[2] else { panic!("{requests:?}") };
    assert_eq!(again - begun, Millis::from(first.timeout_seconds) * SECOND);
    assert!(rig.replay.borrow().errors().is_empty());
    assert!(waits(&rig).is_empty());
}

#[test]
fn rf_30_an_expired_version_is_listed_at_once_and_then_with_a_wait() {
    let rig = ReflectorRig::with(23, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(0);
    assert_eq!(rig.lists(), 2);
    rig.run(5 * SECOND).assert_whole();
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(700);
    assert_eq!(rig.lists(), 2);
    rig.run(SECOND).assert_whole();
    assert_eq!(rig.lists(), 3);
    // Long after, an expired version is listed at once again.
    rig.run(10 * MINUTE);
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(0);
    assert_eq!(rig.lists(), 4);
    let replay = rig.replay.borrow();
    assert!(replay.errors().iter().all(|error| error.code == ErrorCode::Expired));
    assert!(replay.changes().is_empty(), "nothing had changed");
}

#[test]
fn js_14_an_expired_version_is_asked_for_once() {
    let rig = ReflectorRig::with(24, config(), 0, |upstream| fill(upstream, 5));
    rig.run(2 * SECOND);
    rig.upstream.freeze_streams();
    rig.upstream.put("ns", "unseen");
    rig.upstream.pass(3);
    rig.upstream.expire();
    rig.upstream.drop_streams();
    rig.run(0).assert_whole();
    assert_eq!(rig.watched_from(), [105, 105, 109]);
    assert_eq!(rig.lists(), 2);
    assert!(matches!(rig.replay.borrow().connections().nth(2), Some((_, Connection::Reconnecting { .. }))));
}

#[test]
fn rf_33_after_three_healthy_minutes_the_waits_begin_anew() {
    let refused = || WatchFault::Refuse(Error::network("connection refused"));
    let rig = ReflectorRig::with(26, config(), 0, |upstream| {
        upstream.watch_faults.borrow_mut().extend((0..6).map(|_| refused()));
    });
    rig.run(2 * MINUTE).assert_whole();
    for (healthy, first) in [(10 * SECOND, false), (3 * MINUTE, true)] {
        rig.run(healthy);
        let before = waits(&rig).len();
        rig.upstream.watch_faults.borrow_mut().push_back(refused());
        rig.upstream.drop_streams();
        rig.run(70 * SECOND).assert_whole();
        let wait = waits(&rig)[before].1;
        assert_eq!((800..1600).contains(&wait), first, "{wait}");
    }
}

#[test]
fn rf_37_a_retry_after_is_honoured_and_shown() {
    let mut busy = status(429, "TooManyRequests");
    busy.retry_after_seconds = Some(3);
    let mut down = status(503, "ServiceUnavailable");
    down.retry_after_seconds = Some(3);
    for error in [busy, down] {
        let rig = ReflectorRig::with(30, config(), 0, |upstream| {
            upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(error.clone()));
            upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(error.clone()));
        });
        rig.run(2999);
        assert_eq!(rig.lists(), 1);
        assert_eq!(waits(&rig), [(error.code, 3000)]);
        rig.run(1);
        assert_eq!((rig.lists(), rig.watches()), (2, 1));
        // The second wait's own length is between 1.6 and 3.2 s: the longer one counts.
        rig.run(2999);
        assert_eq!(rig.watches(), 1);
        rig.run(300).assert_whole();
        assert_eq!((rig.lists(), rig.watches()), (2, 2), "no list for a watch that is put off");
    }
}

#[test]
fn refused_credentials_are_asked_for_again_at_once_and_then_with_waits() {
    let rig = ReflectorRig::with(38, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    let refused = || WatchFault::Refuse(status(401, "Unauthorized"));
    rig.upstream.watch_faults.borrow_mut().extend([refused(), refused(), refused()]);
    rig.upstream.drop_streams();
    rig.run(10);
    assert_eq!(rig.watches(), 3);
    rig.run(10 * SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 5));
    let waits = waits(&rig);
    assert!(waits.iter().all(|(code, _)| *code == ErrorCode::Unauthorized));
    assert_eq!(waits[0].1, 0);
    assert!(waits[1].1 >= 800 && waits[2].1 >= 1600, "{waits:?}");
    // A success in between: the next refusal is again answered at once.
    rig.upstream.watch_faults.borrow_mut().push_back(refused());
    rig.upstream.drop_streams();
    rig.run(10).assert_whole();
}

#[test]
fn law_02_order_a_watch_from_a_replica_that_is_behind_stays_silent() {
    let rig = ReflectorRig::with(40, config(), 0, |upstream| fill(upstream, 6));
    rig.run(2 * SECOND);
    rig.upstream.behind.set(4);
    rig.upstream.drop_streams();
    rig.run(2 * SECOND);
    rig.upstream.put("ns", "new");
    rig.run(2 * SECOND);
    assert_eq!(rig.replay.borrow().version, Some(106));
    rig.upstream.catch_up();
    rig.run(10).assert_whole();
    assert_eq!(rig.lists(), 1);
}

#[test]
fn law_02_order_what_is_said_twice_is_heard_once_and_what_goes_back_is_refused() {
    let rig = ReflectorRig::with(41, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.upstream.put("ns", "a");
    rig.upstream.delete("ns", "a");
    rig.upstream.repeat(2);
    rig.upstream.put("ns", "b");
    rig.run(10).assert_whole();
    assert_eq!((rig.replay.borrow().changes().len(), rig.lists()), (3, 1));
    rig.upstream.send_raw(r#"{"type":"MODIFIED","object":{"metadata":{"name":"pod0000","namespace":"ns","resourceVersion":"103"}}}"#);
    rig.run(2 * SECOND).assert_whole();
    let error = rig.replay.borrow().errors()[0].clone();
    assert_eq!((error.code, rig.lists()), (ErrorCode::Protocol, 2));
    assert_eq!(error.message, "the watch sent ns/pod0000 at version 103 behind version 105");
    // A bookmark from the past is passed over.
    rig.upstream.send_raw(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#);
    rig.run(2 * SECOND).assert_whole();
    assert_eq!(rig.lists(), 2);
}

#[test]
fn a_broken_frame_is_not_applied_and_a_list_shows_what_it_hid() {
    for frame in [
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"",
        "nonsense",
        r#"{"object":{}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"x"}}}"#,
    ] {
        let rig = ReflectorRig::with(43, config(), 0, |upstream| fill(upstream, 2));
        rig.run(2 * SECOND);
        rig.upstream.send_raw(frame);
        rig.upstream.put("ns", "behind-it");
        rig.run(2 * SECOND).assert_whole();
        let error = rig.replay.borrow().errors()[0].clone();
        assert!(matches!(error.code, ErrorCode::Decode | ErrorCode::Protocol), "{error}");
        assert!(rig.replay.borrow().changes().is_empty());
    }
}

#[test]
fn an_object_of_ten_megabytes_is_an_object() {
    let rig = ReflectorRig::with(45, config(), 0, |upstream| {
        upstream.chunk.set(1 << 20);
        upstream.put_sized("ns", "listed", 10 << 20);
    });
    rig.run(2 * SECOND);
    rig.upstream.put_sized("ns", "watched", 10 << 20);
    rig.run(10).assert_whole();
    assert_eq!((rig.lists(), rig.replay.borrow().rows.len()), (1, 2));
}

#[test]
fn a_slow_cacher_slows_the_reflector_and_loses_nothing() {
    let rig = ReflectorRig::with(47, config(), 500, |upstream| fill(upstream, 2));
    rig.run(10 * SECOND);
    for _ in 0..600 {
        rig.upstream.write_randomly();
    }
    // The reflector waits for the cacher for longer than a silent connection may live.
    rig.run(20 * MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.replay.borrow().changes().len()), (1, 600));
}

#[test]
fn a_day_of_reconnects() {
    let rig = ReflectorRig::with(48, config(), 0, |upstream| {
        fill(upstream, 20);
        upstream.latency.set(200);
    });
    let day = 24 * HOUR;
    let mut drops = 0;
    while rig.elapsed() < day {
        let pause = rig.upstream.random.borrow_mut().u64(1..20 * SECOND);
        rig.run(pause);
        rig.upstream.write_randomly();
        rig.upstream.drop_streams();
        drops += 1;
    }
    rig.run(MINUTE).assert_whole();
    assert!(drops > 8000, "{drops}");
    assert!(rig.watches() > 7000, "{}", rig.watches());
    // Only watches that were cut within their first second, before anything new, need a list; and none loses a change.
    assert!(rig.lists() < 200, "{}", rig.lists());
}
