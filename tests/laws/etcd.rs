//! What etcd promises of its watches, for ours: ordered, unique, reliable, atomic, with the previous value, with versions that are valid.
//! Each is judged by what subscribers of every kind heard, one promise at a time. (Resumable, bookmarkable and filterable stand beside.)

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use proptest::prelude::*;
use watchcache::cache::Resource;
use watchcache::watch::{EventKind, OnOverflow};

use crate::helpers::client::{Heard, Stream};
use crate::helpers::model::{SELECTIONS, replay};
use crate::helpers::rig::Setup;
use crate::steps::{Ask, Match, StartAt, Step, any_plan, ask, compaction, fault, gentle_fault, own_write, subscriber, time, trace, write};
use crate::world::{Watched, World, began, expected, selected};

/// Subscribers of every kind, which begin and end in the middle of writes and of trouble upstream.
fn many_subscribers() -> impl Strategy<Value = Vec<Step>> {
    let watch = any_plan().prop_map(Step::Watch);
    trace(prop_oneof![10 => write(), 1 => own_write(), 4 => time(), 4 => watch, 5 => subscriber(), 1 => fault(), 1 => gentle_fault()], 50)
}

fn played(seed: u64, steps: &[Step]) -> World {
    let world = World::new(Setup::seeded(seed));
    world.play(steps);
    world.settle();
    world
}

/// Judges each watch that has begun: where it began, and its stream.
fn each_begun(world: &World, mut judge: impl FnMut(&Watched, u64, &Stream)) {
    for watched in world.watches() {
        let streams = world.rig.client.streams.borrow();
        let stream = &streams[watched.stream];
        if let Some(from) = began(&watched, stream) {
            judge(&watched, from, stream);
        }
    }
}

/// The changes of a stream, those of its initial state apart.
fn split_initial(watched: &Watched, from: u64, stream: &Stream) -> (Vec<Heard>, Vec<Heard>) {
    stream.changes().into_iter().partition(|event| watched.from_state && event.version == from && event.kind == EventKind::Added)
}

law! {
    /// Events come in the order of their versions. The initial state comes first, in the order of its keys.
    etcd_ordered_events_come_by_version:
    events_are_ordered(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        each_begun(&played(seed, &steps), |watched, from, stream| {
            let told: Vec<&Heard> = stream.events.iter().filter(|event| event.kind != EventKind::Error).collect();
            assert!(told.is_sorted_by_key(|event| event.version), "{told:?}");
            let (initial, live) = split_initial(watched, from, stream);
            assert_eq!(stream.changes()[..initial.len()], initial, "the state comes first");
            assert!(initial.is_sorted_by(|one, next| one.key < next.key), "{initial:?}");
            // Only the deletions that a relist brings to a watch that outlives it share a version.
            let of_a_relist = |event: &Heard| stream.options.on_overflow == OnOverflow::Resync && event.kind == EventKind::Deleted;
            for pair in live.windows(2) {
                assert!(pair[0].version < pair[1].version || of_a_relist(&pair[1]), "{pair:?}");
            }
        });
    }
}

law! {
    etcd_unique_no_event_comes_twice:
    events_are_unique(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        each_begun(&played(seed, &steps), |_, _, stream| {
            let mut seen = HashSet::new();
            for event in stream.changes() {
                assert!(seen.insert((event.key.clone(), event.own)), "{event:?} came twice: {:?}", stream.events);
            }
            let ends = stream.events.iter().filter(|event| event.kind == EventKind::InitialEventsEnd).count();
            assert!(ends <= 1, "the initial events end once");
        });
    }
}

law! {
    /// A subscriber that heard of two changes has heard of all between them. One that still listens has heard of all.
    etcd_reliable_no_event_between_two_is_missing:
    nothing_is_missing(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        let world = played(seed, &steps);
        each_begun(&world, |watched, from, stream| {
            if stream.options.on_overflow != OnOverflow::Terminate {
                return; // it chose to skip changes
            }
            let heard = stream.changes();
            let open = stream.ended.is_none() && !stream.vanished;
            let reached = if open { world.rig.version() } else { heard.last().map_or(from, |event| event.version) };
            let whole = expected(&world.rig.upstream, watched, from, reached);
            // Only a subscriber that left in the midst of the state knows a part of it.
            let partial = !open && watched.from_state && reached == from;
            assert_eq!(heard, if partial { &whole[..heard.len()] } else { &whole[..] }, "{watched:?}");
        });
    }
}

