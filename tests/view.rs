//! Live views, rule by rule. `view_model.rs` holds them against a model.

mod view_support;

use std::rc::Rc;

use serde_json::json;
use watchcache::json::fields::FieldSet;
use watchcache::object::Object;
use watchcache::selector::FieldSelector;
use watchcache::view::{OrderAs, OrderBy, View, ViewSpec, Window};

use view_support::{keys, object, slot};

fn view_with_predicate(fields: &mut FieldSet) -> View {
    View::new(ViewSpec { predicate: true, ..ViewSpec::default() }, fields).unwrap()
}

fn named(name: &str, version: u64, fields: &FieldSet) -> Rc<Object> {
    object(&json!({"metadata": {"name": name, "resourceVersion": version.to_string()}}), fields)
}

fn versions(view: &mut View) -> Vec<String> {
    view.take_changes();
    view.rows().iter().map(|row| row.version().to_string()).collect()
}

#[test]
fn a_waiting_object_keeps_its_previous_row() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_predicate(fields);
    let (first, second, third) = (named("a", 1, fields), named("a", 2, fields), named("a", 3, fields));
    view.change(None, Some(&first), fields);
    assert_eq!((view.total(), view.undecided().len()), (0, 1));
    assert!(view.decide(first.id(), true));
    assert_eq!(versions(&mut view), ["1"]);

    view.change(Some(&first), Some(&second), fields);
    assert_eq!(versions(&mut view), ["1"]);
    assert_eq!(view.index_of("a"), Some(0));
    view.change(Some(&second), Some(&third), fields);
    assert!(!view.decide(second.id(), false), "a verdict on what was replaced is void");
    assert_eq!(versions(&mut view), ["1"]);
    assert_eq!(view.undecided().map(|object| object.id()).collect::<Vec<_>>(), [third.id()]);
    assert!(view.decide(third.id(), false));
    assert_eq!(versions(&mut view), Vec::<String>::new());
    assert!(!view.decide(third.id(), true), "there is one verdict");
}

#[test]
fn a_waiting_object_that_goes_takes_its_row_along() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_predicate(fields);
    let (first, second) = (named("a", 1, fields), named("a", 2, fields));
    view.change(None, Some(&first), fields);
    view.decide(first.id(), true);
    view.change(Some(&first), Some(&second), fields);
    view.change(Some(&second), None, fields);
    assert_eq!((view.total(), view.undecided().len()), (0, 0));
    assert!(!view.decide(second.id(), true));
    assert_eq!(view.total(), 0);
}

#[test]
fn an_object_that_leaves_the_selector_needs_no_verdict() {
    let fields = &mut FieldSet::new(Vec::new());
    let spec = ViewSpec { predicate: true, field: FieldSelector::parse("status.phase=Running").unwrap(), ..ViewSpec::default() };
    let mut view = View::new(spec, fields).unwrap();
    let pod =
        |version: u64, phase: &str| json!({"metadata": {"name": "a", "resourceVersion": version.to_string()}, "status": {"phase": phase}});
    let (running, failed) = (object(&pod(1, "Running"), fields), object(&pod(2, "Failed"), fields));
    view.change(None, Some(&running), fields);
    view.decide(running.id(), true);
    view.change(Some(&running), Some(&failed), fields);
    assert_eq!((view.total(), view.undecided().len()), (0, 0));
}

#[test]
fn law_07_rows_stay_when_a_relist_finds_them_unchanged() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_predicate(fields);
    let objects: Vec<Rc<Object>> = ["a", "b", "c"].iter().enumerate().map(|(index, name)| named(name, index as u64 + 1, fields)).collect();
    view.reset(&objects, fields);
    objects.iter().for_each(|object| assert!(view.decide(object.id(), true)));
    assert!(view.take_changes().window_changed);

    view.reset(&objects, fields);
    assert_eq!(view.undecided().len(), 0);
    assert!(!view.take_changes().any());

    let newer = named("b", 9, fields);
    view.reset([&objects[0], &newer], fields);
    assert_eq!(view.total(), 2, "c is gone at once, b waits in its old version");
    assert_eq!(versions(&mut view), ["1", "2"]);
    view.decide(newer.id(), true);
    assert!(view.take_changes().window_changed);
    assert_eq!(view.changed_rows(), [1]);
    assert_eq!(view.rows()[1].version().to_string(), "9");
}

