//! Watchers that would rather skip changes than end, and what they hear of a relist.

use watchcache::cache::signal;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::Upstream;
use crate::{after, before, on_node};

fn asleep(rig: &Rig, on_overflow: OnOverflow, options: WatchOptions) -> usize {
    rig.watch_as(WatchOptions { on_overflow, buffer_size: Some(2), ..options }, true, Demand::None)
}

/// Ten changes: `a` twice, `b` once and gone, `c` thrice, `d` gone, and `a` once more.
fn ten_changes(rig: &Rig) {
    for name in ["a", "a", "b", "c", "c"] {
        rig.upstream.put("ns", name);
    }
    rig.upstream.delete("ns", "b");
    rig.upstream.put("ns", "c");
    rig.upstream.delete("ns", "d");
    rig.upstream.put("ns", "e");
    rig.upstream.put("ns", "a");
    rig.run(0);
}

fn with_d() -> Rig {
    Rig::new(Setup::default(), |upstream| {
        upstream.put("ns", "d");
    })
}

/// Changes that fit into the queue are told as they were. The others merge by key, in the order of each key's last change.
#[test]
fn a_watch_that_coalesces_hears_of_each_object_once() {
    let rig = with_d();
    let sleeper = asleep(&rig, OnOverflow::Coalesce, after(101));
    ten_changes(&rig);
    rig.run(10_000);
    assert_eq!(rig.ended(sleeper), None);
    assert_ne!(rig.client.signals.get() & signal::OVERFLOW, 0, "it is told that changes are skipped");
    rig.demand(sleeper, Demand::All);
    let expected = ["ADDED ns/a@102", "MODIFIED ns/a@103", "ADDED ns/c@108", "DELETED ns/d@109", "ADDED ns/e@110", "MODIFIED ns/a@111"];
    assert_eq!(rig.heard(sleeper), expected);
    rig.upstream.put("ns", "e");
    assert_eq!(rig.heard(sleeper), ["MODIFIED ns/e@112"], "and from then on everything again");
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.terminated), 0);
}

#[test]
fn a_watch_that_resyncs_is_told_where_the_gap_is_and_hears_the_difference() {
    let rig = with_d();
    let sleeper = asleep(&rig, OnOverflow::Resync, after(101));
    ten_changes(&rig);
    rig.demand(sleeper, Demand::All);
    let told = ["ADDED ns/a@102", "MODIFIED ns/a@103", "RESYNC @103"];
    let difference = ["ADDED ns/c@108", "DELETED ns/d@109", "ADDED ns/e@110", "MODIFIED ns/a@111"];
    assert_eq!(rig.heard(sleeper), [&told[..], &difference].concat());
    rig.upstream.put("ns", "e");
    assert_eq!(rig.heard(sleeper), ["MODIFIED ns/e@112"]);
    let document = rig.client.streams.borrow()[sleeper].events[2].document.clone();
    assert_eq!(document, r#"{"metadata":{"resourceVersion":"103"}}"#);
}

#[test]
fn a_difference_goes_by_the_selector_of_the_watch() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["in", "out", "gone"] {
            on_node(upstream, "ns", name, if name == "out" { "n2" } else { "n1" });
        }
    });
    let options = WatchOptions { field_selector: Some("spec.nodeName=n1".into()), ..after(103) };
    let sleeper = asleep(&rig, OnOverflow::Resync, WatchOptions { buffer_size: Some(1), ..options });
    for _ in 0..2 {
        on_node(&rig.upstream, "ns", "in", "n1");
    }
    on_node(&rig.upstream, "ns", "out", "n1");
    on_node(&rig.upstream, "ns", "gone", "n2");
    on_node(&rig.upstream, "ns", "gone", "n3");
    rig.run(0);
    rig.demand(sleeper, Demand::All);
    let heard = rig.heard(sleeper);
    assert_eq!(heard[heard.len() - 2..], ["ADDED ns/out@106", "DELETED ns/gone@107"], "{heard:?}");
    let left = rig.client.streams.borrow()[sleeper].events.last().unwrap().document.clone();
    assert!(left.contains("\"nodeName\":\"n1\"") && left.contains("\"resourceVersion\":\"107\""), "{left}");
}

