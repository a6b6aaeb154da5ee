//! The order in which a handler hears of lists and events. The cases are those of client-go's queue, whose deltas here go straight to the
//! store.
//!
//! Two handlers hear each trace: one takes everything at once, the other is busy with its first notification until all has happened. Both
//! hear the same. Lists begin with what did not change, as client-go tells it where resync is off.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use watchcache::informer::InformerOptions;
use watchcache::runtime::Spawn;
use watchcache::status::{Error, ErrorCode};

use crate::helpers::informed::{Informed, read};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Upstream};

fn with_relist_updates() -> InformerOptions {
    InformerOptions { relist_updates: true, ..InformerOptions::default() }
}

/// What a handler hears of all that happens after the state of these objects (versions 101 and up).
fn told(names: &[&str], happens: impl Fn(&Rig)) -> Vec<String> {
    let [awake, asleep] = [true, false].map(|awake| {
        let informed = Informed::new(with_relist_updates(), |upstream| {
            for name in names {
                upstream.put("", name);
            }
        });
        let handler = informed.handler();
        informed.heard(handler);
        if !awake {
            informed.on_call(handler, |_, _| false);
        }
        happens(&informed.rig);
        informed.rig.run(0);
        informed.on_call(handler, |_, _| true);
        informed.done(handler);
        informed.heard(handler)
    });
    assert_eq!(awake, asleep);
    awake
}

/// The watch misses what happens, and a list brings it.
fn relist(rig: &Rig, missed: impl FnOnce(&Upstream)) {
    rig.run(0);
    rig.lose_history(missed);
    rig.run(10_000); // where an earlier one was so shortly before that there is a wait
}

/// client-go has several producers here. A cache has one, its upstream, so only the order of each object's changes is tested.
#[test]
fn q_01_a_thousand_changes_of_two_objects_keep_their_order() {
    let heard = told(&["a", "b"], |rig| {
        for _ in 0..500 {
            rig.upstream.put("", "a");
            rig.upstream.put("", "b");
        }
    });
    for (name, first) in [("a", 103), ("b", 104)] {
        let own: Vec<&String> = heard.iter().filter(|notification| notification.starts_with(&format!("U({name}@"))).collect();
        assert_eq!(own.len(), 500);
        for (number, notification) in own.iter().enumerate() {
            let version = first + 2 * number;
            assert!(notification.ends_with(&format!("->{version})")), "{notification} is not at {version}");
        }
    }
}

#[test]
fn q_02_an_addition_a_change_and_a_deletion_are_three_notifications() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        rig.upstream.put("", "foo");
        rig.upstream.delete("", "foo");
    });
    assert_eq!(heard, ["A(foo@101)", "U(foo@101->102)", "D(foo@103)"]);
}

#[test]
fn q_03_no_event_overtakes_another() {
    let heard = told(&[], |rig| {
        for name in ["foo", "bar", "foo", "foo", "zab", "foo"] {
            rig.upstream.put("", name);
        }
    });
    assert_eq!(heard, ["A(foo@101)", "A(bar@102)", "U(foo@101->103)", "U(foo@103->104)", "A(zab@105)", "U(foo@104->106)"]);
}

/// As client-go's older queue does. Its newer one tells of it.
#[test]
fn q_04_a_deletion_of_what_was_never_known_is_nobodys_news() {
    let heard = told(&["foo"], |rig| {
        rig.run(0);
        rig.upstream.pass(1);
        rig.upstream.send_raw(
            "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"baz\",\"resourceVersion\":\"102\"}}}\n",
        );
        rig.run(0);
        assert_eq!(rig.version(), 102, "the version goes on");
        rig.upstream.put("", "foo");
    });
    assert_eq!(heard, ["U(foo@101->103)"]);
}

#[test]
fn q_05_a_deletion_of_what_is_held_is_told() {
    assert_eq!(
        told(&["baz"], |rig| {
            rig.upstream.delete("", "baz");
        }),
        ["D(baz@102)"]
    );
}

#[test]
fn q_06_what_was_deleted_and_made_anew_is_a_deletion_and_an_addition() {
    let heard = told(&["foo"], |rig| {
        rig.upstream.delete("", "foo");
        relist(rig, |upstream| {
            upstream.put("", "foo");
        });
    });
    assert_eq!(heard, ["D(foo@102)", "A(foo@103)"]);
}

