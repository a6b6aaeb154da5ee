//! Laws 1, 2 and 7 for watchers that would rather skip changes than end. What they hear still leads to the upstream's state, each event
//! applies to what came before it, and versions grow.

use std::collections::BTreeMap;

use proptest::prelude::*;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions};

use crate::helpers::model::{SELECTIONS, replay};
use crate::helpers::rig::Setup;
use crate::steps::{Step, fault, selection, time, trace, write};
use crate::world::World;

/// Now and then the subscriber takes a batch.
fn steps() -> impl Strategy<Value = Vec<(Step, bool)>> {
    let step = prop_oneof![8 => write(), 2 => time(), 1 => fault()];
    prop::collection::vec((step, prop::bool::weighted(0.2)), 1..80)
}

/// The state that the stream told by its end, and how it ended.
fn run(
    seed: u64,
    on_overflow: OnOverflow,
    selection: usize,
    buffer: usize,
    steps: &[(Step, bool)],
) -> (World, usize, BTreeMap<String, String>) {
    let world = World::new(Setup::seeded(seed));
    let options = WatchOptions { on_overflow, buffer_size: Some(buffer), ..SELECTIONS[selection].watch() };
    let stream = world.rig.watch_as(options, true, Demand::None);
    for (step, reads) in steps {
        world.step(step);
        if *reads {
            world.rig.demand(stream, Demand::Batch(0));
        }
    }
    world.settle();
    world.rig.demand(stream, Demand::All);
    world.rig.run(10);
    let heard = world.rig.client.streams.borrow()[stream].changes();
    (world, stream, replay(BTreeMap::new(), &heard))
}

/// The rows of a selection at a version.
fn truth(world: &World, selection: usize, version: u64) -> BTreeMap<String, String> {
    let rows = SELECTIONS[selection].of(&world.rig.upstream.state_at(version));
    rows.into_iter().map(|(key, (_, document))| (key, document.to_string())).collect()
}

law! {
    law_07_rows_stay_for_who_resyncs_through_overflow_and_relist:
    who_resyncs_keeps_rows(
        seed: u64 = any::<u64>(),
        selection: usize = selection(),
        buffer: usize = 1usize..4,
        steps: Vec<(Step, bool)> = steps(),
    ) {
        let (world, stream, rows) = run(seed, OnOverflow::Resync, selection, buffer, &steps);
        assert_eq!(world.rig.ended(stream), None);
        assert_eq!(rows, truth(&world, selection, world.rig.version()));
    }
}

law! {
    law_01_replay_holds_for_who_coalesces:
    who_coalesces_hears_a_replay(
        seed: u64 = any::<u64>(),
        selection: usize = selection(),
        buffer: usize = 1usize..4,
        steps: Vec<(Step, bool)> = steps(),
    ) {
        let (world, stream, rows) = run(seed, OnOverflow::Coalesce, selection, buffer, &steps);
        let reached = match world.rig.ended(stream) {
            None => world.rig.version(),
            Some(reason) => {
                assert_eq!(reason, EndReason::Relist);
                world.rig.resume_from(stream).unwrap()
            }
        };
        assert_eq!(rows, truth(&world, selection, reached));
    }
}

/// The traces make both skip, and relist.
#[test]
fn the_traces_overflow() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let traces = trace(prop_oneof![8 => write(), 2 => time(), 1 => fault()], 80);
    let (mut told, mut relists) = (0, 0);
    for seed in 0..40 {
        let steps: Vec<(Step, bool)> = traces.new_tree(&mut runner).unwrap().current().into_iter().map(|step| (step, false)).collect();
        let (world, stream, _) = run(seed, OnOverflow::Resync, 0, 1, &steps);
        told += world.rig.client.streams.borrow()[stream].events.iter().filter(|event| format!("{event:?}").starts_with("RESYNC")).count();
        relists += world.rig.resource.with(|cacher| cacher.stats().lists) - 1;
    }
    assert!(told >= 20 && relists >= 10, "{told} {relists}");
}
