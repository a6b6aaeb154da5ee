//! What happens when the bound that resources share is reached.

use std::rc::Rc;

use watchcache::cache::Memory;
use watchcache::connection::Phase;
use watchcache::status::{Error, ErrorCode};
use watchcache::watch::{Demand, WatchOptions};

use crate::after;
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{Upstream, WatchFault};

const SIZE: usize = 1_000;

/// Writes an object with a text unlike any other, so that packing does not make it smaller.
fn put(upstream: &Upstream, name: &str) -> u64 {
    let mut random = fastrand::Rng::with_seed(upstream.version());
    let text: String = (0..SIZE).map(|_| random.alphanumeric()).collect();
    upstream.put_with("a", name, &[], &serde_json::json!({ "text": text }))
}

fn fill(upstream: &Upstream, count: usize) {
    for number in 0..count {
        put(upstream, &format!("pod{number}"));
    }
}

/// A resource that holds so many objects, with a bound shared with others.
fn member(memory: &Rc<Memory>, count: usize) -> Rig {
    let rig = Rig::idle(Setup::default(), |upstream| fill(upstream, count));
    rig.resource.share_memory(memory);
    rig.resource.start();
    rig.run(0);
    rig
}

/// Bytes of so many of these objects.
fn bytes(count: usize) -> usize {
    let rig = Rig::new(Setup::default(), |upstream| fill(upstream, count));
    rig.resource.with(|cacher| cacher.stats().bytes)
}

#[test]
fn what_all_hold_is_counted_and_given_back() {
    let memory = Memory::new(bytes(100));
    let (one, other) = (member(&memory, 10), member(&memory, 20));
    let held = |rig: &Rig| rig.resource.with(|cacher| cacher.stats().bytes);
    assert_eq!(memory.bytes(), held(&one) + held(&other));
    put(&one.upstream, "pod0");
    one.upstream.delete("a", "pod1");
    one.run(0);
    assert_eq!(memory.bytes(), held(&one) + held(&other));
    one.resource.close();
    assert_eq!(memory.bytes(), held(&other));
    other.resource.close();
    assert_eq!(memory.bytes(), 0);
}

#[test]
fn a_resource_that_nobody_uses_goes_first() {
    let memory = Memory::new(bytes(30));
    let (idle, used) = (member(&memory, 10), member(&memory, 10));
    idle.resource.go_idle();
    let new = member(&memory, 15);
    assert_eq!((new.status().phase, new.rows().len()), (Phase::Live, 15));
    assert_eq!((idle.status().phase, idle.rows().len()), (Phase::Closed, 0));
    assert_eq!((used.status().phase, used.rows().len()), (Phase::Live, 10));
    assert!(memory.bytes() <= bytes(30));
}

#[test]
fn a_resource_in_use_again_does_not_go() {
    let memory = Memory::new(bytes(20));
    let used = member(&memory, 10);
    used.resource.go_idle();
    used.resource.resume();
    used.run(0);
    let new = member(&memory, 15);
    assert_eq!((used.status().phase, new.status().phase), (Phase::Live, Phase::Failed));
}

#[test]
fn history_gives_way_before_objects() {
    let memory = Memory::new(bytes(12));
    let rig = member(&memory, 10);
    for _ in 0..50 {
        put(&rig.upstream, "pod0");
        rig.run(0);
        assert!(memory.bytes() <= bytes(12));
    }
    assert_eq!((rig.status().phase, rig.version()), (Phase::Live, 160));
    let gone = rig.watch(after(110));
    assert!(rig.heard(gone)[0].starts_with("ERROR 410 Expired"), "and says so");
}

#[test]
fn law_08_bounded_a_resource_without_room_fails_and_keeps_what_it_held() {
    let memory = Memory::new(bytes(12));
    let rig = member(&memory, 10);
    let watch = rig.watch(WatchOptions::default());
    rig.run(0);
    let before = rig.rows();
    for name in ["x", "y", "z"] {
        put(&rig.upstream, name);
    }
    rig.run(0);
    let status = rig.status();
    let error = status.error.clone().unwrap();
    assert_eq!((status.phase, error.code, status.stale), (Phase::Failed, ErrorCode::OutOfMemory, true));
    assert!(error.message.ends_with(&format!("of {} bytes (memory.maxBytes)", bytes(12))), "{}", error.message);
    assert!(memory.bytes() <= bytes(12));
    let rows = rig.rows();
    assert!(before.iter().all(|(key, row)| rows.get(key) == Some(row)), "what was held before is there");
    let heard = rig.heard(watch);
    assert!(heard.last().unwrap().starts_with("ERROR 500 InternalError: the cache holds"), "{heard:?}");
    rig.run(600_000);
    assert_eq!(rig.upstream.connections(), 0, "it does not try by itself");
}

