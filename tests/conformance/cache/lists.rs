//! What a list answers: which objects, at which version, and how its pages follow each other.
//!
//! Each case is asked of a cache whose upstream tells no progress, as the Kubernetes API does not, and of one whose upstream does. The
//! answer is the same; `delegation` tests who gives it. Versions are 100 above those of the cases.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use watchcache::cache::{ListOptions, Token};
use watchcache::status::{Error, ErrorCode};
use watchcache::version::Version;

use crate::helpers::rig::{Rig, Setup};
use crate::{on_node, said};

pub const HUGE: &str = "9223372036854775807";

/// A list of a namespace, or of all with "".
pub fn list(namespace: &str) -> ListOptions {
    ListOptions { namespace: (!namespace.is_empty()).then(|| namespace.into()), wait: true, ..ListOptions::default() }
}

/// Options, one after the other.
pub trait Asking {
    fn at(self, version: impl ToString) -> Self;
    fn matching(self, kind: &str) -> Self;
    fn limit(self, limit: i64) -> Self;
    fn fields(self, selector: &str) -> Self;
    fn labels(self, selector: &str) -> Self;
    fn token(self, token: &str) -> Self;
    fn behind(self, key: &str, version: i64) -> Self;
    fn impatient(self) -> Self;
}

impl Asking for ListOptions {
    fn at(self, version: impl ToString) -> Self {
        Self { resource_version: Some(version.to_string()), ..self }
    }

    fn matching(self, kind: &str) -> Self {
        Self { resource_version_match: Some(kind.into()), ..self }
    }

    fn limit(self, limit: i64) -> Self {
        Self { limit, ..self }
    }

    fn fields(self, selector: &str) -> Self {
        Self { field_selector: Some(selector.into()), ..self }
    }

    fn labels(self, selector: &str) -> Self {
        Self { label_selector: Some(selector.into()), ..self }
    }

    fn token(self, token: &str) -> Self {
        Self { continue_token: Some(token.into()), ..self }
    }

    fn behind(self, key: &str, version: i64) -> Self {
        self.token(&token_of(&format!("{key}\\u0000"), version))
    }

    fn impatient(self) -> Self {
        Self { wait: false, ..self }
    }
}

/// A token as a server writes it; the start as it stands in JSON.
fn token_of(start: &str, version: i64) -> String {
    URL_SAFE_NO_PAD.encode(format!(r#"{{"v":"meta.k8s.io/v1","rv":{version},"start":"{start}"}}"#))
}

/// One answer as text: `first/bar@108 second/bar@103 | 110`, and with more pages `| 110, behind second/bar@110, 3 remain`.
pub fn page(rig: &Rig, options: ListOptions) -> String {
    let prefix = options.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let list = rig.pages(options).unwrap_or_else(|error| panic!("{error:?}"));
    let objects: Vec<String> = list.objects.iter().map(|object| format!("{object:?}")).collect();
    let mut text = format!("{} | {}", objects.join(" "), list.version).trim_start().to_string();
    if let Some(token) = &list.continue_token {
        let token = Token::decode(token, &prefix).unwrap();
        text += &format!(", behind {}@{}", token.start.strip_suffix('\0').unwrap(), token.version.unwrap());
    }
    if let Some(count) = list.remaining {
        text += &format!(", {count} remain");
    }
    text
}

fn error(rig: &Rig, options: ListOptions) -> Error {
    rig.pages(options).expect_err("an error")
}

/// Objects at versions 102 to 109, of which one was changed and one deleted; 110 is known, and what was before 102 forgotten.
pub fn dataset(progress: bool) -> Rig {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.pass(1);
        upstream.tells_progress.set(progress);
    });
    let upstream = &rig.upstream;
    for (namespace, name) in
        [("first", "bar"), ("second", "bar"), ("second", "foo"), ("third", "barfoo"), ("third", "foo"), ("second", "baz")]
    {
        upstream.put(namespace, name);
    }
    on_node(upstream, "first", "bar", "fakeNode");
    upstream.delete("second", "baz");
    upstream.pass(1);
    upstream.bookmark();
    rig.run(0);
    assert_eq!(rig.version(), 110);
    rig.resource.with(|cacher| cacher.held_mut().compact(&Version::from(102)));
    rig
}

fn both(case: impl Fn(&Rig)) {
    for progress in [false, true] {
        case(&dataset(progress));
    }
}

