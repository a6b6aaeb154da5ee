//! The objects of a resource at one version: the present one, or one that the window still reaches back to.
//!
//! A past state is the present one with the later changes undone: each change of the window holds what it replaced.

use std::rc::Rc;

use super::store::Store;
use crate::change::Change;
use crate::object::Object;
use crate::sort::sort_by;
use crate::version::Version;

/// A key, and the object that stood under it instead of the store's; `None` if there was none.
type Undone<'a> = (&'a str, Option<&'a Rc<Object>>);

/// The objects of a resource at one version. The present one costs nothing. A past one sorts the changes since then.
pub struct Snapshot<'a> {
    version: Version,
    store: &'a Store,
    // Ordered by key.
    undone: Vec<Undone<'a>>,
}

impl<'a> Snapshot<'a> {
    /// The objects of the store, which is at this version.
    pub(crate) fn present(store: &'a Store, version: Version) -> Self {
        Self { version, store, undone: Vec::new() }
    }

    /// What the store held at this version. `since` has all later changes, the oldest first.
    pub(crate) fn past(store: &'a Store, version: Version, since: impl Iterator<Item = &'a Change>) -> Self {
        let mut undone: Vec<Undone<'a>> = since.map(|change| (&**change.object.key(), change.previous.as_ref())).collect();
        // The first of several changes to a key replaced what stood there. A stable sort leaves it in front.
        sort_by(&mut undone, |a, b| a.0.cmp(b.0));
        undone.dedup_by_key(|(key, _)| *key);
        Self { version, store, undone }
    }

    /// The version at which these are all the objects.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The object under a key, `namespace/name` or `name`.
    pub fn get(&self, key: &str) -> Option<&'a Rc<Object>> {
        match self.undone.binary_search_by_key(&key, |(key, _)| key) {
            Ok(at) => self.undone[at].1,
            Err(_) => self.store.get(key),
        }
    }

    /// The objects whose keys begin with `prefix` (`""`, or `namespace/`) and are not before `from` (`""` = the beginning), in key order.
    pub fn range<'s>(&'s self, prefix: &str, from: &str) -> impl Iterator<Item = &'a Rc<Object>> + use<'s, 'a> {
        let start = if from > prefix { from } else { prefix };
        let first = self.undone.partition_point(|(key, _)| *key < start);
        let count = self.undone[first..].partition_point(|(key, _)| key.starts_with(prefix));
        let mut undone = self.undone[first..first + count].iter().peekable();
        let mut held = self.store.range(prefix, from).peekable();
        std::iter::from_fn(move || {
            loop {
                let next = held.peek().map(|object| &**object.key());
                match undone.next_if(|(key, _)| next.is_none_or(|next| *key <= next)) {
                    None => return held.next(),
                    Some((key, before)) => {
                        held.next_if(|object| &**object.key() == *key);
                        if before.is_some() {
                            return *before;
                        }
                    }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeKind;
    use crate::store::{Strays, Window, WindowBounds};
    use crate::testing::object;
    use crate::time::Instant;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const KEYS: [&str; 9] = ["a/x", "a/y", "a-b/x", "a0/x", "b/x", "b/y", "b/z", "n", "z"];
    const PREFIXES: [&str; 6] = ["", "a/", "b/", "a-b/", "zz/", "n"];

    type Rows = BTreeMap<String, u64>;

    fn rows<'a>(objects: impl Iterator<Item = &'a Rc<Object>>) -> Vec<(String, u64)> {
        objects.map(|object| (object.key().to_string(), object.version().as_u64().unwrap())).collect()
    }

    proptest! {
        #[test]
        fn law_01_replay_every_covered_version_reads_as_it_stood(
            list in prop::collection::vec(0..KEYS.len(), 0..6),
            writes in prop::collection::vec((0..KEYS.len(), any::<bool>(), 1..3u64), 0..40),
        ) {
            let mut store = Store::new();
            let mut window = Window::new(WindowBounds { lower: 12, upper: 12, ..WindowBounds::default() });
            let mut version = 10;
            store.replace(list.iter().map(|key| object(KEYS[*key], 10)).collect());
            window.reset(Version::from(version), Instant::START, &mut Strays::default());
            let mut stood: Vec<(u64, Rows)> = vec![(version, list.iter().map(|key| (KEYS[*key].to_owned(), 10)).collect())];
            for (key, delete, step) in writes {
                version += step;
                let object = object(KEYS[key], version);
                let mut now = stood.last().unwrap().1.clone();
                let (kind, previous) = if delete {
                    now.remove(KEYS[key]);
                    (ChangeKind::Deleted, store.remove(KEYS[key]))
                } else {
                    now.insert(KEYS[key].to_owned(), version);
                    (ChangeKind::Modified, store.upsert(object.clone()))
                };
                window.push(Change::new(kind, object, previous, Instant::START), &mut Strays::default());
                stood.push((version, now));
            }
            let writes = stood.len() - 1;
            for asked in 0..=version {
                // A window that is full drops what lies before its oldest change, the list with it.
                let covered = stood.iter().enumerate().rfind(|(_, (at, _))| *at <= asked);
                let covered = covered.filter(|(index, _)| writes < 12 || *index > writes - 12);
                let asked = Version::from(asked);
                let undo = window.undo_to(&asked);
                prop_assert_eq!(undo.is_some(), covered.is_some(), "at {}", asked);
                let (Some(undo), Some((_, (_, expected)))) = (undo, covered) else { continue };
                let state = Snapshot::past(&store, asked, undo);
                for prefix in PREFIXES {
                    for from in KEYS.iter().chain(&["", "a/x\0", "zzz"]) {
                        let expected: Vec<(String, u64)> = expected.iter()
                            .filter(|(key, _)| key.starts_with(prefix) && key.as_str() >= *from)
                            .map(|(key, version)| (key.clone(), *version))
                            .collect();
                        prop_assert_eq!(rows(state.range(prefix, from)), expected);
                    }
                }
                for key in KEYS {
                    let found = state.get(key).map(|object| object.version().as_u64().unwrap());
                    prop_assert_eq!(found, expected.get(key).copied());
                }
            }
        }
    }
}
