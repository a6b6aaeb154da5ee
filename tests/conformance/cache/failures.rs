//! The table of failures: what goes wrong, by which channel it is told, and in which words.
//!
//! A failure is told in one of three ways. The request itself fails. Or an ERROR event ends its stream. Or the stream ends without a word,
//! and its client goes on from its last version. An apiserver also has failures that cannot happen here:
//!
//! - a watch from a window that was never filled: watches begin when the first list has filled it;
//! - initial events refused because the storage tells no progress: they are served, if need be by a list of the upstream;
//! - a field that a resource cannot be selected by: every scalar path can;
//! - a resource that cannot be watched, or no form of answer that the client takes (405, 406): every source lists and watches, in one form.
//!   What a server says of that kind comes through as any other refusal;
//! - a list that takes a minute: there is no limit but the caller's signal;
//! - a server that shuts down (429 as plain text): that is the upstream's, and comes through;
//! - `sendInitialEvents` of a list: lists have no such option;
//! - initial events that became invalid while they were read: they are held, not read from the window.

use watchcache::cache::ListOptions;
use watchcache::status::{Error, Status};
use watchcache::watch::{Demand, EndReason, EventKind, WatchOptions};

use crate::cache::lists::{Asking, list};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::ListFault;
use crate::{after, initial};

/// What goes wrong, how it is caused, and what is told.
type Row = (&'static str, fn() -> String, &'static str);

/// An error in one line: stable code, HTTP code and reason, message, and all that its details say.
fn text(error: &Error) -> String {
    let Some(status) = &error.status else { return format!("{}, no Status: {}", error.code, error.message) };
    assert_eq!((&error.message, error.retry_after_seconds), (&status.message, status.retry_after_seconds()));
    format!("{}, {}", error.code, status_text(status))
}

fn status_text(status: &Status) -> String {
    let details = status.details.clone().unwrap_or_default();
    let mut text = format!("{} {}", status.code, status.reason);
    if let (422, Some(group), Some(kind)) = (status.code, &details.group, &details.kind) {
        // The message consists of the causes: a single one as it is, several in brackets.
        let faults: Vec<String> = details.causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let all = if faults.len() == 1 { faults.concat() } else { format!("[{}]", faults.join(", ")) };
        assert_eq!(status.message, format!("{kind}.{group} \"\" is invalid: {all}"));
        text += &format!(" {kind}.{group}");
    } else {
        text += &format!(": {}", status.message);
    }
    for cause in &details.causes {
        text += &format!("; {} {}: {}", cause.reason, cause.field, cause.message);
    }
    if let Some(seconds) = details.retry_after_seconds {
        text += &format!("; retry after {seconds}");
    }
    if status.metadata.continue_token.is_some() {
        text += "; with a token that goes on";
    }
    text
}

/// How a watch ended: refused, by an ERROR event, or without a word and where to go on.
fn ended(rig: &Rig, watch: usize) -> String {
    rig.run(0);
    let streams = rig.client.streams.borrow();
    let stream = &streams[watch];
    let reason = stream.ended.expect("the watch has ended");
    let told = stream.events.last().filter(|event| event.kind == EventKind::Error);
    match (&stream.refusal, told) {
        (Some(error), None) => format!("direct {}", text(error)),
        (None, Some(event)) => {
            assert_eq!((reason, stream.resume_from), (EndReason::Error, None), "an ERROR is no place to go on from");
            format!("ERROR {}", status_text(&Status::parse(event.document.as_bytes()).unwrap()))
        }
        (None, None) => format!("silent {reason:?}, on from {:?}", stream.resume_from),
        (Some(_), Some(_)) => panic!("told twice"),
    }
}

fn watch(rig: &Rig, options: WatchOptions) -> String {
    let watch = rig.watch_as(options, false, Demand::All);
    rig.run(4000);
    ended(rig, watch)
}

fn listed(rig: &Rig, options: ListOptions) -> String {
    format!("direct {}", text(&rig.pages(options.impatient()).expect_err("a failure")))
}

fn got(rig: &Rig, key: &str, version: Option<&str>) -> String {
    format!("direct {}", text(&rig.get(key, version).expect_err("a failure")))
}

/// One object, at 101.
fn one() -> Rig {
    Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    })
}

