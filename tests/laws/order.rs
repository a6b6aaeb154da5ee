//! Law 2, order: versions grow for every subscriber, across reconnects, relists and replicas that are behind.

use proptest::prelude::*;

use crate::follow::Follower;
use crate::helpers::rig::Setup;
use crate::steps::{Step, Take, fault, selection, time, trace, write};
use crate::world::World;

fn demand() -> impl Strategy<Value = Take> {
    prop_oneof![1 => Just(Take::Everything), 2 => Just(Take::Batch), 1 => Just(Take::Nothing)]
}

fn steps() -> impl Strategy<Value = Vec<(Step, Take)>> {
    let step = prop_oneof![4 => write(), 2 => time(), 2 => fault()];
    prop::collection::vec((step, demand()), 1..60)
}

law! {
    law_02_order_holds_across_reconnects_relists_and_stale_replicas:
    followers_see_order(
        seed: u64 = any::<u64>(),
        followers: Vec<(usize, usize, Take)> = prop::collection::vec((selection(), 1usize..6, demand()), 1..4),
        steps: Vec<(Step, Take)> = steps(),
    ) {
        let world = World::new(Setup::seeded(seed));
        let mut followers: Vec<Follower> =
            followers.into_iter().map(|(selection, buffer, demand)| Follower::new(&world, selection, buffer, demand)).collect();
        let mut version = world.rig.version();
        for (step, demand) in &steps {
            world.step(step);
            for follower in &mut followers {
                follower.follow(&world);
                follower.take(&world, *demand);
            }
            assert!(world.rig.version() >= version);
            version = world.rig.version();
        }
        world.settle();
        for follower in &mut followers {
            follower.finish(&world);
        }
    }
}

law! {
    /// Much of the trouble that the reflector's own tests make (`misbehave`), in its own order.
    law_02_order_holds_while_everything_misbehaves:
    a_follower_sees_order(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![write(), time()], 60),
    ) {
        let world = World::new(Setup::seeded(seed));
        // No replica is so far behind that it does not know the pods.
        world.rig.upstream.pass(100);
        let mut follower = Follower::new(&world, 0, 3, Take::Batch);
        for step in &steps {
            world.step(step);
            world.rig.upstream.misbehave();
            follower.follow(&world);
            follower.take(&world, Take::Batch);
        }
        world.settle();
        follower.finish(&world);
    }
}
