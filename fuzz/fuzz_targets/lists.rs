//! List pages: taken exactly when serde_json takes them and they have the shape of one, however their bytes are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use watchcache::json::{FieldSet, JsonError, ListHead, ListScanner, Path, Scanned};

fn scan<'p>(chunks: impl IntoIterator<Item = &'p [u8]>) -> (Vec<Scanned>, Result<ListHead, JsonError>) {
    let fields = FieldSet::new(vec![Path::parse("metadata.managedFields").expect("a path")]);
    let mut items = Vec::new();
    let mut scanner = ListScanner::new();
    for chunk in chunks {
        // What fails stays failed: `finish` says the same.
        let _failed = scanner.push(chunk, &fields, &mut |item| items.push(item));
    }
    (items, scanner.finish())
}

fn is_list(page: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(page) else { return false };
    let Some(members) = value.as_object() else { return false };
    match members.get("items") {
        None | Some(Value::Null) => true,
        Some(items) => items.as_array().is_some_and(|items| items.iter().all(Value::is_object)),
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (step, page) = input;
    let whole = scan([page]);
    assert_eq!(whole.1.is_ok(), is_list(page), "{:?}", whole.1);
    assert_eq!(scan(page.chunks(usize::from(step).max(1))), whole, "cut every {step} bytes");
});
