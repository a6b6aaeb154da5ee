//! One sort for everything that is rarely sorted.
//!
//! The standard library's sorts are compiled for each type, with 5 kB of WebAssembly each. This one is compiled once: it sorts positions
//! and compares items through a function pointer. What is sorted at every change uses the standard sort.
//!
//! Imports nothing of this crate.

use std::cmp::Ordering;

/// Sorts the items. Equal items keep their order.
pub(crate) fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return; // the usual case
    }
    let order = order_of(items.len(), &|a, b| compare(&items[a], &items[b]));
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|place| taken[place].take()));
}

/// A merge sort from below, with runs of one, two, four and so on. It is the shortest code that is stable and never slow.
#[inline(never)]
fn order_of(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut runs = order.clone();
    let mut width = 1;
    while width < count {
        std::mem::swap(&mut order, &mut runs);
        for (number, merged) in order.chunks_mut(2 * width).enumerate() {
            let start = number * 2 * width;
            let (middle, end) = ((start + width).min(count), start + merged.len());
            let (mut left, mut right) = (start, middle);
            for place in merged {
                let from = if left < middle && (right == end || compare(runs[left], runs[right]).is_le()) { &mut left } else { &mut right };
                *place = runs[*from];
                *from += 1;
            }
        }
        width *= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut items in prop::collection::vec((0u8..20, any::<u8>()), 0..200)) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by(&mut items, |a, b| a.0.cmp(&b.0));
            prop_assert_eq!(items, expected);
        }
    }
}
