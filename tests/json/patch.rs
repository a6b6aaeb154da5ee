//! What makes one version of a document of another. Applied to the text of the one, it gives the text of the other, byte for byte.

use crate::edits::{Parts, change, changed, shown, space};
use crate::helpers::json::{any_object, pod};
use proptest::prelude::*;
use serde_json::Value;
use watchcache::json::{Edits, FieldSet, HeldVersion, Path, patch, scan_object, scan_update};

/// The texts of the elements of an array without whitespace between them.
fn elements(array: &[u8]) -> Vec<&[u8]> {
    let (mut elements, mut at) = (Vec::new(), 1);
    while array[at] != b']' {
        let start = at;
        Parts::default().value(array, &mut at);
        elements.push(&array[start..at]);
        at += usize::from(array[at] == b',');
    }
    elements
}

/// Where the value stands that a step leads to, from the object or array at this position. Its name is that of one member alone.
fn reached(text: &[u8], mut at: usize, step: &Value) -> (usize, usize) {
    let (is_object, mut found, mut count) = (text[at] == b'{', Vec::new(), 0);
    at += 1;
    loop {
        space(text, &mut at);
        match text[at] {
            b',' => at += 1,
            b'}' | b']' => break,
            _ => {
                let start = at;
                let mut name = Value::from(count);
                if is_object {
                    Parts::string(text, &mut at);
                    name = serde_json::from_slice(&text[start..at]).unwrap();
                    space(text, &mut at);
                    at += 1;
                    space(text, &mut at);
                }
                let start = at;
                Parts::default().value(text, &mut at);
                if name == *step {
                    found.push((start, at));
                }
                count += 1;
            }
        }
    }
    assert_eq!(found.len(), 1, "{step} in {}", shown(text));
    found[0]
}

/// Puts members in front of all others of a document.
fn led(text: &mut Vec<u8>, members: &[u8]) {
    let front = text.iter().position(|byte| *byte == b'{').unwrap() + 1;
    let members = members.strip_prefix(b"{").and_then(|members| members.strip_suffix(b"}")).expect("an object of members");
    text.splice(front..front, [members, b","].concat());
}

/// A text without whitespace between its parts.
fn unspaced(text: &[u8]) -> String {
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let start = at;
        if text[at] == b'"' {
            Parts::string(text, &mut at);
        } else {
            at += 1;
        }
        if !text[start].is_ascii_whitespace() {
            plain.extend_from_slice(&text[start..at]);
        }
    }
    shown(&plain)
}

/// Whether a patch makes the one text of the other: byte for byte, save for the whitespace behind members that it puts in front.
fn assert_makes(from: &[u8], patch: &[u8], to: &[u8]) {
    let made = applied(from, patch);
    if patch.starts_with(b"[[],") {
        assert_eq!(unspaced(&made), unspaced(to), "by {}", shown(patch));
    } else {
        assert_eq!(shown(&made), shown(to), "by {}", shown(patch));
    }
    assert!(patch.len() <= to.len() / 2);
}

fn applied(from: &[u8], patch: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Value>(patch).unwrap_or_else(|error| panic!("{error}: {} of {}", shown(patch), shown(from)));
    let mut text = from.to_vec();
    for edit in elements(patch).chunks(2).rev() {
        let route: Vec<Value> = serde_json::from_slice(edit[0]).unwrap();
        if route.is_empty() {
            led(&mut text, edit[1]);
            continue;
        }
        let (from, to) = route.iter().fold((0, 0), |(at, _), step| reached(from, at, step));
        text.splice(from..to, edit[1].iter().copied());
    }
    text
}

/// Makes one of the other, and holds the result against what it is to be.
fn patched(from: &[u8], to: &[u8]) -> Option<String> {
    let patch = patch(from, to)?;
    assert_makes(from, &patch, to);
    Some(shown(&patch))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 1_000 }))]

    #[test]
    fn law_15_sharing_a_patch_makes_any_version_of_any_other(
        document in any_object(),
        updates in prop::collection::vec(prop::collection::vec(change(), 0..4), 1..4),
    ) {
        let mut versions = vec![document.trim_ascii().as_bytes().to_vec()];
        for changes in &updates {
            let mut next = versions[versions.len() - 1].clone();
            for (place, change) in changes {
                next = changed(&next, *place, change);
            }
            versions.push(next.trim_ascii().to_vec());
        }
        for from in &versions {
            for to in &versions {
                patched(from, to);
            }
        }
    }
}

/// A held version that somebody has decoded.
struct Decoded(Box<[u8]>);

impl HeldVersion for Decoded {
    fn text(&self) -> &[u8] {
        &self.0
    }

    fn is_decoded(&self) -> bool {
        true
    }
}

