//! Law 4, split: how bytes are cut, lists are paged and events come together changes nothing that can be observed.

use proptest::prelude::*;
use watchcache::status::ErrorCode;
use watchcache::watch::EndReason;

use crate::helpers::client::{Heard, Stream};
use crate::helpers::rig::{Rows, Setup};
use crate::steps::{Plan, StartAt, Step, fault, plan, time, trace, view, write};
use crate::world::World;

/// What a stream brought, how it ended, where it goes on, and what it was refused with.
type Shown = (Vec<Heard>, Option<EndReason>, Option<u64>, Option<ErrorCode>);

/// What a run showed to its subscribers.
#[derive(Debug, PartialEq)]
struct Seen {
    streams: Vec<Shown>,
    rows: Rows,
}

fn run(seed: u64, steps: &[Step], page_size: u32, chunk: usize, together: bool) -> Seen {
    let world = World::idle(Setup { page_size, pace: 0, ..Setup::seeded(seed) });
    world.rig.upstream.chunk.set(chunk);
    world.rig.resource.start();
    world.rig.run(0);
    // All is quiet once there is nothing to do: so the relay, where there is one, waits for nothing.
    let mut quiet = true;
    for step in steps {
        // Writes may come together. Every other step is made when all is quiet, so that it means the same.
        let write = matches!(step, Step::Put(..) | Step::Delete(_) | Step::Pass(_));
        if !(together && write && quiet) {
            world.rig.run(0);
        }
        quiet = write;
        world.step(step);
    }
    world.rig.run(0);
    world.settle();
    let streams = world.rig.client.streams.borrow();
    let code = |stream: &Stream| stream.refusal.as_ref().map(|error| error.code);
    let streams = streams.iter().map(|stream| (stream.events.clone(), stream.ended, stream.resume_from, code(stream))).collect();
    Seen { streams, rows: world.rig.rows() }
}

law! {
    law_04_split_of_bytes_pages_and_batches_cannot_be_observed:
    splits_are_not_seen(
        seed: u64 = any::<u64>(),
        page_size: u32 = 1u32..5,
        chunk: usize = 1usize..400,
        steps: Vec<Step> = trace(prop_oneof![6 => write(), 2 => time(), 2 => plan().prop_map(at_once), 1 => view(), 1 => calm_fault()], 40),
    ) {
        let whole = run(seed, &steps, 0, 1 << 20, false);
        assert_eq!(&run(seed, &steps, 0, 1 << 20, true), &whole);
        assert_eq!(&run(seed, &steps, 0, chunk, false), &whole);
        let paged = run(seed, &steps, page_size, chunk, true);
        assert_eq!(paged.rows, whole.rows);
        // Changes during a list of several pages are part of that list, and the window begins behind it. Also, the fault may hit the watch
        // beside that list instead. So streams that begin later may be told 410 there.
        if !steps.iter().any(|step| matches!(step, Step::Fault(_))) {
            assert_eq!(paged, whole);
        }
    }
}

/// A watch that begins when it is opened: one that waits for a version begins with the state that it finds then.
fn at_once(plan: Plan) -> Step {
    let waits = matches!(plan.start, StartAt::Ahead(_) | StartAt::Unset) && plan.initial == Some(true);
    Step::Watch(if waits { Plan { initial: None, ..plan } } else { plan })
}

/// Faults that are over, or have the same effect, however lists are paged. A page that fails may be one of several, or the whole list.
fn calm_fault() -> impl Strategy<Value = Step> {
    use crate::steps::Fault::{BrokenFrame, CutList, ForeignPage, RefuseList};
    fault().prop_filter("pages are counted", |step| !matches!(step, Step::Fault(BrokenFrame | CutList(_) | ForeignPage | RefuseList)))
}
