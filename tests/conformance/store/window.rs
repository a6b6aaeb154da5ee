//! The event window and the store behind it.

use watchcache::watch::EndReason;

use crate::after;
use crate::helpers::model::assert_store;
use crate::helpers::rig::{Rig, Setup};

fn keys(rig: &Rig) -> Vec<String> {
    rig.run(0).rows().iter().map(|(key, (version, _))| format!("{key}@{version}")).collect()
}

#[test]
fn win_01_the_store_follows_and_a_list_replaces_it() {
    let rig = Rig::new(Setup::window(2), |_| {});
    rig.upstream.put("a", "pod");
    assert_eq!(keys(&rig), ["a/pod@101"]);
    rig.upstream.put("a", "pod");
    assert_eq!(keys(&rig), ["a/pod@102"]);
    rig.upstream.delete("a", "pod");
    assert_eq!(keys(&rig), [""; 0]);
    for name in ["pod1", "pod2", "pod3"] {
        rig.upstream.put("a", name);
    }
    assert_eq!(keys(&rig), ["a/pod1@104", "a/pod2@105", "a/pod3@106"]);
    rig.lose_history(|upstream| {
        for name in ["pod1", "pod2", "pod3"] {
            upstream.delete("a", name);
        }
        upstream.put("a", "pod4");
        upstream.put("a", "pod5");
    });
    assert_eq!(keys(&rig), ["a/pod4@110", "a/pod5@111"]);
    assert_store(&rig);
}

#[test]
fn win_05_a_delete_in_the_window_is_the_object_at_the_version_of_its_deletion() {
    let rig = Rig::new(Setup::window(5), |_| {});
    for _ in 0..6 {
        rig.upstream.put("a", "pod");
    }
    rig.upstream.delete("a", "pod");
    rig.run(0);
    let gone = rig.watch(after(106));
    assert_eq!(rig.heard(gone), ["DELETED a/pod@107"]);
    let event = rig.client.streams.borrow()[gone].events[0].clone();
    assert_eq!(event.own, 107);
    let last = rig.upstream.state_at(106)["a/pod"].1.replace("\"106\"", "\"107\"");
    assert_eq!(event.document, last);
}

/// Holds a/x@101 and a/y@102, and then a list.
fn relisted() -> (Rig, u64) {
    let rig = Rig::new(Setup::window(5), |upstream| {
        upstream.put("a", "x");
    });
    rig.upstream.put("a", "y");
    rig.lose_history(|upstream| upstream.pass(7));
    let list = rig.version();
    (rig, list)
}

#[test]
fn win_06_after_a_list_its_version_is_the_oldest_start() {
    let (rig, list) = relisted();
    let (old, at) = (rig.watch(after(list - 1)), rig.watch(after(list)));
    assert_eq!(rig.ended(old), Some(EndReason::Error));
    assert_eq!(rig.heard(at), [""; 0]);
    rig.upstream.pass(2);
    let written = rig.upstream.put("a", "z");
    let event = format!("ADDED a/z@{written}");
    assert_eq!(rig.heard(at), vec![event.clone()]);
    // A watch that begins now reads it from the window, which the list began anew.
    let (late, behind) = (rig.watch(after(list)), rig.watch(after(list + 1)));
    assert_eq!((rig.heard(late), rig.heard(behind)), (vec![event.clone()], vec![event]));
    let held = rig.resource.with(|cacher| cacher.held().window().len());
    assert_eq!(held, 1, "and nothing from before");
    let refused = rig.watch(after(list - 1));
    assert_eq!(rig.heard(refused), [format!("ERROR 410 Expired: too old resource version: {} ({list})", list - 1)]);
}

#[test]
fn win_08_a_watch_that_is_refused_is_told_the_oldest_start() {
    let (rig, list) = relisted();
    let old = rig.watch(after(list - 1));
    assert_eq!(rig.heard(old), [format!("ERROR 410 Expired: too old resource version: {} ({list})", list - 1)]);
}

#[test]
fn win_33_the_store_decides_what_a_watcher_sees_and_an_unknown_delete_is_told_to_nobody() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let watch = rig.watch(after(101));
    let send = |kind: &str, name: &str, version: u64| {
        let object = format!(r#"{{"metadata":{{"namespace":"a","name":"{name}","resourceVersion":"{version}"}}}}"#);
        rig.upstream.send_raw(&format!(r#"{{"type":"{kind}","object":{object}}}"#));
        rig.heard(watch)
    };
    assert_eq!(send("ADDED", "x", 102), ["MODIFIED a/x@102"]);
    assert_eq!(send("MODIFIED", "y", 103), ["ADDED a/y@103"]);
    assert_eq!(send("DELETED", "z", 104), [""; 0]);
    let held = rig.resource.with(|cacher| cacher.held().window().len());
    assert_eq!((rig.version(), held), (104, 3), "but it moves the version, and the window keeps it like any change");
}

#[test]
fn win_32_a_relist_leaves_no_gap_inside_any_stream() {
    let rig = Rig::new(Setup::default(), |_| {});
    let mut streams = Vec::new();
    let watch = |streams: &mut Vec<usize>, count| streams.extend((0..count).map(|_| rig.watch(after(100))));
    for name in 0..6 {
        watch(&mut streams, 80);
        rig.upstream.put("a", &format!("pod{name}"));
        rig.run(0);
    }
    watch(&mut streams, 40);
    rig.lose_history(|upstream| upstream.pass(3));
    for name in 6..12 {
        watch(&mut streams, 80);
        rig.upstream.put("a", &format!("pod{name}"));
        rig.run(0);
    }
    assert_eq!(streams.len(), 1000);
    let relisted = 101 + 6 + 3;
    for stream in streams {
        let heard = &rig.client.streams.borrow()[stream];
        let versions: Vec<u64> = heard.changes().iter().map(|event| event.version).collect();
        match heard.ended {
            Some(EndReason::Relist) => assert_eq!(versions, [101, 102, 103, 104, 105, 106]),
            // A watch that begins after the list asks for changes that are held no longer.
            Some(EndReason::Error) => {
                assert_eq!(format!("{:?}", heard.events), format!("[ERROR 410 Expired: too old resource version: 100 ({relisted})]"));
            }
            other => panic!("{other:?}: {:?}", heard.events),
        }
    }
}
