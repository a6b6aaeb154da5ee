//! A Kubernetes API lists and watches objects of one kind. An object of another kind is refused.

use watchcache::status::ErrorCode;

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Upstream};

/// A live resource over a Kubernetes API with these objects.
fn kubernetes(watch_list: bool, prepare: impl FnOnce(&Upstream)) -> Rig {
    Rig::new(Setup { watch_list, ..Setup::default() }, |upstream| {
        upstream.names_kinds.set(true);
        prepare(upstream);
    })
}

fn event(rig: &Rig, kind: &str, name: &str) {
    rig.upstream.pass(1);
    let metadata = format!(r#"{{"name":"{name}","namespace":"a","resourceVersion":"{}"}}"#, rig.upstream.version());
    let kind = if kind.is_empty() { String::new() } else { format!(r#""kind":"{kind}","#) };
    rig.upstream.send_raw(&format!(r#"{{"type":"ADDED","object":{{{kind}"metadata":{metadata}}}}}"#));
    rig.run(0);
}

fn lists(rig: &Rig) -> usize {
    rig.upstream.requests.borrow().iter().filter(|request| request.is_list()).count()
}

/// The keys held.
fn keys(rig: &Rig) -> Vec<String> {
    rig.rows().into_keys().collect()
}

#[test]
fn an_event_of_another_kind_than_the_list_s_ends_the_round() {
    let rig = kubernetes(false, |upstream| {
        upstream.put("a", "x");
    });
    event(&rig, "Pod", "y");
    event(&rig, "", "z");
    assert_eq!((keys(&rig), lists(&rig)), (vec!["a/x".into(), "a/y".into(), "a/z".into()], 1), "who names no kind is of the right one");
    event(&rig, "Service", "w");
    let error = rig.status().error.expect("it is told");
    assert_eq!(error.code, ErrorCode::Protocol);
    assert_eq!(error.message, "the server sent a Service where objects are of the kind Pod");
    rig.run(10_000);
    assert_eq!((keys(&rig), lists(&rig)), (vec!["a/x".into()], 2), "a new list says how it stands");
    assert_eq!(rig.status().error, None);
}

#[test]
fn after_an_empty_list_the_first_event_decides() {
    let rig = kubernetes(false, |_| {});
    event(&rig, "Service", "w");
    event(&rig, "Service", "v");
    assert_eq!((keys(&rig), lists(&rig)), (vec!["a/v".into(), "a/w".into()], 1));
    event(&rig, "Pod", "x");
    assert_eq!(
        rig.status().error.map(|error| error.message).as_deref(),
        Some("the server sent a Pod where objects are of the kind Service")
    );
}

#[test]
fn a_state_that_came_over_the_watch_decides_as_well() {
    let rig = kubernetes(true, |upstream| {
        upstream.put("a", "x");
    });
    assert_eq!(lists(&rig), 0);
    event(&rig, "Service", "w");
    assert!(rig.status().error.is_some_and(|error| error.message.contains("of the kind Pod")));
}

#[test]
fn a_list_of_mixed_kinds_is_not_taken() {
    for (list, kinds) in [("PodList", ["Pod", "Service"]), ("ServiceList", ["Pod", "Pod"])] {
        let rig = kubernetes(false, |upstream| {
            upstream.put("a", "x");
        });
        let items = kinds.iter().enumerate().map(|(number, kind)| {
            format!(r#"{{"kind":"{kind}","metadata":{{"name":"n{number}","namespace":"a","resourceVersion":"5"}}}}"#)
        });
        let items = items.collect::<Vec<_>>().join(",");
        let body = format!(r#"{{"kind":"{list}","metadata":{{"resourceVersion":"900"}},"items":[{items}]}}"#);
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Body(body.into_bytes()));
        rig.upstream.expire();
        rig.upstream.pass(1);
        rig.upstream.drop_streams();
        rig.lose_history(|_| {});
        assert_eq!(keys(&rig), ["a/x"], "{list}");
        assert!(rig.status().error.is_some_and(|error| error.message.contains("of the kind")), "{list}: {:?}", rig.status().error);
        rig.run(60_000);
        assert_eq!((keys(&rig), rig.status().error), (vec!["a/x".to_string()], None));
    }
}

/// Any other source may send objects of several kinds.
#[test]
fn other_sources_may_mix_kinds() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    event(&rig, "Service", "w");
    assert_eq!((keys(&rig), lists(&rig), rig.status().error), (vec!["a/w".into(), "a/x".into()], 1, None));
}
