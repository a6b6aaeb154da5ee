//! Watchers beside each other: which one is slow, and that no other pays for it.

use std::rc::Rc;

use watchcache::cache::signal;
use watchcache::runtime::{Spawn, Timer};
use watchcache::watch::{Demand, EndReason, WatchOptions};

use crate::after;
use crate::helpers::rig::{Rig, Setup};

fn small(buffer: usize) -> WatchOptions {
    WatchOptions { buffer_size: Some(buffer), ..after(100) }
}

/// Reads nothing.
fn silent(rig: &Rig, buffer: usize) -> usize {
    rig.watch_as(small(buffer), true, Demand::None)
}

fn put(rig: &Rig, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("ADDED a/pod{number:02}@{}", rig.upstream.put("a", &format!("pod{number:02}")))).collect()
}

#[test]
fn dsp_01_a_fast_watcher_hears_everything_beside_a_blocked_one() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let (blocked, fast) = (silent(&rig, 10), rig.watch(after(100)));
    let expected = put(&rig, 50);
    rig.run(2000);
    assert_eq!(rig.heard(fast), expected);
    assert_eq!(rig.ended(blocked), None, "it has not read that it is over");
    rig.demand(blocked, Demand::All);
    assert_eq!(rig.heard(blocked), expected[..10]);
    assert_eq!(rig.ended(blocked), Some(EndReason::Overflow));
}

#[test]
fn dsp_02_fifty_silent_watchers_are_ended_and_cost_the_reader_little() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let silents: Vec<usize> = (0..50).map(|_| silent(&rig, 10)).collect();
    let reader = rig.watch_as(small(10), true, Demand::Batch(0));
    let expected = put(&rig, 22);
    let (began, mut heard) = (rig.time.elapsed(), Vec::new());
    while heard.len() < expected.len() {
        rig.run(1);
        heard.extend(rig.heard(reader));
        rig.demand(reader, Demand::Batch(0));
        assert!(rig.time.elapsed() - began < 1000, "{heard:?}");
    }
    assert_eq!(heard, expected);
    assert!(rig.time.elapsed() - began <= 200, "all of them share one budget");
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), 50);
    assert_ne!(rig.client.signals.get() & signal::OVERFLOW, 0);
    for silent in silents {
        rig.demand(silent, Demand::All);
        assert_eq!((rig.heard(silent).len(), rig.ended(silent)), (10, Some(EndReason::Overflow)));
        assert_eq!(rig.resume_from(silent), Some(110));
    }
}

#[test]
fn dsp_04_blocked_watchers_share_one_deadline() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let (one, two, reader) = (silent(&rig, 1), silent(&rig, 1), rig.watch(after(100)));
    let began = rig.time.elapsed();
    put(&rig, 3);
    rig.run(99);
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), 0);
    assert_eq!(rig.heard(reader).len(), 2, "the others wait for the blocked ones, up to the budget");
    rig.run(1);
    assert_eq!(rig.heard(reader).len(), 1);
    assert_eq!((rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), rig.time.elapsed() - began), (2, 100));
    for stream in [one, two] {
        rig.demand(stream, Demand::All);
        assert_eq!((rig.heard(stream), rig.ended(stream)), (vec!["ADDED a/pod00@101".into()], Some(EndReason::Overflow)));
    }
}

#[test]
fn a_blocked_watcher_that_makes_room_in_time_goes_on() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let slow = silent(&rig, 1);
    let expected = put(&rig, 6);
    let mut heard = Vec::new();
    for _ in 0..6 {
        rig.run(15);
        rig.demand(slow, Demand::Batch(0));
        heard.extend(rig.heard(slow));
    }
    rig.demand(slow, Demand::All);
    heard.extend(rig.heard(slow));
    assert_eq!(heard, expected);
    assert_eq!((rig.ended(slow), rig.resource.with(|cacher| cacher.stats().dispatcher.terminated)), (None, 0));
}

#[test]
fn the_time_for_slow_watchers_runs_out_and_comes_back() {
    let rig = Rig::new(Setup::default(), |_| {});
    let terminated = || rig.resource.with(|cacher| cacher.stats().dispatcher.terminated);
    // At the start there is none, and whoever blocks ends at once.
    silent(&rig, 1);
    put(&rig, 2);
    rig.run(0);
    assert_eq!(terminated(), 1);
    // A second earns 50 ms.
    rig.run(1000);
    rig.watch_as(WatchOptions { buffer_size: Some(1), ..after(102) }, true, Demand::None);
    put(&rig, 2);
    rig.run(49);
    assert_eq!(terminated(), 1);
    rig.run(1);
    assert_eq!(terminated(), 2);
}