/// The watcher may be slow for any time. A difference does not need what leaves the window meanwhile.
#[test]
fn a_difference_needs_no_history() {
    let rig = Rig::new(Setup::window(2), |upstream| {
        upstream.put("ns", "d");
    });
    let sleeper = asleep(&rig, OnOverflow::Resync, after(101));
    ten_changes(&rig);
    for number in 0..50 {
        rig.upstream.put("ns", &format!("pod{}", number % 5));
    }
    rig.run(0);
    rig.demand(sleeper, Demand::All);
    let heard = rig.heard(sleeper);
    assert_eq!(heard.len(), 2 + 1 + 4 + 5, "{heard:?}");
    assert_eq!(heard.last().unwrap(), "ADDED ns/pod4@161");
}

#[test]
fn a_stop_amid_a_difference_leaves_no_version_to_go_on_from_and_before_it_does() {
    for (read, resume) in [(0, Some(101)), (1, Some(103)), (2, None)] {
        let rig = with_d();
        let sleeper = asleep(&rig, OnOverflow::Resync, after(101));
        ten_changes(&rig);
        for _ in 0..read {
            rig.demand(sleeper, Demand::Batch(0));
            rig.run(0);
        }
        rig.stop(sleeper);
        assert_eq!((rig.ended(sleeper), rig.resume_from(sleeper)), (Some(EndReason::Stopped), resume), "after {read} batches");
    }
}

/// Changes that wait behind the queue are not delivered once the stream is over. A later watch begins before them.
#[test]
fn a_stream_that_ends_while_changes_merge_says_where_they_began() {
    let rig = with_d();
    let sleeper = asleep(&rig, OnOverflow::Coalesce, WatchOptions { timeout_seconds: Some(5), ..after(101) });
    ten_changes(&rig);
    rig.run(7000);
    rig.demand(sleeper, Demand::All);
    assert_eq!(rig.heard(sleeper), ["ADDED ns/a@102", "MODIFIED ns/a@103"]);
    assert_eq!((rig.ended(sleeper), rig.resume_from(sleeper)), (Some(EndReason::Timeout), Some(103)));
    let resumed = rig.watch(after(103));
    assert_eq!(rig.heard(resumed).len(), 8);
}

#[test]
fn a_relist_ends_watches_but_those_that_resync_hear_the_difference() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["a", "b", "c", "z"] {
            upstream.put("ns", name);
        }
    });
    let kept = WatchOptions { on_overflow: OnOverflow::Resync, ..after(104) };
    let (awake, plain) = (rig.watch(kept.clone()), rig.watch(after(104)));
    let named = rig.watch(WatchOptions { name: Some("b".into()), ..kept.clone() });
    let merging = rig.watch(WatchOptions { on_overflow: OnOverflow::Coalesce, ..after(104) });
    let asleep = asleep(&rig, OnOverflow::Resync, after(104));
    let future = rig.watch(WatchOptions { resource_version: Some("1000".into()), ..kept });
    rig.upstream.put("ns", "a");
    rig.run(0);
    rig.lose_history(|upstream| {
        upstream.put("ns", "c");
        upstream.delete("ns", "b");
        upstream.delete("ns", "z");
        upstream.put("ns", "n");
        upstream.put("ns", "gone");
        upstream.delete("ns", "gone");
    });
    let list = rig.version();
    assert_eq!(list, 112, "six writes, and one more version");
    for over in [plain, merging, future] {
        assert_eq!(rig.ended(over), Some(EndReason::Relist));
    }
    let difference =
        ["RESYNC @105", "MODIFIED ns/c@106", "ADDED ns/n@109", "DELETED ns/b@112", "DELETED ns/z@112"].map(String::from).to_vec();
    assert_eq!(rig.heard(awake), [vec!["MODIFIED ns/a@105".to_string()], difference.clone()].concat());
    assert_eq!(rig.heard(named), ["RESYNC @105", "DELETED ns/b@112"]);
    let deleted = rig.client.streams.borrow()[named].events[1].document.clone();
    assert!(deleted.contains("\"resourceVersion\":\"112\""), "{deleted}");

    rig.upstream.put("ns", "c");
    rig.run(0);
    assert_eq!(rig.heard(awake), ["MODIFIED ns/c@113"]);
    rig.demand(asleep, Demand::All);
    assert_eq!(rig.heard(asleep)[..1], ["MODIFIED ns/a@105"]);
    // It slept through the change after the relist as well: one difference covers both.
    let heard = rig.client.streams.borrow()[asleep].events.iter().map(|event| format!("{event:?}")).collect::<Vec<_>>();
    assert_eq!(heard[1..], ["RESYNC @105", "ADDED ns/n@109", "DELETED ns/b@112", "DELETED ns/z@112", "MODIFIED ns/c@113"]);
    assert_eq!(rig.ended(asleep), None);
}

