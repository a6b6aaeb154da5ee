//! List pages. One is taken exactly when serde_json takes it and it has the shape of a list, however its bytes are cut.
#![no_main]

use std::fmt;

use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
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

/// Every `items` of an object. serde_json takes the last. A reader of items as they come takes the first that is not null, and none after
/// it.
struct Items(Vec<Value>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EachItems)
    }
}

struct EachItems;

impl<'de> Visitor<'de> for EachItems {
    type Value = Items;

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Items, A::Error> {
        let mut found = Vec::new();
        while let Some((key, value)) = members.next_entry::<String, Value>()? {
            if key == "items" {
                found.push(value);
            }
        }
        Ok(Items(found))
    }
}

fn is_list(page: &[u8]) -> bool {
    let Ok(Items(found)) = serde_json::from_slice(page) else { return false };
    let mut found = found.iter().skip_while(|value| value.is_null());
    match (found.next(), found.next()) {
        (None, _) => true,
        (Some(items), None) => items.as_array().is_some_and(|items| items.iter().all(Value::is_object)),
        (Some(_), Some(_)) => false,
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (step, page) = input;
    let whole = scan([page]);
    assert_eq!(whole.1.is_ok(), is_list(page), "{:?}", whole.1);
    assert_eq!(scan(page.chunks(usize::from(step).max(1))), whole, "cut every {step} bytes");
});
