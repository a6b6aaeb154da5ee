//! Many watchers: what they hear of, and how they come and go.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::cache::{Basis, Cacher};
use watchcache::change::ChangeKind;
use watchcache::json::fields::FieldSet;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::store::Indexes;
use watchcache::store::WindowBounds;
use watchcache::testing;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::watch::{Demand, EndReason, OnOverflow, WatchOptions, WatcherId};

use super::Growth;
use crate::counted::Work;
use crate::counted::pods::fill;

pub(super) const ALL: &[Growth] = &[
    Growth::other("watchers-of-everything-come-and-go", 5_000, |n| come_and_go(n, |_| WatchOptions::default())),
    Growth::other("watchers-of-one-label-come-and-go", 5_000, |n| come_and_go(n, |_| labelled("app=web".into()))),
    Growth::other("watchers-of-many-labels-come-and-go", 5_000, |n| come_and_go(n, |i| labelled(format!("app=web,pod in (p{i},q{i})")))),
    Growth::other("watchers-that-ask-come-and-go", 5_000, |n| come_and_go(n, |_| labelled("app!=web".into()))),
    Growth::other("watchers-with-deadlines-come-and-go", 5_000, |n| {
        come_and_go(n, |_| WatchOptions { timeout_seconds: Some(60), allow_watch_bookmarks: true, ..WatchOptions::default() })
    }),
    Growth::other("watchers-vanish", 10_000, |n| {
        let (mut cacher, ids) = watched(n, |_| WatchOptions::default(), Demand::All);
        Box::new(move || {
            ids.iter().for_each(|id| cacher.dispatcher_mut().forget(*id));
            drop(cacher.dispatcher_mut().take_outbox());
            assert_eq!(cacher.dispatcher().stats().watchers, 0);
        })
    }),
    Growth::other("watchers-without-room", 2_000, |n| {
        let (mut cacher, ids) =
            watched(n, |_| WatchOptions { buffer_size: Some(1), allow_watch_bookmarks: true, ..WatchOptions::default() }, Demand::None);
        Box::new(move || {
            assert!(!change(&mut cacher, testing::named("a", 2)) && change(&mut cacher, testing::named("a", 3)));
            // Some make room, bookmarks come due, some go, the others are ended.
            ids.iter().step_by(2).for_each(|id| cacher.dispatcher_mut().demand(*id, Demand::All));
            drop(cacher.dispatcher_mut().take_outbox());
            assert!(cacher.dispatcher_mut().retry_blocked());
            let version = Version::from(3);
            cacher.dispatcher_mut().tick(Instant::from_millis(120_000), &version);
            ids.iter().skip(1).step_by(4).for_each(|id| cacher.dispatcher_mut().end(*id, EndReason::Stopped, &version));
            assert_eq!(cacher.dispatcher_mut().terminate_blocked(), n / 4);
        })
    }),
    Growth::other("labels-that-all-change", 2_000, |n| {
        let (mut cacher, _) = watched(1, |_| labelled("label-7=x".into()), Demand::All);
        let versions = [2, 3].map(|version| {
            let labels = (0..n).map(|i| format!(r#""label-{i:06}":"v{version}""#)).collect::<Vec<_>>().join(",");
            let text = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"{version}","labels":{{{labels}}}}}}}"#);
            testing::document(&text, &cacher.fields().borrow())
        });
        Box::new(move || versions.iter().for_each(|object| assert!(!change(&mut cacher, object.clone()))))
    }),
    Growth::other("watcher-that-coalesces", 5_000, |n| {
        let options = |_| WatchOptions { buffer_size: Some(1), on_overflow: OnOverflow::Coalesce, ..WatchOptions::default() };
        let (mut cacher, ids) = watched(1, options, Demand::None);
        let changes: Vec<_> = (0..n).map(|i| testing::named(&format!("pod-{}", i % (n / 2)), 2 + i as u64)).collect();
        Box::new(move || {
            changes.iter().for_each(|object| assert!(!change(&mut cacher, object.clone())));
            cacher.dispatcher_mut().demand(ids[0], Demand::All);
            let mut heard = 0;
            loop {
                let (outbox, more) = cacher.dispatcher_mut().take_outbox();
                heard += outbox.pairs().len() / 2;
                if !more {
                    break;
                }
            }
            assert_eq!(heard, n / 2 + 1);
        })
    }),
    Growth::other("waits-for-a-version", 5_000, |n| {
        let (mut cacher, _) = watched(0, |_| WatchOptions::default(), Demand::All);
        Box::new(move || {
            let waits: Vec<_> = (0..n).map(|i| cacher.freshness_mut().wait(Version::from(1_000 + i as u64))).collect();
            cacher.apply(Message::Bookmark(Version::from(1_000 + n as u64)), Instant::START, WallTime::UNIX_EPOCH);
            assert!(waits.into_iter().all(|mut wait| wait.try_recv() == Ok(Some(()))));
        })
    }),
    Growth::other("waits-until-ready", 5_000, |n| {
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let mut cacher = Cacher::new(fields, WindowBounds::default(), Indexes::default(), Instant::START);
        Box::new(move || {
            let waits: Vec<_> = (0..n)
                .map(|_| {
                    (
                        cacher.availability_mut().ready_mut().wait().expect("a wait"),
                        cacher.availability_mut().wait_synced(),
                        cacher.availability_mut().wait_listed(),
                    )
                })
                .collect();
            fill(&mut cacher, Vec::new(), 1);
            assert!(waits.into_iter().all(|(mut ready, mut synced, mut listed)| {
                ready.try_recv() == Ok(Some(()))
                    && matches!(synced.try_recv(), Ok(Some(Ok(()))))
                    && matches!(listed.try_recv(), Ok(Some(Ok(()))))
            }));
        })
    }),
];

