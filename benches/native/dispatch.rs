//! What an event costs: decoding it, and its way to the watchers.

use std::rc::Rc;

use watchcache::cache::{Basis, Cacher};
use watchcache::change::ChangeKind;
use watchcache::json::frame::{Frame, scan_frame};
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;
use watchcache::watch::{Demand, WatchOptions};

use crate::Measured;
use crate::clock::Spent;
use crate::pods::{BETWEEN_TURNS, FIRST_VERSION, cacher, documents, fill, object, rest};

/// How many events are under way at once, as in the other benchmark.
const BATCH: usize = 8;

/// One cacher with watchers, and events that go through it.
pub(crate) struct Scenario {
    /// As in `benches/go`, where it has a peer there.
    pub(crate) name: &'static str,
    /// Events of a whole run.
    pub(crate) events: usize,
    watchers: usize,
    /// How many of them want the events; the others want the pods of other nodes.
    matching: usize,
    /// Watchers without any selector, which all want them.
    everything: bool,
    /// Whether reading the frame counts.
    json: bool,
}

const fn watchers(name: &'static str, events: usize, watchers: usize, matching: usize) -> Scenario {
    Scenario { name, events, watchers, matching, everything: false, json: false }
}

/// Everything that is measured here.
pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { json: true, ..watchers("decode", 1_000, 0, 0) },
    Scenario { everything: true, ..watchers("all-1000", 1_000, 1_000, 1_000) },
    watchers("field-1000-10", 1_000, 1_000, 10),
    watchers("trigger-100-1", 2_000, 100, 1),
    watchers("trigger-10000-10", 2_000, 10_000, 10),
    Scenario { json: true, ..watchers("json-1000-10", 1_000, 1_000, 10) },
    // The cost of an event must not grow with watchers that it does not concern.
    watchers("watchers-10", 2_000, 10, 10),
    watchers("watchers-1000", 2_000, 1_000, 10),
    watchers("watchers-100000", 2_000, 100_000, 10),
];

impl Scenario {
    /// Runs it once.
    pub(crate) fn run(&self, pod: &[u8], events: usize) -> Measured {
        let texts = documents(pod, events);
        let frames: Vec<String> = texts.iter().map(|text| format!("{{\"type\":\"MODIFIED\",\"object\":{text}}}\n")).collect();
        let mut cacher = cacher();
        let open: Vec<WatchOptions> = (0..self.watchers).map(|i| self.options(i)).collect();
        // Selectors name fields, and fields are read when an object is scanned: first the watchers, then the objects.
        let registered: Vec<_> = open.iter().map(|options| cacher.watching().register(options)).collect();
        let first =
            object(&texts[0].replace(&format!("\"{}\"", FIRST_VERSION + 1), &format!("\"{FIRST_VERSION}\"")), &cacher.fields().borrow());
        fill(&mut cacher, vec![first], FIRST_VERSION);
        for ((id, start), options) in registered.into_iter().zip(&open) {
            cacher.watching().start(id, options, &start.expect("sound options"), &Basis::default(), Instant::START);
            cacher.dispatcher_mut().demand(id, Demand::All);
        }
        let _nothing = cacher.dispatcher_mut().take_outbox();
        let decoded: Vec<Rc<Object>> =
            if self.json { Vec::new() } else { texts.iter().map(|text| object(text, &cacher.fields().borrow())).collect() };
        drop(texts);

        let mut delivered = 0;
        let mut decoded = decoded.into_iter();
        let mut frames = frames.iter();
        let (mut spent, mut packing) = (Spent::default(), Spent::default());
        for from in (0..events).step_by(BETWEEN_TURNS) {
            let to = (from + BETWEEN_TURNS).min(events);
            spent.add(|| {
                for at in (from..to).step_by(BATCH) {
                    for _ in at..(at + BATCH).min(to) {
                        let object =
                            if self.json { read(frames.next().expect("a frame"), &cacher) } else { decoded.next().expect("an object") };
                        if self.watchers > 0 {
                            let blocked = cacher.apply(
                                Message::change(ChangeKind::Modified, object, Instant::START),
                                Instant::START,
                                WallTime::UNIX_EPOCH,
                            );
                            assert!(!blocked, "a watcher was too slow");
                        }
                    }
                    delivered += take(&mut cacher);
                }
            });
            packing.add(|| rest(&mut cacher));
        }
        assert!(!cacher.held().needs_packing(), "{}: what an event leaves behind is packed when the clock stops", self.name);
        let expected = events * if self.everything { self.watchers } else { self.matching };
        assert_eq!(delivered, expected as u64, "{}: deliveries", self.name);
        Measured { units: events, spent, packing: (self.watchers > 0).then_some(packing), delivered }
    }

    fn options(&self, i: usize) -> WatchOptions {
        let node = if i < self.matching { 0 } else { i };
        WatchOptions {
            resource_version: Some(FIRST_VERSION.to_string()),
            field_selector: (!self.everything).then(|| format!("spec.nodeName=node-{node}")),
            ..WatchOptions::default()
        }
    }
}

fn read(frame: &str, cacher: &Cacher) -> Rc<Object> {
    match scan_frame(frame.as_bytes(), &cacher.fields().borrow()).expect("a frame") {
        Frame::Event { object, .. } => Object::new(object).expect("a name and a version"),
        _ => unreachable!("every frame is a change"),
    }
}

/// Takes what a flush would tell, and looks at each delivery as the receiver would.
fn take(cacher: &mut Cacher) -> u64 {
    let mut delivered = 0;
    loop {
        let (outbox, more) = cacher.dispatcher_mut().take_outbox();
        assert!(outbox.ended.is_empty(), "a watcher has ended");
        for pair in outbox.pairs().chunks_exact(2) {
            let event = &outbox.events[pair[1] as usize];
            delivered += u64::from(event.version > Version::ZERO);
        }
        if !more {
            return delivered;
        }
    }
}
