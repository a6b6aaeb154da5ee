//! Arrays for what crosses.

use js_sys::{Array, Float64Array, Uint32Array};

/// Typed arrays that live in JavaScript and are filled anew at each flush, so that a flush allocates nothing of size there.
pub(super) struct Scratch {
    events: Float64Array,
    pairs: Uint32Array,
    none: Uint32Array,
    empty: Array,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            events: Float64Array::new_with_length(64),
            pairs: Uint32Array::new_with_length(256),
            none: Uint32Array::new_with_length(0),
            empty: Array::new(),
        }
    }

    pub(super) fn events(&mut self, values: &[f64]) -> Float64Array {
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.events.length() < length {
            self.events = Float64Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.events.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    pub(super) fn pairs(&mut self, values: &[u32]) -> Uint32Array {
        if values.is_empty() {
            return self.none.clone();
        }
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.pairs.length() < length {
            self.pairs = Uint32Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.pairs.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    pub(super) fn empty(&self) -> Array {
        self.empty.clone()
    }

    pub(super) fn rare(&self, values: impl Iterator<Item = u32>) -> Uint32Array {
        let values: Vec<u32> = values.collect();
        if values.is_empty() { self.none.clone() } else { Uint32Array::from(values.as_slice()) }
    }
}
