//! The metrics of one resource.

use std::cell::RefCell;

use super::counter::{Counter, Gauge};
use super::format::Labels;
use super::histogram::Histogram;
use crate::version::Version;

/// How a consistent read was answered if the cache was not fresh in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// From the cache.
    No,
    /// By the upstream.
    Yes,
    /// It was refused to spare the upstream.
    Skipped,
}

/// The result of comparing the cache with its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// Both are equal.
    Success,
    /// They differ.
    Failure,
    /// The comparison failed.
    Error,
}

/// The stages of an event on its way to a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchStage {
    /// From the upstream's frame to the watcher.
    Total,
    /// From the upstream's frame to the store.
    StorageToCache,
    /// From the store to the watcher.
    CacheToWatcher,
}

#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    requests: u64,
    fetched: u64,
}

/// The metrics of one resource. All start at 0.
#[derive(Debug)]
pub struct Metrics {
    /// Events that watchers got before live ones: from the initial state or the window.
    pub init_events: Counter,
    /// Changes that arrived from the upstream.
    pub events_received: Counter,
    /// Changes and bookmarks that were dispatched.
    pub events_dispatched: Counter,
    /// Watchers that ended because they did not keep up.
    pub terminated_watchers: Counter,
    /// Lists that made the cache ready.
    pub initializations: Counter,
    /// Rounds of list and watch that ended with an error.
    pub initialization_errors: Counter,
    /// Seconds from the start of the last round to its list.
    pub initialization_duration: Gauge,
    /// Seconds that requests waited for the cache to become fresh.
    pub read_wait: Histogram,
    /// Open watches with a shard selector.
    pub watch_shards: Gauge,
    /// Events that a shard selector withheld from a watcher.
    pub filtered_events: Counter,
    capacity_increases: Counter,
    capacity_decreases: Counter,
    consistent_reads: [[Counter; 3]; 2],
    consistency_checks: [Counter; 3],
    dispatch_duration: [Histogram; 3],
    /// By index, sorted by name. There are few, so a sorted list is enough.
    lists: RefCell<Vec<(String, Listed)>>,
    returned: Counter,
}

/// The apiserver's buckets for the waits of reads, in seconds.
const READ_WAIT: &[f64] = &[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0];
/// Buckets for dispatch durations, in seconds. They range from below the precision of a browser's clock to a page that slept.
const DISPATCH: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

impl Default for Metrics {
    fn default() -> Self {
        Self {
            init_events: Counter::default(),
            events_received: Counter::default(),
            events_dispatched: Counter::default(),
            terminated_watchers: Counter::default(),
            initializations: Counter::default(),
            initialization_errors: Counter::default(),
            initialization_duration: Gauge::default(),
            read_wait: Histogram::new(READ_WAIT),
            watch_shards: Gauge::default(),
            filtered_events: Counter::default(),
            capacity_increases: Counter::default(),
            capacity_decreases: Counter::default(),
            consistent_reads: Default::default(),
            consistency_checks: Default::default(),
            dispatch_duration: std::array::from_fn(|_| Histogram::new(DISPATCH)),
            lists: RefCell::default(),
            returned: Counter::default(),
        }
    }
}

/// What is read from the cache when the metrics are read.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// The version reached.
    pub version: Version,
    /// Changes that the window may hold.
    pub capacity: usize,
    /// Notifications that wait for handlers of informers; `None` without an informer.
    pub queued: Option<usize>,
}

/// The digits of a version that a double holds exactly. As in the apiserver, only the last ones are reported.
const VERSION_DIGITS: usize = 15;

impl Metrics {
    /// Counts a consistent read. `success` is whether the cache became fresh in time.
    pub fn consistent_read(&self, success: bool, fallback: Fallback) {
        self.consistent_reads[usize::from(success)][fallback as usize].inc();
    }

    /// Counts a comparison with the upstream.
    pub fn consistency_check(&self, result: CheckResult) {
        self.consistency_checks[result as usize].inc();
    }

