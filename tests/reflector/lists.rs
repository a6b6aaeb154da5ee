//! The reflector's lists, case by case: pages, refusals, answers that cannot be read.

use crate::helpers::replay::{ReflectorRig, Said};
use crate::helpers::scenario::{MINUTE, SECOND, config, fill, list_requests, pages, status, waits};
use crate::helpers::upstream::{ListFault, WatchFault};
use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;
use watchcache::source::ListRequest;
use watchcache::status::{Cause, Details, ErrorCode, Status};

#[test]
fn pg_01_pages_are_as_many_as_needed() {
    for (items, requests) in [(0, 1), (9, 1), (10, 1), (11, 2), (21, 3)] {
        let rig = ReflectorRig::with(2, pages(10), 0, |upstream| fill(upstream, items));
        rig.run(10).assert_whole();
        assert_eq!(rig.lists(), requests, "{items} items");
        assert!(list_requests(&rig).iter().all(|list| list.limit == Some(10) && list.resource_version.is_none()));
        assert_eq!(rig.replay.borrow().version, Some(100 + items as u64));
    }
    // Of several pages the first one's version counts.
    let first = br#"{"metadata":{"resourceVersion":"100","continue":"x"},"items":[]}"#;
    let second = br#"{"metadata":{"resourceVersion":"170"},"items":[]}"#;
    let rig = ReflectorRig::with(49, config(), 0, |upstream| {
        upstream.list_faults.borrow_mut().extend([ListFault::Body(first.to_vec()), ListFault::Body(second.to_vec())]);
    });
    rig.run(10).assert_whole();
    assert_eq!((rig.watched_from(), rig.lists()), (vec![100], 2));
}

#[test]
fn progress_is_told_page_by_page_and_objects_come_in_batches() {
    let rig = ReflectorRig::with(3, pages(250), 0, |upstream| fill(upstream, 600));
    rig.run(10).assert_whole();
    let replay = rig.replay.borrow();
    let pages: Vec<(usize, usize, Option<u64>)> = replay
        .said
        .iter()
        .filter_map(|(_, said)| match said {
            Said::Page { keys, loaded, remaining } => Some((keys.len(), *loaded, *remaining)),
            _ => None,
        })
        .collect();
    assert_eq!(
        pages,
        [
            (100, 100, Some(500)),
            (100, 200, Some(400)),
            (50, 250, Some(350)),
            (100, 350, Some(250)),
            (100, 450, Some(150)),
            (50, 500, Some(100)),
            (100, 600, None),
        ]
    );
}

#[test]
fn pg_02_an_expired_page_leads_to_one_list_without_pages() {
    let rig = ReflectorRig::with(4, pages(10), 0, |upstream| {
        fill(upstream, 21);
        upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Refuse(Status::new(410, "Expired", "too old").into())]);
    });
    rig.run(10).assert_whole();
    let limits: Vec<_> = list_requests(&rig).iter().map(|list| (list.limit, list.continue_token.is_some())).collect();
    assert_eq!(limits, [(Some(10), false), (Some(10), true), (None, false)]);
    assert_eq!(rig.replay.borrow().replaces(), 1);
}

#[test]
fn when_the_list_without_pages_expires_too_the_list_has_failed() {
    let gone = || ListFault::Refuse(Status::new(410, "Expired", "too old").into());
    let rig = ReflectorRig::with(5, pages(10), 0, |upstream| {
        fill(upstream, 21);
        upstream.list_faults.borrow_mut().extend([ListFault::None, gone(), gone()]);
    });
    rig.run(10);
    assert_eq!(rig.replay.borrow().errors()[0].code, ErrorCode::Expired);
    rig.run(2 * SECOND).assert_whole();
}

#[test]
fn rf_17_a_snapshot_that_expires_between_pages_is_replaced_by_a_whole_list() {
    let rig = ReflectorRig::with(6, pages(10), 0, |upstream| {
        fill(upstream, 40);
        upstream.latency.set(1000);
    });
    while rig.lists() < 3 {
        rig.run(50);
    }
    rig.upstream.put("ns", "late");
    rig.upstream.expire();
    rig.run(MINUTE).assert_whole();
    assert_eq!(list_requests(&rig).last().unwrap().limit, None);
    assert_eq!(rig.replay.borrow().version, Some(rig.upstream.version()));
}

