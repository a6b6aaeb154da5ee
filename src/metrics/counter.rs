//! Numbers that can be counted through a shared reference.

use std::cell::Cell;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(Cell<u64>);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.set(self.0.get().saturating_add(count));
    }

    /// The count.
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// A number that rises and falls.
#[derive(Debug, Default)]
pub struct Gauge(Cell<f64>);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: f64) {
        self.0.set(value);
    }

    /// Adds one.
    pub fn inc(&self) {
        self.0.set(self.0.get() + 1.0);
    }

    /// Subtracts one.
    pub fn dec(&self) {
        self.0.set(self.0.get() - 1.0);
    }

    /// The current value.
    pub fn get(&self) -> f64 {
        self.0.get()
    }
}
