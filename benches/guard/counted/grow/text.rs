//! Texts that clients and upstreams give: selectors, tokens, versions, values to sort by.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use watchcache::cache::Token;
use watchcache::json::fields::FieldSet;
use watchcache::json::path::Path;
use watchcache::selector::{FieldSelector, LabelSelector, ShardSelector};
use watchcache::status::Status;
use watchcache::version::Version;

use super::Growth;
use crate::counted::Work;

pub(super) const ALL: &[Growth] = &[
    Growth::other("selector-values", 5_000, |n| labels(format!("app in ({})", joined(n, |i| format!("v{i}"))))),
    Growth::other("selector-wrong-values", 2_000, |n| labels(format!("app in ({})", joined(n, |i| format!("-v{i}"))))),
    Growth::other("selector-requirements", 5_000, |n| labels(joined(n, |i| format!("key-{i}!=v")))),
    Growth::other("selector-commas", 20_000, |n| labels(format!("app in ({})", ",".repeat(n)))),
    Growth::other("selector-on-one-key", 5_000, |n| labels(joined(n, |i| format!("app!=v{i}")))),
    Growth::other("match-value-of-many", 5_000, |n| {
        let selector = LabelSelector::parse(&format!("app in ({})", joined(n, |i| format!("v{i}")))).expect("a selector");
        let sets: Vec<Vec<(Rc<str>, Rc<str>)>> = (0..n).map(|i| vec![("app".into(), format!("v{i}").into())]).collect();
        Box::new(move || assert!(sets.iter().all(|labels| selector.matches(labels))))
    }),
    Growth::other("match-many-requirements", 5_000, |n| {
        let selector = LabelSelector::parse(&joined(n, |i| format!("key-{i:06}=v"))).expect("a selector");
        let labels: Vec<(Rc<str>, Rc<str>)> = (0..n).map(|i| (format!("key-{i:06}").into(), "v".into())).collect();
        Box::new(move || assert!(selector.matches(&labels)))
    }),
    Growth::other("field-selector-terms", 5_000, |n| fields(joined(n, |i| format!("spec.a=v{i}")))),
    Growth::other("field-selector-escapes", 100_000, |n| fields(format!("spec.a={}", r"\,\=".repeat(n)))),
    Growth::other("field-selector-brackets", 100_000, |n| fields(format!("a{}", "['b']".repeat(n)))),
    Growth::other("field-selector-open-bracket", 100_000, |n| fields("a[,".repeat(n))),
    Growth::other("shard-selector-ranges", 500, |n| {
        let range = |i: usize| format!("shardRange(object.metadata.uid, '0x{i:016x}', '0x{:016x}')", i + 1);
        let text = (0..n).map(range).collect::<Vec<_>>().join(" || ");
        Box::new(move || drop(black_box(ShardSelector::parse(&text))))
    }),
    Growth::other("path-segments", 10_000, |n| {
        let text = vec!["a"; n].join(".");
        Box::new(move || drop(black_box(Path::parse(&text).expect("a path"))))
    }),
    Growth::other("paths-registered", 2_000, |n| {
        let paths: Vec<Path> = (0..n).map(|i| Path::parse(&format!("spec.m{i}")).expect("a path")).collect();
        Box::new(move || {
            let mut fields = FieldSet::new(Vec::new());
            paths.iter().for_each(|path| _ = fields.slot(path));
            black_box(fields.len());
        })
    }),
    Growth::other("token-round-trip", 50_000, |n| {
        let key = format!("ns/{}", "é\"".repeat(n));
        Box::new(move || {
            let token = Token::encode(&key, "ns/", &Version::from(7)).expect("a token");
            assert_eq!(Token::decode(&token, "ns/").expect("a token").start.len(), key.len() + 1);
        })
    }),
    Growth::other("token-that-is-none", 200_000, |n| {
        // Lines of blanks, and then no document.
        let token = format!("{}eA", "CiAg".repeat(n / 4));
        Box::new(move || drop(black_box(Token::decode(&token, "").expect_err("no token"))))
    }),
    Growth::other("version-digits", 100_000, |n| {
        let (text, other) = (format!("1{}", "0".repeat(n)), format!("1{}1", "0".repeat(n - 1)));
        Box::new(move || {
            let (version, other) = (Version::parse(&text).expect("a version"), Version::parse(&other).expect("a version"));
            assert!(version.predecessor().expect("one before") < version && version < other);
        })
    }),
    Growth::other("status-causes", 2_000, |n| {
        let causes = joined(n, |i| format!(r#"{{"reason":"r","message":"m{i}","field":"f"}}"#));
        let text = format!(r#"{{"kind":"Status","code":422,"reason":"Invalid","details":{{"causes":[{causes}]}}}}"#);
        Box::new(move || drop(black_box(Status::parse(text.as_bytes()).expect("a status").to_json())))
    }),
    Growth::other("values-to-sort-by", 50_000, |n| sort_by(n)),
];

fn joined(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(",")
}

/// Reads a selector and prints it, or its mistake.
fn labels(text: String) -> Work {
    Box::new(move || drop(black_box(LabelSelector::parse(&text).map(|selector| selector.to_string()))))
}

fn fields(text: String) -> Work {
    Box::new(move || drop(black_box(FieldSelector::parse(&text).map(|selector| selector.to_string()))))
}

/// One object that is placed by values of so many characters, of each kind.
fn sort_by(n: usize) -> Work {
    use watchcache::selector::{FieldSelector, LabelSelector};
    use watchcache::view::{Column, OrderAs, OrderBy, View, ViewSpec};
    let digits = "7".repeat(n);
    let text = format!(
        r#"{{"metadata":{{"name":"a","resourceVersion":"1"}},"v":["{}","a{digits}","{digits}.5","{digits}{digits}e-{n}","{digits}Ki","2026-01-01T00:00:00.{digits}Z"]}}"#,
        "\\u0000x".repeat(n)
    );
    let set = RefCell::new(FieldSet::new(Vec::new()));
    let kinds = [OrderAs::Text, OrderAs::Natural, OrderAs::Number, OrderAs::Quantity, OrderAs::Quantity, OrderAs::Time];
    let order = kinds.iter().enumerate().map(|(i, kind)| {
        let column = Column::Field(set.borrow_mut().slot(&Path::parse(&format!("v[{i}]")).expect("a path")));
        OrderBy { column, descending: i % 2 == 1, kind: *kind }
    });
    let spec =
        ViewSpec { order: order.collect(), label: LabelSelector::everything(), field: FieldSelector::everything(), ..ViewSpec::default() };
    let mut view = View::new(spec, &mut set.borrow_mut()).expect("a view");
    let object = watchcache::testing::document(&text, &set.borrow());
    Box::new(move || view.change(None, Some(&object), &set.borrow()))
}
