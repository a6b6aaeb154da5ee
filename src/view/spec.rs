//! What a view shows, and which of its rows somebody looks at.

use crate::json::Path;
use crate::selector::{FieldSelector, LabelSelector};

use super::order::OrderBy;
use super::search::Search;

/// What a view shows.
#[derive(Debug, Clone, Default)]
pub struct ViewSpec {
    /// Only these namespaces. `None` means all, an empty list means no rows.
    pub namespaces: Option<Vec<String>>,
    /// What the labels must meet.
    pub label: LabelSelector,
    /// What the fields must meet.
    pub field: FieldSelector,
    /// What must be found in them. `None` finds all.
    pub search: Option<Search>,
    /// The order, most significant level first. Ties go by key, and so do views without an order.
    pub order: Vec<OrderBy>,
    /// The field slot whose values are counted.
    pub group_by: Option<usize>,
    /// The fields that rows show; `None` where they show whole objects.
    pub select: Option<Vec<Path>>,
    /// Whether the caller has a condition of its own. Objects that pass everything else then wait for its verdict.
    pub needs_verdict: bool,
}

/// A range of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRange {
    /// The first position.
    pub offset: usize,
    /// How many rows at most.
    pub limit: usize,
}

impl RowRange {
    /// Every position there is.
    pub const ALL: Self = Self { offset: 0, limit: usize::MAX };

    /// The position behind the last.
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}
