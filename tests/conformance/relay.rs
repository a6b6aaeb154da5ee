//! One resource as the source of others.

use std::cell::RefCell;
use std::rc::Rc;

use futures::{FutureExt, StreamExt};
use watchcache::cache::{Memory, Resource, ResourceConfig};
use watchcache::connection::Phase;
use watchcache::informer::{InformerOptions, Stops};
use watchcache::message::{Message, Quarantined};
use watchcache::object::Object;
use watchcache::relay::Relay;
use watchcache::runtime::Clock;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{FrameStream, Joined, Source, Standing, WatchRequest, WriteParameters};
use watchcache::status::{Error, ErrorCode};
use watchcache::store::WindowBounds;
use watchcache::watch::{Demand, EventKind, OnOverflow, WatchOptions};

use crate::after;
use crate::helpers::channel::{Channel, relay_over};
use crate::helpers::informed::Informed;
use crate::helpers::rig::{Rig, Rows, Setup, rows_of};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{ListFault, Shared, Upstream, WatchFault};
use serde_json::json;

/// A relay over a live resource with three pods.
pub fn relay(setup: &Setup) -> (Rig, Rc<Relay>) {
    let rig = Rig::new(setup.clone(), |upstream| (0..3).for_each(|number| _ = upstream.put("default", &format!("pod-{number}"))));
    let relay = relay_over(rig.resource.clone(), Rc::new(Shared(rig.upstream.clone())));
    (rig, relay)
}

/// Somebody who has it as source.
fn tab(rig: &Rig, relay: &Rc<Relay>) -> Rc<Resource> {
    let resource = Resource::new(ResourceConfig::named("pods"), relay.clone(), rig.time.clone()).unwrap();
    resource.start();
    rig.run(0);
    assert_eq!(resource.with(|cacher| cacher.status().phase), Phase::Live);
    resource
}

/// The frames that are there, and whether the stream has ended.
fn taken(rig: &Rig, frames: &mut FrameStream) -> (Vec<String>, bool) {
    let mut all = Vec::new();
    loop {
        rig.run(0);
        match frames.next().now_or_never() {
            Some(Some(frame)) => all.push(String::from_utf8(frame.unwrap()).unwrap()),
            Some(None) => return (all, true),
            // What was asked for comes with the next flush.
            None => {
                rig.run(0);
                match frames.next().now_or_never() {
                    Some(Some(frame)) => all.push(String::from_utf8(frame.unwrap()).unwrap()),
                    Some(None) => return (all, true),
                    None => return (all, false),
                }
            }
        }
    }
}

fn watch(rig: &Rig, relay: &Relay, version: impl ToString) -> FrameStream {
    let request = WatchRequest { resource_version: version.to_string(), allow_watch_bookmarks: true, ..WatchRequest::default() };
    rig.wait(relay.watch(request)).unwrap()
}

fn requests(upstream: &Upstream) -> (usize, usize) {
    let requests = upstream.requests.borrow();
    (requests.iter().filter(|request| request.is_list()).count(), requests.iter().filter(|request| !request.is_list()).count())
}

fn names(resource: &Rc<Resource>) -> Vec<String> {
    rows_of(resource).into_keys().collect()
}

#[test]
fn ten_who_share_one_cost_the_upstream_one_list_and_one_watch() {
    let (rig, relay) = relay(&Setup::default());
    let tabs: Vec<_> = (0..10).map(|_| tab(&rig, &relay)).collect();
    rig.upstream.put("default", "new");
    rig.upstream.delete("default", "pod-0");
    rig.run(0);
    for tab in &tabs {
        assert_eq!(names(tab), ["default/new", "default/pod-1", "default/pod-2"]);
        assert_eq!(rows_of(tab), rig.rows());
    }
    assert_eq!(requests(&rig.upstream), (1, 1));
    let watchers = || rig.resource.with(|cacher| cacher.stats().dispatcher.watchers);
    assert_eq!(watchers(), 10);
    tabs.iter().for_each(|tab| tab.close());
    rig.run(0);
    assert_eq!(watchers(), 0, "nothing is left of who has gone");
}

