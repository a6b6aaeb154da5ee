//! Law 7, rows stay: no fault of the connection takes a row from a view, or even touches one.

use proptest::prelude::*;

use crate::cases;
use crate::steps::{Step, fault, time, trace};
use crate::support::model::SELECTIONS;
use crate::support::rig::Setup;
use crate::world::World;

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn law_07_rows_stay_through_all_trouble(
        seed in any::<u64>(),
        page_size in 0u32..4,
        steps in trace(prop_oneof![1 => (1u64..4).prop_map(Step::Pass), 3 => time(), 4 => fault()], 40),
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
            prop_assert_eq!(&world.rig.rows(), &rows);
        }
        world.settle();
        prop_assert_eq!(&world.rig.rows(), &rows);
        prop_assert_eq!(&*world.rig.client.views.borrow(), &[0u32; 0], "no view heard of a change");
    }
}
