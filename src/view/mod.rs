//! Live views: the rows of a resource that pass a filter, in an order, with ranges of them that are looked at, and counts by group.
//!
//! A view hears of one change at a time, and takes in what it heard when somebody looks; nothing is sorted or filtered anew. Between two looks it
//! stands still. It holds references to the shared objects and a sort key for each row, and knows nothing of JavaScript: where the filter has a
//! part that only the caller can evaluate, the view says which objects wait for a verdict and is told the answer.

mod build;
mod changes;
mod count;
mod live;
pub mod order;
mod quantity;
mod ranks;

pub use live::View;
pub use order::{OrderAs, OrderBy};

use crate::selector::{FieldSelector, LabelSelector};

/// What a view shows.
#[derive(Debug, Clone, Default)]
pub struct ViewSpec {
    /// Only these namespaces; none given means all, an empty list means no rows.
    pub namespaces: Option<Vec<String>>,
    /// What the labels must meet.
    pub label: LabelSelector,
    /// What the fields must meet.
    pub field: FieldSelector,
    /// The order, most significant first. Ties, and views without an order, go by key.
    pub order: Vec<OrderBy>,
    /// The field slot whose values are counted.
    pub group_by: Option<usize>,
    /// Whether there is a condition that only the caller can evaluate: objects that pass everything else then wait for
    /// its verdict.
    pub predicate: bool,
}

/// A range of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first position.
    pub offset: usize,
    /// How many rows at most.
    pub limit: usize,
}

impl Window {
    /// Every position there is.
    pub const ALL: Window = Window { offset: 0, limit: usize::MAX };

    /// The position behind the last.
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}
