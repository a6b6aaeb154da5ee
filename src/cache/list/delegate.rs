//! Who answers a list: this cache, or the upstream.

use super::options::Want;
use crate::version::Version;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cache) enum Answerer {
    /// The cache, from what it holds or will hold within the time a read waits.
    Cache,
    /// The upstream.
    Upstream,
}

/// What the cache can do.
#[derive(Clone, Copy, Debug)]
pub(in crate::cache) struct Ability<'a> {
    /// Whether it can make sure of being as new as the upstream: that takes asking for its version and for progress.
    pub(in crate::cache) consistent: bool,
    /// How far it is.
    pub(in crate::cache) version: &'a Version,
}

/// Who answers, as the apiserver's delegator decides. A list is `recursive` unless it is about one key. `held` tells whether the state
/// at a version can be read; it is asked for versions that were reached.
pub(in crate::cache) fn answerer(want: &Want, recursive: bool, ability: Ability<'_>, held: impl FnOnce(&Version) -> bool) -> Answerer {
    let cache = match want {
        Want::NotOlderThan(_) => true,
        Want::Newest => ability.consistent,
        Want::NewestContinued => recursive && ability.consistent,
        Want::Exact(_) if !recursive => false,
        // One that is to come is waited for, as a consistent read is.
        Want::Exact(version) if version > ability.version => ability.consistent,
        Want::Exact(version) => held(version),
    };
    if cache { Answerer::Cache } else { Answerer::Upstream }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::list::ListOptions;
    use crate::cache::list::Token;

    /// The cache is at 100; the state at 80 is the oldest there can be.
    struct Case {
        consistent: bool,
        held: bool,
        recursive: bool,
    }

    const BASE: Case = Case { consistent: false, held: false, recursive: true };

    impl Case {
        fn answerer(&self, options: &ListOptions) -> Answerer {
            let version = Version::from(100);
            let ability = Ability { consistent: self.consistent, version: &version };
            answerer(&options.read("", self.recursive).unwrap().want, self.recursive, ability, |version| {
                assert!(*version <= Version::from(100));
                self.held
            })
        }
    }

    fn options(version: &str, kind: &str, limit: i64) -> ListOptions {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        ListOptions { resource_version: some(version), resource_version_match: some(kind), limit, ..ListOptions::default() }
    }

    fn continued(version: i64, limit: i64) -> ListOptions {
        use base64::Engine;
        let json = format!(r#"{{"v":"meta.k8s.io/v1","rv":{version},"start":"a\u0000"}}"#);
        let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
        assert!(Token::decode(&token, "").is_ok());
        ListOptions { continue_token: Some(token), limit, ..ListOptions::default() }
    }

    #[test]
    fn dlg_01_without_past_states_and_progress() {
        for (version, kind, limit, expected) in [
            ("", "", 0, Answerer::Upstream),
            ("", "", 100, Answerer::Upstream),
            ("0", "", 0, Answerer::Cache),
            ("0", "", 100, Answerer::Cache),
            ("0", "NotOlderThan", 0, Answerer::Cache),
            ("0", "NotOlderThan", 100, Answerer::Cache),
            ("80", "", 0, Answerer::Cache),
            ("80", "", 100, Answerer::Upstream),
            ("80", "Exact", 0, Answerer::Upstream),
            ("80", "Exact", 100, Answerer::Upstream),
            ("80", "NotOlderThan", 0, Answerer::Cache),
            ("80", "NotOlderThan", 100, Answerer::Cache),
            ("120", "NotOlderThan", 0, Answerer::Cache),
        ] {
            assert_eq!(BASE.answerer(&options(version, kind, limit)), expected, "{version:?} {kind:?} {limit}");
        }
        for version in [-1, 80, 100, 120] {
            for limit in [0, 100] {
                assert_eq!(BASE.answerer(&continued(version, limit)), Answerer::Upstream, "{version} {limit}");
            }
        }
    }

    #[test]
    fn dlg_02_with_progress_a_consistent_read_is_the_caches() {
        for recursive in [true, false] {
            let case = Case { consistent: true, recursive, ..BASE };
            assert_eq!(case.answerer(&options("", "", 0)), Answerer::Cache);
            assert_eq!(case.answerer(&options("", "", 100)), Answerer::Cache);
        }
        let without = Case { consistent: false, ..BASE };
        assert_eq!(without.answerer(&options("", "", 0)), Answerer::Upstream);
    }

    #[test]
    fn dlg_04_the_past_is_the_caches_where_it_holds_it() {
        for (held, expected) in [(true, Answerer::Cache), (false, Answerer::Upstream)] {
            let case = Case { held, ..BASE };
            assert_eq!(case.answerer(&options("80", "Exact", 0)), expected);
            assert_eq!(case.answerer(&options("80", "", 100)), expected);
            assert_eq!(case.answerer(&continued(80, 100)), expected);
        }
    }

    #[test]
    fn dlg_05_the_newest_and_the_future_take_progress() {
        for (consistent, expected) in [(true, Answerer::Cache), (false, Answerer::Upstream)] {
            let case = Case { consistent, held: true, ..BASE };
            assert_eq!(case.answerer(&continued(-1, 100)), expected);
            assert_eq!(case.answerer(&options("120", "Exact", 0)), expected);
            assert_eq!(case.answerer(&options("120", "", 100)), expected);
            assert_eq!(case.answerer(&continued(120, 100)), expected);
        }
    }

    #[test]
    fn dlg_06_one_key_at_one_version_is_the_upstreams_in_every_mode() {
        for bits in 0..4 {
            let case = Case { consistent: bits & 1 > 0, held: bits & 2 > 0, recursive: false };
            for version in ["80", "100", "120"] {
                assert_eq!(case.answerer(&options(version, "Exact", 0)), Answerer::Upstream);
                assert_eq!(case.answerer(&options(version, "", 100)), Answerer::Upstream);
                assert_eq!(case.answerer(&options(version, "", 0)), Answerer::Cache);
            }
        }
    }
}
