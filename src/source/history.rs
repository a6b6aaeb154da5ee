//! Of which history the versions of a state are.

/// The history that the versions of a cache are of. Within one of them they follow each other. A server that was reset has begun another one, with lower
/// versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Which cache says so: a number by chance.
    pub cache: u64,
    /// How often its state went back, or was to be taken at any version.
    pub resets: u64,
}

impl History {
    /// That of a new cache.
    pub fn begin() -> Self {
        Self { cache: fastrand::u64(..), resets: 0 }
    }

    /// Another one begins.
    pub fn reset(&mut self) {
        self.resets += 1;
    }

    /// Whether the same cache had another one before. Of another cache nobody can tell.
    pub fn replaces(self, before: Self) -> bool {
        self.cache == before.cache && self.resets != before.resets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_history_of_the_same_cache_replaces_one() {
        let first = History { cache: 1, resets: 0 };
        let mut then = first;
        then.reset();
        assert!(then.replaces(first) && first.replaces(then));
        assert!(!first.replaces(first) && !History { cache: 2, resets: 1 }.replaces(first));
    }
}
