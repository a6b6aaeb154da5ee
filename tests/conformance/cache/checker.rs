//! The comparison of the cache with its upstream, and what it does to past states.

use serde_json::json;
use watchcache::cache::{ListOptions, MIN_CHECK_INTERVAL_MS as PERIOD_MS, Outcome};
use watchcache::key::Key;
use watchcache::metrics::{FAMILIES, Now};
use watchcache::source::ListRequest;
use watchcache::status::{ErrorCode, Status};
use watchcache::version::Version;

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Request};

/// How many checks so far succeeded, failed, and could not be made.
fn counts(rig: &Rig) -> [f64; 3] {
    rig.resource.with(|cacher| {
        let mut counts = [0.0; 3];
        cacher.metrics().each(&Now::default(), &mut |family, _, labels, value| {
            if FAMILIES[family].name == "apiserver_storage_consistency_checks_total" {
                let place = ["success", "failure", "error"].iter().position(|status| labels.contains(&("status", *status)));
                counts[place.expect("a known status")] = value;
            }
        });
        counts
    })
}

fn lists(rig: &Rig) -> Vec<ListRequest> {
    let requests = rig.upstream.requests.borrow();
    let list = |request: &Request| match request {
        Request::List(_, list) => Some(list.clone()),
        Request::Watch(..) => None,
    };
    requests.iter().filter_map(list).collect()
}

