//! What readers of an informer see: keys, indexes, versions, states.

use std::rc::Rc;

use serde_json::json;
use watchcache::informer::InformerOptions;
use watchcache::json::FieldSet;
use watchcache::json::path::Path;
use watchcache::json::scan::scan_object;
use watchcache::key::{key, split};
use watchcache::object::Object;
use watchcache::source::{ListRequest, WriteParameters};
use watchcache::status::ErrorCode;
use watchcache::store::{IndexBy, IndexSpec};
use watchcache::time::Instant;

use crate::helpers::informed::Informed;
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{Request, Upstream};

/// An object whose `spec.text` is this.
fn put(upstream: &Upstream, name: &str, text: &str) {
    upstream.put_with("", name, &[], &json!({ "text": text }));
}

/// The words of `spec.text`, parted by commas.
fn words(object: &Object) -> Vec<String> {
    let text = object.read(&Path::parse("spec.text").unwrap()).into_text();
    text.split(',').filter(|word| !word.is_empty()).map(Into::into).collect()
}

fn with(objects: &'static [(&'static str, &'static str)]) -> Informed {
    Informed::plain(move |upstream| {
        for (name, text) in objects {
            put(upstream, name, text);
        }
    })
}

fn after(informed: &Informed, change: impl FnOnce(&Upstream)) {
    change(&informed.rig.upstream);
    informed.rig.run(0);
}

#[test]
fn st_02_a_key_is_taken_apart_and_put_together_again() {
    for (text, parts, again) in [("a/b", ("a", "b"), "a/b"), ("n", ("", "n"), "n"), ("/x", ("", "x"), "x")] {
        assert_eq!(split(text), parts);
        assert_eq!(&*key(parts.0, parts.1).unwrap(), again);
    }
    let (namespace, name) = split("a/b/c");
    assert_eq!(key(namespace, name).unwrap_err().code, ErrorCode::Protocol, "no object has such a key");
}

#[test]
fn st_06_objects_are_found_by_the_value_at_a_path() {
    let informed = with(&[("a", "b"), ("c", "b"), ("e", "f"), ("g", "h")]);
    informed.index("value", "spec.text").unwrap();
    for (value, names) in [("b", &["a", "c"][..]), ("f", &["e"]), ("h", &["g"])] {
        assert_eq!(informed.by_index("value", value).unwrap(), names);
    }
}

#[test]
fn st_08_objects_with_several_values_are_found_by_each() {
    let informed = with(&[("one", "ernie,bert"), ("two", "bert,oscar"), ("tre", "ernie,elmo")]);
    informed.index_by("users", words).unwrap();
    let found = |value: &str| informed.by_index("users", value).unwrap();
    assert_eq!((found("ernie"), found("bert")), (vec!["one".into(), "tre".into()], vec!["one".into(), "two".into()]));
    assert_eq!((found("elmo"), found("oscar"), found("nobody")), (vec!["tre".into()], vec!["two".into()], vec![]));
    after(&informed, |upstream| {
        upstream.delete("", "tre");
    });
    assert_eq!((found("ernie"), found("elmo")), (vec!["one".to_owned()], vec![]));
    after(&informed, |upstream| put(upstream, "two", "oscar"));
    assert_eq!((found("bert"), found("oscar")), (vec!["one".to_owned()], vec!["two".to_owned()]));
}

#[test]
fn st_09_the_values_of_an_index_are_told_once_each() {
    let informed = with(&[("a", "bar"), ("b", "bar"), ("c", "biz")]);
    informed.index("path", "spec.text").unwrap();
    informed.index_by("function", words).unwrap();
    for index in ["path", "function"] {
        assert_eq!(informed.index_values(index), ["bar", "biz"]);
    }
}

#[test]
fn st_10_a_value_that_no_object_has_is_gone() {
    let informed = with(&[("k", "k")]);
    informed.index("path", "spec.text").unwrap();
    informed.index_by("function", words).unwrap();
    for index in ["path", "function"] {
        assert_eq!(informed.index_values(index), ["k"]);
    }
    after(&informed, |upstream| {
        upstream.delete("", "k");
    });
    for index in ["path", "function"] {
        assert_eq!(informed.index_values(index), [""; 0]);
    }
}

