//! What users ask of a reflector (pause, resume, refresh, close), and what a sleep of the machine does to it.

use crate::helpers::replay::ReflectorRig;
use crate::helpers::scenario::{HOUR, MINUTE, SECOND, config, fill, status};
use crate::helpers::upstream::{ListFault, WatchFault};
use watchcache::connection::Connection;
use watchcache::runtime::virtual_time::VirtualTime;

#[test]
fn rf_05_a_close_ends_everything_at_once() {
    let rig = ReflectorRig::with(11, config(), 0, |upstream| fill(upstream, 1));
    rig.run(SECOND);
    assert_eq!(rig.upstream.connections(), 1);
    rig.handle.close();
    let said = rig.replay.borrow().said.len();
    rig.run(0);
    assert_eq!(rig.upstream.connections(), 0);
    rig.upstream.put("ns", "more");
    rig.run(HOUR);
    let replay = rig.replay.borrow();
    assert!(replay.ended);
    assert_eq!((replay.said.len(), rig.lists(), rig.watches()), (said, 1, 1));
}

#[test]
fn rf_36_a_close_during_a_list_or_a_wait_leaves_nothing_behind() {
    for (fault, after) in [(ListFault::Hang, 5), (ListFault::Stall(20), 5), (ListFault::Refuse(status(500, "")), 100)] {
        let rig = ReflectorRig::with(12, config(), 0, |upstream| upstream.list_faults.borrow_mut().push_back(fault));
        rig.run(after);
        rig.handle.close();
        rig.run(HOUR);
        assert_eq!((rig.lists(), rig.watches(), rig.upstream.connections()), (1, 0, 0));
        assert!(rig.replay.borrow().ended);
    }
}

#[test]
fn law_10_deadline_after_a_sleep_the_first_look_at_the_clock_finds_the_loss() {
    let rig = ReflectorRig::with(29, config(), 0, |upstream| fill(upstream, 1));
    rig.run(10 * SECOND);
    rig.upstream.freeze_streams();
    rig.upstream.put("ns", "missed");
    // The lid closes for an hour; no timer has fired yet when the page becomes visible.
    rig.time.suspend(HOUR);
    rig.handle.resume();
    rig.run(0).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 2));
}

#[test]
fn js_05_a_pause_closes_and_a_resume_opens_exactly_one_watch() {
    let rig = ReflectorRig::with(33, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.handle.pause();
    rig.handle.pause();
    rig.run(10);
    assert_eq!(rig.upstream.connections(), 0);
    assert_eq!(rig.replay.borrow().last_connection(), Some(&Connection::Paused));
    rig.upstream.put("ns", "meanwhile");
    rig.run(HOUR);
    assert_eq!((rig.replay.borrow().rows.len(), rig.watches()), (2, 1));
    rig.handle.resume();
    rig.run(10).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 2));
    let replay = rig.replay.borrow();
    let connections: Vec<&Connection> = replay.connections().map(|(_, connection)| connection).skip(2).collect();
    assert_eq!(connections, [&Connection::Paused, &Connection::Reconnecting { lost: None }, &Connection::Live]);
    assert!(replay.errors().is_empty());
}

#[test]
fn a_pause_during_a_list_or_a_wait_is_honoured() {
    for fault in [ListFault::Hang, ListFault::Stall(100), ListFault::Refuse(status(500, ""))] {
        let rig = ReflectorRig::with(34, config(), 0, |upstream| {
            fill(upstream, 3);
            upstream.list_faults.borrow_mut().push_back(fault);
        });
        rig.run(10);
        rig.handle.pause();
        rig.run(10);
        assert_eq!(rig.upstream.connections(), 0, "not only when the silence is noticed");
        rig.run(HOUR);
        assert_eq!((rig.lists(), rig.upstream.connections()), (1, 0));
        assert_eq!(rig.replay.borrow().last_connection(), Some(&Connection::Paused));
        rig.handle.resume();
        rig.run(10).assert_whole();
        assert_eq!((rig.lists(), rig.watches()), (2, 1));
    }
}

