//! Law 5, isolation: what slow, stopping and vanishing subscribers do changes nothing for others, nor for the upstream.

use proptest::prelude::*;
use watchcache::source::{ListRequest, WatchRequest};
use watchcache::watch::EndReason;

use crate::helpers::client::Heard;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::Request;
use crate::steps::{Ask, Match, Plan, StartAt, Step, any_plan, ask, gentle_fault, plan, subscriber, time, trace, view, write};
use crate::world::World;

#[derive(Debug, PartialEq)]
struct Seen {
    streams: Vec<(Vec<Heard>, Option<EndReason>, Option<u64>)>,
    view: Vec<String>,
    asked: Vec<(Option<ListRequest>, Option<WatchRequest>)>,
    version: u64,
}

fn run(seed: u64, good: &[Plan], steps: &[Step], bad: Option<&[Vec<Step>]>) -> Seen {
    let world = World::new(Setup::seeded(seed));
    world.view(0);
    let mut watched = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        // The well-behaved watches begin one after the other amid the others' steps. Only they are judged.
        if let Some(plan) = good.get(index) {
            world.rig.run(0);
            watched.push(world.watch(plan));
        }
        if let Some(bad) = bad.and_then(|bad| bad.get(index % bad.len())) {
            world.play(bad);
        }
        world.step(step);
    }
    world.rig.heal();
    world.rig.run(5000);
    let streams = world.rig.client.streams.borrow();
    let streams = watched.iter().map(|watched| {
        let stream = &streams[watched.stream];
        (stream.changes(), stream.ended, stream.resume_from)
    });
    let asked = world
        .rig
        .upstream
        .requests
        .borrow()
        .iter()
        .map(|request| match request {
            Request::List(_, list) => (Some(list.clone()), None),
            Request::Watch(_, watch) => (None, Some(watch.clone())),
        })
        .collect();
    let all = world.rig.view(&watchcache::view::ViewOptions::default());
    Seen { streams: streams.collect(), view: world.rig.view_rows(all), asked, version: world.rig.version() }
}

/// Initial events at the upstream's version ask the upstream for it. Every watch may make that request, and it shows in the log.
fn without_upstream(plan: Plan) -> Plan {
    Plan { initial: None, ..plan }
}

/// A list of what is held, which asks nobody.
fn held_list() -> impl Strategy<Value = Step> {
    ask().prop_map(|ask| Step::List(Ask { at: StartAt::Zero, kind: Match::Unsaid, ..ask }))
}

fn bad() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![2 => any_plan().prop_map(Step::Watch), 3 => subscriber(), 1 => view(), 1 => held_list()];
    let step = step.prop_map(|step| match step {
        Step::Watch(plan) => Step::Watch(without_upstream(plan)),
        step => step,
    });
    prop::collection::vec(step, 0..4)
}

law! {
    law_05_isolation_of_subscribers_from_each_other_and_the_source_from_all:
    others_change_nothing(
        seed: u64 = any::<u64>(),
        good: Vec<Plan> = prop::collection::vec(plan(), 1..5),
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 3 => time(), 1 => gentle_fault()], 50),
        bad: Vec<Vec<Step>> = prop::collection::vec(bad(), 1..20),
    ) {
        let good: Vec<Plan> = good.into_iter().map(without_upstream).collect();
        let alone = run(seed, &good, &steps, None);
        assert_eq!(&run(seed, &good, &steps, Some(&bad)), &alone);
    }
}