/// How many lists the upstream was asked for.
pub fn lists(rig: &Rig) -> usize {
    rig.upstream.requests.borrow().iter().filter(|request| request.is_list()).count()
}

#[test]
fn lst_01_versions_and_matches_that_are_none_and_the_future() {
    both(|rig| {
        for version in ["abc", "-1"] {
            let error = error(rig, list("").at(version));
            let (code, status, reason, message) = said(&error);
            assert_eq!((code, status, reason), (ErrorCode::Invalid, 400, "BadRequest"));
            assert!(message.starts_with("invalid resource version: "), "{message}");
        }
        let continued = error(rig, list("").at(101).behind("first/bar", 106));
        assert_eq!(said(&continued).3, "specifying resource version is not allowed when using continue");
        let future = error(rig, list("").at(HUGE));
        assert_eq!(said(&future).3, format!("Timeout: Too large resource version: {HUGE}, current: 110"));
        assert_eq!(future.retry_after_seconds, Some(1));
        let exactly = error(rig, list("").at(HUGE).matching("Exact"));
        assert_eq!((exactly.code, exactly.status.unwrap().code), (ErrorCode::Timeout, 504));
        let kind = error(rig, list("").at(1).matching("Invalid"));
        let (code, status, reason, message) = said(&kind);
        assert_eq!((code, status, reason), (ErrorCode::Invalid, 422, "Invalid"));
        assert!(message.contains("Unsupported value: \"Invalid\""), "{message}");
        assert_eq!(error(rig, list("").labels("a b")).code, ErrorCode::Invalid);
        assert_eq!(error(rig, list("..")).message, "invalid key: \"/pods/..\"");
    });
}

#[test]
fn lst_02_a_namespace_at_any_of_the_versions() {
    both(|rig| {
        for options in [
            list("first"),
            list("first").at(""),
            list("first").at(0),
            list("first").at(0).matching("NotOlderThan"),
            list("first").at(109),
            list("first").at(101).matching("NotOlderThan"),
        ] {
            assert_eq!(page(rig, options.clone()), "first/bar@108 | 110", "{options:?}");
        }
    });
}

#[test]
fn lst_04_exactly_a_version_of_the_past() {
    both(|rig| {
        assert_eq!(page(rig, list("second").at(102).matching("Exact")), "| 102");
        assert_eq!(page(rig, list("second").at(103).matching("Exact")), "second/bar@103 | 103");
        assert_eq!(page(rig, list("first").at(109).matching("Exact")), "first/bar@108 | 109");
    });
}

#[test]
fn lst_05_what_is_not_there_is_an_empty_list_with_a_version() {
    both(|rig| {
        assert_eq!(page(rig, list("empty")), "| 110");
        assert_eq!(page(rig, list("empty").at(0)), "| 110");
    });
}

#[test]
fn lst_06_what_nothing_matches_is_an_empty_list() {
    both(|rig| {
        for version in ["", "0"] {
            assert_eq!(page(rig, list("first").at(version).fields("metadata.name!=bar")), "| 110");
        }
    });
}

#[test]
fn lst_08_a_limit_at_a_version_means_that_version() {
    both(|rig| {
        let expected = "second/bar@103 | 109, behind second/bar@109, 1 remain";
        assert_eq!(page(rig, list("second").at(109).limit(1)), expected);
        assert_eq!(page(rig, list("second").at(109).matching("Exact").limit(1)), expected);
        let newer = page(rig, list("second").at(109).matching("NotOlderThan").limit(1));
        assert_eq!(newer, "second/bar@103 | 110, behind second/bar@110, 1 remain");
    });
}

#[test]
fn lst_09_at_version_zero_a_limit_does_not_count() {
    both(|rig| {
        let expected = "second/bar@103 second/foo@104 | 110";
        assert_eq!(page(rig, list("second").at(0).limit(1)), expected);
        assert_eq!(page(rig, list("second").at(0).matching("NotOlderThan").limit(1)), expected);
    });
}

#[test]
fn lst_10_the_limit_is_not_reached() {
    both(|rig| {
        assert_eq!(page(rig, list("second").at(102).matching("Exact").limit(1)), "| 102");
        assert_eq!(page(rig, list("second").at(103).matching("Exact").limit(1)), "second/bar@103 | 103");
    });
}

