//! Law 8, bounded: the window holds no more than it may, and an event is compared only with watchers that it may concern.

use proptest::prelude::*;
use watchcache::store::WindowBounds;

use crate::helpers::model::SELECTIONS;
use crate::helpers::rig::Setup;
use crate::steps::{PLAN, Plan, StartAt, Step, any_step, selection, trace, write};
use crate::world::World;

law! {
    law_08_bounded_is_the_window_whatever_comes:
    the_window_is_bounded(
        seed: u64 = any::<u64>(),
        lower: usize = 1usize..8,
        more: usize = 0usize..24,
        max_bytes: usize = 200usize..6000,
        steps: Vec<Step> = trace(any_step(), 50),
    ) {
        let window = WindowBounds { lower, upper: lower + more, max_bytes, ..WindowBounds::default() };
        let world = World::new(Setup { window, ..Setup::seeded(seed) });
        for step in &steps {
            world.step(step);
            world.rig.run(0);
            let (stats, oldest, version) = world.rig.resource.with(|cacher| {
                (cacher.stats(), cacher.held().window().oldest(), cacher.version().clone())
            });
            assert!(stats.history_bytes <= max_bytes, "{} bytes of {max_bytes}", stats.history_bytes);
            assert!(stats.history <= stats.history_capacity && stats.history_capacity <= lower + more, "{stats:?}");
            // However little the window holds, its oldest version is known.
            let oldest = oldest.expect("there was a list");
            assert!(oldest <= version);
            world.rig.resource.with(|cacher| {
                assert!(cacher.held().window().since(&oldest).is_ok());
                let older = oldest.predecessor().filter(|older| !older.is_zero());
                assert!(older.is_none_or(|older| cacher.held().window().since(&older).is_err()));
            });
        }
        world.settle();
    }
}

/// What two versions share counts with the newer one. When that is gone, it counts with the older one.
#[test]
fn law_08_bounded_is_the_window_where_a_version_grows_by_what_it_shared() {
    use crate::steps::{Fault::*, Step::*};
    the_window_is_bounded(
        18069979378452927634,
        1,
        2,
        903,
        vec![
            Put(1, 0, 0),
            Update(0, 0, 0),
            Put(1, 0, 0),
            Pass(1),
            Delete(1),
            Put(4, 0, 0),
            Update(1, 0, 0),
            Put(1, 0, 0),
            Delete(1),
            Put(1, 0, 0),
            Delete(1),
            Put(1, 0, 0),
            Put(4, 0, 0),
            Put(1, 0, 0),
            Update(1, 0, 0),
            Put(1, 0, 0),
            Fault(Freeze),
            Put(3, 1, 1),
            Run(90000),
            Put(6, 0, 0),
            Put(0, 0, 1),
            Run(0),
        ],
    );
}

/// Whether an object may concern a watcher: whether it meets any demand of the selection that an index can look up.
fn meets_a_demand(selection: usize, key: &str, document: &str) -> bool {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let app = document["metadata"]["labels"]["app"].as_str();
    let node = document["spec"]["nodeName"].as_str().unwrap_or("");
    let (namespace, name) = key.split_once('/').unwrap();
    match selection {
        // The selection demands nothing, or nothing that an index could look up.
        0 | 5 | 7 | 9 | 15 | 16 | 18 => true,
        1 => namespace == "ns1",
        2 => name == "pod3",
        3 => namespace == "ns2" || name == "pod2",
        4 | 17 => app == Some("web"),
        6 => matches!(app, Some("web" | "db")),
        8 => node == "a",
        10 => namespace == "ns0",
        11 => name == "pod4" || node.is_empty(),
        12 => namespace == "ns0" || app == Some("web") || node == "b",
        13 => matches!(namespace, "ns0" | "ns1"),
        14 => app == Some("db") || node == "a",
        _ => panic!("a selection that this law does not know"),
    }
}

law! {
    law_08_bounded_is_the_work_of_an_event_by_those_it_may_concern:
    an_event_visits_few(
        seed: u64 = any::<u64>(),
        watchers: Vec<usize> = prop::collection::vec(selection(), 1..40),
        steps: Vec<Step> = trace(write(), 30),
    ) {
        let world = World::new(Setup::seeded(seed));
        for selection in &watchers {
            world.watch(&Plan { selection: *selection, start: StartAt::Zero, ..PLAN });
        }
        world.rig.run(0);
        for step in &steps {
            let visited = |world: &World| world.rig.resource.with(|cacher| cacher.stats().dispatcher.visited);
            let (version, before) = (world.rig.upstream.version(), visited(&world));
            world.step(step);
            world.rig.run(0);
            let visits = visited(&world) - before;
            let log = world.rig.upstream.log();
            let Some(write) = log.last().filter(|write| write.version > version) else {
                assert_eq!(visits, 0, "nothing happened");
                continue;
            };
            let stood = world.rig.upstream.state_at(version);
            let documents: Vec<&str> = stood.get(&write.key).map(|(_, document)| &**document).into_iter().chain([&*write.document]).collect();
            let concerned = watchers.iter().filter(|selection| {
                documents.iter().any(|document| meets_a_demand(**selection, &write.key, document))
            });
            let concerned = concerned.count() as u64;
            assert!(visits <= concerned, "{visits} visits, and {concerned} of {} may match", watchers.len());
        }
        // The bound says something only while all selections are among those that it names.
        assert_eq!(SELECTIONS.len(), 19);
    }
}
