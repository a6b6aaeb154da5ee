//! When a stream says which version it has reached.

use watchcache::watch::{EndReason, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::{after, before, initial};

fn with_bookmarks(version: u64) -> WatchOptions {
    WatchOptions { allow_watch_bookmarks: true, ..after(version) }
}

#[test]
fn bookmarks_come_once_a_minute_and_shortly_before_the_deadline() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(WatchOptions { timeout_seconds: Some(120), ..with_bookmarks(100) });
    rig.upstream.put("a", "x");
    assert_eq!(rig.heard(watch), ["ADDED a/x@101"]);
    let mut told = Vec::new();
    for second in 1..=125 {
        rig.run(1000);
        told.extend(rig.heard(watch).into_iter().map(|text| (second, text)));
    }
    let [(first, one), (second, two)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((one.as_str(), two.as_str()), ("BOOKMARK @101", "BOOKMARK @101"));
    assert!((60..=62).contains(first) && (118..=120).contains(second), "{told:?}");
    assert_eq!((rig.ended(watch), rig.resume_from(watch)), (Some(EndReason::Timeout), Some(101)));
}

#[test]
fn after_the_close_nothing_waits_for_a_bookmark() {
    let left = |watches: bool| {
        let rig = Rig::new(Setup::default(), |_| {});
        if watches {
            rig.watch(WatchOptions { timeout_seconds: Some(3600), ..with_bookmarks(100) });
        }
        rig.run(5_000);
        rig.resource.close();
        rig.run(2_000);
        rig.time.tasks()
    };
    assert_eq!(left(true), left(false));
}

#[test]
fn bkm_04_several_bookmarks_and_none_goes_back() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(with_bookmarks(100));
    // A minute each, and what the tick adds to it.
    for version in 101..=105 {
        assert_eq!(rig.upstream.put("a", "x"), version);
        rig.run(62_000);
        let heard = rig.heard(watch);
        assert!(heard[0].ends_with(&format!(" a/x@{version}")), "{heard:?}");
        assert_eq!(heard[1..], [format!("BOOKMARK @{version}")]);
    }
    rig.run(62_000);
    assert_eq!(rig.heard(watch), ["BOOKMARK @105"], "though nothing came since");
}

#[test]
fn bkm_05_progress_upstream_is_passed_on() {
    let rig = Rig::new(Setup::default(), |upstream| {
        before(upstream, 1001);
    });
    assert_eq!(rig.version(), 1000);
    let watch = rig.watch(with_bookmarks(1000));
    rig.upstream.pass(1000);
    rig.upstream.bookmark();
    rig.run(65_000);
    assert_eq!(rig.heard(watch), ["BOOKMARK @2000"]);
    assert_eq!(rig.version(), 2000);
}

#[test]
fn bkm_06_a_bookmark_stands_between_what_it_covers_and_what_comes_later() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(with_bookmarks(100));
    for round in 0..40 {
        rig.upstream.put("a", &format!("pod{round}"));
        rig.run(7_000);
    }
    let events = rig.client.streams.borrow()[watch].events.clone();
    let places: Vec<usize> = (0..events.len()).filter(|place| !events[*place].is_change()).collect();
    assert!(places.len() >= 4, "{events:?}");
    for place in places {
        assert!(events[..place].iter().all(|event| event.version <= events[place].version), "{events:?}");
        assert!(events[place..].iter().filter(|event| event.is_change()).all(|event| event.version > events[place].version), "{events:?}");
    }
}

#[test]
fn a_watch_that_did_not_ask_gets_no_bookmark() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(after(100));
    rig.upstream.put("a", "x");
    rig.run(300_000);
    assert_eq!(rig.heard(watch), ["ADDED a/x@101"]);
}

#[test]
fn bkm_08_an_idle_stream_that_is_where_it_began_gets_none() {
    let rig = Rig::new(Setup::default(), |_| {});
    let idle = rig.watch(with_bookmarks(100));
    let ended = rig.watch(initial(None, true, true));
    rig.run(300_000);
    assert_eq!(rig.heard(idle), [""; 0]);
    assert_eq!(rig.heard(ended), ["INITIAL-EVENTS-END @100"]);
    // Events from the history belong to the beginning, too.
    let other = Rig::new(Setup::default(), |_| {});
    other.upstream.put("a", "x");
    other.run(0);
    let history = other.watch(with_bookmarks(100));
    other.run(300_000);
    assert_eq!(other.heard(history), ["ADDED a/x@101"]);
    // A watch from the future is told when the future has come.
    let ahead = rig.watch(with_bookmarks(110));
    rig.upstream.pass(5);
    rig.upstream.bookmark();
    rig.run(65_000);
    assert_eq!(rig.heard(ahead), [""; 0]);
    rig.upstream.pass(10);
    rig.upstream.bookmark();
    rig.run(65_000);
    assert_eq!(rig.heard(ahead), ["BOOKMARK @115"]);
}

/// The documents of all bookmarks of a watch that begins with the state: its end, and a later one.
fn documents() -> Vec<serde_json::Value> {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(initial(None, true, true));
    rig.run(0);
    rig.upstream.put("a", "x");
    rig.run(65_000);
    let events = rig.client.streams.borrow()[watch].events.clone();
    events.iter().filter(|event| !event.is_change()).map(|event| serde_json::from_str(&event.document).unwrap()).collect()
}

#[test]
fn bkm_09_only_the_end_of_the_initial_events_is_annotated() {
    let annotation = |document: &serde_json::Value| document["metadata"]["annotations"]["k8s.io/initial-events-end"].clone();
    let documents = documents();
    assert!(documents.len() >= 2);
    assert_eq!(annotation(&documents[0]), "true");
    assert!(documents[1..].iter().all(|document| annotation(document).is_null()));
}

#[test]
fn bkm_10_a_bookmark_says_nothing_but_a_version() {
    let documents = documents();
    assert!(documents.len() >= 2);
    let end = serde_json::json!({"resourceVersion": "100", "annotations": {"k8s.io/initial-events-end": "true"}});
    assert_eq!(documents[0], serde_json::json!({ "metadata": end }));
    for document in &documents[1..] {
        assert_eq!(*document, serde_json::json!({"metadata": {"resourceVersion": "101"}}));
    }
}

#[test]
fn a_relist_moves_bookmarks_on_without_an_event() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.lose_history(|upstream| upstream.pass(9));
    let list = rig.version();
    // The version of the list itself is known, though no event has come since.
    let watch = rig.watch(WatchOptions { allow_watch_bookmarks: true, ..WatchOptions::default() });
    rig.upstream.pass(1);
    rig.upstream.bookmark();
    rig.run(65_000);
    assert_eq!(rig.heard(watch), [format!("BOOKMARK @{}", list + 1)]);
}
