//! The binding layer of a resource: watchers, views and informers through what JavaScript calls.

use crate::helpers::web::{World, code, error_code, frame, json, kubernetes_resource, list, pod, refusal, rejected, status, until};
use js_sys::{Array, Float64Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use watchcache::watch::EventKind;

const ADDED: u32 = EventKind::Added as u32;
const MODIFIED: u32 = EventKind::Modified as u32;
const DELETED: u32 = EventKind::Deleted as u32;

fn pairs(expected: &[(u32, &str)]) -> Vec<(u32, String)> {
    expected.iter().map(|(kind, key)| (*kind, (*key).to_string())).collect()
}

#[wasm_bindgen_test]
async fn a_watcher_receives_the_state_and_then_what_changes() {
    let world = World::synced().await;
    let watcher = world.watch(r#"{"labelSelector":"app=web"}"#);
    until("the state has come", || world.received(watcher).len() == 2).await;
    world.source.push(&frame("MODIFIED", &pod("a/x", 4, "web")));
    world.source.push(&frame("MODIFIED", &pod("a/y", 5, "db")));
    world.source.push(&frame("MODIFIED", &pod("b/z", 6, "web")));
    until("three changes have come", || world.received(watcher).len() == 5).await;
    let expected = [(ADDED, "a/x"), (ADDED, "a/y"), (MODIFIED, "a/x"), (DELETED, "a/y"), (ADDED, "b/z")];
    assert_eq!(world.received(watcher), pairs(&expected));
}

#[wasm_bindgen_test]
async fn one_flush_carries_one_event_for_all_its_watchers() {
    let world = World::synced().await;
    let watchers: Vec<u32> = (0..50).map(|_| world.watch(r#"{"resourceVersion":"3"}"#)).collect();
    let before = world.recorder.flushes().length();
    world.source.push(&frame("MODIFIED", &pod("a/x", 4, "web")));
    until("all have it", || watchers.iter().all(|watcher| world.received(*watcher).len() == 1)).await;
    let flushes = world.recorder.flushes();
    let carrying: Vec<JsValue> = (before..flushes.length())
        .map(|index| flushes.get(index))
        .filter(|flush| Array::from(&Reflect::get(flush, &"pairs".into()).unwrap()).length() > 0)
        .collect();
    assert_eq!(carrying.len(), 1, "one crossing");
    let length = |name: &str| Array::from(&Reflect::get(&carrying[0], &name.into()).unwrap()).length();
    assert_eq!((length("events"), length("pairs")), (2, 100), "one event, fifty receivers");
}

#[wasm_bindgen_test]
async fn names_cross_whatever_letters_they_have_and_however_many() {
    let long = format!("a/{}", "x".repeat(1_000));
    let keys = ["a/x", "a/pöd", "a/\u{1f600}", long.as_str()];
    let pods: Vec<String> = keys.iter().map(|key| pod(key, 7, "web")).collect();
    let world = World::of(&list(9, &pods));
    JsFuture::from(world.resource.synced().unwrap()).await.expect("the first list");
    for key in keys {
        assert_eq!(world.resource.facts(world.resource.peek(key).unwrap(), false).unwrap(), format!("7 {key}"));
    }
}

#[wasm_bindgen_test]
async fn objects_are_read_by_id_without_what_is_stripped_and_only_while_pinned() {
    let world = World::synced().await;
    let id = world.resource.peek("a/x").unwrap();
    assert_eq!(world.resource.peek("a/none").unwrap(), 0.0);
    let object = world.resource.parse(id).unwrap();
    let metadata = Reflect::get(&object, &"metadata".into()).unwrap();
    assert!(Reflect::get(&metadata, &"managedFields".into()).unwrap().is_undefined());
    assert_eq!(world.resource.facts(id, false).unwrap(), "1 a/x");
    assert_eq!(world.resource.field(id, "status.phase").unwrap(), "Running");
    assert_eq!(world.resource.field(id, "status.restarts").unwrap(), 1.0);
    assert_eq!(js_sys::JSON::stringify(&world.resource.field(id, "metadata.labels").unwrap()).unwrap(), r#"{"app":"web"}"#);
    assert!(world.resource.field(id, "status.none").unwrap().is_undefined());
    assert_eq!(code(&world.resource.field(id, "a[").unwrap_err()), "invalid");
    let text = String::from_utf8(world.resource.raw(id).unwrap().to_vec()).unwrap();
    assert!(text.contains("\"phase\"") && !text.contains("kubelet"));
    world.resource.release(&Float64Array::from(&[id][..])).unwrap();
    assert_eq!(code(&world.resource.parse(id).unwrap_err()), "internal");
}

#[wasm_bindgen_test]
async fn law_09_no_js_inside_a_borrow_everything_may_be_called_from_a_flush() {
    let world = World::synced().await;
    let resource = std::rc::Rc::new(world.resource);
    let inside = resource.clone();
    let calls = std::rc::Rc::new(std::cell::Cell::new(0));
    let counted = calls.clone();
    let entered = std::rc::Rc::new(std::cell::Cell::new(0));
    let entries = entered.clone();
    let during = Closure::<dyn FnMut(JsValue)>::new(move |_flush: JsValue| {
        entries.set(entries.get() + 1);
        let peeked = inside.peek("a/x").expect("peek");
        // Once it was closed from in here, it holds nothing, and answers.
        let is_open = status(&inside, "phase") != "closed";
        assert_eq!(peeked != 0.0, is_open);
        if is_open {
            inside.parse(peeked).expect("parse");
            inside.release(&Float64Array::from(&[peeked][..])).unwrap();
        }
        inside.status().expect("status");
        inside.stats().expect("stats");
        inside.size().expect("size");
        inside.by_index("namespace", "a").expect("byIndex");
        let watcher = inside.watch(json("{}")).expect("watch");
        inside.demand(watcher, 1).expect("demand");
        inside.stop(watcher).expect("stop");
        inside.forget(watcher).expect("forget");
        let view = inside.view(json(r#"{"predicate":false}"#)).expect("view");
        let range = inside.view_range(view, 0.0, 10.0).expect("range");
        inside.view_sync(view).expect("sync");
        inside.view_rows(range).expect("rows");
        inside.view_close(view).expect("close");
        let _list = inside.list(json(r#"{"resourceVersion":"0"}"#), js_sys::Promise::resolve(&JsValue::UNDEFINED)).expect("list");
        counted.set(counted.get() + 1);
        if counted.get() == 3 {
            inside.close().unwrap();
        }
    });
    world.recorder.set_during(during.as_ref());
    resource.demand(resource.watch(json("{}")).unwrap(), 2).unwrap();
    for version in 4..8 {
        let before = calls.get();
        world.source.push(&frame("MODIFIED", &pod("a/x", version, "web")));
        until("a flush came, or none comes any more", || calls.get() > before || status(&resource, "phase") == "closed").await;
    }
    until("it was closed from within", || status(&resource, "phase") == "closed").await;
    assert!(calls.get() >= 3);
    assert_eq!(entered.get(), calls.get(), "no call from a flush failed: what fails in there is kept from the cacher");
    assert_eq!(code(&resource.parse(1e15).unwrap_err()), "internal", "it answers; nothing is locked");
    world.recorder.set_during(&JsValue::UNDEFINED);
}

#[wasm_bindgen_test]
async fn law_05_isolation_a_hook_that_throws_loses_nothing_of_the_next_flush() {
    let world = World::synced().await;
    let watcher = world.watch(r#"{"resourceVersion":"3"}"#);
    let throwing = js_sys::Function::new_no_args("throw undefined");
    world.recorder.set_during(&throwing);
    world.source.push(&frame("MODIFIED", &pod("a/x", 4, "web")));
    until("the first came", || world.received(watcher).len() == 1).await;
    world.source.push(&frame("MODIFIED", &pod("a/x", 5, "web")));
    until("the second came too", || world.received(watcher).len() == 2).await;
}

#[wasm_bindgen_test]
async fn a_batch_is_delivered_once_and_the_rest_waits_until_it_is_wanted() {
    let world = World::synced().await;
    let watcher = world.resource.watch(json(r#"{"resourceVersion":"3","bufferSize":10}"#)).unwrap();
    world.resource.demand(watcher, 1).unwrap();
    world.source.push(&frame("MODIFIED", &pod("a/x", 4, "web")));
    until("the batch came", || world.received(watcher).len() == 1).await;
    world.source.push(&frame("MODIFIED", &pod("a/x", 5, "web")));
    until("the next is applied", || status(&world.resource, "resourceVersion") == "5").await;
    assert_eq!(world.received(watcher).len(), 1, "nobody asked for it");
    world.resource.demand(watcher, 1).unwrap();
    until("it comes when wanted", || world.received(watcher).len() == 2).await;
    assert_eq!(code(&world.resource.demand(watcher, 3).unwrap_err()), "internal", "no silence in place of what it may mean");
}

#[wasm_bindgen_test]
async fn a_watcher_that_does_not_keep_up_ends_loudly_and_can_resume() {
    let world = World::synced().await;
    let slow = world.resource.watch(json(r#"{"resourceVersion":"3","bufferSize":2}"#)).unwrap();
    let quick = world.watch(r#"{"resourceVersion":"3"}"#);
    for version in 4..=12 {
        world.source.push(&frame("MODIFIED", &pod("a/x", version, "web")));
    }
    until("the quick one has all", || world.received(quick).len() == 9).await;
    world.resource.demand(slow, 2).unwrap();
    until("the slow one is told its end", || world.recorder.ended().length() == 1).await;
    let end = Array::from(&world.recorder.ended().get(0));
    assert_eq!((end.get(0).as_f64(), end.get(1).as_f64()), (Some(f64::from(slow)), Some(3.0)), "overflow");
    let got = world.received(slow).len();
    let resume = world.resource.last_version(slow).unwrap().expect("a version to resume from");
    assert_eq!(resume.parse::<usize>().unwrap(), 3 + got, "up to there nothing is missing");
    let again = world.watch(&format!(r#"{{"resourceVersion":"{resume}"}}"#));
    until("the rest comes after resuming", || world.received(again).len() == 9 - got).await;
}

#[wasm_bindgen_test]
async fn views_tell_rows_counts_and_places_and_follow_changes() {
    let world = World::synced().await;
    let spec =
        r#"{"predicate":false,"orderBy":[{"path":"status.restarts","as":"number","descending":true}],"groupBy":"metadata.namespace"}"#;
    let view = world.resource.view(json(spec)).unwrap();
    let range = world.resource.view_range(view, 0.0, 2.0).unwrap();
    assert!(world.resource.view_loaded(view).unwrap());
    let keys = || world.resource.keys_of(&world.resource.view_rows(range).unwrap()).unwrap().join(" ");
    assert_eq!(keys(), "b/z a/y");
    assert_eq!(world.resource.view_total(view).unwrap(), 3.0);
    assert_eq!(world.resource.view_counts(view).unwrap().join(" "), "a 2 b 1");
    assert_eq!(world.resource.view_index_of(view, "a/x").unwrap(), 2.0);
    world.source.push(&frame("MODIFIED", &pod("a/x", 9, "web")));
    let told = |flush: JsValue| Array::from(&Reflect::get(&flush, &"views".into()).unwrap()).iter().any(|id| id == view);
    until("the view was told", || world.recorder.flushes().iter().any(told)).await;
    assert_eq!(keys(), "b/z a/y", "nothing moves before somebody looks");
    assert!(world.resource.view_sync(view).unwrap());
    assert_eq!(keys(), "a/x b/z");
    world.resource.view_move(range, 1.0, 9.0).unwrap();
    assert_eq!(keys(), "b/z a/y");
    assert_eq!(world.resource.view_keys(view).unwrap(), "a/x%b/z%a/y%");
    world.resource.view_range_close(range).unwrap();
    let error = world.resource.view(json(r#"{"predicate":false,"labelSelector":"app in web"}"#)).unwrap_err();
    assert_eq!(code(&error), "invalid");
}

#[wasm_bindgen_test]
async fn a_predicate_decides_before_a_row_shows() {
    let world = World::synced().await;
    let view = world.resource.view(json(r#"{"predicate":true}"#)).unwrap();
    assert_eq!(world.resource.view_total(view).unwrap(), 0.0);
    let waiting = world.resource.view_undecided(view).unwrap();
    assert_eq!(waiting.length(), 3);
    world.resource.view_decide(view, &waiting, &Uint8Array::from(&[1, 0, 1][..])).unwrap();
    assert!(!world.resource.view_loaded(view).unwrap());
    assert!(world.resource.view_sync(view).unwrap());
    assert!(world.resource.view_loaded(view).unwrap());
    assert_eq!(world.resource.view_total(view).unwrap(), 2.0);
    assert_eq!(world.resource.view_undecided(view).unwrap().length(), 0);
}

#[wasm_bindgen_test]
async fn law_11_whole_documents_a_broken_frame_changes_nothing_and_says_so() {
    let bad: [(JsValue, &str); 6] = [
        ("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":".into(), "decode"),
        (Uint8Array::from(&b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\xff\"}}}"[..]).into(), "decode"),
        (frame("EXPLODED", &pod("a/x", 9, "web")), "protocol"),
        (frame("MODIFIED", r#"{"metadata":{"name":"x","namespace":"a"}}"#), "protocol"),
        ("<html>502</html>".into(), "decode"),
        (JsValue::from_f64(5.0), "protocol"),
    ];
    for (input, expected) in bad {
        let world = World::synced().await;
        // The relist that follows waits for its answer, so that the error stays in sight.
        let mut answer = None;
        world.source.set_answer(&Promise::new(&mut |resolve, _| answer = Some(resolve)));
        world.source.push(&input);
        until(&format!("{expected} is told"), || world.error_code() == expected).await;
        assert_eq!(world.resource.size().unwrap(), 3.0, "what was held stays");
        answer.expect("a promise").call1(&JsValue::UNDEFINED, &list(20, &[pod("a/x", 20, "web")]).into()).expect("resolves");
        until("it recovers by a new list", || world.phase() == "live" && world.resource.size().unwrap() == 1.0).await;
    }
}

#[wasm_bindgen_test]
async fn a_drop_resumes_from_the_last_version_and_lists_nothing_again() {
    let world = World::synced().await;
    world.source.push(&frame("MODIFIED", &pod("a/x", 4, "web")));
    world.source.push(&"drop".into());
    until("a second watch", || world.source.watches().length() >= 2).await;
    assert_eq!(world.source.watches().get(1), "4");
    assert_eq!(world.source.lists(), 1);
}

#[wasm_bindgen_test]
async fn a_refused_list_is_retried_by_timer_and_shown_meanwhile() {
    let world = World::of("");
    world.source.set_answer(&refusal(503, "ServiceUnavailable", "starting", JsValue::UNDEFINED));
    until("it waits", || world.phase() == "reconnecting").await;
    until("it tried again", || world.source.lists() >= 3).await;
    assert_eq!(world.error_code(), "unavailable");
    world.source.set_answer(&list(1, &[pod("a/x", 1, "web")]).into());
    JsFuture::from(world.resource.synced().unwrap()).await.unwrap();
    until("it is live", || world.phase() == "live").await;
}

#[wasm_bindgen_test]
async fn synced_rejects_only_where_waiting_does_not_help() {
    for (status, expected) in [(403, "forbidden"), (401, "unauthorized"), (404, "not-found")] {
        let world = World::of("");
        world.source.set_answer(&refusal(status, "", "no", JsValue::UNDEFINED));
        assert_eq!(rejected(world.resource.synced().unwrap()).await, expected);
        world.resource.close().unwrap();
    }
}

#[wasm_bindgen_test]
async fn refusals_of_watches_are_told_with_their_code() {
    let world = World::synced().await;
    for (options, expected) in [
        (r#"{"labelSelector":"app in web"}"#, "invalid"),
        (r#"{"fieldSelector":"a"}"#, "invalid"),
        (r#"{"resourceVersion":"abc"}"#, "invalid"),
        (r#"{"sendInitialEvents":true}"#, "invalid"),
    ] {
        let watcher = world.watch(options);
        let error = world.resource.refusal(watcher).unwrap();
        assert_eq!(code(&error), expected, "{options}");
    }
    assert_eq!(code(&world.resource.watch(json(r#"{"timeoutSeconds":"soon"}"#)).unwrap_err()), "invalid");
    let pending = World::of(&list(1, &[]));
    let watcher = pending.resource.watch(json(r#"{"wait":false}"#)).unwrap();
    let error = pending.resource.refusal(watcher).unwrap();
    assert_eq!(code(&error), "too-many-requests");
    assert_eq!(Reflect::get(&error, &"retryAfterSeconds".into()).unwrap(), 1.0);
}

/// The embedded API servers that `npm test -- browser` starts: an open one, one that wants a token, one that answers with HTML.
fn server(index: usize) -> &'static str {
    // Known when the tests are compiled, since a page has no environment; compiling alone must work without.
    let Some(all) = option_env!("WATCHCACHE_TEST_SERVERS") else { panic!("these tests need servers: run `npm test -- browser`") };
    all.split(' ').nth(index).expect("three addresses")
}

#[wasm_bindgen_test]
async fn a_real_socket_lists_in_pages_and_streams_changes() {
    for transport in ["websocket", "fetch"] {
        let extra = json(&format!(r#"{{"transport":"{transport}"}}"#));
        let (recorder, resource) = kubernetes_resource(server(0), "/api/v1/pods", &extra);
        JsFuture::from(resource.synced().unwrap()).await.expect("the first list");
        assert!(resource.size().unwrap() > 100.0);
        until("it is live", || status(&resource, "phase") == "live").await;
        let watcher =
            resource.watch(json(r#"{"sendInitialEvents":false,"resourceVersion":"0","resourceVersionMatch":"NotOlderThan"}"#)).unwrap();
        resource.demand(watcher, 2).unwrap();
        until("changes come", || recorder.delivered().length() > 5).await;
        resource.close().unwrap();
        until("the stream ends", || recorder.ended().length() == 1).await;
    }
}

#[wasm_bindgen_test]
async fn law_12_secrets_a_refused_token_is_unauthorized_and_appears_nowhere() {
    let secret = "s3cr3t-t0ken";
    let auth = js_sys::Function::new_no_args(&format!("return Promise.resolve({{ token: {secret:?} }})"));
    let extra = js_sys::Object::new();
    Reflect::set(&extra, &"auth".into(), &auth).unwrap();
    let (_recorder, resource) = kubernetes_resource(server(1), "/api/v1/pods", &extra);
    assert_eq!(rejected(resource.synced().unwrap()).await, "unauthorized");
    until("it says so", || status(&resource, "phase") == "needs-auth").await;
    let told =
        format!("{:?} {:?}", js_sys::JSON::stringify(&resource.status().unwrap()), js_sys::JSON::stringify(&resource.stats().unwrap()));
    let error = Reflect::get(&resource.status().unwrap(), &"error".into()).unwrap();
    let message = Reflect::get(&error, &"message".into()).unwrap();
    assert!(!told.contains(secret) && !message.as_string().unwrap().contains(secret));
    resource.close().unwrap();
}

#[wasm_bindgen_test]
async fn a_wrong_path_is_not_found_and_a_foreign_page_is_a_protocol_error() {
    let (_recorder, resource) = kubernetes_resource(server(0), "/api/v1/nosuchthings", &JsValue::UNDEFINED);
    assert_eq!(rejected(resource.synced().unwrap()).await, "not-found");
    assert_eq!((status(&resource, "phase"), error_code(&resource)), ("failed".to_string(), "not-found".to_string()));
    resource.close().unwrap();
    let (_recorder, resource) = kubernetes_resource(server(2), "/api/v1/pods", &JsValue::UNDEFINED);
    until("HTML is a protocol error", || error_code(&resource) == "protocol").await;
    resource.close().unwrap();
    let (_recorder, resource) = kubernetes_resource("http://127.0.0.1:1", "/api/v1/pods", &JsValue::UNDEFINED);
    until("no answer is a network error", || error_code(&resource) == "network").await;
    resource.close().unwrap();
}
