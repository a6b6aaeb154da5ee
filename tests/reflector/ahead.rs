//! The watch that opens while the pages of a list are read, case by case.

use crate::helpers::replay::{ReflectorRig, Said};
use crate::helpers::scenario::{HOUR, MINUTE, SECOND, config, fill, list_requests, pages, status, waits};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Request, Upstream, WatchFault, Write};
use watchcache::change::ChangeKind;
use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;
use watchcache::status::{Error, ErrorCode, Status};
use watchcache::time::Millis;

/// An upstream of so many objects that takes up to a second over each answer.
fn slow(seed: u64, page_size: u32, count: usize) -> ReflectorRig {
    slow_as(seed, pages(page_size), count)
}

fn slow_as(seed: u64, config: ReflectorConfig, count: usize) -> ReflectorRig {
    ReflectorRig::with(seed, config, 0, |upstream| {
        fill(upstream, count);
        upstream.latency.set(SECOND);
    })
}

fn is_listing(rig: &ReflectorRig) -> bool {
    !rig.replay.borrow().said.iter().any(|(_, said)| matches!(said, Said::Replace { .. }))
}

/// Runs until so many pages were asked for.
fn until_page(rig: &ReflectorRig, page: usize) {
    for _ in 0..100_000 {
        if rig.lists() >= page {
            return;
        }
        rig.run(10);
    }
    panic!("page {page} is never asked for");
}

/// Runs until the first list is whole, and has something happen now and then.
fn while_listing(rig: &ReflectorRig, every: Millis, mut happens: impl FnMut(&Upstream, usize)) {
    for count in 0.. {
        rig.run(every);
        if !is_listing(rig) {
            return;
        }
        assert!(count < 100_000, "the list is never whole");
        happens(&rig.upstream, count);
    }
}

/// The version and the size of each replacement.
fn replacements(rig: &ReflectorRig) -> Vec<(u64, usize)> {
    let replay = rig.replay.borrow();
    let said = replay.said.iter().filter_map(|(_, said)| match said {
        Said::Replace { version, keys } => Some((*version, keys.len())),
        _ => None,
    });
    said.collect()
}

fn frame(write: &Write) -> String {
    format!("{{\"type\":\"{}\",\"object\":{}}}\n", write.kind, write.document)
}

#[test]
fn a_list_that_outlasts_the_servers_memory_is_live_after_one_list() {
    let rig = ReflectorRig::with(1, pages(10), 0, |upstream| {
        fill(upstream, 100);
        upstream.latency.set(SECOND);
        upstream.remembers.set(200); // four seconds of what happens here
    });
    while_listing(&rig, 20, |upstream, count| {
        upstream.put("ns", &format!("pod{:04}", count % 100));
    });
    assert!(rig.upstream.version() > 100 + 100 + 200, "{}: more than it remembers", rig.upstream.version());
    rig.run(SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (10, 1));
    let [(version, count)] = replacements(&rig)[..] else { panic!("{:?}", replacements(&rig)) };
    assert_eq!((version, count), (rig.upstream.version(), 100), "it stands at the last event taken");
    assert_eq!((rig.replay.borrow().changes(), waits(&rig)), (vec![], vec![]));
    // The same watch goes on.
    rig.upstream.put("ns", "later");
    rig.run(10).assert_whole();
    assert_eq!((rig.replay.borrow().changes().len(), rig.watches()), (1, 1));
}

#[test]
fn the_watch_is_asked_for_behind_the_first_page_of_several() {
    let order = |items: usize| {
        let rig = ReflectorRig::with(2, pages(10), 0, |upstream| fill(upstream, items));
        rig.run(10).assert_whole();
        let requests = rig.upstream.requests.borrow();
        requests.iter().map(|request| if request.is_list() { 'l' } else { 'w' }).collect::<String>()
    };
    assert_eq!([order(0), order(10), order(11), order(31)], ["lw", "lw", "lwl", "lwlll"]);
    let rig = ReflectorRig::with(3, ReflectorConfig { page_size: 0, ..config() }, 0, |upstream| fill(upstream, 31));
    rig.run(10).assert_whole();
    assert!(!rig.upstream.overlapped());
    let Some(Request::Watch(_, watch)) = rig.upstream.requests.borrow().last().cloned() else { panic!("no watch") };
    assert!(watch.allow_watch_bookmarks && watch.send_initial_events.is_none() && watch.resource_version == "131");
}

