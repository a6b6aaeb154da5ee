//! Selectors against the grammar of the Kubernetes API, and against a naive model.

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use watchcache::selector::field::escape;
use watchcache::selector::predicate::IndexMatch;
use watchcache::selector::{FieldSelector, LabelSelector, Predicate};

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
    let predicate = predicate("name=foo", "uid=12345");
    let matches = |own: &[(&str, &str)], uid: &str| {
        let read = &mut |path: &str| {
            if path == "uid" { uid.into() } else { Rc::from("") }
        };
        predicate.matches(&labels(own.iter().copied()), read)
    };
    assert!(matches(&[("name", "foo")], "12345"));
    assert!(!matches(&[("name", "bar")], "12345"));
    assert!(!matches(&[("name", "foo")], "54321"));
    assert!(!matches(&[("name", "foo")], ""));
    assert!(!matches(&[], "12345"));
    assert!(!matches(&[], ""));
}

#[test]
fn sel_01_fields_are_not_read_in_vain() {
    let unread = &mut |path: &str| -> Rc<str> { panic!("{path} was read") };
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
    assert_eq!(both.indexes(None, &[], &["bar"]), []);
    assert_eq!(both.indexes(None, &[], &[]), []);
    assert_eq!(both.indexes(None, &["uid"], &[]), [found("f:uid", "12345")]);
    assert_eq!(both.indexes(None, &["uid"], &["bar"]), [found("f:uid", "12345")]);
    assert_eq!(both.indexes(None, &[], &["name"]), [found("l:name", "foo")]);
    assert_eq!(both.indexes(None, &["uid"], &["name"]), [found("f:uid", "12345"), found("l:name", "foo")]);
    assert_eq!(predicate("name!=foo", "uid!=12345").indexes(None, &["uid"], &["name"]), []);
    assert_eq!(predicate("name notin (foo)", "").indexes(None, &[], &["name"]), []);
    assert_eq!(predicate("name in (foo)", "").indexes(None, &[], &["name"]), [found("l:name", "foo")]);
    assert_eq!(predicate("name in (foo,bar)", "").indexes(None, &[], &["name"]), []);
}

#[test]
fn sel_06_the_namespace_of_the_request_as_an_index() {
    let fields = ["metadata.namespace"];
    assert_eq!(predicate("", "").indexes(Some("default"), &fields, &[]), [found("f:metadata.namespace", "default")]);
    let own = predicate("", "metadata.namespace=kube-system");
    assert_eq!(own.indexes(Some("default"), &fields, &[]), [found("f:metadata.namespace", "kube-system")]);
    assert_eq!(own.indexes(None, &fields, &[]), [found("f:metadata.namespace", "kube-system")]);
    assert_eq!(predicate("", "").indexes(None, &fields, &[]), []);
    assert_eq!(predicate("", "").indexes(Some("default"), &["spec.nodeName"], &[]), []);
}

