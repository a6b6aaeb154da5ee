//! Law 3, resume: watching from a version equals having watched since, or says 410.

use proptest::prelude::*;
use watchcache::store::WindowBounds;

use crate::helpers::model::SELECTIONS;
use crate::helpers::rig::Setup;
use crate::steps::{PLAN, Plan, StartAt, Step, gentle_fault, plan, time, trace, write};
use crate::world::{World, failure};

/// The oldest version that a window of so many events serves, as one would count it by hand.
fn oldest(world: &World, list: u64, size: usize) -> u64 {
    let held = world.rig.version();
    let log = world.rig.upstream.log();
    let received: Vec<u64> = log.iter().map(|write| write.version).filter(|version| (list + 1..=held).contains(version)).collect();
    match received.len().checked_sub(size) {
        None | Some(0) => list,
        Some(gone) => received[gone] - 1,
    }
}

law! {
    law_03_resume_equals_having_watched_since_or_says_410:
    resumed_is_watched_since(
        seed: u64 = any::<u64>(),
        size: usize = 1usize..12,
        watches: Vec<(Vec<Step>, Plan)> = prop::collection::vec((trace(prop_oneof![5 => write(), 3 => time(), 1 => gentle_fault()], 12), plan()), 1..10),
    ) {
        let window = WindowBounds { lower: size, upper: size, ..WindowBounds::default() };
        let world = World::new(Setup { window, ..Setup::seeded(seed) });
        let list = world.rig.version();
        let since_the_start = |selection| Plan { selection, start: StartAt::At(list), ..PLAN };
        let references: Vec<_> = (0..SELECTIONS.len()).map(|selection| world.watch(&since_the_start(selection))).collect();
        let mut resumed = Vec::new();
        for (steps, plan) in &watches {
            world.play(steps);
            if world.rig.resource.with(|cacher| cacher.stats().lists) > 1 {
                break; // a fault was not so gentle after all: a list replaced the history
            }
            let plan = Plan { initial: None, start: match plan.start { StartAt::Unset | StartAt::Zero => StartAt::Back(0), start => start }, ..plan.clone() };
            let watched = world.watch(&plan);
            resumed.push((oldest(&world, list, size), watched));
        }
        world.settle();
        for (oldest, watched) in &resumed {
            let from = watched.from.unwrap();
            let failed = failure(&world.rig.client.streams.borrow()[watched.stream]);
            if from < *oldest {
                let failed = failed.expect("a version that is too old is refused");
                assert_eq!(failed.message, format!("too old resource version: {from} ({oldest})"));
                assert_eq!(failed.status.unwrap().code, 410);
            } else {
                assert_eq!(failed, None);
                let known = world.changes(&references[watched.selection]).into_iter().filter(|event| event.version > from);
                let reached = world.rig.resume_from(watched.stream).unwrap_or(u64::MAX);
                assert_eq!(world.changes(watched), known.filter(|event| event.version <= reached).collect::<Vec<_>>());
            }
        }
    }
}

law! {
    /// The traces of this law keep one list: else the comparison would be empty.
    law_03_resume_through_drops_needs_no_other_list:
    drops_need_no_list(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![2 => write(), 1 => Just(Step::Fault(crate::steps::Fault::Drop))], 30),
    ) {
        let world = World::new(Setup::seeded(seed));
        let watched = world.watch(&PLAN);
        world.play(&steps);
        world.settle();
        assert_eq!(world.rig.resource.with(|cacher| cacher.stats().lists), 1);
        assert_eq!(world.rig.ended(watched.stream), None);
        world.judge_stream(&watched);
    }
}
