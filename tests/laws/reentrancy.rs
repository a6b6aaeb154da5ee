//! Law 9, re-entrancy: a callback may do anything to the cache, and harms nobody by it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use proptest::prelude::*;
use watchcache::cache::Resource;
use watchcache::watch::EndReason;

use crate::helpers::rig::Setup;
use crate::steps::{Step, any_step, fault, moody_plan, own_write, plan, read, subscriber, time, trace, view, write};
use crate::world::World;

/// What a callback does, if anything.
fn act() -> impl Strategy<Value = Option<Step>> {
    let steps = prop_oneof![
        3 => write(),
        4 => moody_plan().prop_map(Step::Watch),
        2 => plan().prop_map(Step::Watch),
        6 => subscriber(),
        2 => view(),
        2 => read(),
        1 => own_write(),
        1 => Just(Step::Refresh),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
    ];
    prop::option::weighted(0.75, steps)
}

/// Does the next act at each call.
fn install(world: &Rc<World>, acts: Vec<Option<Step>>) {
    let acts = RefCell::new(VecDeque::from(acts));
    let world: Weak<World> = Rc::downgrade(world);
    let client = world.upgrade().unwrap().rig.client.clone();
    *client.between.borrow_mut() = Some(Rc::new(move |_: &Rc<Resource>| {
        let (Some(act), Some(world)) = (acts.borrow_mut().pop_front(), world.upgrade()) else { return };
        if let Some(step) = act {
            world.step(&step);
        }
    }));
}

law! {
    law_09_reentrancy_of_callbacks_keeps_order_and_borrows_nothing_twice:
    callbacks_harm_nobody(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![6 => write(), 3 => time(), 3 => plan().prop_map(Step::Watch), 1 => fault()], 40),
        acts: Vec<Option<Step>> = prop::collection::vec(act(), 0..60),
    ) {
        let world = Rc::new(World::new(Setup::seeded(seed)));
        install(&world, acts);
        world.play(&steps);
        world.rig.run(0);
        *world.rig.client.between.borrow_mut() = None;
        world.settle();
        world.judge_streams();
    }
}

law! {
    /// Closed in the midst of a flush: every stream ends as closed, and nothing comes after.
    law_09_reentrancy_a_close_in_a_callback_is_the_last_word:
    a_close_is_the_last_word(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(any_step(), 40),
        more: Vec<Step> = trace(prop_oneof![write(), time()], 20),
        at: usize = 0usize..20,
    ) {
        // A relay outlives who asks it.
        let world = Rc::new(World::direct(Setup::seeded(seed)));
        let calls = Rc::new(RefCell::new(0));
        let counted = calls.clone();
        *world.rig.client.between.borrow_mut() = Some(Rc::new(move |resource: &Rc<Resource>| {
            *counted.borrow_mut() += 1;
            if *counted.borrow() == at {
                resource.close();
            }
        }));
        world.play(&steps);
        world.rig.resource.close();
        world.rig.run(0);
        for watched in world.watches() {
            world.rig.demand(watched.stream, watchcache::watch::Demand::All);
        }
        world.rig.run(0);
        world.judge_streams();
        for stream in world.rig.client.streams.borrow().iter() {
            assert!(stream.vanished || stream.ended.is_some());
        }
        let (rows, version, flushes) = (world.rig.rows(), world.rig.version(), world.rig.client.flushes.get());
        world.play(&more);
        world.rig.run(600_000);
        assert_eq!((world.rig.rows(), world.rig.version(), world.rig.client.flushes.get()), (rows, version, flushes));
        assert_eq!(world.rig.upstream.connections(), 0);
        let late = world.rig.watch(watchcache::watch::WatchOptions::default());
        assert_eq!(world.rig.ended(late), Some(EndReason::Error));
        assert_eq!(world.rig.refusal(late).unwrap().code, watchcache::status::ErrorCode::Closed);
    }
}
