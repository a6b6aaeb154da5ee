//! Every request refuses namespaces and names that lead out of the resource's own path.

use watchcache::cache::ListOptions;
use watchcache::status::{Error, ErrorCode};
use watchcache::watch::{EndReason, WatchOptions};

use crate::helpers::rig::{Rig, Setup};
use crate::said;

fn list(rig: &Rig, namespace: &str) -> Option<Error> {
    rig.list(ListOptions { namespace: Some(namespace.into()), resource_version: Some("0".into()), ..ListOptions::default() }).err()
}

fn watch(rig: &Rig, options: WatchOptions) -> Option<Error> {
    let stream = rig.watch(options);
    rig.run(0);
    let refusal = rig.refusal(stream);
    assert_eq!(rig.ended(stream), refusal.as_ref().map(|_| EndReason::Error));
    refusal
}

fn within(namespace: &str) -> WatchOptions {
    WatchOptions { namespace: Some(namespace.into()), ..WatchOptions::default() }
}

#[test]
fn key_02_a_watch_refuses_the_namespaces_that_a_list_refuses() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    for namespace in ["..", ".", "a/..", "../b", "a/./b"] {
        let refused = list(&rig, namespace).expect(namespace);
        assert_eq!(said(&refused), (ErrorCode::Invalid, 400, "BadRequest", &*format!("invalid key: {:?}", format!("/pods/{namespace}"))));
        assert_eq!(watch(&rig, within(namespace)), Some(refused), "{namespace}");
        let late = Rig::idle(Setup::default(), |_| {});
        assert!(watch(&late, within(namespace)).is_some(), "also before there is a state");
    }
    for namespace in ["", "a", "a..b", "...", "nobody"] {
        assert_eq!((list(&rig, namespace), watch(&rig, within(namespace))), (None, None), "{namespace}");
    }
}

#[test]
fn key_02_a_watch_refuses_the_names_that_a_list_refuses() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    for name in ["..", ".", "x/.."] {
        let refused = watch(&rig, WatchOptions { name: Some(name.into()), ..within("a") }).expect(name);
        assert_eq!(said(&refused), (ErrorCode::Invalid, 400, "BadRequest", &*format!("invalid key: {:?}", format!("/pods/a/{name}"))));
        let field = Some(format!("metadata.name={name}"));
        let listed = rig.list(ListOptions {
            namespace: Some("a".into()),
            field_selector: field.clone(),
            resource_version: Some("0".into()),
            ..ListOptions::default()
        });
        assert_eq!(watch(&rig, WatchOptions { field_selector: field, ..within("a") }), listed.err(), "{name}");
        assert!(watch(&rig, WatchOptions { name: Some(name.into()), ..WatchOptions::default() }).is_none(), "no key without a namespace");
    }
    let nodes = Rig::new(Setup { resource: "nodes", ..Setup::default() }, |upstream| {
        upstream.put("", "n");
    });
    assert!(watch(&nodes, WatchOptions { name: Some("..".into()), ..WatchOptions::default() }).is_some());
}
