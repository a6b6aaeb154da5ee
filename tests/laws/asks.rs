//! Reads and writes through the resource. Each answer is compared with the upstream's state.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use watchcache::cache::{List, ListOptions, Resource, Written};
use watchcache::object::Object;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::{DeleteOptions, WriteParameters};
use watchcache::status::Error;

use crate::helpers::model::{SELECTIONS, Selection, pod, pod_document};
use crate::helpers::upstream::{State, Upstream};
use crate::steps::{Ask, Match, StartAt};

/// How the requests of a world ended.
#[derive(Debug, Default)]
pub struct Answers {
    /// Not yet answered.
    pub open: Cell<usize>,
    /// Pages, and lists that were read to their end.
    pub pages: Cell<usize>,
    pub lists: Cell<usize>,
    /// Lists with a later page of a past state.
    pub past: Cell<usize>,
    pub objects: Cell<usize>,
    pub writes: Cell<usize>,
    pub not_found: Cell<usize>,
    /// Failures by their HTTP code; 0 where there is none.
    pub failures: RefCell<BTreeMap<u16, usize>>,
    /// A replica was behind at some time. Then the newest state is not promised.
    pub lagged: Cell<bool>,
    /// Nothing failed upstream, so each failure is the request's own.
    pub calm: Cell<bool>,
}

/// The object that a write was answered with.
fn object_of(written: Written) -> Rc<Object> {
    written.object().expect("an object")
}

fn count(cell: &Cell<usize>) {
    cell.set(cell.get() + 1);
}

/// What a request needs to be judged.
#[derive(Clone)]
pub struct Asking {
    pub resource: Rc<Resource>,
    pub upstream: Rc<Upstream>,
    pub time: Rc<VirtualTime>,
    pub answers: Rc<Answers>,
}

impl Asking {
    fn version(&self) -> u64 {
        self.resource.with(|cacher| cacher.version().as_u64().unwrap())
    }

    fn at(&self, at: StartAt) -> Option<u64> {
        match at {
            StartAt::Unset => None,
            StartAt::Zero => Some(0),
            StartAt::Back(versions) => Some(self.version().saturating_sub(versions).max(1)),
            StartAt::Ahead(versions) => Some(self.version() + versions),
            StartAt::At(version) => Some(version),
        }
    }

    fn spawn(&self, work: impl Future<Output = Result<(), Error>> + 'static) {
        let answers = self.answers.clone();
        count(&answers.open);
        self.time.spawn(Box::pin(async move {
            if let Err(error) = work.await {
                let code = error.status.as_ref().map_or(0, |status| status.code);
                *answers.failures.borrow_mut().entry(code).or_default() += 1;
            }
            answers.open.set(answers.open.get() - 1);
        }));
    }

    /// Reads a list to its end. Fails where a page does, as it may.
    pub fn list(&self, ask: &Ask) {
        let (this, ask) = (self.clone(), ask.clone());
        let version = self.at(ask.at);
        self.spawn(async move {
            let selection = &SELECTIONS[ask.selection];
            let kind = match ask.kind {
                Match::Unsaid => None,
                Match::NotOlderThan => Some("NotOlderThan"),
                Match::Exact => Some("Exact"),
            };
            let mut options = ListOptions {
                resource_version: version.map(|version| version.to_string()),
                resource_version_match: kind.map(Into::into),
                limit: ask.limit.into(),
                ..selection.list()
            };
            let mut walk = Walk::new(selection, version, &ask, &this);
            loop {
                let page = match this.resource.clone().list(options.clone()).await {
                    Ok(page) => page,
                    Err(error) => {
                        walk.judge_failure(&error, &this);
                        return Err(error);
                    }
                };
                walk.judge(&page, &this);
                count(&this.answers.pages);
                let Some(token) = page.continue_token else { break };
                options = ListOptions { resource_version: None, resource_version_match: None, continue_token: Some(token), ..options };
                this.time.sleep(ask.pause).await;
            }
            count(&this.answers.lists);
            Ok(())
        });
    }

