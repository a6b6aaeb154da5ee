//! Documents for the scanner's tests, and the same questions asked of serde_json.

use proptest::prelude::*;
use serde_json::Value;
use watchcache::json::Scalar;

/// A pod as an apiserver writes it, 14.4 kB.
pub fn pod() -> Vec<u8> {
    include_bytes!("../data/pod.json").to_vec()
}

/// The fields the tests read: of every kind of path, some of them below each other.
pub const FIELDS: &[&str] = &[
    "a",
    "a.b",
    "a.b[1]",
    "b['c.d']",
    "metadata.name",
    "metadata.labels.b",
    "items",
    "items[0].a",
    "items[1]",
    "items[?(@.type=='Ready')].a",
    "items[?(@.a==1)].type",
];

/// Pieces that make or break documents.
pub const TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"a\"",
    b"\"b\"",
    b"\"",
    b"\\",
    b"1",
    b"-",
    b"0.5",
    b"e9",
    b"true",
    b"null",
    b" ",
    b"\n",
    b"{\"a\":",
    b"\"metadata\":{",
    b"\xff",
    b"\xc3\xbc",
    b"\\u00fc",
    b"\x00",
];

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&["a", "b", "c.d", "type", "items", "metadata", "name", "labels", "annotations", "namespace",
            "uid", "resourceVersion", "k8s.io/initial-events-end", "managedFields", ""][..]).prop_map(|key| format!("{key:?}")),
        1 => prop::sample::select(&[r#""\u0061""#, r#""met\u0061data""#, r#""n\u0061me""#, r#""üñ""#, r#""a\"b""#][..]).prop_map(str::to_owned),
        1 => string(),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&["", "Ready", "true", "x", "default", "17", "a longer text that fills more than one block of bytes"][..])
            .prop_map(|text| format!("{text:?}")),
        2 => any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        1 => prop::sample::select(&[r#""\u0041\uD83D\uDE00\n""#, r#""\/\b\f""#, r#""tab\tquote\"""#, r#""R\u0065ady""#][..]).prop_map(str::to_owned),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (0..3u8).prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
    ]
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 1 => "[ \n\r\t]{1,3}"]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => string(),
        2 => number(),
        1 => prop::sample::select(&["true", "false", "null", "{}", "[]"][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let array = prop::collection::vec((space(), inner.clone(), space()), 0..5).prop_map(|elements| {
            let elements: Vec<_> = elements.into_iter().map(|(before, value, behind)| before + &value + &behind).collect();
            format!("[{}]", elements.join(","))
        });
        prop_oneof![1 => array, 3 => object_of(inner)]
    })
}

/// The text of a random JSON value.
pub fn any_value() -> impl Strategy<Value = String> {
    value()
}

/// An object as text; names may repeat.
fn object_of(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec((space(), key(), space(), space(), inner, space()), 0..7).prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .map(|(before, key, behind, between, value, end)| format!("{before}{key}{behind}:{between}{value}{end}"))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}

/// The text of a random JSON object.
pub fn any_object() -> impl Strategy<Value = String> {
    (object_of(value()), object_of(value()), space(), space()).prop_map(|(plain, metadata, before, behind)| {
        // Half of the fields stand in metadata, where random names alone would rarely hit them.
        let joint = if plain.trim() == "{}" { "" } else { "," };
        let rest = plain.strip_prefix('{').unwrap_or("}");
        let rest = if rest.trim() == "}" { "}" } else { rest };
        let joint = if rest == "}" { "" } else { joint };
        format!("{before}{{\"metadata\":{metadata}{joint}{rest}{behind}")
    })
}

/// The text of a random JSON value, mostly an object.
pub fn any_document() -> impl Strategy<Value = String> {
    prop_oneof![6 => any_object(), 2 => object_of(value()), 1 => value()]
}

/// A change of some bytes.
#[derive(Clone, Debug)]
pub struct Mutation(Vec<(prop::sample::Index, u8, Vec<u8>)>);

/// One to three changes: a byte replaced, removed, doubled, or something put in.
pub fn mutated() -> impl Strategy<Value = Mutation> {
    let piece = prop_oneof![prop::sample::select(TOKENS).prop_map(<[u8]>::to_vec), any::<u8>().prop_map(|byte| vec![byte]),];
    prop::collection::vec((any::<prop::sample::Index>(), 0..5u8, piece), 1..4).prop_map(Mutation)
}

impl Mutation {
    pub fn apply(&self, document: &[u8]) -> Vec<u8> {
        let mut document = document.to_vec();
        for (place, how, piece) in &self.0 {
            if document.is_empty() {
                document = piece.clone();
                continue;
            }
            let at = place.index(document.len());
            match how {
                0 => document[at] = piece[0],
                1 => drop(document.remove(at)),
                2 => document.insert(at, document[at]),
                3 => drop(document.splice(at..at, piece.iter().copied())),
                _ => document.truncate(at),
            }
        }
        document
    }
}