#[test]
fn a_relist_of_the_upstream_is_differences_for_who_shares_it() {
    let (rig, relay) = relay(&Setup::default());
    let tab = tab(&rig, &relay);
    let told = Rc::new(RefCell::new(Vec::new()));
    let heard = told.clone();
    tab.on_flush(move |flush| {
        heard.borrow_mut().extend(flush.outbox.events.iter().map(|event| (event.kind, event.object.key().to_string())))
    });
    let watch = tab.watch(WatchOptions { on_overflow: OnOverflow::Resync, ..after(rig.version()) }, true);
    tab.demand(watch, Demand::All);
    rig.lose_history(|upstream| {
        upstream.put("default", "missed");
        upstream.delete("default", "pod-1");
    });
    rig.run(5_000);
    assert_eq!(rows_of(&tab), rig.rows());
    assert_eq!(requests(&rig.upstream).0, 2);
    let changes: Vec<_> = told.borrow().iter().filter(|(kind, _)| *kind != EventKind::Resync).cloned().collect();
    assert_eq!(changes, [(EventKind::Added, "default/missed".into()), (EventKind::Deleted, "default/pod-1".into())]);
}

#[test]
fn who_takes_nothing_holds_nothing_up_and_goes_on_from_its_version() {
    let (rig, relay) = relay(&Setup { window: WindowBounds { lower: 5_000, upper: 5_000, ..WindowBounds::default() }, ..Setup::default() });
    let (start, eager) = (rig.version(), tab(&rig, &relay));
    let mut slow = watch(&rig, &relay, start);
    // It takes once, and nothing is there.
    assert_eq!(taken(&rig, &mut slow), (vec![], false));
    for _ in 0..2_000 {
        rig.upstream.put("default", "busy");
        rig.run(0);
    }
    assert_eq!(rows_of(&eager), rig.rows());
    let (first, ended) = taken(&rig, &mut slow);
    assert!(ended && first.len() < 2_000, "it was ended: {ended}, with {} events", first.len());
    let mut rest = watch(&rig, &relay, start + first.len() as u64);
    let (rest, ended) = taken(&rig, &mut rest);
    assert_eq!((first.len() + rest.len(), ended), (2_000, false));
}

