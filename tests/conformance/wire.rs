//! Whether Rust and JavaScript give the same numbers to what crosses between them, and to the few bounds that both must know. The numbers of Rust
//! stand at its enums and configurations, those of JavaScript in `src/js/wire/numbers.ts` and `bounds.ts` beside it, codes of failures in `src/js/error/errors.ts`.

use watchcache::cache::signal;
use watchcache::connection::Phase;
use watchcache::informer::NotificationKind;
use watchcache::reflector::{EARLY_PERIOD_MS, MAX_EARLY_TRIES, MAX_GROWTH, MAX_WAIT_MS, Retry};
use watchcache::status::ErrorCode;
use watchcache::store::{DEFAULT_FRESH_MS, DEFAULT_LOWER};
use watchcache::view::OrderAs;
use watchcache::watch::{Demand, EndReason, EventKind, KINDS_OF_EVENTS};

const WIRE_TS: &str = include_str!("../../src/js/wire/numbers.ts");
const ERRORS_TS: &str = include_str!("../../src/js/error/errors.ts");
const STATUS_TS: &str = include_str!("../../src/js/status/status.ts");
const STATUS_TYPES_TS: &str = include_str!("../../src/js/status/types.ts");
const BOUNDS_TS: &str = include_str!("../../src/js/wire/bounds.ts");

/// All variants of an enum with their names and numbers. A new variant does not compile before it stands in the list.
macro_rules! numbered {
    ($kind:ident: $($variant:ident),*) => {{
        let _complete = |kind: $kind| match kind {
            $($kind::$variant => (),)*
        };
        [$((stringify!($variant), $kind::$variant as u32)),*]
    }};
}

/// The words of all variants of an enum. A new variant does not compile before it stands in the list.
macro_rules! worded {
    ($kind:ident: $($variant:ident),*) => {{
        let _complete = |kind: $kind| match kind {
            $($kind::$variant => (),)*
        };
        [$($kind::$variant.as_str()),*]
    }};
}

/// The constants of `numbers.ts` that begin so, with their numbers, in the order of those.
fn constants(prefix: &str) -> Vec<(String, u32)> {
    let lines = WIRE_TS.lines().filter_map(|line| line.strip_prefix("export const ")?.strip_suffix(';')?.split_once(" = "));
    let found = lines.filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_string(), value.parse().ok()?)));
    let mut found: Vec<(String, u32)> = found.collect();
    found.sort_by_key(|(_, number)| *number);
    found
}

/// The words of a list in `numbers.ts`.
fn words(list: &str) -> Vec<&'static str> {
    words_of(WIRE_TS, list)
}

