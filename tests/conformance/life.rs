//! How streams begin and end.

use watchcache::watch::event::EndReason;
use watchcache::watch::options::WatchOptions;
use watchcache::watch::watcher::Demand;

use crate::support::rig::{Rig, Setup};

fn from(version: u64) -> WatchOptions {
    WatchOptions { resource_version: Some(version.to_string()), ..WatchOptions::default() }
}

#[test]
fn cwl_a_watch_that_was_stopped_before_it_began_hears_nothing() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let stopped = rig.watch(WatchOptions::default());
    rig.stop(stopped);
    rig.run(0);
    assert_eq!(rig.ended(stopped), Some(EndReason::Stopped));
    // Its number stands for another one by now.
    let other = rig.watch(WatchOptions { name: Some("y".into()), ..WatchOptions::default() });
    rig.resource.start();
    assert_eq!(rig.heard(stopped), [""; 0]);
    assert_eq!(rig.heard(other), [""; 0]);
    rig.upstream.put("a", "x");
    rig.upstream.put("a", "y");
    assert_eq!(rig.heard(stopped), [""; 0]);
    assert_eq!(rig.heard(other), ["ADDED a/y@103"]);
}

#[test]
fn cwl_a_stop_while_the_watch_waits_is_final() {
    let rig = Rig::idle(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let stopped = rig.watch_as(WatchOptions::default(), true, Demand::None);
    rig.stop(stopped);
    rig.resource.start();
    rig.run(0);
    rig.demand(stopped, Demand::All);
    assert_eq!(rig.heard(stopped), [""; 0]);
    assert_eq!(rig.ended(stopped), Some(EndReason::Stopped));
}

#[test]
fn dsp_an_event_that_found_no_room_is_not_delivered_to_who_gets_its_number() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.run(10_000); // the time for slow watchers has filled
    let slow = rig.watch_as(WatchOptions { buffer_size: Some(1), ..from(100) }, true, Demand::None);
    rig.run(0);
    rig.upstream.put("a", "x");
    rig.upstream.put("a", "y");
    rig.time.advance(10); // y finds no room, and waits
    rig.client.vanish(&rig.resource, slow);
    rig.time.advance(1);
    let other = rig.watch_as(WatchOptions { namespace: Some("b".into()), ..from(100) }, true, Demand::All);
    rig.run(1000);
    rig.upstream.put("b", "z");
    assert_eq!(rig.heard(other), ["ADDED b/z@103"]);
}

#[test]
fn dsp_who_takes_everything_is_never_too_slow() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in 0..2000 {
            upstream.put("a", &format!("pod{number:04}"));
        }
    });
    let all = rig.watch(WatchOptions { buffer_size: Some(1), ..WatchOptions::default() });
    for number in 0..50 {
        rig.upstream.put("b", &format!("pod{number}"));
    }
    rig.run(1000);
    assert_eq!(rig.ended(all), None);
    assert_eq!(rig.heard(all).len(), 2050);
}

#[test]
fn cwl_a_stream_that_ends_while_an_event_waits_for_room_says_where_it_stopped() {
    for seconds in [1, 2] {
        let rig = Rig::new(Setup::default(), |_| {});
        rig.run(20_000);
        let slow = rig.watch_as(WatchOptions { buffer_size: Some(1), timeout_seconds: Some(seconds), ..from(100) }, true, Demand::None);
        rig.run(u64::from(seconds) * 1000 - 10);
        rig.upstream.put("a", "x");
        rig.upstream.put("a", "y");
        rig.run(5);
        rig.resource.close();
        rig.demand(slow, Demand::All);
        assert_eq!(rig.heard(slow), ["ADDED a/x@101"]);
        assert_eq!(rig.resume_from(slow), Some(101));
    }
}

#[test]
fn store_bytes_follow_when_fields_are_wanted_later() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    for path in 0..40 {
        rig.watch(WatchOptions { field_selector: Some(format!("spec.f{path}=1")), ..WatchOptions::default() });
    }
    rig.run(0);
    rig.upstream.delete("a", "x");
    rig.run(0);
    assert_eq!(rig.resource.with(|cacher| cacher.store().bytes()), 0);
}