    /// Gets one object. The answer must have been true at some time between the version named (or the question) and the answer.
    pub fn get(&self, number: u8, at: StartAt) {
        let (this, asked) = (self.clone(), self.at(at));
        let (namespace, name) = pod(number);
        // The ninth is nowhere.
        let key = if number < 8 { format!("{namespace}/{name}") } else { "ns0/none".to_string() };
        let held = self.version();
        let since = if asked.is_none() { self.upstream.version() } else { held.max(asked.unwrap_or(0)) };
        self.spawn(async move {
            let answer = this.resource.clone().get(key.clone(), asked.map(|version| version.to_string())).await;
            let since = if this.answers.lagged.get() { 0 } else { since };
            let stood = stood(&this.upstream, &key, since);
            match answer {
                Ok(object) => {
                    count(&this.answers.objects);
                    let found = Some(row(&object).1);
                    assert!(stood.contains(&found), "{object:?} did not stand there since {since}: {stood:?}");
                    assert!(this.answers.lagged.get() || object.version().as_u64() <= Some(this.upstream.version()));
                    Ok(())
                }
                Err(error) if error.status.as_ref().is_some_and(|status| status.code == 404) => {
                    count(&this.answers.not_found);
                    assert!(stood.contains(&None), "{key} stood there since {since}: {stood:?}");
                    Ok(())
                }
                Err(error) => {
                    let code = error.status.as_ref().map(|status| status.code);
                    let future = asked.is_some_and(|asked| asked > held);
                    assert!(!this.answers.calm.get() || future && code == Some(504), "a get of {key} at {asked:?}: {error}");
                    Err(error)
                }
            }
        });
    }

    pub fn create(&self, number: u8, node: u8, app: u8) {
        let (this, (namespace, name)) = (self.clone(), pod(number));
        let key = format!("{namespace}/{name}");
        self.spawn(async move {
            let asked = this.upstream.version();
            match this.resource.clone().create(pod_document(number, node, app, None), WriteParameters::default()).await.map(object_of) {
                Ok(object) => this.judge_write("ADDED", &key, &object),
                Err(error) => {
                    let exists = error.status.as_ref().is_some_and(|status| status.reason == "AlreadyExists");
                    assert!(!exists || stood(&this.upstream, &key, asked).iter().any(Option::is_some), "{key} was not there");
                    assert!(!this.answers.calm.get() || exists, "{error}");
                    return Err(error);
                }
            }
            Ok(())
        });
    }

    pub fn update(&self, number: u8, node: u8, app: u8) {
        let (this, (namespace, name)) = (self.clone(), pod(number));
        let key = format!("{namespace}/{name}");
        self.spawn(async move {
            let asked = this.upstream.version();
            let change = |held: &Rc<Object>| Ok::<_, Error>(Some(pod_document(number, node, app, Some(&held.text()))));
            match this.resource.clone().update(key.clone(), WriteParameters::default(), change).await.map(object_of) {
                Ok(object) => {
                    // One that changes nothing is no write: the object is as it was.
                    this.judge_write("", &key, &object);
                    let want = pod_document(number, node, app, Some(&object.text()));
                    assert_eq!(String::from_utf8(want).unwrap(), *row(&object).1.1);
                }
                Err(watchcache::cache::Failure::Refused(error)) => {
                    let missing = error.status.as_ref().is_some_and(|status| status.code == 404);
                    assert!(!missing || this.answers.lagged.get() || stood(&this.upstream, &key, asked).contains(&None), "{key} was there");
                    assert!(!this.answers.calm.get() || missing, "{error}");
                    return Err(error);
                }
                Err(watchcache::cache::Failure::Thrown(error)) => return Err(error),
            }
            Ok(())
        });
    }

    pub fn remove(&self, number: u8) {
        let (this, (namespace, name)) = (self.clone(), pod(number));
        let key = format!("{namespace}/{name}");
        self.spawn(async move {
            let asked = this.upstream.version();
            let result = this.resource.clone().delete(key.clone(), DeleteOptions::default()).await;
            let stood = stood(&this.upstream, &key, asked);
            match result {
                Ok(()) => {
                    count(&this.answers.writes);
                    let deleted =
                        this.upstream.log().iter().any(|write| write.version > asked && write.key == key && write.kind == "DELETED");
                    assert!(deleted, "{key} was never deleted");
                }
                Err(error) => {
                    let missing = error.status.as_ref().is_some_and(|status| status.code == 404);
                    assert!(!missing || stood.contains(&None), "{key} was there");
                    assert!(!this.answers.calm.get() || missing, "{error}");
                    return Err(error);
                }
            }
            Ok(())
        });
    }

