//! Which watcher hears of which change: selectors, namespaces and names.

use watchcache::object::Object;
use watchcache::selector::shard::hash;
use watchcache::watch::WatchOptions;

use crate::helpers::rig::{Rig, Setup};
use crate::{after, on_node};

/// A write of the pod `namespace/name` on a node, or its deletion, and what each watch hears of it.
type Line<'a> = (&'a str, &'a str, Option<&'a str>, &'a [&'a str]);

/// Opens watches (namespace, name, field selector) and plays the lines. Empty: the watch hears nothing of it.
fn play(watches: &[(&str, &str, &str)], lines: &[Line<'_>]) {
    let rig = Rig::new(Setup::default(), |_| {});
    let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let open = |(namespace, name, fields): &(&str, &str, &str)| {
        rig.watch(WatchOptions { namespace: some(namespace), name: some(name), field_selector: some(fields), ..after(100) })
    };
    let streams: Vec<usize> = watches.iter().map(open).collect();
    for (index, (namespace, name, node, expected)) in lines.iter().enumerate() {
        let version = match node {
            Some(node) => on_node(&rig.upstream, namespace, name, node),
            None => rig.upstream.delete(namespace, name),
        };
        assert_eq!(version, 101 + index as u64);
        let key = if namespace.is_empty() { (*name).to_string() } else { format!("{namespace}/{name}") };
        for ((stream, watch), kind) in streams.iter().zip(watches).zip(expected.iter()) {
            let expected: Vec<String> = some(kind).map(|kind| format!("{kind} {key}@{version}")).into_iter().collect();
            assert_eq!(rig.heard(*stream), expected, "{watch:?} at line {index}");
        }
        assert_eq!(expected.len(), watches.len());
    }
}

#[test]
fn fil_01_into_out_of_and_into_the_selector() {
    play(
        &[("", "", "spec.nodeName=host")],
        &[("ns", "pod", Some("host"), &["ADDED"]), ("ns", "pod", Some(""), &["DELETED"]), ("ns", "pod", Some("host"), &["ADDED"])],
    );
}

#[test]
fn fil_02_only_the_edges_and_what_lies_inside_is_heard() {
    play(
        &[("", "", "spec.nodeName=host")],
        &[
            ("ns", "pod", Some(""), &[""]),
            ("ns", "pod", Some(""), &[""]),
            ("ns", "pod", Some("host"), &["ADDED"]),
            ("ns", "pod", Some("host"), &["MODIFIED"]),
            ("ns", "pod", Some(""), &["DELETED"]),
            ("ns", "pod", Some(""), &[""]),
            ("ns", "pod", None, &[""]),
        ],
    );
}

#[test]
fn fil_04_cluster_scoped_objects_without_a_name() {
    play(
        &[("", "", ""), ("", "", "spec.nodeName=b"), ("", "", "spec.nodeName!=b")],
        &[
            ("", "foo", Some(""), &["ADDED", "", "ADDED"]),
            ("", "foo", Some("b"), &["MODIFIED", "ADDED", "DELETED"]),
            ("", "bar", Some("b"), &["ADDED", "ADDED", ""]),
            ("", "foo", Some("b"), &["MODIFIED", "MODIFIED", ""]),
            ("", "bar", None, &["DELETED", "DELETED", ""]),
        ],
    );
}

#[test]
fn fil_05_cluster_scoped_objects_with_a_name() {
    let watches = [
        ("", "foo", ""),
        ("", "", "metadata.name=foo"),
        ("", "foo", "spec.nodeName=b"),
        ("", "foo", "spec.nodeName!=b"),
        ("", "", "metadata.name=foo,spec.nodeName=b"),
        // A namespace holds no object that has none.
        ("ns", "", ""),
    ];
    play(
        &watches,
        &[
            ("", "bar", Some("b"), &["", "", "", "", "", ""]),
            ("", "foo", Some(""), &["ADDED", "ADDED", "", "ADDED", "", ""]),
            ("", "foo", Some("b"), &["MODIFIED", "MODIFIED", "ADDED", "DELETED", "ADDED", ""]),
            ("", "foo", None, &["DELETED", "DELETED", "DELETED", "", "DELETED", ""]),
        ],
    );
}

#[test]
fn fil_06_namespaces_of_the_request_and_of_the_selector() {
    let watches = [
        ("", "", ""),
        ("ns1", "", ""),
        ("", "", "metadata.namespace=ns1"),
        ("ns1", "", "metadata.namespace=ns1"),
        ("ns1", "", "metadata.namespace=ns2"),
        ("", "", "metadata.namespace!=ns1"),
    ];
    play(
        &watches,
        &[
            ("ns1", "foo", Some(""), &["ADDED", "ADDED", "ADDED", "ADDED", "", ""]),
            ("ns2", "foo", Some(""), &["ADDED", "", "", "", "", "ADDED"]),
            ("ns10", "foo", Some(""), &["ADDED", "", "", "", "", "ADDED"]),
            ("ns1", "foo", None, &["DELETED", "DELETED", "DELETED", "DELETED", "", ""]),
        ],
    );
}

#[test]
fn fil_08_unequal_hears_the_leaving_and_the_return() {
    play(
        &[("", "", "spec.nodeName!=bar1"), ("ns1", "", "spec.nodeName!=bar1"), ("ns2", "", "spec.nodeName!=bar1")],
        &[
            ("ns1", "foo", Some(""), &["ADDED", "ADDED", ""]),
            ("ns1", "foo", Some("bar1"), &["DELETED", "DELETED", ""]),
            ("ns1", "foo", Some("bar2"), &["ADDED", "ADDED", ""]),
        ],
    );
}

#[test]
fn fil_09_a_name_without_a_namespace_is_that_name_in_all() {
    play(
        &[
            ("", "foo", ""),
            ("", "", "metadata.name=foo"),
            ("", "foo", "metadata.namespace=ns2"),
            ("", "", "metadata.name=foo,metadata.namespace=ns1"),
        ],
        &[
            ("ns1", "foo", Some(""), &["ADDED", "ADDED", "", "ADDED"]),
            ("ns2", "foo", Some(""), &["ADDED", "ADDED", "ADDED", ""]),
            ("ns2", "bar", Some(""), &["", "", "", ""]),
            ("ns1", "foo", None, &["DELETED", "DELETED", "", "DELETED"]),
        ],
    );
}

#[test]
fn fil_10_name_and_namespace_with_and_without_a_node() {
    play(
        &[("ns1", "foo", ""), ("ns1", "foo", "spec.nodeName=bar"), ("ns1", "foo", "spec.nodeName!=bar")],
        &[
            ("ns2", "foo", Some("bar"), &["", "", ""]),
            ("ns1", "bar", Some("bar"), &["", "", ""]),
            ("ns1", "foo", Some(""), &["ADDED", "", "ADDED"]),
            ("ns1", "foo", Some("bar"), &["MODIFIED", "ADDED", "DELETED"]),
            ("ns1", "foo", None, &["DELETED", "DELETED", ""]),
        ],
    );
}

/// The core resource `namespaces` has no namespaces itself: a request for the one of a name names it twice.
#[test]
fn fil_12_the_namespace_of_a_namespace_is_its_name() {
    let rig = Rig::new(Setup { resource: "namespaces", ..Setup::default() }, |_| {});
    let request = |namespace: &str, name: &str| WatchOptions { namespace: Some(namespace.into()), name: Some(name.into()), ..after(100) };
    let (own, other) = (rig.watch(request("foo", "foo")), rig.watch(request("foo", "bar")));
    on_node(&rig.upstream, "", "foo", "");
    on_node(&rig.upstream, "", "bar", "");
    assert_eq!((rig.heard(own), rig.heard(other)), (vec!["ADDED foo@101".to_string()], vec![]));
    // For any other resource a namespace is a namespace.
    let rig = Rig::new(Setup::default(), |_| {});
    let own = rig.watch(request("foo", "foo"));
    on_node(&rig.upstream, "", "foo", "");
    assert_eq!(rig.heard(own), [""; 0]);
}

#[test]
fn shards_share_out_the_state_and_every_change() {
    for field in ["uid", "namespace"] {
        let rig = Rig::new(Setup::default(), |upstream| {
            (0..20).for_each(|number| _ = upstream.put(&format!("ns{}", number % 5), &format!("pod{number}")));
        });
        // Names that differ in their last letters have hashes close to each other: the border is amid them.
        let value = |object: &Object| hash(if field == "uid" { object.uid().unwrap_or("") } else { object.namespace() });
        let mut hashes: Vec<u64> = rig.resource.with(|cacher| cacher.store().iter().map(|object| value(object)).collect());
        hashes.sort_unstable();
        let border = format!("0x{:016x}", hashes[10]);
        let halves = [("0x0000000000000000", border.as_str()), (&border, "0x10000000000000000")];
        let selector = |(start, end)| format!("shardRange(object.metadata.{field}, '{start}', '{end}')");
        let streams = halves.map(|half| rig.watch(WatchOptions { shard_selector: Some(selector(half)), ..WatchOptions::default() }));
        (0..20).for_each(|number| _ = rig.upstream.put(&format!("ns{}", number % 5), &format!("pod{number}")));
        let heard = streams.map(|stream| rig.heard(stream));
        assert!(heard.iter().all(|half| !half.is_empty()), "{heard:?}");
        let modified = |half: &[String]| half.iter().filter(|text| text.starts_with("MODIFIED")).count();
        assert_eq!((heard[0].len() + heard[1].len(), modified(&heard[0]) + modified(&heard[1])), (40, 20));
        assert!(heard.iter().all(|half| modified(half) * 2 == half.len()), "an object stays in its half: {heard:?}");
        assert_eq!(rig.resource.with(|cacher| cacher.metrics().watch_shards.get()), 2.0);
    }
    let rig = Rig::new(Setup::default(), |_| {});
    let wrong = rig.watch(WatchOptions { shard_selector: Some("shardRange(object.metadata.uid)".into()), ..WatchOptions::default() });
    let message = "invalid shard selector: expected , at position 30; only shardRange(field, start, end) and || are allowed";
    assert_eq!(crate::said(&rig.refusal(wrong).unwrap()), (watchcache::status::ErrorCode::Invalid, 400, "BadRequest", message));
}
