//! The paths that an event, a list or a view takes in a busy page. The figures are recorded in `figures.json`.

use std::hint::black_box;
use std::rc::Rc;

use watchcache::cache::{Basis, Cacher};
use watchcache::change::ChangeKind;
use watchcache::json::Scalar;
use watchcache::json::frame::{Frame, scan_frame};
use watchcache::json::list::{GivenItems, ListItems, ListScanner};
use watchcache::json::update::{scan_held_item, scan_update};
use watchcache::json::{FieldSet, Scanned};
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::selector::{Filter, FilterText};
use watchcache::time::{Instant, WallTime};
use watchcache::view::{RowRange, ViewOptions};
use watchcache::watch::{Demand, WatchOptions};

use crate::counted::Work;
use crate::counted::documents::{POD, list_page, pod, small};
use crate::counted::pods::{FIRST_VERSION, cacher, documents, fill, object};

/// One path.
pub(crate) struct Hot {
    /// As it stands in the figures.
    pub(crate) name: &'static str,
    /// What the instructions are divided by.
    pub(crate) units: usize,
    pub(crate) prepare: fn() -> Work,
}

/// All of them.
pub(crate) const ALL: &[Hot] = &[
    Hot { name: "scan-frame", units: 50, prepare: scan },
    Hot { name: "compare-heartbeat", units: 50, prepare: compare },
    Hot { name: "compare-heartbeat-after-list", units: 50, prepare: compare_listed },
    Hot { name: "ingest-nobody", units: EVENTS, prepare: || ingest(0, 0) },
    Hot { name: "ingest-1000-10", units: EVENTS, prepare: || ingest(1_000, 10) },
    Hot { name: "ingest-1000-1000", units: EVENTS, prepare: || ingest(1_000, 1_000) },
    Hot { name: "list-500-of-100000", units: 1, prepare: list },
    Hot { name: "view-flush-1000", units: 1, prepare: view },
    Hot { name: "list-page", units: PAGE, prepare: page },
    Hot { name: "relist-page", units: PAGE, prepare: relist },
    Hot { name: "first-read-of-a-field", units: 50, prepare: field },
    Hot { name: "pack", units: PODS, prepare: pack },
    Hot { name: "pack-heartbeats", units: PODS, prepare: || pack_heartbeats("") },
    Hot { name: "pack-heartbeats-after-list", units: PODS, prepare: || pack_heartbeats(KIND) },
    Hot { name: "read-resting", units: PODS, prepare: unpack },
];

/// The members that items of lists lack.
const KIND: &str = r#""apiVersion":"v1","kind":"Pod","#;
const EVENTS: usize = 200;
const PAGE: usize = 100;
const PODS: usize = 200;
const OBJECTS: usize = 100_000;
/// As many bytes as a browser hands over at a time.
const CHUNK: usize = 64 << 10;

fn frames(count: usize) -> Vec<String> {
    documents(POD, count).iter().map(|text| format!("{{\"type\":\"MODIFIED\",\"object\":{text}}}\n")).collect()
}

fn read(frame: &str, cacher: &Cacher) -> Rc<Object> {
    match scan_frame(frame.as_bytes(), &cacher.fields().borrow()).expect("a frame") {
        Frame::Event { object, .. } => Object::new(object).expect("a name and a version"),
        _ => unreachable!("every frame is a change"),
    }
}

fn apply(cacher: &mut Cacher, object: Rc<Object>) {
    let blocked = cacher.apply(Message::change(ChangeKind::Modified, object, Instant::START), Instant::START, WallTime::UNIX_EPOCH);
    assert!(!blocked, "a watcher was too slow");
}

fn scan() -> Work {
    let (frames, cacher) = (frames(50), cacher());
    Box::new(move || {
        for frame in &frames {
            black_box(scan_frame(frame.as_bytes(), &cacher.fields().borrow()).expect("a frame"));
        }
    })
}

/// The next version of each object, compared with what is held.
fn compare() -> Work {
    compared("", 3)
}

/// The same where an item of a list is held, which has neither kind nor apiVersion.
fn compare_listed() -> Work {
    compared(KIND, 4)
}

