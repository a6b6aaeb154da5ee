//! A warm start of a cache that others share: they show what was kept, and no longer than that counts.

use std::rc::Rc;

use futures::FutureExt;
use watchcache::connection::Phase;
use watchcache::source::{Source, WatchRequest};

use super::persist::{DAY, damaged, hear_nothing, kept, names, page, requests};
use crate::helpers::channel::{Channel, relay_over};
use crate::helpers::disk::Opened;
use crate::helpers::rig::{Rig, Setup};

use crate::helpers::upstream::{ListFault, Shared, Upstream, WatchFault};

#[test]
fn who_shares_what_was_kept_shows_it_as_stale_and_hears_when_it_is_confirmed() {
    let (before, disk) = kept(3);
    before.upstream.put("ns", "new");
    hear_nothing(&before.upstream);
    let worker = page(&before, &disk);
    let source = Rc::new(Shared(before.upstream.clone()));
    let tab = Rig::over(&Setup::default(), before.time.clone(), before.upstream.clone(), relay_over(worker.resource.clone(), source));
    worker.resource.start();
    let mut synced = tab.resource.clone().synced().boxed_local();
    tab.resource.start();
    tab.run(0);
    assert_eq!(names(&tab).len(), 3);
    assert!(tab.status().stale && tab.status().stale_since == worker.status().stale_since, "{:?}", tab.status());
    assert!((&mut synced).now_or_never().is_none());
    worker.resource.resume();
    worker.run(5_000);
    worker.resource.resume();
    tab.wait(synced).unwrap();
    tab.run(0);
    assert_eq!((names(&tab).len(), tab.status().stale, tab.status().phase), (4, false, Phase::Live));
    assert_eq!(requests(&before.upstream).0, 0);
}

/// The server was reset meanwhile: it has other objects, at lower versions.
#[test]
fn who_shares_what_was_kept_of_a_server_that_was_reset_gets_what_is_there_now() {
    for behind_a_channel in [false, true] {
        let (before, disk) = kept(9);
        let now = Upstream::new(before.time.clone(), 7);
        now.put("ns", "else");
        let source = Rc::new(Shared(now.clone()));
        let worker = Rig::over(&Setup::default(), before.time.clone(), now.clone(), source.clone());
        worker.resource.persist(Rc::new(Opened(disk)), DAY).unwrap();
        let relay = relay_over(worker.resource.clone(), source);
        let channel = Channel::new(relay.clone(), before.time.clone());
        let source: Rc<dyn Source> = if behind_a_channel { channel.remote.clone() } else { relay };
        let tab = Rig::over(&Setup::default(), before.time.clone(), now.clone(), source);
        now.list_faults.borrow_mut().push_back(ListFault::Hang);
        worker.resource.start();
        tab.resource.start();
        tab.run(1_000);
        assert_eq!((names(&tab).len(), tab.status().stale), (9, true));
        let synced = tab.resource.clone().synced();
        tab.run(180_000);
        tab.wait(synced).unwrap();
        tab.run(1_000);
        for who in [&worker, &tab] {
            assert_eq!((who.status().phase, who.status().stale, names(who)), (Phase::Live, false, vec!["ns/else".to_owned()]));
        }
        now.put("ns", "more");
        tab.run(1_000);
        assert_eq!(names(&tab), ["ns/else", "ns/more"]);
    }
}

/// The relay ends before the server has said a word, and the next one has no more than what was kept either.
#[test]
fn what_was_kept_and_is_given_again_is_no_word_of_the_server() {
    let (before, disk) = kept(3);
    let faults = std::iter::repeat_with(|| WatchFault::Hang).take(20);
    before.upstream.watch_faults.borrow_mut().extend(faults);
    let worker = page(&before, &disk);
    let channel = Channel::new(relay_over(worker.resource.clone(), Rc::new(Shared(before.upstream.clone()))), before.time.clone());
    let tab = Rig::over(&Setup::default(), before.time.clone(), before.upstream.clone(), channel.remote.clone());
    let mut synced = tab.resource.clone().synced().boxed_local();
    worker.resource.start();
    tab.resource.start();
    tab.run(1_000);
    let since = tab.status().stale_since;
    for _ in 0..3 {
        channel.die(50);
        for _ in 0..30 {
            tab.run(100);
            let status = tab.status();
            assert!(status.stale && status.stale_since == since && status.phase != Phase::Live, "{status:?}");
            assert!((&mut synced).now_or_never().is_none());
        }
    }
    assert_eq!(names(&tab).len(), 3);
}

/// What it was given was no word of the server, so the next relay may have an older state.
#[test]
fn who_has_what_was_kept_takes_any_state_of_the_next_relay() {
    let (before, disk) = kept(9);
    let worker = page(&before, &disk);
    hear_nothing(&before.upstream);
    let channel = Channel::new(relay_over(worker.resource.clone(), Rc::new(Shared(before.upstream.clone()))), before.time.clone());
    let tab = Rig::over(&Setup::default(), before.time.clone(), before.upstream.clone(), channel.remote.clone());
    worker.resource.start();
    tab.resource.start();
    tab.run(1_000);
    assert_eq!((names(&tab).len(), tab.status().stale), (9, true));
    let now = Upstream::new(before.time.clone(), 7);
    now.put("ns", "else");
    let source = Rc::new(Shared(now.clone()));
    let next = Rig::over(&Setup::default(), before.time.clone(), now.clone(), source.clone());
    next.resource.start();
    channel.source.replace(relay_over(next.resource.clone(), source));
    channel.die(50);
    tab.run(10_000);
    assert_eq!((tab.status().phase, names(&tab)), (Phase::Live, vec!["ns/else".to_owned()]));
}

/// A tab that has rows of a relay that is gone asks the next one for a watch, which has not read its storage yet.
#[test]
fn a_relay_that_has_nothing_yet_opens_no_watch_that_would_be_taken_for_the_servers_word() {
    let (before, disk) = kept(3);
    disk.hangs.set(true);
    let worker = page(&before, &disk);
    let relay = relay_over(worker.resource.clone(), Rc::new(Shared(before.upstream.clone())));
    worker.resource.start();
    let mut watch = relay.watch(WatchRequest { resource_version: "103".into(), ..WatchRequest::default() });
    worker.run(0);
    assert!((&mut watch).now_or_never().is_none());
    worker.run(5_000);
    assert_eq!(worker.status().phase, Phase::Live);
    assert!((&mut watch).now_or_never().is_some_and(|opened| opened.is_ok()));
}

#[test]
fn who_shares_what_is_being_restored_sees_the_same_rows_and_that_they_are_stale() {
    let (before, disk) = damaged();
    let worker = page(&before, &disk);
    let relay = relay_over(worker.resource.clone(), Rc::new(Shared(before.upstream.clone())));
    let channel = Channel::new(relay, before.time.clone());
    let tab = Rig::over(&Setup::default(), before.time.clone(), before.upstream.clone(), channel.remote.clone());
    worker.resource.start();
    tab.resource.start();
    tab.run(1_000);
    let (status, of_worker) = (tab.status(), worker.status());
    assert_eq!((status.phase, status.stale, status.stale_since), (Phase::Loading, true, of_worker.stale_since));
    assert!(names(&tab).len() >= 64 && names(&tab) == names(&worker), "{} {}", names(&tab).len(), names(&worker).len());
    tab.run(180_000);
    for who in [&worker, &tab] {
        assert_eq!((who.status().phase, who.status().stale, names(who).len()), (Phase::Live, false, 199));
    }
}
