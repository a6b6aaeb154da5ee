//! The bytes held, counted by the allocator.

use std::fmt::Write;
use std::rc::Rc;

use watchcache::cache::{Basis, Cacher};
use watchcache::change::ChangeKind;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::time::{Instant, WallTime};
use watchcache::view::ViewOptions;
use watchcache::watch::{Demand, WatchOptions};

use crate::counted::HELD;
use crate::counted::documents::{pod, small};
use crate::counted::pods::{FIRST_VERSION, cacher, fill, object};

/// One line a figure: its name, and bytes a unit.
pub(crate) fn print() {
    let mut lines = String::new();
    let figures = [
        ("held-pod", pods(false)),
        ("held-pod-at-rest", pods(true)),
        ("held-small-object", objects()),
        ("held-change", changes(false)),
        ("held-change-at-rest", changes(true)),
        ("held-watcher", watchers()),
        ("held-view-row", rows()),
    ];
    for (name, bytes) in figures {
        let _infallible = writeln!(lines, "{}", serde_json::json!({ "name": name, "bytes": bytes }));
    }
    print!("{lines}");
}

/// How many bytes more are held after the work, a unit. The result of the work is held meanwhile.
#[allow(clippy::cast_precision_loss)]
fn grown<T>(units: usize, work: impl FnOnce() -> T) -> f64 {
    let before = HELD.allocated();
    let held = work();
    let grown = HELD.allocated() - before;
    drop(held);
    grown as f64 / units as f64
}

fn list(count: usize, text: fn(usize, u64) -> String) -> Cacher {
    let mut cacher = cacher();
    let objects = (0..count).map(|i| object(&text(i, FIRST_VERSION), &cacher.fields().borrow())).collect();
    fill(&mut cacher, objects, FIRST_VERSION);
    cacher
}

fn change(cacher: &mut Cacher, object: Rc<Object>) {
    cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
}

/// One of a thousand pods, as it came or packed.
fn pods(rest: bool) -> f64 {
    grown(1_000, || {
        let mut cacher = list(1_000, pod);
        if rest {
            cacher.held_mut().pack_all();
        }
        cacher
    })
}

fn objects() -> f64 {
    grown(10_000, || list(10_000, small))
}

/// What a change of a pod leaves in the window.
fn changes(rest: bool) -> f64 {
    let mut cacher = list(100, pod);
    if rest {
        cacher.held_mut().pack_all();
    }
    grown(1_000, || {
        for i in 0..1_000 {
            let object = object(&pod(i % 100, FIRST_VERSION + 1 + i as u64), &cacher.fields().borrow());
            change(&mut cacher, object);
        }
        if rest {
            cacher.held_mut().pack_all();
        }
    })
}

fn watchers() -> f64 {
    let mut cacher = list(1, small);
    grown(1_000, || {
        for i in 0..1_000 {
            let options = WatchOptions { field_selector: Some(format!("spec.nodeName=node-{}", i + 1_000)), ..WatchOptions::default() };
            let (id, start) = cacher.watching().register(&options);
            cacher.watching().start(id, &options, &start.expect("sound options"), &Basis::default(), Instant::START);
            cacher.dispatcher_mut().demand(id, Demand::All);
        }
        drop(cacher.dispatcher_mut().take_outbox());
    })
}

/// A row of a view by one field, in its own order.
fn rows() -> f64 {
    let mut cacher = list(10_000, small);
    let order = vec![("spec.nodeName".into(), false, None)];
    grown(10_000, || {
        let view = cacher.viewing().open(&ViewOptions { order, ..ViewOptions::default() }).expect("a view");
        while cacher.viewing().build(10_000) {}
        cacher.viewing().look(view);
        view
    })
}