#[test]
fn lst_12_everything_in_key_order() {
    both(|rig| {
        let expected = "second/bar@103 second/foo@104 | 110";
        assert_eq!(page(rig, list("second")), expected);
        assert_eq!(page(rig, list("second").at(109).matching("NotOlderThan")), expected);
        let all = "first/bar@108 second/bar@103 second/foo@104 third/barfoo@105 third/foo@106 | 110";
        assert_eq!(page(rig, list("")), all);
        // Whenever it was written, and in a state of the past.
        rig.upstream.put("first", "alpha");
        rig.run(0);
        let all = "first/alpha@111 first/bar@108 second/bar@103 second/foo@104 third/barfoo@105 third/foo@106 | 111";
        for version in ["", "0"] {
            assert_eq!(page(rig, list("").at(version)), all);
        }
        let past = "second/bar@103 second/baz@107 second/foo@104 | 107";
        assert_eq!(page(rig, list("second").at(107).matching("Exact")), past);
    });
}

#[test]
fn lst_13_behind_the_limit_nothing_is_examined() {
    both(|rig| {
        let named = |limit: i64| page(rig, list("").fields("metadata.name=barfoo").limit(limit));
        // Objects behind the limit may match or not. The token says that there are some, but not how many match.
        assert_eq!(named(1), "third/barfoo@105 | 110, behind third/barfoo@110");
        assert_eq!(named(2), "third/barfoo@105 | 110");
        assert_eq!(named(5), "third/barfoo@105 | 110");
    });
}

#[test]
fn lst_14_a_limit_counts_what_matches() {
    both(|rig| {
        let named = |name: &str, limit: i64| page(rig, list("").fields(&format!("metadata.name={name}")).limit(limit));
        assert_eq!(named("bar", 2), "first/bar@108 second/bar@103 | 110, behind second/bar@110");
        // Others stand before both.
        assert_eq!(named("foo", 1), "second/foo@104 | 110, behind second/foo@110");
        assert_eq!(named("foo", 2), "second/foo@104 third/foo@106 | 110");
    });
}

#[test]
fn lst_16_by_a_field() {
    both(|rig| {
        let by = |selector: &str| page(rig, list("").at(109).matching("NotOlderThan").fields(selector).limit(5));
        assert_eq!(by("spec.nodeName=fakeNode"), "first/bar@108 | 110");
        assert_eq!(by("metadata.name=baz"), "| 110");
    });
}

#[test]
fn lst_17_pages_of_the_past() {
    both(|rig| {
        let exactly = |limit: i64, version: u64| page(rig, list("").at(version).matching("Exact").limit(limit));
        assert_eq!(exactly(1, 103), "first/bar@102 | 103, behind first/bar@103, 1 remain");
        assert_eq!(exactly(2, 104), "first/bar@102 second/bar@103 | 104, behind second/bar@104, 1 remain");
        assert_eq!(exactly(4, 105), "first/bar@102 second/bar@103 second/foo@104 third/barfoo@105 | 105");
        assert_eq!(exactly(1, 106), "first/bar@102 | 106, behind first/bar@106, 4 remain");
        assert_eq!(exactly(2, 107), "first/bar@102 second/bar@103 | 107, behind second/bar@107, 4 remain");
    });
}

#[test]
fn lst_18_pages_of_the_past_with_a_change_and_a_deletion() {
    both(|rig| {
        let exactly = |limit: i64, version: u64| page(rig, list("").at(version).matching("Exact").limit(limit));
        let four = "first/bar@108 second/bar@103 second/baz@107 second/foo@104 | 108, behind second/foo@108, 2 remain";
        assert_eq!(exactly(4, 108), four);
        let all = "first/bar@108 second/bar@103 second/foo@104 third/barfoo@105 third/foo@106 | 109";
        assert_eq!(exactly(8, 109), all);
        assert_eq!(exactly(1, 110), "first/bar@108 | 110, behind first/bar@110, 4 remain");
    });
}

#[test]
fn lst_20_a_further_page_is_of_the_version_of_its_token() {
    both(|rig| {
        let behind = |key: &str, version: i64, limit: i64| page(rig, list("").behind(key, version).limit(limit));
        assert_eq!(behind("first/bar", 106, 1), "second/bar@103 | 106, behind second/bar@106, 3 remain");
        assert_eq!(behind("second/bar", 107, 2), "second/baz@107 second/foo@104 | 107, behind second/foo@107, 2 remain");
        assert_eq!(behind("second/foo", 108, 4), "third/barfoo@105 third/foo@106 | 108");
        assert_eq!(behind("first/bar", 110, 1), "second/bar@103 | 110, behind second/bar@110, 3 remain");
    });
}

