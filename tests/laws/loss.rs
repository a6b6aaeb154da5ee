//! Law 6, loud loss: nothing is dropped without telling, and what is told says where to go on.

use proptest::prelude::*;
use watchcache::cache::signal;
use watchcache::watch::{EndReason, EventKind, OnOverflow};

use crate::helpers::model::{SELECTIONS, changes};
use crate::helpers::rig::Setup;
use crate::steps::{PLAN, Plan, StartAt, Step, Take, any_plan, moody_plan, subscriber_with, time, trace, write};
use crate::world::{World, expected};

law! {
    law_06_loss_is_told_and_the_stream_can_be_resumed:
    loss_is_told(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 2 => time(), 2 => moody_plan().prop_map(Step::Watch), 3 => subscriber_with(moody_plan())], 60),
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
            // Only a watch that stopped amid its initial events has no place to go on.
            let Some(reached) = world.rig.resume_from(watched.stream) else { continue };
            let before = world.changes(&watched);
            let resumed = world.watch(&Plan { selection: watched.selection, start: StartAt::At(reached), ..PLAN });
            world.rig.run(0);
            let whole: Vec<_> = before.into_iter().chain(world.changes(&resumed)).filter(|event| event.version > watched.from.unwrap()).collect();
            let truth = changes(&world.rig.upstream, &SELECTIONS[watched.selection], watched.from.unwrap(), world.rig.version());
            assert_eq!(whole, truth);
        }
        let terminated = world.rig.resource.with(|cacher| cacher.stats().dispatcher.terminated);
        assert!(terminated >= overflows);
        assert_eq!(terminated > 0, world.rig.client.signals.get() & signal::OVERFLOW != 0);
    }
}

law! {
    /// A watch that skips changes is told so before it hears of later ones. It is told the version up to which it has heard of everything.
    law_06_loss_of_who_resyncs_is_told_before_the_difference:
    skips_are_told(
        seed: u64 = any::<u64>(),
        plans: Vec<Plan> = prop::collection::vec(any_plan(), 1..4),
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 2 => time(), 4 => subscriber_with(moody_plan())], 50),
    ) {
        let world = World::new(Setup::seeded(seed));
        for plan in plans {
            let start = if plan.initial.is_some() { StartAt::Zero } else { plan.start };
            world.step(&Step::Watch(Plan { on_overflow: OnOverflow::Resync, buffer: Some(1), take: Take::Nothing, start, ..plan }));
        }
        world.play(&steps);
        world.settle();
        world.judge_streams();
        let mut told = 0;
        for watched in world.watches() {
            let streams = world.rig.client.streams.borrow();
            let stream = &streams[watched.stream];
            if stream.options.on_overflow != OnOverflow::Resync {
                continue;
            }
            let Some(from) = watched.from else { continue };
            // Up to the first such word nothing is missing; after it, from there on, only what is told is.
            let at = stream.events.iter().position(|event| event.kind == EventKind::Resync);
            let whole: Vec<_> = stream.events[..at.unwrap_or(stream.events.len())].iter().filter(|event| event.is_change()).cloned().collect();
            match at {
                Some(at) => {
                    told += 1;
                    assert_eq!(whole, expected(&world.rig.upstream, &watched, from, stream.events[at].version), "{watched:?}");
                    let after = &stream.events[at..];
                    assert!(after.iter().all(|event| event.version >= after[0].version), "{after:?}");
                }
                None if stream.ended.is_none() && !stream.vanished => {
                    assert_eq!(whole, expected(&world.rig.upstream, &watched, from, world.rig.version()), "{watched:?}");
                }
                None => {}
            }
        }
        assert!(told == 0 || world.rig.client.signals.get() & signal::OVERFLOW != 0);
    }
}