#[test]
fn a_later_page_that_fails_in_passing_is_asked_for_again() {
    let rig = ReflectorRig::with(7, pages(10), 0, |upstream| {
        fill(upstream, 25);
        upstream.list_faults.borrow_mut().extend([
            ListFault::None,
            ListFault::Cut(700),
            ListFault::Refuse(status(503, "ServiceUnavailable")),
            ListFault::None,
            ListFault::Stall(300),
        ]);
    });
    rig.run(5 * MINUTE).assert_whole();
    let tokens: Vec<_> = list_requests(&rig).into_iter().map(|list| list.continue_token).collect();
    assert_eq!(tokens[1], tokens[2]);
    assert_eq!(tokens[2], tokens[3]);
    assert_ne!(tokens[3], tokens[4]);
    assert_eq!(tokens[4], tokens[5]);
    assert_eq!((tokens.len(), rig.replay.borrow().replaces()), (6, 1));
    assert_eq!(
        waits(&rig).iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        [ErrorCode::Network, ErrorCode::Unavailable, ErrorCode::Network]
    );
}

#[test]
fn a_page_that_continues_with_its_own_token_ends_the_list() {
    let circle = br#"{"metadata":{"resourceVersion":"5","continue":"x"},"items":[]}"#;
    let rig = ReflectorRig::with(8, config(), 0, |upstream| {
        upstream.list_faults.borrow_mut().extend([ListFault::Body(circle.to_vec()), ListFault::Body(circle.to_vec())]);
    });
    rig.run(10);
    let error = rig.replay.borrow().errors()[0].clone();
    assert_eq!((error.code, rig.lists()), (ErrorCode::Protocol, 2));
    assert!(error.message.contains("circles"), "{error}");
}

