//! Handlers of an informer: joining and leaving at any time, throwing, waiting, filtering.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use watchcache::cache::signal;
use watchcache::informer::{HandlerId, HandlerOptions, InformerOptions, InformerStats};
use watchcache::selector::{Filter, FilterText};

use crate::helpers::informed::Informed;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::Upstream;
use crate::on_node;

fn pods(names: &'static [&'static str]) -> impl FnOnce(&Upstream) {
    move |upstream| {
        for name in names {
            upstream.put("ns", name);
        }
    }
}

fn handlers(informed: &Informed) -> usize {
    informed.rig.resource.with(|cacher| cacher.informers().stats().handlers)
}

#[test]
fn in_12_handlers_are_counted_and_go_once() {
    let informed = Informed::plain(pods(&["pod1"]));
    let (one, other) = (informed.handler(), informed.handler());
    assert_eq!(handlers(&informed), 2);
    informed.remove(one);
    assert_eq!(handlers(&informed), 1);
    informed.remove(other);
    assert_eq!(handlers(&informed), 0);
    informed.rig.run(0);
    informed.remove(other);
    assert_eq!(handlers(&informed), 0);
}

#[test]
fn in_13_a_registration_of_another_informer_stays() {
    let informed = Informed::plain(pods(&["pod1"]));
    let handler = informed.handler();
    informed.rig.resource.with(|cacher| {
        let other = cacher.informers_mut().open(InformerOptions::default());
        cacher.informers_mut().remove_handler(other, handler);
    });
    assert_eq!(handlers(&informed), 1);
    assert_eq!(informed.heard(handler), ["A!(ns/pod1@101)"]);
}

/// The core does not know what a handler is, so the facade may register one function twice. Both registrations are independent.
#[test]
fn in_14_two_registrations_are_told_each_and_one_outlives_the_other() {
    let informed = Informed::plain(pods(&["pod1"]));
    let (one, other) = (informed.handler(), informed.handler());
    assert_eq!(informed.heard(one), informed.heard(other));
    informed.remove(one);
    informed.rig.upstream.put("ns", "pod2");
    assert_eq!(informed.heard(one), [""; 0]);
    assert_eq!(informed.heard(other), ["A(ns/pod2@102)"]);
}

#[test]
fn in_18_a_removed_handler_hears_of_nothing_more() {
    let informed = Informed::plain(pods(&["pod1"]));
    let handler = informed.handler();
    assert_eq!(informed.heard(handler), ["A!(ns/pod1@101)"]);
    informed.remove(handler);
    informed.rig.upstream.put("ns", "pod2");
    assert_eq!(informed.heard(handler), [""; 0]);
}

#[test]
fn in_20_a_handler_that_joins_late_is_told_what_is_held_as_its_first_state() {
    let informed = Informed::plain(pods(&["a", "b", "c"]));
    informed.rig.run(60_000);
    let handler = informed.handler();
    assert!(!informed.handler_synced(handler));
    assert_eq!(informed.heard(handler), ["A!(ns/a@101)", "A!(ns/b@102)", "A!(ns/c@103)"]);
    assert!(informed.handler_synced(handler));
    assert_eq!(informed.told_handler_synced(handler), 1);
    // Whatever a later list discovers is no first state.
    informed.rig.lose_history(|upstream| {
        upstream.put("ns", "d");
    });
    assert_eq!(informed.heard(handler), ["A(ns/d@104)"]);
}

