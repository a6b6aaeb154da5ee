//! Shard selectors: read or refused, written canonically, and true to their ranges.
#![no_main]

use libfuzzer_sys::fuzz_target;
use watchcache::selector::shard::{ShardSelector, hash};

fuzz_target!(|input: (&str, &str)| {
    let (text, value) = input;
    let Ok(selector) = ShardSelector::parse(text) else { return };
    let canonical = selector.to_string();
    let again = ShardSelector::parse(&canonical).expect("its own text is a selector");
    assert_eq!((&again, again.to_string()), (&selector, canonical.clone()));
    // The text's own numbers decide.
    let hash = u128::from(hash(value));
    let numbers: Vec<u128> =
        canonical.split('\'').skip(1).step_by(2).map(|hex| u128::from_str_radix(&hex[2..], 16).expect("hexadecimal")).collect();
    let inside = numbers.chunks_exact(2).any(|range| (range[0]..range[1]).contains(&hash));
    assert_eq!(selector.contains(value), inside);
});
