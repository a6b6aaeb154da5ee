//! Live views against rows that are filtered and sorted from scratch, after random changes, looks and moves. Some come while the view is
//! built.

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Value, json};
use watchcache::json::Path;
use watchcache::json::fields::FieldSet;
use watchcache::object::{Object, ObjectId};
use watchcache::selector::{FieldSelector, LabelSelector};
use watchcache::view::{OrderAs, OrderBy, RangeId, RowRange, Search, View, ViewSpec};

use crate::helpers::view::{column, object, slot};

/// What is interesting about an object here.
#[derive(Debug, Clone, PartialEq)]
struct Pod {
    namespace: &'static str,
    name: String,
    app: &'static str,
    phase: &'static str,
    rank: Option<i64>,
}

impl Pod {
    fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    fn document(&self, version: u64) -> Value {
        json!({
            "metadata": {"namespace": self.namespace, "name": self.name, "resourceVersion": version.to_string(), "labels": {"app": self.app}},
            "spec": {"rank": self.rank},
            "status": {"phase": self.phase},
        })
    }
}

fn pod(names: usize) -> impl Strategy<Value = Pod> {
    (
        prop::sample::select(vec!["a", "b", "c"]),
        0..names,
        prop::sample::select(vec!["web", "db"]),
        prop::sample::select(vec!["Running", "Pending", "Failed"]),
        prop::option::weighted(0.9, -3i64..20),
    )
        .prop_map(|(namespace, number, app, phase, rank)| Pod { namespace, name: format!("pod-{number}"), app, phase, rank })
}

#[derive(Debug, Clone)]
enum Step {
    Set(Pod),
    Delete(&'static str, usize),
    Relist(Vec<Pod>),
    Open(RowRange),
    Move(usize, RowRange),
    Close(usize),
    /// The view finds so many more objects.
    Find(usize),
    /// Verdicts on so many.
    Decide(usize),
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => pod(12).prop_map(Step::Set),
        4 => (prop::sample::select(vec!["a", "b", "c"]), 0..12usize).prop_map(|(namespace, number)| Step::Delete(namespace, number)),
        1 => prop::collection::vec(pod(12), 0..20).prop_map(Step::Relist),
        1 => window().prop_map(Step::Open),
        2 => (0..3usize, window()).prop_map(|(range, window)| Step::Move(range, window)),
        1 => (0..3usize).prop_map(Step::Close),
        3 => (1..6usize).prop_map(Step::Find),
        3 => (1..6usize).prop_map(Step::Decide),
        6 => Just(Step::Look),
    ]
}

fn window() -> impl Strategy<Value = RowRange> {
    prop_oneof![3 => (0..20usize, 0..12usize).prop_map(|(offset, limit)| RowRange { offset, limit }), 1 => Just(RowRange::ALL)]
}

/// A filter that the view and the model share, the order as levels of (what, descending), and what is left to a verdict.
#[derive(Debug, Clone)]
struct Shape {
    namespaces: Option<Vec<&'static str>>,
    app: Option<&'static str>,
    not_phase: Option<&'static str>,
    search: Option<Typed>,
    order: Vec<(Level, bool)>,
    odd_rank: bool,
    /// Rows show phase and rank, and a field that no pod has.
    selects: bool,
}

/// What was typed into a filter box, and whether labels and a field are searched, too.
#[derive(Debug, Clone)]
struct Typed {
    words: Vec<&'static str>,
    more: bool,
}

fn typed() -> impl Strategy<Value = Typed> {
    let word = prop::sample::select(vec!["1", "A/Pod", "-1", "b/", "WEB", "=d", "app=", "n", "Running", "ing", "a", "0"]);
    (prop::collection::vec(word, 0..3), any::<bool>()).prop_map(|(words, more)| Typed { words, more })
}

impl Typed {
    /// The same by a plain look at all texts.
    fn finds(&self, pod: &Pod) -> bool {
        let mut texts = vec![pod.key()];
        if self.more {
            texts.extend([format!("app={}", pod.app), pod.phase.to_owned()]);
        }
        self.words.iter().all(|word| texts.iter().any(|text| text.to_lowercase().contains(&word.to_lowercase())))
    }

