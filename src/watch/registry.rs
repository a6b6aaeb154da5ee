//! Watchers by scope, so that an event visits only those it may concern.

use rustc_hash::FxHashMap;

/// Watcher ids by the namespace and the name they are limited to; `""` stands for no limit.
#[derive(Debug, Default)]
pub struct Registry {
    everywhere: Vec<u32>,
    scoped: FxHashMap<Box<str>, FxHashMap<Box<str>, Vec<u32>>>,
}

impl Registry {
    /// Registers a watcher.
    pub fn insert(&mut self, namespace: &str, name: &str, watcher: u32) {
        if namespace.is_empty() && name.is_empty() {
            self.everywhere.push(watcher);
            return;
        }
        self.scoped.entry(namespace.into()).or_default().entry(name.into()).or_default().push(watcher);
    }

    /// Removes a watcher; nothing happens when it is not registered.
    pub fn remove(&mut self, namespace: &str, name: &str, watcher: u32) {
        if namespace.is_empty() && name.is_empty() {
            self.everywhere.retain(|id| *id != watcher);
            return;
        }
        let Some(names) = self.scoped.get_mut(namespace) else { return };
        if let Some(ids) = names.get_mut(name) {
            ids.retain(|id| *id != watcher);
            if ids.is_empty() {
                names.remove(name);
            }
        }
        if names.is_empty() {
            self.scoped.remove(namespace);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The watchers that an object of this namespace and name may concern, group by group.
    pub fn candidates(&self, namespace: &str, name: &str) -> impl Iterator<Item = &[u32]> {
        let group = |namespace: &str, name: &str| -> &[u32] {
            if self.scoped.is_empty() {
                return &[];
            }
            self.scoped.get(namespace).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
        };
        let in_namespace = if namespace.is_empty() { [&[][..], &[]] } else { [group(namespace, ""), group(namespace, name)] };
        [self.everywhere.as_slice(), group("", name)].into_iter().chain(in_namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(registry: &Registry, namespace: &str, name: &str) -> Vec<u32> {
        let mut ids: Vec<u32> = registry.candidates(namespace, name).flatten().copied().collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn an_event_visits_the_four_scopes_it_belongs_to() {
        let mut registry = Registry::default();
        for (id, (namespace, name)) in [("", ""), ("a", ""), ("", "x"), ("a", "x"), ("b", ""), ("a", "y")].iter().enumerate() {
            registry.insert(namespace, name, id as u32);
        }
        assert_eq!(visited(&registry, "a", "x"), [0, 1, 2, 3]);
        assert_eq!(visited(&registry, "b", "x"), [0, 2, 4]);
        assert_eq!(visited(&registry, "", "x"), [0, 2]);
    }

    #[test]
    fn fil_13_removing_twice_is_harmless_and_leaves_nothing_behind() {
        let mut registry = Registry::default();
        registry.insert("a", "x", 1);
        registry.insert("", "", 2);
        for _ in 0..2 {
            registry.remove("a", "x", 1);
            registry.remove("", "", 2);
        }
        assert!(registry.scoped.is_empty() && registry.everywhere.is_empty());
    }
}
