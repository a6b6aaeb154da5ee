//! Handlers of informers under random traces. Each keeps a mirror of what it was told, and judges at each call that it may be told so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use watchcache::informer::{HandlerId, HandlerOptions, InformerOptions, Notification, NotificationKind};

use crate::helpers::informed::Informed;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::Request;
use crate::steps::{Step, fault, gentle_fault, time, trace, write};
use crate::world::World;

/// After how many steps a handler is done with a notification (0: at once), whether it coalesces, and the bound of its queue.
type Temper = (u8, bool, u8);

#[derive(Default)]
struct Mirror {
    rows: BTreeMap<String, u64>,
    /// The newest version that was ever told of each object.
    newest: BTreeMap<String, u64>,
}

impl Mirror {
    fn take(&mut self, notification: &Notification) {
        let Some(object) = &notification.object else { return }; // it is told that its queue is full
        let (key, version) = (object.key().to_string(), object.version().as_u64().unwrap());
        let held = self.rows.get(&key).copied();
        let old = notification.old.as_ref().map(|old| old.version().as_u64().unwrap());
        match notification.kind {
            NotificationKind::Added | NotificationKind::InitiallyAdded => {
                assert_eq!(held, None, "{notification:?} is known");
                assert!(self.newest.get(&key).is_none_or(|newest| *newest < version), "{notification:?} is old news");
                self.rows.insert(key.clone(), version);
            }
            NotificationKind::Updated => {
                assert_eq!(held, old, "{notification:?} is not the change of what was told last");
                assert!(old < Some(version), "{notification:?} goes back");
                self.rows.insert(key.clone(), version);
            }
            NotificationKind::Resynced => assert_eq!((held, old), (Some(version), Some(version)), "{notification:?} was not told before"),
            NotificationKind::Deleted | NotificationKind::DeletedUnseen => {
                assert!(held.is_some(), "{notification:?} was not told before");
                assert!(held <= Some(version), "{notification:?} goes back");
                self.rows.remove(&key);
            }
            NotificationKind::Overflowed => {}
        }
        self.newest.insert(key, version);
    }
}

struct Joined {
    handler: HandlerId,
    temper: Temper,
    mirror: Rc<RefCell<Mirror>>,
}

fn join(informed: &Informed, temper: Temper) -> Joined {
    let (slow, coalesce, bound) = temper;
    let handler = informed.handler_with(HandlerOptions { coalesce, buffer_size: usize::from(bound), ..HandlerOptions::default() });
    let mirror: Rc<RefCell<Mirror>> = Rc::default();
    let judged = mirror.clone();
    informed.on_call(handler, move |_, notification| {
        judged.borrow_mut().take(notification);
        slow == 0
    });
    Joined { handler, temper, mirror }
}

fn temper() -> impl Strategy<Value = Temper> {
    (0u8..5, any::<bool>(), 0u8..6)
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![8 => write(), 3 => time(), 2 => fault()]
}

law! {
    /// A handler that joins is told the state of that moment, and then every change. Replayed, they give the upstream's state.
    law_01_replay_of_handlers_that_join_at_any_time_misses_nothing:
    joiners_miss_nothing(
        seed: u64 = any::<u64>(),
        relist_updates: bool = any::<bool>(),
        joins: Vec<(Vec<Step>, Temper)> = prop::collection::vec((trace(any_step(), 12), temper()), 1..8),
    ) {
        let world = World::new(Setup::seeded(seed));
        let informed = Informed::over(world.rig.clone(), InformerOptions { relist_updates, ..InformerOptions::default() });
        informed.start();
        let (mut joined, mut count): (Vec<Joined>, usize) = (Vec::new(), 0);
        for (steps, temper) in &joins {
            for step in steps {
                world.step(step);
                count += 1;
                for Joined { handler, temper: (slow, ..), .. } in &joined {
                    if *slow > 0 && count % usize::from(*slow) == 0 {
                        informed.done(*handler);
                    }
                }
            }
            joined.push(join(&informed, *temper));
        }
        world.settle();
        let truth: BTreeMap<String, u64> = world.rig.upstream.state().into_iter().map(|(key, (version, _))| (key, version)).collect();
        for Joined { handler, temper, mirror } in &joined {
            while informed.rig.resource.with(|cacher| cacher.informers().handler(*handler).unwrap().queued()) > 0 {
                informed.done(*handler);
            }
            informed.done(*handler);
            assert_eq!(&mirror.borrow().rows, &truth, "{temper:?}");
            assert!(informed.handler_synced(*handler), "{temper:?}");
        }
    }
}

type Heard = (Vec<Vec<String>>, Vec<bool>);

fn heard_by_good(seed: u64, joins: usize, steps: &[Step], bad: Option<&[(Temper, bool)]>) -> Heard {
    let world = World::new(Setup::seeded(seed));
    let informed = Informed::over(world.rig.clone(), InformerOptions::default());
    informed.start();
    let mut good = Vec::new();
    let mut others: Vec<HandlerId> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        world.rig.run(0);
        if let Some((temper, goes)) = bad.and_then(|bad| bad.get(index)) {
            others.push(join(&informed, *temper).handler);
            if *goes {
                informed.remove(others.swap_remove(index % others.len()));
            }
        }
        if good.len() < joins {
            good.push(join(&informed, (0, false, 0)).handler);
            world.rig.run(0);
        }
        world.step(step);
        // A handler that is done hears the next notification at once, as when no handler is slow.
        world.rig.run(0);
        if let Some(handler) = others.get(index % 7) {
            informed.done(*handler);
        }
    }
    world.rig.heal();
    world.rig.run(5000);
    let asked = world.rig.upstream.requests.borrow().iter().map(Request::is_list).collect();
    (good.into_iter().map(|handler| informed.heard(handler)).collect(), asked)
}

law! {
    law_05_isolation_of_handlers_from_each_other:
    handlers_change_nothing_for_others(
        seed: u64 = any::<u64>(),
        joins: usize = 1usize..5,
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 3 => time(), 1 => gentle_fault()], 40),
        bad: Vec<(Temper, bool)> = prop::collection::vec((temper(), any::<bool>()), 1..30),
    ) {
        let alone = heard_by_good(seed, joins, &steps, None);
        assert_eq!(heard_by_good(seed, joins, &steps, Some(&bad)), alone);
    }
}

law! {
    law_07_rows_stay_for_handlers_who_hear_of_no_fault:
    handlers_hear_of_no_fault(
        seed: u64 = any::<u64>(),
        page_size: u32 = 0u32..4,
        steps: Vec<Step> = trace(prop_oneof![1 => (1u64..4).prop_map(Step::Pass), 3 => time(), 4 => fault()], 40),
    ) {
        let world = World::new(Setup { page_size, ..Setup::seeded(seed) });
        // No replica is so far behind that it does not know the pods.
        world.rig.upstream.pass(100);
        world.rig.upstream.bookmark();
        let informed = Informed::over(world.rig.clone(), InformerOptions::default());
        informed.start();
        let handler = informed.handler();
        let rows = informed.heard(handler).len();
        assert_eq!(rows, world.rig.rows().len());
        for step in &steps {
            world.step(step);
            assert_eq!(informed.list("").len(), rows);
        }
        world.settle();
        assert_eq!(informed.heard(handler), [""; 0]);
    }
}
