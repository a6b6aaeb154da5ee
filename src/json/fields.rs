//! The paths that one resource wants, as a tree. A scan walks through it beside the document.

use std::rc::{Rc, Weak};

use super::path::{Path, key_is};
use super::segment::{Filter, Segment};
use super::text::unescape;
use crate::sort::sort_by;

/// The values to read from every object of a resource, one slot for each, and the paths to strip from what is stored. Namespace, name,
/// resourceVersion, uid, labels and the annotation that ends the initial events are always read. They have no slot.
///
/// A slot belongs to its path while it is referenced. Unreferenced slots are recycled, except the four used last: users who leave a table
/// often come back to it.
#[derive(Clone, Debug)]
pub struct FieldSet {
    paths: Vec<Path>,
    uses: Vec<Usage>,
    // Slots without a path. The last one is assigned next.
    free: Vec<usize>,
    // At this number of slots unreferenced ones are recycled.
    recycle_at: usize,
    // Counts the requests for paths. It serves as a clock.
    requests: u32,
    nodes: Vec<Node>,
    strips_in_arrays: bool,
    // Something is stripped that every object needs, or what that lies in.
    strips_needed: bool,
    strip: Vec<Path>,
}

/// Who uses a slot, and since when.
#[derive(Clone, Debug)]
struct Usage {
    /// `None` for a permanent slot.
    holders: Option<Weak<()>>,
    /// When the slot was assigned to this path, and when the path was last asked for.
    assigned: u32,
    last: u32,
    is_name: bool,
}

impl Usage {
    fn is_unused(&self) -> bool {
        self.holders.as_ref().is_some_and(|holders| holders.strong_count() == 0)
    }
}

/// A slot in use. It belongs to its path until this and all its clones are dropped.
#[derive(Clone, Debug)]
pub struct Slot {
    number: usize,
    // None for a permanent slot.
    _holder: Option<Rc<()>>,
}

impl Slot {
    /// The slot's index.
    pub fn number(&self) -> usize {
        self.number
    }
}

/// Unreferenced slots that keep their path, because users who leave a table often come back to it.
const MAX_UNUSED: usize = 4;

/// Up to this many names of a node are compared one by one. With more, a binary search is faster.
const MAX_LINEAR: usize = 16;

/// The root's index in `FieldSet::nodes`.
pub(super) const ROOT: usize = 0;

/// A value of the document that the scan reads, strips or descends into.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Members, sorted by name.
    keys: Vec<(Box<str>, usize)>,
    pub(super) indexes: Vec<(usize, usize)>,
    pub(super) filters: Vec<(Filter, usize)>,
    /// The slot that takes the value.
    pub(super) slot: Option<usize>,
    /// Whether the value is stripped from what is stored.
    pub(super) strip: bool,
    /// What the value means in every object.
    pub(super) role: Option<Role>,
}

/// The values that every object needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Namespace,
    Name,
    Version,
    Uid,
    InitialEventsEnd,
    Labels,
    Kind,
}

impl Role {
    /// The number of roles.
    pub(super) const COUNT: usize = 7;
}

