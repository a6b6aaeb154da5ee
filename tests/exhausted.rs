//! The host gives no more memory. What arrives then fails with `out-of-memory`, and nothing that is held is lost.

#![cfg(not(target_arch = "wasm32"))]

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, stream};
use watchcache::cache::{ListOptions, Resource, ResourceConfig};
use watchcache::connection::Phase;
use watchcache::json::{ErrorKind, FieldSet, ListScanner};
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::page::read_all;
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
use watchcache::status::{Error, ErrorCode};

#[global_allocator]
static HOST: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// One at a time: all tests of this program share its allocator.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// As many bytes as a browser hands over at a time.
const CHUNK: usize = 64 << 10;
/// What the host still gives: enough for any usual frame, and for a fifth of what is sent.
const LEFT: usize = 6 << 20;
const LONG: usize = 30 << 20;

/// Does this while the host gives no more than `LEFT`.
fn starved<R>(work: impl FnOnce() -> R) -> R {
    HOST.set_limit(HOST.allocated() + LEFT).unwrap();
    let result = work();
    HOST.set_limit(usize::MAX).unwrap();
    result
}

/// What an upstream sends: two texts, and a run of letters between them.
#[derive(Clone, Default)]
struct Document {
    before: String,
    letters: usize,
    behind: String,
}

impl Document {
    /// Its bytes in chunks. Each is made when it is asked for, so the document itself takes no memory of the host.
    fn chunks(self) -> PageStream {
        let rest = self.letters;
        let letters = (0..rest.div_ceil(CHUNK)).map(move |at| vec![b'x'; CHUNK.min(rest - at * CHUNK)]);
        let all = std::iter::once(self.before.into_bytes()).chain(letters).chain([self.behind.into_bytes()]);
        stream::iter(all.map(Ok)).boxed_local()
    }
}

fn list(items: &str, letters: usize, behind: &str) -> Document {
    let before = format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"7"}},"items":[{items}"#);
    Document { before, letters, behind: behind.into() }
}

const SMALL: &str = r#"{"metadata":{"name":"small","resourceVersion":"5"}}"#;

fn long_item() -> Document {
    list(&format!(r#"{SMALL},{{"metadata":{{"name":"long","resourceVersion":"6"}},"text":""#), LONG, r#""}]}"#)
}

/// An upstream that answers every list with this.
struct Answers(Rc<RefCell<Document>>);

impl Source for Answers {
    fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let document = self.0.borrow().clone();
        async move { Ok(document.chunks()) }.boxed_local()
    }

    fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        async { Ok(stream::pending().boxed_local()) }.boxed_local()
    }
}

struct Rig {
    time: Rc<VirtualTime>,
    resource: Rc<Resource>,
    answer: Rc<RefCell<Document>>,
}

impl Rig {
    /// A resource that holds one small object.
    fn new() -> Self {
        let answer = Rc::new(RefCell::new(list(SMALL, 0, "]}")));
        let time = VirtualTime::new(7);
        let config = ResourceConfig { check_consistency: false, ..ResourceConfig::named("pods") };
        let resource = Resource::new(config, Rc::new(Answers(answer.clone())), time.clone()).unwrap();
        resource.start();
        time.advance(0);
        let rig = Self { time, resource, answer };
        assert_eq!((rig.phase(), rig.held()), (Phase::Live, 1));
        rig
    }

    fn phase(&self) -> Phase {
        self.resource.with(|cacher| cacher.status().phase)
    }

    fn held(&self) -> usize {
        self.resource.with(|cacher| cacher.stats().objects)
    }

    /// Lists anew, with this as the answer.
    fn relist(&self, answer: Document) -> Result<(), Error> {
        *self.answer.borrow_mut() = answer;
        self.time.run_until(self.resource.clone().refresh())
    }
}

#[test]
fn an_item_of_a_list_that_there_is_no_memory_for_fails_the_list_and_nothing_else() {
    let _alone = ALONE.lock();
    let rig = Rig::new();
    let error = starved(|| rig.relist(long_item())).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
    assert_eq!((rig.phase(), rig.held()), (Phase::Failed, 1), "what was held is held");
    // With memory again it goes on.
    rig.resource.resume();
    rig.time.run_until(rig.resource.clone().synced()).unwrap();
    rig.time.advance(0);
    assert_eq!((rig.phase(), rig.held()), (Phase::Live, 2));
}

#[test]
fn the_error_names_the_byte_of_the_page_at_which_memory_ran_out() {
    let _alone = ALONE.lock();
    let fields = FieldSet::new(Vec::new());
    let first = format!(r#"{{"items":[{SMALL}"#);
    let rest = format!(r#",{{"text":"{}"#, "x".repeat(LONG));
    let mut scanner = ListScanner::new();
    scanner.push(first.as_bytes(), &fields, &mut |_| {}).unwrap();
    let error = starved(|| scanner.push(rest.as_bytes(), &fields, &mut |_| {})).unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::OutOfMemory, first.len() + 1), "where the item begins that is too long");
}

#[test]
fn what_stands_around_the_items_is_bounded_by_the_same_error() {
    let _alone = ALONE.lock();
    let rig = Rig::new();
    let error = starved(|| rig.relist(list(&format!(r#"{SMALL}],"more":""#), LONG, r#""}"#))).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
    assert_eq!((rig.phase(), rig.held()), (Phase::Failed, 1));
}

#[test]
fn a_list_of_the_upstream_that_there_is_no_memory_for_fails_alone() {
    let _alone = ALONE.lock();
    let rig = Rig::new();
    *rig.answer.borrow_mut() = long_item();
    // At a version that is not held the upstream is asked.
    let options = || ListOptions { limit: 10, resource_version: Some("3".into()), ..ListOptions::default() };
    let options = || ListOptions { resource_version_match: Some("Exact".into()), ..options() };
    let error = starved(|| rig.time.run_until(rig.resource.clone().list(options()))).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
    assert_eq!((rig.phase(), rig.held()), (Phase::Live, 1), "the cache itself goes on");
    assert_eq!(rig.time.run_until(rig.resource.clone().list(options())).unwrap().objects.len(), 2);
}

#[test]
fn a_single_object_that_there_is_no_memory_for_is_the_error() {
    let _alone = ALONE.lock();
    let object = |letters| Document { before: r#"{"text":""#.into(), letters, behind: r#""}"#.into() }.chunks();
    let read = |letters| read_all(object(letters)).now_or_never().unwrap();
    assert_eq!(starved(|| read(LONG)).unwrap_err().code, ErrorCode::OutOfMemory);
    // The gathered text would just fit, but its reader keeps a copy.
    assert_eq!(starved(|| read(LEFT * 7 / 10)).unwrap_err().code, ErrorCode::OutOfMemory);
    assert_eq!(read(LONG).unwrap().len(), LONG + 11);
}
