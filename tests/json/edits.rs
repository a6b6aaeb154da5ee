//! What an update changes, found by comparison, against a scan of the whole document.

use crate::helpers::json::{FIELDS, Mutation, any_object, any_value, mutated, pod};
use proptest::prelude::*;
use serde_json::Value;
use watchcache::json::{Edit, Edits, FieldSet, Frame, Path, Scanned, Update, compare_object, scan_frame, scan_object, scan_update};

fn fields(strip: &[&str]) -> FieldSet {
    let path = |text: &&str| Path::parse(text).unwrap();
    let mut fields = FieldSet::new(strip.iter().map(path).collect());
    for field in FIELDS.iter().chain(&["kind", "apiVersion"]) {
        fields.slot(&path(field));
    }
    fields
}

pub(crate) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A JSON text of bytes that an edit names.
fn part(text: &[u8], from: u32, to: u32) -> &[u8] {
    &text[from as usize..to as usize]
}

fn applied(held: &[u8], new: &[u8], edits: &[Edit]) -> Vec<u8> {
    let (mut text, mut at) = (Vec::new(), 0);
    for edit in edits {
        text.extend_from_slice(&held[at..edit.old_start as usize]);
        text.extend_from_slice(part(new, edit.new_start, edit.new_end));
        at = edit.old_end as usize;
    }
    text.extend_from_slice(&held[at..]);
    text
}

/// Compares, and holds the result against a full scan. Returns what was found, and what is held now.
fn compared(held: &Scanned, document: &[u8], fields: &FieldSet) -> Option<(Edits, Scanned)> {
    let found = compare_object(&held.bytes, document, fields)?;
    let full = scan_object(document, fields).unwrap_or_else(|error| panic!("{error} in {}", shown(document)));
    let now = judged(held, &found, full);
    Some((found, now))
}

/// Holds what was found against a full scan. Returns what is held now.
fn judged(held: &Scanned, found: &Edits, full: Scanned) -> Scanned {
    let told = || format!("{} -> {}: {:?}", shown(&held.bytes), shown(&full.bytes), found.edits);
    let mut now = Scanned { bytes: found.bytes.clone(), is_odd: found.is_odd, ..held.clone() };
    now.version = found.version.clone().or(now.version);
    now.labels = found.labels.clone().unwrap_or(now.labels);
    now.initial_events_end = found.initial_events_end.unwrap_or(now.initial_events_end);
    for (slot, value) in &found.fields {
        now.fields[*slot] = value.clone();
    }
    assert_eq!(shown(&applied(&held.bytes, &found.bytes, &found.edits)), shown(&found.bytes), "{}", told());
    for (at, edit) in found.edits.iter().enumerate() {
        if edit.old_start == edit.old_end || edit.new_start == edit.new_end {
            assert_eq!((at, edit.old_start), (0, edit.new_start), "members come and go in front alone: {}", told());
            let members = [part(&held.bytes, edit.old_start, edit.old_end), part(&found.bytes, edit.new_start, edit.new_end)].concat();
            let whole = [b"{", &*members, b"\"last\":0}"].concat();
            serde_json::from_slice::<Value>(&whole).unwrap_or_else(|error| panic!("{error} in {}: {}", shown(&members), told()));
            // What nothing holds is no part of what was found.
            now.kind.clone_from(&full.kind);
            continue;
        }
        for value in [part(&held.bytes, edit.old_start, edit.old_end), part(&found.bytes, edit.new_start, edit.new_end)] {
            serde_json::from_slice::<Value>(value).unwrap_or_else(|error| panic!("{error} in {}: {}", shown(value), told()));
        }
    }
    // A stripped name that stands twice is in no held text, and so in no one's way.
    assert_eq!(now, Scanned { is_odd: now.is_odd, depth: now.depth, ..full.clone() }, "{}", told());
    assert!(found.edits.iter().zip(found.edits.iter().skip(1)).all(|(one, next)| one.old_end < next.old_start), "{}", told());
    now
}

