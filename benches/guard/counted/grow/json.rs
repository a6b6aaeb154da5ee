//! Documents made to cost more than they weigh.

use std::hint::black_box;

use watchcache::json::fields::FieldSet;
use watchcache::json::frame::scan_frame;
use watchcache::json::list::{GivenItems, ListScanner};
use watchcache::json::path::Path;
use watchcache::json::scan::scan_object;
use watchcache::source::kubernetes::FrameSplitter;

use super::Growth;
use crate::counted::Work;

pub(super) const ALL: &[Growth] = &[
    Growth::refused("json-depth", 10_000, |n| value(&"[".repeat(n))),
    Growth::document("json-long-string", 1_000_000, |n| string(&"x".repeat(n))),
    Growth::document("json-escapes", 200_000, |n| string(&r"\n\u00e9".repeat(n / 2))),
    Growth::document("json-surrogates", 100_000, |n| string(&r"\ud83d\ude00".repeat(n))),
    Growth::refused("json-lone-surrogate", 1_000_000, |n| string(&format!("{}\\ud83d", "x".repeat(n)))),
    Growth::document("json-multi-byte-text", 200_000, |n| string(&"aü€😀".repeat(n / 4))),
    Growth::document("json-escaped-names", 10_000, |n| members(n, |i| format!(r#""\u006detadata{i}":{i}"#))),
    Growth::document("json-long-escaped-name", 200_000, |n| value(&format!(r#"{{"\u006d{}":0}}"#, r"\n".repeat(n)))),
    Growth::document("json-names-of-metadata", 10_000, |n| members(n, |i| format!(r#""metadata":{{"name":"x","labels":{{"a":"{i}"}}}}"#))),
    Growth::document("json-equal-labels", 20_000, |n| labelled(n, |i| format!(r#""app":"{i}""#))),
    Growth::document("json-labels", 20_000, |n| labelled(n, |i| format!(r#""label-{}":"{i}""#, i * 7_919 % 1_000_003))),
    Growth::document("json-long-number", 100_000, |n| value(&format!("0.{}", "1".repeat(n)))),
    Growth::document("json-numbers-of-1000-digits", 200, |n| value(&format!("[{}0]", format!("0.{},", "1".repeat(1_000)).repeat(n)))),
    Growth::document("json-array", 100_000, |n| value(&format!("[{}0]", "0,".repeat(n)))),
    Growth::document("json-empty-objects", 100_000, |n| value(&format!("[{}{{}}]", "{},".repeat(n)))),
    Growth::document("json-blanks", 1_000_000, |n| value(&format!("{}0{}", " \n".repeat(n / 4), " \n".repeat(n / 4)))),
    Growth::document("json-wide-object", 20_000, |n| members(n, |i| format!(r#""m{i}":{{"a":[1,"b"]}}"#))),
    Growth::other("strip-equal-names", 10_000, |n| scan(members(n, |i| format!(r#""managedFields":[{i}]"#)), &["managedFields"], &[])),
    Growth::other("strip-below-equal-names", 5_000, |n| {
        scan(members(n, |_| r#""metadata":{"managedFields":[1],"a":0}"#.to_owned()), &["metadata.managedFields"], &[])
    }),
    Growth::other("strip-in-arrays", 5_000, |n| {
        let elements = array(n, |i| format!(r#"{{"type":"t{}","a":{i}, "b":[0]}}"#, i % 3));
        scan(elements, &["c[?(@.type=='t1')].b", "c[0].a", "c[?(@.type=='t2')]"], &["c[1].a"])
    }),
    Growth::other("filters-in-arrays", 5_000, |n| {
        let elements = array(n, |i| format!(r#"{{"x":{{"y":[{{"z":{i}}},{{"z":1}}]}},"type":"T"}}"#));
        let paths = ["c[?(@.type=='Ready')].x", "c[?(@.x.y[0].z==7)].x.y[?(@.z==1)].z", "c[3].x", "c[?(@.type=='T')].type"];
        scan(elements, &[], &paths)
    }),
    Growth::other("fields-below-a-filter", 1_000, |n| {
        let paths: Vec<String> = (0..n).map(|i| format!("c[?(@.x==1)].m{i}")).collect();
        scan(array(100, |_| r#"{"x":1}"#.to_owned()), &[], &paths.iter().map(String::as_str).collect::<Vec<_>>())
    }),
    Growth::other("frame-of-equal-names", 5_000, |n| {
        let frame = format!(r#"{{"type":"ADDED",{}}}"#, vec![r#""object":{"metadata":{"name":"a","resourceVersion":"1"}}"#; n].join(","));
        let fields = FieldSet::new(Vec::new());
        Box::new(move || drop(black_box(scan_frame(frame.as_bytes(), &fields).expect("a frame"))))
    }),
    Growth::other("frames-byte-by-byte", 100_000, |n| {
        let text = format!("{}\n", "x".repeat(n));
        Box::new(move || {
            let (mut splitter, mut bytes) = (FrameSplitter::new(), 0);
            text.as_bytes().chunks(1).for_each(|chunk| splitter.push(chunk, |frame| bytes += frame.len()).expect("a line"));
            assert_eq!(bytes, text.len() - 1);
        })
    }),
    Growth::other("list-byte-by-byte", 2_000, |n| page(items(n, 1), 1)),
    Growth::other("list-small-chunks", 5_000, |n| page(items(n, 40), 17)),
    Growth::other("list-one-item-in-chunks", 200_000, |n| page(items(1, n), 64)),
    // A large item makes the scanner expect large ones.
    Growth::other("list-small-behind-large", 2_000, |n| {
        page(format!(r#"{{"items":[{{"a":"{}"}}{}]}}"#, "x".repeat(50_000), ",{}".repeat(n)), 100)
    }),
    Growth::other("list-head-in-chunks", 200_000, |n| page(format!(r#"{{"a":["{}"],"items":[]}}"#, r#"a\"b"#.repeat(n / 4)), 16)),
    Growth::other("list-names-of-head", 10_000, |n| {
        page(members(n, |i| format!(r#""item{i}":[],"metadata":{{"resourceVersion":"{i}"}}"#)).replacen('{', r#"{"items":[],"#, 1), 1_000)
    }),
];

/// An object whose one member is this.
fn value(text: &str) -> String {
    format!(r#"{{"spec":{text}}}"#)
}

fn string(text: &str) -> String {
    value(&format!("\"{text}\""))
}

fn members(n: usize, member: impl Fn(usize) -> String) -> String {
    format!("{{{}}}", (0..n).map(member).collect::<Vec<_>>().join(","))
}

fn labelled(n: usize, label: impl Fn(usize) -> String) -> String {
    format!(r#"{{"metadata":{{"labels":{}}}}}"#, members(n, label))
}

fn array(n: usize, element: impl Fn(usize) -> String) -> String {
    format!(r#"{{"c":[{}]}}"#, (0..n).map(element).collect::<Vec<_>>().join(" , "))
}

fn scan(text: String, strip: &[&str], read: &[&str]) -> Work {
    let path = |text: &&str| Path::parse(text).expect("a path");
    let mut fields = FieldSet::new(strip.iter().map(path).collect());
    read.iter().for_each(|text| _ = fields.slot(&path(text)));
    Box::new(move || drop(black_box(scan_object(text.as_bytes(), &fields).expect("an object"))))
}

/// A page of so many items with a text of so many characters.
fn items(n: usize, text: usize) -> String {
    let item = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1"}},"spec":"{}"}}"#, "x".repeat(text));
    format!(r#"{{"kind":"List","items":[{}]}}"#, vec![item; n].join(","))
}

fn page(text: String, chunk: usize) -> Work {
    let fields = FieldSet::new(Vec::new());
    Box::new(move || {
        let (mut scanner, mut count) = (ListScanner::new(), 0);
        for chunk in text.as_bytes().chunks(chunk) {
            scanner.push(chunk, &fields, &mut |_| count += 1).expect("a page");
        }
        assert_eq!(scanner.finish().expect("a page").items, GivenItems::Array);
        black_box(count);
    })
}