law! {
    /// One version is one change. After each event a subscriber holds the state of its version, and a read of the cache at that moment
    /// shows the change as well.
    etcd_atomic_a_version_is_one_change_and_all_of_it:
    versions_are_atomic(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        let world = World::new(Setup::seeded(seed));
        let client = Rc::downgrade(&world.rig.client);
        *world.rig.client.between.borrow_mut() = Some(Rc::new(move |resource: &Rc<Resource>| {
            let Some(client) = client.upgrade() else { return };
            let count = client.streams.borrow().len();
            for event in (0..count).flat_map(|stream| client.news(stream)).filter(Heard::is_change) {
                resource.with(|cacher| {
                    let version = cacher.version().as_u64().unwrap();
                    if cacher.availability().ready().is_stopped() || event.version > version {
                        // A state that the upstream listed for this watch alone is ahead of what is held.
                        assert!(event.kind == EventKind::Added && event.own <= event.version, "{event:?} while {version} is held");
                        return;
                    }
                    let held = cacher.held().state().get(&event.key).map(|object| object.version().as_u64().unwrap());
                    match event.kind {
                        // It may have left the selection alone, at that very version or later.
                        EventKind::Deleted => assert!(held.is_none_or(|held| held >= event.own), "{event:?}, and {held:?} is held"),
                        _ => assert!(held.map_or(event.own < version, |held| held >= event.own), "{event:?}, and {held:?} is held"),
                    }
                });
            }
        }));
        world.play(&steps);
        world.settle();
        *world.rig.client.between.borrow_mut() = None;
        each_begun(&world, |watched, from, stream| {
            if stream.options.on_overflow != OnOverflow::Terminate {
                return;
            }
            let (initial, live) = split_initial(watched, from, stream);
            let upstream = &world.rig.upstream;
            let mut rows = if watched.from_state { replay(BTreeMap::new(), &initial) } else { selected(upstream, watched.selection, from) };
            for event in live {
                rows = replay(rows, std::slice::from_ref(&event));
                assert_eq!(rows, selected(upstream, watched.selection, event.version), "after {event:?}");
            }
        });
    }
}

law! {
    /// The object before decides the kind of an event. It is ADDED where the subscriber did not have the object, MODIFIED where it did, and
    /// DELETED where it has it no longer. A DELETED carries the last object, at the version at which it went.
    etcd_prev_value_decides_the_kind_of_an_event:
    previous_values_decide(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        let world = played(seed, &steps);
        each_begun(&world, |watched, from, stream| {
            let upstream = &world.rig.upstream;
            let mut told = if watched.from_state { BTreeMap::new() } else { selected(upstream, watched.selection, from) };
            for event in stream.changes() {
                let before = told.remove(&event.key);
                match event.kind {
                    EventKind::Deleted => {
                        let before = before.unwrap_or_else(|| panic!("{event:?} of what was not there"));
                        assert_eq!(event.document, restamped(&before, event.version), "{event:?}");
                        continue;
                    }
                    EventKind::Added => assert!(before.is_none(), "{event:?} of what was there"),
                    _ => assert!(before.is_some(), "{event:?} of what was not there"),
                }
                // And the content is the upstream's at that version.
                let written = upstream.state_at(event.own);
                assert_eq!(written.get(&event.key).map(|(_, document)| &**document), Some(event.document.as_str()), "{event:?}");
                told.insert(event.key, event.document);
            }
        });
    }
}

/// A document with another version.
fn restamped(document: &str, version: u64) -> String {
    let parsed: serde_json::Value = serde_json::from_str(document).unwrap();
    let old = parsed["metadata"]["resourceVersion"].as_str().unwrap();
    document.replace(&format!("\"resourceVersion\":\"{old}\""), &format!("\"resourceVersion\":\"{version}\""))
}

