//! Views whose rows show selected fields: they change where one of these does.

use std::rc::Rc;

use serde_json::json;
use watchcache::json::Path;
use watchcache::json::fields::FieldSet;
use watchcache::object::Object;
use watchcache::view::{RowRange, View, ViewSpec};

use crate::helpers::view::object;

fn pod(name: &str, version: u64, phase: &str, beat: u64, fields: &FieldSet) -> Rc<Object> {
    let metadata = json!({"name": name, "resourceVersion": version.to_string()});
    object(&json!({"metadata": metadata, "status": {"phase": phase, "beat": beat}}), fields)
}

/// A view of these pods, all of which are in sight, and what each look says.
struct Table {
    fields: FieldSet,
    view: View,
    pods: Vec<Rc<Object>>,
}

impl Table {
    fn new(names: &[&str], range: RowRange) -> Self {
        let fields = FieldSet::new(Vec::new());
        let select = Some(vec![Path::parse("status.phase").unwrap().into()]);
        let mut view = View::new(ViewSpec { select, ..ViewSpec::default() }, &mut FieldSet::new(Vec::new())).unwrap();
        view.open_range(0.into(), range);
        let mut table = Self { pods: names.iter().map(|name| pod(name, 1, "Running", 0, &fields)).collect(), fields, view };
        table.pods.iter().for_each(|pod| table.view.change(None, Some(pod), &table.fields));
        assert!(table.look());
        table
    }

    /// Another version. Returns whether somebody should look.
    fn update(&mut self, at: usize, phase: &str, beat: u64) -> bool {
        let old = self.pods[at].clone();
        let new = pod(old.name(), old.version().as_u64().unwrap() + 1, phase, beat, &self.fields);
        self.view.change(Some(&old), Some(&new), &self.fields);
        self.pods[at] = new;
        self.view.is_stirred()
    }

    fn look(&mut self) -> bool {
        self.view.look(true, &self.fields)
    }

    fn stamps(&mut self) -> Vec<u64> {
        self.view.stamps(0.into())
    }

    fn text(&self, positions: &[u32]) -> String {
        String::from_utf8(self.view.fields(0.into(), positions)).unwrap()
    }
}

#[test]
fn vf_02_a_row_is_another_where_a_selected_field_is_and_nobody_is_told_of_the_rest() {
    let mut table = Table::new(&["a", "b"], RowRange::ALL);
    let before = table.stamps();
    assert!(!table.update(0, "Running", 1) && !table.look(), "a heartbeat shows nowhere");
    assert_eq!(table.stamps(), before);
    assert!(table.update(1, "Failed", 1) && table.look());
    let after = table.stamps();
    assert!(after[0] == before[0] && after[1] != before[1]);
    assert_eq!(table.text(&[1, 7]), r#"[["b","Failed"]]"#);
    assert_eq!(table.view.at(0).map(|row| row.version().clone()), Some(2.into()), "the row holds the newest version all the same");
}

#[test]
fn vf_02_what_was_another_in_between_is_the_same_at_the_look() {
    let mut table = Table::new(&["a"], RowRange::ALL);
    let before = table.stamps();
    assert!(table.update(0, "Failed", 1) && table.update(0, "Running", 2));
    assert!(!table.look());
    assert_eq!(table.stamps(), before);
}

#[test]
fn vf_02_a_row_that_comes_back_and_one_that_comes_into_sight_are_shown() {
    let mut table = Table::new(&["a", "b", "c"], RowRange { offset: 0, limit: 1 });
    assert_eq!(table.stamps().len(), 1);
    assert!(!table.update(2, "Failed", 1), "it is out of sight");
    table.view.move_range(0.into(), RowRange { offset: 1, limit: 2 });
    let stamps = table.stamps();
    assert_eq!((table.text(&[0, 1]), stamps.len()), (r#"[["b","Running"],["c","Running"]]"#.into(), 2), "of the last look");
    assert!(table.look());
    assert_eq!(table.stamps().len(), 2);
    assert_eq!(table.text(&[1]), r#"[["c","Failed"]]"#);
    let old = table.pods[1].clone();
    table.view.change(Some(&old), None, &table.fields);
    assert!(table.look());
    table.view.change(None, Some(&old), &table.fields);
    assert!(table.look());
    assert_eq!(table.stamps().len(), 2);
    assert_eq!(table.text(&[0]), r#"[["b","Running"]]"#);
}

#[test]
fn vf_01_a_missing_value_is_told_from_null_and_values_stand_as_in_the_text() {
    let fields = FieldSet::new(Vec::new());
    let paths = ["a", "b", "c"].map(|path| Path::parse(path).unwrap().into());
    let mut view = View::new(ViewSpec { select: Some(paths.to_vec()), ..ViewSpec::default() }, &mut FieldSet::new(Vec::new())).unwrap();
    view.open_range(0.into(), RowRange::ALL);
    for text in [
        r#"{"a":null,"c":[1, {"x":-0}],"metadata":{"name":"x","resourceVersion":"1"}}"#,
        r#"{"metadata":{"name":"y","resourceVersion":"2"}}"#,
    ] {
        view.change(None, Some(&watchcache::testing::document(text, &fields)), &fields);
    }
    view.look(true, &fields);
    view.stamps(0.into());
    let text = String::from_utf8(view.fields(0.into(), &[0, 1])).unwrap();
    assert_eq!(text, r#"[["x",null,0,[1, {"x":-0}],[1]],["y",0,0,0,[0,1,2]]]"#);
}
