//! How streams begin, what they hold back, and how they end.

use watchcache::watch::event::EndReason;
use watchcache::watch::options::WatchOptions;
use watchcache::watch::watcher::Demand;

use crate::support::rig::{Rig, Setup};
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

/// In the apiserver a stream is drained only when the end of its initial events has found room. Here that end never needs room.
#[test]
fn cwl_05_and_06_a_stream_that_is_too_slow_delivers_what_it_holds_and_then_ends() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "1");
        upstream.put("a", "2");
    });
    let slow = silent(&rig, WatchOptions { buffer_size: Some(2), ..initial(None, true, true) });
    rig.run(0);
    for name in ["5", "15", "20"] {
        rig.upstream.put("a", name);
    }
    rig.run(1000);
    assert_eq!((rig.heard(slow), rig.ended(slow)), (vec![], None));
    rig.upstream.put("a", "25");
    rig.demand(slow, Demand::All);
    assert_eq!(rig.heard(slow), ["ADDED a/1@102", "ADDED a/2@102", "INITIAL-EVENTS-END @102", "ADDED a/5@103", "ADDED a/15@104"]);
    assert_eq!((rig.ended(slow), rig.resume_from(slow)), (Some(EndReason::Overflow), Some(104)));
    let resumed = rig.watch(after(104));
    assert_eq!(rig.heard(resumed), ["ADDED a/20@105", "ADDED a/25@106"]);
}

#[test]
fn cwl_10_what_a_stopped_stream_delivered_is_a_prefix() {
    let rig = Rig::new(Setup::default(), |_| {});
    let slow = silent(&rig, after(100));
    for number in 0..21 {
        rig.upstream.put("a", &format!("pod{number:02}"));
    }
    rig.run(1000);
    rig.demand(slow, Demand::Batch(0));
    let heard = rig.heard(slow);
    assert!(heard.len() >= 10, "a second's worth at least is held back: {heard:?}");
    let expected: Vec<String> = (0..heard.len()).map(|number| format!("ADDED a/pod{number:02}@{}", 101 + number)).collect();
    assert_eq!(heard, expected);
    rig.stop(slow);
    assert_eq!(rig.heard(slow), [""; 0]);
    assert_eq!(rig.resume_from(slow), Some(100 + heard.len() as u64));
}

#[test]
fn cwl_11_a_stop_between_two_batches_goes_on_at_the_first_event_not_read() {
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
fn cwl_13_a_stream_ends_at_its_time() {
    let rig = Rig::new(Setup::default(), |_| {});
    let timed = rig.watch(WatchOptions { timeout_seconds: Some(30), ..after(100) });
    rig.upstream.put("a", "x");
    rig.run(29_999);
    assert_eq!((rig.heard(timed), rig.ended(timed)), (vec!["ADDED a/x@101".into()], None));
    rig.run(1500);
    assert_eq!((rig.ended(timed), rig.resume_from(timed)), (Some(EndReason::Timeout), Some(101)));
}

#[test]
fn cwl_14_a_watch_that_was_stopped_before_it_began_hears_nothing_nor_does_its_number() {
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
fn cwl_15_a_stream_that_ends_while_an_event_waits_for_room_says_where_it_stopped() {
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
fn cwl_16_a_relist_ends_streams_after_what_they_hold() {
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
fn st_06_the_bytes_held_stay_right_when_fields_are_wanted_later() {
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
