//! The naive model. It looks at every object each time, and derives from the upstream's history alone what a watcher must hear.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};
use watchcache::cache::ListOptions;
use watchcache::view::ViewOptions;
use watchcache::watch::{EventKind, WatchOptions};

use super::client::Heard;
use super::rig::{Rig, Rows};
use super::upstream::{State, Upstream};

/// What is interesting about an object here.
pub struct Row<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub app: Option<&'a str>,
    pub node: &'a str,
    pub uid: &'a str,
}

/// Some of the objects: as the API says it, and as a plain condition.
#[derive(Clone, Copy)]
pub struct Selection {
    pub namespace: Option<&'static str>,
    pub name: Option<&'static str>,
    pub labels: Option<&'static str>,
    pub fields: Option<&'static str>,
    pub shard: Option<&'static str>,
    pub passes: fn(&Row<'_>) -> bool,
}

const ALL: Selection = Selection { namespace: None, name: None, labels: None, fields: None, shard: None, passes: |_| true };

/// Every kind of scope and selector.
pub const SELECTIONS: [Selection; 19] = [
    ALL,
    Selection { namespace: Some("ns1"), passes: |row| row.namespace == "ns1", ..ALL },
    Selection { name: Some("pod3"), passes: |row| row.name == "pod3", ..ALL },
    Selection { namespace: Some("ns2"), name: Some("pod2"), passes: |row| (row.namespace, row.name) == ("ns2", "pod2"), ..ALL },
    Selection { labels: Some("app=web"), passes: |row| row.app == Some("web"), ..ALL },
    Selection { labels: Some("app!=web"), passes: |row| row.app != Some("web"), ..ALL },
    Selection { labels: Some("app in (web, db)"), passes: |row| matches!(row.app, Some("web" | "db")), ..ALL },
    Selection { labels: Some("!app"), passes: |row| row.app.is_none(), ..ALL },
    Selection { fields: Some("spec.nodeName=a"), passes: |row| row.node == "a", ..ALL },
    Selection { fields: Some("spec.nodeName!=a"), passes: |row| row.node != "a", ..ALL },
    Selection { fields: Some("metadata.namespace=ns0"), passes: |row| row.namespace == "ns0", ..ALL },
    Selection { fields: Some("metadata.name=pod4,spec.nodeName="), passes: |row| row.name == "pod4" && row.node.is_empty(), ..ALL },
    Selection {
        namespace: Some("ns0"),
        labels: Some("app=web"),
        fields: Some("spec.nodeName=b"),
        passes: |row| row.namespace == "ns0" && row.app == Some("web") && row.node == "b",
        ..ALL
    },
    Selection { namespace: Some("ns0"), fields: Some("metadata.namespace=ns1"), passes: |_| false, ..ALL },
    Selection {
        labels: Some("app==db"),
        fields: Some("spec.nodeName=a,metadata.name!=pod1"),
        passes: |row| row.app == Some("db") && row.node == "a" && row.name != "pod1",
        ..ALL
    },
    Selection { shard: Some(LOWER_HALF), passes: |row| hash(row.uid) < 1 << 63, ..ALL },
    Selection { shard: Some(UPPER_HALF), passes: |row| hash(row.uid) >= 1 << 63, ..ALL },
    Selection { labels: Some("app=web"), shard: Some(LOWER_HALF), passes: |row| row.app == Some("web") && hash(row.uid) < 1 << 63, ..ALL },
    // Of the three namespaces this is ns1 alone.
    Selection { shard: Some(ONE_NAMESPACE), passes: |row| hash(row.namespace) == hash("ns1"), ..ALL },
];

/// Fields that somebody wants to hear of: as an option says it, and their values.
#[derive(Clone, Copy)]
pub struct Wish {
    pub paths: &'static [&'static str],
    values: fn(&Value) -> [Value; 2],
}