#[test]
fn st_12_values_that_come_and_go_leave_exactly_what_is() {
    let informed = with(&[("key1", "foo"), ("key2", "bar")]);
    informed.index_by("words", words).unwrap();
    let state = || ["foo", "bar", "baz"].map(|value| informed.index_keys("words", value).unwrap().join(" "));
    assert_eq!(state(), ["key1", "key2", ""]);
    for (name, text, expected) in [
        ("key2", "foo,bar", ["key1 key2", "key2", ""]),
        ("key1", "foo,bar", ["key1 key2", "key1 key2", ""]),
        ("key3", "foo,bar,baz", ["key1 key2 key3", "key1 key2 key3", "key3"]),
        ("key1", "foo", ["key1 key2 key3", "key2 key3", "key3"]),
        ("key2", "bar", ["key1 key3", "key2 key3", "key3"]),
    ] {
        after(&informed, |upstream| put(upstream, name, text));
        assert_eq!(state(), expected, "{name} has {text}");
    }
    for name in ["key1", "key3"] {
        after(&informed, |upstream| {
            upstream.delete("", name);
        });
    }
    assert_eq!(state(), ["", "key2", ""]);
}

#[test]
fn st_13_an_index_that_does_not_exist_is_an_error_and_an_unknown_value_is_none() {
    let informed = with(&[("a", "b")]);
    informed.index("path", "spec.text").unwrap();
    informed.index_by("function", words).unwrap();
    let message = "Index with name other does not exist";
    assert_eq!(informed.by_index("other", "b").unwrap_err().message, message);
    assert_eq!(informed.index_keys("other", "b").unwrap_err().message, message);
    assert_eq!(informed.index_values("other"), [""; 0]);
    for index in ["path", "function", "namespace"] {
        assert_eq!(informed.by_index(index, "unknown").unwrap(), [""; 0]);
        assert_eq!(informed.index_keys(index, "unknown").unwrap(), [""; 0]);
    }
}

#[test]
fn st_14_the_keys_of_a_value_are_sorted() {
    let informed = Informed::plain(|upstream| {
        for (namespace, name) in [("b", "x"), ("a", "z"), ("", "q"), ("a", "a"), ("a-b", "c")] {
            upstream.put_with(namespace, name, &[], &json!({"text": "v"}));
        }
    });
    informed.index("path", "spec.text").unwrap();
    informed.index_by("function", words).unwrap();
    for index in ["path", "function"] {
        assert_eq!(informed.index_keys(index, "v").unwrap(), ["a-b/c", "a/a", "a/z", "b/x", "q"]);
    }
}

#[test]
fn st_16_indexes_follow_a_running_informer_and_may_come_late() {
    let informed = with(&[("pod1", "a,b"), ("pod2", "b")]);
    informed.index_by("labels", words).unwrap();
    assert_eq!(informed.by_index("labels", "a").unwrap(), ["pod1"]);
    after(&informed, |upstream| put(upstream, "pod3", "a"));
    assert_eq!(informed.by_index("labels", "a").unwrap(), ["pod1", "pod3"]);
    informed.index_by("labels-again", words).unwrap();
    assert_eq!(informed.by_index("labels-again", "a").unwrap(), ["pod1", "pod3"]);
    assert_eq!(informed.index_values("labels-again"), ["a", "b"]);
    let refused = informed.index("labels", "spec.text").unwrap_err();
    assert_eq!((refused.code, &*refused.message), (ErrorCode::Invalid, "indexer conflict: labels"));
    informed.stop();
    assert_eq!(informed.index("late", "spec.text").unwrap_err().code, ErrorCode::Closed);
    assert_eq!(informed.by_index("labels", "a").unwrap(), ["pod1", "pod3"], "what has ended can still be read");
}

/// Its pages are shown one by one, before the list is whole.
#[test]
fn st_16_an_index_that_was_there_before_the_first_list_has_every_page_of_it() {
    let informed = Informed::idle(InformerOptions::default(), Setup { page_size: 1, ..Setup::default() }, |upstream| {
        (0..3).for_each(|number| put(upstream, &format!("pod{number}"), "b"));
    });
    informed.index("by-path", "spec.text").unwrap();
    informed.index_by("by-function", words).unwrap();
    informed.start();
    for index in ["by-path", "by-function"] {
        assert_eq!(informed.by_index(index, "b").unwrap(), ["pod0", "pod1", "pod2"], "{index}");
    }
}