/// Every message of the label grammar and where it points. The texts are what the Kubernetes library answers.
#[test]
fn label_selector_messages() {
    const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const INTEGER: &str = "for 'Gt', 'Lt' operators, the value must be an integer";
    const START: &str = "expected: !, identifier, or 'end of string'";
    const OPERATOR: &str = "expected: in, notin, =, ==, !=, gt, lt";
    const SEPARATOR: &str = "expected: ',' or 'end of string'";
    let long = "y".repeat(64);
    let bad = |message: String| format!("unable to parse requirement: {message}");
    let cases: Vec<(&str, usize, String)> = vec![
        ("=", 0, format!("found '=', {START}")),
        (" (a)", 1, format!("found '(', {START}")),
        (",a", 0, format!("found ',', {START}")),
        (">1", 0, format!("found '>', {START}")),
        ("!=a", 0, format!("found '!=', {START}")),
        ("!", 1, bad("found '', expected: identifier".into())),
        ("!!a", 1, bad("found '!', expected: identifier".into())),
        ("a,", 2, "found '', expected: identifier after ','".into()),
        ("a,,b", 2, "found ',', expected: identifier after ','".into()),
        ("a, =b", 3, "found '=', expected: identifier after ','".into()),
        ("a b", 2, bad(format!("found 'b', {OPERATOR}"))),
        ("a!", 1, bad(format!("found '!', {OPERATOR}"))),
        ("a(", 1, bad(format!("found '(', {OPERATOR}"))),
        ("a)", 1, bad(format!("found ')', {OPERATOR}"))),
        ("a=b c", 4, format!("found 'c', {SEPARATOR}")),
        ("a=b=c", 3, format!("found '=', {SEPARATOR}")),
        ("x==a==b", 4, format!("found '==', {SEPARATOR}")),
        ("!x=a", 2, format!("found '=', {SEPARATOR}")),
        ("a in (b)c", 8, format!("found 'c', {SEPARATOR}")),
        ("a in", 4, bad("found '' expected: '('".into())),
        ("a in b", 5, bad("found 'b' expected: '('".into())),
        ("a notin )", 8, bad("found ')' expected: '('".into())),
        ("a in (", 6, bad("found '', expected: ',', ')' or identifier".into())),
        ("a in (=)", 6, bad("found '=', expected: ',', ')' or identifier".into())),
        ("a in (b", 7, bad("found '', expected: ',' or ')'".into())),
        ("a in (b c)", 8, bad("found 'c', expected: ',' or ')'".into())),
        ("a in (b,=)", 8, bad("found '=', expected: ',', or identifier".into())),
        ("a in (,", 7, bad("found '', expected: ',', or identifier".into())),
        ("a=(", 2, bad("found '(', expected: identifier".into())),
        ("a==!b", 3, bad("found '!', expected: identifier".into())),
        ("a>", 2, bad(format!("values[0]: Invalid value: \"\": {INTEGER}"))),
        ("a>b", 2, bad(format!("values[0]: Invalid value: \"b\": {INTEGER}"))),
        ("a<1.5", 2, bad(format!("values[0]: Invalid value: \"1.5\": {INTEGER}"))),
        ("a>9223372036854775808", 2, bad(format!("values[0]: Invalid value: \"9223372036854775808\": {INTEGER}"))),
        ("a>-1", 2, bad(format!("values[0][a]: Invalid value: \"-1\": {VALUE}"))),
        ("a=-b", 2, bad(format!("values[0][a]: Invalid value: \"-b\": {VALUE}"))),
        ("a<-b", 2, bad(format!("[values[0]: Invalid value: \"-b\": {INTEGER}, values[0][a]: Invalid value: \"-b\": {VALUE}]"))),
        ("x=a||y=b", 2, bad(format!("values[0][x]: Invalid value: \"a||y\": {VALUE}"))),
        ("a=\"b\"", 2, bad(format!("values[0][a]: Invalid value: \"\\\"b\\\"\": {VALUE}"))),
        // Values are checked in sorted order, which is the order of the message; the place is that of its first part.
        ("a in (d-,-c,b)", 9, bad(format!("[values[0][a]: Invalid value: \"-c\": {VALUE}, values[2][a]: Invalid value: \"d-\": {VALUE}]"))),
        ("b,-a", 2, bad(format!("<nil>: Invalid value: \"-a\": name part {NAME}"))),
        ("a/=b", 0, bad(format!("<nil>: Invalid value: \"a/\": name part must be non-empty; name part {NAME}"))),
        ("A/b", 0, bad(format!("<nil>: Invalid value: \"A/b\": prefix part {SUBDOMAIN}"))),
        (
            "a/b/c=d",
            0,
            bad(format!(
                "<nil>: Invalid value: \"a/b/c\": a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )),
        ),
        (&long, 0, bad(format!("<nil>: Invalid value: \"{long}\": name part must be no more than 63 bytes"))),
    ];
    for (text, offset, message) in cases {
        let error = LabelSelector::parse(text).expect_err(text);
        assert_eq!((error.message.as_str(), error.offset), (message.as_str(), offset), "{text:?}");
    }
}

#[test]
fn field_selector_messages() {
    for (text, offset, message) in [
        ("x", 0, "invalid selector: 'x'; can't understand 'x'"),
        ("x=a,b", 4, "invalid selector: 'x=a,b'; can't understand 'b'"),
        ("x in (a)", 0, "invalid selector: 'x in (a)'; can't understand 'x in (a)'"),
        ("x in (a,b,c)", 8, "invalid selector: 'x in (a,b,c)'; can't understand 'b'"),
        ("a!b", 0, "invalid selector: 'a!b'; can't understand 'a!b'"),
        // The first in sorted order.
        ("y,x", 2, "invalid selector: 'y,x'; can't understand 'x'"),
        ("x=a=,b", 5, "invalid selector: 'x=a=,b'; can't understand 'b'"),
        ("x=a||y=b", 6, "invalid field selector: unescaped character in value: 61"),
        ("x==a==b", 4, "invalid field selector: unescaped character in value: 61"),
        ("x=a,y=b=c", 7, "invalid field selector: unescaped character in value: 61"),
        ("x===a", 3, "invalid field selector: unescaped character in value: 61"),
        (r"x=\a", 2, r"invalid field selector: invalid escape sequence: \a"),
        (r"x=a\", 3, r"invalid field selector: invalid escape sequence: \"),
        (r"ä=b,x=\ä", 7, r"invalid field selector: invalid escape sequence: \ä"),
    ] {
        let error = FieldSelector::parse(text).expect_err(text);
        assert_eq!((error.message.as_str(), error.offset), (message, offset), "{text:?}");
    }
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

/// Texts that come close to being selectors.
fn near(tokens: Vec<&'static str>) -> impl Strategy<Value = String> {
    let token = prop_oneof![9 => prop::sample::select(tokens).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(token, 0..10).prop_map(|tokens| tokens.concat())
}

fn near_label_selector() -> impl Strategy<Value = String> {
    near(vec!["a", "b", " in ", " notin ", "=", "==", "!=", "!", ">", "<", "(", "(", ")", ")", ",", ",", " ", "\t", "1", "-", "\0", "x/y"])
}

fn near_field_selector() -> impl Strategy<Value = String> {
    near(vec!["a", "b.c", "=", "=", "==", "!=", "!", ",", ",", "\\", "\\,", "\\=", "\\\\", "[", "]", "['", "']", "\"", " "])
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
    fn label_selectors_print_and_read_back(text in near_label_selector()) {
        match LabelSelector::parse(&text) {
            Ok(selector) => {
                let canonical = selector.to_string();
                prop_assert_eq!(LabelSelector::parse(&canonical), Ok(selector), "{:?}", canonical);
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{:?}", error),
        }
    }

    #[test]
    fn field_selectors_print_and_read_back(text in near_field_selector()) {
        match FieldSelector::parse(&text) {
            Ok(selector) => {
                let canonical = selector.to_string();
                prop_assert_eq!(FieldSelector::parse(&canonical), Ok(selector), "{:?}", canonical);
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{:?}", error),
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
        prop_assert_eq!(selector.matches(&mut |path| read(path).into()), expected, "{}", text);
        let by_index = selector.matches_by_index(|index, term| {
            assert_eq!(&selector.terms()[index], term);
            read(&term.path)
        });
        prop_assert_eq!(by_index, expected);
    }
}

const PATHS: [&str; 3] = ["a", "b.c", "d['=,'].e"];
const TEXTS: [&str; 5] = ["", "1", "a,b", "=", "\\"];