#[test]
fn rf_28_a_table_is_no_list() {
    let table = |version: &str, rows: &str| {
        format!(r#"{{"kind":"Table","apiVersion":"{version}","metadata":{{"resourceVersion":"100"}},"{rows}":[]}}"#)
    };
    for version in ["meta.k8s.io/v1", "meta.k8s.io/v1beta1"] {
        let rig = ReflectorRig::with(21, config(), 0, |upstream| {
            let bodies = [table(version, "rows"), table("shop.example/v1", "items")].map(|body| ListFault::Body(body.into_bytes()));
            upstream.list_faults.borrow_mut().extend(bodies);
        });
        rig.run(10);
        let error = rig.replay.borrow().errors()[0].clone();
        assert!(error.code == ErrorCode::Protocol && error.message.contains("Table"), "{error}");
        assert_eq!(rig.replay.borrow().replaces(), 0);
        rig.run(2 * SECOND).assert_whole();
        assert_eq!(rig.lists(), 2, "a table of another group is a list like any other");
    }
}

#[test]
fn rf_32_a_refused_list_is_tried_again_by_the_sequence_of_waits() {
    let rig = ReflectorRig::with(25, config(), 0, |upstream| {
        fill(upstream, 2);
        upstream.list_faults.borrow_mut().extend((0..9).map(|_| ListFault::Refuse(status(403, "Forbidden"))));
    });
    rig.run(10 * MINUTE).assert_whole();
    let waits = waits(&rig);
    assert_eq!(waits.len(), 9);
    for ((code, wait), base) in waits.into_iter().zip([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]) {
        assert_eq!(code, ErrorCode::Forbidden);
        assert!((base..2 * base).contains(&wait), "{wait} of {base}");
    }
    let replay = rig.replay.borrow();
    assert_eq!(replay.connections().filter(|(_, connection)| matches!(connection, Connection::Failed { .. })).count(), 9);
    assert_eq!(replay.errors().len(), 9);
}

#[test]
fn js_10_no_items_are_an_empty_list_only_with_a_version() {
    for (body, taken) in [
        (r#"{"kind":"PodList","metadata":{"resourceVersion":"100"},"items":null}"#, true),
        (r#"{"kind":"PodList","metadata":{"resourceVersion":"100"}}"#, true),
        (r#"{"kind":"PodList","metadata":{},"items":null}"#, false),
        (r#"{"items":[]}"#, false),
        ("{}", false),
        (r#"{"kind":"PodList","metadata":{"resourceVersion":"new"},"items":[]}"#, false),
    ] {
        let fault = || ListFault::Body(body.into());
        let rig = ReflectorRig::with(36, config(), 0, |upstream| upstream.list_faults.borrow_mut().push_back(fault()));
        rig.run(10);
        let replay = rig.replay.borrow();
        assert_eq!((replay.replaces(), replay.errors().len()), if taken { (1, 0) } else { (0, 1) }, "{body}");
        assert!(replay.errors().iter().all(|error| error.code == ErrorCode::Protocol));
        drop(replay);

        // An empty list removes what is held. An answer that is no list does not.
        let rig = ReflectorRig::with(36, config(), 0, |upstream| {
            upstream.put("", "a");
        });
        rig.run(2 * SECOND);
        rig.upstream.freeze_streams();
        if taken {
            assert_eq!(rig.upstream.delete("", "a"), 102);
        }
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Body(body.replace("100", "102").into()));
        rig.handle.refresh();
        rig.run(10);
        let rows: Vec<String> = rig.replay.borrow().rows.keys().cloned().collect();
        assert_eq!(rows, if taken { vec![] } else { vec!["a".to_owned()] }, "{body}");
    }
}

/// A cacher's lister leaves the version out of every list, whatever the reflector holds: the list is the newest state there is.
#[test]
fn ref_01_no_list_names_a_version() {
    let rig = ReflectorRig::with(51, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    rig.handle.refresh();
    rig.run(10).assert_whole();
    let unset = ListRequest { limit: Some(500), ..ListRequest::default() };
    assert_eq!(list_requests(&rig), [unset.clone(), unset]);
}

/// client-go lists at its last version first, and without one when that has expired. Without one it is from the start.
#[test]
fn ref_02_after_an_expired_version_the_list_comes_at_once_and_names_none() {
    let rig = ReflectorRig::with(52, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    rig.upstream.send_error(&Status::too_old("103", "200"));
    rig.run(0).assert_whole();
    let requests = list_requests(&rig);
    assert_eq!((requests.len(), &requests[1].resource_version, &requests[1].resource_version_match), (2, &None, &None));
}

#[test]
fn lwt_01_pages_of_two_over_three() {
    let rig = ReflectorRig::with(53, pages(2), 0, |upstream| {
        for name in ["bar", "baz", "foo"] {
            upstream.put("", name);
        }
    });
    rig.run(10).assert_whole();
    let requests = list_requests(&rig);
    let token = requests[1].continue_token.clone();
    assert!(token.is_some());
    let page = |continue_token| ListRequest { limit: Some(2), continue_token, ..ListRequest::default() };
    assert_eq!(requests, [page(None), page(token)]);
    let replay = rig.replay.borrow();
    let told: Vec<&Said> = replay.said.iter().map(|(_, said)| said).filter(|said| matches!(said, Said::Page { .. })).collect();
    let keys = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            &Said::Page { keys: keys(&["bar", "baz"]), loaded: 2, remaining: Some(1) },
            &Said::Page { keys: keys(&["foo"]), loaded: 3, remaining: None }
        ]
    );
}

/// An etcd was restored from a backup, so its versions are lower than those held. A replica that is behind looks the same, so a user has to
/// say it.
#[test]
fn law_02_order_a_server_that_was_reset_is_taken_for_what_it_is_when_somebody_says_so() {
    for watch_list in [false, true] {
        let rig = ReflectorRig::with(54, ReflectorConfig { watch_list, ..config() }, 0, |upstream| fill(upstream, 6));
        rig.run(2 * SECOND);
        rig.upstream.delete("ns", "pod0005");
        rig.run(10);
        rig.upstream.behind.set(4); // for good
        rig.upstream.drop_streams();
        rig.run(5 * MINUTE);
        rig.handle.refresh();
        rig.run(MINUTE);
        assert_eq!((rig.replay.borrow().replaces(), rig.replay.borrow().version), (1, Some(107)));
        // A list that fails leaves that word to the next one.
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(status(500, "InternalError")));
        if watch_list {
            rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(status(500, "InternalError")));
        }
        rig.reset();
        rig.run(2 * MINUTE);
        let replay = rig.replay.borrow();
        assert_eq!((replay.replaces(), replay.version, replay.rows.len()), (2, Some(103), 3));
        assert_eq!(replay.last_connection(), Some(&Connection::Live));
    }
}

/// Unless a user says so, the same list is not applied, however often it comes.
#[test]
fn law_02_order_unless_told_it_never_goes_back() {
    let rig = ReflectorRig::with(55, config(), 0, |upstream| fill(upstream, 6));
    rig.run(2 * SECOND);
    rig.upstream.behind.set(4);
    rig.upstream.send_error(&Status::too_old("1", "2"));
    rig.run(10 * MINUTE);
    assert!(rig.lists() > 5, "{}", rig.lists());
    assert_eq!((rig.replay.borrow().replaces(), rig.replay.borrow().version), (1, Some(106)));
}

#[test]
fn law_02_order_a_list_from_a_replica_that_is_behind_is_not_applied() {
    let rig = ReflectorRig::with(39, config(), 0, |upstream| fill(upstream, 6));
    rig.run(2 * SECOND);
    rig.upstream.delete("ns", "pod0005");
    rig.run(10);
    rig.upstream.behind.set(3);
    rig.handle.refresh();
    rig.run(10);
    let replay = rig.replay.borrow();
    assert_eq!((replay.replaces(), replay.version, replay.rows.len()), (1, Some(107), 5));
    let Some(Connection::Waiting { error, .. }) = replay.last_connection() else { panic!("{:?}", replay.last_connection()) };
    assert_eq!(error.code, ErrorCode::Protocol);
    assert!(error.message.contains("version 104") && error.message.contains("version 107") && error.message.contains("behind"), "{error}");
    drop(replay);
    rig.upstream.catch_up();
    rig.run(5 * SECOND).assert_whole();
}

#[test]
fn broken_answers_take_nothing_away() {
    let bodies: [&[u8]; 5] = [
        b"<html><h1>Bad Gateway</h1></html>",
        b"{\"metadata\":{\"resourceVersion\":\"900\"},\"items\":[{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"9\"}},",
        b"{\"metadata\":{\"resourceVersion\":\"900\"},\"items\":[{\"metadata\":{\"name\":\"\xff\",\"resourceVersion\":\"9\"}}]}",
        b"{\"metadata\":{\"resourceVersion\":\"900\"},\"items\":[{\"metadata\":{\"name\":\"x\"}}]}",
        b"{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Failure\",\"code\":500}",
    ];
    let codes = [ErrorCode::Decode, ErrorCode::Decode, ErrorCode::Decode, ErrorCode::Protocol, ErrorCode::Protocol];
    for (body, code) in bodies.into_iter().zip(codes) {
        let rig = ReflectorRig::with(42, config(), 0, |upstream| fill(upstream, 4));
        rig.run(2 * SECOND);
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Body(body.to_vec()));
        rig.handle.refresh();
        rig.run(10);
        let error = rig.replay.borrow().errors()[0].clone();
        assert_eq!(error.code, code, "{error}");
        assert_eq!(rig.replay.borrow().rows.len(), 4);
        rig.run(2 * SECOND).assert_whole();
    }
}

/// The pages of a list are all of one size, also those of a list that replaces what is held.
#[test]
fn rf_12_every_list_comes_in_pages_of_the_chosen_size() {
    let rig = ReflectorRig::with(70, pages(4), 0, |upstream| fill(upstream, 10));
    rig.run(2 * SECOND).assert_whole();
    rig.handle.refresh();
    rig.run(10).assert_whole();
    let requests = list_requests(&rig);
    assert_eq!(requests.iter().map(|list| list.limit).collect::<Vec<_>>(), [Some(4); 6]);
    let follows: Vec<bool> = requests.iter().map(|list| list.continue_token.is_some()).collect();
    assert_eq!(follows, [false, true, true, false, true, true]);
    assert_eq!(rig.replay.borrow().rows.len(), 10);
}

/// client-go then names its last version, so that a server can answer from its cache. Here no list names one, with pages or without.
#[test]
fn rf_13_without_pages_a_list_asks_for_everything_at_once() {
    let rig = ReflectorRig::with(71, pages(0), 0, |upstream| fill(upstream, 10));
    rig.run(2 * SECOND);
    rig.handle.refresh();
    rig.run(10).assert_whole();
    assert_eq!(list_requests(&rig), [ListRequest::default(), ListRequest::default()]);
}

/// client-go pages a later list only if its first came in pages; here all do.
#[test]
fn rf_14_later_lists_keep_the_limit_of_the_first() {
    for items in [3, 700] {
        let rig = ReflectorRig::with(72, config(), 0, |upstream| fill(upstream, items));
        rig.run(2 * SECOND);
        rig.handle.refresh();
        rig.run(10).assert_whole();
        assert!(list_requests(&rig).iter().all(|list| list.limit == Some(500)));
        assert_eq!(rig.lists(), if items > 500 { 4 } else { 2 });
    }
}

/// client-go lists at its last version, and at once without one when that has expired. Here no list names a version. So a list that is
/// called expired has failed like any other, and is asked for again after the next wait.
#[test]
fn rf_16_a_first_page_that_is_called_expired_has_failed() {
    let rig = ReflectorRig::with(73, config(), 0, |upstream| {
        fill(upstream, 10);
        upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::too_old("10", "20").into()));
    });
    rig.run(799);
    assert_eq!(rig.lists(), 1);
    rig.run(801).assert_whole();
    let unset = ListRequest { limit: Some(500), ..ListRequest::default() };
    assert_eq!(list_requests(&rig), [unset.clone(), unset]);
    assert_eq!(rig.replay.borrow().errors()[0].code, ErrorCode::Expired);
}