/// Holds what was read by comparison against a full scan. Returns what is held now.
pub(crate) fn updated<H>(held: &Scanned, update: &Update<'_, H>, full: Scanned) -> Scanned {
    assert_eq!(update.kind.as_deref(), full.kind.as_deref());
    if let Some(edits) = &update.edits {
        return judged(held, edits, full);
    }
    // It is what is held. Items lack a kind and an apiVersion, which say no more than where the object stands.
    let without = |text: &[u8]| {
        let mut value: serde_json::Map<String, Value> = serde_json::from_slice(text).unwrap();
        ["kind", "apiVersion"].iter().for_each(|name| drop(value.remove(*name)));
        value
    };
    assert_eq!(held.version, full.version);
    if held.bytes != full.bytes {
        assert_eq!(without(&held.bytes), without(&full.bytes));
        assert_eq!(held.labels, full.labels);
    }
    held.clone()
}

/// The members and elements of a sound document, and all values, as positions.
#[derive(Default)]
pub(crate) struct Parts {
    items: Vec<(usize, usize)>,
    // Where an item is a member, and not an element.
    members: Vec<usize>,
    values: Vec<(usize, usize)>,
    // Items that have a neighbour in front of them in the same object or array.
    pairs: Vec<((usize, usize), (usize, usize))>,
}

pub(crate) fn space(text: &[u8], at: &mut usize) {
    while text[*at].is_ascii_whitespace() {
        *at += 1;
    }
}

impl Parts {
    fn of(text: &[u8]) -> Self {
        let mut parts = Self::default();
        let mut at = 0;
        space(text, &mut at);
        parts.value(text, &mut at);
        parts
    }

    pub(crate) fn string(text: &[u8], at: &mut usize) {
        *at += 1;
        while text[*at] != b'"' {
            *at += if text[*at] == b'\\' { 2 } else { 1 };
        }
        *at += 1;
    }

    pub(crate) fn value(&mut self, text: &[u8], at: &mut usize) {
        let start = *at;
        match text[*at] {
            b'"' => Self::string(text, at),
            open @ (b'{' | b'[') => {
                *at += 1;
                let mut last = None;
                loop {
                    space(text, at);
                    match text[*at] {
                        b',' => *at += 1,
                        b'}' | b']' => break,
                        _ => {
                            let item = *at;
                            if open == b'{' {
                                self.members.push(item);
                                Self::string(text, at);
                                space(text, at);
                                *at += 1;
                                space(text, at);
                            }
                            self.value(text, at);
                            self.items.push((item, *at));
                            self.pairs.extend(last.map(|last| (last, (item, *at))));
                            last = Some((item, *at));
                        }
                    }
                }
                *at += 1;
            }
            _ => {
                while !matches!(text.get(*at), None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')) {
                    *at += 1;
                }
            }
        }
        self.values.push((start, *at));
    }
}

/// A change of a document's values, as a user or a server makes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Replaced(String),
    Removed,
    Doubled,
    Inserted(String),
    Moved,
    Spaced,
    /// Members come in front of all others.
    Led(String),
    /// So many members go from there.
    Beheaded(usize),
}

/// Members as an item of a list lacks them, or some that stand in a document already.
fn leading() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&["kind", "apiVersion", "a", "b", "items", "k\\u0069nd", "other"][..]);
    let value = prop_oneof![4 => prop::sample::select(&["\"Pod\"", "\"v1\"", "1", "\"\""][..]).prop_map(str::to_owned), 1 => any_value()];
    let members = prop::collection::vec((name, value), 1..4);
    let members = members.prop_map(|members| members.iter().map(|(name, value)| format!("\"{name}\":{value},")).collect());
    prop_oneof![2 => Just("\"kind\":\"Pod\",\"apiVersion\":\"v1\",".to_string()), 1 => members]
}

pub(crate) fn change() -> impl Strategy<Value = (prop::sample::Index, Change)> {
    let change = prop_oneof![
        8 => any_value().prop_map(Change::Replaced),
        2 => Just(Change::Removed),
        1 => Just(Change::Doubled),
        2 => any_value().prop_map(Change::Inserted),
        1 => Just(Change::Moved),
        1 => Just(Change::Spaced),
        3 => leading().prop_map(Change::Led),
        2 => (1..4usize).prop_map(Change::Beheaded),
    ];
    (any::<prop::sample::Index>(), change)
}