#[test]
fn st_18_a_list_that_replaces_the_state_replaces_what_stands_in_every_index() {
    let informed = with(&[("a", "old"), ("b", "same"), ("c", "gone")]);
    informed.index("path", "spec.text").unwrap();
    informed.index_by("function", words).unwrap();
    for index in ["path", "function"] {
        assert_eq!(informed.index_values(index), ["gone", "old", "same"]);
    }
    informed.rig.lose_history(|upstream| {
        put(upstream, "a", "new");
        upstream.delete("", "c");
        put(upstream, "d", "same");
    });
    for index in ["path", "function"] {
        assert_eq!(informed.index_values(index), ["new", "same"]);
        assert_eq!(informed.index_keys(index, "same").unwrap(), ["b", "d"]);
        assert_eq!((informed.by_index(index, "new").unwrap(), informed.by_index(index, "old").unwrap()), (vec!["a".to_owned()], vec![]));
    }
}

/// Values that arrive for an object that has changed meanwhile are dropped.
#[test]
fn values_of_what_is_no_longer_held_do_not_count() {
    let informed = with(&[("a", "old")]);
    informed.index_by("words", words).unwrap();
    let resource = &informed.rig.resource;
    let waiting = informed.undecided("words", Instant::START);
    after(&informed, |upstream| put(upstream, "a", "new"));
    resource.with(|cacher| cacher.informing().decide(informed.informer, "words", waiting[0].key(), waiting[0].id(), vec!["old".into()]));
    assert_eq!(informed.index_values("words"), ["new"]);
}

#[test]
fn st_20_the_version_is_the_lists_and_there_is_none_before_it() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.pass(20);
        upstream.put("", "a");
        upstream.put("", "b");
        upstream.pass(10);
    });
    assert!(!rig.resource.with(|cacher| cacher.availability().holds_list()));
    assert_eq!(rig.status().resource_version, None);
    rig.resource.start();
    rig.run(0);
    assert_eq!(rig.version(), 132);
}

#[test]
fn st_21_the_version_is_that_of_the_last_event() {
    let informed = with(&[("a", "x"), ("b", "y")]);
    for (change, version) in [("put", 103), ("delete", 104)] {
        after(&informed, |upstream| match change {
            "put" => put(upstream, "a", "z"),
            _ => {
                upstream.delete("", "a");
            }
        });
        assert_eq!(informed.rig.version(), version);
    }
}

/// client-go's store takes transactions of its callers, which there are not here. Of several events the sound ones are taken. One without a
/// key ends the round, and nothing else.
#[test]
fn st_24_events_without_a_key_leave_those_before_and_after_them() {
    let informed = with(&[]);
    informed.rig.run(2000);
    after(&informed, |upstream| {
        put(upstream, "a", "");
        upstream.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"102\"}}}\n");
        put(upstream, "b", "");
        upstream.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"104\"}}}\n");
    });
    let told = informed.interruptions();
    assert_eq!(told.len(), 1, "{told:?}");
    informed.rig.run(10_000);
    assert_eq!(informed.list(""), ["a@101", "b@102"]);
}

#[test]
fn st_25_an_object_without_a_key_is_an_error_that_says_so() {
    let fields = FieldSet::new(Vec::new());
    let scanned = scan_object(br#"{"metadata":{"resourceVersion":"7"}}"#, &fields).unwrap();
    let error = Object::new(scanned).unwrap_err();
    assert_eq!(error.code, ErrorCode::Protocol);
    assert!(error.message.contains("metadata.name"), "{}", error.message);
    let informed = with(&[("a", "x")]);
    informed.rig.run(2000);
    after(&informed, |upstream| upstream.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"102\"}}}\n"));
    assert_eq!(informed.list(""), ["a@101"]);
    assert!(informed.interruptions()[0].error.message.contains("metadata.name"));
}

#[test]
fn st_28_a_namespace_is_listed_as_it_is_found_by_the_index() {
    let informed = Informed::plain(|upstream| {
        for (namespace, name) in [("ns", "a"), ("ns", "b"), ("ns-2", "c"), ("n", "d")] {
            upstream.put(namespace, name);
        }
    });
    assert_eq!(informed.list("").len(), 4);
    assert_eq!(informed.list("ns"), ["ns/a@101", "ns/b@102"]);
    assert_eq!(informed.by_index("namespace", "ns").unwrap(), ["a", "b"]);
    informed.index("own", "metadata.namespace").unwrap();
    assert_eq!(informed.by_index("own", "ns").unwrap(), ["a", "b"]);
}