/// What servers of three ages say of a version that they have not reached: a cause, a message of a cause, a message. client-go then lists
/// without a version. Here a watch that is answered so leads to a list. A list names no version, and is simply asked for again.
#[test]
fn rf_18_a_version_that_the_server_has_not_reached_leads_to_a_list_without_one() {
    let cause = |reason: &str, message: &str| Details {
        causes: vec![Cause { reason: reason.into(), message: message.into(), field: String::new() }],
        ..Details::default()
    };
    let old = || Status::new(504, "Timeout", "Timeout: Too large resource version: 20, current: 10");
    let formats = [
        Status { details: Some(cause("ResourceVersionTooLarge", "Too large resource version")), ..Status::new(504, "Timeout", "Timeout") },
        Status { details: Some(cause("", "Too large resource version")), ..Status::new(504, "Timeout", "Timeout") },
        old(),
    ];
    for status in formats {
        let rig = ReflectorRig::with(74, config(), 0, |upstream| {
            fill(upstream, 3);
            upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(status.clone().into()));
        });
        rig.run(3 * SECOND).assert_whole();
        rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(status.clone().into()));
        rig.upstream.drop_streams();
        rig.run(4 * SECOND).assert_whole();
        assert_eq!((rig.lists(), rig.watches()), (3, 3), "{status:?}");
        assert!(list_requests(&rig).iter().all(|list| list.resource_version.is_none()));
    }
}