#[test]
fn changes_outside_the_window_do_not_touch_it() {
    let fields = &mut FieldSet::new(Vec::new());
    let spec = ViewSpec { window: Some(Window { offset: 2, limit: 2 }), ..ViewSpec::default() };
    let mut view = View::new(spec, fields).unwrap();
    let objects: Vec<Rc<Object>> = ["b", "d", "f", "h", "k", "m"].iter().map(|name| named(name, 1, fields)).collect();
    view.reset(&objects, fields);
    view.take_changes();
    assert_eq!(keys(&view), ["f", "h"]);

    let mut change = |old: Option<&Rc<Object>>, new: Option<&str>| {
        let new = new.map(|name| named(name, 2, fields));
        view.change(old, new.as_ref(), fields);
        let changes = view.take_changes();
        (changes.window_changed, changes.total_changed, keys(&view).concat(), view.changed_rows().to_vec())
    };
    assert_eq!(change(None, Some("z")), (false, true, "fh".into(), vec![]));
    assert_eq!(change(Some(&objects[5]), Some("m")), (false, false, "fh".into(), vec![]));
    assert_eq!(change(Some(&objects[0]), Some("b")), (false, false, "fh".into(), vec![]));
    assert_eq!(change(Some(&objects[3]), Some("h")), (true, false, "fh".into(), vec![1]));
    assert_eq!(change(None, Some("a")), (true, true, "df".into(), vec![0, 1]));
    assert_eq!(change(Some(&objects[4]), None), (false, true, "df".into(), vec![]));
}

#[test]
fn orders_as_asked() {
    let fields = &mut FieldSet::new(Vec::new());
    let order = |path: &str, kind, fields: &mut FieldSet| vec![OrderBy { slot: slot(fields, path), descending: false, kind }];
    for (kind, values, expected) in [
        (OrderAs::Text, [json!("b"), json!("B"), json!(true), json!("")], "dbac"),
        (OrderAs::Natural, [json!("n10"), json!("n9"), json!("n09x"), json!(7)], "dbca"),
        (OrderAs::Number, [json!(10), json!("9"), json!("x"), json!(-1.5)], "dbac"),
        (OrderAs::Quantity, [json!("1Gi"), json!("100m"), json!(2), json!("1e3")], "bcda"),
        (
            OrderAs::Time,
            [json!("2026-01-02T00:00:00Z"), json!("2026-01-01T23:00:00-02:00"), json!(null), json!("2025-12-31T00:00:00Z")],
            "dabc",
        ),
    ] {
        let spec = ViewSpec { order: order("spec.value", kind, fields), ..ViewSpec::default() };
        let mut view = View::new(spec, fields).unwrap();
        for (name, value) in ["a", "b", "c", "d"].iter().zip(&values) {
            let document = json!({"metadata": {"name": name, "resourceVersion": "1"}, "spec": {"value": value}});
            view.change(None, Some(&object(&document, fields)), fields);
        }
        // Without the value, last; among those without, by key.
        view.change(None, Some(&named("z", 1, fields)), fields);
        view.take_changes();
        assert_eq!(keys(&view).concat(), format!("{expected}z"), "{kind:?}");
    }
}

#[test]
fn a_field_that_is_no_path_is_refused_with_its_place() {
    let field = FieldSelector::parse("status.phase=Running,a[=]x.b=1").unwrap();
    let error = View::new(ViewSpec { field, ..ViewSpec::default() }, &mut FieldSet::new(Vec::new())).err().unwrap();
    assert!(error.message.starts_with("field label not supported: a[=]x.b: "), "{error}");
    assert!(error.offset >= "status.phase=Running,".len(), "{error:?}");
}