#[test]
fn js_13_a_pause_in_a_wait_leaves_no_ghost_and_a_wake_skips_it() {
    let mut error = status(503, "ServiceUnavailable");
    error.retry_after_seconds = Some(3600);
    let rig = ReflectorRig::with(37, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    // A single drop is resumed at once.
    rig.upstream.drop_streams();
    rig.run(0).assert_whole();
    assert_eq!(rig.watches(), 2);
    rig.run(2 * SECOND);
    rig.upstream.watch_faults.borrow_mut().extend([WatchFault::Refuse(error.clone()), WatchFault::Refuse(error)]);
    rig.upstream.drop_streams();
    rig.run(MINUTE);
    assert_eq!(rig.watches(), 3);
    rig.handle.resume();
    rig.run(10);
    assert_eq!(rig.watches(), 4);
    rig.handle.pause();
    rig.run(3 * HOUR);
    assert_eq!((rig.watches(), rig.upstream.connections()), (4, 0));
    rig.handle.resume();
    rig.run(10).assert_whole();
    assert_eq!((rig.watches(), rig.lists()), (5, 1));
}

#[test]
fn a_refresh_lists_at_once_whatever_is_going_on() {
    let rig = ReflectorRig::with(46, config(), 0, |upstream| fill(upstream, 2));
    rig.run(2 * SECOND);
    rig.handle.refresh();
    rig.run(10).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (2, 2));
    assert_eq!(rig.replay.borrow().replaces(), 2);
    rig.run(2 * SECOND);
    // In a wait.
    let mut error = status(429, "TooManyRequests");
    error.retry_after_seconds = Some(3600);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(error));
    rig.upstream.drop_streams();
    rig.run(10);
    rig.handle.refresh();
    rig.run(10).assert_whole();
    assert_eq!(rig.lists(), 3);
    // While paused: when the pause ends.
    rig.handle.pause();
    rig.handle.refresh();
    rig.run(HOUR);
    assert_eq!(rig.lists(), 3);
    rig.handle.resume();
    rig.run(10).assert_whole();
    assert_eq!(rig.lists(), 4);
    assert!(rig.replay.borrow().errors().is_empty());
}

/// Fifty reflectors slept together. Each looks at once whether its stream lives. They come back one by one within a second, each with one
/// watch from its version and no list. One that is resumed by name does not wait.
#[test]
fn many_that_wake_together_come_back_apart_and_with_one_request_each() {
    let time = VirtualTime::new(90);
    let peers = config();
    let rigs: Vec<ReflectorRig> =
        (0..50).map(|number| ReflectorRig::on(time.clone(), number, peers.clone(), 0, |upstream| fill(upstream, 2))).collect();
    time.advance(10 * SECOND);
    for rig in &rigs {
        rig.upstream.freeze_streams();
        rig.upstream.put("ns", "missed");
    }
    time.suspend(10 * MINUTE);
    let woke = time.elapsed();
    rigs.iter().for_each(|rig| rig.handle.resume());
    time.advance(SECOND);
    let mut came = Vec::new();
    for rig in &rigs {
        rig.assert_whole();
        assert_eq!((rig.lists(), rig.watches(), rig.replay.borrow().replaces()), (1, 2, 1), "no row went away");
        came.push(rig.upstream.requests.borrow().last().unwrap().at() - woke);
    }
    came.sort_unstable();
    let busiest = came.chunk_by(|a, b| a / 100 == b / 100).map(<[_]>::len).max().unwrap();
    assert!(busiest <= 15 && came[25] > 200, "{came:?}");
}

