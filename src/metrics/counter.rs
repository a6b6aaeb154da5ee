//! Numbers that are counted without borrowing anything.

use std::cell::Cell;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(Cell<u64>);

impl Counter {
    /// One more.
    pub fn inc(&self) {
        self.add(1);
    }

    /// So many more.
    pub fn add(&self, count: u64) {
        self.0.set(self.0.get().saturating_add(count));
    }

    /// So many until now.
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// A number of now.
#[derive(Debug, Default)]
pub struct Gauge(Cell<f64>);

impl Gauge {
    /// It is this now.
    pub fn set(&self, value: f64) {
        self.0.set(value);
    }

    /// One more.
    pub fn inc(&self) {
        self.0.set(self.0.get() + 1.0);
    }

    /// One less.
    pub fn dec(&self) {
        self.0.set(self.0.get() - 1.0);
    }

    /// What it is now.
    pub fn get(&self) -> f64 {
        self.0.get()
    }
}