#[test]
fn a_version_that_is_gone_is_410_as_from_a_server() {
    let (rig, relay) = relay(&Setup::window(2));
    (0..10).for_each(|_| _ = rig.upstream.put("default", "busy"));
    rig.run(0);
    let (frames, ended) = taken(&rig, &mut watch(&rig, &relay, 101));
    assert!(ended && frames.len() == 1 && frames[0].starts_with(r#"{"type":"ERROR""#) && frames[0].contains(r#""code":410"#), "{frames:?}");
}

#[test]
fn a_watch_that_is_refused_says_why_and_ends() {
    let (rig, relay) = relay(&Setup::default());
    let (frames, ended) = taken(&rig, &mut watch(&rig, &relay, "x"));
    assert!(ended && frames.len() == 1 && frames[0].contains("ERROR") && frames[0].contains("invalid"), "{frames:?}");
    rig.resource.close();
    let last = rig.wait(watch(&rig, &relay, 101).next());
    assert_eq!(last.unwrap().unwrap_err().code, ErrorCode::Closed);
}

#[test]
fn who_shares_one_reads_its_own_writes() {
    let (rig, relay) = relay(&Setup::default());
    let (one, other) = (tab(&rig, &relay), tab(&rig, &relay));
    let document = br#"{"metadata":{"namespace":"default","name":"mine"}}"#.to_vec();
    rig.wait(one.clone().create(document, WriteParameters::default())).unwrap();
    assert!(names(&one).contains(&"default/mine".to_owned()));
    rig.run(0);
    assert_eq!(rows_of(&other), rows_of(&one));
}

#[test]
fn who_shares_one_outlives_it_and_misses_nothing() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let tab = Resource::new(ResourceConfig::named("pods"), channel.remote.clone(), rig.time.clone()).unwrap();
    tab.start();
    rig.run(10);
    channel.die(2_000);
    rig.upstream.put("default", "meanwhile");
    rig.run(3_000);
    assert_eq!(tab.with(|cacher| cacher.status().phase), Phase::Reconnecting);
    assert_eq!(names(&tab).len(), 3, "its rows stay");
    rig.run(30_000);
    assert_eq!((tab.with(|cacher| cacher.status().phase), rows_of(&tab)), (Phase::Live, rig.rows()));
    assert_eq!(tab.with(|cacher| cacher.stats().lists), 1, "it goes on from its version");
    assert_eq!(channel.remote.calls(), channel.serving.borrow().as_ref().unwrap().calls());
    tab.close();
    rig.run(10);
    assert_eq!((channel.remote.calls(), channel.serving.borrow().as_ref().unwrap().calls()), (0, 0));
    assert_eq!(rig.resource.with(|cacher| cacher.stats().dispatcher.watchers), 0);
}

/// What a resource tells of its stream, beside its version.
fn stands(resource: &Rc<Resource>) -> (Phase, bool, Option<ErrorCode>) {
    let status = resource.with(|cacher| cacher.status());
    (status.phase, status.stale, status.error.map(|error| error.code))
}

#[test]
fn who_shares_one_has_its_objects_as_they_rest_there() {
    for behind_a_channel in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        let put = |number: u32, labels: &[(&str, &str)], word: &str| {
            rig.upstream.put_with("default", &format!("large-{number}"), labels, &serde_json::json!({ "text": word.repeat(500) }));
        };
        (0..700).for_each(|number| put(number, &[("app", "a")], "same"));
        rig.run(2_000);
        put(7, &[("app", "b")], "since");
        rig.run(0);
        let forms = |resource: &Rc<Resource>| -> Vec<_> {
            let form = |object: &Rc<Object>| (object.key().to_string(), object.labels().to_vec(), object.form());
            resource.with(|cacher| cacher.store().iter().map(form).collect())
        };
        let unpacked = forms(&rig.resource).iter().filter(|(.., (length, raw))| *raw && *length > 1_000).count();
        assert_eq!(unpacked, 1, "what has changed a moment ago waits to be packed");
        let channel = behind_a_channel.then(|| Channel::new(relay.clone(), rig.time.clone()));
        let tab = late(&rig, channel.as_ref().map_or(relay.clone(), |channel| channel.remote.clone()));
        assert!(rows_of(&tab) == rig.rows());
        assert!(forms(&tab) == forms(&rig.resource), "nothing was unpacked, and packed anew");
        // What comes next finds them as it finds those of a list.
        put(8, &[("app", "c")], "same");
        put(7, &[("app", "b")], "again");
        rig.upstream.delete("default", "large-9");
        rig.run(2_000);
        assert!(rows_of(&tab) == rig.rows());
    }
}

#[test]
fn who_shares_one_tells_what_becomes_of_its_stream() {
    for behind_a_channel in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        let channel = behind_a_channel.then(|| Channel::new(relay.clone(), rig.time.clone()));
        let tab = late(&rig, channel.as_ref().map_or(relay.clone(), |channel| channel.remote.clone()));
        assert_eq!(stands(&tab), (Phase::Live, false, None));
        (0..3).for_each(|_| rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Error::network("gone"))));
        rig.upstream.drop_streams();
        rig.run(10);
        let (phase, stale, error) = stands(&tab);
        assert_eq!((phase, stale, error), (Phase::Reconnecting, true, Some(ErrorCode::Network)));
        let retry_at = |resource: &Rc<Resource>| resource.with(|cacher| cacher.status().retry_at);
        assert_eq!(retry_at(&tab), retry_at(&rig.resource), "the next try is the relay's");
        // Who comes now sees the rows, and the same.
        let late = self::late(&rig, relay.clone());
        assert_eq!((rows_of(&late), stands(&late)), (rig.rows(), stands(&rig.resource)));
        rig.run(60_000);
        assert_eq!([stands(&tab), stands(&late)], [(Phase::Live, false, None), (Phase::Live, false, None)]);
    }
}

/// Somebody who has it as source, directly or behind a channel, and comes while its stream is in whatever state.
pub fn late(rig: &Rig, source: Rc<dyn Source>) -> Rc<Resource> {
    let resource = Resource::new(ResourceConfig::named("pods"), source, rig.time.clone()).unwrap();
    resource.start();
    rig.run(10);
    resource
}

