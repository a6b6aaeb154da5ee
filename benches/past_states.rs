//! How to read the objects as they were: by undoing what the window holds, as this package does, or from persistent clones of the tree that
//! are recorded at every change, as the apiserver does. Both in one run, on 100,000 objects with 10 % churn: `cargo bench`.
//!
//! Times and bytes are this machine's; read the ratios. Both ways have to read the same objects, or the run fails.

#![allow(missing_docs, clippy::print_stdout, clippy::cast_precision_loss)]

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    native::main();
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::collections::VecDeque;
    use std::hint::black_box;
    use std::rc::Rc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use imbl::OrdMap;
    use watchcache::cache::Cacher;
    use watchcache::change::Change;
    use watchcache::change::ChangeKind;
    use watchcache::json::FieldSet;
    use watchcache::key::Key;
    use watchcache::message::Message;
    use watchcache::object::Object;
    use watchcache::store::Indexes;
    use watchcache::store::{Strays, Window, WindowBounds};
    use watchcache::testing;
    use watchcache::time;
    use watchcache::version::Version;

    const OBJECTS: u64 = 100_000;
    const CHURN: u64 = OBJECTS / 10;
    const NAMESPACES: u64 = 20;
    const ROUNDS: usize = 7;

    struct Counting;

    static HELD: AtomicUsize = AtomicUsize::new(0);

    // Counts what is held; the work is the system's.
    #[allow(unsafe_code)]
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            HELD.fetch_add(layout.size(), Ordering::Relaxed);
            // SAFETY: handed on as it came.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            HELD.fetch_sub(layout.size(), Ordering::Relaxed);
            // SAFETY: handed on as it came.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    fn held() -> usize {
        HELD.load(Ordering::Relaxed)
    }

    /// What both ways do.
    trait History {
        fn new(objects: &[Rc<Object>]) -> Self;
        fn change(&mut self, object: &Rc<Object>);
        fn get(&self, version: u64, key: &str) -> u64;
        /// The versions of so many objects from a prefix on, added up.
        fn list(&self, version: u64, prefix: &str, limit: usize) -> u64;
    }

    fn bounds() -> WindowBounds {
        WindowBounds { lower: 2 * CHURN as usize, max_bytes: usize::MAX, ..WindowBounds::default() }
    }

    fn number(object: &Rc<Object>) -> u64 {
        object.version().as_u64().unwrap_or_default()
    }

    struct Undo(Cacher);

    impl History for Undo {
        fn new(objects: &[Rc<Object>]) -> Self {
            let fields = Rc::new(std::cell::RefCell::new(FieldSet::new(Vec::new())));
            let mut cacher = Cacher::new(fields, bounds(), Indexes::default(), time::Instant::START);
            cacher.apply(
                Message::Replace { objects: objects.to_vec(), version: Version::from(OBJECTS) },
                time::Instant::START,
                time::WallTime::UNIX_EPOCH,
            );
            Self(cacher)
        }

        fn change(&mut self, object: &Rc<Object>) {
            self.0.apply(
                Message::Change { kind: ChangeKind::Modified, object: object.clone(), at: time::Instant::START },
                time::Instant::START,
                time::WallTime::UNIX_EPOCH,
            );
        }

        fn get(&self, version: u64, key: &str) -> u64 {
            let state = self.0.held().state_at(&Version::from(version)).expect("the window reaches back");
            state.get(key).map_or(0, number)
        }

        fn list(&self, version: u64, prefix: &str, limit: usize) -> u64 {
            let state = self.0.held().state_at(&Version::from(version)).expect("the window reaches back");
            state.range(prefix, "").take(limit).map(number).sum()
        }
    }

    /// The window is there in either case, for watches; the clones come on top.
    struct Persistent {
        store: OrdMap<Key, Rc<Object>>,
        window: Window,
        clones: VecDeque<(Version, OrdMap<Key, Rc<Object>>)>,
    }

    impl Persistent {
        fn at(&self, version: u64) -> &OrdMap<Key, Rc<Object>> {
            let version = Version::from(version);
            let next = self.clones.partition_point(|(recorded, _)| *recorded <= version);
            &self.clones[next - 1].1
        }
    }

    impl History for Persistent {
        fn new(objects: &[Rc<Object>]) -> Self {
            let store: OrdMap<Key, Rc<Object>> = objects.iter().map(|object| (object.key().clone(), object.clone())).collect();
            let mut window = Window::new(bounds());
            window.reset(Version::from(OBJECTS), time::Instant::START, &mut Strays::default());
            Self { clones: VecDeque::from([(Version::from(OBJECTS), store.clone())]), store, window }
        }

        fn change(&mut self, object: &Rc<Object>) {
            let previous = self.store.insert(object.key().clone(), object.clone());
            self.clones.push_back((object.version().clone(), self.store.clone()));
            self.window.push(
                Change { kind: ChangeKind::Modified, object: object.clone(), previous, at: time::Instant::START },
                &mut Strays::default(),
            );
        }

        fn get(&self, version: u64, key: &str) -> u64 {
            self.at(version).get(key).map_or(0, number)
        }

        fn list(&self, version: u64, prefix: &str, limit: usize) -> u64 {
            let from: Key = prefix.into();
            let range = self.at(version).range(from..).take_while(|(key, _)| key.starts_with(prefix));
            range.take(limit).map(|(_, object)| number(object)).sum()
        }
    }

    fn pod(number: u64, version: u64) -> Rc<Object> {
        testing::object(&format!("ns-{:02}/pod-{number:06}", number % NAMESPACES), version)
    }

    const ROWS: [&str; 7] = [
        "one change",
        "bytes that the past adds, a change",
        "bytes of store and past",
        "get, 10,000 changes back",
        "list of 500 of a namespace, 10,000 changes back",
        "list of everything, 10,000 changes back",
        "list of everything, now",
    ];

    /// One round: a number for each row, and what was read.
    fn round<H: History>(objects: &[Rc<Object>], changes: &[Rc<Object>]) -> ([f64; ROWS.len()], Vec<u64>) {
        let empty = held();
        let mut history = H::new(objects);
        let before = held();
        let began = Instant::now();
        for change in changes {
            history.change(change);
        }
        let change = began.elapsed().as_secs_f64() / changes.len() as f64;
        let (added, whole) = ((held() - before) as f64 / changes.len() as f64, (held() - empty) as f64);
        let (past, now) = (OBJECTS, OBJECTS + CHURN);
        let mut read = Vec::new();
        let mut time = |repeat: usize, work: &dyn Fn() -> u64| {
            let began = Instant::now();
            let results: Vec<u64> = (0..repeat).map(|_| black_box(work())).collect();
            read.push(results[0]);
            began.elapsed().as_secs_f64() / repeat as f64
        };
        let get = time(20, &|| history.get(past, "ns-07/pod-050007"));
        let page = time(20, &|| history.list(past, "ns-07/", 500));
        let all = time(3, &|| history.list(past, "", usize::MAX));
        let live = time(3, &|| history.list(now, "", usize::MAX));
        ([change, added, whole, get, page, all, live], read)
    }

    fn median(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    pub(crate) fn main() {
        let objects: Vec<Rc<Object>> = (0..OBJECTS).map(|number| pod(number, number + 1)).collect();
        let mut random = fastrand::Rng::with_seed(1);
        let changes: Vec<Rc<Object>> = (1..=CHURN).map(|change| pod(random.u64(..OBJECTS), OBJECTS + change)).collect();
        let (mut undo, mut persistent) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (ours, read) = round::<Undo>(&objects, &changes);
            let (theirs, expected) = round::<Persistent>(&objects, &changes);
            assert_eq!(read, expected, "both ways read the same");
            undo.push(ours);
            persistent.push(theirs);
        }
        println!("{:<50} {:>12} {:>12} {:>8}", "medians of 7 rounds in turn", "undo", "persistent", "ratio");
        for (row, name) in ROWS.into_iter().enumerate() {
            let ours = median(undo.iter().map(|round| round[row]).collect());
            let theirs = median(persistent.iter().map(|round| round[row]).collect());
            let show = |value: f64| if name.starts_with("bytes") { format!("{value:.0} B") } else { format!("{:.1} µs", value * 1e6) };
            println!("{name:<50} {:>12} {:>12} {:>8.3}", show(ours), show(theirs), ours / theirs);
        }
    }
}