pub(crate) fn changed(document: &[u8], place: prop::sample::Index, change: &Change) -> Vec<u8> {
    let parts = Parts::of(document);
    let mut text = document.to_vec();
    let item = (!parts.items.is_empty()).then(|| parts.items[place.index(parts.items.len())]);
    match (change, item) {
        // The last value is the document itself.
        (Change::Replaced(value), _) if parts.values.len() > 1 => {
            let (from, to) = parts.values[place.index(parts.values.len() - 1)];
            text.splice(from..to, value.bytes());
        }
        (Change::Removed, Some((from, to))) => {
            let mut behind = to;
            space(document, &mut behind);
            if document[behind] == b',' {
                text.drain(from..=behind);
            } else {
                let before = document[..from].iter().rposition(|byte| !byte.is_ascii_whitespace()).unwrap();
                text.drain(if document[before] == b',' { before } else { from }..to);
            }
        }
        (Change::Doubled, Some((from, to))) => drop(text.splice(from..from, [&document[from..to], b","].concat())),
        (Change::Inserted(value), Some((from, _))) => {
            let new = if parts.members.contains(&from) { format!("\"new\":{value},") } else { format!("{value},") };
            drop(text.splice(from..from, new.into_bytes()));
        }
        (Change::Moved, _) if !parts.pairs.is_empty() => {
            let ((from, end), (start, to)) = parts.pairs[place.index(parts.pairs.len())];
            let moved = [&document[start..to], &document[end..start], &document[from..end]].concat();
            drop(text.splice(from..to, moved));
        }
        (Change::Led(_) | Change::Beheaded(_), Some(_)) if document.trim_ascii_start().starts_with(b"{") => {
            let mut front = 0;
            space(document, &mut front);
            front += 1;
            space(document, &mut front);
            match change {
                Change::Led(members) if document[front] != b'}' => drop(text.splice(front..front, members.bytes())),
                Change::Beheaded(count) => drop(text.drain(front..behind_members(document, front, *count))),
                _ => {}
            }
        }
        (Change::Spaced, Some((from, _))) => drop(text.splice(from..from, *b" \n")),
        _ => {}
    }
    text
}

/// Where the members behind the first ones begin, or the first ones if there are no more.
fn behind_members(document: &[u8], front: usize, count: usize) -> usize {
    let mut at = front;
    for _ in 0..count {
        if document[at] != b'"' {
            return front;
        }
        Parts::string(document, &mut at);
        space(document, &mut at);
        at += 1;
        space(document, &mut at);
        Parts::default().value(document, &mut at);
        space(document, &mut at);
        if document[at] != b',' {
            return front;
        }
        at += 1;
        space(document, &mut at);
    }
    at
}

pub(crate) const STRIPS: &[&[&str]] =
    &[&[], &["metadata.managedFields"], &["a", "metadata.labels.b"], &["items[1]"], &["metadata.labels"], &["metadata"], &["kind", "a"]];

/// Some values change, and now and then bytes.
fn update() -> impl Strategy<Value = (Vec<(prop::sample::Index, Change)>, Option<Mutation>)> {
    (prop::collection::vec(change(), 0..4), prop::option::weighted(0.3, mutated()))
}

fn config() -> ProptestConfig {
    ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 400 }) }
}