#[test]
fn who_shares_one_that_is_refused_tells_that_refusal_for_as_long_as_it_lasts() {
    let rig = Rig::idle(Setup::default(), |_| {});
    let refused = || Error::from(watchcache::status::Status::new(403, "Forbidden", "not yours"));
    (0..100).for_each(|_| rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(refused())));
    let relay = relay_over(rig.resource.clone(), Rc::new(Shared(rig.upstream.clone())));
    rig.resource.start();
    let tab = late(&rig, relay.clone());
    for second in 0..400 {
        let (phase, stale, error) = stands(&tab);
        assert_eq!((phase, stale, error), (Phase::Failed, false, Some(ErrorCode::Forbidden)), "after {second} s");
        rig.run(1_000);
    }
    rig.upstream.list_faults.borrow_mut().clear();
    rig.run(120_000);
    assert_eq!(stands(&tab), (Phase::Live, false, None));
}

#[test]
fn who_shares_one_sees_the_first_objects_of_its_first_list_before_that_is_whole() {
    let rig =
        Rig::idle(Setup::default(), |upstream| (0..1_200).for_each(|number| _ = upstream.put("default", &format!("pod-{number:04}"))));
    // Of the first page nothing is kept back.
    rig.upstream.list_faults.borrow_mut().extend([ListFault::None, ListFault::Hang]);
    let relay = relay_over(rig.resource.clone(), Rc::new(Shared(rig.upstream.clone())));
    let channel = Channel::new(relay.clone(), rig.time.clone());
    let tab = Resource::new(ResourceConfig::named("pods"), channel.remote.clone(), rig.time.clone()).unwrap();
    tab.start();
    rig.resource.start();
    rig.run(10);
    let late = late(&rig, relay.clone());
    let listed = |resource: &Rc<Resource>| resource.with(|cacher| cacher.status().listed);
    for who in [&tab, &late] {
        assert_eq!((stands(who), listed(who)), ((Phase::Listing, false, None), listed(&rig.resource)));
        assert_eq!(rows_of(who).len(), 500, "those of the first page");
        assert_eq!(rows_of(who), rig.rows());
        assert!(!who.with(|cacher| cacher.availability().holds_list()), "of a list that is not whole nothing is the server's word");
    }
    // One of those that show is gone until the list is asked for anew.
    rig.upstream.delete("default", "pod-0001");
    rig.run(120_000);
    for who in [&tab, &late] {
        assert_eq!((stands(who), rows_of(who).len()), ((Phase::Live, false, None), 1_199));
        assert_eq!(rows_of(who), rig.rows());
    }
}

#[test]
fn a_new_list_shows_nothing_early_to_who_shares_it() {
    let (rig, relay) = relay(&Setup::default());
    let mut standing = relay.standing().unwrap();
    rig.upstream.put("default", "new");
    rig.wait(rig.resource.clone().refresh()).unwrap();
    rig.run(1_000);
    let mut listed = 0;
    while let Some(Some(standing)) = standing.next().now_or_never() {
        if let Standing::Listed { first, .. } = standing {
            assert!(first.is_empty());
            listed += 1;
        }
    }
    assert!(listed > 0);
}

#[test]
fn a_relist_that_takes_its_time_is_one_list_for_who_shares_it() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay.clone(), rig.time.clone());
    let far = late(&rig, channel.remote.clone());
    let tab = tab(&rig, &relay);
    let (list, gone) = (ListFault::Trickle(10), Error::from(watchcache::status::Status::new(410, "Expired", "too old")));
    rig.upstream.list_faults.borrow_mut().push_back(list);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(gone));
    rig.run(2_000);
    // Also for a watch that has just begun.
    let young = late(&rig, relay.clone());
    rig.upstream.drop_streams();
    rig.upstream.put("default", "missed");
    rig.upstream.delete("default", "pod-1");
    rig.run(30_000);
    for who in [&rig.resource, &tab, &far, &young] {
        assert_eq!(rows_of(who), rig.rows());
        assert_eq!(who.with(|cacher| cacher.availability().lists()), 2, "the first, and that of the relist");
    }
}