    /// Counts a change of the window's capacity.
    pub fn capacity_changed(&self, from: usize, to: usize) {
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.capacity_increases.inc(),
            std::cmp::Ordering::Greater => self.capacity_decreases.inc(),
            std::cmp::Ordering::Equal => {}
        }
    }

    /// Counts a list served from the cache. `index` narrowed it (`""` for none), `fetched` objects were read, and `returned` were in the
    /// answer. Of evaluated ones none is ever counted, as in the apiserver's cache.
    pub fn list(&self, index: &str, fetched: usize, returned: usize) {
        let mut lists = self.lists.borrow_mut();
        let place = lists.binary_search_by(|(name, _)| name.as_str().cmp(index)).unwrap_or_else(|place| {
            lists.insert(place, (index.to_owned(), Listed::default()));
            place
        });
        let (_, listed) = &mut lists[place];
        listed.requests += 1;
        listed.fetched += fetched as u64;
        self.returned.add(returned as u64);
    }

    /// Counts `deliveries` of an event that took this long.
    pub fn dispatched(&self, stage: DispatchStage, millis: u64, deliveries: u64) {
        self.dispatch_duration[stage as usize].observe_many_ms(millis, deliveries);
    }

    /// Reads every series in the order of [`FAMILIES`](super::FAMILIES). `visit` gets the family's index, the suffix of its name
    /// (`_bucket`, `_sum`, `_count` or none), the labels and the value. The labels `group` and `resource` are not included.
    #[allow(clippy::cast_precision_loss)]
    pub fn each(&self, now: &Now, visit: &mut dyn FnMut(usize, &str, Labels<'_>, f64)) {
        let count = |counter: &Counter| counter.get() as f64;
        let plain = [
            count(&self.init_events),
            count(&self.events_received),
            count(&self.events_dispatched),
            count(&self.terminated_watchers),
            last_digits(&now.version),
            now.capacity as f64,
            count(&self.capacity_increases),
            count(&self.capacity_decreases),
            count(&self.initializations),
            count(&self.initialization_errors),
            self.initialization_duration.get(),
        ];
        for (family, value) in plain.into_iter().enumerate() {
            visit(family, "", &[], value);
        }
        self.read_wait.each(&[], &mut |suffix, labels, value| visit(11, suffix, labels, value));
        for (success, row) in [("false", &self.consistent_reads[0]), ("true", &self.consistent_reads[1])] {
            for (fallback, counter) in ["false", "true", "skipped"].into_iter().zip(row) {
                if counter.get() > 0 {
                    visit(12, "", &[("success", success), ("fallback", fallback)], count(counter));
                }
            }
        }
        for (status, counter) in ["success", "failure", "error"].into_iter().zip(&self.consistency_checks) {
            if counter.get() > 0 {
                visit(13, "", &[("status", status)], count(counter));
            }
        }
        visit(14, "", &[], self.watch_shards.get());
        visit(15, "", &[], count(&self.filtered_events));
        for (stage, histogram) in ["total", "storage_to_cache", "cache_to_watcher"].into_iter().zip(&self.dispatch_duration) {
            histogram.each(&[("stage", stage)], &mut |suffix, labels, value| visit(16, suffix, labels, value));
        }
        let storage = ("storage", "watchcache");
        let lists = self.lists.borrow();
        for (index, listed) in lists.iter() {
            visit(17, "", &[storage, ("index", index)], listed.requests as f64);
        }
        for (index, listed) in lists.iter() {
            visit(18, "", &[storage, ("index", index)], listed.fetched as f64);
        }
        // Objects decoded to be tested. That is done for reads from etcd; for its cache the apiserver reports 0, as here.
        visit(19, "", &[storage], 0.0);
        visit(20, "", &[storage], count(&self.returned));
        if let Some(queued) = now.queued {
            visit(21, "", &[], queued as f64);
            visit(22, "", &[], last_digits(&now.version));
        }
    }
}