/// During the first list views show the pages that have come, and no handler was told. A handler hears of all when the list is whole.
#[test]
fn in_21_a_handler_that_joins_amid_the_first_list_hears_of_everything_once() {
    let setup = Setup { page_size: 2, ..Setup::default() };
    let informed = Informed::idle(InformerOptions::default(), setup, |upstream| {
        pods(&["a", "b", "c", "d", "e"])(upstream);
        upstream.latency.set(1000);
    });
    let early = informed.handler();
    informed.start();
    let shown = || informed.rig.resource.with(|cacher| cacher.store().len());
    while shown() < 2 {
        informed.rig.run(10);
    }
    assert!(shown() < 5, "amid the list");
    let late = informed.handler();
    assert_eq!(informed.list(""), [""; 0], "an informer shows a state that there was, or none");
    assert_eq!(informed.heard(late), [""; 0]);
    informed.rig.run(10_000);
    for handler in [early, late] {
        assert_eq!(informed.heard(handler), ["A!(ns/a@101)", "A!(ns/b@102)", "A!(ns/c@103)", "A!(ns/d@104)", "A!(ns/e@105)"]);
        assert!(informed.handler_synced(handler));
    }
}

/// The facade catches what a handler throws, and tests it. To the core, a call that threw has returned, and a call whose promise was
/// rejected is done. client-go instead pauses for a second, and such a handler is never synced.
#[test]
fn in_24_five_calls_that_fail_are_five_calls_and_then_it_is_synced() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), pods(&["a", "b", "c", "d", "e"]));
    let [throws, rejects, good] = [informed.handler(), informed.handler(), informed.handler()];
    informed.on_call(rejects, |_, _| false);
    informed.start();
    for handler in [throws, good] {
        assert_eq!(informed.heard(handler).len(), 5);
        assert!(informed.handler_synced(handler) && informed.told_handler_synced(handler) == 1);
    }
    for call in ["a", "b", "c", "d", "e"] {
        assert_eq!(informed.heard(rejects).len(), 1, "{call}: each call by itself");
        assert!(!informed.handler_synced(rejects) && informed.told_handler_synced(rejects) == 0, "{call} is not over");
        informed.done(rejects);
    }
    assert!(informed.handler_synced(rejects) && informed.told_handler_synced(rejects) == 1);
    assert_eq!((informed.heard(rejects), informed.rig.time.elapsed()), (vec![], 0), "no time was spent on it");
}

#[test]
fn in_25_a_removal_during_a_call_lets_the_call_end_and_nothing_follow() {
    let informed = Informed::plain(pods(&["a", "b", "c"]));
    let handler = informed.handler();
    let remove = informed.remover();
    informed.on_call(handler, move |resource, _| {
        remove(resource, handler);
        true
    });
    assert_eq!(informed.heard(handler), ["A!(ns/a@101)"]);
    // The same with a call that takes its time.
    let handler = informed.handler();
    informed.on_call(handler, |_, _| false);
    assert_eq!(informed.heard(handler), ["A!(ns/a@101)"]);
    informed.remove(handler);
    informed.done(handler);
    informed.rig.upstream.put("ns", "d");
    assert_eq!(informed.heard(handler), [""; 0]);
    assert_eq!(handlers(&informed), 0);
}

#[test]
fn in_30_a_deletion_that_was_missed_tells_the_last_state_that_was_seen() {
    let informed = Informed::plain(pods(&["a", "b"]));
    let handler = informed.handler();
    informed.heard(handler);
    informed.rig.lose_history(|upstream| {
        upstream.put("ns", "a");
        upstream.delete("ns", "a");
    });
    assert_eq!(informed.heard(handler), ["T(ns/a@101)"]);
}

#[test]
fn in_32_a_deletion_tells_the_state_that_the_event_carried() {
    let informed = Informed::plain(pods(&["a"]));
    let handler = informed.handler();
    informed.heard(handler);
    let texts: Rc<RefCell<Vec<String>>> = Rc::default();
    let log = texts.clone();
    informed.on_call(handler, move |_, notification| {
        log.borrow_mut().push(String::from_utf8(notification.object.as_ref().unwrap().text().to_vec()).unwrap());
        true
    });
    // Its last state is another than the one that is held.
    let object =
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"109"},"spec":{"last":"words"}}"#;
    informed.rig.upstream.send_raw(&format!("{{\"type\":\"DELETED\",\"object\":{object}}}\n"));
    assert_eq!(informed.heard(handler), ["D(ns/a@109)"]);
    assert_eq!(*texts.borrow(), [object]);
    assert_eq!(informed.list(""), [""; 0]);
}

