//! The paths that one resource wants, joined into a tree that a scan walks beside the document.

use super::path::{Filter, Path, Segment, key_is};
use super::scalar::Scalar;
use super::text::unescape;

/// The values to read from every object of a resource, each with a slot that never changes, and the paths to remove
/// from what is kept. What every object needs (namespace, name, resourceVersion, uid, labels and the annotation that
/// ends the initial events) is always read and has no slot.
#[derive(Clone, Debug)]
pub struct FieldSet {
    paths: Vec<Path>,
    nodes: Vec<Node>,
    strips_in_arrays: bool,
    strip: Vec<Path>,
}

/// So many names are compared one by one with each that a document has; among more it is searched.
const FEW: usize = 16;

/// The tree's root in `FieldSet::nodes`.
pub(super) const ROOT: usize = 0;

/// One value of the document that the scan has something to do with.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// By name.
    keys: Vec<(Box<str>, usize)>,
    pub(super) indexes: Vec<(usize, usize)>,
    pub(super) filters: Vec<(Filter, usize)>,
    /// Where the value goes.
    pub(super) slot: Option<usize>,
    /// Whether the value is removed from what is kept.
    pub(super) strip: bool,
    /// What the value means for every object.
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
}

impl Role {
    /// How many there are.
    pub(super) const COUNT: usize = 6;
}

/// The annotation by which the bookmark behind the initial events of a watch is known.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl FieldSet {
    /// A set without fields. What stands at the `strip` paths is removed from the bytes that are kept, and reads as
    /// missing in a slot.
    pub fn new(strip: Vec<Path>) -> Self {
        let mut fields = FieldSet::bare();
        for (names, role) in [
            (&["metadata", "namespace"][..], Role::Namespace),
            (&["metadata", "name"], Role::Name),
            (&["metadata", "resourceVersion"], Role::Version),
            (&["metadata", "uid"], Role::Uid),
            (&["metadata", "labels"], Role::Labels),
            (&["metadata", "annotations", INITIAL_EVENTS_END], Role::InitialEventsEnd),
        ] {
            let node = names.iter().fold(ROOT, |node, name| fields.key(node, name));
            fields.nodes[node].role = Some(role);
        }
        for path in &strip {
            let node = fields.node(path);
            fields.nodes[node].strip = true;
            fields.strips_in_arrays |= path.segments().iter().any(|segment| !matches!(segment, Segment::Key(_)));
        }
        fields.strip = strip;
        fields
    }

    /// A set that reads its slots alone.
    pub(super) fn bare() -> Self {
        FieldSet { paths: Vec::new(), nodes: vec![Node::default()], strips_in_arrays: false, strip: Vec::new() }
    }

    /// The slot of a path; a new path gets the next one.
    pub fn slot(&mut self, path: &Path) -> usize {
        // Equal paths lead to the same node.
        let node = self.node(path);
        if let Some(slot) = self.nodes[node].slot {
            return slot;
        }
        let slot = self.paths.len();
        self.nodes[node].slot = Some(slot);
        self.paths.push(path.clone());
        slot
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

    /// Whether something is removed from inside an array.
    pub(super) fn strips_in_arrays(&self) -> bool {
        self.strips_in_arrays
    }

    /// The node of a path, made where it is missing.
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
    /// Whether there is anything to do inside the value.
    #[inline]
    pub(super) fn is_leaf(&self) -> bool {
        self.keys.is_empty() && self.indexes.is_empty() && self.filters.is_empty()
    }

    /// The position among the children, and the node, of a member whose name is written so.
    #[inline]
    pub(super) fn member(&self, raw: &[u8]) -> Option<(usize, usize)> {
        let position = match self.keys.len() {
            0..=FEW => self.keys.iter().position(|(name, _)| key_is(raw, name)),
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

/// The values at `paths` in a document that was checked before, in their order.
pub fn read_fields(document: &[u8], paths: &[Path]) -> Vec<Scalar> {
    let mut fields = FieldSet::bare();
    let slots: Vec<usize> = paths.iter().map(|path| fields.slot(path)).collect();
    let values = super::scan::read_slots(document, &fields);
    slots.into_iter().map(|slot| values[slot].clone()).collect()
}

#[cfg(test)]
mod tests {
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
