//! Live views, rule by rule. `model.rs` holds them against a model.

use std::rc::Rc;

use serde_json::json;
use watchcache::json::fields::FieldSet;
use watchcache::json::path::Path;
use watchcache::object::Object;
use watchcache::selector::FieldSelector;
use watchcache::view::{OrderAs, OrderBy, RowRange, Search, View, ViewSpec};

use crate::helpers::view::{column, keys, object};

/// A view with one range, of all its rows.
fn view(spec: ViewSpec, fields: &mut FieldSet) -> View {
    let mut view = View::new(spec, fields).unwrap();
    view.look(true, fields);
    view.open_range(0.into(), RowRange::ALL);
    view
}

fn view_with_condition(fields: &mut FieldSet) -> View {
    view(ViewSpec { needs_verdict: true, ..ViewSpec::default() }, fields)
}

fn named(name: &str, version: u64, fields: &FieldSet) -> Rc<Object> {
    object(&json!({"metadata": {"name": name, "resourceVersion": version.to_string()}}), fields)
}

fn versions(view: &mut View, fields: &FieldSet) -> Vec<String> {
    view.look(true, fields);
    view.rows(0.into()).map(|row| row.version().to_string()).collect()
}

/// What a look changes: the total, and how many wait.
fn numbers(view: &mut View, fields: &FieldSet) -> (usize, usize) {
    view.look(true, fields);
    (view.total(), view.undecided().count())
}

#[test]
fn a_waiting_object_keeps_its_previous_row() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_condition(fields);
    let (first, second, third) = (named("a", 1, fields), named("a", 2, fields), named("a", 3, fields));
    view.change(None, Some(&first), fields);
    assert_eq!(numbers(&mut view, fields), (0, 1));
    assert!(!view.is_loaded(), "it was not asked yet");
    assert!(view.decide(first.id(), true));
    assert_eq!((view.total(), view.undecided().count()), (0, 0), "the verdict waits for the next look");
    assert_eq!(versions(&mut view, fields), ["1"]);
    assert!(view.is_loaded());

    view.change(Some(&first), Some(&second), fields);
    assert_eq!(versions(&mut view, fields), ["1"]);
    assert_eq!(view.index_of("a"), Some(0));
    assert!(view.decide(second.id(), false));
    view.change(Some(&second), Some(&third), fields);
    assert_eq!(versions(&mut view, fields), ["1"], "a verdict on what was replaced is void");
    assert!(!view.decide(second.id(), false));
    assert_eq!(view.undecided().map(|object| object.id()).collect::<Vec<_>>(), [third.id()]);
    assert!(view.decide(third.id(), false));
    assert!(!view.decide(third.id(), true), "there is one verdict");
    assert_eq!(versions(&mut view, fields), Vec::<String>::new());
}

#[test]
fn a_waiting_object_that_goes_takes_its_row_along() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_condition(fields);
    let (first, second) = (named("a", 1, fields), named("a", 2, fields));
    view.change(None, Some(&first), fields);
    view.look(true, fields);
    view.decide(first.id(), true);
    assert_eq!(numbers(&mut view, fields), (1, 0));
    view.change(Some(&first), Some(&second), fields);
    assert_eq!(numbers(&mut view, fields), (1, 1));
    view.decide(second.id(), true);
    view.change(Some(&second), None, fields);
    assert_eq!(numbers(&mut view, fields), (0, 0));
    assert!(!view.decide(second.id(), true));
    // This object never was a row.
    view.change(None, Some(&first), fields);
    assert_eq!(numbers(&mut view, fields), (0, 1));
    view.change(Some(&first), None, fields);
    assert!(view.is_stirred());
    assert_eq!(numbers(&mut view, fields), (0, 0));
}

#[test]
fn an_object_that_leaves_the_selector_needs_no_verdict() {
    let fields = &mut FieldSet::new(Vec::new());
    let spec = ViewSpec { needs_verdict: true, field: FieldSelector::parse("status.phase=Running").unwrap(), ..ViewSpec::default() };
    let mut view = view(spec, fields);
    let pod =
        |version: u64, phase: &str| json!({"metadata": {"name": "a", "resourceVersion": version.to_string()}, "status": {"phase": phase}});
    let (running, failed) = (object(&pod(1, "Running"), fields), object(&pod(2, "Failed"), fields));
    view.change(None, Some(&running), fields);
    view.look(true, fields);
    view.decide(running.id(), true);
    assert_eq!(numbers(&mut view, fields), (1, 0));
    view.change(Some(&running), Some(&failed), fields);
    assert_eq!(numbers(&mut view, fields), (0, 0));
}

