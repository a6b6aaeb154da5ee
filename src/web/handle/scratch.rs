//! Typed arrays for what crosses, used again and again.

use js_sys::{Array, Float64Array, Uint32Array};

/// The arrays live in JavaScript and are filled anew at each flush, so that a flush allocates nothing of size there.
pub(super) struct Scratch {
    doubles: Float64Array,
    numbers: Uint32Array,
    no_numbers: Uint32Array,
    empty: Array,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            doubles: Float64Array::new_with_length(64),
            numbers: Uint32Array::new_with_length(256),
            no_numbers: Uint32Array::new_with_length(0),
            empty: Array::new(),
        }
    }

    /// Doubles, in the array that the next flush fills anew.
    pub(super) fn doubles(&mut self, values: &[f64]) -> Float64Array {
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.doubles.length() < length {
            self.doubles = Float64Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.doubles.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    /// Whole numbers, in the array that the next flush fills anew.
    pub(super) fn numbers(&mut self, values: &[u32]) -> Uint32Array {
        if values.is_empty() {
            return self.no_numbers.clone();
        }
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if self.numbers.length() < length {
            self.numbers = Uint32Array::new_with_length(length.next_power_of_two());
        }
        let filled = self.numbers.subarray(0, length);
        filled.copy_from(values);
        filled
    }

    /// An array with nothing in it.
    pub(super) fn empty(&self) -> Array {
        self.empty.clone()
    }

    /// What few flushes have: an array is made for it where there is something.
    pub(super) fn rare(&self, values: impl Iterator<Item = u32>) -> Uint32Array {
        let values: Vec<u32> = values.collect();
        if values.is_empty() { self.no_numbers.clone() } else { Uint32Array::from(values.as_slice()) }
    }
}