/// Whoever took the watch that is open at this end for a stream would show rows as live that nothing reaches any more.
#[test]
fn who_shares_one_that_has_no_memory_tells_so_until_somebody_asks_again() {
    for behind_a_channel in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        let channel = behind_a_channel.then(|| Channel::new(relay.clone(), rig.time.clone()));
        let tab = late(&rig, channel.as_ref().map_or(relay.clone(), |channel| channel.remote.clone()));
        rig.resource.share_memory(&Memory::new(rig.resource.with(|cacher| cacher.stats().bytes) + 2_000));
        let rows = rows_of(&tab);
        rig.upstream.put_with("default", "large", &[], &serde_json::json!({ "text": "x".repeat(10_000) }));
        rig.run(10);
        let starved = (Phase::Failed, true, Some(ErrorCode::OutOfMemory));
        for second in 0..100 {
            assert_eq!((stands(&rig.resource), stands(&tab), rows_of(&tab)), (starved, starved, rows.clone()), "after {second} s");
            rig.run(1_000);
        }
        let late = late(&rig, relay.clone());
        assert_eq!((stands(&late), rows_of(&late)), (starved, rows.clone()));
        rig.upstream.delete("default", "large");
        rig.resource.resume();
        rig.run(60_000);
        assert_eq!(
            [&tab, &late].map(|resource| (stands(resource), rows_of(resource))),
            [(); 2].map(|()| ((Phase::Live, false, None), rows.clone()))
        );
    }
}

/// Whoever brings credentials has its own answered, not those that were refused before it came.
#[test]
fn who_comes_with_a_try_hears_how_that_one_ends() {
    for ends_well in [true, false] {
        let rig = Rig::idle(Setup::default(), |_| {});
        let refused = || Error::from(watchcache::status::Status::new(401, "Unauthorized", "who are you"));
        (0..100).for_each(|_| rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(refused())));
        let relay = relay_over(rig.resource.clone(), Rc::new(Shared(rig.upstream.clone())));
        rig.resource.start();
        rig.run(5_000);
        assert_eq!(rig.status().phase, Phase::NeedsAuth);
        if ends_well {
            rig.upstream.list_faults.borrow_mut().clear();
        }
        rig.resource.resume();
        let tab = Resource::new(ResourceConfig::named("pods"), relay, rig.time.clone()).unwrap();
        tab.start();
        let synced = rig.wait(tab.synced()).map_err(|error| error.code);
        assert_eq!(synced, if ends_well { Ok(()) } else { Err(ErrorCode::Unauthorized) });
    }
}

/// A change of an object that nobody can read any more.
fn spoil(rig: &Rig, name: &str) {
    rig.upstream.spoiled.borrow_mut().0.insert(format!("default/{name}"), Spoil::BadVersion);
    rig.upstream.put("default", name);
    rig.run(10_000);
}

fn cure(rig: &Rig, name: &str) {
    rig.upstream.spoiled.borrow_mut().0.clear();
    rig.upstream.put("default", name);
    rig.run(10_000);
}

/// What a resource has set apart, and its phase and rows.
fn apart(resource: &Rc<Resource>) -> (Vec<Quarantined>, (Phase, bool, Option<ErrorCode>), Rows) {
    (resource.with(|cacher| cacher.status().quarantined), stands(resource), rows_of(resource))
}