#[test]
fn what_comes_meanwhile_is_part_of_the_list_whatever_it_is() {
    let rig = slow(4, 2, 12);
    until_page(&rig, 3);
    let upstream = &rig.upstream;
    upstream.delete("ns", "pod0000"); // of a page that was read
    upstream.delete("ns", "pod0011"); // of one that was not
    upstream.put("ns", "pod0001");
    upstream.put("ns", "pod0001");
    upstream.put("ns", "new");
    upstream.put("ns", "gone");
    upstream.delete("ns", "gone");
    upstream.delete("ns", "pod0002");
    upstream.put("ns", "pod0002"); // and is back
    upstream.put("a", "first");
    upstream.pass(7);
    upstream.bookmark();
    rig.run(MINUTE).assert_whole();
    assert_eq!((replacements(&rig), rig.watches()), (vec![(129, 12)], 1));
    assert_eq!(rig.replay.borrow().changes(), []);
}

#[test]
fn a_watch_that_opens_late_or_says_nothing_is_the_rounds_watch_all_the_same() {
    for seed in 0..60 {
        let rig = ReflectorRig::with(seed, pages(2), 0, |upstream| {
            fill(upstream, 3);
            upstream.latency.set(SECOND);
        });
        while_listing(&rig, 5, |_, _| {});
        let opened = rig.upstream.connections() == 1;
        rig.upstream.put("ns", "pod0001");
        rig.run(SECOND).assert_whole();
        assert_eq!((rig.watched_from(), rig.lists()), (vec![103], 2), "open: {opened}");
        assert_eq!(rig.replay.borrow().changes(), [(ChangeKind::Modified, "ns/pod0001".into(), 104)]);
    }
}

#[test]
fn a_list_that_begins_anew_drops_what_it_shows_already() {
    for late in [false, true] {
        let rig = slow(5, 4, 12);
        until_page(&rig, 2);
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(410, "Expired", "too old").into()));
        while_listing(&rig, 5, |upstream, count| {
            if rig.lists() < 4 || late && count % 8 == 0 {
                upstream.put("ns", &format!("pod{:04}", count % 20));
            }
        });
        rig.run(10).assert_whole();
        assert_eq!((rig.lists(), rig.watched_from()), (4, vec![112]));
        assert_eq!(list_requests(&rig)[3].limit, None);
        assert_eq!((rig.replay.borrow().errors(), rig.replay.borrow().replaces()), (vec![], 1));
    }
}

/// The watch is behind the list that began anew. What it has brought is old, and what is on its way is already part of that list.
#[test]
fn what_is_on_its_way_to_a_list_that_shows_it_is_no_step_backwards() {
    for (seed, pause) in (0..40).map(|seed| (seed, 400)).chain([(6, 30 * SECOND)]) {
        let rig = ReflectorRig::with(seed, pages(4), 0, |upstream| {
            fill(upstream, 12);
            upstream.latency.set(SECOND);
            upstream.bookmark_every.set(0);
            // The first page is older than these writes, and the list that follows is not.
            let writes = [upstream.put("ns", "gone"), upstream.put("ns", "pod0003"), upstream.delete("ns", "gone")];
            let frames = upstream.log().iter().filter(|write| writes.contains(&write.version)).map(frame).collect();
            upstream.behind.set(3);
            upstream.watch_faults.borrow_mut().push_back(WatchFault::Drip(frames, pause));
        });
        until_page(&rig, 2);
        rig.upstream.catch_up();
        rig.upstream.expire_to(115);
        rig.run(20 * SECOND).assert_whole();
        assert_eq!((replacements(&rig), rig.watched_from()), (vec![(115, 12)], vec![112]));
        // All three come in the end, and are dropped.
        rig.run(3 * pause).assert_whole();
        let replay = rig.replay.borrow();
        assert_eq!((replay.changes(), replay.errors(), rig.watches()), (vec![], vec![], 1));
    }
}

/// The list that began anew is of a replica that is behind. The changes between it and the watch would be missing.
#[test]
fn a_list_that_begins_anew_before_the_watch_gets_a_watch_of_its_own() {
    let rig = slow(7, 4, 12);
    until_page(&rig, 2);
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::new(410, "Expired", "too old").into()));
    until_page(&rig, 3);
    rig.upstream.behind.set(5);
    rig.run(10 * SECOND);
    assert_eq!((replacements(&rig), rig.watched_from()), (vec![(107, 7)], vec![112, 107]));
    rig.upstream.catch_up();
    rig.run(10 * SECOND).assert_whole();
    assert_eq!(rig.replay.borrow().changes().len(), 5);
}