#[test]
fn lst_21_a_token_of_the_newest_version_leads_to_tokens_of_one() {
    both(|rig| {
        let rest = "second/bar@103 second/foo@104 third/barfoo@105 third/foo@106 | 110";
        assert_eq!(page(rig, list("").behind("first/bar", -1)), rest);
        let two = "second/bar@103 second/foo@104 | 110, behind second/foo@110, 2 remain";
        assert_eq!(page(rig, list("").behind("first/bar", -1).limit(2)), two);
        assert_eq!(page(rig, list("").behind("second/foo", -1)), "third/barfoo@105 third/foo@106 | 110");
    });
}

#[test]
fn lst_22_tokens_without_start_or_version_are_refused() {
    both(|rig| {
        for token in [token_of("", 106), token_of("first/bar", 0), "no token".into(), token_of("../secrets", 106)] {
            let error = error(rig, list("").token(&token));
            let (code, status, reason, message) = said(&error);
            assert_eq!((code, status, reason), (ErrorCode::Invalid, 400, "BadRequest"));
            assert!(message.starts_with("invalid continue token: continue key is not valid"), "{message}");
        }
    });
}

/// Options cannot say every path that a request may have. So a namespace with a slash stands for the path of a key, and an empty name for
/// the path of a namespace.
#[test]
fn lst_24_a_prefix_is_one_of_whole_elements() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| upstream.tells_progress.set(progress));
        for (namespace, name) in [("test-ns", "foo"), ("test-ns", "foobar"), ("test-ns2", "baz")] {
            rig.upstream.put(namespace, name);
        }
        rig.run(0);
        for ask in
            [|options: ListOptions| options, |options: ListOptions| options.at(0), |options: ListOptions| options.at(103).matching("Exact")]
        {
            let keys = |options: ListOptions| page(&rig, ask(options));
            assert_eq!(keys(list("")), "test-ns/foo@101 test-ns/foobar@102 test-ns2/baz@103 | 103");
            assert_eq!(keys(list("").fields("metadata.name=")), "| 103");
            assert_eq!(keys(list("test-ns")), "test-ns/foo@101 test-ns/foobar@102 | 103");
            assert_eq!(keys(list("test-ns").fields("metadata.name=")), "| 103");
            assert_eq!(keys(list("test-ns").fields("metadata.name=foo")), "test-ns/foo@101 | 103");
            assert_eq!(keys(list("test-ns/foo")), "| 103");
            assert_eq!(keys(list("test-ns").fields("metadata.name=foobar")), "test-ns/foobar@102 | 103");
            assert_eq!(keys(list("test-ns/foobar")), "| 103");
        }
    }
}

#[test]
fn lst_25_one_key_at_any_of_the_versions() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| upstream.tells_progress.set(progress));
        let (past, current) = (rig.upstream.put("a", "foo"), rig.upstream.put("a", "foo"));
        rig.run(0);
        let foo = || list("a").fields("metadata.name=foo");
        let now = format!("a/foo@{current} | {current}");
        assert_eq!(page(&rig, foo()), now);
        assert_eq!(page(&rig, foo().at(current)), now);
        assert_eq!(page(&rig, foo().at(current).matching("NotOlderThan")), now);
        assert_eq!(page(&rig, foo().at(current).matching("Exact")), now);
        assert_eq!(page(&rig, foo().at(past).matching("Exact")), format!("a/foo@{past} | {past}"));
        assert_eq!(page(&rig, foo().at(past).matching("NotOlderThan")), now);
        assert_eq!(error(&rig, foo().at(HUGE)).status.unwrap().code, 504);
        assert_eq!(page(&rig, list("a").fields("metadata.name=bar")), format!("| {current}"));
        assert_eq!(page(&rig, foo().fields("metadata.name=foo,metadata.name!=foo")), format!("| {current}"));
    }
}

