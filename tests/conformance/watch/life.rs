//! How streams begin, what they hold back, and how they end.

use watchcache::status::Error;
use watchcache::watch::{Demand, EndReason, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::ListFault;
use crate::{after, initial};

fn silent(rig: &Rig, options: WatchOptions) -> usize {
    rig.watch_as(options, true, Demand::None)
}

#[test]
fn cwl_01_a_stream_that_nobody_reads_can_be_stopped() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
    });
    let unread = silent(&rig, WatchOptions::default());
    rig.run(0);
    rig.stop(unread);
    assert_eq!((rig.heard(unread), rig.ended(unread), rig.resume_from(unread)), (vec![], Some(EndReason::Stopped), None));
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.watchers), 0);
}

/// A subscriber that stops amid a batch says what it saw last. The core says whether a watch can go on from there.
#[test]
fn a_stream_that_begins_with_a_state_is_resumed_only_from_behind_that() {
    let rig = Rig::new(Setup::default(), |upstream| _ = upstream.put("a", "x"));
    let resumes = |options: WatchOptions| {
        let id = rig.resource.watch(options, true);
        rig.run(0);
        [false, true].map(|past| rig.resource.with(|cacher| cacher.dispatcher().get(id).unwrap().resumes_from_seen(past)))
    };
    let asked = |version: Option<&str>, send_initial_events: Option<bool>| WatchOptions {
        resource_version: version.map(Into::into),
        resource_version_match: send_initial_events.map(|_| "NotOlderThan".into()),
        send_initial_events,
        allow_watch_bookmarks: true,
        ..WatchOptions::default()
    };
    for version in [None, Some("0"), Some("100")] {
        assert_eq!(resumes(asked(version, Some(true))), [false, true], "{version:?}, with a state");
        assert_eq!(resumes(asked(version, Some(false))), [true, true], "{version:?}, without one");
        assert_eq!(resumes(asked(version, None)), [version == Some("100"), true], "{version:?}");
    }
}

#[test]
fn cwl_02_nothing_comes_twice_after_the_state() {
    let rig = Rig::new(Setup::default(), |_| {});
    for number in 0..10 {
        rig.upstream.put("a", &format!("pod{number}"));
    }
    rig.run(0);
    let state = silent(&rig, WatchOptions::default());
    // Sent once more by the server: part of the state already.
    rig.upstream.repeat(3);
    rig.demand(state, Demand::All);
    assert_eq!(rig.heard(state).len(), 10);
    rig.resource.close();
    assert_eq!((rig.heard(state), rig.ended(state)), (vec![], Some(EndReason::Closed)));
}

/// The version of a cluster is that of its last write to any resource. If nobody says that a quiet resource is up to date, its list does.
#[test]
fn cwl_02_initial_events_of_a_quiet_resource_in_a_busy_cluster_are_the_upstreams_own_list() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
        upstream.put("b", "x");
    });
    rig.run(2000);
    rig.upstream.freeze_streams();
    rig.upstream.delete("a", "y");
    rig.upstream.pass(5);
    let named = WatchOptions { namespace: Some("a".into()), name: Some("x".into()), ..initial(None, true, true) };
    let streams = [initial(None, true, true), named].map(|options| rig.watch(options));
    rig.run(249);
    assert_eq!(rig.heard(streams[0]), [""; 0], "a stream that is busy is waited for");
    rig.run(1);
    assert_eq!(rig.heard(streams[0]), ["ADDED a/x@109", "ADDED b/x@109", "INITIAL-EVENTS-END @109"]);
    assert_eq!(rig.heard(streams[1]), ["ADDED a/x@109", "INITIAL-EVENTS-END @109"]);
    assert_eq!(rig.version(), 103, "what is held waits for the stream");
    rig.upstream.drop_streams();
    rig.upstream.put("a", "x");
    rig.run(2000);
    for stream in streams {
        assert_eq!(rig.heard(stream), ["MODIFIED a/x@110", "BOOKMARK @110"], "the deletion was before the list");
    }

    // The upstream tells nothing and does not list. Then the version is treated like any other that does not come.
    rig.upstream.freeze_streams();
    rig.upstream.pass(5);
    rig.upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Refuse(Error::network("connection refused"))]);
    let late = rig.watch(initial(None, true, true));
    rig.run(4000);
    assert_eq!(rig.heard(late), ["ERROR 504 Timeout: Timeout: Too large resource version: 115, current: 110"]);
}

