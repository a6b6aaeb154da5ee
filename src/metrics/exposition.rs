//! The text format of Prometheus, version 0.0.4.

use super::format::{number, series_name};
use super::resource::{Metrics, Now};

/// A family of series with one name and one meaning.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name without a suffix.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// The help text, one sentence.
    pub help: &'static str,
}

const fn family(name: &'static str, kind: &'static str, help: &'static str) -> Family {
    Family { name, kind, help }
}

/// All families, in the order of the text.
pub const FAMILIES: [Family; 23] = [
    family("apiserver_init_events_total", "counter", "Events that watchers got before live ones."),
    family("apiserver_watch_cache_events_received_total", "counter", "Changes received from the upstream."),
    family("apiserver_watch_cache_events_dispatched_total", "counter", "Changes and bookmarks that were dispatched."),
    family("apiserver_terminated_watchers_total", "counter", "Watchers ended because they did not keep up."),
    family("apiserver_watch_cache_resource_version", "gauge", "Version reached, its 15 last digits."),
    family("watch_cache_capacity", "gauge", "Changes that the event window may hold."),
    family("watch_cache_capacity_increase_total", "counter", "Times that the event window grew."),
    family("watch_cache_capacity_decrease_total", "counter", "Times that the event window shrank."),
    family("apiserver_watch_cache_initializations_total", "counter", "Lists that made the cache ready."),
    family("apiserver_watch_cache_initialization_errors_total", "counter", "Rounds of list and watch that ended with an error."),
    family("apiserver_watch_cache_initialization_duration_seconds", "gauge", "Time from the start of the last round to its list."),
    family("apiserver_watch_cache_read_wait_seconds", "histogram", "Time that reads waited for the cache to become fresh."),
    family("apiserver_watch_cache_consistent_read_total", "counter", "Consistent reads, by how they were answered."),
    family("apiserver_storage_consistency_checks_total", "counter", "Comparisons of the cache with its upstream."),
    family("apiserver_watch_shards_total", "gauge", "Open watches with a shard selector."),
    family("apiserver_watch_filtered_events_total", "counter", "Events kept from a watcher by its shard selector."),
    family("apiserver_watch_events_dispatch_duration_seconds", "histogram", "Time of an event's way to a watcher, by stage."),
    family("apiserver_storage_list_total", "counter", "Lists served from the cache."),
    family("apiserver_storage_list_fetched_objects_total", "counter", "Objects read to serve lists."),
    family("apiserver_storage_list_evaluated_objects_total", "counter", "Objects tested to serve lists."),
    family("apiserver_storage_list_returned_objects_total", "counter", "Objects that lists answered with."),
    family("informer_queued_items", "gauge", "Notifications that wait for handlers of informers."),
    family("informer_store_resource_version", "gauge", "Version of what informers read, its 15 last digits."),
];

/// The series of one resource by name. Of a histogram there are only sum and count: its buckets are for the page of metrics.
pub fn numbers(metrics: &Metrics, now: &Now) -> Vec<(String, f64)> {
    let mut numbers = Vec::new();
    metrics.each(now, &mut |family, suffix, labels, value| {
        if suffix != "_bucket" {
            numbers.push((series_name(FAMILIES[family].name, suffix, labels), value));
        }
    });
    numbers
}

/// The metrics of several resources as one text. The series of a family must stand together, so they are gathered by family.
#[derive(Clone, Debug, Default)]
pub struct Exposition {
    families: [String; FAMILIES.len()],
    /// Of each resource that was added: group, name and scope.
    added: Vec<[String; 3]>,
}

impl Exposition {
    /// Adds the series of one resource. `group` is empty for the core group. `scope` distinguishes caches of the same resource, and is
    /// empty if all of it is held. The apiserver has no such label, because its caches always hold all.
    ///
    /// Two sources may have one name, but two series may not: the second one's scope gets a number.
    pub fn add(&mut self, group: &str, resource: &str, scope: &str, metrics: &Metrics, now: &Now) {
        let asked = [group, resource, scope].map(str::to_owned);
        let same = self.added.iter().filter(|added| **added == asked).count();
        self.added.push(asked);
        let numbered = if same == 0 { scope.to_owned() } else { format!("{scope}#{}", same + 1) };
        metrics.each(now, &mut |family, suffix, labels, value| {
            let mut all = vec![("group", group), ("resource", resource)];
            if !numbered.is_empty() {
                all.push(("scope", &numbered));
            }
            all.extend_from_slice(labels);
            let lines = &mut self.families[family];
            lines.push_str(&series_name(FAMILIES[family].name, suffix, &all));
            lines.push(' ');
            lines.push_str(&number(value));
            lines.push('\n');
        });
    }