/// The number of an ended watcher is used again. What was meant for the old watcher must not reach the new one.
#[test]
fn an_event_that_found_no_room_is_not_for_the_next_watcher_of_that_number() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000);
    let slow = silent(&rig, 1);
    put(&rig, 2);
    rig.run(10);
    rig.client.vanish(&rig.resource, slow);
    rig.run(1);
    let other = rig.watch(WatchOptions { namespace: Some("b".into()), ..after(100) });
    let id = |stream: usize| rig.client.streams.borrow()[stream].id;
    assert_eq!(id(slow), id(other));
    rig.run(1000);
    rig.upstream.put("b", "z");
    assert_eq!(rig.heard(other), ["ADDED b/z@103"]);
}

/// A watcher that takes everything only waits for the next flush, however much is handed out first.
#[test]
fn a_watcher_that_takes_everything_is_never_too_slow() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in 0..2000 {
            upstream.put("a", &format!("pod{number:04}"));
        }
    });
    let all = rig.watch(WatchOptions { buffer_size: Some(1), ..WatchOptions::default() });
    for number in 0..50 {
        rig.upstream.put("b", &format!("pod{number}"));
    }
    rig.run(1000);
    assert_eq!((rig.ended(all), rig.heard(all).len()), (None, 2050));
}

/// Bookmarks have a timer of their own. It may fire in the very moment in which a reader has made room for an event that waits.
#[test]
fn bkm_06_a_bookmark_does_not_overtake_an_event_that_waits_for_room() {
    let rig = Rig::new(Setup::default(), |_| {});
    for millis in 60_000..62_500 {
        let (timer, upstream) = (rig.time.sleep(millis), rig.upstream.clone());
        rig.time.spawn(Box::pin(async move {
            timer.await;
            for name in ["x", "y", "z"] {
                upstream.put("a", name);
            }
        }));
    }
    let reader = rig.watch_as(WatchOptions { allow_watch_bookmarks: true, ..small(1) }, true, Demand::Batch(0));
    let id = rig.client.streams.borrow()[reader].id;
    *rig.client.between.borrow_mut() = Some(Rc::new(move |resource| resource.demand(id, Demand::Batch(0))));
    rig.run(70_000);
    let events = rig.client.streams.borrow()[reader].events.clone();
    let changes = events.iter().filter(|event| event.is_change()).map(|event| event.version);
    assert!(changes.eq(101..101 + 7500), "the order itself is checked at each event");
    assert_eq!(rig.ended(reader), None);
}

/// A queue holds what a full window has of a second, within bounds. It is short if the trigger finds the watcher, which then hears little.
#[test]
fn the_length_of_a_queue_depends_on_the_window_and_the_trigger() {
    let bounds = watchcache::store::WindowBounds { lower: 102_400, upper: 102_400, ..Setup::default().window };
    let rig = Rig::new(Setup { window: bounds, ..Setup::default() }, |_| {});
    let room = |selector: Option<&str>| {
        let stream = rig.watch_as(WatchOptions { field_selector: selector.map(Into::into), ..after(100) }, true, Demand::None);
        let id = rig.client.open(stream).unwrap();
        rig.resource.with(|cacher| cacher.dispatcher().get(id).unwrap().capacity())
    };
    assert_eq!((room(None), room(Some("spec.nodeName=n1"))), (100, 100));
    let path = watchcache::json::path::Path::parse("spec.nodeName").unwrap();
    rig.resource.with(|cacher| cacher.watching().set_trigger(&path));
    assert_eq!((room(None), room(Some("spec.nodeName=n1")), room(Some("spec.nodeName!=n1"))), (1000, 10, 1000));
    let small = Rig::new(Setup::default(), |_| {});
    let stream = small.watch_as(after(100), true, Demand::None);
    let id = small.client.open(stream).unwrap();
    assert_eq!(small.resource.with(|cacher| cacher.dispatcher().get(id).unwrap().capacity()), 10);
}

/// What the apiserver counts, and under which conditions.
#[test]
fn dispatching_is_counted() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.upstream.put("a", "old");
    rig.run(0);
    let _state = rig.watch(WatchOptions::default());
    silent(&rig, 1);
    put(&rig, 3);
    rig.run(200);
    let count = |of: fn(&watchcache::metrics::Metrics) -> u64| rig.resource.with(|cacher| of(cacher.metrics()));
    // One of the state, and one of the history that the silent one began with.
    assert_eq!(count(|metrics| metrics.init_events.get()), 2);
    assert_eq!(count(|metrics| metrics.terminated_watchers.get()), 1);
    let before = count(|metrics| metrics.events_dispatched.get());
    assert!(before >= 3);
    rig.upstream.pass(1);
    rig.upstream.bookmark();
    rig.run(0);
    assert_eq!(count(|metrics| metrics.events_dispatched.get()), before + 1, "bookmarks count");
}
