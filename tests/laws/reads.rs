//! Law 1 for single requests. A list is exactly the state at its version, and so is a get. A write is held by the time it is answered.

use proptest::prelude::*;
use watchcache::store::WindowBounds;

use crate::helpers::rig::Setup;
use crate::steps::{Ask, Match, StartAt, Step, ask, calm_step, compaction, own_write, read, time, trace, write};
use crate::world::World;

fn window(size: usize) -> WindowBounds {
    WindowBounds { lower: size, upper: size, ..WindowBounds::default() }
}

law! {
    /// Nothing fails upstream, so each failure is the request's own: a version that is forgotten, or that has not come.
    law_01_replay_holds_for_lists_gets_and_writes:
    answers_are_true(
        seed: u64 = any::<u64>(),
        page_size: u32 = 0u32..4,
        size: usize = 1usize..30,
        progress: bool = any::<bool>(),
        steps: Vec<Step> = trace(prop_oneof![6 => write(), 3 => own_write(), 4 => time(), 6 => read(), 1 => compaction()], 50),
    ) {
        let world = World::calm(Setup { page_size, window: window(size), ..Setup::seeded(seed) });
        world.rig.upstream.tells_progress.set(progress);
        world.play(&steps);
        world.settle();
        let lists = world.rig.resource.with(|cacher| cacher.stats().lists);
        // A watch that ends just when its version is forgotten, before a bookmark came, has none to go on from.
        let gone = world.rig.upstream.compaction.refused.get() as u64;
        // Where another resource stands between, that one lists, and what it still knows leads on.
        let fewest = if world.rig.channel.is_some() { 1 } else { 1 + gone };
        assert!((fewest..=1 + gone).contains(&lists), "{lists} lists in calm weather, where {gone} versions were gone");
    }
}

law! {
    law_01_replay_of_every_page_is_one_state_while_writes_go_on:
    pages_are_one_state(
        seed: u64 = any::<u64>(),
        asks: Vec<(Ask, Vec<Step>)> = prop::collection::vec((ask(), trace(prop_oneof![4 => write(), 1 => time()], 8)), 1..6),
    ) {
        let world = World::calm(Setup::seeded(seed));
        for (ask, steps) in &asks {
            // Every ask has pages, and time passes between them.
            world.step(&Step::List(Ask { limit: ask.limit.max(1), pause: 10, ..ask.clone() }));
            for step in steps {
                world.rig.run(5);
                world.step(step);
            }
        }
        world.settle();
        let answers = &world.asking.answers;
        let future = asks.iter().filter(|(ask, _)| matches!(ask.at, StartAt::Ahead(_))).count();
        // No version is forgotten here: only one that does not come is refused.
        assert!(answers.lists.get() + future >= asks.len(), "{answers:?}");
    }
}

law! {
    /// Each index is compared with a scan at every flush; and a list that an index serves with one that none does.
    law_01_replay_indexes_hold_what_a_scan_finds:
    indexes_are_scans(
        seed: u64 = any::<u64>(),
        steps: Vec<(Step, usize)> = prop::collection::vec((prop_oneof![4 => calm_step(), 1 => crate::steps::fault()], 0..crate::helpers::model::SELECTIONS.len()), 1..40),
    ) {
        let world = World::new(Setup::seeded(seed));
        for (step, selection) in &steps {
            world.step(step);
            world.rig.run(0);
            let held = Ask { selection: *selection, at: StartAt::Zero, kind: Match::Unsaid, limit: 0, pause: 0 };
            world.step(&Step::List(held));
        }
        world.settle();
        assert!(world.asking.answers.lists.get() > 0);
    }
}

/// The traces do reach the rare reads: further pages of the past, objects that are not there, versions that are gone or to come.
#[test]
fn the_traces_ask_for_everything() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let traces = trace(prop_oneof![6 => write(), 3 => own_write(), 4 => time(), 6 => read(), 1 => compaction()], 50);
    let (mut seen, mut failures) = ([0; 6], std::collections::BTreeMap::new());
    for seed in 0..60 {
        let world = World::calm(Setup { window: window(8), ..Setup::seeded(seed) });
        world.play(&traces.new_tree(&mut runner).unwrap().current());
        world.settle();
        let answers = &world.asking.answers;
        let counts = [&answers.pages, &answers.lists, &answers.past, &answers.objects, &answers.writes, &answers.not_found];
        seen.iter_mut().zip(counts).for_each(|(seen, count)| *seen += count.get());
        for (code, count) in answers.failures.borrow().iter() {
            *failures.entry(*code).or_insert(0) += count;
        }
    }
    assert!(seen.iter().all(|count| *count >= 30), "{seen:?}");
    assert_eq!(failures.keys().collect::<Vec<_>>(), [&404, &409, &410, &504], "{failures:?}");
}
