//! Interest in fields: which updates of an object somebody wants to hear of.
//!
//! Two scalars are the same if their values are: strings without their escapes, numbers as they are written. Two objects or arrays are the
//! same if their texts are. A path that leads nowhere has a value, too: none.

use std::cell::RefCell;

use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::object::Object;
use crate::status::{Error, ErrorCode};

use super::grammar::parse_path;

/// The option that names the paths.
const OPTION: &str = "changesOf";

/// The paths of which somebody wants to hear. The scan reads them of each object, so most updates are judged without a look at a text.
#[derive(Clone, Debug)]
pub struct Interest(Box<[(Path, Slot)]>);

/// What was found out about one update, by slot. All who want to hear of it share this: each path is looked at once.
#[derive(Clone, Debug, Default)]
pub struct Answers(RefCell<Vec<Option<bool>>>);

impl Interest {
    /// Reads the paths, and registers them. Fails on one with a mistake, and where there is none: that would be to hear of no update.
    pub fn read(paths: &[String], fields: &mut FieldSet) -> Result<Self, Error> {
        if paths.is_empty() {
            let message = format!("{OPTION} names at least one path; leave it out to hear of every change");
            return Err(Error::new(ErrorCode::Invalid, message));
        }
        let read = |(at, text): (usize, &String)| parse_path(&format!("{OPTION}[{at}]"), text);
        let paths = paths.iter().enumerate().map(read).collect::<Result<Vec<Path>, Error>>()?;
        Ok(Self(paths.into_iter().map(|path| (path.clone(), fields.hold(&path))).collect()))
    }

    /// Whether an update is to be told: one of the values differs, or it is another object of that name. The answers are those of this update.
    pub fn wants(&self, before: &Object, after: &Object, answers: &Answers, fields: &FieldSet) -> bool {
        is_another(before, after) || self.0.iter().any(|(path, slot)| answers.differs(before, after, path, slot.number(), fields))
    }

    /// The same of two versions between which others may lie. They are compared by their texts.
    pub fn wants_merged(&self, before: &Object, after: &Object) -> bool {
        is_another(before, after) || self.0.iter().any(|(path, _)| differs(before, after, path))
    }
}

impl Answers {
    fn differs(&self, before: &Object, after: &Object, path: &Path, slot: usize, fields: &FieldSet) -> bool {
        if let Some(Some(known)) = self.0.borrow().get(slot) {
            return *known;
        }
        let differs = match (before.field(slot, fields), after.field(slot, fields)) {
            // Of these the slot has no more than that there is one.
            (Scalar::Composite, Scalar::Composite) => differs(before, after, path),
            (old, new) => old != new,
        };
        let mut known = self.0.borrow_mut();
        if known.len() <= slot {
            known.resize(slot + 1, None);
        }
        known[slot] = Some(differs);
        differs
    }
}

/// Whether the value at a path differs between two versions. Nothing is decoded but scalars at the path.
pub fn differs(before: &Object, after: &Object, path: &Path) -> bool {
    if before.id() == after.id() {
        return false;
    }
    let (before, after) = (before.text(), after.text());
    let value = |text| path.find(text).unwrap_or_default();
    let (old, new) = (&before[value(&before)], &after[value(&after)]);
    let is_container = |raw: &[u8]| matches!(raw, [b'{' | b'[', ..]);
    old != new && (is_container(old) || is_container(new) || Scalar::from_raw(old) != Scalar::from_raw(new))
}

