//! Laws 1, 2 and 3 for watchers and handlers that want to hear of some fields only. Of updates they hear of those that change one.
//!
//! The model looks at every update, and compares the values before and after it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use watchcache::informer::{HandlerOptions, HandlerRequest, InformerOptions, NotificationKind};
use watchcache::store::WindowBounds;
use watchcache::watch::EventKind;

use crate::helpers::informed::Informed;
use crate::helpers::model::{WISHES, Wish};
use crate::helpers::rig::Setup;
use crate::steps::{PLAN, Plan, StartAt, Step, any_plan, fault, gentle_fault, plan, subscriber_with, time, trace, wishing, write};
use crate::world::{Watched, World, began, expected};

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![12 => write(), 6 => time(), 8 => subscriber_with(wishing(any_plan())), 2 => fault()]
}

law! {
    law_01_replay_of_who_hears_of_some_fields_only:
    some_fields_are_a_replay(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(any_step(), 60),
    ) {
        let world = World::new(Setup::seeded(seed));
        world.play(&steps);
        world.settle();
        world.judge_streams();
    }
}

law! {
    /// What is held back is no gap: at a bookmark everything wanted was told, and a watch from there hears the rest.
    law_03_resume_at_a_bookmark_over_what_was_held_back:
    bookmarks_go_on_over_what_is_held_back(
        seed: u64 = any::<u64>(),
        wish: usize = 0..WISHES.len(),
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 4 => time()], 60),
    ) {
        let world = World::new(Setup::seeded(seed));
        let watched = world.watch(&Plan { wish: Some(wish), bookmarks: true, ..PLAN });
        world.play(&steps);
        // By then a bookmark is due, behind a relay, too.
        world.rig.run(140_000);
        world.settle();
        let (from, upstream) = (watched.from.unwrap(), &world.rig.upstream);
        let events: Vec<_> = world.rig.client.streams.borrow()[watched.stream].events.clone();
        let mut bookmarks = 0;
        for (at, bookmark) in events.iter().enumerate().filter(|(_, event)| event.kind == EventKind::Bookmark) {
            let before: Vec<_> = events[..at].iter().filter(|event| event.is_change()).cloned().collect();
            assert_eq!(before, expected(upstream, &watched, from, bookmark.version), "before {bookmark:?}");
            let resumed = world.watch(&Plan { wish: Some(wish), start: StartAt::At(bookmark.version), ..PLAN });
            world.rig.run(10);
            assert_eq!(world.changes(&resumed), expected(upstream, &resumed, bookmark.version, world.rig.version()), "from {bookmark:?}");
            bookmarks += 1;
        }
        assert!(bookmarks > 0 || world.rig.version() == from, "none came");
    }
}

law! {
    law_03_resume_with_an_interest_equals_having_watched_since:
    resumed_with_an_interest(
        seed: u64 = any::<u64>(),
        size: usize = 4usize..12,
        watches: Vec<(Vec<Step>, Plan)> = prop::collection::vec((trace(prop_oneof![5 => write(), 3 => time(), 1 => gentle_fault()], 12), wishing(plan())), 1..10),
    ) {
        let window = WindowBounds { lower: size, upper: size, ..WindowBounds::default() };
        let world = World::new(Setup { window, ..Setup::seeded(seed) });
        let mut resumed: Vec<Watched> = Vec::new();
        for (steps, plan) in &watches {
            world.play(steps);
            let start = match plan.start { StartAt::Unset | StartAt::Zero => StartAt::Back(0), start => start };
            resumed.push(world.watch(&Plan { initial: None, start, ..plan.clone() }));
        }
        world.settle();
        resumed.iter().for_each(|watched| world.judge_stream(watched));
    }
}

