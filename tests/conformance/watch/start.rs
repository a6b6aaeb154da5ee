//! Where a watch starts, and what comes first.

use std::cell::Cell;
use std::rc::Rc;

use watchcache::status::{Error, ErrorCode, Status};
use watchcache::watch::{Demand, EndReason, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::{after, before, initial, on_node};

#[test]
fn wat_01_an_empty_window_serves_its_version_and_what_is_to_come() {
    let rig = Rig::new(Setup::default(), |upstream| upstream.pass(100));
    let (old, at, ahead) = (rig.watch(after(199)), rig.watch(after(200)), rig.watch(after(201)));
    assert_eq!(rig.heard(old), ["ERROR 410 Expired: too old resource version: 199 (200)"]);
    assert_eq!((rig.ended(old), rig.refusal(old)), (Some(EndReason::Error), None));
    rig.run(10_000);
    for open in [at, ahead] {
        assert_eq!((rig.heard(open), rig.ended(open)), (vec![], None));
    }
}

#[test]
fn wat_02_a_watch_from_the_future_hears_only_what_is_beyond_it() {
    let rig = Rig::new(Setup::default(), |upstream| {
        before(upstream, 1000);
        upstream.put("a", "pod");
    });
    let future = rig.watch(after(1010));
    for _ in 1001..=1011 {
        rig.upstream.put("a", "pod");
    }
    assert_eq!(rig.heard(future), ["MODIFIED a/pod@1011"]);
}

#[test]
fn wat_04_the_end_waits_for_the_version_that_was_asked_for() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(initial(Some("105"), true, true));
    rig.run(1000);
    before(&rig.upstream, 105);
    rig.upstream.bookmark();
    assert_eq!((rig.heard(watch), rig.version()), (vec![], 104));
    rig.upstream.put("a", "x");
    assert_eq!(rig.heard(watch), ["ADDED a/x@105", "INITIAL-EVENTS-END @105"]);
}

/// Which version a watch asks for, after three pods were written to an upstream that began at 100.
enum At {
    Unset,
    Zero,
    First,
    Current,
}

/// What comes before live events.
#[derive(Clone, Copy)]
enum Before {
    State,
    History,
    End,
}

/// A watch that waited for the first list begins with it, however far the upstream is by then. What is written meanwhile follows.
#[test]
fn a_watch_without_options_that_waited_misses_nothing_written_meanwhile() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let watch = rig.watch(WatchOptions::default());
    let (upstream, written) = (rig.upstream.clone(), Cell::new(false));
    *rig.client.on_flush.borrow_mut() = Some(Rc::new(move |resource| {
        if resource.with(|cacher| cacher.stats().lists) == 1 && !written.replace(true) {
            resource.pause();
            upstream.put("a", "x");
        }
    }));
    rig.resource.start();
    assert_eq!(rig.heard(watch), ["ADDED a/x@101"]);
    rig.resource.resume();
    assert_eq!(rig.heard(watch), ["MODIFIED a/x@102"]);
}

/// Three pods, then the watch, then two more.
fn begins(bookmarks: bool, send: Option<bool>, at: &At, before: &[Before]) {
    let rig = Rig::new(Setup::default(), |_| {});
    for name in ["pod-3", "pod-2", "pod-1"] {
        rig.upstream.put("a", name);
    }
    rig.run(0);
    let watch = rig.watch(WatchOptions {
        resource_version: match at {
            At::Unset => None,
            At::Zero => Some("0".into()),
            At::First => Some("100".into()),
            At::Current => Some("103".into()),
        },
        resource_version_match: send.map(|_| "NotOlderThan".into()),
        send_initial_events: send,
        allow_watch_bookmarks: bookmarks,
        ..WatchOptions::default()
    });
    let expected = before.iter().flat_map(|before| match before {
        Before::State => &["ADDED a/pod-1@103", "ADDED a/pod-2@103", "ADDED a/pod-3@103"][..],
        Before::History => &["ADDED a/pod-3@101", "ADDED a/pod-2@102", "ADDED a/pod-1@103"],
        Before::End => &["INITIAL-EVENTS-END @103"],
    });
    assert_eq!(rig.heard(watch), expected.copied().collect::<Vec<_>>());
    rig.upstream.put("a", "pod-4");
    rig.upstream.put("a", "pod-5");
    rig.run(30_000);
    let mut heard = rig.heard(watch);
    heard.retain(|text| !(bookmarks && text == "BOOKMARK @105"));
    assert_eq!(heard, ["ADDED a/pod-4@104", "ADDED a/pod-5@105"]);
    assert_eq!(rig.ended(watch), None);
}

