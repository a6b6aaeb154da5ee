//! Informers: how they begin, resync and end, and what their readers see.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::connection::Phase;
use watchcache::informer::{HandlerOptions, InformerOptions, Interruption, Stops};
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::time::Millis;

use crate::helpers::informed::{Informed, read};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Upstream};

const SECOND: Millis = 1000;

fn every(millis: Millis) -> InformerOptions {
    InformerOptions { resync_period: millis, ..InformerOptions::default() }
}

fn pods(count: usize) -> impl FnOnce(&Upstream) {
    move |upstream| {
        for number in 1..=count {
            upstream.put("ns", &format!("pod{number}"));
        }
    }
}

#[test]
fn in_01_handlers_are_told_again_each_by_its_own_period() {
    let informed = Informed::idle(every(SECOND), Setup::default(), pods(2));
    let handlers = [informed.handler_every(0), informed.handler_every(2 * SECOND), informed.handler_every(3 * SECOND)];
    informed.start();
    for handler in handlers {
        assert_eq!(informed.heard(handler), ["A!(ns/pod1@101)", "A!(ns/pod2@102)"]);
    }
    let again = ["U(ns/pod1@101->101)", "U(ns/pod2@102->102)"];
    informed.rig.run(2 * SECOND);
    let heard = handlers.map(|handler| informed.heard(handler));
    assert_eq!(heard, [vec![], again.map(String::from).to_vec(), vec![]]);
    informed.rig.run(SECOND);
    let heard = handlers.map(|handler| informed.heard(handler));
    assert_eq!(heard, [vec![], vec![], again.map(String::from).to_vec()]);
}

#[test]
fn in_02_handlers_that_take_nothing_for_a_second_lose_nothing() {
    let informed = Informed::idle(every(SECOND), Setup::default(), pods(2));
    let handlers = [0, 2 * SECOND, 3 * SECOND].map(|period| informed.handler_every(period));
    for handler in handlers {
        informed.on_call(handler, |_, _| false);
    }
    informed.start();
    informed.rig.run(SECOND);
    for handler in handlers {
        informed.on_call(handler, |_, _| true);
        informed.done(handler);
        assert_eq!(informed.heard(handler), ["A!(ns/pod1@101)", "A!(ns/pod2@102)"]);
        assert!(informed.handler_synced(handler));
    }
    let again = ["U(ns/pod1@101->101)", "U(ns/pod2@102->102)"].map(String::from);
    for due in [1, 2] {
        informed.rig.run(SECOND);
        let heard = handlers.map(|handler| informed.heard(handler));
        let expected: [&[String]; 3] = std::array::from_fn(|place| if place == due { &again[..] } else { &[] });
        assert_eq!(heard, expected, "after {} s", due + 1);
    }
}

#[test]
fn in_05_a_relist_tells_what_did_not_change_to_those_whose_resync_is_due() {
    let options = InformerOptions { relist_updates: true, ..every(SECOND) };
    let informed = Informed::idle(options, Setup::default(), pods(2));
    let (never, always) = (informed.handler_every(0), informed.handler_every(SECOND));
    informed.start();
    informed.rig.run(SECOND); // the first look tells the two apart
    for handler in [never, always] {
        informed.heard(handler);
    }
    informed.rig.upstream.drop_streams();
    informed.rig.upstream.put("ns", "pod2");
    informed.rig.upstream.put("ns", "pod3");
    informed.rig.upstream.pass(1);
    informed.rig.upstream.expire();
    assert_eq!(informed.heard(never), ["U(ns/pod2@102->103)", "A(ns/pod3@104)"]);
    assert_eq!(informed.heard(always), ["U(ns/pod1@101->101)", "U(ns/pod2@102->103)", "A(ns/pod3@104)"]);
}

#[test]
fn in_06_a_relist_without_changes_tells_nobody_unless_that_was_asked_for() {
    for (relist_updates, expected) in [(false, vec![]), (true, vec!["U(ns/pod1@101->101)", "U(ns/pod2@102->102)"])] {
        let informed = Informed::new(InformerOptions { relist_updates, ..InformerOptions::default() }, pods(2));
        let handlers = [informed.handler(), informed.handler()];
        for handler in handlers {
            informed.heard(handler);
        }
        informed.rig.lose_history(|_| {});
        for handler in handlers {
            assert_eq!(informed.heard(handler), expected);
        }
    }
}

#[test]
fn in_16_an_informer_is_new_then_started_then_stopped() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), pods(1));
    let flags = || {
        informed.rig.resource.with(|cacher| {
            let informer = cacher.informers().get(informed.informer).unwrap();
            (informer.is_started(), informer.is_stopped())
        })
    };
    assert_eq!(flags(), (false, false));
    informed.start();
    assert_eq!(flags(), (true, false));
    informed.stop();
    assert_eq!(flags(), (true, true));
    assert!(!informed.start(), "what has stopped never starts again");
    assert_eq!(flags(), (true, true));
}

