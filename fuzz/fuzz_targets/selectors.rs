//! Label and field selectors. Whatever is typed is read or refused. A selector that was read prints a text that reads as the same selector.
#![no_main]

use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use watchcache::selector::field::{FieldSelector, escape};
use watchcache::selector::{LabelSelector, Requirement};

fuzz_target!(|text: &str| {
    if let Ok(selector) = LabelSelector::parse(text) {
        let again = LabelSelector::parse(&selector.to_string()).expect("its own text is a selector");
        assert_eq!(selector, again);
        let first = |requirement: &Requirement| (requirement.key().into(), requirement.values().first().map_or("", String::as_str).into());
        let mut labels: Vec<(Rc<str>, Rc<str>)> = selector.requirements().iter().map(first).collect();
        labels.sort(); // as objects hold them: by name, each name once
        labels.dedup_by(|one, other| one.0 == other.0);
        for labels in [&labels[..], &[]] {
            // All of its requirements, or not at all.
            let of = |key: &str| labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value);
            let each = selector.requirements().iter().all(|requirement| requirement.matches(of(requirement.key())));
            assert_eq!(selector.matches(labels), each);
        }
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let again = FieldSelector::parse(&selector.to_string()).expect("its own text is a selector");
        assert_eq!(selector, again);
    }
    let exact = FieldSelector::parse(&format!("metadata.name={}", escape(text))).expect("an escaped value is a value");
    assert!(exact.matches(|term| term.matches(text)), "a value matches itself");
});
