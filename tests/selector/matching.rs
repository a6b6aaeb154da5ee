//! What selectors match and which index they can use, against a naive model.

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use watchcache::json::{FieldSet, scan_object};
use watchcache::object::Object;
use watchcache::selector::field::{Term, escape};
use watchcache::selector::predicate::IndexMatch;
use watchcache::selector::{FieldSelector, LabelSelector, Matcher, Predicate};

type Labels = Vec<(Rc<str>, Rc<str>)>;

fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
    let sorted: BTreeMap<&str, &str> = pairs.into_iter().collect();
    sorted.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

fn predicate(label: &str, field: &str) -> Predicate {
    Predicate { label: LabelSelector::parse(label).unwrap(), field: FieldSelector::parse(field).unwrap() }
}

fn found(index: &str, value: &str) -> IndexMatch {
    IndexMatch { index: index.to_owned(), value: value.to_owned() }
}

#[test]
fn sel_01_labels_and_fields_must_both_match() {
    let mut fields = FieldSet::new(Vec::new());
    let matcher = Matcher::new(predicate("name=foo", "uid=12345"), &mut fields).unwrap();
    let matches = |labels: &str, uid: &str| {
        let document = format!(r#"{{{uid}"metadata":{{"name":"x","resourceVersion":"1"{labels}}}}}"#);
        let object = Object::new(scan_object(document.as_bytes(), &fields).unwrap()).unwrap();
        matcher.matches(&object, &fields)
    };
    let (foo, bar) = (r#","labels":{"name":"foo"}"#, r#","labels":{"name":"bar"}"#);
    let (uid, other) = (r#""uid":"12345","#, r#""uid":"54321","#);
    assert!(matches(foo, uid));
    assert!(!matches(bar, uid));
    assert!(!matches(foo, other));
    assert!(!matches(foo, ""));
    assert!(!matches("", uid));
    assert!(!matches("", ""));
}

#[test]
fn sel_01_fields_are_not_read_in_vain() {
    let unread = |term: &Term| -> bool { panic!("{} was read", term.path) };
    assert!(!predicate("name=foo", "uid=12345").matches(&labels([("name", "bar")]), unread));
    assert!(predicate("name=foo", "").matches(&labels([("name", "foo")]), unread));
    assert!(predicate("", "").matches(&[], unread));
    assert!(predicate("", "").is_empty());
    assert!(!predicate("", "uid=1").is_empty());
    assert!(!predicate("a", "").is_empty());
}

#[test]
fn sel_02_a_single_name() {
    assert_eq!(predicate("name=foo", "metadata.name=12345").single_name(), Some("12345"));
    assert_eq!(predicate("name=foo", "metadata.name!=12345").single_name(), None);
    assert_eq!(predicate("", "uid=1").single_name(), None);
    assert_eq!(predicate("", "metadata.namespace=a,metadata.name=b").single_namespace(), Some("a"));
}

#[test]
fn sel_05_indexes_that_narrow_the_search() {
    let both = predicate("name=foo", "uid=12345");
    assert_eq!(both.indexes(&[], &["bar"]), []);
    assert_eq!(both.indexes(&[], &[]), []);
    assert_eq!(both.indexes(&["uid"], &[]), [found("f:uid", "12345")]);
    assert_eq!(both.indexes(&["uid"], &["bar"]), [found("f:uid", "12345")]);
    assert_eq!(both.indexes(&[], &["name"]), [found("l:name", "foo")]);
    assert_eq!(both.indexes(&["uid"], &["name"]), [found("f:uid", "12345"), found("l:name", "foo")]);
    assert_eq!(predicate("name!=foo", "uid!=12345").indexes(&["uid"], &["name"]), []);
    assert_eq!(predicate("name notin (foo)", "").indexes(&[], &["name"]), []);
    assert_eq!(predicate("name in (foo)", "").indexes(&[], &["name"]), [found("l:name", "foo")]);
    assert_eq!(predicate("name in (foo,bar)", "").indexes(&[], &["name"]), []);
}

/// One requirement as plain data, and what it means, word by word.
#[derive(Debug, Clone)]
enum Model {
    One(&'static str, String, String),
    Many(&'static str, String, Vec<String>),
    Exists(String),
    Absent(String),
    Compare(char, String, i64),
}

impl Model {
    fn text(&self) -> String {
        match self {
            Model::One(op, key, value) => format!("{key}{op}{value}"),
            Model::Many(op, key, values) => format!("{key} {op} ({})", values.join(", ")),
            Model::Exists(key) => key.clone(),
            Model::Absent(key) => format!("! {key}"),
            Model::Compare(op, key, number) => format!("{key} {op} {number}"),
        }
    }

    fn matches(&self, own: &BTreeMap<String, String>) -> bool {
        match self {
            Model::One("!=", key, value) => own.get(key) != Some(value),
            Model::One(_, key, value) => own.get(key) == Some(value),
            Model::Many("in", key, values) => values.iter().any(|value| own.get(key) == Some(value)),
            Model::Many(_, key, values) => !values.iter().any(|value| own.get(key) == Some(value)),
            Model::Exists(key) => own.contains_key(key),
            Model::Absent(key) => !own.contains_key(key),
            Model::Compare(op, key, number) => match own.get(key).map(|value| value.parse::<i64>()) {
                Some(Ok(value)) => (*op == '>' && value > *number) || (*op == '<' && value < *number),
                _ => false,
            },
        }
    }
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "in", "notin", "x.io/c"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "1", "2", "10", "in", "notin", "v.1-x"]).prop_map(str::to_owned)
}

fn requirement() -> impl Strategy<Value = Model> {
    prop_oneof![
        (prop::sample::select(vec!["=", "==", "!="]), key(), value()).prop_map(|(op, key, value)| Model::One(op, key, value)),
        (prop::sample::select(vec!["in", "notin"]), key(), prop::collection::vec(value(), 1..4))
            .prop_map(|(op, key, values)| Model::Many(op, key, values)),
        key().prop_map(Model::Exists),
        key().prop_map(Model::Absent),
        (prop::sample::select(vec!['>', '<']), key(), 0i64..12).prop_map(|(op, key, number)| Model::Compare(op, key, number)),
    ]
}

proptest! {
    #[test]
    fn st_33_labels_match_as_the_model_says(
        model in prop::collection::vec(requirement(), 0..5),
        own in prop::collection::btree_map(key(), value(), 0..5),
    ) {
        let text = model.iter().map(Model::text).collect::<Vec<_>>().join(" , ");
        let selector = LabelSelector::parse(&text).unwrap();
        let own_labels = labels(own.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        prop_assert_eq!(selector.matches(&own_labels), model.iter().all(|requirement| requirement.matches(&own)), "{}", text);
        prop_assert_eq!(selector.is_everything(), model.is_empty());
        prop_assert_eq!(selector.requirements().len(), model.len());
        // A value the selector insists on is the only one that can match.
        for requirement in selector.requirements() {
            if let Some(value) = selector.exact(requirement.key()) && selector.matches(&own_labels) {
                prop_assert_eq!(own.get(requirement.key()).map(String::as_str), Some(value));
            }
        }
    }

    #[test]
    fn fields_match_as_the_model_says(
        terms in prop::collection::vec((prop::sample::select(PATHS.to_vec()), any::<bool>(), prop::sample::select(TEXTS.to_vec())), 0..4),
        own in prop::collection::hash_map(prop::sample::select(PATHS.to_vec()), prop::sample::select(TEXTS.to_vec()), 0..4),
    ) {
        let text = terms.iter().map(|(path, equal, value)| format!("{path}{}{}", if *equal { "=" } else { "!=" }, escape(value))).collect::<Vec<_>>().join(",");
        let selector = FieldSelector::parse(&text).unwrap();
        let read = |path: &str| own.get(path).copied().unwrap_or("");
        let expected = terms.iter().all(|(path, equal, value)| (read(path) == *value) == *equal);
        prop_assert_eq!(selector.terms().len(), terms.len());
        prop_assert_eq!(selector.matches(|term| term.matches(read(&term.path))), expected, "{}", text);
    }
}

const PATHS: [&str; 3] = ["a", "b.c", "d['=,'].e"];
const TEXTS: [&str; 5] = ["", "1", "a,b", "=", "\\"];