law! {
    /// Whatever is merged away, a handler has the values that it asked for in the end. Each update that it is told changes one of them.
    law_01_replay_of_handlers_that_hear_of_some_fields_only:
    handlers_of_some_fields(
        seed: u64 = any::<u64>(),
        wish: usize = 0..WISHES.len(),
        slow: usize = 0usize..4,
        coalesce: bool = any::<bool>(),
        bound: usize = 0usize..6,
        steps: Vec<Step> = trace(prop_oneof![8 => write(), 3 => time(), 1 => fault()], 40),
    ) {
        let world = World::new(Setup::seeded(seed));
        let informed = Informed::over(world.rig.clone(), InformerOptions::default());
        informed.start();
        let wish = WISHES[wish];
        let (handler, mirror) = wishing_handler(&informed, wish, slow, coalesce, bound);
        for (count, step) in steps.iter().enumerate() {
            world.step(step);
            if slow > 0 && count % slow == 0 {
                informed.done(handler);
            }
        }
        world.settle();
        while informed.rig.resource.with(|cacher| cacher.informers().handler(handler).unwrap().queued()) > 0 {
            informed.done(handler);
        }
        let truth: BTreeMap<String, String> = world.rig.upstream.state().into_iter().map(|(key, (_, row))| (key, told(wish, &row))).collect();
        assert_eq!(*mirror.borrow(), truth);
    }
}

fn told(wish: Wish, document: &str) -> String {
    format!("{:?}", wish.of(document))
}

type Mirror = Rc<RefCell<BTreeMap<String, String>>>;

/// A handler that judges each update: it must change what the handler had.
fn wishing_handler(
    informed: &Informed,
    wish: Wish,
    slow: usize,
    coalesce: bool,
    bound: usize,
) -> (watchcache::informer::HandlerId, Mirror) {
    let request = HandlerRequest { changes_of: Some(wish.paths()), coalesce, buffer_size: Some(bound), ..HandlerRequest::default() };
    let options: HandlerOptions = informed.rig.resource.with(|cacher| request.read(&mut cacher.fields().borrow_mut()).unwrap());
    let handler = informed.handler_with(options);
    let mirror: Mirror = Rc::default();
    let judged = mirror.clone();
    informed.on_call(handler, move |_, notification| {
        let Some(object) = &notification.object else { return slow == 0 };
        let (key, values) = (object.key().to_string(), told(wish, std::str::from_utf8(&object.text()).unwrap()));
        let mut rows = judged.borrow_mut();
        if notification.kind.is_deletion() {
            assert!(rows.remove(&key).is_some(), "{notification:?} was not told before");
        } else {
            let before = rows.insert(key, values.clone());
            assert_eq!(before.is_some(), notification.kind == NotificationKind::Updated, "{notification:?}");
            assert!(before.is_none_or(|before| before != values), "{notification:?} changes nothing that is wanted");
        }
        slow == 0
    });
    (handler, mirror)
}

/// The traces hold back, merge, and bring back what was merged away.
#[test]
fn the_traces_hold_back() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let traces = trace(any_step(), 60);
    let (mut heard, mut held_back, mut skipping) = (0, 0, 0);
    for seed in 0..120 {
        let world = World::new(Setup::seeded(seed));
        world.play(&traces.new_tree(&mut runner).unwrap().current());
        world.settle();
        for watched in world.watches().into_iter().filter(|watched| watched.wish.is_some()) {
            let streams = world.rig.client.streams.borrow();
            let stream = &streams[watched.stream];
            let Some(from) = began(&watched, stream).filter(|_| stream.ended.is_none() && !stream.vanished) else { continue };
            let all = expected(&world.rig.upstream, &Watched { wish: None, ..watched.clone() }, from, world.rig.version());
            heard += stream.changes().len();
            held_back += all.len().saturating_sub(stream.changes().len());
            skipping += usize::from(stream.options.on_overflow != watchcache::watch::OnOverflow::Terminate);
        }
    }
    assert!(heard >= 200 && held_back >= 50 && skipping >= 20, "{heard} {held_back} {skipping}");
}