/// Scalars, containers, both, what never changes, and what always does.
pub const WISHES: [Wish; 5] = [
    Wish { paths: &["spec.nodeName"], values: |object| [object["spec"]["nodeName"].clone(), Value::Null] },
    Wish { paths: &["metadata.labels"], values: |object| [object["metadata"]["labels"].clone(), Value::Null] },
    Wish {
        paths: &["metadata.labels.app", "spec"],
        values: |object| [object["metadata"]["labels"]["app"].clone(), object["spec"].clone()],
    },
    Wish { paths: &["status.phase"], values: |object| [object["status"]["phase"].clone(), Value::Null] },
    Wish { paths: &["metadata.resourceVersion"], values: |object| [object["metadata"]["resourceVersion"].clone(), Value::Null] },
];

impl Wish {
    pub fn paths(&self) -> Vec<String> {
        self.paths.iter().map(|path| (*path).to_string()).collect()
    }

    /// What is wanted of an object.
    pub fn of(&self, document: &str) -> [Value; 2] {
        (self.values)(&serde_json::from_str(document).unwrap())
    }

    /// Of all changes those that are to be told.
    pub fn filter(&self, upstream: &Upstream, changes: Vec<Heard>) -> Vec<Heard> {
        let told = |change: &Heard| {
            change.kind != EventKind::Modified || {
                let before = upstream.state_at(change.version - 1);
                self.of(&before[&change.key].1) != self.of(&change.document)
            }
        };
        changes.into_iter().filter(told).collect()
    }
}

const LOWER_HALF: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const UPPER_HALF: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";
const ONE_NAMESPACE: &str = "shardRange(object.metadata.namespace, '0x20fc0b19253e64d5', '0x20fc0b19253e64d6')";

/// FNV-1a over 64 bits, as the API's documentation has it.
fn hash(text: &str) -> u64 {
    let mut hash: u64 = 14_695_981_039_346_656_037;
    for byte in text.bytes() {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

impl Selection {
    pub fn watch(&self) -> WatchOptions {
        WatchOptions {
            namespace: self.namespace.map(Into::into),
            name: self.name.map(Into::into),
            label_selector: self.labels.map(Into::into),
            field_selector: self.fields.map(Into::into),
            shard_selector: self.shard.map(Into::into),
            ..WatchOptions::default()
        }
    }

    /// As a list says it: a name is a field there.
    pub fn list(&self) -> ListOptions {
        let name = self.name.map(|name| format!("metadata.name={name}"));
        let fields: Vec<String> = self.fields.map(Into::into).into_iter().chain(name).collect();
        ListOptions {
            namespace: self.namespace.map(Into::into),
            label_selector: self.labels.map(Into::into),
            field_selector: (!fields.is_empty()).then(|| fields.join(",")),
            shard_selector: self.shard.map(Into::into),
            wait: true,
            ..ListOptions::default()
        }
    }

    /// Whether nothing but a namespace is asked for.
    pub fn is_unselective(&self) -> bool {
        (self.name, self.labels, self.fields, self.shard) == (None, None, None, None)
    }

    /// `None` for what views cannot select by: a name, a shard.
    pub fn view(&self) -> Option<ViewOptions> {
        (self.name.is_none() && self.shard.is_none()).then(|| ViewOptions {
            namespaces: self.namespace.map(|namespace| vec![namespace.into()]),
            label_selector: self.labels.map(Into::into),
            field_selector: self.fields.map(Into::into),
            ..ViewOptions::default()
        })
    }

    pub fn passes(&self, document: &str) -> bool {
        let document: Value = serde_json::from_str(document).unwrap();
        (self.passes)(&Row {
            namespace: document["metadata"]["namespace"].as_str().unwrap_or(""),
            name: document["metadata"]["name"].as_str().unwrap(),
            app: document["metadata"]["labels"]["app"].as_str(),
            node: document["spec"]["nodeName"].as_str().unwrap_or(""),
            uid: document["metadata"]["uid"].as_str().unwrap(),
        })
    }

    pub fn of(&self, rows: &Rows) -> Rows {
        rows.iter().filter(|(_, (_, document))| self.passes(document)).map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// As a view shows it.
    pub fn texts(&self, rows: &Rows) -> Vec<String> {
        self.of(rows).iter().map(|(key, (version, _))| format!("{key}@{version}")).collect()
    }
}

/// Writes a pod of a small world: eight names in three namespaces, two nodes and two apps. A pod may have no node and no app.
pub fn put_pod(upstream: &Upstream, number: u8, node: u8, app: u8) -> u64 {
    let (namespace, name) = pod(number);
    upstream.put_with(namespace, &name, labels_of(app), &json!({"nodeName": node_of(node)}))
}

/// The namespace and the name of one of them.
pub fn pod(number: u8) -> (&'static str, String) {
    (["ns0", "ns1", "ns2"][usize::from(number % 8 % 3)], format!("pod{}", number % 8))
}

fn node_of(node: u8) -> &'static str {
    ["", "a", "b"][usize::from(node % 3)]
}

fn labels_of(app: u8) -> &'static [(&'static str, &'static str)] {
    [&[("app", "web")][..], &[("app", "db")], &[]][usize::from(app % 3)]
}

/// A document with this node and this app: one that is to be created, or `held` with nothing else changed.
pub fn pod_document(number: u8, node: u8, app: u8, held: Option<&[u8]>) -> Vec<u8> {
    let (namespace, name) = pod(number);
    let mut document = match held {
        Some(held) => serde_json::from_slice(held).unwrap(),
        None => json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}}),
    };
    document["metadata"]["labels"] = labels_of(app).iter().map(|(label, value)| (label.to_string(), Value::from(*value))).collect();
    document["spec"] = json!({"nodeName": node_of(node)});
    document.to_string().into_bytes()
}

