//! The documents that the guard works on.

use std::fmt::Write;

/// A pod of a real cluster.
pub(crate) const POD: &[u8] = include_bytes!("../../../tests/data/pod.json");

/// A pod of few bytes, one of 100 namespaces and 1,000 nodes.
pub(crate) fn small(i: usize, version: u64) -> String {
    let (namespace, name, app, node) = (i % 100, i / 100, i % 50, i % 1000);
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"team-{namespace:03}","name":"pod-{name:05}","uid":"uid-{i}","resourceVersion":"{version}","labels":{{"app":"app-{app}"}}}},"spec":{{"nodeName":"node-{node}"}}}}"#
    )
}

/// A page of the real pod, so many times under other names.
pub(crate) fn list_page(items: usize) -> String {
    let mut pod: serde_json::Value = serde_json::from_slice(POD).expect("a pod");
    let mut page = String::from(r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":["#);
    for i in 0..items {
        pod["metadata"]["name"] = format!("pod-{i}").into();
        let _infallible = write!(page, "{}{pod}", if i == 0 { "" } else { "," });
    }
    page + "]}"
}

/// A pod of 14.4 kB, one of a thousand in as many versions.
pub(crate) fn pod(i: usize, version: u64) -> String {
    let mut pod: serde_json::Value = serde_json::from_slice(POD).expect("a pod");
    let metadata = &mut pod["metadata"];
    metadata["name"] = format!("pod-{i:05}").into();
    metadata["uid"] = format!("00000000-0000-4000-8000-{i:012}").into();
    metadata["resourceVersion"] = version.to_string().into();
    pod["status"]["podIP"] = format!("10.0.{}.{}", i / 250, i % 250).into();
    pod.to_string()
}