law! {
    /// No event has version 0, a version that does not exist yet, or one at or before the start of the watch. The place to go on exists.
    etcd_validity_of_versions_of_events:
    event_versions_are_valid(seed: u64 = any::<u64>(), steps: Vec<Step> = many_subscribers()) {
        let world = World::new(Setup::seeded(seed));
        let (client, upstream) = (Rc::downgrade(&world.rig.client), world.rig.upstream.clone());
        *world.rig.client.between.borrow_mut() = Some(Rc::new(move |_: &Rc<Resource>| {
            let Some(client) = client.upgrade() else { return };
            let count = client.streams.borrow().len();
            for event in (0..count).flat_map(|stream| client.news(stream)).filter(|event| event.kind != EventKind::Error) {
                assert!(event.version > 0 && event.own > 0, "{event:?}");
                assert!(event.own <= event.version && event.version <= upstream.version(), "{event:?} of the future");
            }
        }));
        world.play(&steps);
        world.settle();
        *world.rig.client.between.borrow_mut() = None;
        each_begun(&world, |watched, from, stream| {
            let (_, live) = split_initial(watched, from, stream);
            assert!(live.iter().all(|event| event.version > from), "{live:?} behind {from}");
            let last = stream.changes().last().map_or(0, |event| event.version);
            if let Some(resume) = stream.resume_from {
                assert!(resume >= last.max(from) && resume <= world.rig.upstream.version().max(from), "to go on at {resume} after {last}, from {from}");
            }
        });
    }
}

law! {
    /// A list's version is that of its newest object or a later one, is the one that was asked for or not older, and exists.
    etcd_validity_of_versions_of_lists:
    list_versions_are_valid(
        seed: u64 = any::<u64>(),
        steps: Vec<(Step, Ask)> = prop::collection::vec((prop_oneof![6 => write(), 2 => time(), 1 => compaction(), 1 => gentle_fault()], ask()), 1..12),
    ) {
        let world = World::new(Setup::seeded(seed));
        let mut newest = 0;
        for (step, ask) in &steps {
            world.step(step);
            let held = world.rig.version();
            let asked = match ask.at {
                StartAt::Unset => None,
                StartAt::Zero => Some(0),
                StartAt::Back(versions) => Some(held.saturating_sub(versions).max(1)),
                StartAt::Ahead(versions) => Some(held + versions),
                StartAt::At(version) => Some(version),
            };
            let exact = ask.kind == Match::Exact;
            let options = watchcache::cache::ListOptions {
                resource_version: asked.map(|version| version.to_string()),
                resource_version_match: asked.map(|_| if exact { "Exact" } else { "NotOlderThan" }.into()),
                limit: ask.limit.into(),
                ..SELECTIONS[ask.selection].list()
            };
            let before = world.rig.upstream.version();
            let Ok(list) = world.rig.pages(options) else { continue };
            let version = list.version.as_u64().unwrap();
            assert!(version > 0 && version <= world.rig.upstream.version(), "a list at {version}");
            assert!(list.objects.iter().all(|object| *object.version() <= list.version), "{list:?}");
            match asked {
                Some(asked) if exact => assert_eq!(version, asked),
                Some(asked) => assert!(version >= asked, "a list at {version} where {asked} is asked for"),
                None => {
                    assert!(version >= before && version >= newest, "a list at {version}, after {newest}, when {before} was written");
                    newest = version;
                }
            }
        }
    }
}

/// The promises are tried on what they are about: events of each kind, subscribers of every kind, some that leave early, some that skip.
#[test]
fn the_traces_have_events_and_subscribers_of_every_kind() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let traces = many_subscribers();
    let mut seen = BTreeMap::new();
    for seed in 0..80 {
        let world = played(seed, &traces.new_tree(&mut runner).unwrap().current());
        each_begun(&world, |watched, from, stream| {
            let (initial, live) = split_initial(watched, from, stream);
            let policy = stream.options.on_overflow as usize;
            let resyncs = stream.events.iter().filter(|event| event.kind == EventKind::Resync).count();
            for (what, count) in [("initial", initial.len()), ("live", live.len()), ("resyncs", resyncs)] {
                *seen.entry((policy, what)).or_insert(0) += count;
            }
            *seen.entry((policy, "gone")).or_insert(0) += usize::from(stream.vanished || stream.ended.is_some());
            *seen.entry((policy, "open")).or_insert(0) += usize::from(!stream.vanished && stream.ended.is_none());
        });
    }
    for policy in 0..3 {
        for what in ["initial", "live", "gone", "open"] {
            assert!(seen[&(policy, what)] >= 15, "{seen:?}");
        }
    }
    assert!(seen[&(OnOverflow::Resync as usize, "resyncs")] >= 15, "{seen:?}");
}
