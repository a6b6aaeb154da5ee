//! A warm start: what was kept shows at once, and the watch goes on from there.

use std::rc::Rc;

use futures::FutureExt;
use watchcache::cache::MIN_WRITE_INTERVAL_MS as INTERVAL_MS;
use watchcache::connection::Phase;
use watchcache::informer::InformerOptions;
use watchcache::runtime::Clock;
use watchcache::status::{ErrorCode, Status};
use watchcache::time::Millis;

use crate::after;
use crate::helpers::disk::{Disk, Opened};
use crate::helpers::informed::Informed;
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Request, Shared, Upstream, WatchFault};

pub(super) const DAY: Millis = 24 * 60 * 60 * 1000;

/// Another page over the same upstream and storage, which has not started.
pub(super) fn page(before: &Rig, disk: &Rc<Disk>) -> Rig {
    let rig = Rig::over(&Setup::default(), before.time.clone(), before.upstream.clone(), Rc::new(Shared(before.upstream.clone())));
    rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    rig
}

/// A page that has kept so many pods and is gone, at the version after them.
pub(super) fn kept(pods: usize) -> (Rig, Rc<Disk>) {
    let disk = Disk::new();
    let rig = Rig::idle(Setup::default(), |upstream| (0..pods).for_each(|number| _ = upstream.put("ns", &format!("pod-{number}"))));
    rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    rig.resource.start();
    rig.run(INTERVAL_MS);
    assert_eq!(disk.writes.borrow().len(), 1);
    rig.resource.close();
    rig.run(0);
    rig.upstream.requests.borrow_mut().clear();
    (rig, disk)
}

/// Lists of everything, and watches, since the requests were cleared.
pub(super) fn requests(upstream: &Upstream) -> (usize, usize) {
    let requests = upstream.requests.borrow();
    let all = requests.iter().filter(|request| matches!(request, Request::List(_, request) if request.limit != Some(1))).count();
    (all, requests.iter().filter(|request| !request.is_list()).count())
}

pub(super) fn names(rig: &Rig) -> Vec<String> {
    rig.rows().into_keys().collect()
}

