//! The Kubernetes API: watches as lines over fetch and as messages over a WebSocket, and pages of lists.

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::future::{self, LocalBoxFuture};
use watchcache::source::kubernetes::{closed, frames};
use watchcache::source::{FrameStream, ListRequest, PageStream, WatchRequest};
use watchcache::status::{Error, Status};

use super::{Cut, Delivered, End, Truth, Way, Wire, judge_list, judge_watch};

const BASE: u64 = 100;
const LAST: u64 = 108;

/// Kind, name and version of each change. What is behind 106 only a later connection brings.
const CHANGES: [(&str, &str, u64); 6] = [
    ("ADDED", "neu-ü😀", 101),
    ("MODIFIED", "one", 102),
    ("DELETED", "zwei", 104),
    ("MODIFIED", "три", 106),
    ("ADDED", "late", 107),
    ("DELETED", "one", 108),
];
const TOLD: [&str; 6] = [
    "ADDED ns/neu-ü😀@101",
    "MODIFIED ns/one@102",
    "DELETED ns/zwei@104",
    "MODIFIED ns/три@106",
    "ADDED ns/late@107",
    "DELETED ns/one@108",
];

/// Its text has letters of two, three and four bytes, escapes, and what looks like the end of a document.
fn pod(name: &str, version: u64) -> String {
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"namespace":"ns","name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}},"note":"ü€😀\n\"}}}}\\"}}"#
    )
}

fn frame(kind: &str, object: &str) -> Vec<u8> {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into_bytes()
}

fn state_at(version: u64) -> BTreeMap<&'static str, u64> {
    let mut state: BTreeMap<&str, u64> = [("one", 98), ("zwei", 99), ("три", 100)].into();
    for (kind, name, at) in CHANGES.into_iter().filter(|(_, _, at)| *at <= version) {
        match kind {
            "DELETED" => drop(state.remove(name)),
            _ => drop(state.insert(name, at)),
        }
    }
    state
}

/// Over fetch, or over WebSockets.
struct Kubernetes {
    sockets: bool,
}

impl Wire for Kubernetes {
    fn base(&self) -> u64 {
        BASE
    }

    fn recorded(&self) -> Vec<(Vec<u8>, Delivered)> {
        let change = |index: usize| frame(CHANGES[index].0, &pod(CHANGES[index].1, CHANGES[index].2));
        let bookmark = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"103"}}"#;
        let gone = Status::new(410, "Expired", "too old resource version: ü").to_json();
        let at = |changes, bookmark, error| Delivered { changes, bookmark, error };
        vec![
            (change(0), at(1, 0, false)),
            (change(1), at(2, 0, false)),
            (frame("BOOKMARK", bookmark), at(2, 103, false)),
            (change(2), at(3, 0, false)),
            (change(3), at(4, 0, false)),
            (frame("ERROR", &gone), at(4, 0, true)),
        ]
    }

    fn greeting(&self) -> usize {
        0
    }

    fn following(&self, after: u64) -> Vec<Vec<u8>> {
        CHANGES.iter().filter(|(_, _, at)| *at > after).map(|(kind, name, at)| frame(kind, &pod(name, *at))).collect()
    }

    /// A token is the version of its list and how many objects came before.
    fn page(&self, request: &ListRequest, first: bool) -> Vec<u8> {
        let token = request.continue_token.as_deref().and_then(|token| token.split_once('.'));
        let newest = if first { BASE } else { LAST };
        let (version, from) = token.map_or((newest, 0), |(version, from)| (version.parse().unwrap(), from.parse().unwrap()));
        let state = state_at(version);
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        let items: Vec<String> = state.iter().skip(from).take(limit).map(|(name, at)| pod(name, *at)).collect();
        let next = from + items.len();
        let more = if next < state.len() { format!(r#","continue":"{version}.{next}""#) } else { String::new() };
        let (metadata, items) = (format!(r#"{{"resourceVersion":"{version}"{more}}}"#), items.join(","));
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[{items}]}}\n").into_bytes()
    }

    fn read_page(&self, _: &ListRequest, body: PageStream) -> PageStream {
        body
    }

    fn read_watch(&self, _: &WatchRequest, carried: PageStream) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        Box::pin(future::ready(Ok(if self.sockets { carried } else { frames(carried) })))
    }
}

fn wire(sockets: bool) -> Rc<dyn Wire> {
    Rc::new(Kubernetes { sockets })
}

fn length(wire: &Rc<dyn Wire>) -> usize {
    wire.recorded().iter().map(|(unit, _)| unit.len()).sum()
}

#[test]
fn law_03_law_11_a_watch_over_fetch_that_is_cut_at_any_byte_goes_on_behind_what_was_whole() {
    let wire = wire(false);
    let truth = Truth::of(&wire, &TOLD);
    for at in 0..=length(&wire) {
        for end in [End::InOrder, End::Broken] {
            // Both ends see both: all bytes at once, and a few at a time.
            let size = if (at % 2 == 0) == (end == End::InOrder) { usize::MAX } else { 5 };
            judge_watch(&wire, &truth, Cut { at, way: Way::Bytes(size), end });
        }
    }
}

#[test]
fn law_03_law_11_a_web_socket_that_closes_at_any_byte_has_told_whole_messages_and_no_other() {
    let wire = wire(true);
    let truth = Truth::of(&wire, &TOLD);
    assert!(closed(1000, "").is_none() && closed(1006, "").is_some(), "an end in good order, and one that is none");
    for at in 0..=length(&wire) {
        for end in [End::InOrder, End::Broken] {
            judge_watch(&wire, &truth, Cut { at, way: Way::Messages, end });
        }
    }
}

/// Whatever stands between may hand on a part of a message.
#[test]
fn law_06_law_11_a_message_that_is_cut_short_is_no_event_and_is_listed_anew() {
    let wire = wire(true);
    let truth = Truth::of(&wire, &TOLD);
    let mut starts = vec![0];
    for (unit, _) in wire.recorded() {
        starts.push(starts.last().unwrap() + unit.len());
    }
    for at in 0..=length(&wire) {
        // Without its line break a document is whole.
        if !starts.contains(&(at + 1)) {
            judge_watch(&wire, &truth, Cut { at, way: Way::Torn, end: End::InOrder });
        }
    }
}

#[test]
fn law_07_law_11_a_page_of_a_list_that_is_cut_at_any_byte_changes_nothing_that_is_held() {
    let wire = wire(false);
    let truth = Truth::of(&wire, &TOLD);
    for again in [false, true] {
        let first = ListRequest { limit: Some(2), ..ListRequest::default() };
        let token = if again { "108.2" } else { "100.2" };
        let pages = [first.clone(), ListRequest { continue_token: Some(token.into()), ..first }];
        for (page, request) in pages.iter().enumerate() {
            for at in 0..wire.page(request, !again).len() - 1 {
                for end in [End::InOrder, End::Broken] {
                    judge_list(&wire, &truth, page, again, Cut { at, way: Way::Bytes(7), end });
                }
            }
        }
    }
}