#[test]
fn st_29_what_is_missing_is_not_found_by_the_resources_name() {
    let informed = with(&[("a", "x")]);
    let error = informed.rig.get("b", Some("0")).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert_eq!(error.status.unwrap().message, "pods \"b\" not found");
}

#[test]
fn st_30_versions_beyond_what_a_double_holds_stay_apart() {
    let informed = Informed::plain(|upstream| {
        upstream.pass(9_007_199_254_740_991 - 100);
        upstream.put("", "a");
        upstream.put("", "b");
    });
    assert_eq!(informed.list(""), ["a@9007199254740992", "b@9007199254740993"]);
    let handler = informed.handler();
    informed.heard(handler);
    after(&informed, |upstream| {
        upstream.put("", "a");
    });
    assert_eq!(informed.heard(handler), ["U(a@9007199254740992->9007199254740994)"]);
}

/// client-go pushes whole snapshots. Here a view has that part: it is told once for each change, and once for a list.
#[test]
fn st_32_a_view_is_told_of_each_change_and_of_a_list_once_and_of_no_read() {
    let rig = Rig::new(Setup::default(), |_| {});
    let view = rig.view(&watchcache::view::ViewOptions::default());
    let pushes = || {
        rig.run(0);
        rig.client.views.borrow_mut().drain(..).filter(|changed| *changed == view).count()
    };
    rig.upstream.put("", "a");
    assert_eq!(pushes(), 1);
    rig.upstream.put("", "a");
    assert_eq!((pushes(), rig.view_rows(view)), (1, vec!["a@102".to_owned()]));
    rig.upstream.delete("", "a");
    assert_eq!((pushes(), rig.view_rows(view)), (1, vec![]));
    rig.lose_history(|upstream| {
        upstream.put("", "b");
        upstream.put("", "c");
    });
    assert_eq!((pushes(), rig.view_rows(view).len()), (1, 2));
    let _read = (rig.rows(), rig.view_rows(view));
    assert_eq!(pushes(), 0);
}

/// Readers of an informer see a list when it is whole. Until then they see the state before it.
#[test]
fn kr_01_a_relist_shows_nothing_before_it_is_whole() {
    let setup = Setup { page_size: 1, ..Setup::default() };
    let informed = Informed::idle(InformerOptions::default(), setup, |upstream| {
        upstream.put("", "a");
    });
    informed.start();
    assert_eq!(informed.list(""), ["a@101"]);
    informed.rig.run(2000);
    informed.rig.upstream.drop_streams();
    informed.rig.upstream.delete("", "a");
    informed.rig.upstream.put("", "b");
    informed.rig.upstream.put("", "c");
    informed.rig.upstream.expire();
    informed.rig.upstream.latency.set(1000);
    let pages = || {
        let requests = informed.rig.upstream.requests.borrow();
        let request = |request: &&Request| matches!(request, Request::List(_, ListRequest { continue_token: Some(_), .. }));
        requests.iter().filter(request).count()
    };
    while pages() == 0 {
        informed.rig.run(10);
    }
    assert_eq!(informed.list(""), ["a@101"], "its second page is on its way");
    informed.rig.run(5000);
    assert_eq!(informed.list(""), ["b@103", "c@104"]);
}

#[test]
fn kr_02_a_hundred_thousand_random_writes_leave_no_name_twice() {
    let informed = Informed::plain(|_| {});
    for _ in 0..1000 {
        for _ in 0..100 {
            let (number, delete) = {
                let mut random = informed.rig.upstream.random.borrow_mut();
                (random.u32(..100), random.bool())
            };
            let name = format!("pod{number:02}");
            if delete && informed.rig.upstream.state().contains_key(&name) {
                informed.rig.upstream.delete("", &name);
            } else {
                informed.rig.upstream.put_sized("", &name, 0);
            }
        }
        informed.rig.run(0);
    }
    let mut names: Vec<String> = informed.list("").iter().map(|object| object.split('@').next().unwrap().to_owned()).collect();
    assert_eq!(names, informed.rig.upstream.state().into_keys().collect::<Vec<_>>());
    names.dedup();
    assert_eq!(names.len(), informed.list("").len());
}