/// A page that has kept three pods, while the server has one less and has forgotten their version. And how a stream says so.
fn forgotten() -> (Rig, Rc<Disk>, String) {
    let (before, disk) = kept(3);
    before.upstream.delete("ns", "pod-0");
    before.upstream.expire();
    (before, disk, format!(r#"{{"type":"ERROR","object":{}}}"#, Status::too_old(103, 104).to_json()))
}

pub(super) fn hear_nothing(upstream: &Upstream) {
    upstream.watch_faults.borrow_mut().push_back(WatchFault::Hang);
}

#[test]
fn what_was_kept_rests_as_it_did() {
    let disk = Disk::new();
    let large = serde_json::json!({ "text": "same".repeat(500) });
    let pods = |upstream: &Upstream| (0..200).for_each(|number| _ = upstream.put_with("ns", &format!("pod-{number}"), &[], &large));
    let before = Rig::idle(Setup::default(), pods);
    before.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    before.resource.start();
    before.run(INTERVAL_MS);
    let rows = before.rows();
    before.resource.close();
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.run(0);
    assert!(rows.len() == 200 && rig.rows() == rows);
    assert!(rig.resource.with(|cacher| cacher.store().iter().all(|object| !object.form().1)), "nothing waits to be packed");
    let (kept, texts) =
        (disk.bytes().len(), rig.resource.with(|cacher| cacher.store().iter().map(|object| object.form().0).sum::<usize>()));
    assert!(kept * 10 < texts, "{kept} of {texts}");
}

#[test]
fn rows_show_before_the_network_answers_and_the_watch_goes_on_without_a_list() {
    let (before, disk) = kept(3);
    let since = before.time.wall();
    before.run(60_000);
    before.upstream.delete("ns", "pod-0");
    before.upstream.put("ns", "pod-1");
    before.upstream.put("ns", "new");
    hear_nothing(&before.upstream);

    let rig = page(&before, &disk);
    let mut synced = rig.resource.clone().synced().boxed_local();
    rig.resource.start();
    rig.run(0);
    let status = rig.status();
    assert_eq!((status.phase, status.stale, status.stale_since), (Phase::Reconnecting, true, Some(since)));
    assert_eq!(names(&rig), ["ns/pod-0", "ns/pod-1", "ns/pod-2"]);
    assert!((&mut synced).now_or_never().is_none(), "the server has not said a word");

    rig.resource.resume();
    rig.run(5_000);
    rig.resource.resume();
    rig.wait(synced).unwrap();
    rig.run(0);
    let status = rig.status();
    assert_eq!((status.phase, status.stale, status.stale_since), (Phase::Live, false, None));
    assert_eq!(names(&rig), ["ns/new", "ns/pod-1", "ns/pod-2"]);
    assert_eq!(requests(&rig.upstream).0, 0, "no list");
}

/// Whoever signs in and asks for the next try hears of that one.
#[test]
fn who_is_refused_on_a_warm_start_stays_refused_while_the_next_try_is_under_way() {
    let (before, disk) = kept(3);
    let refused = || WatchFault::Refuse(Status::new(401, "Unauthorized", "no").into());
    before.upstream.watch_faults.borrow_mut().extend([refused(), refused(), WatchFault::Hang]);
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.run(0);
    let stands = || (rig.status().phase, rig.status().retry_at.is_some(), names(&rig).len());
    assert_eq!(stands(), (Phase::NeedsAuth, true, 3));
    assert_eq!(rig.wait(rig.resource.clone().synced()).unwrap_err().code, ErrorCode::Unauthorized);

    rig.resource.resume();
    rig.run(0);
    assert_eq!(stands(), (Phase::NeedsAuth, false, 3));
    let mut synced = rig.resource.clone().synced().boxed_local();
    assert!((&mut synced).now_or_never().is_none(), "the server has not said a word");
    rig.run(180_000);
    rig.wait(synced).unwrap();
    assert_eq!(stands(), (Phase::Live, false, 3));
}

#[test]
fn a_version_that_is_gone_costs_a_list_of_which_only_differences_show() {
    let (before, disk) = kept(3);
    before.upstream.delete("ns", "pod-0");
    before.upstream.put("ns", "new");
    before.upstream.expire();
    let rig = page(&before, &disk);
    let view = rig.view(&watchcache::view::ViewOptions::default());
    rig.resource.start();
    rig.run(0);
    assert_eq!(rig.status().phase, Phase::Live);
    assert_eq!(rig.view_rows(view), ["ns/new@105", "ns/pod-1@102", "ns/pod-2@103"]);
    assert_eq!(requests(&rig.upstream), (1, 2));
    assert_eq!(rig.resource.with(|cacher| cacher.availability().lists()), 1);
}

/// So servers answer over a stream: it opens, and its first frame says that the version is gone.
#[test]
fn a_version_that_is_gone_as_the_stream_says_is_not_confirmed_by_its_opening() {
    let (before, disk, gone) = forgotten();
    before.upstream.watch_faults.borrow_mut().push_back(WatchFault::Say(vec![gone]));
    before.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    let rig = page(&before, &disk);
    let mut synced = rig.resource.clone().synced().boxed_local();
    rig.resource.start();
    rig.run(0);
    assert_eq!(names(&rig).len(), 3);
    assert!(rig.status().stale && (&mut synced).now_or_never().is_none(), "{:?}", rig.status());
    rig.run(180_000);
    rig.wait(synced).unwrap();
    assert_eq!(names(&rig), ["ns/pod-1", "ns/pod-2"]);
}

/// Over a network the frame comes some time after the watch has opened.
#[test]
fn a_version_that_is_gone_is_not_confirmed_where_that_is_said_a_moment_later() {
    let (before, disk, gone) = forgotten();
    before.upstream.watch_faults.borrow_mut().push_back(WatchFault::Drip(vec![gone], 10));
    before.upstream.list_faults.borrow_mut().extend([ListFault::Trickle(1), ListFault::Hang]);
    let rig = page(&before, &disk);
    let mut synced = rig.resource.clone().synced().boxed_local();
    rig.resource.start();
    rig.run(2_000);
    assert_eq!(names(&rig).len(), 3);
    assert!(rig.status().stale && (&mut synced).now_or_never().is_none(), "{:?}", rig.status());
}

/// A page that has kept two hundred pods, of which the last block is damaged. The next list hangs.
pub(super) fn damaged() -> (Rig, Rc<Disk>) {
    let (before, disk) = kept(200);
    let last = *disk.blocks.borrow().keys().last().unwrap();
    disk.blocks.borrow_mut().get_mut(&last).unwrap()[20] ^= 1;
    before.upstream.delete("ns", "pod-0");
    before.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    (before, disk)
}

#[test]
fn what_proves_to_be_damaged_behind_rows_that_show_is_listed_and_they_are_stale_until_then() {
    let (before, disk) = damaged();
    let rig = page(&before, &disk);
    let mut synced = rig.resource.clone().synced().boxed_local();
    let view = rig.view(&watchcache::view::ViewOptions::default());
    rig.resource.start();
    rig.run(1_000);
    let status = rig.status();
    assert_eq!((status.phase, status.stale), (Phase::Loading, true));
    let shown = rig.view_rows(view).len();
    assert!((64..200).contains(&shown), "{shown}");
    assert!((&mut synced).now_or_never().is_none());
    rig.run(180_000);
    rig.wait(synced).unwrap();
    let status = rig.status();
    assert_eq!((status.phase, status.stale, rig.view_rows(view).len(), names(&rig).len()), (Phase::Live, false, 199, 199));
    // All of it is written anew.
    rig.run(INTERVAL_MS);
    let again = page(&before, &disk);
    hear_nothing(&again.upstream);
    again.resource.start();
    again.run(0);
    assert_eq!(names(&again).len(), 199);
}

#[test]
fn a_server_that_went_back_is_listed_although_its_versions_are_lower() {
    let (_, disk) = kept(200);
    let rig = Rig::idle(Setup::default(), |upstream| _ = upstream.put("ns", "another"));
    rig.resource.persist(Rc::new(Opened(disk)), DAY).unwrap();
    rig.resource.start();
    rig.run(0);
    assert_eq!((names(&rig), rig.version(), rig.status().phase), (vec!["ns/another".to_owned()], 101, Phase::Live));
    assert!(rig.status().error.is_none());
}

/// A server that went back, and a page that has asked it for its version, which has not answered.
fn asked_of_a_server_that_went_back(fault: ListFault) -> Rig {
    let (_, disk) = kept(200);
    let rig = Rig::idle(Setup::default(), |upstream| _ = upstream.put("ns", "another"));
    rig.upstream.list_faults.borrow_mut().push_back(fault);
    rig.resource.persist(Rc::new(Opened(disk)), DAY).unwrap();
    rig.resource.start();
    rig.run(100);
    rig
}

#[test]
fn a_server_that_does_not_say_its_version_is_listed() {
    for fault in [ListFault::Hang, ListFault::Refuse(Status::new(503, "ServiceUnavailable", "").into())] {
        let rig = asked_of_a_server_that_went_back(fault);
        let mut synced = rig.resource.clone().synced().boxed_local();
        rig.run(5_000);
        assert_eq!((names(&rig), rig.status().phase), (vec!["ns/another".to_owned()], Phase::Live));
        assert!((&mut synced).now_or_never().is_some());
    }
}

#[test]
fn who_pauses_or_refreshes_while_the_server_is_asked_for_its_version_is_told_nothing_of_it() {
    let rig = asked_of_a_server_that_went_back(ListFault::Hang);
    let mut synced = rig.resource.clone().synced().boxed_local();
    rig.resource.pause();
    rig.run(0);
    assert!((&mut synced).now_or_never().is_none() && rig.status().stale, "{:?}", rig.status());
    rig.resource.resume();
    rig.run(0);
    assert_eq!((names(&rig), rig.status().phase), (vec!["ns/another".to_owned()], Phase::Live));

    let rig = asked_of_a_server_that_went_back(ListFault::Hang);
    rig.wait(rig.resource.clone().refresh()).unwrap();
    rig.run(0);
    assert_eq!((names(&rig), rig.status().phase), (vec!["ns/another".to_owned()], Phase::Live));
}

#[test]
fn informers_and_watches_begin_with_the_servers_word() {
    let (before, disk) = kept(2);
    hear_nothing(&before.upstream);
    before.upstream.delete("ns", "pod-0");
    before.upstream.put("ns", "new");
    let informed = Informed::over(page(&before, &disk), InformerOptions::default());
    let handler = informed.handler();
    let stream = informed.rig.watch(after(102));
    informed.rig.resource.start();
    informed.rig.run(0);
    // One that starts on what was restored waits, too.
    informed.start();
    informed.rig.run(0);
    assert_eq!(names(&informed.rig), ["ns/pod-0", "ns/pod-1"]);
    assert!(informed.heard(handler).is_empty() && !informed.has_synced() && informed.rig.heard(stream).is_empty());

    informed.rig.resource.resume();
    informed.rig.run(5_000);
    informed.rig.resource.resume();
    informed.rig.run(0);
    assert!(informed.has_synced());
    let heard = informed.heard(handler);
    assert_eq!(heard, ["A!(ns/pod-0@101)", "A!(ns/pod-1@102)", "D(ns/pod-0@103)", "A(ns/new@104)"]);
    assert_eq!(informed.rig.heard(stream), ["DELETED ns/pod-0@103", "ADDED ns/new@104"]);
}

#[test]
fn what_changed_is_written_at_most_every_two_seconds() {
    let disk = Disk::new();
    let rig = Rig::idle(Setup::default(), |upstream| (0..200).for_each(|number| _ = upstream.put("ns", &format!("pod-{number}"))));
    rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    rig.resource.start();
    rig.run(INTERVAL_MS);
    let writes = || disk.writes.borrow().clone();
    let all = writes()[0];
    assert!(all > 1 && writes().len() == 1);
    for _ in 0..100 {
        rig.upstream.put("ns", "pod-7");
        rig.run(INTERVAL_MS / 100 * 3 / 2);
    }
    assert_eq!(writes(), [all, 1]);
    rig.run(INTERVAL_MS * 10);
    assert_eq!(writes().len(), 3, "the last change of a burst is written, and then nothing");
    rig.resource.close();
    rig.run(0);
    let bare = Rig::new(Setup::default(), |_| {});
    bare.resource.close();
    bare.run(0);
    assert_eq!(rig.time.tasks(), bare.time.tasks(), "nothing is left running");
}

#[test]
fn a_page_that_goes_on_from_what_was_kept_writes_only_what_differs() {
    let (before, disk) = kept(200);
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.run(INTERVAL_MS * 3);
    assert_eq!(disk.writes.borrow().len(), 1, "nothing has changed");
    rig.upstream.put("ns", "pod-7");
    rig.run(INTERVAL_MS * 3);
    assert_eq!(disk.writes.borrow()[1..], [1]);
}

#[test]
fn a_storage_that_hangs_or_is_full_costs_a_list_and_nothing_else() {
    let (before, disk) = kept(3);
    disk.hangs.set(true);
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.run(2_999);
    assert_eq!((names(&rig).len(), rig.status().phase), (0, Phase::Loading));
    rig.run(1);
    assert_eq!((names(&rig).len(), rig.status().phase), (3, Phase::Live));
    assert_eq!(requests(&rig.upstream), (1, 1));

    disk.is_full.set(true);
    let before = disk.writes.borrow().len();
    for _ in 0..60 {
        rig.upstream.put("ns", "pod-1");
        rig.run(1_000);
    }
    let tries = disk.writes.borrow().len() - before;
    assert!((1..=2).contains(&tries), "{tries} tries in a minute");
    assert_eq!(rig.status().phase, Phase::Live);
    disk.is_full.set(false);
    rig.run(60_000);
    rig.resource.close();
    disk.hangs.set(false);
    let again = page(&rig, &disk);
    again.resource.start();
    again.run(0);
    assert_eq!(again.rows(), rig.upstream.state());
}

#[test]
fn who_could_not_write_writes_next_what_there_is_when_it_is_its_turn() {
    let (before, disk) = kept(3);
    let rig = page(&before, &disk);
    disk.is_full.set(true);
    rig.resource.start();
    rig.upstream.put("ns", "pod-1");
    rig.run(INTERVAL_MS * 2);
    let tries = disk.writes.borrow().len();
    assert_eq!(tries, 2);
    // Somebody else writes now.
    disk.is_full.set(false);
    disk.is_taken.set(true);
    rig.run(180_000);
    assert_eq!(disk.writes.borrow().len(), tries);
}

#[test]
fn one_of_two_pages_writes() {
    let (before, disk) = kept(3);
    disk.is_taken.set(true);
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.upstream.put("ns", "pod-1");
    rig.run(INTERVAL_MS * 5);
    assert_eq!((names(&rig).len(), disk.writes.borrow().len()), (3, 1));
}

#[test]
fn what_is_in_quarantine_keeps_the_state_from_being_written() {
    let (before, disk) = kept(3);
    let rig = page(&before, &disk);
    rig.resource.start();
    rig.run(0);
    rig.upstream.spoiled.borrow_mut().0.insert("ns/pod-1".into(), Spoil::BadVersion);
    rig.upstream.put("ns", "pod-1");
    rig.run(60_000);
    assert!(!rig.status().quarantined.is_empty());
    assert_eq!(disk.writes.borrow().len(), 1);
}

#[test]
fn what_is_too_old_is_listed() {
    let (before, disk) = kept(3);
    before.run(DAY + 1);
    let rig = page(&before, &disk);
    hear_nothing(&rig.upstream);
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    rig.resource.start();
    rig.run(0);
    assert!(names(&rig).is_empty());
}

#[test]
fn stripped_fields_are_in_no_byte_of_it() {
    let disk = Disk::new();
    let rig = Rig::idle(Setup { strip: vec!["spec"], ..Setup::default() }, |upstream| {
        _ = upstream.put_with("ns", "a", &[("kept", "label")], &serde_json::json!({ "password": "canary" }));
    });
    rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    rig.resource.start();
    rig.run(INTERVAL_MS);
    let bytes = String::from_utf8_lossy(&disk.bytes()).into_owned();
    assert!(bytes.contains("label") && !bytes.contains("canary"), "{bytes}");
}

#[test]
fn a_secret_that_is_gone_is_in_no_byte_of_it() {
    let disk = Disk::new();
    // No two are alike, so each is found where it was written, but for its ends.
    let mut letters = fastrand::Rng::with_seed(7);
    let words: Vec<String> = (0..100).map(|_| std::iter::repeat_with(|| letters.alphanumeric()).take(16).collect()).collect();
    let text = |word: &str| serde_json::json!({ "word": word, "text": "same".repeat(500) });
    let secrets = |upstream: &Upstream| {
        words.iter().enumerate().for_each(|(number, word)| _ = upstream.put_with("ns", &format!("s-{number}"), &[], &text(word)));
    };
    let rig = Rig::idle(Setup { resource: "secrets", ..Setup::default() }, secrets);
    rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap();
    rig.resource.start();
    rig.run(INTERVAL_MS);
    let found = || {
        let bytes = String::from_utf8_lossy(&disk.bytes()).into_owned();
        (0..100).filter(|number| bytes.contains(&words[*number][4..12])).collect::<Vec<_>>()
    };
    assert_eq!(found(), (0..100).collect::<Vec<_>>());
    // Some are deleted, some have another text.
    for number in 0..50 {
        if number % 2 == 0 {
            rig.upstream.delete("ns", &format!("s-{number}"));
        } else {
            rig.upstream.put_with("ns", &format!("s-{number}"), &[], &text("new"));
        }
    }
    rig.run(INTERVAL_MS * 3);
    assert_eq!(found(), (50..100).collect::<Vec<_>>());
}

#[test]
fn a_resource_that_has_begun_or_has_versions_of_its_own_is_not_kept() {
    let (before, disk) = kept(1);
    let rig = page(&before, &disk);
    let persist = |rig: &Rig| rig.resource.persist(Rc::new(Opened(disk.clone())), DAY).unwrap_err();
    assert_eq!(persist(&rig).message, "this resource cannot be kept: it is kept already");
    let begun = Rig::new(Setup::default(), |_| {});
    let error = persist(&begun);
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Invalid, "this resource cannot be kept: it has begun"));
}

