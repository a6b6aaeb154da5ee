//! Law 13, rest: whether objects are packed, and when, changes nothing that anyone can observe.

use std::rc::Rc;

use proptest::prelude::*;
use watchcache::cache::Cacher;
use watchcache::object::Object;
use watchcache::watch::EndReason;

use crate::helpers::client::Heard;
use crate::helpers::rig::{Rows, Setup};
use crate::steps::{Plan, StartAt, Step, plan, time, trace, view, write};
use crate::world::World;

/// What a run showed to its subscribers, and what may be read in the end.
#[derive(Debug, PartialEq)]
struct Seen {
    streams: Vec<(Vec<Heard>, Option<EndReason>, Option<u64>)>,
    rows: Rows,
    past: Vec<(u64, Vec<String>)>,
}

/// When objects are packed.
#[derive(Clone, Copy)]
enum Packing<'p> {
    Never,
    /// All of them after each step.
    Always,
    /// So many after each step, by this list.
    Some(&'p [u8]),
}

fn document(object: &Rc<Object>) -> String {
    let lent = object.lend().to_vec();
    assert_eq!(lent, &*object.text(), "who reads it once reads the same");
    String::from_utf8(lent).unwrap()
}

/// The documents at every version that can be read.
fn past(cacher: &Cacher) -> Vec<(u64, Vec<String>)> {
    let versions = 1..=cacher.version().as_u64().unwrap();
    let states = versions.filter_map(|version| Some((version, cacher.held().state_at(&version.into()).ok()?)));
    states.map(|(version, state)| (version, state.range("", "").map(document).collect())).collect()
}

fn run(seed: u64, steps: &[Step], packing: Packing<'_>) -> Seen {
    let world = World::packing(Setup::seeded(seed), false);
    for (at, step) in steps.iter().enumerate() {
        world.step(step);
        world.rig.run(0);
        world.rig.resource.with(|cacher| match packing {
            Packing::Never => {}
            Packing::Always => cacher.held_mut().pack_all(),
            Packing::Some(counts) => {
                cacher.held_mut().begin_packing();
                let _more = (0..counts[at % counts.len()]).all(|_| cacher.held_mut().pack_resting());
            }
        });
    }
    world.settle();
    let streams = world.rig.client.streams.borrow();
    let streams = streams.iter().map(|stream| (stream.events.clone(), stream.ended, stream.resume_from)).collect();
    Seen { streams, rows: world.rig.rows(), past: world.rig.resource.with(|cacher| past(cacher)) }
}

law! {
    law_13_rest_of_objects_cannot_be_observed:
    rest_is_not_seen(
        seed: u64 = any::<u64>(),
        counts: Vec<u8> = prop::collection::vec(0..12u8, 1..8),
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 2 => time(), 3 => plan().prop_map(at_once), 1 => view()], 50),
    ) {
        let raw = run(seed, &steps, Packing::Never);
        assert_eq!(&run(seed, &steps, Packing::Some(&counts)), &raw);
        assert_eq!(&run(seed, &steps, Packing::Always), &raw);
    }
}

/// A watch that begins when it is opened.
fn at_once(plan: Plan) -> Step {
    let waits = matches!(plan.start, StartAt::Ahead(_) | StartAt::Unset) && plan.initial == Some(true);
    Step::Watch(if waits { Plan { initial: None, ..plan } } else { plan })
}

/// The law would be worth nothing if these traces packed no objects. They do, and the bytes counted are the bytes held.
#[test]
fn objects_at_rest_are_packed_and_counted() {
    let world = World::packing(Setup::seeded(1), false);
    for number in 0..6 {
        for app in 0..3 {
            world.step(&Step::Put(number, 0, app));
            world.rig.run(0);
        }
    }
    world.rig.resource.with(|cacher| {
        let (objects, history, all) = (cacher.store().bytes(), cacher.held().window().bytes(), past(cacher));
        cacher.held_mut().pack_all();
        assert!(cacher.store().iter().all(|object| !object.form().1));
        assert!(cacher.store().bytes() < objects && cacher.held().window().bytes() < history);
        assert_eq!(cacher.store().bytes(), cacher.store().iter().map(|object| object.size()).sum::<usize>());
        assert_eq!(past(cacher), all);
    });
}
