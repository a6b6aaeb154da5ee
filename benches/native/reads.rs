//! What a read costs where there are many objects: one page, and the state as it was, each against reading everything.

use std::hint::black_box;
use std::rc::Rc;

use watchcache::cache::Cacher;
use watchcache::change::ChangeKind;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;

use crate::Measured;
use crate::clock::Spent;
use crate::pods::{FIRST_VERSION, cacher, fill, object};

const NAMESPACES: usize = 100;
const PAGE: usize = 500;
/// Changes since the past state that is asked for.
const CHANGES: usize = 10_000;

fn pod(i: usize, version: u64) -> String {
    let (namespace, name) = (i % NAMESPACES, i / NAMESPACES);
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"team-{namespace:03}","name":"pod-{name:05}","uid":"uid-{i}","resourceVersion":"{version}","labels":{{"app":"app-{}"}}}},"spec":{{"nodeName":"node-{}"}}}}"#,
        i % 50,
        i % 1000
    )
}

/// Fills a cacher with objects, and changes some of them.
fn many(objects: usize, changes: usize) -> Cacher {
    let mut cacher = cacher();
    let at = |text: &str, cacher: &Cacher| object(text, &cacher.fields().borrow());
    let list = (0..objects).map(|i| at(&pod(i, FIRST_VERSION), &cacher)).collect();
    fill(&mut cacher, list, FIRST_VERSION);
    for i in 0..changes {
        let object = at(&pod(i * 7 % objects, FIRST_VERSION + 1 + i as u64), &cacher);
        cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
    }
    cacher
}

fn sum<'a>(objects: impl Iterator<Item = &'a Rc<Object>>) -> u64 {
    let one = |object: &Rc<Object>| object.key().len() as u64 + object.version().to_string().len() as u64;
    // Small enough to be a number of JSON.
    objects.fold(0, |sum, object| (sum * 31 + one(object)) % (1 << 32))
}

fn timed(rounds: usize, read: impl Fn() -> u64) -> Measured {
    let expected = read();
    let mut spent = Spent::default();
    spent.add(|| {
        for _ in 0..rounds {
            assert_eq!(black_box(read()), expected, "a read of the same state");
        }
    });
    Measured { units: rounds, spent, packing: None, delivered: expected }
}

/// What `wanted` names; the reads of each pair give the same objects.
pub(crate) fn measure(wanted: &dyn Fn(&str) -> bool, scale: f64) -> Vec<(&'static str, Measured)> {
    const NAMES: [&str; 4] = ["page-500", "page-500-by-scan", "exact-10000-back", "exact-by-scan"];
    if !NAMES.iter().any(|name| wanted(name)) {
        return Vec::new();
    }
    let cacher = many(crate::scaled(100_000, scale), crate::scaled(CHANGES, scale));
    let from = "team-050/pod-00200";
    // A window that is full keeps no state before its first change.
    let past = Version::from(FIRST_VERSION + 1);
    let page = || sum(cacher.held().state().range("team-050/", from).take(PAGE));
    let page_by_scan = || sum(cacher.held().state().range("", "").filter(|o| o.namespace() == "team-050" && &**o.key() >= from).take(PAGE));
    let exact = || sum(cacher.held().state_at(&past).expect("in the window").range("", ""));
    let scan = || sum(cacher.held().state().range("", ""));
    let mut all = vec![
        (NAMES[0], timed(1_000, page)),
        (NAMES[1], timed(10, page_by_scan)),
        (NAMES[2], timed(10, exact)),
        (NAMES[3], timed(10, scan)),
    ];
    assert_eq!(all[0].1.delivered, all[1].1.delivered, "both ways give the same page");
    all.retain(|(name, _)| wanted(name));
    all
}