/// The next version of each object, which differs in its version and two times, compared with what is held: all but the `lacking` members.
fn compared(lacking: &'static str, edits: usize) -> Work {
    let (frames, cacher) = (frames(50), cacher());
    let held: Vec<Rc<Object>> = frames.iter().map(|frame| read(&frame.replacen(lacking, "", 1), &cacher)).collect();
    let next = |frame: &String| {
        let frame = frame.replacen("\"resourceVersion\":\"", "\"resourceVersion\":\"9", 1);
        let conditions = frame.find("\"conditions\"").expect("a status");
        frame[..conditions].to_string() + &frame[conditions..].replacen("Time\":\"202", "Time\":\"203", 2)
    };
    let frames: Vec<String> = frames.iter().map(next).collect();
    Box::new(move || {
        let fields = cacher.fields().borrow();
        for (frame, held) in frames.iter().zip(&held) {
            let (_, update) = scan_update(frame.as_bytes(), &fields, |_, _| Some(held.lend())).expect("few differences");
            assert_eq!(black_box(update).edits.map(|edits| edits.edits.len()), Some(edits));
        }
    })
}

/// Frames into a cacher that is warm, each flushed by itself; `watchers`, of which so many match.
fn ingest(watchers: usize, matching: usize) -> Work {
    let frames = frames(2 * EVENTS);
    let mut cacher = cacher();
    let options: Vec<WatchOptions> = (0..watchers)
        .map(|i| WatchOptions {
            resource_version: Some(FIRST_VERSION.to_string()),
            field_selector: Some(format!("spec.nodeName=node-{}", if i < matching { 0 } else { i })),
            ..WatchOptions::default()
        })
        .collect();
    let registered: Vec<_> = options.iter().map(|options| cacher.watching().register(options)).collect();
    fill(&mut cacher, Vec::new(), FIRST_VERSION);
    for ((id, start), options) in registered.into_iter().zip(&options) {
        cacher.watching().start(id, options, &start.expect("sound options"), &Basis::default(), Instant::START);
        cacher.dispatcher_mut().demand(id, Demand::All);
    }
    let _nothing = cacher.dispatcher_mut().take_outbox();
    let mut delivered = 0;
    let mut one = move |frame: &String| {
        let object = read(frame, &cacher);
        apply(&mut cacher, object);
        let (outbox, _) = cacher.dispatcher_mut().take_outbox();
        delivered += outbox.pairs().len() / 2;
        delivered
    };
    frames[..EVENTS].iter().for_each(|frame| _ = one(frame));
    Box::new(move || {
        let delivered = frames[EVENTS..].iter().map(&mut one).last();
        assert_eq!(delivered, Some(2 * EVENTS * matching), "deliveries");
    })
}

fn many() -> Cacher {
    let mut cacher = cacher();
    let list = (0..OBJECTS).map(|i| object(&small(i, FIRST_VERSION), &cacher.fields().borrow())).collect();
    fill(&mut cacher, list, FIRST_VERSION);
    cacher
}

/// A page of a namespace, from a key in its midst, that passes a selector.
fn list() -> Work {
    let cacher = many();
    let asked = FilterText { namespace: Some("team-050"), labels: Some("tier!=test"), ..FilterText::default() };
    let filter = Filter::new(asked, &mut cacher.fields().borrow_mut()).expect("a selector");
    Box::new(move || {
        let state = cacher.held().state();
        let passes = |object: &&Rc<Object>| filter.passes(object, &cacher.fields().borrow());
        let page: Vec<_> = state.range("team-050/", "team-050/pod-00200").filter(passes).take(500).cloned().collect();
        assert_eq!(page.len(), 500);
        black_box(page);
    })
}

/// What 1,000 events cost a view of 50 rows over all objects, with the flush that shows them.
fn view() -> Work {
    let mut cacher = many();
    let options = ViewOptions {
        label_selector: Some("tier!=test".into()),
        order: vec![("spec.nodeName".into(), false, Some("natural".into())), ("metadata.name".into(), false, None)],
        group_by: Some("spec.nodeName".into()),
        ..ViewOptions::default()
    };
    let id = cacher.viewing().open(&options).expect("a view");
    while cacher.viewing().build(OBJECTS) {}
    let range = cacher.views_mut().open_range(id, RowRange { offset: 1_000, limit: 50 }).expect("a range");
    cacher.viewing().look(id);
    let version = |i: usize| FIRST_VERSION + 1 + i as u64;
    let events: Vec<_> = (0..2_000).map(|i| object(&small(i * 7 % OBJECTS, version(i)), &cacher.fields().borrow())).collect();
    let mut flush = move |events: &[Rc<Object>]| {
        events.iter().for_each(|object| apply(&mut cacher, object.clone()));
        assert_eq!(cacher.views_mut().take_changed(), [id]);
        assert!(cacher.viewing().look(id));
        black_box(cacher.views().of_range(range).map(|view| view.rows(range).cloned().collect::<Vec<_>>().len()));
    };
    flush(&events[..1_000]);
    Box::new(move || flush(&events[1_000..]))
}