/// In kube-rs one slow reader of a shared stream holds up all of them.
#[test]
fn kr_04_a_slow_handler_stalls_nobody() {
    let informed = with(&[]);
    let (slow, quick) = (informed.handler(), informed.handler());
    informed.on_call(slow, |_, _| false);
    for number in 0..5000 {
        informed.rig.upstream.put_sized("", &format!("pod{}", number % 7), 0);
    }
    assert_eq!(informed.heard(quick).len(), 5000);
    assert_eq!(informed.heard(slow), ["A(pod0@101)"]);
}

/// In kube-rs subscribers of a shared store never hear of them.
#[test]
fn kr_05_handlers_hear_of_deletions() {
    let informed = with(&[("a", ""), ("b", "")]);
    let handler = informed.handler();
    informed.heard(handler);
    after(&informed, |upstream| {
        upstream.delete("", "a");
    });
    informed.rig.lose_history(|upstream| {
        upstream.delete("", "b");
    });
    assert_eq!(informed.heard(handler), ["D(a@103)", "T(b@102)"]);
}

#[test]
fn kr_06_the_state_is_asked_for_by_the_first_watch_alone() {
    let setup = Setup { watch_list: true, ..Setup::default() };
    let informed = Informed::idle(InformerOptions::default(), setup, |upstream| {
        upstream.put("", "a");
    });
    let handler = informed.handler();
    informed.start();
    assert_eq!(informed.heard(handler), ["A!(a@101)"]);
    informed.rig.run(2000);
    informed.rig.upstream.drop_streams();
    informed.rig.run(2000);
    informed.rig.upstream.put("", "a");
    assert_eq!(informed.heard(handler), ["U(a@101->102)"]);
    let requests = informed.rig.upstream.requests.borrow();
    let asked: Vec<(Option<bool>, String)> = requests
        .iter()
        .filter_map(|request| match request {
            Request::Watch(_, watch) => Some((watch.send_initial_events, watch.resource_version.clone())),
            Request::List(..) => None,
        })
        .collect();
    assert_eq!(asked.len(), requests.len(), "no list");
    assert_eq!(asked[0].0, Some(true));
    assert_eq!(asked[1..], [(None, "101".to_owned())]);
}

