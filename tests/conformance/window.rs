//! The event window and the store behind it.

use watchcache::watch::event::EndReason;
use watchcache::watch::options::WatchOptions;

use crate::after;
use crate::support::model::assert_store;
use crate::support::rig::{Rig, Setup};

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

#[test]
fn win_06_and_08_after_a_list_its_version_is_the_oldest_start() {
    let rig = Rig::new(Setup::window(5), |upstream| {
        upstream.put("a", "x");
    });
    rig.upstream.put("a", "y");
    rig.lose_history(|upstream| upstream.pass(7));
    let list = rig.version();
    let (old, at) = (rig.watch(after(list - 1)), rig.watch(after(list)));
    assert_eq!(rig.heard(old), [format!("ERROR 410 Expired: too old resource version: {} ({list})", list - 1)]);
    assert_eq!(rig.ended(old), Some(EndReason::Error));
    assert_eq!(rig.heard(at), [""; 0]);
    let written = rig.upstream.put("a", "z");
    assert_eq!(rig.heard(at), [format!("ADDED a/z@{written}")]);
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
            // Begun after the list: it asks for what nobody holds any more.
            Some(EndReason::Error) => {
                assert_eq!(format!("{:?}", heard.events), format!("[ERROR 410 Expired: too old resource version: 100 ({relisted})]"));
            }
            other => panic!("{other:?}: {:?}", heard.events),
        }
    }
}

#[test]
fn int_02_history_comes_in_order_and_whole_whatever_its_length() {
    for count in [0, 5, 100, 105, 1200] {
        let rig = Rig::new(Setup::default(), |_| {});
        let expected: Vec<String> =
            (0..count).map(|number| format!("ADDED a/pod{number}@{}", rig.upstream.put("a", &format!("pod{number}")))).collect();
        rig.run(0);
        let history = rig.watch(after(100));
        assert_eq!(rig.heard(history), expected);
        rig.upstream.put("a", "more");
        assert_eq!(rig.heard(history), [format!("ADDED a/more@{}", 101 + count)]);
    }
}

#[test]
fn int_04_and_05_the_state_comes_in_key_order_at_the_state_s_version() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in (0..50).rev() {
            upstream.put(&format!("ns{}", number % 2), &format!("pod{number:02}"));
        }
    });
    let state = rig.watch(WatchOptions::default());
    rig.run(0);
    let heard = rig.client.streams.borrow()[state].events.clone();
    let mut keys: Vec<&String> = heard.iter().map(|event| &event.key).collect();
    assert_eq!((keys.len(), keys.is_sorted()), (50, true));
    keys.dedup();
    assert_eq!(keys.len(), 50);
    for event in &heard {
        let (own, document) = &rig.upstream.state()[&event.key];
        assert_eq!((event.version, event.own, &*event.document), (150, *own, &**document));
    }
    assert_eq!(rig.heard(state).len(), 50);
    assert_eq!(rig.heard(state), [""; 0]);
}

#[test]
fn sto_01_one_key_through_its_life() {
    let rig = Rig::new(Setup::default(), |_| {});
    let peek = || rig.run(0).resource.with(|cacher| cacher.store().get("a/foo").map(|object| format!("{object:?}")));
    let all = || keys(&rig);
    assert_eq!((peek(), all().len()), (None, 0));
    for _ in 0..3 {
        let version = rig.upstream.put("a", "foo");
        assert_eq!((peek(), all()), (Some(format!("a/foo@{version}")), vec![format!("a/foo@{version}")]));
    }
    rig.upstream.delete("a", "foo");
    assert_eq!((peek(), all().len()), (None, 0));
    rig.upstream.pass(1);
    rig.upstream.bookmark();
    assert_eq!((peek(), rig.run(0).version()), (None, 105));
    assert_eq!(rig.resource.with(|cacher| cacher.store().bytes()), 0);
}

#[test]
fn sto_02_and_04_the_index_by_namespace_follows_and_is_no_plain_prefix() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for (namespace, name) in [("foo", "a"), ("foo", "b"), ("foo2", "a"), ("foo-3", "a"), ("bar", "a")] {
            upstream.put(namespace, name);
        }
    });
    let of = |namespace: &str| -> Vec<String> {
        rig.run(0).resource.with(|cacher| cacher.store().namespace(namespace).map(|object| format!("{object:?}")).collect())
    };
    assert_eq!(of("foo"), ["foo/a@101", "foo/b@102"]);
    assert_eq!(of("foo2"), ["foo2/a@103"]);
    assert_eq!(of("fo"), [""; 0]);
    rig.upstream.put("foo", "b");
    rig.upstream.delete("foo", "a");
    assert_eq!(of("foo"), ["foo/b@106"]);
    rig.lose_history(|upstream| {
        upstream.delete("foo", "b");
        upstream.put("baz", "a");
    });
    assert_eq!(of("foo"), [""; 0]);
    assert_eq!(of("baz"), ["baz/a@109"]);
    assert_eq!(of("").len(), 4);
}