#[test]
fn in_17_after_the_end_a_handler_cannot_join_and_can_still_be_removed() {
    let informed = Informed::plain(pods(1));
    let handler = informed.handler();
    informed.stop();
    let refused = informed.try_handler(HandlerOptions::default()).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Closed);
    assert!(refused.message.ends_with("because it has stopped already"), "{}", refused.message);
    informed.remove(handler);
}

#[test]
fn in_22_nothing_to_tell_is_told_at_once() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |_| {});
    let handler = informed.handler();
    assert!(!informed.has_synced() && !informed.handler_synced(handler));
    informed.start();
    assert!(informed.has_synced() && informed.told_synced());
    assert!(informed.handler_synced(handler));
    assert_eq!(informed.told_handler_synced(handler), 1);
    assert_eq!(informed.heard(handler), [""; 0]);
}

#[test]
fn in_28_a_second_start_asks_for_no_second_list() {
    let informed = Informed::plain(pods(1));
    let handler = informed.handler();
    let before = lists(&informed);
    assert!(!informed.start());
    assert_eq!(lists(&informed), before);
    assert_eq!(informed.heard(handler), ["A!(ns/pod1@101)"]);
}

#[test]
fn in_29_nothing_is_told_after_the_end_and_nothing_is_left_running() {
    let informed = Informed::idle(every(24 * 3600 * SECOND), Setup::default(), pods(2));
    let handler = informed.handler();
    informed.start();
    informed.heard(handler);
    informed.stop();
    informed.rig.upstream.put("ns", "pod3");
    informed.rig.run(10 * SECOND);
    assert_eq!(informed.heard(handler), [""; 0]);
    assert_eq!(informed.rig.rows().len(), 3, "others go on");
    informed.rig.resource.close();
    informed.rig.run(120 * SECOND); // the upstream's own, for bookmarks
    assert_eq!(informed.rig.upstream.connections(), 0);
    let other = Rig::new(Setup::default(), pods(2));
    other.resource.close();
    other.run(120 * SECOND);
    assert_eq!(informed.rig.time.tasks(), other.time.tasks(), "no timer of the informer is left");
}

/// A notification, and the version that was read of its object in the call.
type Seen = Rc<RefCell<Vec<(String, Option<u64>)>>>;

#[test]
fn in_38_what_is_read_in_a_callback_is_as_new_as_what_is_told() {
    let informed = Informed::plain(pods(2));
    informed.index("name", "metadata.name").unwrap();
    let handler = informed.handler();
    let seen: Seen = Rc::default();
    let (log, informer) = (seen.clone(), informed.informer);
    informed.on_call(handler, move |resource, notification| {
        let key = notification.key().unwrap();
        let now = resource.now();
        let found = resource.with(|cacher| cacher.informers().get(informer).unwrap().index_keys("name", "pod1", cacher.store(), now));
        assert_eq!(found.unwrap().len(), usize::from(read(resource, informer, "ns/pod1").is_some()));
        log.borrow_mut().push((format!("{notification:?}"), read(resource, informer, key)));
        true
    });
    informed.rig.run(0);
    informed.rig.upstream.put("ns", "pod1");
    informed.rig.run(0);
    informed.rig.upstream.delete("ns", "pod1");
    informed.rig.run(0);
    let seen = seen.borrow();
    let seen: Vec<(&str, Option<u64>)> = seen.iter().map(|(notification, version)| (notification.as_str(), *version)).collect();
    assert_eq!(
        seen,
        [("A!(ns/pod1@101)", Some(101)), ("A!(ns/pod2@102)", Some(102)), ("U(ns/pod1@101->103)", Some(103)), ("D(ns/pod1@104)", None)]
    );
}

/// The turns of the host are flushes: each hands over no more than five hundred notifications of a handler.
#[test]
fn in_41_twenty_thousand_objects_come_in_slices_from_a_store_that_is_whole() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), |upstream| {
        upstream.chunk.set(1 << 20);
        for number in 0..20_000 {
            upstream.put_sized("ns", &format!("pod{number:05}"), 0);
        }
    });
    let handler = informed.handler();
    let first: Rc<RefCell<Option<usize>>> = Rc::default();
    let held = first.clone();
    informed.on_call(handler, move |resource, _| {
        held.borrow_mut().get_or_insert_with(|| resource.with(|cacher| cacher.store().len()));
        true
    });
    informed.start();
    let heard = informed.heard(handler);
    assert_eq!(heard.len(), 20_000);
    assert!(heard.is_sorted(), "in the order of the list");
    assert_eq!(*first.borrow(), Some(20_000), "the store was complete at the first call");
    let (flushes, largest) = informed.flushes();
    assert_eq!(largest, 500);
    assert!(flushes >= 40, "{flushes}");
}

fn lists(informed: &Informed) -> usize {
    informed.rig.upstream.requests.borrow().iter().filter(|request| request.is_list()).count()
}

/// The stream is interrupted, and goes on at once.
const AT_ONCE: Stops = Stops::Stream { retry_at: None };

