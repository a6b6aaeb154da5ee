//! Derived columns: the view asks, a function of the caller's answers, and rows stand where their values say.

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Value, json};
use watchcache::change::{Change, ChangeKind};
use watchcache::json::Path;
use watchcache::json::fields::FieldSet;
use watchcache::object::Object;
use watchcache::selector::{FieldSelector, LabelSelector};
use watchcache::store::{Store, StoreObserver};
use watchcache::time::Instant;
use watchcache::view::{Column, OrderAs, OrderBy, RowRange, SearchOptions, Selected, View, ViewId, ViewOptions, ViewSpec, Views};

use crate::helpers::view::{keys, object};

/// What is interesting about an object here. `beat` is in no column.
#[derive(Debug, Clone, PartialEq, Default)]
struct Pod {
    left: Option<i64>,
    right: Option<&'static str>,
    beat: u64,
    hidden: bool,
}

impl Pod {
    fn object(&self, name: usize, version: u64, fields: &FieldSet) -> Rc<Object> {
        let mut spec = json!({"beat": self.beat, "hidden": self.hidden});
        if let Some(left) = self.left {
            spec["left"] = left.into();
        }
        if let Some(right) = self.right {
            spec["right"] = right.into();
        }
        let metadata = json!({"name": format!("pod-{name}"), "resourceVersion": version.to_string()});
        object(&json!({"metadata": metadata, "spec": spec}), fields)
    }

    /// What a column is derived from.
    fn fields(&self, column: u64) -> Vec<Value> {
        paths(column).iter().map(|path| if *path == "spec.left" { json!(self.left) } else { json!(self.right) }).collect()
    }
}

/// The columns: one of both fields, and one of a single field. Few values, so that many rows are equal.
fn derive(column: u64, fields: &[Value]) -> Value {
    match (column, fields) {
        (0, [left, right]) if left.is_null() && right.is_null() => Value::Null,
        (0, [left, right]) if right == "b" => json!(left.as_i64().unwrap_or(0) % 3),
        (0, [left, right]) => json!(format!("{}{}", right.as_str().unwrap_or("-"), left.as_i64().unwrap_or(7) % 2)),
        (1, [left]) => json!(left.as_i64().unwrap_or(9) / 4),
        other => panic!("{other:?} is no column"),
    }
}

fn paths(column: u64) -> &'static [&'static str] {
    if column == 0 { &["spec.left", "spec.right"] } else { &["spec.left"] }
}

/// A view with its caller, who keeps what was asked last of each object.
struct Table {
    fields: FieldSet,
    view: View,
    // The one before, where that goes on.
    beside: Option<View>,
    held: BTreeMap<usize, (Pod, Rc<Object>)>,
    version: u64,
    asked: BTreeMap<(String, u64), Vec<Value>>,
    calls: usize,
    judged: bool,
}

/// What a view does with the columns.
#[derive(Debug, Clone)]
struct Shape {
    order: Vec<(usize, bool)>,
    grouped: bool,
    selects: bool,
    judged: bool,
}

impl Table {
    fn new(shape: &Shape, range: RowRange) -> Self {
        let mut fields = FieldSet::new(Vec::new());
        let mut view = Self::view_of(shape, &mut fields);
        view.open_range(0.into(), range);
        Self { fields, view, beside: None, held: BTreeMap::new(), version: 0, asked: BTreeMap::new(), calls: 0, judged: shape.judged }
    }

    fn view_of(shape: &Shape, fields: &mut FieldSet) -> View {
        let path = |text: &str| Path::parse(text).unwrap();
        let spec = ViewSpec {
            order: shape
                .order
                .iter()
                .map(|(column, descending)| OrderBy { column: Column::Derived(*column), descending: *descending, kind: OrderAs::Typed })
                .collect(),
            group_by: shape.grouped.then_some(Column::Derived(1)),
            label: LabelSelector::everything(),
            field: FieldSelector::parse("spec.hidden!=true").unwrap(),
            derived: [0, 1].map(|column| paths(column).iter().map(|text| path(text)).collect()).to_vec(),
            select: shape.selects.then(|| vec![path("spec.beat").into(), Selected::Derived(0), Selected::Derived(1)]),
            needs_verdict: shape.judged,
            ..ViewSpec::default()
        };
        View::new(spec, fields).unwrap()
    }