fn page() -> Work {
    let (text, cacher) = (list_page(PAGE), cacher());
    Box::new(move || {
        let (mut scanner, mut count) = (ListScanner::new(), 0);
        for chunk in text.as_bytes().chunks(CHUNK) {
            let mut item = |item| count += usize::from(Object::new(item).is_ok());
            scanner.push(chunk, &cacher.fields().borrow(), &mut item).expect("a page");
        }
        assert_eq!((count, scanner.finish().expect("a page").items), (PAGE, GivenItems::Array));
    })
}

/// The same page where all of it is held.
fn relist() -> Work {
    let (text, mut cacher) = (list_page(PAGE), cacher());
    let mut objects = Vec::new();
    let mut item = |item| objects.push(Object::new(item).expect("a name and a version"));
    ListScanner::new().push(text.as_bytes(), &cacher.fields().borrow(), &mut item).expect("a page");
    fill(&mut cacher, objects, FIRST_VERSION);
    cacher.held_mut().pack_all();
    Box::new(move || {
        let (mut scanner, mut items) = (ListScanner::new(), Relisted { cacher: &cacher, same: 0 });
        for chunk in text.as_bytes().chunks(CHUNK) {
            scanner.push_to(chunk, &cacher.fields().borrow(), &mut items).expect("a page");
        }
        assert_eq!((items.same, scanner.finish().expect("a page").items), (PAGE, GivenItems::Array));
    })
}

/// Takes items that are held.
struct Relisted<'c> {
    cacher: &'c Cacher,
    same: usize,
}

impl ListItems for Relisted<'_> {
    fn item(&mut self, _: Scanned) {
        unreachable!("all of them are held");
    }

    fn held_item(&mut self, document: &[u8], start: usize, fields: &FieldSet) -> Option<usize> {
        let held = |namespace: &str, name: &str| Some(self.cacher.store().get(&format!("{namespace}/{name}"))?.lend());
        let (update, end) = scan_held_item(document, start, fields, held).ok()?;
        self.same += usize::from(update.edits.is_none());
        Some(end)
    }
}

/// A path that is registered after the objects have come. It is searched in their texts.
fn field() -> Work {
    let cacher = cacher();
    let objects: Vec<_> = documents(POD, 50).iter().map(|text| object(text, &cacher.fields().borrow())).collect();
    let slot = cacher.fields().borrow_mut().slot(&watchcache::json::path::Path::parse("status.phase").expect("a path"));
    Box::new(move || {
        for object in &objects {
            assert!(!matches!(object.field(slot, &cacher.fields().borrow()), Scalar::Missing));
        }
    })
}

/// Pods that are all different, as they came.
fn pods() -> Cacher {
    let mut cacher = cacher();
    let list = (0..PODS).map(|i| object(&pod(i, FIRST_VERSION), &cacher.fields().borrow())).collect();
    fill(&mut cacher, list, FIRST_VERSION);
    cacher
}

/// Brings objects to rest, the choice of their dictionary included.
fn pack() -> Work {
    let mut cacher = pods();
    Box::new(move || cacher.held_mut().pack_all())
}

/// Brings to rest what heartbeats brought, and what they replaced: all but the `lacking` members.
fn pack_heartbeats(lacking: &'static str) -> Work {
    let mut cacher = cacher();
    let list = (0..PODS).map(|i| object(&pod(i, FIRST_VERSION).replacen(lacking, "", 1), &cacher.fields().borrow())).collect();
    fill(&mut cacher, list, FIRST_VERSION);
    cacher.held_mut().pack_all();
    for i in 0..PODS {
        let text = pod(i, FIRST_VERSION + 1 + i as u64);
        let conditions = text.find("\"conditions\"").expect("a status");
        let text = text[..conditions].to_string() + &text[conditions..].replacen("Time\":\"202", "Time\":\"203", 2);
        let frame = format!("{{\"type\":\"MODIFIED\",\"object\":{text}}}");
        let held = cacher.store().iter().nth(i).expect("as many pods").clone();
        let (_, update) = scan_update(frame.as_bytes(), &cacher.fields().borrow(), |_, _| Some(held.text())).expect("few differences");
        let object = held.updated(&update.held, update.edits.expect("a difference"), 1).expect("a version");
        apply(&mut cacher, object);
    }
    Box::new(move || cacher.held_mut().pack_all())
}

/// The text of each object that rests.
fn unpack() -> Work {
    let mut cacher = pods();
    cacher.held_mut().pack_all();
    Box::new(move || {
        let bytes: usize = cacher.store().iter().map(|object| black_box(object.text()).len()).sum();
        assert!(bytes > PODS * 10_000);
    })
}
