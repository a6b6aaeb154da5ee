//! Law 6, loud loss: nothing is dropped without a word, and the word says where to go on.

use proptest::prelude::*;
use watchcache::cache::cacher::signal;
use watchcache::watch::event::EndReason;
use watchcache::watch::watcher::Demand;

use crate::cases;
use crate::steps::{Plan, StartAt, Step, moody_plan, subscriber, time, trace, write};
use crate::support::model::{SELECTIONS, changes};
use crate::support::rig::Setup;
use crate::world::World;

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn law_06_loss_is_told_and_the_stream_can_be_resumed(
        seed in any::<u64>(),
        steps in trace(prop_oneof![8 => write(), 2 => time(), 2 => moody_plan().prop_map(Step::Watch), 3 => subscriber()], 80),
    ) {
        let world = World::new(Setup::seeded(seed));
        world.play(&steps);
        world.settle();
        world.judge_streams();
        let mut overflows = 0;
        for watched in world.watches() {
            if world.rig.ended(watched.stream) != Some(EndReason::Overflow) {
                continue;
            }
            overflows += 1;
            // Only who stopped in the midst of the initial events knows of no place to go on.
            let Some(reached) = world.rig.resume_from(watched.stream) else { continue };
            let before = world.changes(&watched);
            let resumed = world.watch(&Plan {
                selection: watched.selection, start: StartAt::At(reached), initial: None, bookmarks: false, buffer: None, timeout: None, demand: Demand::All,
            });
            world.rig.run(0);
            let whole: Vec<_> = before.into_iter().chain(world.changes(&resumed)).filter(|event| event.version > watched.from.unwrap()).collect();
            let truth = changes(&world.rig.upstream, &SELECTIONS[watched.selection], watched.from.unwrap(), world.rig.version());
            prop_assert_eq!(whole, truth);
        }
        let terminated = world.rig.resource.with(|cacher| cacher.stats().dispatcher.terminated);
        prop_assert!(terminated >= overflows);
        prop_assert_eq!(terminated > 0, world.rig.client.signals.get() & signal::OVERFLOW != 0);
    }
}
