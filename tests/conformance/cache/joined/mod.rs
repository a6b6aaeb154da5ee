//! Several namespaces as one resource: each has an upstream of its own here, whose versions say nothing of the others'.

mod coming_and_going;
mod refused;
mod whole;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use watchcache::cache::Outcome;
use watchcache::connection::Phase;
use watchcache::runtime::Spawn;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::{Joined, Source};
use watchcache::status::{Error, ErrorCode};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Shared, Upstream, WatchFault};

/// A rig over several upstreams.
pub(super) struct Namespaces {
    rig: Rig,
    upstreams: Rc<RefCell<BTreeMap<String, Rc<Upstream>>>>,
}

impl Namespaces {
    /// Not started, over these namespaces, in each of which `prepare` is called.
    pub(super) fn idle(setup: &Setup, namespaces: &[&str], prepare: impl Fn(&str, &Upstream) + 'static) -> Self {
        fastrand::seed(setup.seed);
        let time = VirtualTime::new(setup.seed);
        let upstreams: Rc<RefCell<BTreeMap<String, Rc<Upstream>>>> = Rc::default();
        let (all, clock, seed) = (upstreams.clone(), time.clone(), setup.seed);
        let open = Box::new(move |namespace: &str| {
            let mut all = all.borrow_mut();
            let count = all.len() as u64;
            let upstream = all.entry(namespace.to_owned()).or_insert_with(|| {
                let upstream = Upstream::new(clock.clone(), seed + count);
                *upstream.namespace.borrow_mut() = Some(namespace.to_owned());
                prepare(namespace, &upstream);
                upstream
            });
            Rc::new(Shared(upstream.clone())) as Rc<dyn Source>
        });
        let source = Joined::new(&owned(namespaces), time.clone(), open).unwrap();
        let first = upstreams.borrow()[""].clone();
        Self { rig: Rig::over(setup, time, first, Rc::new(source)), upstreams }
    }

    /// The same, started, with one object in each.
    pub(super) fn new(namespaces: &[&str]) -> Self {
        let all = Self::idle(&Setup::default(), namespaces, |namespace, upstream| {
            if !namespace.is_empty() {
                upstream.put(namespace, "first");
            }
        });
        all.rig.resource.start();
        all.rig.run(0);
        assert_eq!(all.rig.status().phase, Phase::Live);
        all
    }

    pub(super) fn of(&self, namespace: &str) -> Rc<Upstream> {
        self.upstreams.borrow()[namespace].clone()
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.rig.rows().into_keys().collect()
    }

    pub(super) fn set(&self, namespaces: &[&str]) {
        self.rig.resource.set_namespaces(&owned(namespaces)).unwrap();
        self.rig.run(0);
    }

    /// What the branches say of themselves.
    pub(super) fn branches(&self) -> Vec<(String, Phase, Option<ErrorCode>)> {
        let told = |branch: &watchcache::connection::BranchStatus| {
            (branch.namespace.to_string(), branch.phase, branch.error.as_ref().map(|error| error.code))
        };
        self.rig.status().branches.iter().flatten().map(told).collect()
    }
}

/// The keys of `key@version`.
pub(super) fn without_versions(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| text.split('@').next().unwrap_or_default().to_owned()).collect()
}

pub(super) fn owned(namespaces: &[&str]) -> Vec<String> {
    namespaces.iter().map(ToString::to_string).collect()
}

pub(super) fn forbidden() -> Error {
    Error::new(ErrorCode::Forbidden, "pods is forbidden")
}

/// The server refuses this namespace from now on.
pub(super) fn refuse_from_now_on(all: &Namespaces, namespace: &str) {
    let upstream = all.of(namespace);
    upstream.watch_faults.borrow_mut().extend((0..50).map(|_| WatchFault::Refuse(forbidden())));
    upstream.list_faults.borrow_mut().extend((0..50).map(|_| ListFault::Refuse(forbidden())));
    upstream.drop_streams();
}

/// Two namespaces, of which the server refuses the second.
pub(super) fn with_one_refused() -> Namespaces {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| match namespace {
        "a" => _ = upstream.put("a", "x"),
        "b" => upstream.list_faults.borrow_mut().extend((0..3).map(|_| ListFault::Refuse(forbidden()))),
        _ => {}
    });
    all.rig.resource.start();
    all.rig.run(0);
    all
}

pub(super) fn check(all: &Namespaces) -> Outcome {
    all.rig.wait(all.rig.resource.clone().check_consistency())
}

/// The cache hears of an object that this namespace does not hold.
pub(super) fn ghost(all: &Namespaces, namespace: &str) {
    let upstream = all.of(namespace);
    upstream.pass(1);
    let version = upstream.version();
    let object = format!(r#"{{"metadata":{{"namespace":"{namespace}","name":"ghost","resourceVersion":"{version}"}}}}"#);
    upstream.send_raw(&format!(r#"{{"type":"ADDED","object":{object}}}"#));
    all.rig.run(0);
}

/// Two namespaces with an object in each, of which the server lets the second wait for a minute.
pub(super) fn with_one_slow() -> Namespaces {
    let all = Namespaces::idle(&Setup::default(), &["a", "b"], |namespace, upstream| {
        upstream.put(namespace, "first");
        upstream.latency.set(if namespace == "b" { 20_000 } else { 0 });
    });
    all.rig.resource.start();
    all.rig.run(0);
    all
}

/// Whether it is done after so many milliseconds.
pub(super) fn refreshed(all: &Namespaces, millis: u64) -> bool {
    let done = Rc::new(Cell::new(false));
    let (refresh, told) = (all.rig.resource.clone().refresh(), done.clone());
    all.rig.time.spawn(Box::pin(async move { told.set(refresh.await.is_ok()) }));
    all.rig.run(millis);
    done.get()
}
