//! Law 1, replay: the store is the list with the changes replayed, at every version, and so is what each watcher hears.

use proptest::prelude::*;

use crate::cases;
use crate::steps::{any_step, trace};
use crate::support::rig::Setup;
use crate::world::World;

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn law_01_replay_holds_for_store_views_and_watchers_of_every_kind(
        seed in any::<u64>(),
        page_size in 0u32..4,
        begins in any::<bool>(),
        steps in trace(any_step(), 60),
    ) {
        let setup = Setup { page_size, ..Setup::seeded(seed) };
        let world = if begins { World::new(setup) } else { World::idle(setup) };
        world.rig.resource.start();
        world.play(&steps);
        world.settle();
        world.judge_streams();
    }
}