#[test]
fn q_07_what_was_added_and_is_missing_from_the_list_is_gone() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        relist(rig, |upstream| {
            upstream.delete("", "foo");
        });
    });
    assert_eq!(heard, ["A(foo@101)", "T(foo@101)"]);
}

#[test]
fn q_08_a_deletion_that_was_told_is_not_told_again_by_a_list() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        rig.upstream.delete("", "foo");
        relist(rig, |_| {});
    });
    assert_eq!(heard, ["A(foo@101)", "D(foo@102)"]);
}

#[test]
fn q_09_two_lists_that_hold_it_and_one_that_does_not() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        relist(rig, |_| {});
        relist(rig, |_| {});
        relist(rig, |upstream| {
            upstream.delete("", "foo");
        });
    });
    assert_eq!(heard, ["A(foo@101)", "U(foo@101->101)", "U(foo@101->101)", "T(foo@101)"]);
}

#[test]
fn q_10_two_lists_that_lack_it_tell_one_deletion() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        relist(rig, |upstream| {
            upstream.delete("", "foo");
        });
        relist(rig, |_| {});
    });
    assert_eq!(heard, ["A(foo@101)", "T(foo@101)"]);
}

#[test]
fn q_11_a_deletion_that_was_missed_has_the_newest_state_that_was_known() {
    let heard = told(&[], |rig| {
        rig.upstream.put("", "foo");
        rig.upstream.delete("", "foo");
        rig.upstream.put("", "foo");
        relist(rig, |upstream| {
            upstream.delete("", "foo");
        });
    });
    assert_eq!(heard, ["A(foo@101)", "D(foo@102)", "A(foo@103)", "T(foo@103)"]);
}

#[test]
fn q_12_a_list_after_a_deletion_tells_what_else_is_gone() {
    let heard = told(&["foo", "bar", "baz"], |rig| {
        rig.upstream.delete("", "baz");
        relist(rig, |upstream| {
            upstream.delete("", "bar");
        });
    });
    assert_eq!(heard, ["D(baz@104)", "T(bar@102)", "U(foo@101->101)"]);
}

#[test]
fn q_13_a_list_after_a_change_tells_of_it_first() {
    let heard = told(&["foo", "bar", "baz"], |rig| {
        rig.upstream.put("", "baz");
        relist(rig, |upstream| {
            upstream.delete("", "bar");
            upstream.delete("", "baz");
        });
    });
    assert_eq!(heard, ["U(baz@103->104)", "T(bar@102)", "T(baz@104)", "U(foo@101->101)"]);
}

#[test]
fn q_14_what_was_deleted_and_added_and_is_missing_from_the_list() {
    let heard = told(&["foo", "bar", "baz"], |rig| {
        rig.upstream.delete("", "bar");
        rig.upstream.put("", "bar");
        relist(rig, |upstream| {
            upstream.delete("", "bar");
            upstream.delete("", "baz");
        });
    });
    assert_eq!(heard, ["D(bar@104)", "A(bar@105)", "T(bar@105)", "T(baz@103)", "U(foo@101->101)"]);
}

#[test]
fn q_15_two_lists_in_a_row() {
    let heard = told(&["foo", "bar", "baz"], |rig| {
        relist(rig, |upstream| {
            upstream.put("", "bar");
            upstream.delete("", "baz");
        });
        relist(rig, |upstream| {
            upstream.delete("", "bar");
        });
    });
    assert_eq!(heard, ["T(baz@103)", "U(bar@102->104)", "U(foo@101->101)", "T(bar@104)", "U(foo@101->101)"]);
}

#[test]
fn q_16_of_one_list_deletions_come_first_and_the_rest_in_its_order() {
    let heard = told(&["a", "b", "c", "d", "z"], |rig| {
        relist(rig, |upstream| {
            upstream.delete("", "z");
            upstream.put("", "c");
            upstream.delete("", "a");
            upstream.put("", "aa");
        });
    });
    assert_eq!(heard, ["T(a@101)", "T(z@105)", "A(aa@109)", "U(b@102->102)", "U(c@103->107)", "U(d@104->104)"]);
}

