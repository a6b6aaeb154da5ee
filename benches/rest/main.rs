//! What a resource holds at rest: bytes an object, and whether they stay what they are.
//!
//! `cargo bench --bench rest -- [--pods 100000] [--events 100000] [--further 1000000] [--rounds 2]`. Loads so many different pods, changes so many
//! of them with all of the changes in the window, and then goes on, in rounds. Prints one JSON object a line: `counted` is what the cache says, `held` what
//! the allocator gave, `peak` the most that it gave meanwhile, in bytes; and what packing and reading cost beside decoding the text.

mod counting;
mod pods;

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use serde_json::json;
use watchcache::cache::Cacher;
use watchcache::change::ChangeKind;
use watchcache::json::fields::FieldSet;
use watchcache::json::path::Path;
use watchcache::json::scan::scan_object;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::store::Indexes;
use watchcache::store::WindowBounds;
use watchcache::time;
use watchcache::version::Version;

use pods::Pods;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// The version of the list; changes count up from it.
const LIST: u64 = 1_000_000;
/// Objects for what packing and reading cost, and changes that are kept.
const COUNT: u32 = 2_000;
const HISTORY: usize = 20_000;
/// Versions that may be told one by the other.
const DEEPEST: u32 = 8;
/// Objects of one message, as the reflector sends them.
const PAGE: u32 = 100;

struct Cluster {
    pods: Pods,
    cacher: Cacher,
    count: u32,
    changes: Vec<u32>,
    version: u64,
    random: fastrand::Rng,
    before: usize,
    text: usize,
}

impl Cluster {
    fn new(pod: &[u8], count: u32, history: usize) -> Self {
        let mut fields = FieldSet::new(Vec::new());
        for path in ["spec.nodeName", "status.phase", "status.podIP"] {
            fields.slot(&Path::parse(path).expect("a path"));
        }
        let bounds = WindowBounds { lower: history, upper: history, ..WindowBounds::default() };
        Self {
            pods: Pods::new(pod),
            cacher: Cacher::new(Rc::new(RefCell::new(fields)), bounds, Indexes::default(), time::Instant::START),
            count,
            changes: vec![0; count as usize],
            version: LIST,
            random: fastrand::Rng::with_seed(7),
            before: counting::held(),
            text: 0,
        }
    }

    fn object(&self, number: u32) -> (Rc<Object>, usize) {
        let text = self.pods.write(number, self.changes[number as usize], self.version);
        let scanned = scan_object(text.as_bytes(), &self.cacher.fields().borrow()).expect("JSON");
        (Object::new(scanned).expect("a name and a version"), text.len())
    }

    fn load(&mut self) {
        let mut all = Vec::new();
        for start in (0..self.count).step_by(PAGE as usize) {
            let mut objects = Vec::new();
            for number in start..(start + PAGE).min(self.count) {
                let (object, length) = self.object(number);
                self.text += length;
                objects.push(object);
            }
            all.extend(objects.iter().cloned());
            self.cacher.apply(
                Message::Page { objects, loaded: all.len(), remaining: None },
                time::Instant::START,
                time::WallTime::UNIX_EPOCH,
            );
        }
        self.cacher.apply(
            Message::Replace { objects: all, version: Version::from(LIST) },
            time::Instant::START,
            time::WallTime::UNIX_EPOCH,
        );
        self.rest();
    }

    /// Changes pods, one at a time, with a round of packing after each thousand.
    fn change(&mut self, events: u32) {
        for event in 1..=events {
            let number = self.random.u32(..self.count);
            self.change_one(number);
            if event % 1000 == 0 {
                self.cacher.held_mut().begin_packing();
                while self.cacher.held_mut().pack_resting() {}
            }
        }
        self.rest();
    }

    /// A list whose objects were not packed yet.
    fn load_raw(&mut self) {
        let objects = (0..self.count).map(|number| self.object(number).0).collect();
        self.cacher.apply(Message::Replace { objects, version: Version::from(LIST) }, time::Instant::START, time::WallTime::UNIX_EPOCH);
    }

    /// Changes this pod.
    fn change_one(&mut self, number: u32) {
        self.changes[number as usize] += 1;
        self.version += 1;
        let (object, _) = self.object(number);
        self.cacher.apply(
            Message::Change { kind: ChangeKind::Modified, object, at: time::Instant::START },
            time::Instant::START,
            time::WallTime::UNIX_EPOCH,
        );
    }

    fn rest(&mut self) {
        self.cacher.held_mut().pack_all();
        let _told = self.cacher.standing_mut().take_signals();
    }

    fn print(&self, name: &str) {
        let stats = self.cacher.stats();
        let line = json!({
            "name": name,
            "objects": stats.objects,
            "history": stats.history,
            "text": self.text,
            "counted": stats.bytes,
            "history_bytes": stats.history_bytes,
            "held": counting::held() - self.before,
            "peak": counting::peak() - self.before,
        });
        println!("{line}");
    }
}

/// µs for each of these.
fn each<T>(items: &[T], mut work: impl FnMut(&T)) -> f64 {
    let began = Instant::now();
    items.iter().for_each(&mut work);
    began.elapsed().as_secs_f64() * 1e6 / items.len() as f64
}

fn timed(count: u32, work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}

/// The median of so many rounds.
fn median(mut round: impl FnMut() -> f64) -> f64 {
    let mut rounds: Vec<f64> = (0..7).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[3]
}

fn cost(pod: &[u8]) {
    let packing = median(|| {
        let mut cluster = Cluster::new(pod, COUNT, HISTORY);
        cluster.load_raw();
        timed(COUNT, || cluster.rest())
    });
    let mut cluster = Cluster::new(pod, COUNT, HISTORY);
    cluster.load();
    let objects: Vec<Rc<Object>> = cluster.cacher.store().iter().cloned().collect();
    let texts: Vec<Vec<u8>> = objects.iter().map(|object| object.text().to_vec()).collect();
    let read = median(|| each(&objects, |object| drop(black_box(object.text()))));
    let decode = median(|| each(&texts, |text| drop(black_box(serde_json::from_slice::<serde_json::Value>(text)))));
    // So many changes to each that the first version is undone as often as can be. A round packs the versions that were replaced, each with
    // the object itself.
    let replaced = (0..DEEPEST).map(|_| {
        (0..COUNT).for_each(|number| cluster.change_one(number));
        timed(COUNT, || cluster.rest())
    });
    let replaced = replaced.fold(f64::MAX, f64::min) - packing;
    let undo = median(|| each(&objects, |object| drop(black_box(object.text()))));
    assert!(objects.iter().zip(&texts).all(|(object, text)| *object.text() == **text), "what is read is what was written");
    println!("{}", json!({"name": "cost", "pack": packing, "replace": replaced, "read": read, "undo": undo, "decode": decode}));
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|it| it == name).and_then(|at| arguments.get(at + 1)).cloned();
    let number = |name: &str, default: u32| value(name).map_or(default, |text| text.parse().expect("a number"));
    let pod = std::fs::read(value("--pod").unwrap_or_else(|| "tests/data/pod.json".into())).expect("a pod");
    let (pods, events) = (number("--pods", 100_000), number("--events", 100_000));
    let (further, rounds) = (number("--further", 1_000_000), number("--rounds", 2));

    cost(&pod);
    let mut cluster = Cluster::new(&pod, pods, events as usize);
    counting::peak();
    cluster.load();
    cluster.print("loaded");
    cluster.change(events);
    cluster.print("changed");
    for _ in 0..rounds {
        cluster.change(further);
        cluster.print("further");
    }
}