    /// The same view anew, as after another search. With `keep` the one before goes on beside it.
    fn begin_anew(&mut self, shape: &Shape, keep: bool) {
        let mut view = Self::view_of(shape, &mut self.fields);
        view.inherit(&self.view);
        let before = std::mem::replace(&mut self.view, view);
        self.beside = keep.then_some(before);
        self.view.fill(self.held.values().map(|(_, object)| object), &self.fields);
        self.view.open_range(0.into(), RowRange::ALL);
        self.look();
    }

    fn set(&mut self, name: usize, pod: Pod) {
        self.version += 1;
        // Of each object one answer is kept. What was answered for other fields may be asked for again, if they come back.
        let key = format!("pod-{name}");
        self.asked.retain(|(of, column), fields| *of != key || pod.fields(*column) == *fields);
        let new = pod.object(name, self.version, &self.fields);
        let old = self.held.insert(name, (pod, new.clone())).map(|(_, object)| object);
        self.change(old.as_ref(), Some(&new));
    }

    fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>) {
        for view in self.beside.iter_mut().chain([&mut self.view]) {
            view.change(old, new, &self.fields);
        }
    }

    fn delete(&mut self, name: usize) {
        if let Some((_, old)) = self.held.remove(&name) {
            self.change(Some(&old), None);
            self.forget(name);
        }
    }

    /// An object that has gone is asked for anew when one of its name comes.
    fn forget(&mut self, name: usize) {
        self.asked.retain(|(key, _), _| *key != format!("pod-{name}"));
    }

    fn look(&mut self) -> bool {
        if let Some(beside) = &mut self.beside {
            // It is told something else, which is none of the other's affair.
            beside.asks(2);
            beside.tell(r#"["wrong","wrong"]"#);
            beside.look(true, &self.fields);
        }
        self.view.look(true, &self.fields)
    }

    /// Answers what is asked, or the first so many of it. Returns how much that was.
    fn answer(&mut self, text: &[u8], max: usize) -> usize {
        let asked: Vec<Value> = serde_json::from_slice(text).unwrap();
        let mut values = Vec::new();
        for one in asked.iter().take(max) {
            let (column, key) = (one[0].as_u64().unwrap(), one[1].as_str().unwrap().to_owned());
            let mut fields = one[2].as_array().unwrap().clone();
            for missing in one[3].as_array().unwrap() {
                let at = missing.as_u64().unwrap() as usize;
                assert_eq!(fields[at], 0, "a missing value stands as 0");
                fields[at] = Value::Null;
            }
            values.push(derive(column, &fields));
            let last = self.asked.remove(&(key.clone(), column));
            // Of one that is another by now, or no row, the view hears with the next look. It may keep this answer until then, or the one before.
            let held = self.held.get(&key[4..].parse().unwrap());
            if held.is_none_or(|(pod, _)| pod.hidden || pod.fields(column) != fields) || !self.passes(&key) {
                continue;
            }
            assert_ne!(last.as_ref(), Some(&fields), "column {column} of {key} was asked for with the same fields");
            self.asked.insert((key, column), fields);
        }
        self.calls += values.len();
        self.view.tell(&Value::Array(values.clone()).to_string());
        values.len()
    }

    fn decide(&mut self) {
        let waiting: Vec<_> = self.view.undecided().cloned().collect();
        for object in waiting {
            let passes = self.passes(object.name());
            self.view.decide(object.id(), passes);
        }
    }

    /// The condition of the caller's.
    fn passes(&self, name: &str) -> bool {
        !self.judged || self.held.get(&name[4..].parse().unwrap()).is_none_or(|(pod, _)| pod.left != Some(5))
    }

    /// Until nothing is asked any more.
    fn settle(&mut self) {
        for _ in 0..10 {
            self.look();
            self.decide();
            while !{ self.view.asks(3) }.starts_with(b"[]") {
                let asks = self.view.asks(3);
                self.answer(&asks, usize::MAX);
            }
        }
        self.look();
        loop {
            let asks = self.view.asks_in(0.into(), 3);
            if self.answer(&asks, 2) == 0 {
                return;
            }
        }
    }

    /// The keys sorted by their values from scratch; the counts; the rows' texts.
    fn expected(&self, shape: &Shape) -> (Vec<String>, BTreeMap<String, usize>, String) {
        let value = |pod: &Pod, column: u64| derive(column, &pod.fields(column));
        let is_row = |(name, (pod, _)): &(&usize, &(Pod, Rc<Object>))| !pod.hidden && self.passes(&format!("pod-{name}"));
        let mut rows: Vec<_> = self.held.iter().filter(is_row).map(|(name, (pod, _))| (format!("pod-{name}"), pod)).collect();
        // Numbers, then texts; nothing comes last in both directions.
        let rank = |value: &Value| match value {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            _ => 2,
        };
        rows.sort_by(|(a, one), (b, other)| {
            for (column, descending) in &shape.order {
                let (one, other) = (value(one, *column as u64), value(other, *column as u64));
                let plain = (rank(&one), one.as_i64(), one.as_str()).cmp(&(rank(&other), other.as_i64(), other.as_str()));
                let missing = one.is_null() || other.is_null();
                let ordering = if *descending && !missing { plain.reverse() } else { plain };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            a.cmp(b)
        });
        let mut counts = BTreeMap::new();
        rows.iter().for_each(|(_, pod)| *counts.entry(value(pod, 1).to_string()).or_default() += 1);
        let texts = rows.iter().map(|(key, pod)| {
            let (first, second) = (value(pod, 0), value(pod, 1));
            if first.is_null() {
                format!(r#"["{key}",{},0,{second},[1]]"#, pod.beat)
            } else {
                format!(r#"["{key}",{},{first},{second}]"#, pod.beat)
            }
        });
        let texts = format!("[{}]", texts.collect::<Vec<_>>().join(","));
        (rows.into_iter().map(|(key, _)| key).collect(), counts, texts)
    }
}

#[derive(Debug, Clone)]
enum Step {
    Set(usize, Pod),
    Beat(usize),
    Delete(usize),
    Look,
    Decide,
    /// Answers for so many objects, the first so many columns.
    Answer(usize, usize),
    Read(usize),
    /// Another search that finds the same.
    Search(bool),
}

fn pod() -> impl Strategy<Value = Pod> {
    (prop::option::of(0i64..7), prop::option::of(prop::sample::select(vec!["a", "b"])), 0..2u64, prop::bool::weighted(0.1))
        .prop_map(|(left, right, beat, hidden)| Pod { left, right, beat, hidden })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..8usize, pod()).prop_map(|(name, pod)| Step::Set(name, pod)),
        5 => (0..8usize).prop_map(Step::Beat),
        2 => (0..8usize).prop_map(Step::Delete),
        6 => Just(Step::Look),
        3 => Just(Step::Decide),
        6 => (1..5usize, 0..5usize).prop_map(|(objects, columns)| Step::Answer(objects, columns)),
        3 => (0..5usize).prop_map(Step::Read),
        2 => any::<bool>().prop_map(Step::Search),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    (prop::collection::vec((0..2usize, any::<bool>()), 0..3), any::<bool>(), any::<bool>(), prop::bool::weighted(0.25))
        .prop_map(|(order, grouped, selects, judged)| Shape { order, grouped, selects, judged })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 1_000 }))]

    /// Whatever changes, and however the caller answers: rows stand as if all were sorted by their values, and nothing is asked twice.
    #[test]
    fn vd_02_vd_03_rows_stand_where_their_values_say_and_nothing_is_asked_twice(shape in shape(), steps in prop::collection::vec(step(), 0..60)) {
        let mut table = Table::new(&shape, RowRange::ALL);
        for step in steps {
            let before = (!matches!(step, Step::Look | Step::Search(_))).then(|| keys(&table.view, 0.into()));
            match step {
                Step::Set(name, pod) => table.set(name, pod),
                Step::Beat(name) => {
                    if let Some((mut pod, _)) = table.held.get(&name).cloned() {
                        pod.beat += 1;
                        table.set(name, pod);
                    }
                }
                Step::Delete(name) => table.delete(name),
                Step::Look => _ = table.look(),
                Step::Search(keep) => table.begin_anew(&shape, keep),
                Step::Decide => table.decide(),
                Step::Answer(objects, columns) => {
                    let asks = table.view.asks(objects);
                    table.answer(&asks, columns);
                }
                Step::Read(columns) => {
                    let asks = table.view.asks_in(0.into(), columns + 1);
                    table.answer(&asks, columns);
                    table.view.stamps(0.into());
                }
            }
            prop_assert!(before.is_none_or(|before| before == keys(&table.view, 0.into())), "rows stand still between two looks");
        }
        table.settle();
        let (rows, counts, texts) = table.expected(&shape);
        prop_assert_eq!(keys(&table.view, 0.into()), rows);
        prop_assert!(table.view.is_loaded());
        if shape.grouped {
            let found: BTreeMap<String, usize> = table.view.counts().into_iter().map(|(value, count)| (value.to_string(), count)).collect();
            prop_assert_eq!(found, counts);
        }
        if shape.selects {
            table.view.stamps(0.into());
            let positions: Vec<u32> = (0..table.view.total() as u32).collect();
            prop_assert_eq!(String::from_utf8(table.view.fields(0.into(), &positions)).unwrap(), texts);
        }
    }
}

