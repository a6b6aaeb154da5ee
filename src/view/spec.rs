//! What a view shows, and which of its rows somebody looks at.

use crate::json::Path;
use crate::selector::{FieldSelector, LabelSelector};

use super::derived::Column;
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
    /// What has the values that are counted.
    pub group_by: Option<Column>,
    /// The derived columns, each by the paths of what it is derived of. Only those that order, group or rows use are asked for.
    pub derived: Vec<Vec<Path>>,
    /// What rows show; `None` where they show whole objects.
    pub select: Option<Vec<Selected>>,
    /// Whether the caller has a condition of its own. Objects that pass everything else then wait for its verdict.
    pub needs_verdict: bool,
}

/// A member of a row that shows some fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// The value at a path.
    Path(Path),
    /// A derived column: its position in [`ViewSpec::derived`].
    Derived(usize),
}

impl From<Path> for Selected {
    fn from(path: Path) -> Self {
        Self::Path(path)
    }
}

impl ViewSpec {
    /// The derived columns that place objects, and those that rows show: their positions.
    pub(super) fn derived_uses(&self) -> (Box<[usize]>, Box<[usize]>) {
        let placing = self.order.iter().map(|level| level.column).chain(self.group_by).filter_map(|column| match column {
            Column::Derived(column) => Some(column),
            Column::Field(_) => None,
        });
        let shown = self.select.iter().flatten().filter_map(|selected| match selected {
            Selected::Derived(column) => Some(*column),
            Selected::Path(_) => None,
        });
        (once(placing), once(shown))
    }
}

/// Each of these once.
fn once(columns: impl Iterator<Item = usize>) -> Box<[usize]> {
    let mut once = Vec::new();
    columns.for_each(|column| {
        if !once.contains(&column) {
            once.push(column);
        }
    });
    once.into()
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