/// The patch that is found when a watch frame is compared, if one is. It has to make the text that is held then.
fn found_at_the_door(held: &[u8], document: &[u8], fields: &FieldSet) -> Option<String> {
    let frame = [br#"{"type":"MODIFIED","object":"#, document, b"}"].concat();
    let plain = scan_update(&frame, fields, |_, _| Some(held)).map(|(_, update)| update.edits);
    let edits = scan_update(&frame, fields, |_, _| Some(Decoded(held.into()))).map(|(_, update)| update.edits);
    let patch = edits.as_ref().ok().and_then(|edits| edits.as_ref()?.patch.clone());
    let without = edits.map(|edits| edits.map(|edits| Edits { patch: None, ..edits }));
    assert_eq!(without, plain, "who asks for a patch changes nothing else");
    let (patch, bytes) = (patch?, plain.ok()??.bytes);
    assert_makes(held, &patch, &bytes);
    Some(shown(&patch))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 1_000 }))]

    #[test]
    fn law_15_sharing_a_patch_that_is_found_at_the_door_makes_the_new_version_of_the_held_one(
        more in any_object(),
        updates in prop::collection::vec(prop::collection::vec(change(), 1..4), 1..4),
    ) {
        let fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
        let metadata = r#"{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","managedFields":[{"b":1}]}"#;
        let filler = "x".repeat(200);
        let mut arrived = format!(r#"{{"metadata":{metadata},"more":{more},"filler":"{filler}","items":[{more}]}}"#).into_bytes();
        for changes in &updates {
            let Ok(held) = scan_object(&arrived, &fields) else { return Ok(()) };
            arrived = changes.iter().fold(arrived, |text, (place, change)| changed(&text, *place, change));
            if !held.is_odd {
                found_at_the_door(&held.bytes, &arrived, &fields);
            }
        }
    }
}

