//! What must hold for the reflector whatever happens upstream, as properties over random scripts.

use crate::helpers::replay::{ReflectorRig, Said, rows_lost};
use crate::helpers::upstream::{Upstream, WatchFault};
use proptest::prelude::*;
use watchcache::change::ChangeKind;
use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;
use watchcache::runtime::virtual_time::WALL_AT_START;
use watchcache::status::{Error, Status};
use watchcache::time::Millis;

const SECOND: Millis = 1000;
const MINUTE: Millis = 60 * SECOND;

/// A step of a script that means the same in every run.
#[derive(Clone, Debug)]
enum Step {
    Put(u8, usize),
    Delete(u8),
    Pass(u64),
    Bookmark,
    Repeat(usize),
    Drop,
    Freeze,
    Sleep(Millis),
    Run(Millis),
    Expire,
    Refresh,
    Break,
}

/// What a connection can suffer without any version getting lost upstream.
fn gentle() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..15, 0usize..60).prop_map(|(name, size)| Step::Put(name, size)),
        2 => (0u8..15).prop_map(Step::Delete),
        1 => (1u64..5).prop_map(Step::Pass),
        1 => Just(Step::Bookmark),
        1 => (1usize..6).prop_map(Step::Repeat),
        2 => Just(Step::Drop),
        1 => Just(Step::Freeze),
        1 => (1u64..20 * MINUTE).prop_map(Step::Sleep),
        3 => (1u64..3 * MINUTE).prop_map(Step::Run),
    ]
}

fn rough() -> impl Strategy<Value = Step> {
    prop_oneof![12 => gentle(), 1 => Just(Step::Expire), 1 => Just(Step::Refresh), 1 => Just(Step::Break)]
}

fn play(rig: &ReflectorRig, step: &Step) {
    let upstream = &rig.upstream;
    let name = |number: u8| (format!("ns{}", number % 3), format!("pod{number}"));
    match *step {
        Step::Put(number, size) => {
            let (namespace, name) = name(number);
            upstream.put_sized(&namespace, &name, size);
        }
        Step::Delete(number) => {
            let (namespace, name) = name(number);
            if upstream.state().contains_key(&format!("{namespace}/{name}")) {
                upstream.delete(&namespace, &name);
            }
        }
        Step::Pass(versions) => upstream.pass(versions),
        Step::Bookmark => upstream.bookmark(),
        Step::Repeat(count) => upstream.repeat(count),
        Step::Drop => {
            // A watch that has stood for a second does not count as very short.
            while rig.upstream.requests.borrow().last().is_some_and(|request| rig.elapsed() - request.at() < SECOND) {
                rig.run(SECOND);
            }
            upstream.drop_streams();
        }
        Step::Freeze => upstream.freeze_streams(),
        Step::Sleep(millis) => rig.time.suspend(millis),
        Step::Run(millis) => {
            rig.run(millis);
        }
        Step::Expire => upstream.expire(),
        Step::Refresh => rig.handle.refresh(),
        Step::Break => upstream.send_raw("{\"type\":\"ADDED\",\"object\":{]"),
    }
}

fn rig(seed: u64, page_size: u32, chunk: usize) -> ReflectorRig {
    rig_of(seed, ReflectorConfig { page_size, ..ReflectorConfig::default() }, chunk)
}

fn rig_of(seed: u64, config: ReflectorConfig, chunk: usize) -> ReflectorRig {
    let rig = ReflectorRig::with(seed, config, 0, |upstream| {
        upstream.chunk.set(chunk);
        for number in 0..25 {
            upstream.put_sized("start", &format!("pod{number:02}"), number);
        }
    });
    rig.run(0);
    rig
}

fn said(rig: &ReflectorRig) -> Vec<(Millis, Said)> {
    rig.replay.borrow().said.clone()
}

fn without_pages(said: Vec<(Millis, Said)>) -> Vec<(Millis, Said)> {
    said.into_iter().filter(|(_, said)| !matches!(said, Said::Page { .. })).collect()
}