/// A notification, and the versions of four pods.
type Seen = (String, Vec<Option<u64>>);

/// What stands in the store, for each name, whenever a handler is called.
fn seen_while_told(names: &'static [&'static str], happens: impl Fn(&Rig)) -> Vec<Seen> {
    let informed = Informed::idle(with_relist_updates(), Setup::default(), |upstream| {
        for name in names {
            upstream.put("", name);
        }
    });
    let handler = informed.handler();
    let seen: Rc<std::cell::RefCell<Vec<Seen>>> = Rc::default();
    let (log, informer) = (seen.clone(), informed.informer);
    informed.on_call(handler, move |resource, notification| {
        let versions = ["pod-1", "pod-2", "pod-3", "pod-4"].map(|name| read(resource, informer, name));
        log.borrow_mut().push((format!("{notification:?}"), versions.to_vec()));
        true
    });
    informed.start();
    happens(&informed.rig);
    informed.rig.run(0);
    seen.take()
}

#[test]
fn q_17_the_first_state_is_in_the_store_when_it_is_told() {
    let seen = seen_while_told(&["pod-1"], |_| {});
    assert_eq!(seen, [("A!(pod-1@101)".into(), vec![Some(101), None, None, None])]);
}

#[test]
fn q_18_of_a_list_without_them_both_are_gone_in_either_call() {
    let seen = seen_while_told(&["pod-1", "pod-3"], |rig| {
        relist(rig, |upstream| {
            upstream.delete("", "pod-1");
            upstream.delete("", "pod-3");
        });
    });
    let none = vec![None; 4];
    assert_eq!(seen[2..], [("T(pod-1@101)".into(), none.clone()), ("T(pod-3@102)".into(), none)]);
}

#[test]
fn q_19_of_a_list_that_changes_everything_each_call_sees_all_of_it() {
    let seen = seen_while_told(&["pod-1", "pod-2", "pod-3"], |rig| {
        relist(rig, |upstream| {
            for name in ["pod-1", "pod-2", "pod-4"] {
                upstream.put("", name);
            }
            upstream.delete("", "pod-3");
        });
    });
    let told: Vec<&str> = seen[3..].iter().map(|(notification, _)| notification.as_str()).collect();
    assert_eq!(told, ["T(pod-3@103)", "U(pod-1@101->104)", "U(pod-2@102->105)", "A(pod-4@106)"]);
    for (_, versions) in &seen[3..] {
        assert_eq!(*versions, [Some(104), Some(105), None, Some(106)]);
    }
}

#[test]
fn q_20_lists_and_bookmarks_keep_their_places_among_events() {
    let informed = Informed::new(InformerOptions::default(), |upstream| {
        upstream.put("", "a");
    });
    let handler = informed.handler();
    informed.heard(handler);
    let versions: Rc<std::cell::RefCell<Vec<u64>>> = Rc::default();
    let log = versions.clone();
    informed.on_call(handler, move |resource, _| {
        log.borrow_mut().push(resource.with(|cacher| cacher.version().as_u64().unwrap()));
        true
    });
    let rig = &informed.rig;
    rig.upstream.put("", "a");
    rig.run(0);
    rig.upstream.pass(7);
    rig.upstream.bookmark();
    rig.run(0);
    assert_eq!(rig.version(), 109);
    rig.upstream.put("", "a");
    relist(rig, |upstream| {
        upstream.put("", "a");
    });
    relist(rig, |upstream| {
        upstream.put("", "a");
    });
    assert_eq!(informed.heard(handler), ["U(a@101->102)", "U(a@102->110)", "U(a@110->111)", "U(a@111->113)"]);
    assert_eq!(*versions.borrow(), [102, 110, 112, 114], "of the lists their own, which lie behind their objects");
}

#[test]
fn q_21_a_bookmark_is_told_to_no_handler() {
    let heard = told(&["a"], |rig| {
        rig.run(0);
        rig.upstream.pass(3);
        rig.upstream.bookmark();
        rig.run(0);
        assert_eq!(rig.version(), 104, "the version that is held goes on");
    });
    assert_eq!(heard, [""; 0]);
}