/// The same with waits. A try that was a minute away comes when the page is back, at another moment than those of the others.
#[test]
fn many_that_are_woken_from_their_waits_come_back_apart() {
    let time = VirtualTime::new(91);
    let peers = config();
    let rigs: Vec<ReflectorRig> = (0..50)
        .map(|number| {
            ReflectorRig::on(time.clone(), number, peers.clone(), 0, |upstream| {
                let mut error = status(503, "ServiceUnavailable");
                error.retry_after_seconds = Some(3600);
                upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(error));
            })
        })
        .collect();
    time.advance(10 * SECOND);
    let woke = time.elapsed();
    rigs.iter().for_each(|rig| rig.handle.resume());
    time.advance(SECOND);
    let mut came: Vec<_> = rigs.iter().map(|rig| rig.upstream.requests.borrow().last().unwrap().at() - woke).collect();
    came.sort_unstable();
    assert!(rigs.iter().all(|rig| (rig.lists(), rig.watches()) == (1, 2)));
    assert!(came[10] > 50 && came[49] <= SECOND, "{came:?}");
}

/// A lone reflector waits for no other.
#[test]
fn law_10_deadline_a_lone_reflector_is_back_within_one_round_trip() {
    let rig = ReflectorRig::with(92, config(), 0, |upstream| fill(upstream, 2));
    rig.run(10 * SECOND);
    rig.upstream.freeze_streams();
    rig.upstream.put("ns", "missed");
    rig.time.suspend(10 * MINUTE);
    rig.handle.resume();
    rig.run(0).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 2));
    // No event tells of the sleep, so the first timer finds it.
    rig.upstream.freeze_streams();
    rig.upstream.put("ns", "missed-too");
    rig.time.suspend(10 * MINUTE);
    rig.run(0).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 3));
}

// ------------------------------------------------------------------------------------ early tries

type Ask = (&'static str, fn(&ReflectorRig));

/// What a user may do at each failure.
const ASKS: [Ask; 3] = [
    ("resume", |rig| rig.handle.resume()),
    ("refresh", |rig| rig.handle.refresh()),
    ("pause and resume", |rig| {
        rig.handle.pause();
        rig.run(1);
        rig.handle.resume();
    }),
];

const REFUSALS: [(u16, &str); 6] = [
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "NotFound"),
    (405, "MethodNotAllowed"),
    (500, "InternalError"),
    (503, "ServiceUnavailable"),
];

fn refusing(seed: u64, code: u16, reason: &str) -> ReflectorRig {
    let error = status(code, reason);
    ReflectorRig::with(seed, config(), 0, |upstream| {
        fill(upstream, 1);
        upstream.list_faults.borrow_mut().extend(std::iter::repeat_n(ListFault::Refuse(error), 1000));
    })
}

fn is_waiting(rig: &ReflectorRig) -> bool {
    use Connection::{Failed, NeedsAuth, Waiting};
    matches!(rig.replay.borrow().last_connection(), Some(Waiting { .. } | Failed { .. } | NeedsAuth { .. }))
}

#[test]
fn js_13_early_tries_at_each_failure_are_granted_three_times_a_minute() {
    for (code, reason) in REFUSALS {
        for (name, ask) in ASKS {
            let rig = refusing(50, code, reason);
            let until = |end: u64, step: u64| {
                while rig.time.elapsed() < end {
                    rig.run(step);
                    if is_waiting(&rig) {
                        ask(&rig);
                    }
                }
                rig.lists()
            };
            // The first list, three early ones, and for 401 the one with new credentials.
            let least = 4 + usize::from(code == 401);
            assert_eq!(until(SECOND, 10), least, "{code}, {name}: in the first second");
            let minute = until(59 * SECOND, 100);
            assert!((least..=9).contains(&minute), "{code}, {name}: {minute} in the first minute");
            assert!(code != 405 || minute == least, "nobody but who asks has it asked again");
            let more = until(10 * MINUTE, SECOND) - minute;
            assert!((9 * 2..=9 * 6).contains(&more), "{code}, {name}: {more} in the nine minutes after");
        }
    }
}