    fn search(&self, fields: &mut FieldSet) -> Search {
        let paths = ["metadata.namespace", "metadata.name", "metadata.labels", "status.phase"].map(|path| Path::parse(path).unwrap());
        Search::new(&self.words.join(" "), self.more.then_some(&paths[..]), fields)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Phase,
    Rank,
    Name,
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        prop::option::of(prop::collection::vec(prop::sample::select(vec!["a", "b", "z"]), 0..3)),
        prop::option::of(prop::sample::select(vec!["web", "db"])),
        prop::option::of(prop::sample::select(vec!["Failed", "Pending"])),
        prop::option::of(typed()),
        prop::collection::vec((prop::sample::select(vec![Level::Phase, Level::Rank, Level::Name]), any::<bool>()), 0..3),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(namespaces, app, not_phase, search, order, odd_rank, selects)| Shape {
            namespaces,
            app,
            not_phase,
            search,
            order,
            odd_rank,
            selects,
        })
}

impl Shape {
    fn view(&self, fields: &mut FieldSet) -> View {
        let order = self.order.iter().map(|(level, descending)| {
            let (path, kind) = match level {
                Level::Phase => ("status.phase", OrderAs::Text),
                Level::Rank => ("spec.rank", OrderAs::Number),
                Level::Name => ("metadata.name", OrderAs::Natural),
            };
            OrderBy { column: column(fields, path), descending: *descending, kind }
        });
        let spec = ViewSpec {
            namespaces: self.namespaces.as_ref().map(|names| names.iter().map(|name| name.to_string()).collect()),
            order: order.collect(),
            label: LabelSelector::parse(&self.app.map_or(String::new(), |app| format!("app={app}"))).unwrap(),
            field: FieldSelector::parse(&self.not_phase.map_or(String::new(), |phase| format!("status.phase!={phase}"))).unwrap(),
            search: self.search.as_ref().map(|typed| typed.search(fields)),
            group_by: Some(column(fields, "status.phase")),
            needs_verdict: self.odd_rank,
            select: self.selects.then(|| ["status.phase", "no.such", "spec.rank"].map(|path| Path::parse(path).unwrap().into()).to_vec()),
            derived: Vec::new(),
        };
        View::new(spec, fields).unwrap()
    }

    /// Whether it passes all but a verdict.
    fn selects(&self, pod: &Pod) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.contains(&pod.namespace))
            && self.app.is_none_or(|app| pod.app == app)
            && self.not_phase.is_none_or(|phase| pod.phase != phase)
            && self.search.as_ref().is_none_or(|typed| typed.finds(pod))
    }

    fn sort(&self, rows: &mut [(Pod, ObjectId)]) {
        rows.sort_by(|(a, _), (b, _)| {
            for (level, descending) in &self.order {
                let ordering = match level {
                    Level::Phase => a.phase.cmp(b.phase),
                    Level::Rank => a.rank.cmp(&b.rank),
                    Level::Name => number(&a.name).cmp(&number(&b.name)),
                };
                let ordering = if *descending { ordering.reverse() } else { ordering };
                // Rows without a rank come last in both directions.
                let missing = *level == Level::Rank && (a.rank.is_none() || b.rank.is_none());
                let ordering = if missing { a.rank.is_none().cmp(&b.rank.is_none()) } else { ordering };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            a.key().cmp(&b.key())
        });
    }
}

fn number(name: &str) -> usize {
    name.trim_start_matches("pod-").parse().unwrap()
}

/// What a view tells.
#[derive(Debug, Clone, PartialEq, Default)]
struct Told {
    total: usize,
    counts: BTreeMap<String, usize>,
    loaded: bool,
    /// All that may be seen, in order.
    rows: Vec<(String, ObjectId)>,
    /// What each row shows, where rows show selected fields.
    texts: BTreeMap<String, String>,
}

/// A store, the view of it, and the pods as plain data.
struct World {
    shape: Shape,
    fields: FieldSet,
    view: View,
    version: u64,
    pods: BTreeMap<String, Pod>,
    objects: BTreeMap<String, Rc<Object>>,
    ranges: Vec<(RangeId, RowRange)>,
    /// With verdicts: the rows at the versions that last passed, and the verdicts that the view has not taken in.
    placed: BTreeMap<String, (Pod, ObjectId)>,
    verdicts: Vec<(String, ObjectId, bool)>,
    /// What was told at the last look. It holds until the next.
    told: Told,
    was_loaded: bool,
    /// What each stamp has stood for.
    stamps: BTreeMap<u64, (String, String)>,
}