#[test]
fn what_a_stream_still_holds_comes_before_the_error() {
    let memory = Memory::new(bytes(13));
    let rig = member(&memory, 10);
    let unread = rig.watch_as(after(110), true, Demand::None);
    let versions: Vec<u64> = ["w", "x", "y", "z"].map(|name| put(&rig.upstream, name)).into();
    rig.run(0);
    assert_eq!(rig.status().phase, Phase::Failed);
    rig.demand(unread, Demand::All);
    let heard = rig.heard(unread);
    assert_eq!(heard[0], format!("ADDED a/w@{}", versions[0]));
    let errors = heard.iter().filter(|event| event.starts_with("ERROR")).count();
    assert!(errors == 1 && heard.last().unwrap().starts_with("ERROR"), "{heard:?}");
}

#[test]
fn a_first_list_without_room_fails_and_resume_tries_again_when_there_is() {
    let memory = Memory::new(bytes(30));
    let other = member(&memory, 25);
    let rig = member(&memory, 10);
    assert_eq!((rig.status().phase, rig.status().error.unwrap().code), (Phase::Failed, ErrorCode::OutOfMemory));
    let error = rig.wait(rig.resource.clone().synced()).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory);
    other.resource.close();
    rig.resource.resume();
    rig.run(0);
    assert_eq!((rig.status().phase, rig.rows().len()), (Phase::Live, 10));
    assert!(rig.wait(rig.resource.clone().synced()).is_ok());
}

/// The host's memory is a bound, too, though nobody set it.
#[test]
fn law_08_bounded_a_host_without_memory_stops_the_resource_and_takes_nothing_from_it() {
    let rig = Rig::new(Setup::default(), |upstream| fill(upstream, 10));
    let (watch, before) = (rig.watch(WatchOptions::default()), rig.rows());
    rig.run(2000);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Error::out_of_memory(1_000_000)));
    rig.upstream.drop_streams();
    rig.run(5000);
    let status = rig.status();
    assert_eq!((status.phase, status.error.unwrap().code), (Phase::Failed, ErrorCode::OutOfMemory));
    assert_eq!(rig.rows(), before);
    let heard = rig.heard(watch);
    assert!(heard.last().unwrap().starts_with("ERROR 500 InternalError: there is no memory for 1000000 bytes more"), "{heard:?}");
    rig.run(600_000);
    assert_eq!(rig.upstream.connections(), 0, "it does not try by itself");
    rig.resource.resume();
    rig.run(0);
    assert_eq!((rig.status().phase, rig.rows()), (Phase::Live, before));
}

/// An event that was told and never read belongs to JavaScript until it collects, and nobody can ask it to.
#[test]
fn law_05_isolation_what_javascript_has_not_collected_ends_no_stream() {
    let memory = Memory::new(bytes(15));
    let rig = member(&memory, 10);
    let mut pins = Vec::new();
    let mut tell = |rig: &Rig, count: usize| {
        for number in 0..count {
            let name = format!("pod{}", number % 10);
            put(&rig.upstream, &name);
            rig.run(0);
            let told = rig.resource.with(|cacher| cacher.store().get(&format!("a/{name}")).unwrap().clone());
            told.pinned(true);
            pins.push(told);
        }
    };
    tell(&rig, 100);
    assert_eq!((rig.status().phase, rig.status().error), (Phase::Live, None));
    assert!(memory.bytes() <= bytes(15));
    // It has, and somebody still holds them.
    rig.resource.collected();
    rig.resource.collected();
    tell(&rig, 1);
    assert_eq!(rig.status().error.map(|error| error.code), Some(ErrorCode::OutOfMemory), "{} bytes are held", memory.bytes());
}

#[test]
fn what_waits_for_a_flush_ends_no_stream() {
    let memory = Memory::new(bytes(15));
    let rig = member(&memory, 10);
    let watch = rig.watch(after(110));
    rig.run(0);
    // All at once. What the window drops is still held by the flush that follows the slice.
    for _ in 0..50 {
        put(&rig.upstream, "pod0");
    }
    rig.run(0);
    assert_eq!((rig.status().phase, rig.status().error), (Phase::Live, None));
    let heard = rig.heard(watch);
    assert_eq!(heard.len(), 50, "{heard:?}");
}
