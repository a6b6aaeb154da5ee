//! Handlers that want to hear of some fields only.

use serde_json::json;
use watchcache::informer::{HandlerId, HandlerRequest, InformerOptions};

use crate::helpers::informed::Informed;
use crate::on_node;

fn handler(informed: &Informed, request: &HandlerRequest) -> HandlerId {
    let options = informed.rig.resource.with(|cacher| request.read(&mut cacher.fields().borrow_mut()).unwrap());
    informed.handler_with(options)
}

fn of_node() -> HandlerRequest {
    HandlerRequest { changes_of: Some(vec!["spec.nodeName".into()]), ..HandlerRequest::default() }
}

fn beat(informed: &Informed, node: &str, beat: u32) {
    informed.rig.upstream.put_with("ns", "a", &[], &json!({"nodeName": node, "beat": beat}));
    informed.rig.run(0);
}

fn with_a(options: InformerOptions) -> Informed {
    Informed::new(options, |upstream| {
        on_node(upstream, "ns", "a", "n1");
    })
}

#[test]
fn chg_07_an_update_that_changes_no_wanted_value_is_held_back_and_nothing_else_is() {
    let informed = with_a(InformerOptions::default());
    let some = handler(&informed, &of_node());
    let edges = handler(&informed, &HandlerRequest { field_selector: Some("spec.beat!=2".into()), ..of_node() });
    assert_eq!(informed.heard(some), ["A!(ns/a@101)"]);
    informed.heard(edges);
    beat(&informed, "n1", 1);
    beat(&informed, "n1", 2);
    beat(&informed, "n2", 2);
    beat(&informed, "n2", 3);
    informed.rig.upstream.delete("ns", "a");
    assert_eq!(informed.heard(some), ["U(ns/a@103->104)", "D(ns/a@106)"]);
    assert_eq!(informed.heard(edges), ["D(ns/a@102)", "A(ns/a@105)", "D(ns/a@106)"]);
}

#[test]
fn chg_07_resyncs_are_told_as_always() {
    let informed = with_a(InformerOptions { resync_period: 10_000, ..InformerOptions::default() });
    let some = handler(&informed, &of_node());
    informed.heard(some);
    beat(&informed, "n1", 1);
    informed.rig.run(11_000);
    assert_eq!(informed.heard(some), ["U(ns/a@102->102)"]);
}

#[test]
fn chg_05_merged_updates_count_by_what_the_handler_had_and_what_it_gets() {
    let informed = with_a(InformerOptions { resync_period: 10_000, ..InformerOptions::default() });
    let slow = handler(&informed, &HandlerRequest { coalesce: true, ..of_node() });
    informed.on_call(slow, |_, _| false);
    informed.rig.run(0);
    informed.done(slow);
    informed.heard(slow);
    beat(&informed, "n2", 1);
    assert_eq!(informed.heard(slow), ["U(ns/a@101->102)"], "it is busy with this one");
    beat(&informed, "n1", 2);
    beat(&informed, "n2", 3);
    informed.done(slow);
    assert_eq!(informed.heard(slow), [""; 0], "it came back");
    // Ready again: this one keeps it busy.
    beat(&informed, "n1", 4);
    informed.heard(slow);
    beat(&informed, "n3", 5);
    beat(&informed, "n3", 6);
    informed.done(slow);
    assert_eq!(informed.heard(slow), ["U(ns/a@105->106)"], "the version that brought the last news");
}

/// What waits of a resync is told, whatever becomes of updates that came before and after it.
#[test]
fn chg_07_a_resync_that_waits_is_not_lost_with_updates_that_merge_to_nothing() {
    let informed = with_a(InformerOptions { resync_period: 10_000, ..InformerOptions::default() });
    let slow = handler(&informed, &HandlerRequest { coalesce: true, ..of_node() });
    informed.on_call(slow, |_, _| false);
    informed.rig.run(0);
    informed.heard(slow);
    beat(&informed, "n2", 1);
    informed.rig.run(11_000);
    beat(&informed, "n2", 2);
    informed.done(slow);
    assert_eq!(informed.heard(slow), ["U(ns/a@101->102)"]);
    informed.done(slow);
    assert_eq!(informed.heard(slow), ["U(ns/a@102->102)"], "the resync");
}

/// Whether updates are judged here or by the facade, as those of a handler with a filter: both ways a resync waits by itself.
#[test]
fn chg_07_a_resync_and_an_update_that_wait_are_both_told() {
    for judged in [false, true] {
        let informed = with_a(InformerOptions { resync_period: 10_000, ..InformerOptions::default() });
        let slow = handler(&informed, &HandlerRequest { coalesce: true, judged, ..of_node() });
        informed.on_call(slow, |_, _| false);
        informed.rig.run(0);
        informed.heard(slow);
        beat(&informed, "n2", 1); // waits, then a resync, then another update
        informed.rig.run(11_000);
        beat(&informed, "n1", 2);
        let mut told = Vec::new();
        for _ in 0..4 {
            informed.done(slow);
            told.extend(informed.heard(slow));
        }
        assert_eq!(told, ["U(ns/a@101->102)", "U(ns/a@102->102)", "U(ns/a@102->103)"], "judged: {judged}");
    }
}
