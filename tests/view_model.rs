//! Live views against the same picture made from scratch, after random changes.

mod view_support;

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Value, json};
use watchcache::json::fields::FieldSet;
use watchcache::object::Object;
use watchcache::selector::{FieldSelector, LabelSelector};
use watchcache::view::{OrderAs, OrderBy, View, ViewSpec, Window};

use view_support::{keys, object, slot};

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
    Window(Window),
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => pod(12).prop_map(Step::Set),
        4 => (prop::sample::select(vec!["a", "b", "c"]), 0..12usize).prop_map(|(namespace, number)| Step::Delete(namespace, number)),
        1 => prop::collection::vec(pod(12), 0..20).prop_map(Step::Relist),
        1 => window().prop_map(Step::Window),
        6 => Just(Step::Look),
    ]
}

fn window() -> impl Strategy<Value = Window> {
    prop_oneof![3 => (0..20usize, 0..12usize).prop_map(|(offset, limit)| Window { offset, limit }), 1 => Just(Window::ALL)]
}

/// A filter that the view and the model share, the order as levels of (what, descending), and what is left to a verdict.
#[derive(Debug, Clone)]
struct Shape {
    namespaces: Option<Vec<&'static str>>,
    app: Option<&'static str>,
    not_phase: Option<&'static str>,
    order: Vec<(Level, bool)>,
    window: Option<Window>,
    odd_rank: bool,
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
        prop::collection::vec((prop::sample::select(vec![Level::Phase, Level::Rank, Level::Name]), any::<bool>()), 0..3),
        prop::option::of(window()),
        any::<bool>(),
    )
        .prop_map(|(namespaces, app, not_phase, order, window, odd_rank)| Shape {
            namespaces,
            app,
            not_phase,
            order,
            window,
            odd_rank,
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
            OrderBy { slot: slot(fields, path), descending: *descending, kind }
        });
        let spec = ViewSpec {
            namespaces: self.namespaces.as_ref().map(|names| names.iter().map(|name| name.to_string()).collect()),
            order: order.collect(),
            window: self.window,
            label: LabelSelector::parse(&self.app.map_or(String::new(), |app| format!("app={app}"))).unwrap(),
            field: FieldSelector::parse(&self.not_phase.map_or(String::new(), |phase| format!("status.phase!={phase}"))).unwrap(),
            group_by: Some(slot(fields, "status.phase")),
            predicate: self.odd_rank,
        };
        View::new(spec, fields).unwrap()
    }

    fn passes(&self, pod: &Pod) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.contains(&pod.namespace))
            && self.app.is_none_or(|app| pod.app == app)
            && self.not_phase.is_none_or(|phase| pod.phase != phase)
            && (!self.odd_rank || odd(pod))
    }

    fn sorted(&self, pods: impl Iterator<Item = Pod>) -> Vec<Pod> {
        let mut rows: Vec<Pod> = pods.filter(|pod| self.passes(pod)).collect();
        rows.sort_by(|a, b| {
            for (level, descending) in &self.order {
                let ordering = match level {
                    Level::Phase => a.phase.cmp(b.phase),
                    Level::Rank => a.rank.is_none().cmp(&b.rank.is_none()).then(a.rank.cmp(&b.rank)),
                    Level::Name => number(&a.name).cmp(&number(&b.name)),
                };
                let ordering = if *descending { ordering.reverse() } else { ordering };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            a.key().cmp(&b.key())
        });
        rows
    }
}

fn odd(pod: &Pod) -> bool {
    pod.rank.unwrap_or(0) % 2 != 0
}

fn number(name: &str) -> usize {
    name.trim_start_matches("pod-").parse().unwrap()
}

/// A store, the view of it, and the pods as plain data.
struct World {
    shape: Shape,
    fields: FieldSet,
    view: View,
    version: u64,
    pods: BTreeMap<String, Pod>,
    objects: BTreeMap<String, Rc<Object>>,
    // What was seen at the last look.
    seen: (Vec<String>, usize, BTreeMap<String, usize>),
}

impl World {
    fn new(shape: Shape) -> Self {
        let mut fields = FieldSet::new(Vec::new());
        let view = shape.view(&mut fields);
        World { shape, fields, view, version: 0, pods: BTreeMap::new(), objects: BTreeMap::new(), seen: (Vec::new(), 0, BTreeMap::new()) }
    }