/// The last digits of a version as a number.
fn last_digits(version: &Version) -> f64 {
    let text = version.to_string();
    text[text.len().saturating_sub(VERSION_DIGITS)..].parse::<u64>().unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::exposition::FAMILIES;
    use super::super::format::series_name;
    use super::*;

    fn read(metrics: &Metrics, now: &Now) -> BTreeMap<String, f64> {
        let mut series = BTreeMap::new();
        metrics.each(now, &mut |family, suffix, labels, value| {
            series.insert(series_name(FAMILIES[family].name, suffix, labels), value);
        });
        series
    }

    #[test]
    fn every_count_is_found_under_its_name() {
        let metrics = Metrics::default();
        metrics.init_events.add(3);
        metrics.events_received.add(4);
        metrics.events_dispatched.add(5);
        metrics.terminated_watchers.inc();
        metrics.initializations.add(6);
        metrics.initialization_errors.add(7);
        metrics.initialization_duration.set(0.25);
        metrics.watch_shards.inc();
        metrics.watch_shards.inc();
        metrics.watch_shards.dec();
        metrics.filtered_events.add(8);
        metrics.capacity_changed(100, 200);
        metrics.capacity_changed(200, 400);
        metrics.capacity_changed(400, 200);
        metrics.capacity_changed(200, 200);
        metrics.consistent_read(true, Fallback::No);
        metrics.consistent_read(false, Fallback::Yes);
        metrics.consistent_read(false, Fallback::Skipped);
        metrics.consistent_read(false, Fallback::Skipped);
        metrics.consistency_check(CheckResult::Failure);
        metrics.list("", 10, 2);
        metrics.list("namespace", 5, 5);
        metrics.list("namespace", 1, 0);
        metrics.read_wait.observe_ms(30);
        metrics.dispatched(DispatchStage::CacheToWatcher, 7, 3);
        let series = read(&metrics, &Now { version: Version::parse("98765432101234567890").unwrap(), capacity: 200, queued: Some(9) });
        for (name, value) in [
            ("apiserver_init_events_total", 3.0),
            ("apiserver_watch_cache_events_received_total", 4.0),
            ("apiserver_watch_cache_events_dispatched_total", 5.0),
            ("apiserver_terminated_watchers_total", 1.0),
            ("apiserver_watch_cache_resource_version", 432_101_234_567_890.0),
            ("watch_cache_capacity", 200.0),
            ("watch_cache_capacity_increase_total", 2.0),
            ("watch_cache_capacity_decrease_total", 1.0),
            ("apiserver_watch_cache_initializations_total", 6.0),
            ("apiserver_watch_cache_initialization_errors_total", 7.0),
            ("apiserver_watch_cache_initialization_duration_seconds", 0.25),
            ("apiserver_watch_cache_read_wait_seconds_bucket{le=\"0.025\"}", 0.0),
            ("apiserver_watch_cache_read_wait_seconds_bucket{le=\"0.05\"}", 1.0),
            ("apiserver_watch_cache_read_wait_seconds_bucket{le=\"+Inf\"}", 1.0),
            ("apiserver_watch_cache_read_wait_seconds_sum", 0.03),
            ("apiserver_watch_cache_read_wait_seconds_count", 1.0),
            ("apiserver_watch_cache_consistent_read_total{success=\"true\",fallback=\"false\"}", 1.0),
            ("apiserver_watch_cache_consistent_read_total{success=\"false\",fallback=\"true\"}", 1.0),
            ("apiserver_watch_cache_consistent_read_total{success=\"false\",fallback=\"skipped\"}", 2.0),
            ("apiserver_storage_consistency_checks_total{status=\"failure\"}", 1.0),
            ("apiserver_watch_shards_total", 1.0),
            ("apiserver_watch_filtered_events_total", 8.0),
            ("apiserver_watch_events_dispatch_duration_seconds_bucket{stage=\"cache_to_watcher\",le=\"0.005\"}", 0.0),
            ("apiserver_watch_events_dispatch_duration_seconds_bucket{stage=\"cache_to_watcher\",le=\"0.01\"}", 3.0),
            ("apiserver_watch_events_dispatch_duration_seconds_count{stage=\"cache_to_watcher\"}", 3.0),
            ("apiserver_watch_events_dispatch_duration_seconds_count{stage=\"total\"}", 0.0),
            ("apiserver_storage_list_total{storage=\"watchcache\",index=\"\"}", 1.0),
            ("apiserver_storage_list_total{storage=\"watchcache\",index=\"namespace\"}", 2.0),
            ("apiserver_storage_list_fetched_objects_total{storage=\"watchcache\",index=\"namespace\"}", 6.0),
            ("apiserver_storage_list_evaluated_objects_total{storage=\"watchcache\"}", 0.0),
            ("apiserver_storage_list_returned_objects_total{storage=\"watchcache\"}", 7.0),
            ("informer_queued_items", 9.0),
            ("informer_store_resource_version", 432_101_234_567_890.0),
        ] {
            assert_eq!(series.get(name), Some(&value), "{name}");
        }
    }

    #[test]
    fn what_never_happened_is_zero_or_absent() {
        let series = read(&Metrics::default(), &Now::default());
        assert!(series.values().all(|value| *value == 0.0));
        assert!(
            series.keys().all(|name| !name.contains("consistent_read") && !name.contains("list_total") && !name.contains("informer")),
            "{series:?}"
        );
    }
}