#[test]
fn lst_26_pages_are_of_one_version_whatever_is_written_meanwhile() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            for name in ["a", "b", "c", "d"] {
                upstream.put("ns", name);
            }
        });
        let (mut token, mut names, mut calls) = (None, Vec::new(), 0);
        loop {
            let answer = rig.pages(ListOptions { continue_token: token, ..list("").limit(1) }).unwrap();
            calls += 1;
            assert_eq!(answer.version, Version::from(104));
            names.extend(answer.objects.iter().map(|object| object.name().to_string()));
            token = answer.continue_token;
            if calls == 2 {
                rig.upstream.put("ns", "bb");
                rig.upstream.put("ns", "e");
                rig.run(0);
            }
            if token.is_none() {
                break;
            }
        }
        assert_eq!((calls, names.join("")), (4, "abcd".to_string()));
    }
}

#[test]
fn lst_28_pages_of_what_matches() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            for (namespace, name) in [("1", "foo"), ("2", "bar"), ("3", "foo"), ("4", "foo")] {
                upstream.put(namespace, name);
            }
        });
        let not_bar = || list("").fields("metadata.name!=bar").limit(2);
        let first = rig.pages(not_bar()).unwrap();
        assert_eq!(page(&rig, not_bar()), "1/foo@101 3/foo@103 | 104, behind 3/foo@104");
        assert_eq!(page(&rig, not_bar().token(&first.continue_token.unwrap())), "4/foo@104 | 104");
    }
}

#[test]
fn lst_29_the_last_key_of_all_is_the_last_page() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            for number in 0..1000 {
                upstream.put_sized("ns", &format!("pod-{number}"), 0);
            }
        });
        assert_eq!(page(&rig, list("").fields("metadata.name=pod-999").limit(1)), "ns/pod-999@1100 | 1100");
    }
}

#[test]
fn lst_30_an_unset_version_sees_the_newest_write_and_zero_does_not_ask() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            upstream.put("a", "old");
        });
        // Written, and not heard of yet; and something else is written that this resource hears nothing of.
        let written = rig.upstream.put("a", "x");
        rig.upstream.pass(1);
        let now = rig.upstream.version();
        let before = (lists(&rig), rig.upstream.asked.borrow().0.len());
        let any = rig.pages(list("").at(0)).unwrap().version.as_u64().unwrap();
        assert!(any <= written);
        assert_eq!((lists(&rig), rig.upstream.asked.borrow().0.len()), before);
        assert_eq!(page(&rig, list("")), format!("a/old@101 a/x@{written} | {now}"));
        assert_eq!(page(&rig, list("").behind("a/old", -1)), format!("a/x@{written} | {now}"));
        if progress {
            assert_eq!(page(&rig, list("").at(0)), format!("a/old@101 a/x@{written} | {now}"), "what the consistent read synced");
            assert_eq!(lists(&rig), before.0, "the upstream told its version and its progress, and no objects");
        }
    }
}

#[test]
fn lst_32_a_token_that_is_too_old_tells_how_to_go_on() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            for name in ["a", "b", "c", "d"] {
                upstream.put("ns", name);
            }
        });
        let first = rig.pages(list("").limit(1)).unwrap();
        rig.upstream.put("ns", "bb");
        rig.upstream.expire();
        rig.run(0);
        let now = rig.upstream.version();
        rig.resource.with(|cacher| cacher.held_mut().compact(&Version::from(now)));
        let old = list("").limit(2).token(&first.continue_token.unwrap());
        let error = error(&rig, old);
        assert_eq!((error.code, said(&error).1, said(&error).2), (ErrorCode::Expired, 410, "Expired"));
        assert!(error.message.starts_with("The provided continue parameter is too old to display a consistent list result"));
        let next = error.status.unwrap().metadata.continue_token.unwrap();
        assert_eq!(page(&rig, list("").limit(2).token(&next)), format!("ns/b@102 ns/bb@105 | {now}, behind ns/bb@{now}, 2 remain"));
        let second = rig.pages(list("").limit(2).token(&next)).unwrap();
        rig.upstream.put("ns", "cc");
        rig.run(0);
        assert_eq!(page(&rig, list("").limit(2).token(&second.continue_token.unwrap())), format!("ns/c@103 ns/d@104 | {now}"));
    }
}

#[test]
fn lst_of_an_exact_version_that_is_gone_everywhere_is_410() {
    both(|rig| {
        rig.upstream.expire();
        rig.resource.with(|cacher| cacher.held_mut().compact(&Version::from(110)));
        let error = error(rig, list("").at(103).matching("Exact"));
        assert_eq!(said(&error), (ErrorCode::Expired, 410, "Expired", "The resourceVersion for the provided list is too old."));
    });
}