/// A pod's heartbeat is what it is for.
#[test]
fn law_15_sharing_the_door_finds_the_patch_of_a_heartbeat_and_only_for_who_has_the_object_decoded() {
    let fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
    let first = String::from_utf8(pod()).unwrap();
    let next = first.replacen("\"lastTransitionTime\":\"2", "\"lastTransitionTime\":\"3", 1);
    let [held, now] = [&first, &next].map(|text| scan_object(text.as_bytes(), &fields).unwrap());
    let found = found_at_the_door(&held.bytes, next.as_bytes(), &fields).expect("a patch");
    assert_eq!(Some(found), patch(&held.bytes, &now.bytes).map(|patch| shown(&patch)));
    let frame = format!(r#"{{"type":"MODIFIED","object":{next}}}"#);
    let (_, update) = scan_update(frame.as_bytes(), &fields, |_, _| Some(&*held.bytes)).unwrap();
    assert_eq!(update.edits.unwrap().patch, None);
}

/// Of two members of a name no route says which, and none leads to members that went from the front.
#[test]
fn law_15_sharing_the_door_finds_no_patch_where_no_route_leads() {
    let fields = FieldSet::new(Vec::new());
    let document = |front: &str, inner: &str| {
        let filler = "x".repeat(500);
        format!(r#"{{{front}"metadata":{{"name":"a","namespace":"n","resourceVersion":"1"}},"filler":"{filler}","spec":{{{inner}}}}}"#)
    };
    let found = |held: &str, document: &str| found_at_the_door(held.as_bytes(), document.as_bytes(), &fields);
    let held = document("", r#""a":1,"b":{"c":2}"#);
    assert_eq!(found(&held, &document("", r#""a":1,"b":{"c":3}"#)).as_deref(), Some(r#"[["spec","b","c"],3]"#));
    assert_eq!(found(&document(r#""kind":"Pod","#, r#""a":1,"b":{"c":2}"#), &document("", r#""a":1,"b":{"c":3}"#)), None);
    for twice in [r#""a":1,"b":{"c":2},"b":{}"#, r#""b":{},"a":1,"b":{"c":2}"#, r#""b":{},"b":{"c":2}"#] {
        assert_eq!(found(&document("", twice), &document("", &twice.replace(r#""c":2"#, r#""c":3"#))), None, "{twice}");
    }
}

/// A document of which small parts are small, and a version of it with one text in place of another.
fn edited(members: &str, old: &str, new: &str) -> (String, String) {
    let document = format!(r#"{{"rest":"{}",{members}}}"#, "x".repeat(500));
    assert!(document.contains(old), "{old}");
    (document.replacen(old, new, 1), document)
}

fn told(members: &str, old: &str, new: &str) -> Option<String> {
    let (new, old) = edited(members, old, new);
    patched(old.as_bytes(), new.as_bytes())
}

#[test]
fn a_heartbeat_is_its_version_and_its_times() {
    let old = String::from_utf8(pod()).unwrap();
    let new = old.replacen("\"lastTransitionTime\":\"2", "\"lastTransitionTime\":\"3", 1);
    let told = patched(old.as_bytes(), new.as_bytes()).expect("a patch");
    assert!(told.starts_with(r#"[["status","conditions",0,"lastTransitionTime"],"3"#), "{told}");
    assert_eq!(patched(old.as_bytes(), old.as_bytes()).as_deref(), Some("[]"));
}

#[test]
fn a_route_leads_through_members_and_elements() {
    assert_eq!(told(r#""a":[{},[1,{"b":2}]]"#, "2", "3.50").as_deref(), Some(r#"[["a",1,1,"b"],3.50]"#));
    assert_eq!(told(r#""a":[1,2,3]"#, "1,2,3", "10,2,30").as_deref(), Some(r#"[["a",0],10,["a",2],30]"#));
    assert_eq!(told(r#""__proto__":{"ü":0}"#, ":0", ":-0").as_deref(), Some(r#"[["__proto__","ü"],-0]"#));
}

#[test]
fn shr_08_what_gains_or_loses_members_is_replaced_as_a_whole() {
    assert_eq!(told(r#""a":{"b":{"c":1}}"#, r#""c":1"#, r#""c":1,"d":2"#).as_deref(), Some(r#"[["a","b"],{"c":1,"d":2}]"#));
    assert_eq!(told(r#""a":{"b":{"c":1}}"#, r#"{"c":1}"#, "[]").as_deref(), Some(r#"[["a","b"],[]]"#));
    assert_eq!(told(r#""a":[1,2]"#, "1,2", "2").as_deref(), Some(r#"[["a"],[2]]"#));
    assert_eq!(told(r#""a":1"#, r#""a":1"#, r#""a":1,"b":2"#), None, "that is the document");
}

/// Items of lists lack `kind` and `apiVersion`, and the watch sends them: so differ the first two versions of every object.
#[test]
fn shr_14_members_that_come_in_front_of_all_others_stand_first_in_the_patch() {
    let item = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"1"}},"rest":"{}","status":{{"b":[1,2]}}}}"#, "x".repeat(500));
    let beat = item.replacen("[1,2]", "[1,3]", 1);
    let sent = beat.replacen('{', r#"{"kind":"Pod","apiVersion":"v1", "#, 1);
    let expected = r#"[[],{"kind":"Pod","apiVersion":"v1"},["status","b",1],3]"#;
    assert_eq!(patched(item.as_bytes(), sent.as_bytes()).as_deref(), Some(expected));
    assert_eq!(found_at_the_door(item.as_bytes(), sent.as_bytes(), &FieldSet::new(Vec::new())).as_deref(), Some(expected));
    assert_eq!(patched(sent.as_bytes(), beat.as_bytes()), None, "a name that went may be that of another member");
    let large = sent.replacen("v1", &"v".repeat(600), 1);
    assert_eq!(patched(item.as_bytes(), large.as_bytes()), None);
}

/// A pod that starts: its status gains an address, and is a third of the text before and after.
#[test]
fn shr_15_of_what_is_replaced_only_what_comes_is_held_against_a_patch() {
    let status = format!(r#""b":"{}""#, "y".repeat(280));
    let told = told(&format!(r#""status":{{{status}}}"#), &status, &format!(r#"{status},"ip":"10.0.0.1""#)).expect("a patch");
    assert_eq!(told, format!(r#"[["status"],{{{status},"ip":"10.0.0.1"}}]"#));
}

#[test]
fn shr_08_a_name_that_two_members_have_leads_nowhere() {
    for (members, what) in [
        (r#""a":1,"a":2"#, "the document"),
        (r#""b":{"a":1,"c":0,"a":2}"#, "an object"),
        (r#""b":{"a":2,"c":0,"a":1}"#, "behind the other"),
        (r#""b":[{"a":{"d":1}},{"c":{"d":1},"c":0}]"#, "the way to a value"),
        (r#""b":{"a":1,"\u0061":2}"#, "a name with an escape"),
    ] {
        assert_eq!(told(members, "1", "7").is_none(), what != "the way to a value", "{what}");
    }
    assert_eq!(told(r#""b":[{"c":{"d":1},"c":0}]"#, "1", "7"), None);
    assert_eq!(told(r#""b":{"a":1},"c":{"a":2},"d":0,"d":0"#, "1", "7").as_deref(), Some(r#"[["b","a"],7]"#), "others may");
}

#[test]
fn shr_08_what_would_save_too_little_is_left() {
    let (new, old) = edited(r#""a":1"#, "1", &format!("\"{}\"", "y".repeat(600)));
    assert_eq!(patched(old.as_bytes(), new.as_bytes()), None);
    let scalars = |value: &str| format!("{{\"a\":[{}]}}", vec![value; 500].join(","));
    assert_eq!(patched(scalars("1").as_bytes(), scalars("2").as_bytes()), None);
}