#[test]
fn law_07_rows_stay_when_a_relist_finds_them_unchanged() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = view_with_condition(fields);
    let objects: Vec<Rc<Object>> = ["a", "b", "c"].iter().enumerate().map(|(index, name)| named(name, index as u64 + 1, fields)).collect();
    objects.iter().for_each(|object| view.change(None, Some(object), fields));
    view.look(true, fields);
    objects.iter().for_each(|object| assert!(view.decide(object.id(), true)));
    assert!(view.look(true, fields));

    objects.iter().for_each(|object| view.change(Some(object), Some(object), fields));
    assert!(!view.is_stirred());
    assert!(!view.look(true, fields));

    let newer = named("b", 9, fields);
    view.change(Some(&objects[1]), Some(&newer), fields);
    view.change(Some(&objects[2]), None, fields);
    assert_eq!(versions(&mut view, fields), ["1", "2"], "c is gone at once, b waits in its old version");
    view.decide(newer.id(), true);
    assert!(view.look(true, fields));
    assert_eq!(versions(&mut view, fields), ["1", "9"]);
}

#[test]
fn changes_outside_the_ranges_do_not_touch_them() {
    let fields = &mut FieldSet::new(Vec::new());
    let mut view = View::new(ViewSpec::default(), fields).unwrap();
    let objects: Vec<Rc<Object>> = ["b", "d", "f", "h", "k", "m"].iter().map(|name| named(name, 1, fields)).collect();
    view.fill(&objects, fields);
    view.look(true, fields);
    view.open_range(0.into(), RowRange { offset: 2, limit: 2 });
    view.open_range(7.into(), RowRange { offset: 5, limit: 1 });
    assert_eq!((keys(&view, 0.into()).concat(), keys(&view, 7.into()).concat()), ("fh".into(), "m".into()));

    // Whether somebody should look, whether something has changed, and what is there to be seen.
    let mut change = |old: Option<usize>, new: Option<&str>| {
        let old = old.map(|number| objects[number].clone());
        let new = new.map(|name| {
            let mut new = named(name, 2, fields);
            if let (Some(old), Some(new)) = (&old, Rc::get_mut(&mut new)) {
                new.share_with(old);
            }
            new
        });
        view.change(old.as_ref(), new.as_ref(), fields);
        let stirred = view.is_stirred();
        (stirred, view.look(true, fields), keys(&view, 0.into()).concat(), keys(&view, 7.into()).concat())
    };
    assert_eq!(change(Some(1), Some("d")), (false, false, "fh".into(), "m".into()));
    assert_eq!(change(Some(3), Some("h")), (true, true, "fh".into(), "m".into()));
    assert_eq!(change(Some(5), Some("m")), (true, true, "fh".into(), "m".into()));
    assert_eq!(change(None, Some("z")), (true, true, "fh".into(), "m".into()), "the total is another");
    assert_eq!(change(None, Some("a")), (true, true, "df".into(), "k".into()));
    assert_eq!(change(Some(1), Some("d")), (true, true, "df".into(), "k".into()), "it has come into a range");
    assert_eq!(change(Some(4), None), (true, true, "df".into(), "m".into()));
}

#[test]
fn a_row_that_moves_into_a_range_out_of_it_or_past_it_is_told_and_no_other_move() {
    let fields = &mut FieldSet::new(Vec::new());
    let order = vec![OrderBy { column: column(fields, "spec.rank"), descending: false, kind: OrderAs::Number }];
    let mut view = View::new(ViewSpec { order, ..ViewSpec::default() }, fields).unwrap();
    let fields = &*fields;
    let pod = |name: usize, rank: usize| {
        object(&json!({"metadata": {"name": name.to_string(), "resourceVersion": "1"}, "spec": {"rank": rank}}), fields)
    };
    let mut pods: Vec<Rc<Object>> = (0..8).map(|name| pod(name, 10 * name)).collect();
    view.fill(&pods, fields);
    view.look(true, fields);
    view.open_range(0.into(), RowRange { offset: 2, limit: 2 });
    assert_eq!(keys(&view, 0.into()).concat(), "23");

    let mut change = |name: usize, rank: usize| {
        let old = std::mem::replace(&mut pods[name], pod(name, rank));
        view.change(Some(&old), Some(&pods[name]), fields);
        (view.look(true, fields), keys(&view, 0.into()).concat())
    };
    assert_eq!(change(6, 25), (true, "26".into()), "into it from behind");
    assert_eq!(change(6, 65), (true, "23".into()), "and out of it again");
    assert_eq!(change(0, 35), (true, "30".into()), "into it from before");
    assert_eq!(change(1, 90), (true, "04".into()), "past it");
    assert_eq!(change(7, 5), (true, "30".into()), "past it, the other way");
    assert_eq!(change(5, 66), (false, "30".into()), "behind it");
    assert_eq!(change(2, 1), (false, "30".into()), "before it");
}