impl World {
    /// With a view that is built from these pods in slices, or that starts without any.
    fn new(shape: Shape, pods: Option<&[Pod]>) -> Self {
        let mut fields = FieldSet::new(Vec::new());
        let view = shape.view(&mut fields);
        let mut world = World {
            shape,
            fields,
            view,
            version: 0,
            pods: BTreeMap::new(),
            objects: BTreeMap::new(),
            ranges: Vec::new(),
            placed: BTreeMap::new(),
            verdicts: Vec::new(),
            told: Told::default(),
            was_loaded: false,
            stamps: BTreeMap::new(),
        };
        for pod in pods.unwrap_or_default() {
            world.put(pod);
        }
        if pods.is_some() {
            world.view.begin();
        }
        world.look();
        world
    }

    fn put(&mut self, pod: &Pod) -> (Option<Rc<Object>>, Rc<Object>) {
        self.version += 1;
        let mut new = object(&pod.document(self.version), &self.fields);
        // As the store does: facts that are the same in both are shared.
        if let (Some(old), Some(new)) = (self.objects.get(&pod.key()), Rc::get_mut(&mut new)) {
            new.share_with(old);
        }
        self.pods.insert(pod.key(), pod.clone());
        (self.objects.insert(pod.key(), new.clone()), new)
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Set(pod) => {
                let (old, new) = self.put(pod);
                self.view.change(old.as_ref(), Some(&new), &self.fields);
            }
            Step::Delete(namespace, number) => {
                let key = format!("{namespace}/pod-{number}");
                self.pods.remove(&key);
                if let Some(old) = self.objects.remove(&key) {
                    self.view.change(Some(&old), None, &self.fields);
                }
            }
            Step::Relist(pods) => self.relist(pods),
            Step::Open(window) => {
                let range = self.ranges.last().map_or(0, |(range, _)| range.number() + 1).into();
                self.view.open_range(range, *window);
                self.ranges.push((range, *window));
            }
            Step::Move(number, window) => {
                if let Some((range, held)) = self.ranges.get_mut(*number) {
                    self.view.move_range(*range, *window);
                    *held = *window;
                }
            }
            Step::Close(number) => {
                if *number < self.ranges.len() {
                    self.view.close_range(self.ranges.remove(*number).0);
                }
            }
            Step::Find(count) => {
                if let Some(key) = self.view.finds_after().map(ToOwned::to_owned) {
                    let behind = self.objects.iter().filter(|(held, _)| **held > key).map(|(_, object)| object);
                    self.view.find(behind.take(*count), &self.fields);
                }
            }
            Step::Decide(count) => self.decide(*count),
            Step::Look => self.look(),
        }
        // Whatever happens, all of it is told at the next look.
        self.stands();
    }

    /// The store changes at once, and the view hears of the differences.
    fn relist(&mut self, pods: &[Pod]) {
        let known = self.pods.clone();
        let listed: BTreeMap<String, &Pod> = pods.iter().map(|pod| (pod.key(), pod)).collect();
        let mut differences = Vec::new();
        for key in known.keys().filter(|key| !listed.contains_key(*key)) {
            self.pods.remove(key);
            differences.push((self.objects.remove(key), None));
        }
        // Some objects are still the same ones, as they are when a relist finds them unchanged.
        for pod in listed.into_values().filter(|pod| known.get(&pod.key()) != Some(pod)) {
            let (old, new) = self.put(pod);
            differences.push((old, Some(new)));
        }
        for (old, new) in &differences {
            self.view.change(old.as_ref(), new.as_ref(), &self.fields);
        }
    }

    fn decide(&mut self, count: usize) {
        let waiting: Vec<Rc<Object>> = self.view.undecided().take(count).cloned().collect();
        for object in waiting {
            assert!(self.shape.odd_rank);
            // On the object that was handed out, whether it has been replaced or not.
            let passes = object.field(slot(&mut self.fields, "spec.rank"), &self.fields).text().parse::<i64>().unwrap_or(0) % 2 != 0;
            assert!(self.view.decide(object.id(), passes));
            assert!(!self.view.decide(object.id(), passes), "there is one verdict");
            self.verdicts.push((object.key().to_string(), object.id(), passes));
        }
    }

    /// What the view has to tell of this moment.
    fn truth(&mut self) -> Told {
        let behind = self.view.finds_after().map(ToOwned::to_owned);
        let found = |key: &String| behind.as_ref().is_none_or(|behind| key <= behind);
        let selected = self.pods.iter().filter(|(key, pod)| found(key) && self.shape.selects(pod));
        let selected: BTreeMap<String, (Pod, ObjectId)> =
            selected.map(|(key, pod)| (key.clone(), (pod.clone(), self.objects[key].id()))).collect();
        let waits;
        if self.shape.odd_rank {
            self.placed.retain(|key, _| selected.contains_key(key));
            for (key, id, passes) in self.verdicts.drain(..) {
                match selected.get(&key).filter(|(_, held)| *held == id) {
                    Some(row) if passes => _ = self.placed.insert(key, row.clone()),
                    Some(_) => _ = self.placed.remove(&key),
                    None => {}
                }
            }
            waits = self.view.undecided().count() > 0;
        } else {
            self.placed = selected;
            waits = false;
        }
        let mut rows: Vec<(Pod, ObjectId)> = self.placed.values().cloned().collect();
        self.shape.sort(&mut rows);
        let mut counts = BTreeMap::new();
        rows.iter().for_each(|(pod, _)| *counts.entry(pod.phase.to_owned()).or_insert(0) += 1);
        let loaded = behind.is_none() && !waits;
        self.was_loaded |= loaded;
        let shows = self.was_loaded || self.shape.order.is_empty();
        let total = rows.len();
        let text =
            |pod: &Pod| format!("[{:?},{:?},0,{},[1]]", pod.key(), pod.phase, pod.rank.map_or("null".to_owned(), |rank| rank.to_string()));
        let texts = rows.iter().filter(|_| self.shape.selects).map(|(pod, _)| (pod.key(), text(pod))).collect();
        let rows = rows.into_iter().filter(|_| shows).map(|(pod, id)| (pod.key(), id)).collect();
        Told { total, counts, loaded, rows, texts }
    }

    /// Everything the view says is of the last look.
    fn stands(&self) {
        let told = &self.told;
        assert_eq!(self.view.total(), told.total);
        assert_eq!(self.view.counts().iter().map(|(value, count)| (value.to_string(), *count)).collect::<BTreeMap<_, _>>(), told.counts);
        assert_eq!(self.view.is_loaded(), told.loaded);
        assert_eq!(
            self.view.keys().map(ToString::to_string).collect::<Vec<_>>(),
            told.rows.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()
        );
        for (position, (key, id)) in told.rows.iter().enumerate() {
            assert_eq!(self.view.index_of(key), Some(position));
            assert_eq!(self.view.at(position).map(|row| row.id()), Some(*id));
        }
        assert!(self.view.at(told.rows.len()).is_none());
        for key in self.pods.keys().filter(|key| !told.rows.iter().any(|(row, _)| row == *key)) {
            assert_eq!(self.view.index_of(key), None);
        }
        for (range, window) in &self.ranges {
            let expected: Vec<_> = told.rows.iter().skip(window.offset).take(window.limit).cloned().collect();
            let rows: Vec<_> = self.view.rows(*range).map(|row| (row.key().to_string(), row.id())).collect();
            assert_eq!(rows, expected);
        }
    }

    fn look(&mut self) {
        let builds = self.view.finds_after().is_some();
        let (stirred, first) = (self.view.is_stirred(), self.version == 0 && self.ranges.is_empty());
        let changed = self.view.look(true, &self.fields);
        let before = std::mem::take(&mut self.told);
        self.told = self.truth();
        self.stands();
        let shows = |told: &Told| -> Vec<_> {
            self.ranges
                .iter()
                .map(|(_, window)| told.rows.iter().skip(window.offset).take(window.limit).cloned().collect::<Vec<_>>())
                .map(|rows| rows.into_iter().map(|(key, id)| told.texts.get(&key).cloned().ok_or((key, id))).collect::<Vec<_>>())
                .collect()
        };
        if (before.total, &before.counts, before.loaded, shows(&before))
            != (self.told.total, &self.told.counts, self.told.loaded, shows(&self.told))
        {
            assert!(changed, "what a look has changed is said");
            assert!(stirred || builds || first, "and was to be looked at");
        }
        self.shows_what_it_selects();
        assert!(!self.view.is_stirred());
        assert!(!self.view.look(true, &self.fields), "a second look finds nothing new");
        self.stands();
    }

    /// Each row in sight shows its fields, and has the stamp it had while these are the same.
    fn shows_what_it_selects(&mut self) {
        for (range, _) in self.ranges.clone() {
            let keys: Vec<String> = self.view.rows(range).map(|row| row.key().to_string()).collect();
            let stamps = self.view.stamps(range);
            assert_eq!(stamps.len(), if self.shape.selects { keys.len() } else { 0 });
            let all: Vec<u32> = (0..stamps.len() as u32).collect();
            let texts: Vec<&str> = keys.iter().filter_map(|key| self.told.texts.get(key).map(String::as_str)).collect();
            assert_eq!(String::from_utf8(self.view.fields(range, &all)).unwrap(), format!("[{}]", texts.join(",")));
            for ((key, stamp), text) in keys.into_iter().zip(stamps).zip(texts) {
                let held = self.stamps.insert(stamp, (key.clone(), text.to_owned()));
                assert!(held.is_none_or(|held| held == (key, text.to_owned())), "a stamp stands for one text of one row");
            }
        }
    }

    fn finish(&mut self) {
        self.apply(&Step::Look);
        while self.view.finds_after().is_some() {
            self.apply(&Step::Find(5));
        }
        for _ in 0..2 {
            self.apply(&Step::Look);
            self.apply(&Step::Decide(usize::MAX));
        }
        self.apply(&Step::Look);
        assert!(self.told.loaded);
        let rows = self.pods.values().filter(|pod| self.shape.selects(pod) && (!self.shape.odd_rank || pod.rank.unwrap_or(0) % 2 != 0));
        assert_eq!(self.view.total(), rows.count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn vs_05_a_view_is_filter_and_sort_from_scratch_at_each_look_and_stands_still_between(
        shape in shape(),
        first in prop::option::of(prop::collection::vec(pod(12), 0..25)),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut world = World::new(shape, first.as_deref());
        world.apply(&Step::Open(RowRange { offset: 0, limit: 5 }));
        for step in &steps {
            world.apply(step);
        }
        world.finish();
    }
}

/// Enough rows for the ordered set to split and join its nodes, and more changes at once than a look takes in.
#[test]
fn large_views_stay_in_order() {
    let mut random = fastrand::Rng::with_seed(7);
    let order = vec![(Level::Rank, true), (Level::Name, false)];
    let shape = Shape { namespaces: None, app: None, not_phase: Some("Failed"), search: None, order, odd_rank: false, selects: false };
    let mut world = World::new(shape, None);
    world.apply(&Step::Open(RowRange { offset: 1500, limit: 40 }));
    let mut change = |world: &mut World, deletes: u32| {
        let namespace = ["a", "b", "c"][random.usize(0..3)];
        let number = random.usize(0..3000);
        if random.u32(0..10) < deletes {
            let key = format!("{namespace}/pod-{number}");
            world.pods.remove(&key);
            if let Some(old) = world.objects.remove(&key) {
                world.view.change(Some(&old), None, &world.fields);
            }
        } else {
            let phase = ["Running", "Pending", "Failed"][random.usize(0..3)];
            let pod = Pod { namespace, name: format!("pod-{number}"), app: "web", phase, rank: Some(random.i64(-3..20)) };
            let (old, new) = world.put(&pod);
            world.view.change(old.as_ref(), Some(&new), &world.fields);
        }
    };
    for (changes, deletes) in [(8_000, 0), (4_000, 5), (12_000, 9)] {
        for index in 0..changes {
            change(&mut world, deletes);
            if index % 500 == 0 {
                world.look();
            }
        }
        world.look();
    }
    assert!(world.version > 8_000);
    let most = 9_000;
    for number in 0..most {
        let pod = Pod { namespace: "d", name: format!("pod-{number}"), app: "web", phase: "Running", rank: Some(1) };
        let (old, new) = world.put(&pod);
        world.view.change(old.as_ref(), Some(&new), &world.fields);
    }
    let mut looks = 0;
    while {
        world.view.look(true, &world.fields);
        !world.view.is_loaded()
    } {
        looks += 1;
    }
    assert_eq!(looks, 8, "a look takes in no more than it can in a while");
    world.told = world.truth();
    world.stands();
}