/// Days of random trouble; the replay checks every message against the model while they pass.
fn chaos(seed: u64, steps: usize, write: bool, page_size: u32, watch_list: bool) -> ReflectorRig {
    let slow = if seed.is_multiple_of(3) { seed % 40 } else { 0 };
    let config = ReflectorConfig { page_size, watch_list, ..ReflectorConfig::default() };
    let rig = ReflectorRig::with(seed, config, slow, |upstream: &Upstream| {
        upstream.latency.set(seed % 1500);
        for number in 0..12 {
            upstream.put(&format!("ns{}", number % 3), &format!("pod{number}"));
        }
        // No replica is so far behind that it does not know them.
        upstream.pass(100);
    });
    for _ in 0..steps {
        let (choice, pause) = {
            let mut random = rig.upstream.random.borrow_mut();
            let reach = [20, 400, 5 * SECOND, 2 * MINUTE][random.usize(..4)];
            (random.u32(..12), random.u64(..reach))
        };
        match choice {
            0..=4 => rig.upstream.misbehave(),
            5 => rig.handle.resume(),
            6 => rig.handle.refresh(),
            7 => rig.handle.pause(),
            8 => rig.time.suspend(pause),
            _ if write => rig.upstream.write_randomly(),
            _ => rig.upstream.pass(1),
        }
        rig.run(pause);
    }
    rig.upstream.behave();
    rig.handle.resume();
    rig.run(15 * MINUTE);
    // Not between two watches: a slow replay may not have heard of that yet.
    if rig.replay.borrow().last_connection() != Some(&Connection::Live) {
        rig.run(SECOND);
    }
    rig
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing goes backwards, twice or missing, whatever happens: the replay fails on the first message that breaks it.
    #[test]
    fn law_02_order_holds_through_all_trouble(seed in any::<u64>(), page_size in 1u32..8, watch_list in any::<bool>()) {
        let rig = chaos(seed, 120, true, page_size, watch_list);
        rig.assert_whole();
        prop_assert!(rig.lists() > 1 || rig.watches() > 1, "there was trouble");
    }

    /// No fault of the connection takes a row away.
    #[test]
    fn law_07_rows_stay_through_all_trouble(seed in any::<u64>(), page_size in 0u32..8, watch_list in any::<bool>()) {
        let rig = chaos(seed, 80, false, page_size, watch_list);
        rig.assert_whole();
        let replay = rig.replay.borrow();
        prop_assert_eq!(rows_lost(&replay), 0);
        prop_assert!(replay.changes().is_empty(), "nothing was written");
        prop_assert_eq!(replay.rows.len(), 12);
    }

    /// A watch that is resumed says what one that was never interrupted would have said.
    #[test]
    fn law_03_resume_needs_no_list_and_misses_nothing(seed in any::<u64>(), script in prop::collection::vec(gentle(), 1..60)) {
        let rig = rig(seed, 10, 64);
        let from = rig.replay.borrow().version.unwrap();
        for step in &script {
            play(&rig, step);
        }
        rig.run(15 * MINUTE);
        rig.assert_whole();
        let replay = rig.replay.borrow();
        prop_assert_eq!(replay.replaces(), 1);
        let written: Vec<_> = rig.upstream.log().into_iter().filter(|write| write.version > from).map(|write| {
            let kind = match write.kind {
                "ADDED" => ChangeKind::Added,
                "MODIFIED" => ChangeKind::Modified,
                _ => ChangeKind::Deleted,
            };
            (kind, write.key, write.version)
        }).collect();
        prop_assert_eq!(replay.changes(), written);
    }

    /// How bytes are cut changes nothing at all. How lists are paged changes only the progress.
    #[test]
    fn law_04_split_of_bytes_and_pages_cannot_be_observed(seed in any::<u64>(), script in prop::collection::vec(rough(), 1..40)) {
        let run = |page_size, chunk| {
            let rig = rig(seed, page_size, chunk);
            for step in &script {
                play(&rig, step);
            }
            rig.run(15 * MINUTE);
            rig.assert_whole();
            said(&rig)
        };
        let whole = run(10, 1 << 20);
        prop_assert_eq!(&run(10, 1), &whole);
        prop_assert_eq!(&run(10, 37), &whole);
        let whole = without_pages(whole);
        prop_assert_eq!(&without_pages(run(0, 64)), &whole);
        prop_assert_eq!(&without_pages(run(1, 64)), &whole);
    }

    /// How the state comes changes nothing. A watch that begins with the state tells what a list and a watch tell.
    #[test]
    fn whether_the_state_comes_by_a_list_or_a_watch_cannot_be_observed(seed in any::<u64>(), script in prop::collection::vec(rough(), 1..40)) {
        let run = |watch_list| {
            let rig = rig_of(seed, ReflectorConfig { watch_list, ..ReflectorConfig::default() }, 64);
            for step in &script {
                play(&rig, step);
            }
            rig.run(15 * MINUTE);
            rig.assert_whole();
            let said = without_pages(said(&rig)).into_iter().map(|(_, said)| said);
            // The timeout of each watch is random, and so is what is told of its end.
            let news = said.filter(|said| matches!(said, Said::Change(..))).collect::<Vec<_>>();
            (news, rig.replay.borrow().rows.clone(), rig.lists())
        };
        let (by_list, by_watch) = (run(false), run(true));
        prop_assert_eq!(by_watch.2, 0, "no list was needed");
        prop_assert_eq!((&by_watch.0, &by_watch.1), (&by_list.0, &by_list.1));
    }
}

