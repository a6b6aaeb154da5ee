//! Items of one template in a list: what is told of it is what is told where each item is scanned alone.
//!
//! An input is an item, a zero byte, and steps: a position (two bytes), how many bytes go there, how many come, and these. Each step makes one
//! more variant of the item. The first byte says how the variants follow each other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use watchcache::json::{BrokenItem, FieldSet, JsonError, ListHead, ListScanner, Path, Scanned};

/// Where elements of arrays are stripped nothing is compared. No input is long enough for this name.
fn none() -> String {
    format!("{}[0]", "n".repeat(MOST + 1))
}

/// The longest input that is looked at, in bytes.
const MOST: usize = 4096;

/// A shorter item is not worth a comparison.
const FILLER: usize = 512;

fn fields(strip: &[&str]) -> FieldSet {
    let path = |text: &&str| Path::parse(text).expect("a path");
    let mut fields = FieldSet::new(strip.iter().map(path).collect());
    for text in [
        "apiVersion",
        "status.phase",
        "status.conditions[?(@.type=='Ready')].status",
        "spec.a",
        "spec.b.c[1]",
        "spec",
        "metadata.labels.x",
        "items[1].a",
    ] {
        fields.slot(&path(&text));
    }
    fields
}

type Told = (Vec<Scanned>, Vec<BrokenItem>, Result<ListHead, JsonError>);

fn told(page: &[u8], strip: &[&str]) -> Told {
    let (fields, mut items) = (fields(strip), Vec::new());
    let mut scanner = ListScanner::tolerant();
    // What fails stays failed: `finish` says the same.
    let _failed = scanner.push(page, &fields, &mut |item| items.push(item));
    let broken = scanner.take_broken();
    (items, broken, scanner.finish())
}

fn variants(item: &[u8], mut steps: &[u8]) -> Vec<Vec<u8>> {
    let mut variants = vec![item.to_vec()];
    while let [high, low, gone, come, rest @ ..] = steps {
        let mut text = item.to_vec();
        let from = (usize::from(*high) << 8 | usize::from(*low)) % (text.len() + 1);
        let to = (from + usize::from(*gone)).min(text.len());
        let (new, behind) = rest.split_at(rest.len().min(usize::from(*come)));
        text.splice(from..to, new.iter().copied());
        variants.push(text);
        steps = behind;
    }
    variants
}

fuzz_target!(|input: &[u8]| {
    if input.len() > MOST {
        return;
    }
    let Some(end) = input.iter().position(|byte| *byte == 0) else { return };
    let [b'{', more @ ..] = &input[..end] else { return };
    let item = [&br#"{"filler":""#[..], &[b'x'; FILLER], br#"","#, more].concat();
    let variants = variants(&item, &input[end + 1..]);
    let stride = 1 + input.len() % variants.len();
    let order = (0..3 * variants.len()).map(|turn| (turn * stride + turn / variants.len()) % variants.len());
    let items: Vec<&[u8]> = order.map(|variant| &variants[variant][..]).collect();
    let page = [&br#"{"items":["#[..], &items.join(&b","[..]), b"]}"].concat();
    let strips: [&[&str]; 3] = [&[], &["metadata.managedFields"], &["spec.b", "items"]];
    let strip = strips[end % strips.len()];
    assert_eq!(told(&page, strip), told(&page, &[strip, &[&none()]].concat()));
});