/// The same; the upstream tells its version and its progress, and is ahead by one version that does not come.
fn ahead() -> Rig {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.tells_progress.set(true);
        upstream.put("a", "x");
    });
    rig.upstream.freeze_streams();
    rig.upstream.pass(1);
    rig
}

/// Not ready for `millis`, and why.
fn down(millis: u64) -> Rig {
    let rig = Rig::idle(Setup::default(), |upstream| {
        for _ in 0..100 {
            upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::internal("etcd is down").into()));
        }
    });
    rig.resource.start();
    rig.run(millis);
    rig
}

/// So many changes.
fn put(rig: &Rig, changes: usize) {
    for _ in 0..changes {
        rig.upstream.put("a", "x");
    }
}

/// Nothing that a watch could start from before 103.
fn short() -> Rig {
    let rig = Rig::new(Setup::window(2), |_| {});
    put(&rig, 5);
    rig.run(0);
    rig
}

/// Pages of the past that neither the cache nor the upstream keeps.
fn compacted() -> (Rig, Option<String>) {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
        upstream.put("a", "y");
    });
    let token = rig.pages(list("").limit(1)).unwrap().continue_token;
    rig.lose_history(|_| put(&rig, 1));
    rig.run(10_000);
    (rig, token)
}

fn refusing(rig: Rig, error: Error, count: usize) -> Rig {
    rig.upstream.list_faults.borrow_mut().extend((0..count).map(|_| ListFault::Refuse(error.clone())));
    rig
}

/// A watch that has begun, and what then happens to it.
fn during(options: WatchOptions, demand: Demand, happens: impl FnOnce(&Rig)) -> String {
    let rig = one();
    rig.run(2000);
    let watch = rig.watch_as(options, true, demand);
    rig.run(0);
    happens(&rig);
    rig.demand(watch, Demand::All);
    ended(&rig, watch)
}

fn with_match(version: Option<&str>, kind: &str, send: Option<bool>, token: Option<&str>) -> WatchOptions {
    WatchOptions {
        resource_version: version.map(Into::into),
        resource_version_match: Some(kind.into()).filter(|kind: &String| !kind.is_empty()),
        send_initial_events: send,
        continue_token: token.map(Into::into),
        ..WatchOptions::default()
    }
}