/// The cache hears of an object that the upstream does not hold.
fn ghost(rig: &Rig, name: &str) -> u64 {
    rig.upstream.pass(1);
    let version = rig.upstream.version();
    let object = format!(r#"{{"metadata":{{"namespace":"a","name":"{name}","resourceVersion":"{version}"}}}}"#);
    rig.upstream.send_raw(&format!(r#"{{"type":"ADDED","object":{object}}}"#));
    rig.run(0);
    version
}

fn check(rig: &Rig) -> Outcome {
    rig.wait(rig.resource.clone().check_consistency())
}

fn exact(rig: &Rig, version: u64) -> (Vec<String>, usize) {
    let before = lists(rig).len();
    let options =
        ListOptions { resource_version: Some(version.to_string()), resource_version_match: Some("Exact".into()), ..ListOptions::default() };
    let (keys, listed) = rig.list(options).unwrap();
    assert_eq!(listed, version);
    (keys, lists(rig).len() - before)
}

#[test]
fn chk_02_a_difference_is_told_and_past_states_are_in_doubt() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let version = ghost(&rig, "y");
    let Outcome::Failure(difference) = check(&rig) else { panic!("they differ") };
    assert_eq!(difference.index, 1);
    assert_eq!(difference.cache.map(|(key, version)| format!("{key}@{version}")), Some(format!("a/y@{version}")));
    assert_eq!(difference.upstream, None);
    assert_eq!(counts(&rig), [0.0, 1.0, 0.0]);
    assert!(!rig.resource.with(|cacher| cacher.held().has_state_at(cacher.version())));
    let message = rig.status().error.unwrap().message;
    assert_eq!(message, format!("the cache differs from its upstream: item 1 is a/y@{version} here and nothing there"));
}

/// The cache hears of an object at the version that the upstream's next write has, with this `spec`; the upstream writes it with the other.
fn twice(rig: &Rig, name: &str, here: &str, there: &serde_json::Value) -> u64 {
    let version = rig.upstream.version() + 1;
    let metadata = format!(r#"{{"labels":{{}},"resourceVersion":"{version}","uid":"a/{name}","namespace":"a","name":"{name}"}}"#);
    let object = format!(r#"{{"spec":{here},"metadata":{metadata}}}"#);
    rig.upstream.send_raw(&format!(r#"{{"type":"ADDED","object":{object}}}"#));
    rig.run(0);
    assert_eq!(rig.upstream.put_with("a", name, &[], there), version);
    rig.run(0);
    version
}

#[test]
fn another_content_at_the_same_version_is_a_difference() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let version = twice(&rig, "y", r#"{"ports":[1,2],"nodeName":"here"}"#, &json!({"nodeName": "there", "ports": [1, 2]}));
    let Outcome::Failure(difference) = check(&rig) else { panic!("they differ") };
    let item = Some(format!("a/y@{version}"));
    let say = |item: Option<(Key, Version)>| item.map(|(key, version)| format!("{key}@{version}"));
    assert_eq!((difference.index, say(difference.cache), say(difference.upstream)), (1, item.clone(), item));
    assert_eq!(difference.content.as_deref(), Some("spec.nodeName"));
    assert_eq!(counts(&rig), [0.0, 1.0, 0.0]);
    assert!(!rig.resource.with(|cacher| cacher.held().has_state_at(cacher.version())));
    let message = rig.status().error.unwrap().message;
    assert_eq!(message, format!("the cache differs from its upstream: a/y@{version} has another spec.nodeName there"));
    rig.upstream.put("a", "y");
    rig.run(0);
    assert!(matches!(check(&rig), Outcome::Success(_)), "the next version is the same");
}

#[test]
fn the_order_of_members_and_what_is_stripped_are_no_difference() {
    let strip = vec!["spec.secret", "metadata.managedFields"];
    let rig = Rig::new(Setup { strip, ..Setup::default() }, |_| {});
    twice(&rig, "x", r#"{"c":[{"e":null,"d":1}],"a":1}"#, &json!({"a": 1, "c": [{"d": 1, "e": null}]}));
    twice(&rig, "y", r#"{"secret":"here","a":1}"#, &json!({"a": 1, "secret": "there"}));
    rig.resource.with(|cacher| cacher.held_mut().pack_all());
    assert!(matches!(check(&rig), Outcome::Success(_)));
    twice(&rig, "z", r#"{"a":1}"#, &json!({"a": 2}));
    assert!(matches!(check(&rig), Outcome::Failure(_)));
}

/// The cache is read in place, without a request. Pages of the REST API are smaller than those of etcd.
#[test]
fn chk_04_the_upstream_is_asked_for_exactly_the_cache_s_version_in_pages() {
    let rig = Rig::new(Setup { page_size: 2, ..Setup::default() }, |upstream| {
        for name in ["x", "y", "z"] {
            upstream.put("a", name);
        }
    });
    rig.upstream.requests.borrow_mut().clear();
    assert!(matches!(check(&rig), Outcome::Success(_)));
    let asked = lists(&rig);
    let first = ListRequest {
        resource_version: Some("103".into()),
        resource_version_match: Some("Exact".into()),
        limit: Some(2),
        ..ListRequest::default()
    };
    assert_eq!((asked.len(), &asked[0]), (2, &first));
    assert!(asked[1].continue_token.is_some());
    assert_eq!((&asked[1].resource_version, &asked[1].resource_version_match, asked[1].limit), (&None, &None, Some(2)));
}

#[test]
fn chk_05_ten_thousand_objects_and_one_over_many_pages_are_the_same() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in 0..10_001 {
            upstream.put("a", &format!("pod{number}"));
        }
    });
    assert_eq!(rig.version(), 10_101, "the version of the last object");
    assert!(matches!(check(&rig), Outcome::Success(_)));
    assert_eq!(counts(&rig), [1.0, 0.0, 0.0]);
}

#[test]
fn snp_06_an_inconsistent_cache_leaves_exact_lists_to_the_upstream_until_it_is_consistent_again() {
    let rig = Rig::new(Setup::default(), |_| {});
    let old = rig.upstream.put("a", "x");
    rig.run(0);
    assert_eq!(exact(&rig, old), (vec![format!("a/x@{old}")], 0));
    rig.resource.with(|cacher| cacher.held_mut().set_consistent(false));
    assert_eq!(exact(&rig, old), (vec![format!("a/x@{old}")], 1));
    let new = rig.upstream.put("a", "y");
    rig.run(0);
    assert_eq!(exact(&rig, new).1, 1);
    assert!(matches!(check(&rig), Outcome::Success(_)));
    let newest = rig.upstream.put("a", "z");
    rig.run(0);
    assert_eq!(exact(&rig, newest), (vec![format!("a/x@{old}"), format!("a/y@{new}"), format!("a/z@{newest}")], 0));
}

#[test]
fn snp_08_an_exact_list_asks_the_upstream_only_for_what_is_not_kept() {
    for (kept, requests) in [(true, 0), (false, 1)] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.put("a", "x");
        });
        for _ in 0..22 {
            rig.upstream.put("a", "x");
        }
        rig.run(0);
        if !kept {
            rig.resource.with(|cacher| cacher.held_mut().compact(&120.into()));
        }
        assert_eq!(exact(&rig, 115), (vec!["a/x@115".into()], requests));
    }
}

#[test]
fn an_answer_at_another_version_or_none_or_an_unready_cache_leaves_everything_as_it_was() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let other = br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}"#;
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Body(other.to_vec()));
    assert!(matches!(check(&rig), Outcome::Error(_)));
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Cut(10));
    assert!(matches!(check(&rig), Outcome::Error(_)));
    assert!(rig.resource.with(|cacher| cacher.held().has_state_at(cacher.version())));
    let idle = Rig::idle(Setup::default(), |_| {});
    assert!(matches!(check(&idle), Outcome::Error(_)));
    assert_eq!((counts(&rig), counts(&idle)), ([0.0, 0.0, 2.0], [0.0, 0.0, 1.0]));
}

