//! What one resource counts.

use std::cell::RefCell;

use super::counter::{Counter, Gauge};
use super::format::Labels;
use super::histogram::Histogram;
use crate::version::Version;

/// How a consistent read that the cache could not serve in time was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It was served from the cache.
    No,
    /// The upstream was asked.
    Yes,
    /// It was refused, and the upstream spared.
    Skipped,
}

/// How a check of the cache against its upstream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// Both hold the same.
    Success,
    /// They differ.
    Failure,
    /// It could not be made.
    Error,
}

/// The parts of the way of an event to a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
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

/// The counts of one resource. Everything begins at 0.
#[derive(Debug)]
pub struct Metrics {
    /// Events of the initial state or of the window that watchers got before live ones.
    pub init_events: Counter,
    /// Changes that arrived from the upstream.
    pub events_received: Counter,
    /// Changes and bookmarks that went through the dispatcher.
    pub events_dispatched: Counter,
    /// Watchers that were ended because they did not keep up.
    pub terminated_watchers: Counter,
    /// Lists that made the cache ready.
    pub initializations: Counter,
    /// Rounds of list and watch that ended with an error.
    pub initialization_errors: Counter,
    /// Seconds from the start of a round to its list, of the last one.
    pub initialization_duration: Gauge,
    /// Seconds that requests waited until the cache was fresh enough.
    pub read_wait: Histogram,
    /// Watches with a shard selector that are open.
    pub watch_shards: Gauge,
    /// Events that a shard selector kept from a watcher.
    pub filtered_events: Counter,
    capacity_increases: Counter,
    capacity_decreases: Counter,
    consistent_reads: [[Counter; 3]; 2],
    consistency_checks: [Counter; 3],
    dispatch_duration: [Histogram; 3],
    /// By index, in the order of their names. They are few: a tree of them would be code for nothing.
    lists: RefCell<Vec<(String, Listed)>>,
    returned: Counter,
}

/// The apiserver's buckets for waits of reads, in seconds.
const READ_WAIT: &[f64] = &[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0];
/// Buckets for the way of an event, in seconds: from below the precision of a browser's clock to a page that was asleep.
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

/// What is read from the cache at the moment of reading, and counted by nobody.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// The version reached.
    pub version: Version,
    /// Changes the window may hold.
    pub capacity: usize,
    /// Notices that wait for handlers of informers; `None` where no informer runs.
    pub queued: Option<usize>,
}

/// The apiserver keeps the last digits of a version, which a double can hold.
const VERSION_DIGITS: usize = 15;

impl Metrics {
    /// A consistent read was answered; `success` says whether the cache got fresh in time.
    pub fn consistent_read(&self, success: bool, fallback: Fallback) {
        self.consistent_reads[usize::from(success)][fallback as usize].inc();
    }

    /// The cache was compared with its upstream.
    pub fn consistency_check(&self, result: CheckResult) {
        self.consistency_checks[result as usize].inc();
    }

    /// The window may hold another number of changes than before.
    pub fn capacity_changed(&self, from: usize, to: usize) {
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.capacity_increases.inc(),
            std::cmp::Ordering::Greater => self.capacity_decreases.inc(),
            std::cmp::Ordering::Equal => {}
        }
    }

    /// A list was served from the cache: by this index (`""` without one) it read `fetched` objects and answered with
    /// `returned`.
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

    /// So many deliveries of an event took this long.
    pub fn dispatched(&self, stage: Stage, millis: u64, deliveries: u64) {
        self.dispatch_duration[stage as usize].observe_many_ms(millis, deliveries);
    }

    /// Reads every series, in the order of [`text::FAMILIES`]: its family, what follows the family's name (`_bucket`, `_sum`, `_count` or
    /// nothing), its own labels and its value. The labels `group` and `resource` are not among them.
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
        // Objects that were decoded to be tested: etcd's are, a cache's never, and the apiserver says 0 for its own.
        visit(19, "", &[storage], 0.0);
        visit(20, "", &[storage], count(&self.returned));
        if let Some(queued) = now.queued {
            visit(21, "", &[], queued as f64);
            visit(22, "", &[], last_digits(&now.version));
        }
    }
}

/// The last digits of a version, as a number.
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
        metrics.dispatched(Stage::CacheToWatcher, 7, 3);
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