#[test]
fn cwl_04_a_stream_that_is_to_be_drained_can_be_stopped_unread() {
    let rig = Rig::new(Setup::default(), |_| {});
    let slow = silent(&rig, WatchOptions { buffer_size: Some(2), ..after(100) });
    for name in ["x", "y", "z"] {
        rig.upstream.put("a", name);
    }
    rig.run(1000);
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), 1);
    for _ in 0..3 {
        rig.stop(slow);
    }
    assert_eq!((rig.heard(slow), rig.ended(slow)), (vec![], Some(EndReason::Overflow)), "the first reason counts");
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.watchers), 0);
}

/// A stream of initial events that nobody reads, too slow for what follows them.
fn too_slow_for_its_beginning() -> (Rig, usize) {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "1");
        upstream.put("a", "2");
    });
    let slow = silent(&rig, WatchOptions { buffer_size: Some(2), ..initial(None, true, true) });
    rig.run(0);
    for name in ["5", "15", "20"] {
        rig.upstream.put("a", name);
    }
    rig.run(100);
    (rig, slow)
}

/// In the apiserver such a stream ends at once and loses initial events, because their end finds no room in the queue. Here that end is one
/// of them and needs no room. The stream is terminated all the same, but what it holds can still be read.
#[test]
fn cwl_05_a_stream_whose_initial_events_nobody_reads_is_terminated() {
    let (rig, slow) = too_slow_for_its_beginning();
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), 1);
    assert_eq!((rig.heard(slow), rig.ended(slow)), (vec![], None), "it has not read that it is over");
    rig.upstream.put("a", "25");
    rig.stop(slow);
    assert_eq!((rig.heard(slow), rig.ended(slow), rig.resume_from(slow)), (vec![], Some(EndReason::Overflow), None));
}

#[test]
fn cwl_06_what_a_terminated_stream_holds_is_delivered_with_the_end_of_its_initial_events() {
    let (rig, slow) = too_slow_for_its_beginning();
    rig.upstream.put("a", "25");
    rig.demand(slow, Demand::All);
    assert_eq!(rig.heard(slow), ["ADDED a/1@102", "ADDED a/2@102", "INITIAL-EVENTS-END @102", "ADDED a/5@103", "ADDED a/15@104"]);
    assert_eq!((rig.ended(slow), rig.resume_from(slow)), (Some(EndReason::Overflow), Some(104)));
    let resumed = rig.watch(after(104));
    assert_eq!(rig.heard(resumed), ["ADDED a/20@105", "ADDED a/25@106"]);
}

/// Nothing runs in parallel here. Of the race only the order is left. A stop comes before, at or after the moment in which the time for
/// slow watchers runs out.
#[test]
fn cwl_08_a_stop_around_the_end_of_the_time_for_slow_watchers_blocks_nobody() {
    for moment in 48..=52 {
        let rig = Rig::new(Setup::default(), |_| {});
        rig.run(1000);
        let slow = silent(&rig, WatchOptions { buffer_size: Some(1), ..after(100) });
        let other = rig.watch(after(100));
        rig.upstream.put("a", "x");
        rig.upstream.put("a", "y");
        rig.run(moment);
        rig.stop(slow);
        rig.upstream.put("a", "z");
        assert_eq!(rig.heard(other).len(), 3, "at {moment}");
        let fresh = silent(&rig, after(103));
        rig.upstream.put("a", "new");
        rig.demand(fresh, Demand::All);
        assert_eq!(rig.heard(fresh), ["ADDED a/new@104"], "at {moment}");
        assert_eq!(rig.heard(other).len(), 1);
        assert!(rig.ended(slow).is_some());
    }
}

/// Bookmarks are handed out by a timer of their own; stops come at every moment around it, a thousand of them.
#[test]
fn cwl_09_bookmarks_beside_stops_leave_no_stream_open() {
    let rig = Rig::new(Setup::default(), |_| {});
    let options = || WatchOptions { allow_watch_bookmarks: true, timeout_seconds: Some(4), ..after(100) };
    let streams: Vec<usize> = (0..1000).map(|_| rig.watch(options())).collect();
    // Each has a neighbour that takes nothing, whose bookmark waits when it is stopped.
    let unread: Vec<usize> = (0..1000).map(|_| silent(&rig, options())).collect();
    rig.upstream.put("a", "x");
    let (mut told, mut open) = (Vec::new(), 2000);
    for (stream, unread) in streams.iter().zip(&unread) {
        rig.run(3);
        rig.stop(*stream);
        rig.stop(*unread);
        open -= 2;
        assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.watchers), open, "it is over at once");
        told.push(rig.heard(*stream));
        for stopped in [stream, unread] {
            assert_eq!(rig.ended(*stopped), Some(EndReason::Stopped), "and says so");
        }
    }
    rig.upstream.put("a", "y");
    rig.run(5000);
    for (stream, unread) in streams.iter().zip(unread) {
        assert_eq!((rig.heard(*stream), rig.heard(unread)), (vec![], vec![]), "nothing follows the end");
    }
    // Each stream hears at most one bookmark, and who is there when it comes hears it.
    let late = told.iter().position(|heard| heard.len() > 1).expect("bookmarks come before the last stop");
    assert!(late > 500, "two seconds before the end of its time: {late}");
    for (number, heard) in told.iter().enumerate() {
        let expected: &[&str] = if number < late { &["ADDED a/x@101"] } else { &["ADDED a/x@101", "BOOKMARK @101"] };
        assert_eq!(heard, expected, "{number}");
    }
}