/// Deletes it, if it is there.
pub fn delete_pod(upstream: &Upstream, number: u8) {
    let (namespace, name) = pod(number);
    if upstream.state().contains_key(&format!("{namespace}/{name}")) {
        upstream.delete(namespace, &name);
    }
}

/// The changes that a watcher of this selection must hear of, of all that were written after `from` and up to `to`.
pub fn changes(upstream: &Upstream, selection: &Selection, from: u64, to: u64) -> Vec<Heard> {
    let mut state: State = upstream.state_at(from);
    let mut heard = Vec::new();
    for write in upstream.log().into_iter().filter(|write| write.version > from && write.version <= to) {
        let before = state.get(&write.key).cloned();
        let deleted = write.kind == "DELETED";
        if deleted {
            state.remove(&write.key);
        } else {
            state.insert(write.key.clone(), (write.version, write.document.clone()));
        }
        let passed = before.as_ref().is_some_and(|(_, document)| selection.passes(document));
        let passes = !deleted && selection.passes(&write.document);
        let (kind, document) = match (passed, passes) {
            (false, false) => continue,
            (false, true) => (EventKind::Added, write.document.to_string()),
            (true, true) => (EventKind::Modified, write.document.to_string()),
            (true, false) => {
                let (old, document) = before.unwrap();
                let stamp = |version: u64| format!("\"resourceVersion\":\"{version}\"");
                (EventKind::Deleted, document.replace(&stamp(old), &stamp(write.version)))
            }
        };
        heard.push(Heard { kind, key: write.key, version: write.version, own: write.version, document });
    }
    heard
}

/// The initial events of a watcher that starts from the state at a version.
pub fn initial(upstream: &Upstream, selection: &Selection, at: u64) -> Vec<Heard> {
    let state = selection.of(&upstream.state_at(at));
    let event = |(key, (own, document)): (String, (u64, Rc<str>))| Heard {
        kind: EventKind::Added,
        key,
        version: at,
        own,
        document: document.to_string(),
    };
    state.into_iter().map(event).collect()
}

/// Applies changes to rows, and checks that each can be applied.
pub fn replay(mut rows: BTreeMap<String, String>, changes: &[Heard]) -> BTreeMap<String, String> {
    for change in changes {
        let before = match change.kind {
            EventKind::Deleted => rows.remove(&change.key),
            _ => rows.insert(change.key.clone(), change.document.clone()),
        };
        assert_eq!(before.is_some(), change.kind != EventKind::Added, "{change:?} does not follow");
    }
    rows
}

/// The store is the upstream's state at its version.
pub fn assert_store(rig: &Rig) {
    let version = rig.version();
    assert!(rig.rows() == rig.upstream.state_at(version), "the store at version {version}: {:?}", rig.rows().keys());
}