#[test]
fn an_ordered_view_shows_its_rows_when_the_list_is_whole_and_a_plain_one_as_they_come() {
    let fields = &mut FieldSet::new(Vec::new());
    let order = vec![OrderBy { column: column(fields, "spec.value"), descending: false, kind: OrderAs::Text }];
    let mut ordered = View::new(ViewSpec { order, ..ViewSpec::default() }, fields).unwrap();
    let mut plain = View::new(ViewSpec::default(), fields).unwrap();
    for view in [&mut ordered, &mut plain] {
        view.open_range(0.into(), RowRange::ALL);
        view.change(None, Some(&named("a", 1, fields)), fields);
        assert!(view.look(false, fields));
        assert_eq!((view.total(), view.is_loaded()), (1, false), "a total that is not final");
    }
    assert_eq!((keys(&ordered, 0.into()).concat(), ordered.index_of("a")), (String::new(), None));
    assert_eq!((keys(&plain, 0.into()).concat(), plain.index_of("a")), ("a".into(), Some(0)));
    for view in [&mut ordered, &mut plain] {
        assert!(view.look(true, fields), "it is loaded");
        assert_eq!((keys(view, 0.into()).concat(), view.is_loaded(), view.index_of("a")), ("a".into(), true, Some(0)));
    }
}

#[test]
fn orders_as_asked() {
    let fields = &mut FieldSet::new(Vec::new());
    for (kind, values, expected, missing) in [
        (OrderAs::Text, [json!("b"), json!("B"), json!(true), json!("")], "dbac", ""),
        (OrderAs::Natural, [json!("n10"), json!("n9"), json!("n09x"), json!(7)], "dbca", ""),
        (OrderAs::Number, [json!(10), json!("9"), json!("x"), json!(-1.5)], "dba", "c"),
        (OrderAs::Quantity, [json!("1Gi"), json!("100m"), json!(2), json!("1e3")], "bcda", ""),
        (
            OrderAs::Time,
            [json!("2026-01-02T00:00:00Z"), json!("2026-01-01T23:00:00-02:00"), json!(null), json!("2025-12-31T00:00:00Z")],
            "dab",
            "c",
        ),
    ] {
        for descending in [false, true] {
            let order = vec![OrderBy { column: column(fields, "spec.value"), descending, kind }];
            let mut view = view(ViewSpec { order, ..ViewSpec::default() }, fields);
            for (name, value) in ["a", "b", "c", "d"].iter().zip(&values) {
                let document = json!({"metadata": {"name": name, "resourceVersion": "1"}, "spec": {"value": value}});
                view.change(None, Some(&object(&document, fields)), fields);
            }
            view.change(None, Some(&named("z", 1, fields)), fields);
            view.look(true, fields);
            let values = if descending { expected.chars().rev().collect() } else { expected.to_owned() };
            // Without a value of the kind, last in both directions; among those without, by key.
            assert_eq!(keys(&view, 0.into()).concat(), format!("{values}{missing}z"), "{kind:?} {descending}");
        }
    }
}

#[test]
fn a_field_that_is_no_path_is_refused_with_its_place() {
    let field = FieldSelector::parse("status.phase=Running,a[=]x.b=1").unwrap();
    let error = View::new(ViewSpec { field, ..ViewSpec::default() }, &mut FieldSet::new(Vec::new())).err().unwrap();
    assert!(error.message.starts_with("field label not supported: a[=]x.b: "), "{error}");
    assert!(error.offset >= "status.phase=Running,".len(), "{error:?}");
}

/// Two versions share facts until one of them has its fields read from its document.
#[test]
fn vs_04_a_search_over_names_spares_the_documents_of_what_it_does_not_find() {
    let fields = &mut FieldSet::new(Vec::new());
    let pods: Vec<[Rc<Object>; 2]> = ["web-1", "db-1", "web-2"]
        .map(|name| {
            let first = named(name, 1, fields);
            let mut second = named(name, 2, fields);
            Rc::get_mut(&mut second).unwrap().share_with(&first);
            [first, second]
        })
        .into();
    let search = Some(Search::new("WEB", None, fields));
    let field = FieldSelector::parse("status.phase!=Failed").unwrap();
    let mut view = view(ViewSpec { search, field, ..ViewSpec::default() }, fields);
    view.fill(pods.iter().map(|[_, second]| second), fields);
    view.look(true, fields);
    assert_eq!(keys(&view, 0.into()), ["web-1", "web-2"]);
    let read: Vec<bool> = pods.iter().map(|[first, second]| !first.shares_facts(second)).collect();
    assert_eq!(read, [true, false, true]);
}

/// What is searched decides, not that the object has changed.
#[test]
fn vs_05_a_row_comes_and_goes_with_the_text_that_is_searched() {
    let fields = &mut FieldSet::new(Vec::new());
    let on = |node: &str, version: u64, fields: &FieldSet| {
        object(&json!({"metadata": {"name": "a", "resourceVersion": version.to_string()}, "spec": {"nodeName": node}}), fields)
    };
    let paths = [Path::parse("spec.nodeName").unwrap()];
    let search = Some(Search::new("node-7", Some(&paths), fields));
    let mut view = view(ViewSpec { search, ..ViewSpec::default() }, fields);
    let mut before: Option<Rc<Object>> = None;
    for (version, (node, shown)) in
        (1..).zip([("node-1", false), ("Node-71", true), ("Node-71", true), ("node-1", false), ("node-7", true)])
    {
        let after = on(node, version, fields);
        view.change(before.as_ref(), Some(&after), fields);
        view.look(true, fields);
        assert_eq!(view.total(), usize::from(shown), "{version}");
        before = Some(after);
    }
}
