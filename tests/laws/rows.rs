//! Law 7, rows stay: no fault of the connection takes a row from a view, or even touches one.

use proptest::prelude::*;

use crate::helpers::model::SELECTIONS;
use crate::helpers::rig::Setup;
use crate::steps::{Step, fault, time, trace};
use crate::world::World;

law! {
    law_07_rows_stay_through_all_trouble:
    rows_stay(
        seed: u64 = any::<u64>(),
        page_size: u32 = 0u32..4,
        steps: Vec<Step> = trace(prop_oneof![1 => (1u64..4).prop_map(Step::Pass), 3 => time(), 4 => fault()], 40),
    ) {
        let world = World::new(Setup { page_size, ..Setup::seeded(seed) });
        // No replica is so far behind that it does not know the pods.
        world.rig.upstream.pass(100);
        world.rig.upstream.bookmark();
        for selection in 0..SELECTIONS.len() {
            world.view(selection);
        }
        let rows = world.rig.rows();
        for step in &steps {
            world.step(step);
            assert_eq!(&world.rig.rows(), &rows);
        }
        world.settle();
        assert_eq!(&world.rig.rows(), &rows);
        assert_eq!(&*world.rig.client.views.borrow(), &[], "no view heard of a change");
    }
}
