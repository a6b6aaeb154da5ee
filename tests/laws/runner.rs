//! Plays each law over its share of a run's random traces, counts them, and prints what fails as a test.
//!
//! A trace that breaks a law is made smaller for as long as it still does: steps are dropped, numbers become less. What is left is printed
//! as a call of the law's own check, to be kept as a test.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, Once};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

/// The traces of a normal run, over all laws together.
const TRACES: u32 = 10_000;

/// Every law, and how many of the traces are its own.
const LAWS: [(&str, u32); 39] = [
    ("law_01_replay_holds_for_store_views_and_watchers_of_every_kind", 700),
    ("law_01_replay_holds_for_lists_gets_and_writes", 600),
    ("law_01_replay_of_every_page_is_one_state_while_writes_go_on", 300),
    ("law_01_replay_holds_for_who_coalesces", 250),
    ("law_01_replay_indexes_hold_what_a_scan_finds", 300),
    ("law_02_order_holds_across_reconnects_relists_and_stale_replicas", 350),
    ("law_02_order_holds_while_everything_misbehaves", 300),
    ("law_03_resume_equals_having_watched_since_or_says_410", 300),
    ("law_03_resume_through_drops_needs_no_other_list", 200),
    ("law_01_replay_of_handlers_that_join_at_any_time_misses_nothing", 150),
    ("law_01_replay_of_who_hears_of_some_fields_only", 200),
    ("law_01_replay_of_handlers_that_hear_of_some_fields_only", 150),
    ("law_03_resume_at_a_bookmark_over_what_was_held_back", 100),
    ("law_03_resume_with_an_interest_equals_having_watched_since", 100),
    ("law_04_split_of_bytes_pages_and_batches_cannot_be_observed", 200),
    ("law_05_isolation_of_subscribers_from_each_other_and_the_source_from_all", 250),
    ("law_05_isolation_of_handlers_from_each_other", 150),
    ("law_06_loss_is_told_and_the_stream_can_be_resumed", 300),
    ("law_06_loss_of_who_resyncs_is_told_before_the_difference", 200),
    ("law_07_rows_stay_through_all_trouble", 250),
    ("law_07_rows_stay_for_who_resyncs_through_overflow_and_relist", 300),
    ("law_07_rows_stay_for_handlers_who_hear_of_no_fault", 100),
    ("law_08_bounded_is_the_window_whatever_comes", 200),
    ("law_08_bounded_is_the_work_of_an_event_by_those_it_may_concern", 300),
    ("law_09_reentrancy_of_callbacks_keeps_order_and_borrows_nothing_twice", 350),
    ("law_09_reentrancy_a_close_in_a_callback_is_the_last_word", 300),
    ("law_11_whole_a_broken_frame_changes_nothing_and_is_overcome", 150),
    ("law_11_whole_a_broken_page_of_a_relist_changes_nothing_and_is_overcome", 250),
    ("law_13_rest_of_objects_cannot_be_observed", 200),
    ("etcd_ordered_events_come_by_version", 250),
    ("etcd_unique_no_event_comes_twice", 250),
    ("etcd_reliable_no_event_between_two_is_missing", 250),
    ("etcd_atomic_a_version_is_one_change_and_all_of_it", 250),
    ("etcd_resumable_a_broken_watch_goes_on_from_the_last_version", 300),
    ("etcd_bookmarkable_everything_up_to_a_bookmark_was_delivered", 300),
    ("etcd_filterable_a_selection_is_the_stream_of_all_filtered", 200),
    ("etcd_prev_value_decides_the_kind_of_an_event", 300),
    ("etcd_validity_of_versions_of_events", 200),
    ("etcd_validity_of_versions_of_lists", 200),
];

