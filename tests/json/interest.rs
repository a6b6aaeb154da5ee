//! Which updates change a wanted value: by the fields of the scan and by the texts, against the parsed documents.

use crate::edits::{change, changed, shown};
use crate::helpers::json::{FIELDS, any_object, read_path};
use proptest::prelude::*;
use serde_json::Value;
use watchcache::json::{FieldSet, Path, scan_object};
use watchcache::object::Object;
use watchcache::selector::{Interest, differs};

/// What comparing the parsed values says; `None` where numbers of one value may be written in two ways, or texts of one value may differ.
fn expected(before: &[u8], after: &[u8], path: &str) -> Option<bool> {
    let [old, new] = [before, after].map(|text| serde_json::from_slice::<Value>(text).unwrap());
    match (read_path(&old, path).value(), read_path(&new, path).value()) {
        (old, new) if old != new => Some(true),
        _ if before == after => Some(false),
        (Some(Value::Number(_) | Value::Object(_) | Value::Array(_)), _) => None,
        _ => Some(false),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 300 }) })]

    #[test]
    fn chg_01_an_update_is_wanted_if_parsed_values_differ(
        more in any_object(),
        changes in prop::collection::vec(change(), 0..4),
    ) {
        let metadata = r#"{"name":"a","uid":"u","resourceVersion":"7","labels":{"b":"1"}}"#;
        let before = format!("{{\"metadata\":{metadata},\"b\":{more},\"items\":[{more},{{\"a\":1,\"type\":\"Ready\"}}],\"a\":{{\"b\":[1,{more}]}}}}").into_bytes();
        let after = changes.iter().fold(before.clone(), |document, (place, change)| changed(&document, *place, change));
        let mut fields = FieldSet::new(Vec::new());
        let interests = FIELDS.iter().map(|path| (*path, Interest::read(&[(*path).to_owned()], &mut fields).unwrap())).collect::<Vec<_>>();
        let scanned = [&before, &after].map(|text| scan_object(text, &fields).unwrap());
        // Where a name stands twice in an object, a parser forgets one of its values.
        prop_assume!(scanned.iter().all(|scanned| !scanned.is_odd));
        let [Ok(old), Ok(new)] = scanned.map(Object::new) else { return Err(TestCaseError::reject("no name, or no version")) };
        let told = |path: &str| format!("{path}: {} -> {}", shown(&before), shown(&after));
        for (path, interest) in &interests {
            let wants = interest.wants(&old, &new, &fields);
            prop_assert_eq!(interest.wants_merged(&old, &new), wants, "by text, {}", told(path));
            if old.uid() != new.uid() {
                prop_assert!(wants, "{}", told(path));
                continue;
            }
            prop_assert_eq!(differs(&old, &new, &Path::parse(path).unwrap()), wants, "by path, {}", told(path));
            if let Some(expected) = expected(&before, &after, path) {
                prop_assert_eq!(wants, expected, "{}", told(path));
            }
        }
    }
}