/// Bookmarks allowed, initial events, version => what comes first.
macro_rules! begins {
    ($($name:ident: $bookmarks:literal, $send:expr, $at:ident => [$($before:ident),*];)*) => {$(
        #[test]
        fn $name() {
            begins($bookmarks, $send, &At::$at, &[$(Before::$before),*]);
        }
    )*};
}

begins! {
    wat_05_from_the_newest_state_with_its_end: true, Some(true), Unset => [State, End];
    wat_06_from_now_with_bookmarks: true, Some(false), Unset => [];
    wat_07_from_now: false, Some(false), Unset => [];
    wat_08_from_the_newest_state: false, Some(true), Unset => [State];
    wat_09_from_any_state_with_its_end: true, Some(true), Zero => [State, End];
    wat_10_from_what_is_held_with_bookmarks: true, Some(false), Zero => [];
    wat_11_from_what_is_held: false, Some(false), Zero => [];
    wat_12_from_any_state: false, Some(true), Zero => [State];
    wat_13_from_a_state_not_older_with_its_end: true, Some(true), First => [State, End];
    wat_14_from_history_with_bookmarks: true, Some(false), First => [History];
    wat_15_from_history: false, Some(false), First => [History];
    wat_16_from_a_state_not_older: false, Some(true), First => [State];
    wat_17_from_the_current_state_with_its_end: true, Some(true), Current => [State, End];
    wat_18_from_the_current_version_with_bookmarks: true, Some(false), Current => [];
    wat_19_from_the_current_version: false, Some(false), Current => [];
    wat_20_from_the_current_state: false, Some(true), Current => [State];
    wat_21_as_ever_from_any_state: false, None, Zero => [State];
    wat_22_as_ever_without_a_version: false, None, Unset => [State];
}

#[test]
fn wat_24_a_single_name_has_the_end_at_the_version_of_all() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in 1..=5 {
            upstream.put("a", &format!("pod-{number}"));
        }
    });
    let single = WatchOptions { field_selector: Some("metadata.name=pod-1".into()), ..initial(None, true, true) };
    let watch = rig.watch(single);
    assert_eq!(rig.heard(watch), ["ADDED a/pod-1@105", "INITIAL-EVENTS-END @105"]);
}

#[test]
fn wat_25_initial_events_do_not_need_bookmarks() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(initial(None, true, false));
    assert_eq!((rig.heard(watch), rig.ended(watch)), (vec![], None));
    rig.upstream.put("a", "x");
    assert_eq!(rig.heard(watch), ["ADDED a/x@101"]);
}