/// The words of a list in a source.
fn words_of(source: &'static str, list: &str) -> Vec<&'static str> {
    let (_, rest) = source.split_once(&format!("export const {list} = [")).unwrap_or_else(|| panic!("there is no list {list}"));
    let (list, _) = rest.split_once("] as const;").expect("the list ends");
    list.split(',').map(|word| word.trim().trim_matches('"')).filter(|word| !word.is_empty()).collect()
}

/// The words in quotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// A variant's name as a constant of JavaScript has it.
fn constant((name, number): &(&str, u32)) -> (String, u32) {
    let mut constant = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !constant.is_empty() {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
    }
    (constant, *number)
}

fn as_constants(variants: &[(&str, u32)]) -> Vec<(String, u32)> {
    variants.iter().map(constant).collect()
}

#[test]
fn wire_numbers_of_events_are_the_same_in_both_languages() {
    let kinds = numbered!(EventKind: Added, Modified, Deleted, Bookmark, Error, InitialEventsEnd, Resync);
    assert_eq!(constants("EVENT_"), as_constants(&kinds));
    // Users know three kinds of bookmarks by one name.
    let types = kinds.map(|(name, _)| if matches!(name, "InitialEventsEnd" | "Resync") { "BOOKMARK".into() } else { name.to_uppercase() });
    assert_eq!(words("EVENT_TYPES"), types);
    assert_eq!(constants("KINDS_OF_"), [("EVENTS".to_string(), KINDS_OF_EVENTS)]);
    assert!(kinds.len() <= KINDS_OF_EVENTS as usize);
}

#[test]
fn wire_numbers_of_ends_are_the_same_in_both_languages() {
    let reasons = numbered!(EndReason: Stopped, Error, Relist, Overflow, Timeout, Closed);
    let words: Vec<(&str, u32)> = words("END_REASONS").into_iter().zip(0..).collect();
    assert_eq!(words, reasons.map(|(name, number)| (&*name.to_lowercase().leak(), number)));
}

/// The facade refuses names of indexes before the core is there to be asked.
#[test]
fn names_that_no_index_may_have_are_the_same_in_both_languages() {
    let reserved = WIRE_TS.lines().find_map(|line| line.strip_prefix("export const NAMESPACE_INDEX = \"")?.strip_suffix("\";"));
    let reserved = reserved.expect("numbers.ts names the index");
    assert_eq!(reserved, watchcache::selector::NAMESPACE);
    for name in [reserved, ""] {
        assert!(watchcache::selector::check_index_name("indexes", name).is_err(), "{name:?}");
    }
    for name in ["name", "namespaces", "Namespace", " ", "__proto__"] {
        assert!(watchcache::selector::check_index_name("indexes", name).is_ok(), "{name:?}");
    }
}

/// The facade shares a view among specs that mean the same, so it knows the default order.
#[test]
fn orders_of_views_are_the_same_in_both_languages() {
    // Of the last one nobody says the word: it is what a derived column has without one.
    let [orders @ .., ("Typed", _)] = numbered!(OrderAs: Text, Natural, Number, Quantity, Time, Typed) else { panic!("a word more") };
    assert_eq!(words("ORDERS"), orders.map(|(name, _)| name.to_lowercase()));
    let read: Vec<u32> = words("ORDERS").into_iter().map(|word| OrderAs::read(Some(word)).unwrap() as u32).collect();
    assert_eq!(read, orders.map(|(_, number)| number));
    assert_eq!((OrderAs::read(None).unwrap(), OrderAs::default() as u32), (OrderAs::default(), read[0]));
}

#[test]
fn wire_numbers_of_notifications_are_the_same_in_both_languages() {
    let kinds = numbered!(NotificationKind: Added, InitiallyAdded, Updated, Resynced, Deleted, DeletedUnseen, Overflowed);
    assert_eq!(constants("NOTIFICATION_"), as_constants(&kinds));
    let types = kinds.map(|(name, _)| match name {
        "Added" | "InitiallyAdded" => "add",
        "Updated" | "Resynced" => "update",
        "Deleted" | "DeletedUnseen" => "delete",
        "Overflowed" => "overflow",
        other => panic!("users have no word for {other}"),
    });
    assert_eq!(words("NOTIFICATION_TYPES"), types);
}

#[test]
fn wire_numbers_of_signals_are_the_same_in_both_languages() {
    let bits = [
        ("STATUS", signal::STATUS),
        ("SYNCED", signal::SYNCED),
        ("RELIST", signal::RELIST),
        ("OVERFLOW", signal::OVERFLOW),
        ("ERROR", signal::ERROR),
        ("LET_GO", signal::LET_GO),
    ];
    assert_eq!(constants("SIGNAL_"), bits.map(|(name, bit)| (name.to_string(), bit)));
    assert_eq!(bits.iter().map(|(_, bit)| bit).sum::<u32>().count_ones(), 6, "each has a bit of its own");
}

#[test]
fn wire_numbers_of_demands_are_the_same_in_both_languages() {
    let name = |demand: Demand| match demand {
        Demand::None => "NONE",
        Demand::Batch(_) => "BATCH",
        Demand::All => "ALL",
    };
    let named: Vec<(String, u32)> =
        (0..=u8::MAX).filter_map(|mode| Some((name(Demand::numbered(mode).ok()?).to_string(), mode.into()))).collect();
    assert_eq!(constants("DEMAND_"), named);
}

/// A code that the facade does not know would reach users as `internal`.
#[test]
fn codes_of_failures_are_the_same_in_both_languages() {
    let codes = worded!(
        ErrorCode: Expired, Timeout, TooManyRequests, Unauthorized, Forbidden, NotFound, Conflict, Invalid, Network, Protocol, Decode,
        Overflow, Unavailable, OutOfMemory, Closed, Internal
    );
    assert_eq!(words_of(ERRORS_TS, "ERROR_CODES"), codes);
}

#[test]
fn phases_are_the_same_in_both_languages() {
    let phases = worded!(Phase: Idle, Loading, Listing, Live, Reconnecting, Relisting, Paused, NeedsAuth, Failed, Closed);
    let wire = WIRE_TS.lines().find(|line| line.starts_with("export type Phase = ")).map(quoted).expect("numbers.ts has the phases");
    assert_eq!(wire, phases);
    // A status has other fields in some phases. Each phase stands in one shape of its type, and only the first shape has no error.
    let shapes: Vec<Vec<&str>> = STATUS_TYPES_TS.lines().filter_map(|line| Some(quoted(&line[line.find("phase: \"")?..]))).collect();
    let [quiet, troubled @ ..] = &*shapes else { panic!("status/types.ts has no shapes") };
    let mut shown: Vec<&str> = shapes.concat();
    shown.sort_by_key(|word| phases.iter().position(|phase| phase == word));
    assert_eq!(shown, phases, "{quiet:?} and {troubled:?}");
    let told = STATUS_TS.lines().find(|line| line.starts_with("const TROUBLED")).map(quoted).expect("status.ts has the phases of trouble");
    assert_eq!(told, troubled.concat());
}

/// What `bounds.ts` says of a constant, as it stands there.
fn bound(name: &str) -> &'static str {
    let lines = BOUNDS_TS.lines().filter_map(|line| line.strip_prefix("export const ")?.strip_suffix(';')?.split_once(" = "));
    lines.into_iter().find_map(|(known, value)| (known == name).then_some(value)).unwrap_or_else(|| panic!("bounds.ts has no {name}"))
}