/// This annotation marks the bookmark after a watch's initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl FieldSet {
    /// A set without slots. Values at the `strip` paths are removed from what is stored, and read as missing.
    pub fn new(strip: Vec<Path>) -> Self {
        let mut fields = FieldSet::bare();
        for (names, role) in [
            (&["metadata", "namespace"][..], Role::Namespace),
            (&["metadata", "name"], Role::Name),
            (&["metadata", "resourceVersion"], Role::Version),
            (&["metadata", "uid"], Role::Uid),
            (&["metadata", "labels"], Role::Labels),
            (&["kind"], Role::Kind),
            (&["metadata", "annotations", INITIAL_EVENTS_END], Role::InitialEventsEnd),
        ] {
            let node = names.iter().fold(ROOT, |node, name| fields.key(node, name));
            fields.nodes[node].role = Some(role);
        }
        for path in &strip {
            let node = fields.node(path);
            fields.nodes[node].strip = true;
            fields.strips_in_arrays |= path.segments().iter().any(|segment| !matches!(segment, Segment::Key(_)));
            fields.strips_needed |= fields.is_needed(node);
        }
        fields.strip = strip;
        fields
    }

    /// A set that reads only its slots.
    pub(super) fn bare() -> Self {
        FieldSet {
            paths: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            recycle_at: 2 * MAX_UNUSED,
            requests: 0,
            nodes: vec![Node::default()],
            strips_in_arrays: false,
            strips_needed: false,
            strip: Vec::new(),
        }
    }

    /// The slot of a path, permanently assigned.
    pub fn slot(&mut self, path: &Path) -> usize {
        let slot = self.find(path);
        self.uses[slot].holders = None;
        slot
    }

    /// The slot of a path, assigned while it is referenced.
    pub fn hold(&mut self, path: &Path) -> Slot {
        let number = self.find(path);
        let holder = self.uses[number].holders.as_mut().map(|holders| {
            holders.upgrade().unwrap_or_else(|| {
                let holder = Rc::new(());
                *holders = Rc::downgrade(&holder);
                holder
            })
        });
        Slot { number, _holder: holder }
    }

    fn find(&mut self, path: &Path) -> usize {
        self.requests += 1;
        let (assigned, last) = (self.requests, self.requests);
        // Equal paths lead to the same node.
        let node = self.node(path);
        if let Some(slot) = self.nodes[node].slot {
            self.uses[slot].last = last;
            return slot;
        }
        let is_name = self.nodes[node].role == Some(Role::Name);
        if self.free.is_empty() && self.paths.len() >= self.recycle_at {
            self.recycle();
        }
        let usage = Usage { holders: Some(Weak::new()), assigned, last, is_name };
        let slot = match self.free.pop() {
            Some(slot) => {
                (self.paths[slot], self.uses[slot]) = (path.clone(), usage);
                slot
            }
            None => {
                self.paths.push(path.clone());
                self.uses.push(usage);
                self.paths.len() - 1
            }
        };
        // Recycling may have built a new tree.
        let node = self.node(path);
        self.nodes[node].slot = Some(slot);
        slot
    }

    /// Frees the unreferenced slots, except the ones used last, and builds a new tree without them. It runs only when no slot is free and
    /// the slots have reached `recycle_at`, so its cost is spread over many paths.
    fn recycle(&mut self) {
        let mut unused: Vec<usize> = (0..self.uses.len()).filter(|slot| self.uses[*slot].is_unused()).collect();
        let held = self.uses.len() - unused.len();
        self.recycle_at = held + held / 2 + 2 * MAX_UNUSED;
        sort_by(&mut unused, |one, other| self.uses[*other].last.cmp(&self.uses[*one].last));
        self.free = unused.split_off(unused.len().min(MAX_UNUSED));
        if self.free.is_empty() {
            return;
        }
        let mut fresh = FieldSet::new(std::mem::take(&mut self.strip));
        for (slot, path) in self.paths.iter().enumerate() {
            if !self.uses[slot].is_unused() || unused.contains(&slot) {
                let node = fresh.node(path);
                fresh.nodes[node].slot = Some(slot);
            }
        }
        (self.nodes, self.strip) = (fresh.nodes, fresh.strip);
    }

    /// The current time on the clock of requests, for objects that store values by slot.
    pub fn now(&self) -> u32 {
        self.requests
    }

    /// Whether a value read at time `read` belongs to the slot's current path.
    pub fn is_current(&self, slot: usize, read: u32) -> bool {
        self.uses.get(slot).is_none_or(|usage| usage.assigned <= read)
    }

    /// Whether the slot's path is `metadata.name`. Its value is known without the document.
    pub fn is_name(&self, slot: usize) -> bool {
        self.uses.get(slot).is_some_and(|usage| usage.is_name)
    }

    /// The paths that are removed from what is kept.
    pub fn strip(&self) -> &[Path] {
        &self.strip
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The paths, by slot.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn is_needed(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        node.role.is_some() || node.children().any(|child| self.is_needed(child))
    }

    /// Whether documents may be compared with what is held of them. Where elements of arrays are stripped, others move. What every object needs
    /// is read before it is stripped, so no held text has it.
    pub fn compares(&self) -> bool {
        !self.strips_in_arrays && !self.strips_needed
    }

    /// Whether something inside an array is stripped.
    pub(super) fn strips_in_arrays(&self) -> bool {
        self.strips_in_arrays
    }

    /// The node of a path, created if it is missing.
    fn node(&mut self, path: &Path) -> usize {
        let mut node = ROOT;
        for segment in path.segments() {
            node = match segment {
                Segment::Key(name) => self.key(node, name),
                Segment::Index(index) => self.child(node, *index, |node| &mut node.indexes),
                Segment::Filter(filter) => self.child(node, filter.clone(), |node| &mut node.filters),
            };
        }
        node
    }

    fn key(&mut self, node: usize, name: &str) -> usize {
        let next = self.nodes.len();
        let keys = &mut self.nodes[node].keys;
        match keys.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(place) => keys[place].1,
            Err(place) => {
                keys.insert(place, (name.into(), next));
                self.nodes.push(Node::default());
                next
            }
        }
    }

    fn child<K: PartialEq>(&mut self, node: usize, key: K, children: fn(&mut Node) -> &mut Vec<(K, usize)>) -> usize {
        let next = self.nodes.len();
        let children = children(&mut self.nodes[node]);
        if let Some((_, child)) = children.iter().find(|(known, _)| *known == key) {
            return *child;
        }
        children.push((key, next));
        self.nodes.push(Node::default());
        next
    }
}

