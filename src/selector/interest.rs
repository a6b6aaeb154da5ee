//! Interest in fields: which updates of an object somebody wants to hear of.
//!
//! Two scalars are the same if their values are: strings without their escapes, numbers as they are written. Two objects or arrays are the
//! same if their texts are. A path that leads nowhere has a value, too: none.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::object::{Object, ObjectId};
use crate::status::{Error, ErrorCode};

use super::grammar::parse_path;

/// The option that names the paths.
const OPTION: &str = "changesOf";

/// The paths of which somebody wants to hear. The scan reads them of each object, so most updates are judged without a look at a text.
#[derive(Debug)]
pub struct Interest {
    // By slot, and each once.
    paths: Box<[(Path, Slot)]>,
    // The last update it was asked about, and the answer. All who share the interest ask about one update, then all about the next.
    asked: Cell<Option<(ObjectId, ObjectId, bool)>>,
}

impl Interest {
    /// Reads the paths, and registers them. Fails on one with a mistake, and where there is none: that would be to hear of no update.
    pub fn read(paths: &[String], fields: &mut FieldSet) -> Result<Self, Error> {
        if paths.is_empty() {
            let message = format!("{OPTION} names at least one path; leave it out to hear of every change");
            return Err(Error::new(ErrorCode::Invalid, message));
        }
        let read = |(at, text): (usize, &String)| parse_path(&format!("{OPTION}[{at}]"), text);
        let paths = paths.iter().enumerate().map(read).collect::<Result<Vec<Path>, Error>>()?;
        let mut held: Vec<(Path, Slot)> = Vec::with_capacity(paths.len());
        for path in paths {
            let slot = fields.hold(&path);
            let place = held.partition_point(|(_, known)| known.number() < slot.number());
            if held.get(place).is_none_or(|(_, known)| known.number() != slot.number()) {
                held.insert(place, (path, slot));
            }
        }
        Ok(Self { paths: held.into(), asked: Cell::new(None) })
    }

    /// Whether an update is to be told: one of the values differs, or it is another object of that name.
    pub fn wants(&self, before: &Object, after: &Object, fields: &FieldSet) -> bool {
        if let Some((old, new, known)) = self.asked.get()
            && (old, new) == (before.id(), after.id())
        {
            return known;
        }
        let wants = is_another(before, after) || self.paths.iter().any(|(path, slot)| field_differs(before, after, path, slot, fields));
        self.asked.set(Some((before.id(), after.id(), wants)));
        wants
    }

    /// The same of two versions between which others may lie. They are compared by their texts.
    pub fn wants_merged(&self, before: &Object, after: &Object) -> bool {
        is_another(before, after) || self.paths.iter().any(|(path, _)| differs(before, after, path))
    }

    fn is_same(&self, other: &Self) -> bool {
        let slots = |interest: &Self| interest.paths.iter().map(|(_, slot)| slot.number()).collect::<Vec<_>>();
        slots(self) == slots(other)
    }
}

/// The interests of many. Those who name the same paths share one, so an update is compared once for all of them.
#[derive(Debug, Default)]
pub struct Interests(Vec<Weak<Interest>>);

impl Interests {
    /// The interest that all with these paths share.
    pub fn share(&mut self, interest: Rc<Interest>) -> Rc<Interest> {
        self.0.retain(|known| known.strong_count() > 0);
        let known = self.0.iter().filter_map(Weak::upgrade).find(|known| known.is_same(&interest));
        known.unwrap_or_else(|| {
            self.0.push(Rc::downgrade(&interest));
            interest
        })
    }
}

fn field_differs(before: &Object, after: &Object, path: &Path, slot: &Slot, fields: &FieldSet) -> bool {
    match (before.field(slot.number(), fields), after.field(slot.number(), fields)) {
        // Of these the slot has no more than that there is one.
        (Scalar::Composite, Scalar::Composite) => differs(before, after, path),
        (old, new) => old != new,
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
        let told = interest.wants(&before, &after, &fields);
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
        assert!(interest.wants(&one, &other, &fields) && interest.wants_merged(&one, &other));
        assert!(!differs(&one, &other, &Path::parse("spec").unwrap()), "the value is the same");
    }

    #[test]
    fn chg_08_who_names_the_same_paths_shares_the_answer() {
        let mut fields = FieldSet::new(Vec::new());
        let mut interests = Interests::default();
        let mut share = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_string()).collect();
            interests.share(Rc::new(Interest::read(&paths, &mut fields).unwrap()))
        };
        let [one, same, other] = [&["status", "spec"][..], &["spec", "status", "spec"], &["spec"]].map(&mut share);
        assert!(Rc::ptr_eq(&one, &same) && !Rc::ptr_eq(&one, &other));
        drop((one, same));
        share(&["metadata.labels"]);
        assert_eq!(interests.0.iter().filter(|known| known.strong_count() > 0).count(), 1, "who is gone leaves nothing");
    }

    #[test]
    fn chg_08_the_answer_is_that_of_the_update() {
        let mut fields = FieldSet::new(Vec::new());
        let interest = Interest::read(&["status".into()], &mut fields).unwrap();
        let [a, b, c] = ["a", "b", "b"].map(|phase| object(1, "u", &format!(r#","status":"{phase}""#), &fields));
        assert_eq!(
            [(&a, &b), (&a, &b), (&b, &c), (&a, &b), (&b, &a)].map(|(old, new)| interest.wants(old, new, &fields)),
            [true, true, false, true, true]
        );
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