/// The number of a stopped watcher is used again while its bookmark is still planned.
#[test]
fn cwl_09_a_bookmark_planned_for_a_stopped_watcher_is_not_for_the_next_of_its_number() {
    let rig = Rig::new(Setup::default(), |_| {});
    let open = || rig.watch(WatchOptions { allow_watch_bookmarks: true, ..after(100) });
    let gone = open();
    rig.run(30_000);
    rig.client.vanish(&rig.resource, gone);
    rig.run(1);
    let other = open();
    let id = |stream: usize| rig.client.streams.borrow()[stream].id;
    assert_eq!(id(gone), id(other));
    rig.upstream.put("a", "x");
    rig.run(45_000);
    assert_eq!(rig.heard(other), ["ADDED a/x@101"], "its own comes a minute after its beginning");
    rig.run(20_000);
    assert_eq!(rig.heard(other), ["BOOKMARK @101"]);
}

#[test]
fn cwl_10_what_a_stopped_stream_delivered_is_a_prefix() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let slow = silent(&rig, after(100));
    for number in 0..21 {
        rig.upstream.put("a", &format!("pod{number:02}"));
    }
    rig.run(0);
    // A second's worth is held back; reading it makes room for more.
    for _ in 0..2 {
        rig.demand(slow, Demand::Batch(0));
        rig.run(0);
    }
    assert_eq!(rig.ended(slow), None, "reading has made room in time");
    rig.stop(slow);
    let heard = rig.heard(slow);
    assert_eq!(rig.ended(slow), Some(EndReason::Stopped));
    assert!(heard.len() >= 11, "{heard:?}");
    let expected: Vec<String> = (0..heard.len()).map(|number| format!("ADDED a/pod{number:02}@{}", 101 + number)).collect();
    assert_eq!(heard, expected);
    assert_eq!(rig.resume_from(slow), Some(100 + heard.len() as u64));
    rig.demand(slow, Demand::All);
    rig.upstream.put("a", "late");
    rig.run(1000);
    assert_eq!(rig.heard(slow), [""; 0], "a prefix, and nothing behind it");
    // A watch that goes on from there misses nothing.
    let resumed = rig.watch(after(100 + heard.len() as u64));
    let rest = rig.heard(resumed);
    assert_eq!((rest.len(), rest.last().map(String::as_str)), (22 - heard.len(), Some("ADDED a/late@122")));
}

#[test]
fn a_stop_between_two_batches_goes_on_at_the_first_event_not_read() {
    let rig = Rig::new(Setup::default(), |_| {});
    let slow = silent(&rig, WatchOptions { buffer_size: Some(4), ..after(100) });
    for number in 0..3 {
        rig.upstream.put("a", &format!("pod{number}"));
    }
    rig.demand(slow, Demand::Batch(0));
    assert_eq!(rig.heard(slow).len(), 3);
    rig.upstream.pass(1);
    rig.upstream.put("a", "pod3");
    rig.upstream.put("a", "pod4");
    rig.run(0);
    rig.stop(slow);
    rig.run(0);
    assert_eq!(rig.resume_from(slow), Some(104));
}

#[test]
fn cwl_12_all_watchers_share_one_event_and_a_delete_changes_nothing_held() {
    let rig = Rig::new(Setup::default(), |_| {});
    let streams: Vec<usize> = (0..3).map(|_| rig.watch(after(100))).collect();
    rig.upstream.put("a", "x");
    rig.upstream.put("a", "x");
    rig.upstream.delete("a", "x");
    rig.run(0);
    let seen = rig.client.streams.borrow();
    assert_eq!(format!("{:?}", seen[streams[0]].events), "[ADDED a/x@101, MODIFIED a/x@102, DELETED a/x@103]");
    assert!(streams.iter().all(|stream| seen[*stream].events == seen[streams[0]].events));
    let modified = &seen[streams[0]].events[1].document;
    assert!(modified.contains("\"resourceVersion\":\"102\""), "{modified}");
    assert_eq!(seen[streams[0]].events[2].document, modified.replace("\"102\"", "\"103\""));
    drop(seen);
    let again = rig.watch(after(101));
    rig.run(0);
    assert_eq!(rig.client.streams.borrow()[again].events, rig.client.streams.borrow()[streams[0]].events[1..]);
}

