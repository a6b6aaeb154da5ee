//! What a watcher gets before live events: the changes since its version, or the state.
//!
//! The apiserver reads both a hundred at a time while the cache goes on. Here they are captured as references in one step, so nothing that
//! happens later can touch them.

use watchcache::watch::{Demand, EndReason, EventKind, WatchOptions};

use crate::after;
use crate::helpers::rig::{Rig, Setup};

/// A watch after the version before `count` writes, and what it has to hear.
fn history(count: u64) -> (Rig, usize, Vec<String>) {
    let rig = Rig::new(Setup::default(), |_| {});
    let expected: Vec<String> =
        (0..count).map(|number| format!("ADDED a/pod{number}@{}", rig.upstream.put("a", &format!("pod{number}")))).collect();
    rig.run(0);
    let watch = rig.watch(after(100));
    (rig, watch, expected)
}

/// The apiserver has a buffer of a hundred. Here is none, so nothing may change at a hundred.
#[test]
fn int_01_around_a_hundred_events_nothing_is_lost_and_none_are_none() {
    for count in [0, 99, 100, 101] {
        let (rig, watch, expected) = history(count);
        assert_eq!(rig.heard(watch), expected);
    }
}

#[test]
fn int_02_history_comes_in_order_and_whole_whatever_its_length() {
    for count in [0, 5, 100, 105, 1200] {
        let (rig, watch, expected) = history(count);
        assert_eq!(rig.heard(watch), expected);
        rig.upstream.put("a", "more");
        assert_eq!(rig.heard(watch), [format!("ADDED a/more@{}", 101 + count)]);
    }
}

/// Fifty pods, written in the reverse order of their keys, and what a watch from the state hears of them.
fn state() -> (Rig, usize) {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in (0..50).rev() {
            upstream.put(&format!("ns{}", number % 2), &format!("pod{number:02}"));
        }
    });
    let watch = rig.watch(WatchOptions::default());
    rig.run(0);
    (rig, watch)
}

#[test]
fn int_04_the_state_comes_at_the_state_s_version_and_then_no_more() {
    let (rig, watch) = state();
    let heard = rig.client.streams.borrow()[watch].events.clone();
    for event in &heard {
        let (own, document) = &rig.upstream.state()[&event.key];
        assert_eq!((event.kind, event.version, event.own, &*event.document), (EventKind::Added, 150, *own, &**document));
    }
    assert_eq!(rig.heard(watch).len(), 50);
    assert_eq!(rig.heard(watch), [""; 0]);
}

#[test]
fn int_05_the_state_comes_in_key_order() {
    let (rig, watch) = state();
    let heard = rig.client.streams.borrow()[watch].events.clone();
    let keys: Vec<String> = heard.into_iter().map(|event| event.key).collect();
    let expected: Vec<String> = rig.upstream.state().into_keys().collect();
    assert_eq!(keys, expected);
}

/// The apiserver reads the state from a snapshot if it keeps snapshots, and copies it otherwise. Here it is captured either way, so later
/// changes are not in it.
#[test]
fn int_06_the_state_is_captured_whether_or_not_past_states_are_kept() {
    for consistent in [true, false] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.put("a", "x");
            upstream.put("a", "y");
        });
        rig.resource.with(|cacher| cacher.held_mut().set_consistent(consistent));
        let watch = rig.watch_as(WatchOptions::default(), true, Demand::None);
        rig.upstream.delete("a", "x");
        rig.run(0);
        rig.demand(watch, Demand::All);
        assert_eq!(rig.heard(watch), ["ADDED a/x@102", "ADDED a/y@102", "DELETED a/x@103"]);
    }
}

/// In the apiserver such a stream closes after a hundred events: the window has overwritten what it was reading.
#[test]
fn int_08_what_leaves_the_window_still_comes_to_a_watch_that_began_before() {
    let rig = Rig::new(Setup::window(250), |upstream| upstream.pass(899));
    for number in 0..250 {
        assert_eq!(rig.upstream.put("a", &format!("pod{number}")), 1000 + number);
    }
    rig.run(0);
    let options = WatchOptions { namespace: Some("a".into()), ..after(999) };
    let watch = rig.watch_as(options, true, Demand::None);
    for number in 0..250 {
        rig.upstream.put("b", &format!("pod{number}"));
    }
    rig.run(0);
    assert_eq!(rig.resource.with(|cacher| cacher.held().window().oldest().unwrap().as_u64()), Some(1249));
    rig.demand(watch, Demand::All);
    let expected: Vec<String> = (0..250).map(|number| format!("ADDED a/pod{number}@{}", 1000 + number)).collect();
    assert_eq!((rig.heard(watch), rig.ended(watch)), (expected, None));
    // A list replaces everything. Then the stream closes, without an ERROR.
    let read = rig.watch_as(WatchOptions { namespace: Some("b".into()), ..after(1249) }, true, Demand::None);
    rig.lose_history(|_| {});
    rig.demand(read, Demand::All);
    assert_eq!(rig.ended(read), Some(EndReason::Relist));
    assert!(!rig.heard(read).iter().any(|event| event.starts_with("ERROR")));
}