/// The writes of the resource show in informers that ask for it, before the stream brings them.
#[test]
fn mu_01_a_write_shows_at_once_in_an_informer_that_reads_its_writes() {
    let options = InformerOptions { read_your_writes: true, ..InformerOptions::default() };
    let informed = Informed::new(options, |upstream| put(upstream, "a", "x"));
    informed.index("text", "spec.text").unwrap();
    let handler = informed.handler();
    informed.heard(handler);
    informed.rig.upstream.freeze_streams();
    let changed = |object: &Rc<Object>| {
        let text = String::from_utf8(object.text().to_vec()).unwrap().replace("\"x\"", "\"y\"");
        Ok::<_, ()>(Some(text.into_bytes()))
    };
    // The write waits three seconds for the stream, and shows after the answer.
    let update = informed.rig.resource.clone().update("a".into(), WriteParameters::default(), changed);
    let create =
        informed.rig.resource.clone().create(br#"{"metadata":{"name":"b"},"spec":{"text":"y"}}"#.to_vec(), WriteParameters::default());
    informed.rig.wait(update).unwrap();
    informed.rig.wait(create).unwrap();
    assert_eq!(informed.rig.rows()["a"].0, 101, "the stream is silent");
    assert_eq!((informed.get("a"), informed.get("b")), (Some(102), Some(103)));
    assert_eq!(informed.list(""), ["a@102", "b@103"]);
    assert_eq!((informed.by_index("text", "x").unwrap(), informed.by_index("text", "y").unwrap().join(" ")), (vec![], "a b".into()));
    assert_eq!(informed.heard(handler), [""; 0]);
    informed.rig.upstream.drop_streams();
    informed.rig.run(5000);
    assert_eq!(informed.heard(handler), ["U(a@101->102)", "A(b@103)"]);
    assert_eq!(informed.by_index("text", "y").unwrap(), ["a", "b"]);
    assert_eq!(informed.list(""), ["a@102", "b@103"]);
}

/// An object as a write left it that did not go through the resource.
fn mutated(informed: &Informed, name: &str, uid: &str, version: u64, text: &str) {
    let object =
        json!({ "metadata": { "name": name, "uid": uid, "resourceVersion": version.to_string() }, "spec": { "text": text } }).to_string();
    informed.rig.resource.mutated(object.as_bytes()).unwrap();
}

/// The same through the indexes of the cache, which the resource has from the start.
#[test]
fn mu_05_what_was_written_is_found_by_its_values_in_the_indexes_of_the_cache_too() {
    let options = InformerOptions { read_your_writes: true, ..InformerOptions::default() };
    let indexes = [("path", IndexBy::Path(Path::parse("spec.text").unwrap())), ("words", IndexBy::Computed(0))];
    let indexes = indexes.map(|(name, by)| IndexSpec { name: name.into(), by }).to_vec();
    let informed = Informed::idle(options, Setup { indexes, ..Setup::default() }, |upstream| put(upstream, "a", "x,y"));
    let values = |object: &Rc<Object>| [words(object).into_iter().map(Into::into).collect()].into();
    informed.rig.resource.on_index(values);
    informed.start();
    let found = |index: &str, value: &str| {
        let names = informed.by_index(index, value).unwrap();
        assert_eq!(informed.index_keys(index, value).unwrap(), names, "keys are found alike");
        names
    };
    mutated(&informed, "new", "uid-new", 150, "x,z");
    mutated(&informed, "a", "a", 151, "y,z");
    assert_eq!(
        (found("words", "x"), found("words", "y"), found("words", "z").join(" ")),
        (vec!["new".into()], vec!["a".into()], "a new".into())
    );
    assert_eq!((found("path", "x,y"), found("path", "y,z"), found("path", "x,z")), (vec![], vec!["a".into()], vec!["new".into()]));
    assert_eq!((found("f:spec.text", "y,z"), found("namespace", "").join(" ")), (vec!["a".into()], "a new".into()));
    after(&informed, |upstream| {
        upstream.pass(60);
        put(upstream, "a", "q");
    });
    assert_eq!((found("words", "q"), found("path", "y,z")), (vec!["a".to_owned()], vec![]), "the stream has come as far");
}

/// As client-go's mutation cache with `includeAdds`; through indexes of both kinds.
#[test]
fn mu_05_what_was_only_written_is_found_by_its_values_until_it_is_deleted() {
    let options = InformerOptions { read_your_writes: true, ..InformerOptions::default() };
    let informed = Informed::new(options, |upstream| put(upstream, "a", "x,y"));
    informed.index("path", "spec.text").unwrap();
    informed.index_by("words", words).unwrap();
    let found = |index: &str, value: &str| {
        let names = informed.by_index(index, value).unwrap();
        assert_eq!(informed.index_keys(index, value).unwrap(), names, "keys are found alike");
        names
    };
    assert_eq!((found("words", "x"), found("path", "x,y")), (vec!["a".to_owned()], vec!["a".to_owned()]));

    mutated(&informed, "new", "uid-new", 150, "x,z");
    mutated(&informed, "a", "a", 151, "y,z");
    assert_eq!(found("words", "x"), ["new"], "what is held of the other says so, and what was written does not");
    assert_eq!(found("words", "y"), ["a"]);
    assert_eq!(found("words", "z"), ["a", "new"]);
    assert_eq!((found("path", "x,z"), found("path", "x,y")), (vec!["new".to_owned()], vec![]));

    mutated(&informed, "new", "uid-new", 152, "w");
    assert_eq!((found("words", "x"), found("words", "w")), (vec![], vec!["new".to_owned()]), "written once more");

    after(&informed, |upstream| {
        upstream.pass(60);
        put(upstream, "new", "z");
        upstream.delete("", "new");
    });
    assert_eq!(found("words", "w"), [""; 0]);
    mutated(&informed, "new", "uid-new", 152, "w");
    assert_eq!((found("words", "w"), found("path", "w")), (vec![], vec![]), "an answer that was slow");
    after(&informed, |upstream| put(upstream, "a", "q"));
    assert_eq!((found("words", "q"), found("words", "z")), (vec!["a".to_owned()], vec![]), "the stream has come as far");
}
