//! What etcd promises of its watches, for ours: resumable, bookmarkable, filterable. Here several streams make up one promise.

use std::collections::BTreeMap;

use proptest::prelude::*;
use watchcache::store::WindowBounds;
use watchcache::watch::{EventKind, OnOverflow};

use crate::helpers::client::Heard;
use crate::helpers::model::{SELECTIONS, changes, replay};
use crate::helpers::rig::Setup;
use crate::steps::{
    Break, PLAN, Plan, StartAt, Step, Take, any_plan, fault, gentle_fault, moody_plan, plan, selection, subscriber_with, take, time, trace,
    write,
};
use crate::world::{Watched, World, began, expected, failure, selected};

/// A client that knows only what it heard.
#[derive(Default)]
struct Reader {
    rows: BTreeMap<String, String>,
    /// The version of the last event, once the state was whole.
    reached: Option<u64>,
    /// Where this unbroken knowledge began, and the changes since.
    since: u64,
    heard: Vec<Heard>,
}

impl Reader {
    /// Takes what a watch heard. If it began with the state, nothing counts before it has heard all of that.
    fn take(&mut self, watched: &Watched, events: &[Heard]) {
        let mut events = events.iter();
        if watched.from_state {
            let end = events.clone().position(|event| event.kind == EventKind::InitialEventsEnd);
            *self = Self::default();
            let Some(end) = end else { return };
            let state: Vec<Heard> = events.by_ref().take(end + 1).cloned().collect();
            let version = state[end].version;
            self.rows = replay(BTreeMap::new(), &state[..end]);
            (self.reached, self.since) = (Some(version), version);
        }
        for event in events.filter(|event| event.kind != EventKind::Error) {
            self.reached = Some(event.version);
            if event.is_change() {
                self.rows = replay(std::mem::take(&mut self.rows), std::slice::from_ref(event));
                self.heard.push(event.clone());
            }
        }
    }
}

law! {
    /// A watch that breaks goes on behind the last event that its client heard. The client then knows what it would have known without the
    /// break. It is told 410 only where the window does not reach back so far.
    etcd_resumable_a_broken_watch_goes_on_from_the_last_version:
    broken_watches_go_on(
        seed: u64 = any::<u64>(),
        size: usize = 1usize..40,
        selection: usize = selection(),
        rounds: Vec<(Vec<Step>, Take, Vec<Step>, Break)> = prop::collection::vec((
            trace(prop_oneof![4 => write(), 2 => time(), 1 => gentle_fault()], 12),
            take(),
            trace(prop_oneof![4 => write(), 1 => time(), 1 => gentle_fault()], 12),
            prop_oneof![4 => Just(Break::Stopped), 4 => Just(Break::Vanished), 1 => Just(Break::Relisted)],
        ), 1..6),
    ) {
        let window = WindowBounds { lower: size, upper: size, ..WindowBounds::default() };
        let world = World::new(Setup { window, ..Setup::seeded(seed) });
        let anew = Plan { selection, start: StartAt::Zero, initial: Some(true), bookmarks: true, buffer: Some(100), ..PLAN };
        let mut reader = Reader::default();
        let judge = |reader: &Reader| {
            if let Some(reached) = reader.reached {
                assert_eq!(reader.heard, changes(&world.rig.upstream, &SELECTIONS[selection], reader.since, reached));
                assert_eq!(reader.rows, selected(&world.rig.upstream, selection, reached), "at {reached}");
            }
        };
        let last = [(vec![], Take::Everything, vec![], Break::Stopped)];
        for (during, take, missed, how) in rounds.iter().chain(&last) {
            world.rig.heal();
            let plan = match reader.reached {
                Some(version) => Plan { start: StartAt::At(version), initial: None, ..anew.clone() },
                None => anew.clone(),
            };
            let oldest = world.rig.resource.with(|cacher| cacher.held().window().oldest().unwrap().as_u64().unwrap());
            let mut watched = world.watch(&plan);
            world.rig.run(0);
            if let Some(error) = failure(&world.rig.client.streams.borrow()[watched.stream]) {
                assert_eq!(error.status.as_ref().map(|status| status.code), Some(410), "{error}");
                assert!(reader.reached.is_some_and(|reached| reached < oldest), "{:?} is not before {oldest}", reader.reached);
                reader = Reader::default();
            } else {
                assert!(reader.reached.is_none_or(|reached| reached >= oldest), "{:?} is before {oldest}", reader.reached);
            }
            if reader.reached.is_none() && !watched.from_state {
                watched = world.watch(&anew);
            }
            for step in during {
                world.step(step);
            }
            world.rig.demand(watched.stream, (*take).into());
            world.rig.run(0);
            match how {
                Break::Stopped => world.rig.stop(watched.stream),
                Break::Vanished => world.rig.client.vanish(&world.rig.resource, watched.stream),
                Break::Relisted => world.rig.lose_history(|_| {}),
            }
            world.rig.run(0);
            reader.take(&watched, &world.rig.client.streams.borrow()[watched.stream].events);
            judge(&reader);
            world.play(missed);
        }
        assert_eq!(reader.rows, selected(&world.rig.upstream, selection, world.rig.upstream.version()), "nothing is lost in the end");
    }
}

/// Watches of every kind that want bookmarks, and time enough for them.
fn bookmarked() -> impl Strategy<Value = Vec<Step>> {
    let watch = |plan: Plan| Plan { bookmarks: true, ..plan };
    let long = prop_oneof![1 => Just(0u64), 2 => 30_000u64..130_000].prop_map(Step::Run);
    let (first, others) = (plan().prop_map(watch).prop_map(Step::Watch), subscriber_with(any_plan().prop_map(watch)));
    let sleeper = moody_plan().prop_map(|plan| {
        Step::Watch(Plan { bookmarks: true, on_overflow: OnOverflow::Resync, buffer: Some(1), take: Take::Nothing, ..plan })
    });
    trace(prop_oneof![12 => write(), 3 => long, 2 => first, 3 => others, 1 => sleeper, 1 => fault()], 50)
}