#[test]
fn who_shares_one_has_the_same_objects_set_apart() {
    for behind_a_channel in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        let channel = behind_a_channel.then(|| Channel::new(relay.clone(), rig.time.clone()));
        let source: Rc<dyn Source> = channel.as_ref().map_or(relay.clone(), |channel| channel.remote.clone());
        let come = || {
            let tab = Resource::new(ResourceConfig::named("pods"), source.clone(), rig.time.clone()).unwrap();
            tab.start();
            rig.run(10);
            tab
        };
        let tab = come();
        assert_eq!(apart(&tab), (vec![], (Phase::Live, false, None), rig.rows()));
        spoil(&rig, "pod-1");
        let late = come();
        rig.upstream.put("default", "pod-2");
        rig.run(10);
        let (quarantined, stands, rows) = apart(&rig.resource);
        assert_eq!(quarantined.iter().map(|entry| &*entry.key).collect::<Vec<_>>(), ["default/pod-1"]);
        assert_eq!((stands, rows.len(), rows["default/pod-2"].0), ((Phase::Live, false, Some(ErrorCode::Protocol)), 3, rig.version()));
        for who in [&tab, &late] {
            assert_eq!(apart(who), (quarantined.clone(), stands, rows.clone()));
        }
        cure(&rig, "pod-1");
        let sound = (vec![], (Phase::Live, false, None), rig.rows());
        assert_eq!([&rig.resource, &tab, &late, &come()].map(apart), [(); 4].map(|()| sound.clone()));
        // A list finds that one is gone: nothing keeps it, as it would keep what a list of this end could not read.
        spoil(&rig, "pod-1");
        rig.upstream.delete("default", "pod-1");
        rig.run(10_000);
        let gone = (vec![], (Phase::Live, false, None), rig.rows());
        assert_eq!(gone.2.len(), 2);
        assert_eq!([&rig.resource, &tab, &late, &come()].map(apart), [(); 4].map(|()| gone.clone()));
    }
}

#[test]
fn an_object_that_is_set_apart_interrupts_who_shares_one_once() {
    let setup = Setup { relayed: true, ..Setup::default() };
    let informed = Informed::idle(InformerOptions::default(), setup, |upstream| _ = upstream.put("default", "pod-1"));
    informed.start();
    informed.rig.run(10);
    assert!(informed.has_synced());
    spoil(&informed.rig, "pod-1");
    informed.rig.upstream.put("default", "pod-1");
    informed.rig.upstream.put("default", "pod-2");
    informed.rig.run(10_000);
    let told = informed.interruptions();
    let told: Vec<_> = told.iter().filter(|told| matches!(told.stops, Stops::Object(_))).collect();
    let [told] = told[..] else { panic!("{told:?}") };
    assert_eq!((&told.stops, told.stale), (&Stops::Object("default/pod-1".into()), true));
    assert!(told.error.message.starts_with("default/pod-1 cannot be taken: "), "{}", told.error);
}

/// Whether something is held of it is known with the first list: then it is told.
#[test]
fn who_comes_when_an_object_is_set_apart_hears_that_its_row_is_old() {
    for behind_a_channel in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        spoil(&rig, "pod-1");
        let channel = behind_a_channel.then(|| Channel::new(relay.clone(), rig.time.clone()));
        // What a channel has to tell at once is there before the list.
        rig.run(10);
        let source: Rc<dyn Source> = channel.as_ref().map_or(relay, |channel| channel.remote.clone());
        let told = Rc::new(RefCell::new(Vec::new()));
        let (tab, heard) = (Resource::new(ResourceConfig::named("pods"), source, rig.time.clone()).unwrap(), told.clone());
        tab.on_flush(move |flush| heard.borrow_mut().extend(flush.notifications.interruptions));
        let informer = tab.with(|cacher| cacher.informers_mut().open(InformerOptions::default()));
        tab.start();
        assert!(tab.start_informer(informer));
        rig.run(10);
        let told: Vec<_> = told.borrow().iter().map(|told| (told.stops.clone(), told.stale)).collect();
        assert_eq!(told, [(Stops::Object("default/pod-1".into()), true)]);
    }
}

/// Lists and what is told of a stream come in no order.
#[test]
fn what_a_relay_lists_no_more_is_gone_though_it_was_set_apart() {
    let (rig, relay) = relay(&Setup::default());
    let tab = tab(&rig, &relay);
    let entry = Quarantined { key: "default/pod-1".into(), uid: None, error: Error::protocol("no version") };
    tab.with(|cacher| cacher.apply(Message::SetApart(vec![entry.clone()]), rig.time.now(), rig.time.wall()));
    rig.lose_history(|upstream| _ = upstream.delete("default", "pod-1"));
    rig.run(5_000);
    assert_eq!((apart(&tab).0, rows_of(&tab).len(), rows_of(&tab)), (vec![entry], 2, rig.rows()));
}