/// A law: its strategies, and the check that is played with what they give. The check is a function, so that what fails can be kept as a call
/// of it.
#[macro_export]
macro_rules! law {
    ($(#[$about:meta])* $law:ident: $check:ident($($argument:ident: $type:ty = $strategy:expr),+ $(,)?) $body:block) => {
        $(#[$about])*
        #[test]
        fn $law() {
            $crate::runner::play(stringify!($law), stringify!($check), ($($strategy,)+), |($($argument,)+)| $check($($argument),+));
        }

        fn $check($($argument: $type),+) $body
    };
}

/// What was played so far in this process.
static PLAYED: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());

thread_local! {
    // While a law is played: the last failure, which is not printed at once. Hundreds of them make up one smaller trace.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
    static PLAYING: Cell<bool> = const { Cell::new(false) };
}

/// Plays a law over its share of the traces. Panics with the smallest trace that was found to break it.
pub fn play<S: Strategy>(law: &'static str, check: &str, strategy: S, hold: impl Fn(S::Value)) {
    let share = LAWS.iter().find(|(name, _)| *name == law).unwrap_or_else(|| panic!("{law} has no share of the traces")).1;
    let wanted = (u64::from(share) * u64::from(setting("WATCHCACHE_TRACES").map_or(TRACES, |traces| traces as u32)))
        .div_ceil(u64::from(TRACES)) as u32;
    let seed = setting("WATCHCACHE_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    match search(seed, wanted, strategy, hold) {
        Ok(played) => {
            assert_eq!(played, wanted, "{law} did not play its share");
            println!("{law}: {played} traces");
            note(law, played);
        }
        Err(Found { minimal, failure }) => panic!(
            "\n{failure}\n\nThe smallest trace that was found, as a test (WATCHCACHE_SEED={seed} finds it again):\n\n    #[test]\n    \
             fn {law}_again() {{\n        use crate::steps::{{Break::*, Damage::*, Fault::*, Match::*, StartAt::*, Step::*, *}};\n        {check}{minimal};\n    }}\n"
        ),
    }
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// Who ends last says how many there were.
fn note(law: &'static str, played: u32) {
    let mut all = PLAYED.lock().unwrap();
    all.insert(law, played);
    if all.len() == LAWS.len() {
        println!("all {} laws hold over {} traces", all.len(), all.values().sum::<u32>());
    }
}

/// A trace that breaks a law.
struct Found {
    /// The trace, as the arguments of the check.
    minimal: String,
    failure: String,
}

/// The number of traces that were played to the end; or the one that broke the law.
fn search<S: Strategy>(seed: u64, traces: u32, strategy: S, hold: impl Fn(S::Value)) -> Result<u32, Found> {
    collect_failures();
    // The environment may ask proptest for another number of traces, and the count would be wrong.
    let config = Config {
        cases: traces,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::with_cases(traces)
    };
    let played = Cell::new(0);
    PLAYING.set(true);
    let result = TestRunner::new(config).run(&strategy, |input| {
        hold(input);
        played.set(played.get() + 1);
        Ok(())
    });
    PLAYING.set(false);
    match result {
        Ok(()) => Ok(played.get()),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        // The last that failed is the smallest.
        Err(TestError::Fail(reason, minimal)) => {
            let failure = FAILURE.take().unwrap_or_else(|| reason.to_string());
            Err(Found { minimal: as_rust(&minimal), failure })
        }
    }
}

/// Keeps the failures of traces, and prints all others as usual.
fn collect_failures() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if PLAYING.get() {
                FAILURE.set(Some(panic.to_string()));
            } else {
                tell(panic);
            }
        }));
    });
}

/// The debug text as an expression: lists are vectors.
fn as_rust(value: &impl Debug) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for character in format!("{value:?}").chars() {
        if !quoted && character == '[' {
            text.push_str("vec!");
        }
        quoted ^= character == '"' && !escaped;
        escaped = quoted && character == '\\' && !escaped;
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::{Step, any_step, trace};
    use proptest::prelude::*;

    #[test]
    fn a_normal_run_plays_ten_thousand_traces_and_every_law_that_has_a_share_is_a_test() {
        assert_eq!(LAWS.iter().map(|(_, share)| share).sum::<u32>(), TRACES);
        let listed = std::process::Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        for (law, share) in LAWS {
            assert!(share > 0 && listed.contains(&format!("::{law}: test\n")), "{law}");
        }
    }

    /// In these traces the deletion of pod 3 after a write of pod 5 breaks the law: two steps are enough.
    #[test]
    fn a_trace_that_breaks_a_law_comes_out_minimal_and_as_a_call() {
        let breaks = |(seed, steps): (u64, Vec<Step>)| {
            let put = steps.iter().position(|step| matches!(step, Step::Put(5, ..)));
            let deleted = steps.iter().rposition(|step| matches!(step, Step::Delete(3)));
            let broken = put.zip(deleted).is_some_and(|(put, deleted)| put < deleted);
            assert!(!broken, "seed {seed}: {} steps", steps.len());
        };
        for seed in 0..5 {
            let found = search(seed, 500, (any::<u64>(), trace(any_step(), 60)), breaks).err().unwrap();
            assert_eq!(found.minimal, "(0, vec![Put(5, 0, 0), Delete(3)])");
            assert!(found.failure.ends_with("seed 0: 2 steps"), "{}", found.failure);
        }
    }

    #[test]
    fn what_is_printed_is_an_expression() {
        assert_eq!(as_rust(&(vec![(1, true)], "[\"[\\")), r#"(vec![(1, true)], "[\"[\\")"#);
    }

    #[test]
    fn fewer_traces_than_wanted_are_no_run() {
        assert_eq!(search(1, 7, 0..9u8, |_| {}).ok(), Some(7));
    }
}
