//! What crosses a channel between a relay and who shares it, and when.

use std::cell::RefCell;
use std::rc::Rc;

use futures::{FutureExt, StreamExt};
use watchcache::cache::{Resource, ResourceConfig};
use watchcache::connection::Phase;
use watchcache::relay::WATCH_PACE_MS;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{ListRequest, ObjectName, Polled, Source, WatchRequest};
use watchcache::status::ErrorCode;
use watchcache::store::WindowBounds;

use crate::helpers::channel::{Channel, relay_over};
use crate::helpers::rig::{Setup, rows_of};
use crate::helpers::upstream::{ListFault, Shared, Upstream};
use crate::relay::{late, relay};

#[test]
fn who_takes_nothing_from_a_channel_has_a_bounded_part_on_its_way() {
    let (rig, relay) = relay(&Setup { window: WindowBounds { lower: 500, upper: 500, ..WindowBounds::default() }, ..Setup::default() });
    let channel = Channel::new(relay, rig.time.clone());
    let request = WatchRequest { resource_version: rig.version().to_string(), ..WatchRequest::default() };
    let mut frames = rig.wait(channel.remote.watch(request)).unwrap();
    for _ in 0..400 {
        rig.upstream.put_sized("default", "busy", 10_000);
        rig.run(10);
    }
    let mut bytes = 0;
    // What has crossed is there without another turn of anybody else.
    while let Some(Some(frame)) = frames.next().now_or_never() {
        bytes += frame.unwrap().len();
    }
    assert!((1 << 20..3 << 19).contains(&bytes), "{bytes} bytes");
    // It was too slow for the relay, which ended it: it completes.
    let rest: Vec<_> = rig.wait(frames.collect());
    assert!(rest.iter().map(|frame| frame.as_ref().unwrap().len()).sum::<usize>() < 2_500_000, "{} frames", rest.len());
}

#[test]
fn what_comes_in_quick_succession_crosses_together_and_what_comes_after_a_pause_at_once() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let tab = late(&rig, channel.remote.clone());
    rig.run(1_000);
    let sent = || channel.answers.get();
    for _ in 0..3 {
        let before = sent();
        rig.upstream.put("default", "first");
        rig.run(0);
        assert_eq!((sent() - before, rows_of(&tab)), (1, rig.rows()), "nobody waits after a pause");
        (0..5).for_each(|_| {
            rig.upstream.put("default", "busy");
            rig.run(1);
        });
        assert_eq!(sent() - before, 1);
        rig.run(8);
        assert_eq!((sent() - before, rows_of(&tab)), (2, rig.rows()));
        rig.run(100);
        assert_eq!(sent() - before, 2);
    }
}

/// The phases that people see of it from now on.
fn phases_of(resource: &Rc<Resource>) -> Rc<RefCell<Vec<Phase>>> {
    let (phases, of) = (Rc::<RefCell<Vec<Phase>>>::default(), Rc::downgrade(resource));
    let heard = phases.clone();
    resource.on_flush(move |_| {
        let phase = of.upgrade().unwrap().with(|cacher| cacher.status().phase);
        if heard.borrow().last() != Some(&phase) {
            heard.borrow_mut().push(phase);
        }
    });
    phases
}

#[test]
fn a_burst_holds_up_nobody_and_ends_no_watch_of_who_takes_it() {
    for burst in [20, 300, 3_000] {
        let (rig, relay) = relay(&Setup::default());
        let channel = Channel::new(relay, rig.time.clone());
        let tab = late(&rig, channel.remote.clone());
        rig.run(1_000);
        let phases = phases_of(&tab);
        (0..burst).for_each(|number| _ = rig.upstream.put("default", &format!("burst-{number}")));
        rig.run(1);
        assert_eq!(rig.version(), rig.upstream.version(), "the relay's own stream waits for nobody");
        rig.run(WATCH_PACE_MS);
        assert!(phases.take().iter().all(|phase| *phase == Phase::Live), "{burst} events");
        assert!(rows_of(&tab) == rig.rows(), "{burst} events");
    }
}

#[test]
fn a_watch_that_catches_up_waits_for_no_pace() {
    let bounds = WindowBounds { lower: 1_000, upper: 1_000, ..WindowBounds::default() };
    let (rig, relay) = relay(&Setup { window: bounds, ..Setup::default() });
    let channel = Channel::new(relay, rig.time.clone());
    let tab = late(&rig, channel.remote.clone());
    rig.run(1_000);
    tab.pause();
    rig.run(100);
    (0..500).for_each(|number| _ = rig.upstream.put_sized("default", &format!("large-{number}"), 14_000));
    rig.run(1_000);
    let lists = tab.with(|cacher| cacher.availability().lists());
    tab.resume();
    rig.run(2 * WATCH_PACE_MS);
    assert_eq!(rows_of(&tab), rig.rows(), "seven megabytes");
    assert_eq!(tab.with(|cacher| cacher.availability().lists()), lists, "by its watch");
}