#[test]
fn a_watch_that_fails_is_let_go_and_the_list_goes_on() {
    let failed = |status: &Status| format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status.to_json());
    let say = |frames: &[String]| WatchFault::Say(frames.to_vec());
    let event = |kind: &str, name: &str, version: u64| {
        let metadata = format!("{{\"name\":\"{name}\",\"namespace\":\"ns\",\"resourceVersion\":\"{version}\"}}");
        format!("{{\"type\":\"{kind}\",\"object\":{{\"metadata\":{metadata}}}}}\n")
    };
    let faults = [
        WatchFault::Close,
        WatchFault::Refuse(Error::network("connection refused")),
        WatchFault::Refuse(status(410, "Expired")),
        WatchFault::Refuse(status(401, "Unauthorized")),
        WatchFault::Refuse(status(429, "TooManyRequests")),
        say(&[failed(&Status::too_old(1, 2))]),
        say(&[failed(&Status::internal("etcdserver: leader changed"))]),
        say(&["<html>".into()]),
        say(&["{\"type\":\"RENAMED\",\"object\":{}}".into()]),
        say(&[event("MODIFIED", "pod0001", 113), event("MODIFIED", "pod0001", 50)]),
        say(&[event("DELETED", "pod0001", 113), "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"pod0002\"}}}".into()]),
        say(&[event("ADDED", "stray", 113), "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}".into()]),
        // The event cannot be taken, but the list shows a sound version of its object.
        say(&[
            event("ADDED", "stray", 113),
            "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"pod0002\",\"namespace\":\"ns\"}}}".into(),
        ]),
        WatchFault::SayAndClose(vec![event("ADDED", "stray", 113)]),
        WatchFault::Cut(1),
    ];
    for fault in faults {
        let text = format!("{fault:?}");
        let rig = slow(8, 4, 12);
        rig.upstream.watch_faults.borrow_mut().push_back(fault);
        until_page(&rig, 3);
        // The server says what those frames do not.
        rig.upstream.put("ns", "pod0009");
        rig.run(10 * SECOND).assert_whole();
        let replay = rig.replay.borrow();
        assert_eq!((replacements(&rig), rig.watched_from(), rig.lists()), (vec![(112, 12)], vec![112, 112], 3), "{text}");
        assert_eq!(replay.changes(), [(ChangeKind::Modified, "ns/pod0009".into(), 113)], "{text}");
        assert_eq!((replay.errors(), waits(&rig)), (vec![], vec![]), "{text}");
    }
}

#[test]
fn a_watch_that_brings_more_than_may_wait_is_let_go() {
    let run = |ahead_bytes: usize, names: usize| {
        let rig = slow_as(9, ReflectorConfig { ahead_bytes, ..pages(4) }, 40);
        until_page(&rig, 5);
        for number in 0..200 {
            rig.upstream.put_sized("ns", &format!("new{}", number % names), 1000);
        }
        rig.run(SECOND);
        let open = rig.upstream.connections();
        rig.run(10 * SECOND).assert_whole();
        assert_eq!(rig.lists(), 10);
        (open, rig.watches(), replacements(&rig)[0].0)
    };
    let (kept, let_go) = ((2, 1, 340), (1, 2, 140));
    assert_eq!(run(ReflectorConfig::default().ahead_bytes, 200), kept);
    assert_eq!(run(20_000, 200), let_go);
    assert_eq!(run(20_000, 5), kept, "a thousand changes of five objects are five");
    assert_eq!(run(0, 1), let_go);
}

#[test]
fn a_watch_that_falls_silent_is_let_go_and_the_next_one_is_shorter() {
    for speaks in [false, true] {
        let rig = ReflectorRig::with(10, pages(1), 0, |upstream| {
            fill(upstream, 12);
            upstream.latency.set(40 * SECOND);
            upstream.bookmark_every.set(0);
        });
        until_page(&rig, 3);
        rig.run(40 * SECOND);
        if speaks {
            rig.upstream.put("ns", "pod0001");
            rig.run(0);
        }
        rig.upstream.freeze_streams();
        assert_eq!(rig.upstream.connections(), 2);
        rig.run(91 * SECOND);
        assert!(is_listing(&rig) && rig.upstream.connections() == 1, "given up at its deadline, not at the end of the list");
        rig.upstream.behave();
        rig.run(50 * SECOND).assert_whole();
        let timeouts: Vec<u32> = {
            let requests = rig.upstream.requests.borrow();
            let watches = requests.iter().filter_map(|request| match request {
                Request::Watch(_, watch) => Some(watch.timeout_seconds),
                Request::List(..) => None,
            });
            watches.take(2).collect()
        };
        assert!(timeouts[0] >= 300 && (timeouts[1] == 60) != speaks, "{timeouts:?}");
        assert_eq!(rig.replay.borrow().errors(), []);
    }
}