/// Pages come and go at any moment, the server forgets, breaks streams and is out of reach, and storage changes hands.
#[test]
fn law_persist_what_shows_first_is_a_state_that_was_and_what_shows_last_is_the_state_of_now() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let disk = Disk::new();
        let first = Rig::idle(Setup::seeded(seed), |upstream| {
            (0..random.usize(..300)).for_each(|number| _ = upstream.put("ns", &format!("pod-{number}")))
        });
        let (mut warm, mut versions) = (0, Vec::new());
        for session in 0..8 {
            disk.is_taken.set(random.u32(..8) == 0);
            let rig = page(&first, &disk);
            let view = rig.view(&watchcache::view::ViewOptions::default());
            // Whether the server is out of reach at first.
            let away = usize::from(random.bool());
            *rig.upstream.watch_faults.borrow_mut() = (0..away).map(|_| WatchFault::Hang).collect();
            *rig.upstream.list_faults.borrow_mut() = (0..away).map(|_| ListFault::Hang).collect();
            rig.resource.start();
            rig.run(0);
            if rig.resource.with(|cacher| cacher.availability().restored_at().is_some()) {
                warm += 1;
                assert_eq!(rig.rows(), rig.upstream.state_at(rig.version()), "seed {seed}, session {session}");
                assert!(rig.status().stale);
            }
            let shown = rig.rows().len();
            for _ in 0..random.usize(..30) {
                match random.u32(..12) {
                    0 => rig.upstream.expire(),
                    1 => rig.upstream.drop_streams(),
                    2 => rig.upstream.pass(random.u64(1..5)),
                    3 => _ = rig.run(INTERVAL_MS),
                    4..7 => {
                        let keys: Vec<String> = rig.upstream.state().into_keys().collect();
                        if let Some(key) = keys.get(random.usize(..keys.len().max(1))) {
                            let (namespace, name) = key.split_once('/').unwrap();
                            rig.upstream.delete(namespace, name);
                        }
                    }
                    _ => _ = rig.upstream.put("ns", &format!("pod-{}", random.usize(..300))),
                }
                rig.run(random.u64(..1_500));
                assert!(shown == 0 || rig.upstream.state().is_empty() || !rig.view_rows(view).is_empty(), "a blank, seed {seed}");
            }
            if random.bool() {
                rig.run(180_000);
                rig.resource.resume();
                rig.run(180_000);
                assert_eq!((rig.status().phase, rig.rows()), (Phase::Live, rig.upstream.state()), "seed {seed}, session {session}");
                versions.push(rig.version());
            }
            rig.resource.close();
            rig.run(0);
        }
        assert!(warm > 0 || versions.is_empty(), "seed {seed}: no start was warm");
    }
}
