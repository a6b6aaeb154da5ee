//! Law 2, order: versions grow for every subscriber, across reconnects, relists and replicas that are behind.

use proptest::prelude::*;
use watchcache::watch::watcher::Demand;

use crate::cases;
use crate::follow::Follower;
use crate::steps::{Step, fault, selection, time, trace, write};
use crate::support::rig::Setup;
use crate::world::World;

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![1 => Just(Demand::None), 2 => Just(Demand::Batch(0)), 1 => Just(Demand::All)]
}

fn steps() -> impl Strategy<Value = Vec<(Step, Demand)>> {
    let step = prop_oneof![4 => write(), 2 => time(), 2 => fault()];
    prop::collection::vec((step, demand()), 1..60)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn law_02_order_holds_across_reconnects_relists_and_stale_replicas(
        seed in any::<u64>(),
        followers in prop::collection::vec((selection(), 1usize..6, demand()), 1..4),
        steps in steps(),
    ) {
        let world = World::new(Setup::seeded(seed));
        let mut followers: Vec<Follower> =
            followers.into_iter().map(|(selection, buffer, demand)| Follower::new(&world, selection, buffer, demand)).collect();
        let mut version = world.rig.version();
        for (step, demand) in &steps {
            world.step(step);
            for follower in &mut followers {
                follower.follow(&world);
                follower.demand(&world, *demand);
            }
            prop_assert!(world.rig.version() >= version);
            version = world.rig.version();
        }
        world.settle();
        for follower in &mut followers {
            follower.finish(&world);
        }
    }

    /// The reflector's own trouble: what `misbehave` does, in its own order, and much of it.
    #[test]
    fn law_02_order_holds_while_everything_misbehaves(seed in any::<u64>(), steps in trace(prop_oneof![write(), time()], 60)) {
        let world = World::new(Setup::seeded(seed));
        // No replica is so far behind that it does not know the pods.
        world.rig.upstream.pass(100);
        let mut follower = Follower::new(&world, 0, 3, Demand::Batch(0));
        for step in &steps {
            world.step(step);
            world.rig.upstream.misbehave();
            follower.follow(&world);
            follower.demand(&world, Demand::Batch(0));
        }
        world.settle();
        follower.finish(&world);
    }
}