    /// The answer to a write is what the upstream has noted down. If nothing is late, the cache has reached its version.
    fn judge_write(&self, kind: &str, key: &str, object: &Rc<Object>) {
        count(&self.answers.writes);
        let (version, document) = row(object).1;
        let log = self.upstream.log();
        let write = log.iter().find(|write| write.version == version).unwrap_or_else(|| panic!("{object:?} was never written"));
        assert_eq!((write.key.as_str(), &write.document), (key, &document));
        assert!(kind.is_empty() || write.kind == kind, "{write:?}");
        if self.answers.calm.get() {
            assert!(self.version() >= version, "{object:?} is told before it is held");
        }
    }
}

/// A list that is read page by page.
struct Walk<'a> {
    selection: &'a Selection,
    asked: Option<u64>,
    exact: bool,
    limit: Option<usize>,
    /// The lowest version that the answer may have.
    floor: u64,
    pages: Option<(u64, Vec<Row>)>,
}

impl<'a> Walk<'a> {
    fn new(selection: &'a Selection, asked: Option<u64>, ask: &Ask, asking: &Asking) -> Self {
        // A limit together with a version names that very version.
        let exact = ask.kind == Match::Exact || ask.kind == Match::Unsaid && ask.limit > 0 && asked.is_some_and(|asked| asked > 0);
        // A request about one key has no pages; nor has one at version 0.
        let single =
            selection.list().field_selector.is_some_and(|fields| fields.contains("metadata.name=")) && selection.namespace.is_some();
        let limit = usize::from(ask.limit);
        let floor = asked.unwrap_or_else(|| asking.upstream.version());
        Self { selection, asked, exact, limit: (limit > 0 && asked != Some(0) && !single).then_some(limit), floor, pages: None }
    }

    fn judge(&mut self, page: &List, asking: &Asking) {
        let version = page.version.as_u64().unwrap();
        assert!(version > 0 && version <= asking.upstream.version(), "a list of the future: {version}");
        if let Some((first, _)) = &self.pages {
            assert_eq!(version, *first, "a page of another state");
        } else if self.exact {
            assert_eq!(Some(version), self.asked);
        } else if !asking.answers.lagged.get() {
            assert!(version >= self.floor, "a list at {version} where {} is asked for", self.floor);
        }
        if version < asking.version() {
            count(&asking.answers.past);
        }
        let pages = &mut self.pages.get_or_insert((version, Vec::new())).1;
        for object in &page.objects {
            assert!(*object.version() <= page.version, "{object:?} is newer than its list");
            pages.push(row(object));
        }
        if let Some(limit) = self.limit {
            assert!(page.objects.len() <= limit, "{} objects of {limit}", page.objects.len());
        }
        let truth: Vec<Row> = self.selection.of(&asking.upstream.state_at(version)).into_iter().collect();
        assert!(pages.len() <= truth.len() && *pages == truth[..pages.len()], "at {version}: {pages:?}, of {truth:?}");
        let rest = truth.len() - pages.len();
        if page.continue_token.is_none() {
            assert_eq!(rest, 0, "at {version}: {pages:?}, of {truth:?}");
        }
        if let Some(remaining) = page.remaining {
            assert!(self.selection.is_unselective(), "nobody can know how many remain");
            assert_eq!(remaining, rest as u64);
        }
    }

    /// In calm weather it is known which requests fail, and how.
    fn judge_failure(&self, error: &Error, asking: &Asking) {
        if !asking.answers.calm.get() {
            return;
        }
        let code = error.status.as_ref().map(|status| status.code);
        let version = self.pages.as_ref().map(|(version, _)| *version).or(self.asked);
        let pinned = self.exact || self.pages.is_some();
        // What is ahead of the cache may be forgotten upstream by then.
        let forgotten = pinned && version.is_some_and(|version| version < asking.upstream.compacted());
        let to_come = version.is_some_and(|version| version > asking.version());
        assert!(code == Some(410) && forgotten || code == Some(504) && to_come, "a list at {:?}: {error}", self.asked);
    }
}

/// Key, version and document.
type Row = (String, (u64, Rc<str>));

fn row(object: &Object) -> Row {
    let document = String::from_utf8(object.text().to_vec()).unwrap();
    (object.key().to_string(), (object.version().as_u64().unwrap(), document.into()))
}

/// All that stood under a key since a version.
fn stood(upstream: &Upstream, key: &str, since: u64) -> Vec<Option<(u64, Rc<str>)>> {
    let of = |state: State| state.get(key).cloned();
    let mut stood = vec![of(upstream.state_at(since.min(upstream.version())))];
    let writes = upstream.log().into_iter().filter(|write| write.version > since && write.key == key);
    stood.extend(writes.map(|write| (write.kind != "DELETED").then_some((write.version, write.document))));
    stood
}