impl Node {
    /// Whether the tree has nothing below this value.
    #[inline]
    pub(super) fn is_leaf(&self) -> bool {
        self.keys.is_empty() && self.indexes.is_empty() && self.filters.is_empty()
    }

    /// Finds the child for a member name as written: its position among the children, and its node.
    #[inline]
    pub(super) fn member(&self, raw: &[u8]) -> Option<(usize, usize)> {
        let position = match self.keys.len() {
            0..=MAX_LINEAR => self.keys.iter().position(|(name, _)| key_is(raw, name)),
            _ => self.search(raw),
        }?;
        Some((position, self.keys[position].1))
    }

    #[inline(never)]
    fn search(&self, raw: &[u8]) -> Option<usize> {
        let name = unescape(raw);
        self.keys.binary_search_by(|(known, _)| (**known).cmp(&*name)).ok()
    }

    /// All nodes directly below.
    pub(super) fn children(&self) -> impl Iterator<Item = usize> + '_ {
        let keys = self.keys.iter().map(|(_, node)| *node);
        let indexes = self.indexes.iter().map(|(_, node)| *node);
        keys.chain(indexes).chain(self.filters.iter().map(|(_, node)| *node))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scalar::Scalar;
    use super::super::scan::read_fields;
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn slots_are_stable_and_shared_by_equal_paths() {
        let mut fields = FieldSet::new(vec![path("metadata.managedFields")]);
        assert!(fields.is_empty());
        assert_eq!(fields.slot(&path("spec.nodeName")), 0);
        assert_eq!(fields.slot(&path("status.phase")), 1);
        assert_eq!(fields.slot(&path("$['spec'].nodeName")), 0);
        assert_eq!(fields.slot(&path("metadata.name")), 2);
        assert_eq!(fields.len(), 3);
        assert_eq!(fields.paths(), [path("spec.nodeName"), path("status.phase"), path("metadata.name")]);
    }

    #[test]
    fn slots_that_nobody_holds_become_those_of_other_paths() {
        let mut fields = FieldSet::new(vec![path("metadata.managedFields")]);
        let for_good = fields.slot(&path("spec.nodeName"));
        let held = fields.hold(&path("status.phase"));
        let nodes = fields.nodes().len();
        for i in 0..1000 {
            let (read, one) = (fields.now(), fields.hold(&path(&format!("spec.field{i}.value"))));
            assert_eq!(fields.paths()[one.number()], path(&format!("spec.field{i}.value")));
            assert!(!fields.is_current(one.number(), read) && fields.is_current(one.number(), fields.now()));
        }
        assert!(fields.len() <= 5 + 2 * MAX_UNUSED, "{}", fields.len());
        assert!(fields.nodes().len() <= nodes + 2 * (3 + 2 * MAX_UNUSED), "{}", fields.nodes().len());
        assert_eq!((fields.slot(&path("spec.nodeName")), fields.hold(&path("status.phase")).number()), (for_good, held.number()));
        // The slots used last keep their paths.
        let now = fields.now();
        let back = fields.hold(&path("spec.field999.value"));
        assert!(fields.is_current(back.number(), now));
        let document = br#"{"spec":{"nodeName":"n","field3":{"value":3},"field999":{"value":4}},"status":{"phase":"p"},"metadata":{"managedFields":1}}"#;
        let scanned = super::super::scan_object(document, &fields).unwrap();
        let texts: Vec<&str> = [for_good, held.number(), back.number()].iter().map(|slot| scanned.fields[*slot].text()).collect();
        assert_eq!(texts, ["n", "p", "4"]);
        assert!(!scanned.bytes.windows(13).any(|part| part == b"managedFields"), "what is stripped is stripped still");
    }