#[test]
fn wat_26_an_empty_state_ends_its_initial_events_at_once() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(initial(None, true, true));
    assert_eq!(rig.heard(watch), ["INITIAL-EVENTS-END @100"]);
    let document: serde_json::Value = serde_json::from_str(&rig.client.streams.borrow()[watch].events[0].document).unwrap();
    assert_eq!(document["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(document["metadata"]["resourceVersion"], "100");
}

/// Both kinds of upstream: one that tells its progress when asked, as etcd does, and one that does not, as the Kubernetes API.
#[test]
fn wat_28_initial_events_wait_for_the_version_for_three_seconds() {
    for tells_progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| upstream.tells_progress.set(tells_progress));
        rig.upstream.freeze_streams();
        rig.upstream.pass(5);
        let unset = tells_progress.then(|| initial(None, true, true));
        for options in [initial(Some("105"), true, true)].into_iter().chain(unset) {
            let watch = rig.watch(options);
            rig.run(2_999);
            assert_eq!(rig.ended(watch), None);
            rig.run(1);
            assert_eq!(rig.heard(watch), ["ERROR 504 Timeout: Timeout: Too large resource version: 105, current: 100"]);
            assert_eq!((rig.ended(watch), rig.resume_from(watch)), (Some(EndReason::Error), None));
            let status = Status::parse(rig.client.streams.borrow()[watch].events[0].document.as_bytes()).unwrap();
            assert!(status.is_too_large());
            assert_eq!(status.details.as_ref().unwrap().retry_after_seconds, Some(1));
            let cause = &status.details.unwrap().causes[0];
            assert_eq!((cause.reason.as_str(), cause.message.as_str()), ("ResourceVersionTooLarge", "Too large resource version"));
        }
        assert_eq!(rig.upstream.asked.borrow().1.is_empty(), !tells_progress, "progress is asked for while somebody waits");

        let rig = Rig::new(Setup::default(), |upstream| upstream.tells_progress.set(tells_progress));
        let patient = rig.watch(initial(Some("105"), true, false));
        rig.run(1000);
        before(&rig.upstream, 105);
        rig.upstream.put("a", "pod1");
        assert_eq!(rig.heard(patient), ["ADDED a/pod1@105"]);
    }
}

#[test]
fn an_upstream_that_does_not_say_its_version_is_an_error_in_the_stream() {
    let rig = Rig::new(Setup::default(), |_| {});
    for (error, text) in [
        (Error::network("connection refused"), "ERROR 500 InternalError: connection refused"),
        (Status::new(403, "Forbidden", "pods is forbidden").into(), "ERROR 403 Forbidden: pods is forbidden"),
    ] {
        rig.upstream.list_faults.borrow_mut().push_back(crate::helpers::upstream::ListFault::Refuse(error));
        let watch = rig.watch(initial(None, true, true));
        assert_eq!(rig.heard(watch), [text]);
    }
    rig.upstream.list_faults.borrow_mut().push_back(crate::helpers::upstream::ListFault::Body(b"<html>".to_vec()));
    let watch = rig.watch(initial(None, false, true));
    assert!(rig.heard(watch)[0].starts_with("ERROR 500 InternalError: "));
}

#[test]
fn wat_29_from_zero_is_the_state_however_old_the_history_is() {
    let rig = Rig::new(Setup::window(3), |upstream| {
        upstream.put("a", "x");
    });
    let single = |version: u64| WatchOptions { namespace: Some("a".into()), name: Some("x".into()), ..after(version) };
    let first = rig.watch(single(0));
    assert_eq!(rig.heard(first), ["ADDED a/x@101"]);
    rig.upstream.put("a", "x");
    assert_eq!(rig.heard(first), ["MODIFIED a/x@102"]);
    let second = rig.watch(single(0));
    assert_eq!(rig.heard(second), ["ADDED a/x@102"]);
    for _ in 0..4 {
        rig.upstream.put("a", "x");
    }
    rig.run(0);
    let third = rig.watch(single(0));
    assert_eq!(rig.heard(third), ["ADDED a/x@106"]);
    let expired = rig.watch(single(102));
    assert_eq!(rig.heard(expired), ["ERROR 410 Expired: too old resource version: 102 (103)"]);
}

#[test]
fn wat_30_a_delete_carries_the_version_of_the_deletion() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let watch = rig.watch(after(101));
    rig.upstream.pass(8);
    let deleted = rig.upstream.delete("a", "x");
    assert_eq!((deleted, rig.heard(watch)), (110, vec!["DELETED a/x@110".into()]));
    let event = &rig.client.streams.borrow()[watch].events[0];
    assert_eq!(event.own, 110);
    assert!(event.document.contains("\"resourceVersion\":\"110\""));
}

#[test]
fn wat_31_a_version_that_is_no_number_is_500_without_a_reason() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(WatchOptions { resource_version: Some("abc".into()), ..WatchOptions::default() });
    assert_eq!((rig.heard(watch), rig.ended(watch)), (vec![], Some(EndReason::Error)));
    let message = "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax";
    assert_eq!(crate::said(&rig.refusal(watch).unwrap()), (ErrorCode::Invalid, 500, "", message));
}