    /// The text. A family without a series is left out.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (Family { name, kind, help }, series) in FAMILIES.iter().zip(&self.families) {
            if !series.is_empty() {
                for part in ["# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n", series] {
                    text.push_str(part);
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for value in [0.0, 0.001, 0.005, 0.25, 0.999, 1.0, 1.25, 7.133, 100.0, 12_345.678, 999_999_999_999_999.0, 9_007_199_254_740_992.0] {
            assert_eq!(number(value), value.to_string());
        }
        assert_eq!(number(f64::INFINITY), "+Inf");
    }

    proptest::proptest! {
        #[test]
        fn any_time_is_written_exactly(millis in 0u64..1_000_000_000_000_000) {
            let seconds = millis as f64 / 1000.0;
            proptest::prop_assert_eq!(number(seconds), seconds.to_string());
        }
    }

    #[test]
    fn two_sources_of_one_name_have_different_series() {
        let mut exposition = Exposition::default();
        for scope in ["", "", "namespaces/a", ""] {
            exposition.add("", "mine", scope, &Metrics::default(), &Now::default());
        }
        let text = exposition.text();
        let series: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("watch_cache_capacity{")?.split_once('}')).collect();
        let labels: Vec<_> = series.into_iter().map(|(labels, _)| labels).collect();
        let expected = ["", ",scope=\"#2\"", ",scope=\"namespaces/a\"", ",scope=\"#3\""];
        assert_eq!(labels, expected.map(|scope| format!("group=\"\",resource=\"mine\"{scope}")));
    }

    #[test]
    fn numbers_leave_out_the_buckets_of_histograms() {
        let metrics = Metrics::default();
        metrics.events_received.add(3);
        let numbers = numbers(&metrics, &Now::default());
        let find = |name: &str| numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        assert_eq!(find("apiserver_watch_cache_events_received_total"), Some(3.0));
        assert_eq!(find("apiserver_watch_cache_read_wait_seconds_count"), Some(0.0));
        assert!(numbers.iter().all(|(name, _)| !name.contains("_bucket")), "{numbers:?}");
    }

    #[test]
    fn a_familys_series_stand_together_under_its_type() {
        let (pods, odd) = (Metrics::default(), Metrics::default());
        pods.events_received.add(12);
        odd.list("a\\b\"c\nd", 1, 1);
        let mut exposition = Exposition::default();
        exposition.add("", "pods", "", &pods, &Now { version: Version::from(77), capacity: 100, queued: None });
        exposition.add("apps", "deployments", "", &odd, &Now::default());
        exposition.add("", "pods", "namespaces/web", &pods, &Now::default());
        let text = exposition.text();
        assert!(text.contains(
            "# TYPE apiserver_watch_cache_events_received_total counter\n\
             apiserver_watch_cache_events_received_total{group=\"\",resource=\"pods\"} 12\n\
             apiserver_watch_cache_events_received_total{group=\"apps\",resource=\"deployments\"} 0\n\
             apiserver_watch_cache_events_received_total{group=\"\",resource=\"pods\",scope=\"namespaces/web\"} 12\n\
             # HELP "
        ));
        assert!(text.contains("apiserver_watch_cache_resource_version{group=\"\",resource=\"pods\"} 77\n"));
        assert!(text.contains("le=\"+Inf\"} 0\n"));
        let listed =
            "apiserver_storage_list_total{group=\"apps\",resource=\"deployments\",storage=\"watchcache\",index=\"a\\\\b\\\"c\\nd\"} 1\n";
        assert!(text.contains(listed), "{text}");
        assert!(!text.contains("consistent_read"), "a family without a series is left out");
        // Each line must be a comment, or a series with one value.
        for line in text.lines() {
            assert!(line.starts_with("# ") || line.rsplit_once("} ").is_some_and(|(_, value)| value.parse::<f64>().is_ok()), "{line}");
        }
        for family in FAMILIES {
            assert!(text.matches(&format!("# TYPE {} ", family.name)).count() <= 1);
        }
    }
}
