//! Which past states may be read.
//!
//! The apiserver clones its tree at every change. Here a past state is made from the present one by undoing changes, see `Snapshot`.
//! So only a bound is recorded: the version up to which states are gone.

use crate::version::Version;

/// The bound below which past states are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshots {
    // States at versions up to this one are gone.
    gone: Option<Version>,
    enabled: bool,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { gone: None, enabled: true }
    }
}

impl Snapshots {
    /// Whether the state that was reached at exactly this version may be read.
    pub(super) fn covers(&self, version: &Version) -> bool {
        self.enabled && self.gone.as_ref().is_none_or(|gone| version > gone)
    }

    /// Drops the states below a version.
    pub(super) fn remove_less(&mut self, version: &Version) {
        if let Some(below) = version.predecessor() {
            self.remove_to(below);
        }
    }

    /// Drops the states up to a version.
    fn remove_to(&mut self, version: Version) {
        if self.gone.as_ref().is_none_or(|gone| *gone < version) {
            self.gone = Some(version);
        }
    }

    /// Takes the consistency checker's word. While the store is in doubt no past state may be read. When it is right again, only states
    /// after `now` may be read. `now` is the version of the last change.
    pub(super) fn set_consistent(&mut self, consistent: bool, now: Option<&Version>) {
        if self.enabled == consistent {
            return;
        }
        self.enabled = consistent;
        if let Some(now) = now.filter(|_| consistent) {
            self.remove_to(now.clone());
        }
    }

    /// A list replaced everything. No state before it can be asked for.
    pub(super) fn reset(&mut self) {
        self.gone = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(snapshots: &Snapshots) -> Vec<u64> {
        [10, 20, 30, 40].into_iter().filter(|version| snapshots.covers(&Version::from(*version))).collect()
    }

    #[test]
    fn states_below_a_version_go_and_never_come_back() {
        let mut snapshots = Snapshots::default();
        assert_eq!(covered(&snapshots), [10, 20, 30, 40]);
        snapshots.remove_less(&Version::from(30));
        assert_eq!(covered(&snapshots), [30, 40]);
        snapshots.remove_less(&Version::from(20));
        assert_eq!(covered(&snapshots), [30, 40]);
        snapshots.remove_less(&Version::ZERO);
        assert_eq!(covered(&snapshots), [30, 40]);
        snapshots.reset();
        assert_eq!(covered(&snapshots), [10, 20, 30, 40]);
    }

    #[test]
    fn what_is_in_doubt_is_gone_and_only_what_follows_the_all_clear_is_kept() {
        let mut snapshots = Snapshots::default();
        snapshots.set_consistent(false, Some(&Version::from(20)));
        assert_eq!(covered(&snapshots), [0; 0]);
        snapshots.set_consistent(true, Some(&Version::from(30)));
        assert_eq!(covered(&snapshots), [40]);
        snapshots.set_consistent(true, Some(&Version::from(40)));
        assert_eq!(covered(&snapshots), [40], "said again, it changes nothing");
    }
}