fn shown() -> Shape {
    Shape { order: Vec::new(), grouped: false, selects: true, judged: false }
}

#[test]
fn vd_04_rows_that_show_a_column_are_asked_for_in_sight_alone() {
    let mut table = Table::new(&shown(), RowRange { offset: 1, limit: 2 });
    (0..9).for_each(|name| table.set(name, Pod { left: Some(4), ..Pod::default() }));
    assert!(table.look() && table.view.is_loaded(), "nobody waits for it");
    assert_eq!(table.view.asks(usize::MAX), b"[]");
    let asks = table.view.asks_in(0.into(), usize::MAX);
    assert_eq!(table.answer(&asks, usize::MAX), 4, "two columns of two rows");
    table.view.stamps(0.into());
    assert_eq!(String::from_utf8(table.view.fields(0.into(), &[0])).unwrap(), r#"[["pod-1",0,"-0",1]]"#);
    assert_eq!(table.view.asks_in(0.into(), usize::MAX), b"[]");

    table.set(7, Pod { left: Some(0), ..Pod::default() });
    assert!(!table.view.is_stirred(), "it is out of sight");
    table.set(1, Pod { left: Some(5), ..Pod::default() });
    assert!(table.view.is_stirred() && table.look());
    let asks = table.view.asks_in(0.into(), usize::MAX);
    assert_eq!(String::from_utf8(asks.clone()).unwrap(), r#"[[0,"pod-1",[5,0],[1]],[1,"pod-1",[5],[]]]"#);
    table.answer(&asks, usize::MAX);
    let before = table.view.stamps(0.into());
    table.set(1, Pod { left: Some(7), ..Pod::default() });
    assert!(table.look(), "it may show something else");
    let asks = table.view.asks_in(0.into(), usize::MAX);
    table.answer(&asks, usize::MAX);
    assert_eq!(table.view.stamps(0.into()), before, "it shows the same");
}

#[test]
fn vd_02_what_comes_back_to_what_its_row_shows_is_not_asked_for_again() {
    let mut table = Table::new(&Shape { order: vec![(1, false)], grouped: false, selects: false, judged: false }, RowRange::ALL);
    let pod = |left| Pod { left: Some(left), ..Pod::default() };
    table.set(0, pod(1));
    table.settle();
    assert_eq!(table.calls, 1);
    // Once nobody looks meanwhile, once somebody does.
    for looks in [false, true] {
        table.set(0, pod(6));
        if looks {
            table.look();
        }
        table.set(0, pod(1));
        table.settle();
        assert_eq!((keys(&table.view, 0.into()), table.calls), (vec!["pod-0".to_owned()], 1));
    }
}

#[test]
fn vd_02_an_answer_that_comes_late_is_of_no_use() {
    let mut table = Table::new(&Shape { order: vec![(1, false)], ..shown() }, RowRange::ALL);
    table.set(0, Pod { left: Some(1), ..Pod::default() });
    table.look();
    let asks = table.view.asks(usize::MAX);
    table.set(0, Pod { left: Some(6), ..Pod::default() });
    table.answer(&asks, usize::MAX);
    table.delete(0);
    table.settle();
    assert_eq!((keys(&table.view, 0.into()), table.calls), (vec![], 1));
    table.view.tell(r#"["x"]"#);
    table.view.tell("no JSON");
}

#[test]
fn vd_07_what_was_told_is_forgotten_with_its_object() {
    let mut table = Table::new(&Shape { order: vec![(1, false)], ..shown() }, RowRange::ALL);
    for _ in 0..2 {
        table.set(0, Pod { left: Some(1), ..Pod::default() });
        table.settle();
        table.delete(0);
        table.settle();
    }
    assert_eq!(table.calls, 4, "two columns, twice");
}

/// Fifty objects, and a view of them that was told a long value of each. The bytes of the view without values, and with them.
#[allow(clippy::type_complexity)]
fn told() -> (FieldSet, Store, Views, ViewOptions, ViewId, [usize; 2]) {
    let mut fields = FieldSet::new(Vec::new());
    let mut store = Store::new();
    (0..50).for_each(|name| _ = store.upsert(Pod::default().object(name, name as u64 + 1, &fields)));
    let derive = vec![("long".into(), vec!["metadata.name".into()])];
    let mut views = Views::default();
    let options = ViewOptions { derive, group_by: Some("long".into()), ..ViewOptions::default() };
    let id = views.open(&options, &store, true, &mut fields).unwrap();
    let empty = views.bytes();
    assert_ne!(views.asks(id, 50), b"[]");
    views.tell(id, &json!((0..50).map(|at| format!("{at}{}", "v".repeat(1_000))).collect::<Vec<_>>()).to_string());
    views.look(id, true, &fields);
    assert_eq!(views.get(id).unwrap().counts().len(), 50);
    let full = views.bytes();
    assert!(full > 50_000, "{full} bytes");
    (fields, store, views, options, id, [empty, full])
}

fn delete_all(store: &mut Store, views: &mut Views, fields: &FieldSet) {
    let pods: Vec<_> = store.iter().cloned().collect();
    for pod in pods {
        store.remove(pod.key());
        views.changed(&Change::new(ChangeKind::Deleted, pod.clone(), Some(pod), Instant::START), fields);
    }
}

#[test]
fn vd_07_values_count_with_their_view_until_their_object_goes() {
    let (fields, mut store, mut views, _, id, [empty, _]) = told();
    delete_all(&mut store, &mut views, &fields);
    views.look(id, true, &fields);
    assert!(views.bytes() <= empty + 2_000, "{} bytes are left of {empty}", views.bytes());
}

#[test]
fn vd_12_law_08_bounded_values_go_from_search_to_search_and_with_their_object() {
    let search = |text: &str| Some(SearchOptions { text: text.into(), paths: None });
    for looks in [false, true] {
        let (mut fields, mut store, mut views, options, all, [empty, full]) = told();
        // One that finds nothing has all values, and so has one after it.
        let none =
            views.open(&ViewOptions { alike: vec![all], search: search("no such"), ..options.clone() }, &store, true, &mut fields).unwrap();
        views.close(all);
        assert!(views.bytes().abs_diff(full) < 10_000, "{} bytes without rows, and {full} before", views.bytes());
        assert_eq!(views.get(none).unwrap().total(), 0);
        let again = views.open(&ViewOptions { alike: vec![none], ..options.clone() }, &store, true, &mut fields).unwrap();
        views.close(none);
        views.look(again, true, &fields);
        assert_eq!((views.asks(again, 50), views.get(again).unwrap().counts().len()), (b"[]".to_vec(), 50));
        assert!(views.bytes().abs_diff(full) < 2_000, "{} bytes, and {full} before", views.bytes());
        // Objects go, before and after the view before them has taken that in.
        delete_all(&mut store, &mut views, &fields);
        if looks {
            views.look(again, true, &fields);
        }
        let last = views
            .open(&ViewOptions { alike: vec![again], search: search("no such"), ..options.clone() }, &store, true, &mut fields)
            .unwrap();
        views.close(again);
        views.look(last, true, &fields);
        assert!(views.bytes() <= empty + 2_000, "{} bytes are left of {empty}", views.bytes());
    }
    // Objects go that are no rows.
    let (mut fields, mut store, mut views, options, all, [empty, _]) = told();
    let none = views.open(&ViewOptions { alike: vec![all], search: search("no such"), ..options }, &store, true, &mut fields).unwrap();
    views.close(all);
    delete_all(&mut store, &mut views, &fields);
    views.look(none, true, &fields);
    assert!(views.bytes() <= empty + 2_000, "{} bytes are left of {empty}", views.bytes());
    views.close(none);
    assert_eq!(views.bytes(), 0);
}