    fn put(&mut self, pod: &Pod) -> (Option<Rc<Object>>, Rc<Object>) {
        self.version += 1;
        let new = object(&pod.document(self.version), &self.fields);
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
                let old = self.objects.remove(&key);
                self.view.change(old.as_ref(), None, &self.fields);
            }
            Step::Relist(pods) => {
                // Some objects are still the same ones, as they are when a relist finds them unchanged.
                let known = std::mem::take(&mut self.pods);
                let pods: BTreeMap<String, &Pod> = pods.iter().map(|pod| (pod.key(), pod)).collect();
                self.objects.retain(|key, _| pods.contains_key(key));
                for pod in pods.into_values() {
                    if known.get(&pod.key()) == Some(pod) {
                        self.pods.insert(pod.key(), pod.clone());
                    } else {
                        self.put(pod);
                    }
                }
                self.view.reset(self.objects.values(), &self.fields);
            }
            Step::Window(window) => {
                self.view.set_window(*window);
                self.shape.window = Some(*window);
            }
            Step::Look => self.look(),
        }
    }

    fn decide_all(&mut self) {
        let waiting: Vec<Rc<Object>> = self.view.undecided().cloned().collect();
        for object in waiting {
            assert!(self.shape.odd_rank);
            let verdict = odd(&self.pods[&**object.key()]);
            assert!(self.view.decide(object.id(), verdict));
        }
        assert_eq!(self.view.undecided().len(), 0);
    }

    /// Everything the view says, against the picture from scratch.
    fn look(&mut self) {
        self.decide_all();
        let before: Vec<u64> = self.view.rows().iter().map(|row| row.id()).collect();
        let changes = self.view.take_changes();
        let model = self.shape.sorted(self.pods.values().cloned());
        let window = self.shape.window.unwrap_or(Window::ALL);

        let expected: Vec<String> = model.iter().skip(window.offset).take(window.limit).map(Pod::key).collect();
        assert_eq!(keys(&self.view), expected);
        for row in self.view.rows() {
            assert_eq!(row.id(), self.objects[&**row.key()].id(), "the newest version is shown");
        }
        assert_eq!(self.view.total(), model.len());
        let mut counts = BTreeMap::new();
        model.iter().for_each(|pod| *counts.entry(pod.phase.to_owned()).or_insert(0) += 1);
        assert_eq!(self.view.counts().map(|(value, count)| (value.to_string(), count)).collect::<BTreeMap<_, _>>(), counts);
        for (position, pod) in model.iter().enumerate() {
            assert_eq!(self.view.index_of(&pod.key()), Some(position));
            assert_eq!(self.view.at(position).map(|row| row.key().to_string()), Some(pod.key()));
        }
        assert_eq!(self.view.at(model.len()).map(|row| row.id()), None);
        for pod in self.pods.values().filter(|pod| !self.shape.passes(pod)) {
            assert_eq!(self.view.index_of(&pod.key()), None);
        }

        let after: Vec<u64> = self.view.rows().iter().map(|row| row.id()).collect();
        let changed: Vec<usize> = (0..after.len()).filter(|&index| before.get(index) != Some(&after[index])).collect();
        assert_eq!(self.view.changed_rows(), changed);
        assert_eq!(changes.window_changed, before != after);
        assert_eq!(changes.total_changed, self.seen.1 != model.len());
        assert_eq!(changes.counts_changed, self.seen.2 != counts);
        self.seen = (expected, model.len(), counts);
        assert!(!self.view.take_changes().any(), "a second look finds nothing new");
        assert_eq!(keys(&self.view), self.seen.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_view_is_filter_sort_and_window_from_scratch(shape in shape(), steps in prop::collection::vec(step(), 1..80)) {
        let mut world = World::new(shape);
        for step in &steps {
            world.apply(step);
        }
        world.look();
    }
}

/// Enough rows for the ordered set to split and join its nodes.
#[test]
fn large_views_stay_in_order() {
    let mut random = fastrand::Rng::with_seed(7);
    let order = vec![(Level::Rank, true), (Level::Name, false)];
    let shape = Shape {
        namespaces: None,
        app: None,
        not_phase: Some("Failed"),
        order,
        window: Some(Window { offset: 1500, limit: 40 }),
        odd_rank: false,
    };
    let mut world = World::new(shape);
    let mut change = |world: &mut World, deletes: u32| {
        let namespace = ["a", "b", "c"][random.usize(0..3)];
        let number = random.usize(0..3000);
        if random.u32(0..10) < deletes {
            world.apply(&Step::Delete(namespace, number));
        } else {
            let phase = ["Running", "Pending", "Failed"][random.usize(0..3)];
            world.apply(&Step::Set(Pod { namespace, name: format!("pod-{number}"), app: "web", phase, rank: Some(random.i64(-3..20)) }));
        }
    };
    for (changes, deletes) in [(8_000, 0), (4_000, 5), (12_000, 9)] {
        for index in 0..changes {
            change(&mut world, deletes);
            if index % 2_000 == 0 {
                world.look();
            }
        }
        world.look();
    }
    assert!(world.version > 8_000);
}