const TABLE: &[Row] = &[
    (
        "not ready, a watch",
        || watch(&down(0), after(0)),
        "direct too-many-requests, 429 TooManyRequests: storage is (re)initializing: etcd is down; retry after 1",
    ),
    (
        "not ready, a list",
        || listed(&down(0), list("").at(0)),
        "direct too-many-requests, 429 TooManyRequests: storage is (re)initializing: etcd is down; retry after 1",
    ),
    (
        "not ready for long",
        || listed(&down(20_000), list("").at(0)),
        "direct too-many-requests, 429 TooManyRequests: storage is (re)initializing: etcd is down; retry after 3",
    ),
    (
        "not ready, and nothing has gone wrong",
        || watch(&Rig::idle(Setup::default(), |_| {}), after(0)),
        "direct too-many-requests, 429 TooManyRequests: storage is (re)initializing; retry after 1",
    ),
    (
        "closed, a watch",
        || {
            let rig = one();
            rig.resource.close();
            watch(&rig, after(0))
        },
        "direct closed, no Status: the watch cache is closed",
    ),
    (
        "closed, a list",
        || {
            let rig = one();
            rig.resource.close();
            listed(&rig, list("").at(0))
        },
        "direct closed, no Status: the watch cache is closed",
    ),
    ("a version too old, a watch", || watch(&short(), after(102)), "ERROR 410 Expired: too old resource version: 102 (103)"),
    (
        "a version too old, a list of exactly it",
        || listed(&compacted().0, list("").at(101).matching("Exact")),
        "direct expired, 410 Expired: The resourceVersion for the provided list is too old.",
    ),
    (
        "a version too old, a further page",
        || {
            let (rig, token) = compacted();
            listed(&rig, list("").limit(1).token(&token.unwrap()))
        },
        "direct expired, 410 Expired: The provided continue parameter is too old to display a consistent list result.; \
         with a token that goes on",
    ),
    (
        "a version to come, a get",
        || got(&one(), "a/x", Some("102")),
        "direct timeout, 504 Timeout: Timeout: Too large resource version: 102, current: 101; ResourceVersionTooLarge : \
         Too large resource version; retry after 1",
    ),
    (
        "a version to come, a list",
        || listed(&one(), list("").at(102)),
        "direct timeout, 504 Timeout: Timeout: Too large resource version: 102, current: 101; ResourceVersionTooLarge : \
         Too large resource version; retry after 1",
    ),
    (
        "a version to come, a list of exactly it",
        || listed(&one(), list("").at(102).matching("Exact")),
        "direct timeout, 504 Timeout: Timeout: Too large resource version: 102, current: 101",
    ),
    (
        "a version to come, exactly it, with progress",
        || listed(&ahead(), list("").at(103).matching("Exact")),
        "direct timeout, 504 Timeout: Timeout: Too large resource version: 103, current: 101; ResourceVersionTooLarge : \
         Too large resource version; retry after 1",
    ),
    (
        "a version to come, initial events",
        || watch(&one(), initial(Some("102"), true, true)),
        "ERROR 504 Timeout: Timeout: Too large resource version: 102, current: 101; ResourceVersionTooLarge : Too large \
         resource version; retry after 1",
    ),
    (
        "a consistent read that may not be delegated",
        || {
            let rig = ahead();
            rig.resource.spare_upstream(true);
            listed(&rig, list(""))
        },
        "direct too-many-requests, 429 TooManyRequests: Timeout: Too large resource version: 102, current: 101; retry \
         after 1",
    ),
    (
        "the upstream's version cannot be had, a watch",
        || watch(&refusing(one(), Error::network("connection refused"), 1), initial(None, true, true)),
        "ERROR 500 InternalError: connection refused",
    ),
    (
        "the upstream refuses to say it",
        || watch(&refusing(one(), Status::new(403, "Forbidden", "pods is forbidden").into(), 1), initial(None, false, true)),
        "ERROR 403 Forbidden: pods is forbidden",
    ),
    (
        "a token that is none",
        || listed(&one(), list("").token("x")),
        "direct invalid, 400 BadRequest: invalid continue token: continue key is not valid: illegal base64 data at input \
         byte 0",
    ),
    (
        "a version beside a token",
        || {
            let rig = one();
            listed(&rig, list("").at(101).behind("a/x", 101))
        },
        "direct invalid, 400 BadRequest: specifying resource version is not allowed when using continue",
    ),
    (
        "no version, a list",
        || listed(&one(), list("").at("abc")),
        "direct invalid, 400 BadRequest: invalid resource version: resourceVersion: Invalid value: \"abc\": \
         strconv.ParseUint: parsing \"abc\": invalid syntax",
    ),
    (
        "no version, a watch",
        || watch(&one(), with_match(Some("abc"), "", None, None)),
        "direct invalid, 500 : resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid \
         syntax",
    ),
    (
        "no version, a get",
        || got(&one(), "a/x", Some("-1")),
        "direct invalid, 500 : resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax",
    ),
    (
        "a list's match without a version",
        || listed(&one(), list("").matching("NotOlderThan")),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch is forbidden unless resourceVersion is provided",
    ),
    (
        "a list's match beside a token",
        || listed(&one(), list("").at(1).matching("Exact").token("t")),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch is forbidden when continue is provided",
    ),
    (
        "a list's match that does not exist",
        || listed(&one(), list("").at(1).matching("foo")),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueNotSupported resourceVersionMatch: Unsupported \
         value: \"foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
    ),
    (
        "exactly any version",
        || listed(&one(), list("").at(0).matching("Exact")),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
    ),
    (
        "several faults of a list",
        || listed(&one(), list("").matching("foo").token("t")),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch is forbidden unless resourceVersion is provided; FieldValueForbidden resourceVersionMatch: \
         Forbidden: resourceVersionMatch is forbidden when continue is provided; FieldValueNotSupported \
         resourceVersionMatch: Unsupported value: \"foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
    ),
    (
        "initial events without a match",
        || watch(&one(), with_match(None, "", Some(true), None)),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    ),
    (
        "a watch's match without initial events",
        || watch(&one(), with_match(Some("1"), "NotOlderThan", None, None)),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ),
    (
        "a watch's match that watches have not",
        || watch(&one(), with_match(Some("1"), "Exact", Some(true), None)),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         sendInitialEvents requires setting resourceVersionMatch to NotOlderThan; FieldValueNotSupported \
         resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"",
    ),
    (
        "a watch's match beside a token",
        || watch(&one(), with_match(None, "NotOlderThan", Some(true), Some("t"))),
        "direct invalid, 422 Invalid ListOptions.meta.k8s.io; FieldValueForbidden resourceVersionMatch: Forbidden: \
         resourceVersionMatch is forbidden when continue is provided",
    ),
    (
        "a label selector that is none",
        || watch(&one(), WatchOptions { label_selector: Some("a in b".into()), ..after(0) }),
        "direct invalid, 400 BadRequest: unable to parse requirement: found 'b' expected: '('; FieldValueInvalid \
         labelSelector: position 5",
    ),
    (
        "a field selector that is none",
        || listed(&one(), list("").fields("a")),
        "direct invalid, 400 BadRequest: invalid selector: 'a'; can't understand 'a'; FieldValueInvalid fieldSelector: \
         position 0",
    ),
    (
        "a shard selector that is none",
        || watch(&one(), WatchOptions { shard_selector: Some(String::new()), ..after(0) }),
        "direct invalid, 400 BadRequest: invalid shard selector: empty shard selector is not allowed; omit the parameter \
         for unfiltered lists; FieldValueInvalid shardSelector: position 0",
    ),
    (
        "a name that the selector excludes",
        || watch(&one(), WatchOptions { name: Some("x".into()), field_selector: Some("metadata.name=y".into()), ..after(0) }),
        "direct invalid, 400 BadRequest: fieldSelector metadata.name doesn't match requested name",
    ),
    ("a path that is none", || listed(&one(), list("..").at(0)), "direct invalid, 400 BadRequest: invalid key: \"/pods/..\""),
    ("an object that is not there", || got(&one(), "a/y", Some("0")), "direct not-found, 404 NotFound: pods \"y\" not found"),
    (
        "an upstream that does not answer, a list",
        || listed(&refusing(one(), Error::network("connection refused"), 3), list("").limit(1)),
        "direct network, no Status: connection refused",
    ),
    (
        "an upstream that does not answer, a get",
        || got(&refusing(one(), Error::network("connection refused"), 3), "a/x", None),
        "direct network, no Status: connection refused",
    ),
    (
        "an upstream that is busy",
        || got(&refusing(one(), Status::too_many_requests("Too many requests, please try again later.", 7).into(), 3), "a/x", None),
        "direct too-many-requests, 429 TooManyRequests: Too many requests, please try again later.; retry after 7",
    ),
    (
        "an upstream that takes too long",
        || {
            listed(
                &refusing(one(), Status::new(504, "Timeout", "Timeout: request did not complete within the allotted timeout").into(), 3),
                list("").limit(1),
            )
        },
        "direct timeout, 504 Timeout: Timeout: request did not complete within the allotted timeout",
    ),
    (
        "a slow watcher",
        || {
            during(WatchOptions { buffer_size: Some(1), ..after(101) }, Demand::None, |rig| {
                put(rig, 3);
                rig.run(1000);
            })
        },
        "silent Overflow, on from Some(102)",
    ),
    ("a relist", || during(after(101), Demand::All, |rig| rig.lose_history(|_| put(rig, 1))), "silent Relist, on from Some(101)"),
    (
        "a relist while it waits to begin",
        || during(initial(Some("110"), true, true), Demand::All, |rig| rig.lose_history(|upstream| upstream.pass(20))),
        "silent Relist, on from None",
    ),
    (
        "its time is over",
        || {
            during(WatchOptions { timeout_seconds: Some(5), ..after(101) }, Demand::All, |rig| {
                rig.run(10_000);
            })
        },
        "silent Timeout, on from Some(101)",
    ),
    ("the close", || during(after(101), Demand::All, |rig| rig.resource.close()), "silent Closed, on from Some(101)"),
];

#[test]
fn every_failure_is_told_by_its_channel_with_its_code_and_its_words() {
    let told = TABLE.iter().map(|(what, happens, expected)| (what, happens(), expected));
    let wrong: Vec<_> = told.filter(|(_, told, expected)| told != *expected).collect();
    assert!(wrong.is_empty(), "told, and expected: {wrong:#?}");
}