/// Sleeps, and checks when the next watch is asked for: at once if the sleep passed the deadline, else at the very millisecond of it.
fn sleeps_until(rig: &ReflectorRig, deadline: Millis, sleep: Millis, woken: bool) {
    let before = rig.watches();
    rig.time.suspend(sleep);
    if woken {
        rig.handle.resume();
    }
    rig.run(0);
    if let Some(left @ 1..) = deadline.checked_sub(rig.elapsed()) {
        assert_eq!(rig.watches(), before, "{left} ms too soon");
        rig.run(left - 1);
        assert_eq!(rig.watches(), before, "a millisecond too soon");
        rig.run(1);
    }
    assert_eq!(rig.watches(), before + 1);
    rig.assert_whole();
    assert_eq!(rig.lists(), 1);
}

proptest! {
    /// A stream is dead when nothing came within the deadline by the clock, however much of that time the machine slept.
    #[test]
    fn law_10_deadline_of_silence_is_kept_through_sleeps(
        seed in any::<u64>(), heard in 1u64..300 * SECOND, awake in 0u64..90 * SECOND, sleep in 1u64..4 * MINUTE, woken in any::<bool>(),
    ) {
        let rig = rig(seed, 0, 1 << 20);
        rig.run(heard);
        prop_assume!(rig.watches() == 1);
        rig.upstream.put("ns0", "last-word");
        rig.run(0);
        let deadline = rig.elapsed() + 90 * SECOND;
        rig.upstream.freeze_streams();
        rig.upstream.put("ns0", "unheard");
        rig.run(awake);
        sleeps_until(&rig, deadline, sleep, woken);
    }

    /// A wait ends at its time, however much of it the machine slept; or when a user asks for a try.
    #[test]
    fn law_10_deadline_of_waits_is_kept_through_sleeps(
        seed in any::<u64>(), asked in 1u32..600, awake in 0u64..10 * MINUTE, sleep in 1u64..20 * MINUTE, woken in any::<bool>(),
    ) {
        let rig = rig(seed, 0, 1 << 20);
        rig.run(2 * SECOND);
        let mut busy = Error::from(Status::new(503, "ServiceUnavailable", "later"));
        busy.retry_after_seconds = Some(asked);
        rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(busy));
        rig.upstream.drop_streams();
        rig.run(0);
        let Some(Connection::Waiting { retry_at, .. }) = rig.replay.borrow().last_connection().cloned() else { panic!("it waits") };
        let deadline = retry_at.since(WALL_AT_START);
        prop_assert!(deadline >= rig.elapsed() + Millis::from(asked) * SECOND);
        rig.run(awake.min(deadline - rig.elapsed() - 1));
        sleeps_until(&rig, if woken { rig.elapsed() } else { deadline }, sleep, woken);
    }
}

/// The scripts reach what they are meant to reach.
#[test]
fn the_trouble_is_real() {
    let mut seen = [0; 7];
    for seed in 0..60 {
        let rig = chaos(seed, 120, true, 5, false);
        rig.assert_whole();
        let replay = rig.replay.borrow();
        for (_, said) in &replay.said {
            let index = match said {
                Said::RoundEnded(Some(error)) if error.message.contains("older than") => 0,
                Said::RoundEnded(Some(error)) if error.message.contains("behind version") => 1,
                Said::RoundEnded(Some(error)) if error.message.contains("unable to decode") => 2,
                Said::Connection(Connection::NeedsAuth { .. }) => 3,
                Said::Connection(Connection::Paused) => 4,
                Said::Connection(Connection::Waiting { .. }) => 5,
                Said::Change(ChangeKind::Deleted, ..) => 6,
                _ => continue,
            };
            seen[index] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}