/// The object was deleted meanwhile, and there is another one of its name.
fn is_another(before: &Object, after: &Object) -> bool {
    before.uid() != after.uid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;
    use std::rc::Rc;

    fn object(version: u64, uid: &str, rest: &str, fields: &FieldSet) -> Rc<Object> {
        document(&format!(r#"{{"metadata":{{"name":"x","uid":"{uid}","resourceVersion":"{version}"}}{rest}}}"#), fields)
    }

    /// Whether an update is told to somebody who wants changes of this path. Both ways to find out must agree.
    fn wants(path: &str, before: &str, after: &str) -> bool {
        let mut fields = FieldSet::new(Vec::new());
        let interest = Interest::read(&[path.to_string()], &mut fields).unwrap();
        let (before, after) = (object(1, "u", before, &fields), object(2, "u", after, &fields));
        let told = interest.wants(&before, &after, &Answers::default(), &fields);
        assert_eq!(interest.wants_merged(&before, &after), told, "by text");
        assert_eq!(differs(&before, &after, &Path::parse(path).unwrap()), told, "by path");
        told
    }

    #[test]
    fn chg_01_scalars_differ_by_value_and_containers_by_text() {
        assert!(wants("status.phase", r#","status":{"phase":"Pending"}"#, r#","status":{"phase":"Running"}"#));
        assert!(!wants("status.phase", r#","status":{"phase":"Running"}"#, r#","status":{"phase":"Running","reason":"x"}"#));
        assert!(!wants("status.phase", r#","status":{"phase":"a"}"#, r#","status":{"phase":"\u0061"}"#), "the same text");
        assert!(wants("status.n", r#","status":{"n":1}"#, r#","status":{"n":1.0}"#), "numbers count as they are written");
        assert!(wants("status.n", r#","status":{"n":"1"}"#, r#","status":{"n":1}"#));
        assert!(wants("status", r#","status":{"phase":"a"}"#, r#","status":{"phase":"b"}"#));
        assert!(!wants("status", r#","status":{"phase":"a"},"spec":1"#, r#","status":{"phase":"a"},"spec":2"#));
        assert!(wants("status", r#","status":{"a":1,"b":2}"#, r#","status":{"b":2,"a":1}"#), "the order of members counts");
    }

    #[test]
    fn chg_01_a_missing_value_is_a_value() {
        assert!(wants("status.phase", "", r#","status":{"phase":"a"}"#));
        assert!(wants("status.phase", r#","status":{"phase":"a"}"#, ""));
        assert!(wants("status.phase", r#","status":{"phase":null}"#, ""), "null is no missing one");
        assert!(!wants("status.phase", "", r#","status":{}"#));
        assert!(wants("status", "", r#","status":{}"#));
        assert!(wants("status", r#","status":[]"#, r#","status":{}"#));
    }

    #[test]
    fn chg_01_a_filter_or_an_index_names_an_element() {
        let path = "status.conditions[?(@.type=='Ready')].status";
        let conditions = |first: &str, ready: &str| format!(r#","status":{{"conditions":[{first}{{"type":"Ready","status":"{ready}"}}]}}"#);
        assert!(wants(path, &conditions("", "True"), &conditions("", "False")));
        assert!(!wants(path, &conditions("", "True"), &conditions(r#"{"type":"Other"},"#, "True")), "it has moved");
        assert!(wants("status.conditions[0].type", &conditions("", "True"), &conditions(r#"{"type":"Other"},"#, "True")));
    }

    #[test]
    fn chg_02_another_object_of_the_name_is_told() {
        let mut fields = FieldSet::new(Vec::new());
        let interest = Interest::read(&["spec".into()], &mut fields).unwrap();
        let (one, other) = (object(1, "u1", "", &fields), object(2, "u2", "", &fields));
        assert!(interest.wants(&one, &other, &Answers::default(), &fields) && interest.wants_merged(&one, &other));
        assert!(!differs(&one, &other, &Path::parse("spec").unwrap()), "the value is the same");
    }

    #[test]
    fn chg_08_each_path_is_looked_at_once_for_all_who_ask() {
        let mut fields = FieldSet::new(Vec::new());
        let [one, other] = [(); 2].map(|()| Interest::read(&["status".into()], &mut fields).unwrap());
        let [a, b] = ["a", "b"].map(|phase| object(1, "u", &format!(r#","status":"{phase}""#), &fields));
        let answers = Answers::default();
        assert!(one.wants(&a, &b, &answers, &fields));
        // The answer is that of the update, whatever is shown to the next who asks.
        assert!(other.wants(&a, &a, &answers, &fields));
    }

    #[test]
    fn chg_09_what_cannot_be_read_is_named() {
        let read = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_string()).collect();
            let error = Interest::read(&paths, &mut FieldSet::new(Vec::new())).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid);
            error.message
        };
        assert_eq!(read(&[]), "changesOf names at least one path; leave it out to hear of every change");
        assert!(read(&["spec", "spec..x"]).starts_with("changesOf[1]: "));
    }
}