fn resynced_after(happens: impl Fn(&Informed)) -> Vec<String> {
    let options = InformerOptions { resync_period: 1000, ..InformerOptions::default() };
    let informed = Informed::new(options, |upstream| {
        upstream.put("", "foo");
    });
    let handler = informed.handler();
    informed.heard(handler);
    informed.on_call(handler, |_, _| false);
    happens(&informed);
    informed.rig.run(1000);
    informed.on_call(handler, |_, _| true);
    informed.done(handler);
    informed.heard(handler)
}

#[test]
fn q_22_a_resync_tells_what_is_held() {
    assert_eq!(resynced_after(|_| {}), ["U(foo@101->101)"]);
}

/// One change is in the handler's hand, and one waits behind it: the resync comes behind both.
#[test]
fn q_23_a_resync_never_tells_of_what_was_before_a_change() {
    assert_eq!(
        resynced_after(|informed| {
            informed.rig.upstream.put("", "foo");
            informed.rig.upstream.put("", "foo");
        }),
        ["U(foo@101->102)", "U(foo@102->103)", "U(foo@103->103)"]
    );
}

#[test]
fn q_24_a_resync_brings_nothing_back() {
    assert_eq!(
        resynced_after(|informed| {
            informed.rig.upstream.delete("", "foo");
        }),
        ["D(foo@102)"]
    );
}

#[test]
fn q_27_a_handler_that_has_handled_all_of_the_first_list_is_synced() {
    // Nothing has come.
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |_| {});
    let handler = informed.handler();
    assert!(!informed.has_synced() && !informed.handler_synced(handler));
    // An empty list. No event can come before a first list.
    informed.start();
    assert!(informed.has_synced() && informed.handler_synced(handler));
    // Two objects, one handled, both handled.
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        upstream.put("", "a");
        upstream.put("", "b");
    });
    let handler = informed.handler();
    informed.on_call(handler, |_, _| false);
    informed.start();
    assert!(!informed.handler_synced(handler));
    informed.done(handler);
    assert!(!informed.handler_synced(handler));
    informed.done(handler);
    assert!(informed.handler_synced(handler));
    assert_eq!(informed.told_handler_synced(handler), 1);
    // One key twice is one object. It is told once, and then the list is told.
    let items = [101, 102].map(|version| format!(r#"{{"metadata":{{"name":"a","resourceVersion":"{version}"}}}}"#)).join(",");
    let body = format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"102"}},"items":[{items}]}}"#);
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        upstream.put("", "a");
        upstream.put("", "a");
        upstream.list_faults.borrow_mut().push_back(ListFault::Body(body.into_bytes()));
    });
    let handler = informed.handler();
    informed.start();
    assert_eq!(informed.heard(handler), ["A!(a@102)"]);
    assert!(informed.has_synced() && informed.handler_synced(handler));
}

/// A first list fails and is tried again. Nobody was told of the objects that only the first try brought, so nobody is told that they are
/// gone.
#[test]
fn q_28_what_a_failed_first_list_brought_is_no_state() {
    let setup = Setup { page_size: 1, ..Setup::default() };
    let informed = Informed::idle(InformerOptions::default(), setup, |upstream| {
        for name in ["bar", "baz", "foo"] {
            upstream.put("", name);
        }
        let refused = watchcache::status::Status::new(500, "InternalError", "no").into();
        upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::None, ListFault::Refuse(refused)]);
    });
    let handler = informed.handler();
    informed.start();
    assert_eq!(informed.rig.rows().len(), 2, "what the pages brought shows in views");
    assert!(!informed.has_synced() && !informed.handler_synced(handler));
    informed.rig.upstream.delete("", "bar");
    informed.rig.upstream.delete("", "baz");
    informed.rig.upstream.expire(); // otherwise the list would go on where it was
    informed.rig.run(10_000);
    assert_eq!(informed.heard(handler), ["A!(foo@103)"]);
    assert!(informed.handler_synced(handler));
    assert_eq!(informed.list(""), ["foo@103"]);
}

