//! Watchers that want to hear of some fields only.

use serde_json::json;
use watchcache::status::ErrorCode;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::Upstream;
use crate::{after, initial, on_node};

fn changes_of(paths: &[&str], options: WatchOptions) -> WatchOptions {
    WatchOptions { changes_of: Some(paths.iter().map(|path| (*path).to_string()).collect()), ..options }
}

fn of_node(options: WatchOptions) -> WatchOptions {
    changes_of(&["spec.nodeName"], options)
}

/// `ns/a` at 101 on `n1`.
fn with_a() -> Rig {
    Rig::new(Setup::default(), |upstream| {
        on_node(upstream, "ns", "a", "n1");
    })
}

fn heartbeat(upstream: &Upstream, node: &str, beat: u32) -> u64 {
    upstream.put_with("ns", "a", &[], &json!({"nodeName": node, "beat": beat}))
}

#[test]
fn chg_03_an_update_that_changes_no_wanted_value_is_held_back_and_nothing_else_is() {
    let rig = with_a();
    let all = rig.watch(after(101));
    let some = rig.watch(of_node(after(101)));
    let state = rig.watch(of_node(initial(Some("0"), true, true)));
    heartbeat(&rig.upstream, "n1", 1);
    heartbeat(&rig.upstream, "n2", 1);
    heartbeat(&rig.upstream, "n2", 2);
    on_node(&rig.upstream, "ns", "b", "n1");
    rig.upstream.delete("ns", "a");
    let told = ["MODIFIED ns/a@103", "ADDED ns/b@105", "DELETED ns/a@106"];
    assert_eq!(rig.heard(all).len(), 5);
    assert_eq!(rig.heard(some), told);
    assert_eq!(rig.heard(state), [&["ADDED ns/a@101", "INITIAL-EVENTS-END @101"][..], &told].concat());
}

#[test]
fn chg_03_the_edges_of_a_selector_are_told_whatever_changes() {
    let rig = with_a();
    let options = WatchOptions { label_selector: Some("app=web".into()), ..after(101) };
    let watch = rig.watch(changes_of(&["spec.replicas"], options));
    for app in ["web", "web", "db", "db", "web"] {
        rig.upstream.put_with("ns", "a", &[("app", app)], &json!({}));
    }
    assert_eq!(rig.heard(watch), ["ADDED ns/a@102", "DELETED ns/a@104", "ADDED ns/a@106"]);
}

#[test]
fn chg_04_what_is_held_back_is_no_gap() {
    let rig = with_a();
    let watch = rig.watch(of_node(WatchOptions { allow_watch_bookmarks: true, ..after(101) }));
    for beat in 1..=5 {
        heartbeat(&rig.upstream, "n1", beat);
    }
    rig.run(70_000);
    assert_eq!(rig.heard(watch), ["BOOKMARK @106"]);
    heartbeat(&rig.upstream, "n1", 6);
    rig.run(0);
    rig.stop(watch);
    assert_eq!((rig.heard(watch).len(), rig.ended(watch), rig.resume_from(watch)), (0, Some(EndReason::Stopped), Some(107)));
    heartbeat(&rig.upstream, "n1", 7);
    heartbeat(&rig.upstream, "n2", 7);
    heartbeat(&rig.upstream, "n2", 8);
    rig.run(0);
    // From any version the window's changes are judged as those that come.
    for version in [101, 106, 107, 108] {
        let resumed = rig.watch(of_node(after(version)));
        assert_eq!(rig.heard(resumed), ["MODIFIED ns/a@109"], "from {version}");
    }
}

#[test]
fn chg_05_merged_changes_count_by_what_the_subscriber_had_and_what_it_gets() {
    for (on_overflow, resyncs) in [(OnOverflow::Coalesce, false), (OnOverflow::Resync, true)] {
        let rig = with_a();
        let options = WatchOptions { on_overflow, buffer_size: Some(1), ..after(101) };
        let sleeper = rig.watch_as(of_node(options), true, Demand::None);
        on_node(&rig.upstream, "ns", "b", "n1"); // fills the buffer
        heartbeat(&rig.upstream, "n2", 1);
        heartbeat(&rig.upstream, "n1", 2); // and back
        on_node(&rig.upstream, "ns", "b", "n2");
        upstream_beat(&rig, 3); // of b: held back
        rig.run(0);
        rig.demand(sleeper, Demand::All);
        let mut told = vec!["ADDED ns/b@102", "MODIFIED ns/b@105"];
        if resyncs {
            told.insert(1, "RESYNC @102");
        }
        assert_eq!(rig.heard(sleeper), told, "{on_overflow:?}");
        heartbeat(&rig.upstream, "n2", 9);
        assert_eq!(rig.heard(sleeper), ["MODIFIED ns/a@107"]);
    }
}

fn upstream_beat(rig: &Rig, beat: u32) {
    rig.upstream.put_with("ns", "b", &[], &json!({"nodeName": "n2", "beat": beat}));
}

#[test]
fn chg_06_what_a_relist_changed_is_judged_the_same_way() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["a", "b", "c"] {
            on_node(upstream, "ns", name, "n1");
        }
    });
    let kept = rig.watch(of_node(WatchOptions { on_overflow: OnOverflow::Resync, ..after(103) }));
    rig.lose_history(|upstream| {
        heartbeat(upstream, "n1", 1);
        on_node(upstream, "ns", "b", "n2");
        upstream.delete("ns", "c");
    });
    rig.run(5000);
    let heard = rig.heard(kept);
    assert_eq!(heard[0], "RESYNC @103");
    assert_eq!(heard[1], "MODIFIED ns/b@105");
    assert!(heard[2].starts_with("DELETED ns/c@") && heard.len() == 3, "{heard:?}");
}

#[test]
fn chg_08_a_watcher_that_wants_less_leaves_the_others_an_audience() {
    let rig = with_a();
    let all = [(); 2].map(|()| rig.watch(after(101)));
    let some = [(); 2].map(|()| rig.watch(of_node(after(101))));
    for beat in 1..4 {
        heartbeat(&rig.upstream, "n1", beat);
    }
    heartbeat(&rig.upstream, "n2", 4);
    assert_eq!(all.map(|watch| rig.heard(watch).len()), [4, 4]);
    assert_eq!(some.map(|watch| rig.heard(watch)), [["MODIFIED ns/a@105"], ["MODIFIED ns/a@105"]]);
}

#[test]
fn chg_09_a_list_without_a_path_or_with_a_mistake_is_refused() {
    let rig = with_a();
    for (paths, message) in
        [(vec![], "changesOf names at least one path; leave it out to hear of every change"), (vec!["spec", "spec..x"], "changesOf[1]: ")]
    {
        let watch = rig.watch(changes_of(&paths, after(101)));
        let refusal = rig.refusal(watch).unwrap();
        assert_eq!(refusal.code, ErrorCode::Invalid);
        assert!(refusal.message.starts_with(message), "{}", refusal.message);
    }
}