/// The value that serde_json finds at a path.
pub struct Found<'v>(pub(crate) Option<&'v Value>);

impl<'v> Found<'v> {
    /// The value.
    pub fn value(&self) -> Option<&'v Value> {
        self.0
    }

    /// Whether the scanner has read the same.
    pub fn agrees(&self, scalar: &Scalar, document: &str, field: &str) {
        let same = match (self.0, scalar) {
            (None, Scalar::Missing) | (Some(Value::Null), Scalar::Null) => true,
            (Some(Value::Object(_) | Value::Array(_)), Scalar::Composite) => true,
            (Some(Value::Bool(expected)), Scalar::Bool(given)) => expected == given,
            (Some(Value::String(expected)), Scalar::Text(given)) => **expected == **given,
            (Some(Value::Number(expected)), Scalar::Number(given)) => {
                serde_json::from_str::<serde_json::Number>(given).is_ok_and(|given| given == *expected)
            }
            _ => false,
        };
        assert!(same, "{field}: {:?} became {scalar:?} in {document}", self.0);
    }
}

enum Step {
    Key(&'static str),
    Index(usize),
    TypeIs(&'static str),
    AIs(u64),
}

/// The paths of `FIELDS` and of the strip lists, written out by hand: the oracle shares nothing with the parser.
fn steps(path: &str) -> Vec<Step> {
    use Step::{AIs, Index, Key, TypeIs};
    match path {
        "a" => vec![Key("a")],
        "a.b" => vec![Key("a"), Key("b")],
        "a.b[1]" => vec![Key("a"), Key("b"), Index(1)],
        "b['c.d']" => vec![Key("b"), Key("c.d")],
        "metadata.name" => vec![Key("metadata"), Key("name")],
        "metadata.labels.b" => vec![Key("metadata"), Key("labels"), Key("b")],
        "metadata.managedFields" => vec![Key("metadata"), Key("managedFields")],
        "items" => vec![Key("items")],
        "items[0].a" => vec![Key("items"), Index(0), Key("a")],
        "items[1]" => vec![Key("items"), Index(1)],
        "items[?(@.type=='Ready')].a" => vec![Key("items"), TypeIs("Ready"), Key("a")],
        "items[?(@.a==1)].type" => vec![Key("items"), AIs(1), Key("type")],
        other => panic!("no steps for {other}"),
    }
}

fn index_of(elements: &[Value], step: &Step) -> Option<usize> {
    match step {
        Step::Key(_) => None,
        Step::Index(index) => Some(*index).filter(|index| *index < elements.len()),
        Step::TypeIs(wanted) => elements.iter().position(|element| element["type"] == *wanted),
        // The number as written: a double that equals 1 is not "1".
        Step::AIs(wanted) => elements.iter().position(|element| element["a"].as_u64() == Some(*wanted)),
    }
}

/// What serde_json finds at one of the paths above.
pub fn read_path<'v>(value: &'v Value, path: &str) -> Found<'v> {
    Found(steps(path).iter().try_fold(value, |value, step| match (step, value) {
        (Step::Key(key), Value::Object(members)) => members.get(*key),
        (_, Value::Array(elements)) => index_of(elements, step).map(|index| &elements[index]),
        _ => None,
    }))
}

/// Removes what stands at the paths, all of them read in the value as it was.
pub fn remove_path(value: &mut Value, paths: &[&str]) {
    let mut places: Vec<String> = paths.iter().filter_map(|path| pointer(value, path)).collect();
    // From the end, so that no removal moves another. The inner of two is removed first.
    places.sort_by(|left, right| order(right, left));
    places.dedup();
    for place in places {
        let (parent, last) = place.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap() {
            Value::Object(members) => drop(members.remove(&last.replace("~1", "/"))),
            Value::Array(elements) => drop(elements.remove(last.parse().unwrap())),
            _ => unreachable!("a pointer's parent is a composite"),
        }
    }
}

fn order(left: &str, right: &str) -> std::cmp::Ordering {
    let key = |part: &str| (part.parse::<usize>().ok(), part.to_owned());
    left.split('/').map(key).cmp(right.split('/').map(key))
}

fn pointer(value: &Value, path: &str) -> Option<String> {
    let mut pointer = String::new();
    let mut here = value;
    for step in steps(path) {
        match (&step, here) {
            (Step::Key(key), Value::Object(members)) => {
                here = members.get(*key)?;
                pointer += &format!("/{}", key.replace('/', "~1"));
            }
            (_, Value::Array(elements)) => {
                let index = index_of(elements, &step)?;
                here = &elements[index];
                pointer += &format!("/{index}");
            }
            _ => return None,
        }
    }
    Some(pointer)
}