#[test]
fn what_was_set_apart_by_one_that_died_is_so_no_longer_than_by_the_next() {
    for is_cured in [false, true] {
        let (rig, relay) = relay(&Setup::default());
        let channel = Channel::new(relay, rig.time.clone());
        let tab = Resource::new(ResourceConfig::named("pods"), channel.remote.clone(), rig.time.clone()).unwrap();
        tab.start();
        spoil(&rig, "pod-1");
        assert_eq!(apart(&tab).0.len(), 1);
        channel.die(2_000);
        if is_cured {
            cure(&rig, "pod-1");
        }
        rig.run(30_000);
        assert_eq!((apart(&tab), apart(&tab).0.len()), (apart(&rig.resource), usize::from(!is_cured)));
        // What is asked anew at this end begins with the same.
        tab.close();
        let next = Resource::new(ResourceConfig::named("pods"), channel.remote.clone(), rig.time.clone()).unwrap();
        next.start();
        rig.run(10);
        assert_eq!(apart(&next), apart(&rig.resource));
    }
}

/// Whoever was without memory has another reflector afterwards, which has set nothing apart yet.
#[test]
fn what_is_sound_again_is_set_apart_no_more_for_who_was_without_memory() {
    for behind in [None, Some(false), Some(true)] {
        let (rig, relay) = relay(&Setup::default());
        let channel = Channel::new(relay.clone(), rig.time.clone());
        let tab = match behind {
            None => rig.resource.clone(),
            Some(false) => tab(&rig, &relay),
            Some(true) => late(&rig, channel.remote.clone()),
        };
        spoil(&rig, "pod-1");
        assert_eq!(apart(&tab).0.len(), 1);
        tab.share_memory(&Memory::new(tab.with(|cacher| cacher.stats().bytes) + 2_000));
        rig.upstream.put_with("default", "large", &[], &json!({ "text": "x".repeat(10_000) }));
        rig.run(1_000);
        assert_eq!(tab.with(|cacher| cacher.status().phase), Phase::Failed);
        rig.upstream.delete("default", "large");
        cure(&rig, "pod-1");
        tab.resume();
        rig.run(60_000);
        assert_eq!((apart(&tab).0, stands(&tab).0, rows_of(&tab)), (vec![], Phase::Live, rig.rows()), "{behind:?}");
    }
}

#[test]
fn each_namespace_tells_what_its_relay_has_set_apart() {
    let time = VirtualTime::new(1);
    let namespaces: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|namespace| {
            let upstream = Upstream::new(time.clone(), 1);
            *upstream.namespace.borrow_mut() = Some(namespace.into());
            upstream.put(namespace, "pod");
            let source = Rc::new(Shared(upstream.clone()));
            let resource = Resource::new(ResourceConfig::named("pods"), source.clone(), time.clone()).unwrap();
            resource.start();
            (namespace, upstream, relay_over(resource, source))
        })
        .collect();
    let relays: Vec<_> = namespaces.iter().map(|(namespace, _, relay)| (*namespace, relay.clone())).collect();
    let open = move |namespace: &str| -> Rc<dyn Source> { relays.iter().find(|(of, _)| *of == namespace).unwrap_or(&relays[0]).1.clone() };
    let joined = Joined::new(&["a".into(), "b".into()], time.clone(), Box::new(open)).unwrap();
    let tab = Resource::new(ResourceConfig::named("pods"), Rc::new(joined), time.clone()).unwrap();
    tab.start();
    time.advance(10);
    let keys = || apart(&tab).0.iter().map(|entry| entry.key.to_string()).collect::<Vec<_>>();
    for (namespace, upstream, _) in &namespaces {
        upstream.spoiled.borrow_mut().0.insert(format!("{namespace}/pod"), Spoil::NoVersion);
        upstream.put(namespace, "pod");
    }
    time.advance(10_000);
    assert_eq!((keys(), rows_of(&tab).len()), (vec!["a/pod".to_owned(), "b/pod".to_owned()], 2));
    namespaces[0].1.delete("a", "pod");
    time.advance(10_000);
    assert_eq!((keys(), rows_of(&tab).len()), (vec!["b/pod".to_owned()], 1));
    tab.set_namespaces(&["a".into()]).unwrap();
    time.advance(10);
    assert_eq!((keys(), rows_of(&tab).len()), (vec![], 0));
}