/// Watches from a version of the upstream's future are waited for in silence, by kube-apiserver over etcd as well.
#[test]
fn an_upstream_that_has_not_come_as_far_as_what_is_held_is_told() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    let held = rig.version();
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::too_large(held, 7).into()));
    assert!(matches!(check(&rig), Outcome::Error(_)));
    let error = rig.status().error.expect("it is told");
    assert_eq!(error.code, ErrorCode::Timeout);
    let begins =
        format!("the upstream has not come to version {held}, which is held: it went back, unless it is a replica that is behind; ");
    assert!(error.message.starts_with(&begins), "{}", error.message);
    assert!(error.message.contains("refresh({ reset: true }) lists it anew (Timeout: Too large resource version: "), "{}", error.message);
    assert_eq!(counts(&rig), [0.0, 0.0, 1.0]);
    assert!(rig.resource.with(|cacher| cacher.held().has_state_at(cacher.version())), "what is held is in no doubt");
}

#[test]
fn checks_come_every_five_to_seven_and_a_half_minutes_while_it_is_open_and_not_paused() {
    let rig = Rig::new(Setup { check_consistency: true, ..Setup::default() }, |upstream| {
        upstream.put("a", "x");
    });
    let total = || counts(&rig).iter().sum::<f64>();
    rig.run(PERIOD_MS - 1);
    assert_eq!(total(), 0.0);
    rig.run(PERIOD_MS / 2 + 1);
    assert_eq!(total(), 1.0);
    let (began, mut gaps, mut last) = (rig.time.elapsed(), Vec::new(), None);
    while gaps.len() < 20 {
        let before = total();
        rig.run(1000);
        if total() > before {
            gaps.extend(last.map(|last| rig.time.elapsed() - last));
            last = Some(rig.time.elapsed());
        }
        assert!(rig.time.elapsed() - began < 30 * PERIOD_MS * 2, "checks stopped coming");
    }
    assert!(gaps.iter().all(|gap| (PERIOD_MS..=PERIOD_MS * 3 / 2 + 1000).contains(gap)), "{gaps:?}");
    assert!(gaps.iter().any(|gap| gap != &gaps[0]), "they are spread");
    rig.resource.pause();
    rig.run(0);
    let before = total();
    rig.run(10 * PERIOD_MS);
    assert_eq!(total(), before);
    rig.resource.resume();
    rig.run(2 * PERIOD_MS);
    assert!(total() > before);
    rig.resource.close();
    let closed = total();
    rig.run(10 * PERIOD_MS);
    assert_eq!(total(), closed);
}

#[test]
fn nobody_checks_unless_it_was_asked_for() {
    let rig = Rig::new(Setup::default(), |_| {});
    let before = lists(&rig).len();
    rig.run(3 * PERIOD_MS);
    assert_eq!((lists(&rig).len(), counts(&rig)), (before, [0.0; 3]));
}

#[test]
fn a_closed_resource_leaves_no_check_waiting() {
    let left = |check_consistency| {
        let rig = Rig::new(Setup { check_consistency, ..Setup::default() }, |_| {});
        let running = rig.time.tasks();
        rig.resource.close();
        rig.run(2_000); // long before the next check
        (running, rig.time.tasks())
    };
    let ((without, rest), (with, rest_with)) = (left(false), left(true));
    assert_eq!((with, rest_with), (without + 1, rest));
}
