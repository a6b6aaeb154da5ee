//! Law 1, replay: at every version the store is the list with the changes replayed. What each watcher hears gives the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::helpers::rig::Setup;
use crate::steps::{Step, any_step, trace};
use crate::world::World;

law! {
    law_01_replay_holds_for_store_views_and_watchers_of_every_kind:
    all_is_a_replay(
        seed: u64 = any::<u64>(),
        page_size: u32 = 0u32..4,
        begins: bool = any::<bool>(),
        watch_list: bool = prop::bool::weighted(0.3),
        steps: Vec<Step> = trace(any_step(), 60),
    ) {
        let setup = Setup { page_size, watch_list, ..Setup::seeded(seed) };
        let world = if begins { World::new(setup) } else { World::idle(setup) };
        world.rig.resource.start();
        world.play(&steps);
        world.settle();
        world.judge_streams();
    }
}

/// The traces reach what they are meant to reach: every way of ending, every kind of event, relists, full windows and views.
#[test]
fn the_traces_are_rough_enough() {
    let mut runner = TestRunner::deterministic();
    let traces = trace(any_step(), 60);
    let mut ends = [0; 6];
    let mut kinds = [0; 7];
    let (mut relists, mut resumed) = (0, 0);
    let (mut asked, mut failures) = ([0; 5], BTreeMap::<u16, usize>::new());
    for seed in 0..200 {
        let world = World::new(Setup::seeded(seed));
        world.play(&traces.new_tree(&mut runner).unwrap().current());
        world.settle();
        for stream in world.rig.client.streams.borrow().iter() {
            ends[stream.ended.map_or(5, |reason| reason as usize)] += 1;
            stream.events.iter().for_each(|event| kinds[event.kind as usize] += 1);
        }
        let answers = &world.asking.answers;
        for (seen, more) in asked.iter_mut().zip([&answers.lists, &answers.past, &answers.objects, &answers.writes, &answers.not_found]) {
            *seen += more.get();
        }
        for (code, count) in answers.failures.borrow().iter() {
            *failures.entry(*code).or_default() += count;
        }
        relists += world.rig.resource.with(|cacher| cacher.stats().lists) - 1;
        resumed += world.rig.upstream.requests.borrow().iter().filter(|request| !request.is_list()).count();
    }
    // Nothing closes these resources, so that place counts the streams that stayed open.
    assert!(ends.iter().all(|count| *count >= 5), "{ends:?}");
    assert!(kinds.iter().all(|count| *count >= 20), "{kinds:?}");
    assert!(asked.iter().all(|count| *count >= 20), "{asked:?}");
    assert!([404, 409, 410, 504].iter().all(|code| failures.contains_key(code)), "{failures:?}");
    assert!(relists >= 50 && resumed >= 200, "{relists} {resumed}");
}
