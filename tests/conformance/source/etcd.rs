//! etcd's JSON gateway: watches as messages over a WebSocket, with progress, fragments and compaction, and answers to range requests.

use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::future::{self, LocalBoxFuture};
use futures::{FutureExt, StreamExt};
use watchcache::source::etcd::{Dialect, Numbers, RangeReader, WatchReader, frames, page};
use watchcache::source::{FrameStream, ListRequest, PageStream, WatchRequest, opened};
use watchcache::status::Error;
use watchcache::version::Version;

use super::{Cut, Delivered, End, Truth, Way, Wire, judge_list, judge_watch};

const BASE: u64 = 100;
const LAST: u64 = 108;
/// A version is the revision and a place in it; that of a whole revision ends in nines.
const PLACES: u64 = 1_000_000_000;

/// Key and revision of each change, and whether it is a deletion. Revision 104 changes three keys.
const CHANGES: [(&str, u64, bool); 8] = [
    ("neu-ü😀", 101, false),
    ("one", 102, false),
    ("b", 104, false),
    ("c", 104, false),
    ("zwei", 104, true),
    ("три", 106, false),
    ("late", 107, false),
    ("one", 108, true),
];
/// In the order of their places: the hashes of their keys.
const TOLD: [&str; 8] = [
    "ADDED neu-ü😀@101409267221",
    "MODIFIED one@102593562302",
    "ADDED c@104217087830",
    "ADDED b@104728717140",
    "DELETED zwei@104893213564",
    "MODIFIED три@106348924852",
    "ADDED late@107444418251",
    "DELETED one@108593562302",
];

fn text(of: &[u8]) -> String {
    STANDARD.encode(of)
}