law! {
    /// A bookmark promises three things. Everything up to its version came before it, none of that comes after it, and a watch may go on
    /// there.
    etcd_bookmarkable_everything_up_to_a_bookmark_was_delivered:
    bookmarks_are_true(seed: u64 = any::<u64>(), steps: Vec<Step> = bookmarked()) {
        let world = World::new(Setup::seeded(seed));
        world.play(&steps);
        world.settle();
        let mut places = Vec::new();
        for watched in world.watches() {
            let streams = world.rig.client.streams.borrow();
            let stream = &streams[watched.stream];
            let Some(from) = began(&watched, stream) else { continue };
            let upstream = &world.rig.upstream;
            for (at, bookmark) in stream.events.iter().enumerate() {
                if !matches!(bookmark.kind, EventKind::Bookmark | EventKind::InitialEventsEnd | EventKind::Resync) {
                    continue;
                }
                let changes = |events: &[Heard]| -> Vec<Heard> { events.iter().filter(|event| event.is_change()).cloned().collect() };
                let (before, after) = (changes(&stream.events[..at]), changes(&stream.events[at..]));
                assert!(after.iter().all(|event| event.version > bookmark.version), "{after:?} after {bookmark:?}");
                let version = bookmark.version.max(from);
                if stream.options.on_overflow == OnOverflow::Terminate {
                    assert_eq!(before, expected(upstream, &watched, from, version), "before {bookmark:?}");
                }
                let state = if watched.from_state { BTreeMap::new() } else { selected(upstream, watched.selection, from) };
                assert_eq!(replay(state, &before), selected(upstream, watched.selection, version), "at {bookmark:?}");
                places.push((watched.selection, version));
            }
        }
        places.dedup();
        for (selection, version) in places {
            let watched = world.watch(&Plan { selection, start: StartAt::At(version), ..PLAN });
            world.rig.run(0);
            let streams = world.rig.client.streams.borrow();
            if let Some(error) = failure(&streams[watched.stream]) {
                assert_eq!(error.status.as_ref().map(|status| status.code), Some(410), "{error}");
                continue;
            }
            let rest = changes(&world.rig.upstream, &SELECTIONS[selection], version, world.rig.version());
            assert_eq!(streams[watched.stream].changes(), rest, "from a bookmark at {version}");
        }
    }
}

/// What a stream with a selection has to be, made from the stream of everything.
fn filtered(selection: usize, all: &[Heard]) -> Vec<Heard> {
    let passes = |document: &String| SELECTIONS[selection].passes(document);
    let mut rows: BTreeMap<String, Heard> = BTreeMap::new();
    let mut heard = Vec::new();
    for event in all {
        let before = rows.remove(&event.key);
        let passed = before.as_ref().is_some_and(|before| passes(&before.document));
        let stays = event.kind != EventKind::Deleted;
        let kind = match (passed, stays && passes(&event.document)) {
            (false, true) => Some((EventKind::Added, event.document.clone())),
            (true, true) => Some((EventKind::Modified, event.document.clone())),
            (true, false) => {
                let before = before.unwrap();
                let stamp = |version: u64| format!("\"resourceVersion\":\"{version}\"");
                Some((EventKind::Deleted, before.document.replace(&stamp(before.own), &stamp(event.version))))
            }
            (false, false) => None,
        };
        heard.extend(kind.map(|(kind, document)| Heard { kind, document, ..event.clone() }));
        if stays {
            rows.insert(event.key.clone(), event.clone());
        }
    }
    heard
}

law! {
    /// A watch with a selection hears what one without it hears, filtered: no more, no less, and entering and leaving as coming and going.
    etcd_filterable_a_selection_is_the_stream_of_all_filtered:
    selections_filter(
        seed: u64 = any::<u64>(),
        before: Vec<Step> = trace(prop_oneof![5 => write(), 2 => time(), 1 => gentle_fault()], 12),
        after: Vec<Step> = trace(prop_oneof![8 => write(), 2 => time(), 1 => gentle_fault(), 1 => Just(Step::Refresh)], 40),
    ) {
        let world = World::new(Setup::seeded(seed));
        world.play(&before);
        world.rig.heal();
        let watches: Vec<Watched> = (0..SELECTIONS.len()).map(|selection| world.watch(&Plan { selection, start: StartAt::Zero, ..PLAN })).collect();
        world.play(&after);
        world.settle();
        let all = world.changes(&watches[0]);
        for watched in &watches {
            assert_eq!(world.changes(watched), filtered(watched.selection, &all), "{watched:?}");
            assert_eq!(world.rig.ended(watched.stream), world.rig.ended(watches[0].stream));
        }
    }
}

/// There are bookmarks to speak of, of every kind, and streams that go on from them.
#[test]
fn the_traces_have_bookmarks() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let traces = bookmarked();
    let mut seen = [0; 3];
    for seed in 0..100 {
        let world = World::new(Setup::seeded(seed));
        world.play(&traces.new_tree(&mut runner).unwrap().current());
        world.settle();
        for stream in world.rig.client.streams.borrow().iter() {
            for (place, kind) in [EventKind::Bookmark, EventKind::InitialEventsEnd, EventKind::Resync].into_iter().enumerate() {
                seen[place] += stream.events.iter().filter(|event| event.kind == kind).count();
            }
        }
    }
    assert!(seen.iter().all(|count| *count >= 20), "{seen:?}");
}