fn labelled(selector: String) -> WatchOptions {
    WatchOptions { label_selector: Some(selector), ..WatchOptions::default() }
}

/// A cacher that is ready at version 1, and watchers that have started.
fn watched(n: usize, options: impl Fn(usize) -> WatchOptions, demand: Demand) -> (Cacher, Vec<WatcherId>) {
    let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
    let mut cacher = Cacher::new(fields, WindowBounds::default(), Indexes::default(), Instant::START);
    fill(&mut cacher, Vec::new(), 1);
    let ids = (0..n).map(|i| watch(&mut cacher, &options(i), demand)).collect();
    drop(cacher.dispatcher_mut().take_outbox());
    (cacher, ids)
}

fn watch(cacher: &mut Cacher, options: &WatchOptions, demand: Demand) -> WatcherId {
    let (id, start) = cacher.watching().register(options);
    cacher.watching().start(id, options, &start.expect("sound options"), &Basis::default(), Instant::START);
    cacher.dispatcher_mut().demand(id, demand);
    id
}

fn change(cacher: &mut Cacher, object: Rc<Object>) -> bool {
    cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH)
}

/// All come, hear of one change, and go: first those that came first, then the others, from the last one on.
fn come_and_go(n: usize, options: fn(usize) -> WatchOptions) -> Work {
    let (mut cacher, _) = watched(0, options, Demand::All);
    Box::new(move || {
        let ids: Vec<WatcherId> = (0..n).map(|i| watch(&mut cacher, &options(i), Demand::All)).collect();
        assert!(!change(&mut cacher, testing::labelled("ns/a", 2, &[("app", "web")])));
        drop(cacher.dispatcher_mut().take_outbox());
        let (first, last) = ids.split_at(n / 2);
        for id in first.iter().chain(last.iter().rev()) {
            cacher.dispatcher_mut().end(*id, EndReason::Stopped, &Version::from(2));
            cacher.dispatcher_mut().forget(*id);
        }
        drop(cacher.dispatcher_mut().take_outbox());
        assert_eq!(cacher.dispatcher().stats().watchers, 0);
    })
}