/// By selectors, which decode nothing. Functions filter in the facade, by the same table.
#[test]
fn in_33_a_filter_makes_of_a_change_what_it_is_to_the_handler() {
    let informed = Informed::plain(|upstream| {
        on_node(upstream, "ns", "in", "n1");
        on_node(upstream, "ns", "out", "n2");
    });
    let handler = {
        let filter = informed.rig.resource.with(|cacher| {
            Filter::new(FilterText { fields: Some("spec.nodeName=n1"), ..FilterText::default() }, &mut cacher.fields().borrow_mut())
                .unwrap()
        });
        informed.handler_with(HandlerOptions { filter: Some(filter), ..HandlerOptions::default() })
    };
    assert_eq!(informed.heard(handler), ["A!(ns/in@101)"], "the first state passes as such");
    assert!(informed.handler_synced(handler));
    on_node(&informed.rig.upstream, "ns", "in", "n1");
    assert_eq!(informed.heard(handler), ["U(ns/in@101->103)"]);
    on_node(&informed.rig.upstream, "ns", "out", "n2");
    assert_eq!(informed.heard(handler), [""; 0]);
    on_node(&informed.rig.upstream, "ns", "out", "n1");
    assert_eq!(informed.heard(handler), ["A(ns/out@105)"]);
    on_node(&informed.rig.upstream, "ns", "in", "n2");
    assert_eq!(informed.heard(handler), ["D(ns/in@103)"], "the last state that passed");
    informed.rig.upstream.delete("ns", "in");
    assert_eq!(informed.heard(handler), [""; 0]);
    informed.rig.lose_history(|upstream| {
        upstream.delete("ns", "out");
    });
    assert_eq!(informed.heard(handler), ["T(ns/out@105)"]);
}

#[test]
fn in_40_a_handler_that_another_removes_gets_nothing_more_of_the_same_flush() {
    let informed = Informed::plain(pods(&[]));
    let (first, second) = (informed.handler(), informed.handler());
    let remove = informed.remover();
    informed.on_call(first, move |resource, _| {
        remove(resource, second);
        true
    });
    informed.rig.upstream.put("ns", "a");
    assert_eq!((informed.heard(first), informed.heard(second)), (vec!["A(ns/a@101)".to_owned()], vec![]));
    assert_eq!(handlers(&informed), 1);
    // Nor of the next one, of which nothing was on its way: the rig would say so.
    informed.rig.upstream.put("ns", "b");
    assert_eq!((informed.heard(first), informed.heard(second)), (vec!["A(ns/b@102)".to_owned()], vec![]));
}

/// A handler that joins inside a call hears of the state that the call was told of, and not of the change once more.
#[test]
fn a_handler_that_joins_inside_a_call_hears_of_nothing_twice() {
    let informed = Rc::new(Informed::plain(pods(&["a"])));
    let handler = informed.handler();
    informed.heard(handler);
    let joined: Rc<Cell<Option<HandlerId>>> = Rc::default();
    let (from, join) = (Rc::downgrade(&informed), joined.clone());
    informed.on_call(handler, move |_, _| {
        if join.get().is_none() {
            join.set(Some(from.upgrade().unwrap().handler()));
        }
        true
    });
    informed.rig.upstream.put("ns", "b");
    informed.rig.upstream.put("ns", "a");
    informed.rig.run(0);
    let joined = joined.get().unwrap();
    let heard = informed.heard(joined);
    assert!(heard == ["A!(ns/a@103)", "A!(ns/b@102)"] || heard == ["A!(ns/a@101)", "A!(ns/b@102)", "U(ns/a@101->103)"], "{heard:?}");
}

