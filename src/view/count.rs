//! Live counts of rows by the value of one field.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// How many rows have each value. Values without rows are not kept.
#[derive(Debug, Default)]
pub(super) struct Counts {
    by_value: BTreeMap<Rc<str>, usize>,
    /// What the counts touched since the last look were before.
    before: FxHashMap<Rc<str>, usize>,
}

impl Counts {
    pub(super) fn add(&mut self, value: &Rc<str>) {
        self.shift(value, 1);
    }

    /// Takes away a row that was added before.
    pub(super) fn remove(&mut self, value: &Rc<str>) {
        debug_assert!(self.get(value) > 0, "a value is taken away more often than it was added");
        self.shift(value, -1);
    }

    fn shift(&mut self, value: &Rc<str>, by: isize) {
        let count = match self.by_value.get_mut(value) {
            Some(count) => count,
            None => self.by_value.entry(value.clone()).or_default(),
        };
        if !self.before.contains_key(value) {
            self.before.insert(value.clone(), *count);
        }
        *count = count.saturating_add_signed(by);
        if *count == 0 {
            self.by_value.remove(value);
        }
    }

    pub(super) fn get(&self, value: &str) -> usize {
        self.by_value.get(value).copied().unwrap_or(0)
    }

    /// By value, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Rc<str>, usize)> {
        self.by_value.iter().map(|(value, count)| (value, *count))
    }

    /// Whether any count differs from what it was when this was last asked.
    pub(super) fn take_changed(&mut self) -> bool {
        let before = std::mem::take(&mut self.before);
        before.iter().any(|(value, count)| self.get(value) != *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_tells_of_changes() {
        let (a, b): (Rc<str>, Rc<str>) = ("a".into(), "b".into());
        let mut counts = Counts::default();
        assert!(!counts.take_changed());
        counts.add(&b);
        counts.add(&a);
        counts.add(&a);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(&a, 2), (&b, 1)]);
        assert!(counts.take_changed());
        assert!(!counts.take_changed());
        counts.remove(&b);
        counts.add(&b);
        assert!(!counts.take_changed(), "back to where it was");
        counts.remove(&b);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(&a, 2)]);
        assert_eq!(counts.get("b"), 0);
        assert!(counts.take_changed());
    }
}