#[test]
fn wat_32_a_watch_tells_of_entering_and_leaving_its_selector() {
    let rig = Rig::new(Setup::default(), |_| {});
    let selector = Some("spec.nodeName=n1".to_string());
    let many = rig.watch(WatchOptions { namespace: Some("a".into()), field_selector: selector.clone(), ..after(100) });
    let single = rig.watch(WatchOptions { namespace: Some("a".into()), name: Some("x".into()), field_selector: selector, ..after(100) });
    for (namespace, node, expected) in [
        ("a", "n1", Some("ADDED a/x@101")),
        ("a", "n1", Some("MODIFIED a/x@102")),
        ("a", "n2", Some("DELETED a/x@103")),
        ("a-bad", "n1", None),
        ("a", "n1", Some("ADDED a/x@105")),
    ] {
        on_node(&rig.upstream, namespace, "x", node);
        for watch in [many, single] {
            assert_eq!(rig.heard(watch), Vec::from_iter(expected));
        }
    }
    let left = &rig.client.streams.borrow()[many].events[2];
    assert!(left.document.contains("\"nodeName\":\"n1\"") && left.document.contains("\"resourceVersion\":\"103\""), "{}", left.document);
}

#[test]
fn wat_33_a_stopped_watch_ends() {
    let rig = Rig::new(Setup::default(), |_| {});
    let watch = rig.watch(after(100));
    rig.upstream.put("a", "x");
    assert_eq!(rig.heard(watch).len(), 1);
    rig.stop(watch);
    rig.stop(watch);
    rig.upstream.put("a", "y");
    assert_eq!((rig.heard(watch), rig.ended(watch), rig.resume_from(watch)), (vec![], Some(EndReason::Stopped), Some(101)));
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.watchers), 0);
}

#[test]
fn wat_34_a_watch_that_waited_through_a_relist_finds_its_stream_closed_and_empty() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    rig.run(2000);
    let waiting = rig.watch(initial(Some("110"), true, true));
    rig.run(0);
    rig.upstream.drop_streams();
    rig.upstream.pass(20);
    rig.upstream.expire();
    rig.run(0);
    assert_eq!(rig.version(), 121);
    assert_eq!((rig.heard(waiting), rig.ended(waiting)), (vec![], Some(EndReason::Relist)));
    assert_eq!(rig.resume_from(waiting), None, "it never began");
}

#[test]
fn wat_36_a_fast_watcher_beside_a_slow_one_never_goes_back_in_time() {
    let rig = Rig::new(Setup::default(), |upstream| before(upstream, 1000));
    let slow = rig.watch_as(WatchOptions { buffer_size: Some(10), ..after(999) }, true, Demand::None);
    for number in 0..100 {
        rig.upstream.put("a", &format!("pod{number:03}"));
        if number == 50 {
            rig.run(0);
        }
    }
    let fast = rig.watch(after(999));
    rig.run(1000);
    let expected: Vec<String> = (0..100).map(|number| format!("ADDED a/pod{number:03}@{}", 1000 + number)).collect();
    assert_eq!(rig.heard(fast), expected);
    rig.demand(slow, Demand::All);
    assert_eq!(rig.heard(slow), expected[..10]);
    assert_eq!((rig.ended(slow), rig.resume_from(slow)), (Some(EndReason::Overflow), Some(1009)));
}

/// The apiserver has a switch that makes it ignore the option for initial events. There is no such switch here. A watch that asks for them
/// gets them, and a watch without the option begins as watches always have.
#[test]
fn wat_37_initial_events_are_not_ignored_and_without_the_option_a_watch_begins_as_ever() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let (asked, silent) = (rig.watch(initial(Some("101"), true, true)), rig.watch(after(101)));
    assert_eq!(rig.heard(asked), ["ADDED a/x@101", "INITIAL-EVENTS-END @101"]);
    assert_eq!(rig.heard(silent), [""; 0]);
}