/// A number as JavaScript has it, `75_000` for instance.
fn number(text: &str) -> f64 {
    text.replace('_', "").parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

#[test]
fn bounds_that_both_languages_know_are_the_same() {
    let known = BOUNDS_TS.matches("export const ").count();
    let core = [
        ("MIN_FRESH_MS", DEFAULT_FRESH_MS as f64),
        ("DEFAULT_MIN_EVENTS", DEFAULT_LOWER as f64),
        ("MAX_WAIT_MS", MAX_WAIT_MS as f64),
        ("MAX_GROWTH", MAX_GROWTH),
        ("MAX_EARLY_TRIES", MAX_EARLY_TRIES as f64),
        ("EARLY_PERIOD_MS", EARLY_PERIOD_MS as f64),
    ];
    assert_eq!(core.map(|(name, _)| number(bound(name))), core.map(|(_, value)| value));
    assert_eq!(known, core.len() + 1, "all of them are compared: these, and RETRY below");
}

#[test]
fn waits_between_two_tries_to_load_are_those_of_the_core() {
    let (members, _) = bound("RETRY").trim_start_matches("{ ").split_once(" }").expect("an object");
    let found: Vec<(&str, f64)> =
        members.split(", ").filter_map(|member| member.split_once(": ")).map(|(name, value)| (name, number(value))).collect();
    let Retry { initial_ms, factor, cap_ms, jitter, .. } = Retry::default();
    assert_eq!(found, [("initialMs", initial_ms as f64), ("factor", factor), ("capMs", cap_ms as f64), ("jitter", jitter)]);
}