proptest! {
    #![proptest_config(config())]

    /// What is held comes from comparisons wherever one can tell, so their mistakes would add up.
    #[test]
    fn law_14_differences_what_a_comparison_finds_is_what_a_full_scan_reads(
        held in any_object(),
        updates in prop::collection::vec(update(), 1..5),
        strip in prop::sample::select(STRIPS),
    ) {
        let fields = fields(strip);
        let mut scanned = scan_object(held.as_bytes(), &fields).unwrap();
        let mut document = held.into_bytes();
        prop_assume!(!scanned.is_odd);
        for (changes, broken) in &updates {
            for (place, change) in changes {
                document = changed(&document, *place, change);
            }
            if let Some(mutation) = broken {
                compared(&scanned, &mutation.apply(&document), &fields);
            }
            let found = compared(&scanned, &document, &fields).map(|(_, now)| now);
            scanned = found.unwrap_or_else(|| scan_object(&document, &fields).unwrap());
            if scanned.is_odd {
                break;
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn law_14_differences_a_frame_that_is_compared_is_read_as_a_whole_one(
        more in any_object(),
        namespace in prop::sample::select(&["", ",\"namespace\":\"n\""][..]),
        (changes, broken) in update(),
        kind in prop::sample::select(&["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "SYNC"][..]),
        extra in prop::sample::select(&["", ",\"x\":1", ",\"object\":{}", ",\"type\":\"ADDED\"", "}", ","][..]),
    ) {
        let fields = fields(&["metadata.managedFields"]);
        let metadata = format!("{{\"name\":\"a\"{namespace},\"uid\":\"u\",\"resourceVersion\":\"7\",\"labels\":{{\"b\":\"1\"}}}}");
        let held = format!("{{\"kind\":\"Pod\",\"metadata\":{metadata},\"more\":{more},\"items\":[{more}],\"a\":{{\"b\":[1,{more}]}}}}");
        let scanned = scan_object(held.as_bytes(), &fields).unwrap();
        prop_assume!(!scanned.is_odd);
        let document = changes.iter().fold(held.into_bytes(), |document, (place, change)| changed(&document, *place, change));
        let mut frame = format!("{{\"type\":\"{kind}\",\"object\":{}{extra}}}\n", shown(&document)).into_bytes();
        if let Some(mutation) = broken {
            frame = mutation.apply(&frame);
        }
        let same = |namespace: &str, name: &str| {
            scanned.namespace.as_deref().unwrap_or("") == namespace && scanned.name.as_deref() == Some(name)
        };
        let held = |namespace: &str, name: &str| same(namespace, name).then(|| scanned.bytes.clone());
        if let Ok((told, update)) = scan_update(&frame, &fields, held) {
            let Ok(Frame::Event { kind, object }) = scan_frame(&frame, &fields) else { panic!("no event: {}", shown(&frame)) };
            assert_eq!(told, kind);
            updated(&scanned, &update, object);
        }
    }
}

#[test]
fn what_lies_deep_is_looked_through_no_more_than_three_times() {
    let fields = fields(&[]);
    let deep = |version: u32, spec: &str| {
        let nested = format!("{}{spec}{}", "[".repeat(100), "]".repeat(100));
        format!(r#"{{"metadata":{{"name":"a","resourceVersion":"{version}"}},"long":"{}","spec":{nested}}}"#, "x".repeat(9000)).into_bytes()
    };
    let held = scan_object(&deep(1, "1"), &fields).unwrap();
    assert!(compared(&held, &deep(2, "2"), &fields).is_some(), "what lies in front is looked through once");
    let wide = |version: u32, last: u32| deep(version, &format!("\"{}\",{last}", "y".repeat(9000)));
    let held = scan_object(&wide(1, 1), &fields).unwrap();
    let frame = [br#"{"type":"MODIFIED","object":"#, &wide(2, 2)[..], b"}"].concat();
    let in_vain = scan_update(&frame, &fields, |_, _| Some(&*held.bytes)).unwrap_err();
    assert!(in_vain.bytes > 3 * held.bytes.len() && in_vain.bytes < 5 * held.bytes.len(), "{in_vain:?}");
}

/// The exemplar pod with some texts replaced.
fn edited(edits: &[(&str, &str)]) -> Vec<u8> {
    let mut text = String::from_utf8(pod()).unwrap();
    for (old, new) in edits {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    text.into_bytes()
}

#[test]
fn a_heartbeat_is_its_version_and_its_times() {
    let fields = fields(&["metadata.managedFields"]);
    let held = scan_object(&pod(), &fields).unwrap();
    let version = format!("\"resourceVersion\":\"{}\"", held.version.as_deref().unwrap());
    let times = [("\"lastTransitionTime\":\"", "\"lastTransitionTime\":\"1"), (&*version, "\"resourceVersion\":\"999999999\"")];
    let (found, _) = compared(&held, &edited(&times), &fields).expect("a difference");
    assert_eq!((found.edits.len(), found.version.as_deref()), (2, Some("999999999")));
}

/// An item of a list has neither kind nor apiVersion. What a watch sends has both.
#[test]
fn law_14_differences_members_come_and_go_in_front_of_all_others() {
    let fields = fields(&["metadata.managedFields"]);
    let whole = pod();
    let kind = b"\"apiVersion\":\"v1\",\"kind\":\"Pod\",";
    let at = whole.windows(kind.len()).position(|bytes| bytes == kind).expect("a kind and an apiVersion");
    let item = [&whole[..at], &whole[at + kind.len()..]].concat();
    let slot = |now: &Scanned, name: &str| now.fields[fields.paths().iter().position(|path| path.to_string() == name).unwrap()].clone();
    let text = |text: &str| watchcache::json::Scalar::Text(text.into());

    let held = scan_object(&item, &fields).unwrap();
    let (found, now) = compared(&held, &whole, &fields).expect("a difference");
    assert_eq!((found.edits.len(), found.edits[0].old_end, found.edits[0].new_end), (1, 1, 1 + kind.len() as u32));
    assert_eq!((slot(&now, "kind"), slot(&now, "apiVersion")), (text("Pod"), text("v1")));

    let held = scan_object(&whole, &fields).unwrap();
    let (found, now) = compared(&held, &item, &fields).expect("a difference");
    assert_eq!((found.edits.len(), found.edits[0].old_end, found.edits[0].new_end), (1, 1 + kind.len() as u32, 1));
    assert_eq!(slot(&now, "kind"), watchcache::json::Scalar::Missing);

    // Where another one of the name follows, the last one counts.
    let text = |front: &str, last: &str| {
        let filler = "x".repeat(400);
        format!(r#"{{{front}"metadata":{{"name":"a","resourceVersion":"1"}},"filler":"{filler}","last":{{{last}}},"kind":"Pod"}}"#)
            .into_bytes()
    };
    let held = scan_object(&text("", "\"a\":1"), &fields).unwrap();
    assert!(held.is_odd, "what a kind behind the name says is not known at once");
    assert!(compared(&held, &text("\"other\":\"Node\",", "\"a\":2"), &fields).is_some());
    for front in
        ["\"kind\":\"Node\",", "\"k\\u0069nd\":\"Node\",", "\"apiVersion\":1,\"apiVersion\":2,", "\"a\":01,", "\"a\":1,,", "\"a\":{},"]
    {
        assert!(compared(&held, &text(front, "\"a\":2"), &fields).is_none(), "{front}");
    }
    let plain = scan_object(br#"{"kind":"Pod","a":1}"#, &fields).unwrap();
    assert!(compared(&plain, br#"{"b":"Pod","c":1}"#, &fields).is_none(), "none of the names is held");
    let fields = self::fields(&["a"]);
    let held = scan_object(&text("", "\"a\":1"), &fields).unwrap();
    assert!(compared(&held, &text("\"a\":1,\"other\":1,", "\"a\":2"), &fields).is_some());
    assert!(compared(&held, &text("\"other\":1,\"a\":1,", "\"a\":2"), &fields).is_none(), "what is stripped stands behind what came");
}

/// An object of a server without versions changes under the same one. What comes in front is a change like any other.
#[test]
fn law_14_differences_only_a_kind_and_an_apiversion_come_and_go_without_a_change() {
    let fields = fields(&["metadata.managedFields"]);
    let text = |front: &str| format!(r#"{{{front}"metadata":{{"name":"a"}},"filler":"{}"}}"#, "x".repeat(400)).into_bytes();
    let is_held = |held: &str, new: &str| {
        let held = scan_object(&text(held), &fields).unwrap();
        let frame = [br#"{"type":"MODIFIED","object":"#, &text(new)[..], b"}"].concat();
        let (_, update) = scan_update(&frame, &fields, |_, _| Some(&*held.bytes)).expect("a difference");
        updated(&held, &update, scan_object(&text(new), &fields).unwrap());
        update.edits.is_none()
    };
    for front in [r#""kind":"Pod","#, r#""apiVersion":"v1","#, r#""apiVersion":"v1","kind":"Pod","#] {
        assert!(is_held("", front) && is_held(front, ""), "{front}");
    }
    for front in [r#""active":true,"#, r#""apiVersion":"v1","active":true,"#, r#""active":true,"kind":"Pod","#, r#""a":1,"#] {
        assert!(!is_held("", front) && !is_held(front, ""), "{front}");
    }
}

#[test]
fn a_number_with_a_digit_more_is_one_edit() {
    let fields = fields(&[]);
    let filler = "x".repeat(200);
    let text = |number: &str| format!(r#"{{"filler":"{filler}","list":[7,{number},{number}],"last":{number}}}"#).into_bytes();
    let held = scan_object(&text("1"), &fields).unwrap();
    for number in ["12", "1.5", "1e3", "-1"] {
        let (found, _) = compared(&held, &text(number), &fields).expect(number);
        assert_eq!(found.edits.len(), 3, "{number}");
    }
}

#[test]
fn what_is_new_is_read_strictly() {
    let fields = fields(&["stripped"]);
    let filler = "x".repeat(2_000);
    let text = |value: &[u8], stripped: &[u8]| {
        let parts: [&[u8]; 5] = [b"{\"filler\":\"", filler.as_bytes(), b"\",\"deep\":{\"in\":[", value, b"]},\"stripped\":"];
        [&parts.concat()[..], stripped, b",\"last\":1}"].concat()
    };
    let held = scan_object(&text(b"1", b"[]"), &fields).unwrap();
    assert!(compared(&held, &text(b"\"\xc3\xbc\"", b"[2]"), &fields).is_some());
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    // The object, `deep` and `in` are around the first, the object alone around the second.
    assert!(compared(&held, &text(&nested(124), b"0"), &fields).is_some());
    assert!(compared(&held, &text(b"1", &nested(126)), &fields).is_some());
    for (value, stripped) in [
        (&b"\"\xc3\""[..], &b"[]"[..]),
        (b"\"a\nb\"", b"[]"),
        (b"01", b"[]"),
        (b"1,", b"[]"),
        (b"2", b"\"\xff\""),
        (b"2", b"[1,]"),
        (&nested(125), b"[]"),
        (b"2", &nested(127)),
    ] {
        let document = text(value, stripped);
        assert!(compare_object(&held.bytes, &document, &fields).is_none(), "{}", shown(&document));
        assert!(scan_object(&document, &fields).is_err(), "{}", shown(&document));
    }
}

#[test]
fn law_14_differences_what_every_object_needs_is_read_where_it_is_stripped_too() {
    let filler = "x".repeat(400);
    let text = |app: &str, uid: &str, version: u32| {
        let metadata = format!(r#""name":"a","uid":"{uid}","resourceVersion":"{version}","labels":{{"app":"{app}"}}"#);
        format!(r#"{{"spec":{{"filler":"{filler}","a":{version}}},"metadata":{{{metadata}}},"last":1}}"#).into_bytes()
    };
    for strip in ["metadata.labels", "metadata.uid", "metadata.resourceVersion", "metadata"] {
        let fields = fields(&[strip]);
        let held = scan_object(&text("web", "u", 1), &fields).unwrap();
        compared(&held, &text("db", "v", 2), &fields);
        compared(&held, &text("db", "u", 1), &fields);
    }
}

#[test]
fn an_annotation_that_comes_changes_or_goes_is_compared() {
    let fields = fields(&["metadata.managedFields"]);
    let filler = "x".repeat(2_000);
    let text = |annotations: &str| {
        let metadata = format!(r#"{{"name":"a","resourceVersion":"1","annotations":{{{annotations}}}}}"#);
        format!(r#"{{"metadata":{metadata},"spec":"{filler}"}}"#).into_bytes()
    };
    let all = [r#""a":"1""#, r#""a":"1","b":"2""#, r#""a":"1","k8s.io/initial-events-end":"true""#, r#""k8s.io/initial-events-end":"no""#];
    for held in all {
        for new in all {
            let held = scan_object(&text(held), &fields).unwrap();
            assert!(compared(&held, &text(new), &fields).is_some(), "{new}");
        }
    }
}