/// A watch may name neither a version nor initial events. An apiserver's REST layer then fills in `sendInitialEvents` and `NotOlderThan`,
/// so the watch waits for the upstream's newest version. With bookmarks it also tells the end of the state. That layer is not part of a
/// cache, and here nothing is filled in. The watch has what is held, at once, even while the upstream is ahead.
#[test]
fn opt_06_a_watch_that_says_nothing_is_taken_as_it_is() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.tells_progress.set(true);
        upstream.put("a", "x");
    });
    rig.upstream.freeze_streams();
    rig.upstream.pass(1);
    let said = |version: Option<&str>| WatchOptions { allow_watch_bookmarks: true, resource_version: version.map(Into::into), ..after(0) };
    let began = rig.time.elapsed();
    for (version, expected) in [(None, &["ADDED a/x@101"][..]), (Some("0"), &["ADDED a/x@101"]), (Some("101"), &[])] {
        let watch = rig.watch(said(version));
        assert_eq!((rig.heard(watch), rig.ended(watch)), (expected.iter().map(ToString::to_string).collect(), None), "{version:?}");
    }
    assert_eq!((rig.time.elapsed(), rig.upstream.asked.borrow().0.len()), (began, 0), "nobody is asked, and nothing waited for");
    let asked = rig.watch(initial(None, true, true));
    assert_eq!((rig.heard(asked), rig.upstream.asked.borrow().0.len()), (vec![], 1));
}

#[test]
fn opt_08_forbidden_combinations_are_refused_before_the_stream() {
    let rig = Rig::new(Setup::default(), |_| {});
    let refused = |options: WatchOptions| {
        let watch = rig.watch(options);
        assert_eq!((rig.heard(watch), rig.ended(watch)), (vec![], Some(EndReason::Error)));
        let error = rig.refusal(watch).unwrap();
        (error.code, error.status.unwrap().code)
    };
    let without_match = WatchOptions { resource_version_match: None, ..initial(None, true, true) };
    let without_events = WatchOptions { send_initial_events: None, ..initial(None, true, true) };
    let exact = WatchOptions { resource_version_match: Some("Exact".into()), ..initial(Some("5"), true, true) };
    for options in [without_match, without_events, exact] {
        assert_eq!(refused(options), (ErrorCode::Invalid, 422));
    }
    // What is no version is 500 in a watch, as kube-apiserver has it.
    for version in ["abc", "-1", "1.5", " "] {
        assert_eq!(refused(WatchOptions { resource_version: Some(version.into()), ..WatchOptions::default() }), (ErrorCode::Invalid, 500));
    }
    assert_eq!(refused(WatchOptions { label_selector: Some("a in b".into()), ..WatchOptions::default() }), (ErrorCode::Invalid, 400));
    assert_eq!(refused(WatchOptions { field_selector: Some("a".into()), ..WatchOptions::default() }), (ErrorCode::Invalid, 400));
}

/// Which options go with a watch that begins with the state: any version or none, but no exact one. client-go also refuses a limit and a
/// continue token beforehand. No watch has these here.
#[test]
fn wl_16_initial_events_go_with_any_version_that_is_not_exact() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    for version in [None, Some(""), Some("0"), Some("100")] {
        let watch = rig.watch(initial(version, true, true));
        rig.run(1000);
        assert_eq!(rig.heard(watch), ["ADDED a/x@101", "INITIAL-EVENTS-END @101"], "{version:?}");
    }
    let without = |options: WatchOptions| {
        let watch = rig.watch(options);
        (rig.ended(watch), rig.refusal(watch).map(|error| (error.code, error.status.unwrap().code)))
    };
    let refused = (Some(EndReason::Error), Some((ErrorCode::Invalid, 422)));
    let matching = |text: Option<&str>| WatchOptions { resource_version_match: text.map(Into::into), ..initial(Some("100"), true, true) };
    assert_eq!(without(matching(Some("Exact"))), refused);
    assert_eq!(without(matching(None)), refused);
    assert_eq!(without(WatchOptions { send_initial_events: None, ..matching(Some("NotOlderThan")) }), refused);
}