/// Nobody knows when an object that is gone went. An object that only left the selection did so at its own version.
#[test]
fn a_relist_takes_what_left_a_selection_at_its_own_version() {
    let on = |upstream: &Upstream, name: &str, node: &str| upstream.put_with("ns", name, &[], &serde_json::json!({"nodeName": node}));
    let rig = Rig::new(Setup::default(), |upstream| {
        on(upstream, "gone", "n1");
        on(upstream, "left", "n1");
    });
    let selected = WatchOptions { field_selector: Some("spec.nodeName=n1".into()), on_overflow: OnOverflow::Resync, ..after(102) };
    let stream = rig.watch(selected);
    rig.lose_history(|upstream| {
        on(upstream, "left", "n2");
        on(upstream, "new", "n1");
        upstream.delete("ns", "gone");
    });
    assert_eq!(rig.heard(stream), ["RESYNC @102", "DELETED ns/left@103", "ADDED ns/new@104", "DELETED ns/gone@106"]);
}

#[test]
fn a_watch_that_outlives_a_relist_still_ends_with_the_cache() {
    let rig = Rig::new(Setup::default(), |_| {});
    let kept = rig.watch(WatchOptions { on_overflow: OnOverflow::Resync, ..after(100) });
    rig.lose_history(|upstream| upstream.pass(1));
    assert_eq!((rig.heard(kept), rig.ended(kept)), (vec!["RESYNC @100".to_string()], None));
    rig.resource.close();
    assert_eq!(rig.ended(kept), Some(EndReason::Closed));
}

/// A thousand watchers from the first list on, through an ERROR without a Status and the relist that follows.
#[test]
fn an_error_without_a_status_and_the_relist_after_it_leave_no_gap_inside_a_stream() {
    let rig = Rig::new(Setup::default(), |upstream| before(upstream, 102));
    assert_eq!(rig.version(), 101);
    rig.run(2000);
    let mut streams: Vec<usize> = (0..500).map(|_| rig.watch(after(101))).collect();
    for number in 102..=107 {
        rig.upstream.put("a", &format!("pod{number}"));
        if number == 104 {
            rig.run(0);
            streams.extend((0..500).map(|_| rig.watch(after(101))));
        }
    }
    rig.run(0);
    rig.upstream.send_raw("{\"type\":\"ERROR\",\"object\":null}\n");
    rig.upstream.drop_streams();
    before(&rig.upstream, 111);
    rig.upstream.expire();
    rig.run(0);
    streams.extend((0..10).map(|_| rig.watch(after(101))));
    rig.run(5000);
    assert!(rig.resource.with(|cacher| cacher.stats().lists) > 1);
    for number in 112..=117 {
        rig.upstream.put("a", &format!("pod{number}"));
    }
    rig.run(5000);
    for stream in streams {
        let heard = rig.heard(stream);
        let (last, changes) = match heard.split_last() {
            Some((last, changes)) if last.starts_with("ERROR 410") => (Some(last), changes),
            _ => (None, &heard[..]),
        };
        let expected: Vec<String> = (102..).take(changes.len()).map(|version| format!("ADDED a/pod{version}@{version}")).collect();
        assert_eq!(changes, expected, "next version = previous + 1");
        let reason = if last.is_some() { EndReason::Error } else { EndReason::Relist };
        assert_eq!(rig.ended(stream), Some(reason), "{heard:?}");
    }
}