/// The consumer of a list stops in the midst of a page, and nothing more is asked for. A page that has expired fails only after the pages
/// before it were told.
#[test]
fn pg_04_objects_are_told_in_their_order_until_somebody_stops_or_a_page_fails() {
    let rig = ReflectorRig::with(75, pages(10), 0, |upstream| {
        fill(upstream, 35);
        upstream.latency.set(1000);
    });
    while rig.lists() < 2 {
        rig.run(10);
    }
    let told = |rig: &ReflectorRig| {
        let replay = rig.replay.borrow();
        let pages = replay.said.iter().filter_map(|(_, said)| match said {
            Said::Page { keys, .. } => Some(keys.clone()),
            _ => None,
        });
        pages.flatten().collect::<Vec<String>>()
    };
    let first_page: Vec<String> = (0..10).map(|number| format!("ns/pod{number:04}")).collect();
    assert_eq!(told(&rig), first_page);
    rig.handle.close();
    let asked = rig.lists();
    rig.run(MINUTE);
    assert!(rig.lists() == asked && rig.replay.borrow().ended && rig.replay.borrow().replaces() == 0);

    let rig = ReflectorRig::with(76, pages(10), 0, |upstream| {
        fill(upstream, 21);
        let gone = || ListFault::Refuse(Status::new(410, "Expired", "too old").into());
        upstream.list_faults.borrow_mut().extend([ListFault::None, gone(), gone()]);
    });
    rig.run(10);
    assert_eq!((told(&rig), rig.replay.borrow().errors()[0].code), (first_page, ErrorCode::Expired));
}

/// client-go's pager reads up to ten pages ahead of its consumer. Here the next page is asked for when the one before was handed over. At
/// most one list is open beside the watch that goes on from it, and a stop leaves neither behind.
#[test]
fn pg_05_no_page_is_asked_for_before_the_one_before_it_was_handed_over() {
    let rig = ReflectorRig::with(77, pages(10), 0, |upstream| {
        fill(upstream, 50);
        upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Stall(40)]);
    });
    rig.run(MINUTE);
    assert_eq!((rig.lists(), rig.watches(), rig.upstream.connections(), rig.upstream.peak()), (2, 1, 2, (1, 1)));
    rig.handle.close();
    rig.run(MINUTE);
    assert_eq!((rig.lists(), rig.upstream.connections()), (2, 0));

    let rig = ReflectorRig::with(78, pages(10), 0, |upstream| fill(upstream, 50));
    rig.run(10).assert_whole();
    assert_eq!(rig.lists(), 5);
}