#[test]
fn a_stream_ends_at_its_time() {
    let rig = Rig::new(Setup::default(), |_| {});
    let timed = rig.watch(WatchOptions { timeout_seconds: Some(30), ..after(100) });
    rig.upstream.put("a", "x");
    rig.run(29_999);
    assert_eq!((rig.heard(timed), rig.ended(timed)), (vec!["ADDED a/x@101".into()], None));
    rig.run(1500);
    assert_eq!((rig.ended(timed), rig.resume_from(timed)), (Some(EndReason::Timeout), Some(101)));
}

#[test]
fn a_watch_that_was_stopped_before_it_began_hears_nothing_nor_does_its_number() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let stopped = rig.watch(WatchOptions::default());
    rig.stop(stopped);
    assert_eq!((rig.ended(stopped), rig.resume_from(stopped)), (Some(EndReason::Stopped), None));
    let other = rig.watch(WatchOptions { name: Some("y".into()), ..WatchOptions::default() });
    let id = |stream: usize| rig.client.streams.borrow()[stream].id;
    assert_eq!(id(stopped), id(other));
    rig.resource.start();
    assert_eq!((rig.heard(stopped), rig.heard(other)), (vec![], vec![]));
    rig.upstream.put("a", "x");
    rig.upstream.put("a", "y");
    assert_eq!(rig.heard(other), ["ADDED a/y@103"]);
}

#[test]
fn a_stream_that_ends_while_an_event_waits_for_room_says_where_it_stopped() {
    for close in [true, false] {
        let rig = Rig::new(Setup::default(), |_| {});
        rig.run(20_000);
        let options = WatchOptions { buffer_size: Some(1), timeout_seconds: Some(1), ..after(100) };
        let slow = silent(&rig, options);
        rig.run(if close { 500 } else { 990 });
        rig.upstream.put("a", "x");
        rig.upstream.put("a", "y");
        rig.run(5);
        if close {
            rig.resource.close();
        }
        rig.run(5000);
        rig.demand(slow, Demand::All);
        assert_eq!(rig.heard(slow), ["ADDED a/x@101"]);
        let reason = rig.ended(slow).unwrap();
        assert!(if close { reason == EndReason::Closed } else { matches!(reason, EndReason::Timeout | EndReason::Overflow) });
        assert_eq!(rig.resume_from(slow), Some(101));
    }
}

#[test]
fn a_relist_ends_streams_after_what_they_hold() {
    let rig = Rig::new(Setup::default(), |_| {});
    let slow = silent(&rig, after(100));
    rig.upstream.put("a", "x");
    rig.lose_history(|upstream| upstream.pass(1));
    assert_eq!((rig.heard(slow), rig.ended(slow)), (vec![], None));
    rig.demand(slow, Demand::All);
    assert_eq!((rig.heard(slow), rig.ended(slow)), (vec!["ADDED a/x@101".into()], Some(EndReason::Relist)));
    assert_eq!(rig.resume_from(slow), Some(101));
}

#[test]
fn the_bytes_held_stay_right_when_fields_are_wanted_later() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    for path in 0..40 {
        rig.watch(WatchOptions { field_selector: Some(format!("spec.f{path}=1")), ..WatchOptions::default() });
    }
    rig.run(0);
    rig.upstream.delete("a", "x");
    rig.run(0);
    assert_eq!(rig.resource.with(|cacher| cacher.store().bytes()), 0);
}

/// The list that it waits for has not begun, so it would wait for as long as the upstream is away.
#[test]
fn a_watch_that_is_stopped_while_it_waits_leaves_no_task() {
    let rig = Rig::idle(Setup::default(), |_| {});
    rig.run(0);
    let before = rig.time.tasks();
    let waiting = rig.watch(WatchOptions::default());
    rig.run(1000);
    assert!(rig.time.tasks() > before, "it waits for the first list");
    rig.stop(waiting);
    rig.run(0);
    assert_eq!((rig.ended(waiting), rig.time.tasks()), (Some(EndReason::Stopped), before));
}