#[test]
fn a_single_early_try_is_granted_at_once() {
    for (code, reason) in REFUSALS {
        for (name, ask) in ASKS {
            let rig = refusing(51, code, reason);
            // Long waits by now, and for 405 nothing else would end them.
            rig.run(10 * MINUTE);
            for _ in 0..3 {
                let before = rig.lists();
                while !is_waiting(&rig) {
                    rig.run(1);
                }
                ask(&rig);
                rig.run(20);
                assert_eq!(rig.lists(), before + 1, "{code}, {name}");
                rig.run(25 * SECOND);
            }
            rig.run(10 * MINUTE);
            rig.upstream.list_faults.borrow_mut().clear();
            ask(&rig);
            rig.run(20).assert_whole();
        }
    }
}

/// An early try beyond the limit is neither lost nor made at once.
#[test]
fn an_early_try_too_many_is_granted_when_the_minute_is_over() {
    let mut error = status(429, "TooManyRequests");
    error.retry_after_seconds = Some(3600);
    let mistake = status(405, "MethodNotAllowed");
    for error in [error, mistake] {
        for (name, ask) in ASKS {
            let rig = ReflectorRig::with(52, config(), 0, |upstream| {
                fill(upstream, 1);
                upstream.list_faults.borrow_mut().extend(std::iter::repeat_n(ListFault::Refuse(error.clone()), 4));
            });
            for _ in 0..4 {
                rig.run(SECOND);
                ask(&rig);
            }
            rig.run(50 * SECOND);
            assert_eq!(rig.lists(), 4, "{name}");
            assert!(is_waiting(&rig), "{name}");
            rig.run(10 * SECOND).assert_whole();
            assert_eq!(rig.lists(), 5, "{name}");
        }
    }
}

#[test]
fn whoever_signs_in_is_asked_at_once_however_many_early_tries_there_were() {
    let mut error = status(401, "Unauthorized");
    error.retry_after_seconds = Some(3600);
    let rig = ReflectorRig::with(53, config(), 0, |upstream| {
        fill(upstream, 1);
        upstream.list_faults.borrow_mut().extend(std::iter::repeat_n(ListFault::Refuse(error), 1000));
    });
    for _ in 0..5 {
        rig.run(SECOND);
        rig.handle.resume();
    }
    rig.run(SECOND);
    let in_vain = rig.lists();
    for more in 1..=5 {
        rig.handle.signed_in();
        rig.run(20);
        assert_eq!(rig.lists(), in_vain + more, "those that come one after the other");
        assert!(is_waiting(&rig));
        rig.run(SECOND);
        assert_eq!(rig.lists(), in_vain + more, "each is asked once");
    }
    rig.upstream.list_faults.borrow_mut().clear();
    rig.handle.signed_in();
    rig.run(20).assert_whole();
    // What is said where nobody waits for it makes no later wait shorter than the watch that stood meanwhile.
    rig.handle.signed_in();
    rig.run(SECOND).assert_whole();
    assert_eq!(rig.lists(), in_vain + 6);
}

/// Also where the list succeeds, and only the watch is refused.
#[test]
fn early_tries_at_each_refused_watch_are_granted_three_times_a_minute() {
    for (name, ask) in ASKS {
        let rig = ReflectorRig::with(53, config(), 0, |upstream| {
            fill(upstream, 1);
            let error = status(503, "ServiceUnavailable");
            upstream.watch_faults.borrow_mut().extend(std::iter::repeat_n(WatchFault::Refuse(error), 1000));
        });
        for _ in 0..1200 {
            rig.run(50);
            if is_waiting(&rig) {
                ask(&rig);
            }
        }
        assert!((4..=10).contains(&rig.watches()) && rig.lists() <= 10, "{name}: {} watches, {} lists", rig.watches(), rig.lists());
    }
}