#[test]
fn what_a_poll_brought_comes_before_the_word_that_there_was_one() {
    for pace in [0, WATCH_PACE_MS] {
        let time = VirtualTime::new(1);
        let upstream = Upstream::new(time.clone(), 1);
        upstream.put("default", "a");
        let polled: Rc<dyn Source> = Rc::new(Polled::new(Rc::new(Shared(upstream.clone())), time.clone(), 3));
        let resource = Resource::new(ResourceConfig::named("pods"), polled.clone(), time.clone()).unwrap();
        resource.start();
        time.advance(100);
        let channel = Channel::paced(relay_over(resource.clone(), polled), time.clone(), pace);
        let version = resource.with(|cacher| cacher.version().to_string());
        let request = WatchRequest { resource_version: version, allow_watch_bookmarks: true, ..WatchRequest::default() };
        let mut frames = time.run_until(channel.remote.watch(request)).unwrap();
        let (mut reached, mut objects) = (0, 0);
        for number in 0..20 {
            // One fills a message, and the next poll has another.
            upstream.put_sized("default", "large", 70_000);
            time.advance(3);
            upstream.put("default", &format!("small-{number}"));
            time.advance(40);
            while let Some(Some(frame)) = frames.next().now_or_never() {
                let frame: serde_json::Value = serde_json::from_slice(&frame.unwrap()).unwrap();
                let version: u64 = frame["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
                if frame["type"] == "BOOKMARK" {
                    reached = reached.max(version);
                } else {
                    assert!(version > reached, "pace {pace}: an object of {version} behind the word that {reached} is reached");
                    objects += 1;
                }
            }
        }
        assert_eq!(objects, 40);
        assert!(reached >= upstream.version());
    }
}

/// What waits for a server's sake is waited for at the relay. Here nothing is but the time until there is the next one.
#[test]
fn a_relay_that_dies_or_lists_again_and_again_costs_the_same_each_time() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let tab = late(&rig, channel.remote.clone());
    rig.run(1_000);
    for round in 0..8 {
        channel.die(50);
        rig.upstream.put("default", &format!("meanwhile-{round}"));
        rig.run(100);
        // The next one knows nothing of before.
        rig.wait(rig.resource.clone().refresh()).unwrap();
        rig.run(2_500);
        assert_eq!(tab.with(|cacher| cacher.status().phase), Phase::Live, "round {round}");
        assert!(rows_of(&tab) == rig.rows(), "round {round}");
    }
}

#[test]
fn a_state_that_has_gone_back_is_taken_by_all_who_share_it() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay.clone(), rig.time.clone());
    let tabs = [late(&rig, relay), late(&rig, channel.remote.clone())];
    rig.run(1_000);
    let version = rig.version();
    rig.upstream.behind.set(1);
    rig.upstream.drop_streams();
    rig.run(2_000);
    rig.wait(rig.resource.clone().reset()).unwrap();
    rig.run(3_000);
    for tab in tabs {
        assert_eq!(
            (tab.with(|cacher| cacher.version().as_u64()), tab.with(|cacher| cacher.status().phase)),
            (Some(version - 1), Phase::Live)
        );
        assert!(rows_of(&tab) == rig.rows());
    }
}

#[test]
fn a_state_that_has_gone_back_is_taken_by_who_came_meanwhile_and_by_who_was_away() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay.clone(), rig.time.clone());
    let away = late(&rig, channel.remote.clone());
    rig.run(1_000);
    let version = rig.version();
    rig.upstream.behind.set(1);
    rig.upstream.drop_streams();
    rig.run(2_000);
    channel.die(60_000);
    // The list takes long, and who comes meanwhile is given what there was.
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Hang);
    let mut reset = rig.resource.clone().reset().boxed_local();
    assert!((&mut reset).now_or_never().is_none());
    let channel = Channel::new(relay.clone(), rig.time.clone());
    let came = [late(&rig, relay), late(&rig, channel.remote.clone())];
    rig.run(100);
    for tab in &came {
        assert_eq!(tab.with(|cacher| cacher.version().as_u64()), Some(version));
    }
    rig.run(180_000);
    rig.wait(reset).unwrap();
    rig.run(3_000);
    for tab in came.iter().chain([&away]) {
        assert_eq!(
            (tab.with(|cacher| cacher.version().as_u64()), tab.with(|cacher| cacher.status().phase)),
            (Some(version - 1), Phase::Live)
        );
        assert!(rows_of(tab) == rig.rows());
    }
}

/// The server has come further than where it was when it was reset. So the versions alone tell nothing.
#[test]
fn who_was_away_while_the_state_went_back_does_not_go_on_from_the_history_before() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let away = late(&rig, channel.remote.clone());
    rig.run(1_000);
    away.pause();
    rig.run(100);
    rig.upstream.behind.set(1);
    rig.upstream.drop_streams();
    rig.run(2_000);
    rig.wait(rig.resource.clone().reset()).unwrap();
    rig.upstream.behind.set(0);
    for number in 0..5 {
        rig.upstream.put("default", &format!("new-{number}"));
    }
    rig.run(5_000);
    let lists = || away.with(|cacher| cacher.metrics().initializations.get());
    let before = lists();
    away.resume();
    rig.run(5_000);
    assert_eq!(away.with(|cacher| cacher.status().phase), Phase::Live);
    assert!(rows_of(&away) == rig.rows());
    assert_eq!(lists(), before + 1, "it has listed, and not gone on");
}

#[test]
fn an_answer_that_is_an_error_is_one_at_the_other_end() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let nobody = ObjectName { namespace: "default".into(), name: "nobody".into() };
    let direct = rig.wait(Shared(rig.upstream.clone()).get(nobody.clone(), None)).unwrap_err();
    assert_eq!(rig.wait(channel.remote.get(nobody, None)).unwrap_err(), direct);
    rig.resource.close();
    assert_eq!(rig.wait(channel.remote.list(ListRequest::default())).err().map(|error| error.code), Some(ErrorCode::Closed));
}