#[test]
fn a_busy_handler_is_waited_for_and_delays_no_other() {
    let informed = Informed::plain(pods(&["a"]));
    let (slow, quick) = (informed.handler(), informed.handler());
    informed.on_call(slow, |_, _| false);
    informed.rig.run(0);
    for name in ["b", "c"] {
        informed.rig.upstream.put("ns", name);
    }
    assert_eq!(informed.heard(quick), ["A!(ns/a@101)", "A(ns/b@102)", "A(ns/c@103)"]);
    assert_eq!(informed.heard(slow), ["A!(ns/a@101)"]);
    assert!(!informed.handler_synced(slow), "its call has not returned");
    let counted = || informed.rig.resource.with(|cacher| (cacher.stats().informers, cacher.metrics_now().queued));
    assert_eq!(counted(), (InformerStats { running: 1, handlers: 2, queued: 2 }, Some(2)));
    informed.done(slow);
    assert_eq!(counted().1, Some(1));
    assert!(informed.handler_synced(slow));
    assert_eq!(informed.heard(slow), ["A(ns/b@102)"], "one at a time");
    informed.done(slow);
    assert_eq!(informed.heard(slow), ["A(ns/c@103)"]);
    informed.stop();
    informed.rig.run(0);
    assert_eq!(counted(), (InformerStats::default(), None));
}

/// The queue of a busy handler grows up to its bound. Then it is told so, and what waits merges by object: no object's last state is lost.
#[test]
fn q_34_a_queue_that_is_full_is_told_and_merges() {
    let informed = Informed::plain(pods(&["a"]));
    let handler = informed.handler_with(HandlerOptions { buffer_size: 2, ..HandlerOptions::default() });
    informed.heard(handler);
    informed.on_call(handler, |_, _| false);
    informed.rig.client.signals.set(0);
    for _ in 0..3 {
        informed.rig.upstream.put("ns", "a"); // 102 to 104: the first is under way, two wait
    }
    assert_eq!(informed.heard(handler), ["U(ns/a@101->102)"]);
    assert_eq!(informed.rig.client.signals.get() & signal::OVERFLOW, 0);
    for name in ["a", "b", "a", "b", "c"] {
        informed.rig.upstream.put("ns", name);
    }
    informed.rig.upstream.delete("ns", "c");
    informed.rig.upstream.delete("ns", "a");
    informed.rig.run(0);
    assert_ne!(informed.rig.client.signals.get() & signal::OVERFLOW, 0);
    informed.on_call(handler, |_, _| true);
    informed.done(handler);
    let expected = ["U(ns/a@102->103)", "U(ns/a@103->104)", "OVERFLOW", "D(ns/a@111)", "A(ns/b@108)"];
    assert_eq!(informed.heard(handler), expected);
    informed.rig.upstream.put("ns", "b");
    informed.rig.upstream.put("ns", "b");
    assert_eq!(informed.heard(handler), ["U(ns/b@108->112)", "U(ns/b@112->113)"], "and then everything again");
}

#[test]
fn q_34_a_handler_that_coalesces_hears_of_what_waited_as_one_change() {
    let informed = Informed::plain(pods(&["a"]));
    let handler = informed.handler_with(HandlerOptions { coalesce: true, ..HandlerOptions::default() });
    let other = informed.handler();
    informed.heard(handler);
    informed.on_call(handler, |_, _| false);
    for name in ["a", "b", "b", "a", "a"] {
        informed.rig.upstream.put("ns", name);
        informed.rig.run(0);
    }
    informed.on_call(handler, |_, _| true);
    informed.done(handler);
    assert_eq!(informed.heard(handler), ["U(ns/a@101->102)", "A(ns/b@104)", "U(ns/a@102->106)"]);
    assert_eq!(informed.heard(other).len(), 6, "who did not ask for it hears everything");
}
