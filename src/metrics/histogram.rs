//! How often something took how long.

use std::cell::RefCell;

use super::format::{Labels, number};

/// Observations in seconds, counted in buckets with fixed upper bounds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    inner: RefCell<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// One count for each bound, and one for values beyond the last bound.
    counts: Vec<u64>,
    sum_ms: u64,
}

impl Histogram {
    /// An empty histogram. The bounds are in seconds and must ascend.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, inner: RefCell::new(Inner { counts: vec![0; bounds.len() + 1], sum_ms: 0 }) }
    }

    /// Counts one observation of this many milliseconds.
    pub fn observe_ms(&self, millis: u64) {
        self.observe_many_ms(millis, 1);
    }

    /// Counts an observation of this many milliseconds `times` times.
    pub fn observe_many_ms(&self, millis: u64, times: u64) {
        #[allow(clippy::cast_precision_loss)]
        let seconds = millis as f64 / 1000.0;
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        let inner = &mut *self.inner.borrow_mut();
        inner.counts[bucket] += times;
        inner.sum_ms += millis * times;
    }

    /// The number of observations.
    pub fn count(&self) -> u64 {
        self.inner.borrow().counts.iter().sum()
    }

    /// Reads its series: the buckets, which are cumulative, then sum and count.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn each(&self, labels: Labels<'_>, visit: &mut dyn FnMut(&str, Labels<'_>, f64)) {
        let inner = self.inner.borrow();
        let mut total = 0;
        for (index, count) in inner.counts.iter().enumerate() {
            total += count;
            let bound = number(self.bounds.get(index).copied().unwrap_or(f64::INFINITY));
            let mut labels = labels.to_vec();
            labels.push(("le", &bound));
            visit("_bucket", &labels, total as f64);
        }
        visit("_sum", labels, inner.sum_ms as f64 / 1000.0);
        visit("_count", labels, total as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_all_up_to_its_bound() {
        let histogram = Histogram::new(&[0.005, 0.05, 1.0]);
        for millis in [0, 5, 6, 50, 51, 1000, 1001, 5000] {
            histogram.observe_ms(millis);
        }
        histogram.observe_many_ms(10, 2);
        let mut read = Vec::new();
        histogram
            .each(&[("a", "b")], &mut |suffix, labels, value| read.push((suffix.to_owned(), labels.last().unwrap().1.to_owned(), value)));
        let expected = [("_bucket", "0.005", 2.0), ("_bucket", "0.05", 6.0), ("_bucket", "1", 8.0), ("_bucket", "+Inf", 10.0)];
        for (index, (suffix, bound, value)) in expected.into_iter().enumerate() {
            assert_eq!(read[index], (suffix.to_owned(), bound.to_owned(), value));
        }
        assert_eq!((read[4].0.as_str(), read[4].2), ("_sum", 7.133));
        assert_eq!((read[5].0.as_str(), read[5].2), ("_count", 10.0));
        assert_eq!(histogram.count(), 10);
    }
}
