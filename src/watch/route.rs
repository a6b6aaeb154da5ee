//! Where a watcher is filed: the bucket, or the few buckets, in which events look for it.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::selector::{Filter, Interest, Operator};

/// Up to so many values of one label are looked up one by one. Each costs the watcher a place in another bucket.
const MAX_FILED_VALUES: usize = 8;

/// A bucket is known by a hash of what it stands for.
pub(super) type Bucket = u64;

/// Where a watcher is filed, and as which one. By default nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// In which buckets it is.
    pub(super) way: Way,
    /// The number under which it joined, which tells it from all that ever were.
    pub(super) joined: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Way {
    /// It hears of nothing.
    #[default]
    None,
    /// It hears of everything, without being asked.
    Everything,
    /// It hears of everything in which it has an interest.
    Interested(Rc<Interest>),
    /// It is asked about everything.
    Everywhere,
    /// In one bucket.
    One(Filing),
    /// In several buckets of one kind.
    Several(Box<[Filing]>),
}

/// A bucket, and of which kind it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filing {
    pub(super) kind: Kind,
    /// Whether it is one of a single namespace.
    pub(super) scoped: bool,
    pub(super) bucket: Bucket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Namespace,
    Name,
    Label,
    Field(u32),
}

impl Way {
    /// The best place for the watcher of a filter: by what tells it from most others. `population` says how many are in a bucket.
    pub(super) fn of(filter: &Filter, trigger: Option<u32>, population: impl Fn(Bucket) -> usize) -> Self {
        if filter.is_everything() {
            return Self::Everything;
        }
        let (namespace, name) = (filter.scope_namespace(), filter.scope_name());
        let filing = |kind, namespace: &str, key: &str, value: &str| Filing {
            kind,
            scoped: !namespace.is_empty(),
            bucket: bucket(kind, namespace, key, value),
        };
        if let Some((slot, value)) = filter.demands().find(|(slot, _)| Some(*slot) == trigger) {
            return Self::One(filing(Kind::Field(slot), "", "", value));
        }
        if !name.is_empty() {
            return Self::One(filing(Kind::Name, namespace, "", name));
        }
        let by_field = filter.demands().map(|(slot, value)| vec![filing(Kind::Field(slot), namespace, "", value)]);
        let by_label = filter.predicate().label.requirements().iter().filter_map(|requirement| {
            let demands = matches!(requirement.operator(), Operator::Equals | Operator::DoubleEquals | Operator::In);
            let values = requirement.values();
            let is_filed = demands && !values.is_empty() && values.len() <= MAX_FILED_VALUES;
            is_filed.then(|| values.iter().map(|value| filing(Kind::Label, namespace, requirement.key(), value)).collect::<Vec<_>>())
        });
        // A bucket with few watchers is the best guess: it most likely gets few events, and each of them visits few watchers.
        let others = |filings: &[Filing]| filings.iter().map(|filing| population(filing.bucket)).sum::<usize>() + filings.len();
        match by_field.chain(by_label).min_by_key(|places| others(places)) {
            Some(places) if places.len() == 1 => Self::One(places[0]),
            Some(places) => Self::Several(places.into()),
            None if !namespace.is_empty() => Self::One(filing(Kind::Namespace, namespace, "", "")),
            None => Self::Everywhere,
        }
    }
}

/// The bucket of a value.
pub(super) fn bucket(kind: Kind, namespace: &str, key: &str, value: &str) -> Bucket {
    let mut hasher = FxHasher::default();
    (kind, namespace, key, value).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::fields::FieldSet;
    use crate::selector::FilterText;

    fn labelled(count: usize) -> Way {
        let values: Vec<String> = (0..count).map(|number| format!("v{number}")).collect();
        let labels = format!("app in ({})", values.join(","));
        let filter = Filter::new(FilterText { labels: Some(&labels), ..FilterText::default() }, &mut FieldSet::new(Vec::new())).unwrap();
        Way::of(&filter, None, |_| 0)
    }

    #[test]
    fn a_label_of_too_many_values_is_not_looked_up() {
        assert!(matches!(labelled(1), Way::One(Filing { kind: Kind::Label, scoped: false, .. })));
        assert!(matches!(labelled(MAX_FILED_VALUES), Way::Several(places) if places.len() == MAX_FILED_VALUES));
        assert!(matches!(labelled(MAX_FILED_VALUES + 1), Way::Everywhere));
    }
}