#[test]
fn q_32_what_is_held_decides_what_an_event_is() {
    let heard = told(&["held"], |rig| {
        rig.run(0);
        for (kind, name, version) in [("ADDED", "held", 102), ("MODIFIED", "unknown", 103)] {
            rig.upstream.pass(1);
            rig.upstream.send_raw(&format!(
                "{{\"type\":\"{kind}\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"{name}\",\"resourceVersion\":\"{version}\"}}}}}}\n"
            ));
        }
    });
    assert_eq!(heard, ["U(held@101->102)", "A(unknown@103)"]);
}

/// client-go's consumer blocks on its queue. Nothing blocks here, so only the wait for a sync is tested: it hears of the end.
#[test]
fn q_33_a_wait_for_the_state_is_told_of_the_end() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    });
    let told: Rc<RefCell<Option<Result<(), Error>>>> = Rc::default();
    let (synced, hears) = (informed.rig.resource.clone().synced(), told.clone());
    informed.rig.time.spawn(async move { *hears.borrow_mut() = Some(synced.await) }.boxed_local());
    informed.start();
    assert_eq!(*told.borrow(), None, "it waits");
    informed.rig.resource.close();
    informed.rig.run(0);
    assert_eq!(told.take().map(|told| told.unwrap_err().code), Some(ErrorCode::Closed));
    assert_eq!(informed.rig.time.elapsed(), 0, "at once");
}

/// client-go's batches are flushes here, of at most five hundred notifications of a handler. What came together is handed over together and
/// in order, several changes of one object included. All of the first state comes before what came after it.
#[test]
fn q_29_what_came_together_is_told_together() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        for name in ["1", "2", "3"] {
            upstream.put("", name);
        }
    });
    let handler = informed.handler();
    let batches = || {
        informed.rig.run(0);
        informed.take_batches()
    };
    informed.start();
    assert_eq!(batches(), [["A!(1@101)", "A!(2@102)", "A!(3@103)"]]);
    for name in ["1", "1"] {
        informed.rig.upstream.put("", name);
    }
    assert_eq!(batches(), [["U(1@101->104)", "U(1@104->105)"]]);
    informed.rig.upstream.put("", "2");
    assert_eq!(batches(), [["U(2@102->106)"]]);
    assert_eq!(informed.heard(handler).len(), 6);

    // More than a batch at first, and events that come before the last of it was taken.
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        for number in 0..501 {
            upstream.put_sized("", &format!("{number:03}"), 0);
        }
    });
    let handler = informed.handler();
    let (upstream, first) = (informed.rig.upstream.clone(), std::cell::Cell::new(true));
    informed.on_call(handler, move |_, _| {
        if first.replace(false) {
            upstream.put("", "000");
            upstream.put("", "new");
        }
        true
    });
    informed.start();
    informed.rig.run(0);
    let batches = informed.take_batches();
    assert_eq!(batches[0].len(), 500);
    assert!(batches[0].iter().all(|notification| notification.starts_with("A!")));
    assert_eq!(batches[1..].concat(), ["A!(500@601)", "U(000@101->602)", "A(new@603)"]);
}

/// An event without a key ends the round. The list that follows tells the change that it stood for, if any.
#[test]
fn q_30_events_without_a_key_stop_nothing() {
    let bad = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"103\"}}}\n";
    let heard = told(&[], |rig| {
        rig.run(2000);
        rig.upstream.put("", "a");
        rig.upstream.put("", "b");
        rig.upstream.pass(1);
        rig.upstream.send_raw(bad);
        rig.upstream.send_raw(bad);
        rig.run(10_000);
        rig.upstream.put("", "c");
    });
    // The list told the unchanged ones again, as was asked for.
    assert_eq!(heard, ["A(a@101)", "A(b@102)", "U(a@101->101)", "U(b@102->102)", "A(c@104)"]);
}

/// An event that the store does not take is told to nobody. Here its version is older than the store.
#[test]
fn q_31_of_three_events_the_one_that_is_not_taken_is_not_told() {
    let heard = told(&[], |rig| {
        rig.run(2000);
        rig.upstream.put("", "a");
        rig.run(0);
        rig.upstream.repeat(1);
        rig.upstream.put("", "c");
    });
    assert_eq!(heard, ["A(a@101)", "A(c@102)"]);
}
