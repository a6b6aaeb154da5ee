//! Law 9, re-entrancy: whoever is called may do anything to the cache in that call, and harms nobody by it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use proptest::prelude::*;
use watchcache::cache::list::List;
use watchcache::cache::list::options::ListOptions;
use watchcache::cache::resource::Resource;
use watchcache::runtime::Spawn;
use watchcache::watch::event::EndReason;

use crate::steps::{Step, any_step, fault, moody_plan, plan, subscriber, time, trace, view, write};
use crate::support::rig::Setup;
use crate::world::World;

/// What a callback does.
#[derive(Clone, Debug)]
enum Act {
    Step(Step),
    List(Option<u64>),
    Get(u8),
    Nothing,
}

fn act() -> impl Strategy<Value = Act> {
    let steps = prop_oneof![
        4 => moody_plan().prop_map(Step::Watch),
        2 => plan().prop_map(Step::Watch),
        6 => subscriber(),
        2 => view(),
        3 => write(),
        1 => Just(Step::Refresh),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
    ];
    prop_oneof![
        6 => steps.prop_map(Act::Step),
        1 => prop::option::of(0u64..3).prop_map(Act::List),
        1 => (0u8..8).prop_map(Act::Get),
        6 => Just(Act::Nothing),
    ]
}

/// Does the next act at each call.
fn install(world: &Rc<World>, acts: Vec<Act>) {
    let acts = RefCell::new(VecDeque::from(acts));
    let world: Weak<World> = Rc::downgrade(world);
    let client = world.upgrade().unwrap().rig.client.clone();
    *client.between.borrow_mut() = Some(Rc::new(move |resource: &Rc<Resource>| {
        let (Some(act), Some(world)) = (acts.borrow_mut().pop_front(), world.upgrade()) else { return };
        match act {
            Act::Nothing => {}
            Act::Step(step) => world.step(&step),
            Act::List(version) => {
                let options =
                    ListOptions { resource_version: version.map(|version| version.to_string()), wait: true, ..ListOptions::default() };
                let (list, upstream) = (resource.clone().list(options), world.rig.upstream.clone());
                world.rig.time.spawn(Box::pin(async move {
                    // It fails when the upstream does; what it gives is true.
                    if let Ok(List { objects, version, .. }) = list.await {
                        let truth = upstream.state_at(version.as_u64().unwrap());
                        assert!(objects.iter().map(|object| object.key().to_string()).eq(truth.into_keys()), "a list at {version:?}");
                    }
                }));
            }
            Act::Get(number) => {
                let key = format!("ns{}/pod{number}", number % 3);
                let get = resource.clone().get(key.clone(), Some("0".into()));
                world.rig.time.spawn(Box::pin(async move {
                    if let Ok(found) = get.await {
                        assert_eq!(**found.key(), *key);
                    }
                }));
            }
        }
    }));
}

law! {
    law_09_reentrancy_of_callbacks_keeps_order_and_borrows_nothing_twice:
    callbacks_harm_nobody(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![6 => write(), 3 => time(), 3 => plan().prop_map(Step::Watch), 1 => fault()], 40),
        acts: Vec<Act> = prop::collection::vec(act(), 0..60),
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
        let world = Rc::new(World::new(Setup::seeded(seed)));
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
            world.rig.demand(watched.stream, watchcache::watch::watcher::Demand::All);
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
        let late = world.rig.watch(watchcache::watch::options::WatchOptions::default());
        assert_eq!(world.rig.ended(late), Some(EndReason::Error));
        assert_eq!(world.rig.refusal(late).unwrap().code, watchcache::status::ErrorCode::Closed);
    }
}