    #[test]
    fn an_object_reads_a_slot_anew_once_it_is_another_paths() {
        let mut fields = FieldSet::new(Vec::new());
        let first = fields.hold(&path("spec.a")).number();
        let others: Vec<String> = (0..40).map(|i| format!(r#""b{i}":"new{i}""#)).collect();
        let text = format!(r#"{{"metadata":{{"name":"x","resourceVersion":"1"}},"spec":{{"a":"old",{}}}}}"#, others.join(","));
        let object = crate::testing::document(&text, &fields);
        assert_eq!(object.field(first, &fields).text(), "old");
        let heir = (0..40).find(|i| fields.hold(&path(&format!("spec.b{i}"))).number() == first).expect("another path gets it");
        assert_eq!(object.field(first, &fields).text(), format!("new{heir}"));
    }

    #[test]
    fn a_slot_stays_while_one_of_its_holders_does() {
        let mut fields = FieldSet::new(Vec::new());
        let (first, second) = (fields.hold(&path("a")), fields.hold(&path("a")));
        let third = second.clone();
        drop((first, second));
        for i in 0..100 {
            fields.hold(&path(&format!("b{i}")));
        }
        assert_eq!(fields.paths()[third.number()], path("a"));
    }

    #[test]
    fn the_name_is_read_without_the_document() {
        let mut fields = FieldSet::new(Vec::new());
        let object = crate::testing::document(r#"{"metadata":{"namespace":"a","name":"\u0078","resourceVersion":"1"}}"#, &fields);
        let (name, namespace) = (fields.slot(&path("metadata.name")), fields.slot(&path("metadata.namespace")));
        assert!(fields.is_name(name) && !fields.is_name(namespace) && !fields.is_name(7));
        assert_eq!(object.field(name, &fields), object.read(&path("metadata.name")));
        assert_eq!(object.field(namespace, &fields), Scalar::Text("a".into()));
        assert_eq!(object.field(name, &fields), Scalar::Text("x".into()), "once all was read, it is as it was");
    }

    #[test]
    fn paths_with_a_common_start_share_nodes() {
        let mut fields = FieldSet::bare();
        fields.slot(&path("a.b.c"));
        let before = fields.nodes().len();
        fields.slot(&path("a.b.d"));
        fields.slot(&path("a.b"));
        assert_eq!(fields.nodes().len(), before + 1);
        fields.slot(&path("a.b[0]"));
        fields.slot(&path("a.b[?(@.x=='y')].z"));
        fields.slot(&path("a.b[?(@.x=='y')].w"));
        assert_eq!(fields.nodes().len(), before + 5);
    }

    #[test]
    fn many_names_at_one_place_are_told_apart_however_they_are_written() {
        let names: Vec<String> = (0..200).map(|i| format!("n\u{fc}m{i}")).collect();
        let paths: Vec<Path> = names.iter().map(|name| path(&format!("a['{name}']"))).collect();
        let mut fields = FieldSet::bare();
        for round in 0..2 {
            let slots: Vec<usize> = paths.iter().map(|path| fields.slot(path)).collect();
            assert_eq!(slots, (0..200).collect::<Vec<_>>(), "round {round}");
        }
        let members: Vec<String> = (0..200).rev().map(|i| format!(r#""n\u00fc\u006d{i}":{i}"#)).collect();
        let values = read_fields(format!(r#"{{"a":{{"x":0,{}}}}}"#, members.join(",")).as_bytes(), &paths);
        assert!((0..200).all(|i| values[i] == Scalar::Number(i.to_string().into())));
    }

    #[test]
    fn read_fields_keeps_the_order_asked_for() {
        let paths = [path("b"), path("a"), path("b"), path("c.d")];
        let values = read_fields(br#"{"a":1,"b":"x","c":{}}"#, &paths);
        let expected = [Scalar::Text("x".into()), Scalar::Number("1".into()), Scalar::Text("x".into()), Scalar::Missing];
        assert_eq!(values, expected);
    }
}