/// The list that stands still fails, however lively the watch beside it is.
#[test]
fn a_lively_watch_keeps_no_dead_list_alive() {
    let rig = ReflectorRig::with(11, pages(4), 0, |upstream| {
        fill(upstream, 12);
        upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Stall(100)]);
    });
    for _ in 0..89 {
        rig.run(SECOND);
        rig.upstream.put("ns", "pod0001");
    }
    assert_eq!((rig.lists(), rig.upstream.connections()), (2, 2));
    rig.run(3 * MINUTE).assert_whole();
    // The page is asked for again, the watch is still there.
    assert_eq!((rig.lists(), rig.watched_from()), (4, vec![112]));
    assert_eq!(waits(&rig).iter().map(|(code, _)| *code).collect::<Vec<_>>(), [ErrorCode::Network]);
}

#[test]
fn a_list_that_fails_takes_its_watch_with_it() {
    let rig = slow(12, 4, 12);
    rig.upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Refuse(status(403, "Forbidden"))]);
    for _ in 0..1000 {
        if rig.replay.borrow().errors().is_empty() {
            rig.run(5);
        }
    }
    rig.run(0);
    assert_eq!((rig.lists(), rig.watches(), rig.upstream.connections()), (2, 1, 0));
    rig.run(10 * SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (5, 2));
}

#[test]
fn pause_close_and_refresh_while_it_waits() {
    let listing = |seed| {
        let rig = slow(seed, 2, 12);
        until_page(&rig, 3);
        rig.run(0);
        rig.upstream.put("ns", "new");
        rig.run(0);
        assert!(rig.upstream.connections() >= 1 && rig.watches() == 1);
        rig
    };
    let rig = listing(13);
    rig.handle.close();
    rig.run(0);
    assert!(rig.upstream.connections() == 0 && rig.replay.borrow().ended);

    let rig = listing(14);
    rig.handle.pause();
    rig.run(0);
    assert_eq!((rig.upstream.connections(), rig.replay.borrow().last_connection().cloned()), (0, Some(Connection::Paused)));
    rig.run(HOUR);
    rig.handle.resume();
    rig.run(MINUTE).assert_whole();
    assert_eq!(rig.watches(), 2, "one a list");

    // A list that is under way answers a refresh. To become visible or online changes nothing.
    let rig = listing(15);
    rig.handle.refresh();
    rig.handle.resume();
    rig.run(MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.watches(), rig.replay.borrow().replaces()), (6, 1, 1));

    // After a sleep of the machine the watch is dead. Its deadline shows that at the next look.
    let rig = listing(16);
    rig.upstream.freeze_streams();
    rig.time.suspend(HOUR);
    rig.handle.resume();
    rig.run(MINUTE).assert_whole();
    assert_eq!(rig.watches(), 2);
}

/// While a page that failed is waited for, the watch is read as well.
#[test]
fn between_two_tries_of_a_page_it_is_read() {
    let rig = slow_as(17, ReflectorConfig { ahead_bytes: 5000, ..pages(4) }, 12);
    let refused = || ListFault::Refuse(Error { retry_after_seconds: Some(30), ..status(503, "ServiceUnavailable") });
    rig.upstream.list_faults.borrow_mut().extend([ListFault::None, refused()]);
    for _ in 0..1000 {
        if waits(&rig).is_empty() {
            rig.run(5);
        }
    }
    rig.run(SECOND);
    assert_eq!(rig.upstream.connections(), 1);
    for _ in 0..10 {
        rig.upstream.put_sized("ns", "new", 400);
    }
    rig.run(0);
    assert_eq!(rig.upstream.connections(), 1, "they are one");
    for number in 0..10 {
        rig.upstream.put_sized("ns", &format!("new{number}"), 600);
    }
    rig.run(0);
    assert_eq!(rig.upstream.connections(), 0, "they were read");
    rig.run(MINUTE).assert_whole();
}