/// A key as the gateway tells it.
fn key_value(name: &str, created: u64, modified: u64) -> String {
    let value = format!(r#"{{"note":"ü€😀\n\"}}}}\\ {modified}"}}"#);
    let (key, value) = (text(format!("/p/{name}").as_bytes()), text(value.as_bytes()));
    format!(r#"{{"key":"{key}", "create_revision":"{created}", "mod_revision":"{modified}", "version":"1", "value":"{value}"}}"#)
}

/// Name → revisions of creation and of the last change.
fn state_at(revision: u64) -> BTreeMap<&'static str, (u64, u64)> {
    let mut state: BTreeMap<&str, (u64, u64)> = [("one", (98, 98)), ("zwei", (99, 99)), ("три", (100, 100))].into();
    for (name, at, deleted) in CHANGES.into_iter().filter(|(_, at, _)| *at <= revision) {
        if deleted {
            state.remove(name);
        } else {
            state.entry(name).and_modify(|entry| entry.1 = at).or_insert((at, at));
        }
    }
    state
}

fn event(index: usize) -> String {
    let (name, at, deleted) = CHANGES[index];
    let before = state_at(at - 1).get(name).copied();
    match (deleted, before) {
        (true, Some((created, modified))) => {
            let key = text(format!("/p/{name}").as_bytes());
            let before = key_value(name, created, modified);
            format!(r#"{{"type":"DELETE", "kv":{{"key":"{key}", "mod_revision":"{at}"}}, "prev_kv":{before}}}"#)
        }
        (_, before) => format!(r#"{{"kv":{}}}"#, key_value(name, before.map_or(at, |(created, _)| created), at)),
    }
}

fn message(revision: u64, more: &str) -> Vec<u8> {
    format!(r#"{{"result":{{"header":{{"cluster_id":"5", "revision":"{revision}"}}{more}}}}}"#).into_bytes()
}

fn events(indexes: &[usize], more: &str) -> Vec<u8> {
    let all: Vec<String> = indexes.iter().map(|index| event(*index)).collect();
    message(LAST, &format!(r#"{more}, "events":[{}]"#, all.join(", ")))
}

struct Etcd {
    dialect: Dialect,
}

impl Wire for Etcd {
    fn base(&self) -> u64 {
        BASE * PLACES + PLACES - 1
    }

    fn recorded(&self) -> Vec<(Vec<u8>, Delivered)> {
        let at = |changes, bookmark: u64| Delivered {
            changes,
            bookmark: if bookmark > 0 { bookmark * PLACES + PLACES - 1 } else { 0 },
            error: false,
        };
        vec![
            (message(BASE, r#", "created":true"#), at(0, 0)),
            (events(&[0, 1], ""), at(2, 0)),
            (message(103, r#", "watch_id":"-1""#), at(2, 103)),
            // What is of a revision waits until all of it is there.
            (events(&[2], r#", "fragment":true"#), at(2, 103)),
            (events(&[3], r#", "fragment":true"#), at(2, 103)),
            (events(&[4], ""), at(5, 0)),
            (message(105, ""), at(5, 105)),
            (events(&[5], ""), at(6, 0)),
        ]
    }

    fn greeting(&self) -> usize {
        1
    }

    /// From the revision of the version on: what is told already is passed over here.
    fn following(&self, after: u64) -> Vec<Vec<u8>> {
        let first = after / PLACES + u64::from(after % PLACES == PLACES - 1);
        let rest: Vec<usize> = (0..CHANGES.len()).filter(|index| CHANGES[*index].1 >= first).collect();
        let mut messages = vec![message(LAST, r#", "created":true"#)];
        if !rest.is_empty() {
            messages.push(events(&rest, ""));
        }
        messages
    }

    fn page(&self, request: &ListRequest, first: bool) -> Vec<u8> {
        let now = if first { BASE } else { LAST };
        let token = request.continue_token.as_deref().and_then(|token| token.split_once('.'));
        let (revision, from) =
            token.map_or((now, Vec::new()), |(revision, key)| (revision.parse().unwrap(), URL_SAFE_NO_PAD.decode(key).unwrap()));
        let state = state_at(revision);
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        let rest: Vec<String> = state
            .iter()
            .filter(|(name, _)| format!("/p/{name}").as_bytes() >= from.as_slice())
            .map(|(name, (created, modified))| key_value(name, *created, *modified))
            .collect();
        let more = if rest.len() > limit { r#", "more":true"# } else { "" };
        let keys = rest[..limit.min(rest.len())].join(", ");
        format!("{{\"header\":{{\"cluster_id\":\"5\", \"revision\":\"{now}\"}}, \"kvs\":[{keys}]{more}, \"count\":\"{}\"}}\n", rest.len())
            .into_bytes()
    }

    fn read_page(&self, request: &ListRequest, body: PageStream) -> PageStream {
        let revision =
            request.continue_token.as_deref().and_then(|token| token.split_once('.')).map(|(revision, _)| revision.parse().unwrap());
        page(RangeReader::new(self.dialect.clone(), revision), body)
    }

    fn read_watch(&self, request: &WatchRequest, carried: PageStream) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let after = Version::parse(&request.resource_version).unwrap();
        let reader = WatchReader::new(self.dialect.clone(), after, request.allow_watch_bookmarks);
        opened(frames(reader, carried).boxed_local(), future::pending().boxed_local()).boxed_local()
    }
}

fn wire() -> Rc<dyn Wire> {
    Rc::new(Etcd { dialect: Dialect { prefix: b"/p/".to_vec(), numbers: Numbers { transactions: true } } })
}

/// Where each message begins, and the end of the last.
fn starts(wire: &Rc<dyn Wire>) -> Vec<usize> {
    let mut starts = vec![0];
    for (unit, _) in wire.recorded() {
        starts.push(starts.last().unwrap() + unit.len());
    }
    starts
}

#[test]
fn law_02_law_03_a_watch_of_etcd_that_is_cut_at_any_byte_goes_on_behind_the_last_whole_revision() {
    let wire = wire();
    let truth = Truth::of(&wire, &TOLD);
    for at in 0..=*starts(&wire).last().unwrap() {
        for end in [End::InOrder, End::Broken] {
            judge_watch(&wire, &truth, Cut { at, way: Way::Messages, end });
        }
    }
}

#[test]
fn law_06_law_11_a_message_of_etcd_that_is_cut_short_is_no_change_and_is_listed_anew() {
    let wire = wire();
    let truth = Truth::of(&wire, &TOLD);
    for at in starts(&wire)[1]..*starts(&wire).last().unwrap() {
        judge_watch(&wire, &truth, Cut { at, way: Way::Torn, end: End::InOrder });
    }
}

#[test]
fn law_03_law_07_a_compaction_behind_any_message_of_etcd_is_listed_anew() {
    let wire = wire();
    let truth = Truth::of(&wire, &TOLD);
    for at in &starts(&wire)[1..] {
        judge_watch(&wire, &truth, Cut { at: *at, way: Way::Messages, end: End::Compacted });
    }
}

#[test]
fn law_07_law_11_a_range_of_etcd_that_is_cut_at_any_byte_changes_nothing_that_is_held() {
    let wire = wire();
    let truth = Truth::of(&wire, &TOLD);
    for again in [false, true] {
        let first = ListRequest { limit: Some(2), ..ListRequest::default() };
        let revision = if again { LAST } else { BASE };
        let second = state_at(revision).into_keys().nth(1).unwrap();
        let token = format!("{revision}.{}", URL_SAFE_NO_PAD.encode(format!("/p/{second}\0")));
        let pages = [first.clone(), ListRequest { continue_token: Some(token), ..first }];
        for (page, request) in pages.iter().enumerate() {
            for at in 0..wire.page(request, !again).len() - 1 {
                for end in [End::InOrder, End::Broken] {
                    judge_list(&wire, &truth, page, again, Cut { at, way: Way::Bytes(7), end });
                }
            }
        }
    }
}