/// An informer is told of every interruption, also of those that client-go keeps to itself.
#[test]
fn interruptions_are_told_with_what_follows() {
    let informed = Informed::idle(InformerOptions::default(), Setup::default(), pods(1));
    informed.rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(403, "Forbidden", "no").into()));
    informed.start();
    let told = informed.interruptions();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].phase, told[0].error.code, told[0].stale), (Phase::Failed, ErrorCode::Forbidden, false));
    assert!(matches!(told[0].stops, Stops::Stream { retry_at: Some(_) }));
    informed.rig.run(5 * SECOND);
    assert!(informed.has_synced());

    informed.rig.upstream.expire();
    informed.rig.upstream.send_error(&Status::new(410, "Expired", "too old"));
    let told = informed.interruptions();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].error.code, &told[0].stops, told[0].stale), (ErrorCode::Expired, &AT_ONCE, true));

    informed.rig.run(5 * SECOND);
    informed.rig.upstream.send_error(&Status::new(500, "InternalError", "oh"));
    let told = informed.interruptions();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].error.status.as_ref().unwrap().code, 500);

    // A watch that breaks after it has brought something is resumed at once, and that is told. A watch that its server ended is not.
    informed.rig.run(5 * SECOND);
    informed.rig.upstream.put("ns", "more");
    informed.rig.run(5 * SECOND);
    assert_eq!(informed.interruptions(), []);
    let lists = lists(&informed);
    let reset = Error::network("reset by peer");
    informed.rig.upstream.break_streams(&reset);
    let told = informed.interruptions();
    assert_eq!(told, [Interruption { stops: AT_ONCE, phase: Phase::Reconnecting, error: reset, stale: true }]);
    informed.rig.run(5 * SECOND);
    informed.rig.upstream.drop_streams();
    informed.rig.run(5 * SECOND);
    assert_eq!(informed.interruptions(), []);
    assert_eq!(self::lists(&informed), lists, "neither needs a list");

    // So is one that brings nothing any more, not even a bookmark.
    informed.rig.upstream.freeze_streams();
    informed.rig.run(91 * SECOND);
    let told = informed.interruptions();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].phase, told[0].error.code, told[0].stale), (Phase::Reconnecting, ErrorCode::Network, true));
    assert_eq!(told[0].stops, AT_ONCE);
    informed.stop();
    informed.rig.upstream.send_error(&Status::new(500, "InternalError", "oh"));
    assert_eq!(informed.interruptions(), []);
}

/// An empty list may be out of date as well, and so may the part of a first list that broke off.
#[test]
fn an_interruption_says_that_something_is_held_be_it_an_empty_list_or_half_of_one() {
    let empty = Informed::plain(pods(0));
    empty.rig.upstream.put("ns", "more");
    empty.rig.upstream.delete("ns", "more");
    empty.rig.run(5 * SECOND);
    empty.rig.upstream.break_streams(&Error::network("reset by peer"));
    let stale: Vec<bool> = empty.interruptions().iter().map(|told| told.stale).collect();
    assert_eq!((empty.list("").len(), stale), (0, vec![true]));

    for (page_size, shown) in [(1, true), (2, false)] {
        let half = Informed::idle(InformerOptions::default(), Setup { page_size, ..Setup::default() }, pods(2));
        let broken = ListFault::Refuse(Error::network("reset by peer"));
        let faults = if shown { vec![ListFault::None, broken] } else { vec![broken] };
        half.rig.upstream.list_faults.borrow_mut().extend(faults);
        half.start();
        let stale: Vec<bool> = half.interruptions().iter().map(|told| told.stale).collect();
        assert_eq!(stale, [shown]);
    }
}

/// The object is told once, by its key. Everything else goes on, and so does the informer.
#[test]
fn an_object_that_no_list_cures_is_told_by_its_key() {
    let informed = Informed::plain(pods(2));
    let handler = informed.handler();
    informed.heard(handler);
    informed.rig.run(2 * SECOND);
    informed.rig.upstream.spoiled.borrow_mut().0.insert("ns/pod1".into(), Spoil::BadVersion);
    for _ in 0..3 {
        informed.rig.upstream.put("ns", "pod1");
        informed.rig.upstream.put("ns", "pod2");
        informed.rig.run(10 * SECOND);
    }
    let told = informed.interruptions();
    assert_eq!(told.len(), 2, "the list that was to cure it, and that it did not: {told:?}");
    assert!(matches!(told[0].stops, Stops::Stream { .. }) && told[1].stops == Stops::Object("ns/pod1".into()), "{told:?}");
    assert!(told.iter().all(|told| told.error.code == ErrorCode::Protocol && told.stale));
    assert!(told[1].error.message.starts_with("ns/pod1 cannot be taken: "), "{told:?}");
    assert_eq!(informed.heard(handler), ["U(ns/pod2@102->104)", "U(ns/pod2@104->106)", "U(ns/pod2@106->108)"]);
    assert_eq!(informed.list(""), ["ns/pod1@101", "ns/pod2@108"], "what was held of it stays");
    informed.rig.upstream.spoiled.borrow_mut().0.clear();
    informed.rig.upstream.put("ns", "pod1");
    assert_eq!(informed.heard(handler), ["U(ns/pod1@101->109)"]);
    assert_eq!(informed.interruptions(), []);
}