/// A list of a replica that is behind counts when the watch has caught up with what is held.
#[test]
fn law_02_order_it_is_the_replacement_that_never_goes_backwards() {
    for catches_up in [false, true] {
        let rig = ReflectorRig::with(18, pages(4), 0, |upstream| fill(upstream, 12));
        rig.run(2 * SECOND).assert_whole();
        rig.upstream.put("ns", "pod0001");
        rig.upstream.delete("ns", "pod0002");
        rig.run(10);
        rig.upstream.latency.set(SECOND);
        rig.upstream.behind.set(2);
        rig.handle.refresh();
        until_page(&rig, 5);
        if catches_up {
            rig.run(SECOND);
            rig.upstream.catch_up();
        }
        rig.run(4 * SECOND);
        let versions: Vec<u64> = replacements(&rig).iter().map(|(version, _)| *version).collect();
        assert_eq!(versions, if catches_up { vec![112, 114] } else { vec![112] });
    }
}

/// Servers may say things twice, also across the end of the list.
#[test]
fn what_it_said_before_the_list_was_whole_is_known_behind_it() {
    let rig = slow(19, 2, 12);
    until_page(&rig, 5);
    for number in 0..5 {
        rig.upstream.put("ns", &format!("pod000{number}"));
    }
    rig.run(5 * SECOND).assert_whole();
    assert_eq!((replacements(&rig), rig.watches()), (vec![(117, 12)], 1));
    rig.upstream.put("ns", "pod0009");
    rig.run(10);
    rig.upstream.repeat(4);
    rig.run(10).assert_whole();
    assert_eq!((rig.lists(), rig.watches(), rig.replay.borrow().changes().len()), (6, 1, 1));
}

#[test]
fn objects_in_quarantine_are_passed_over_and_cured_meanwhile() {
    let spoiled = |seed, meanwhile: &dyn Fn(&Upstream)| {
        let rig = slow(seed, 2, 12);
        rig.upstream.spoiled.borrow_mut().0.insert("ns/pod0003".into(), Spoil::NoVersion);
        rig.run(MINUTE);
        assert_eq!(rig.replay.borrow().quarantined.len(), 1);
        let (lists, watches) = (rig.lists(), rig.watches());
        rig.handle.refresh();
        until_page(&rig, lists + 5);
        meanwhile(&rig.upstream);
        rig.run(3 * SECOND);
        let replaces = rig.replay.borrow().replaces();
        (replaces, rig.lists() - lists, rig.watches() - watches, rig)
    };
    let word = |upstream: &Upstream| {
        upstream.put("ns", "pod0003");
        upstream.put("ns", "pod0001");
    };
    let cure = |upstream: &Upstream| upstream.spoiled.borrow_mut().0.clear();
    let (replaces, lists, watches, rig) = spoiled(20, &|upstream| {
        word(upstream);
        word(upstream);
    });
    assert_eq!((replaces, lists, watches, rig.replay.borrow().quarantined.len()), (2, 6, 1, 1), "passed over");
    assert_eq!(replacements(&rig)[1].0, 116);

    let (replaces, lists, watches, rig) = spoiled(21, &|upstream| {
        word(upstream);
        cure(upstream);
        word(upstream);
    });
    rig.assert_whole();
    assert_eq!((replaces, lists, watches, rig.replay.borrow().quarantined.len()), (2, 6, 1, 0), "cured");

    // The deletion of the object cannot be read; or the object is sound once and then spoiled again. The watch is dropped, and the next one
    // meets the same events.
    let deleted: &dyn Fn(&Upstream) = &|upstream| {
        upstream.delete("ns", "pod0003");
    };
    let again: &dyn Fn(&Upstream) = &|upstream| {
        cure(upstream);
        word(upstream);
        upstream.spoiled.borrow_mut().0.insert("ns/pod0003".into(), Spoil::NoVersion);
        word(upstream);
    };
    // In the first case the deletion leads that watch to a list. In the second it sees no sound version of the object.
    for (seed, meanwhile, lists) in [(22, deleted, 20), (23, again, 14)] {
        let (_, _, _, rig) = spoiled(seed, meanwhile);
        rig.run(MINUTE);
        assert_eq!((rig.watched_from()[..4].to_vec(), rig.lists()), (vec![112; 4], lists), "{seed}");
        assert_eq!(rig.replay.borrow().last_connection(), Some(&Connection::Live));
        assert_eq!(rig.replay.borrow().quarantined.len(), usize::from(seed == 23));
    }
}
