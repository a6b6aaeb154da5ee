//! Live views: the rows of a resource that pass a filter, in an order. A view has ranges of rows that somebody looks at, and counts by
//! group.
//!
//! A view hears of one change at a time and keeps it until somebody looks. Nothing is sorted or filtered anew. Between two looks the view
//! stands still. It holds references to the shared objects and a sort key for each row. It knows nothing of JavaScript. If the caller has a
//! condition of its own, the view says which objects wait for a verdict, and is told the answer.
//!
//! Start with [`View`], then [`Views`], the set of those that are open on one store.
//!
//! Imports: allocation, change, growth, id, json, key, object, selector, sort, status, store, time, version.

mod changes;
mod count;
mod criteria;
mod derived;
mod deriving;
mod fill;
mod id;
mod options;
mod order;
mod pending;
mod quantity;
mod ranges;
mod ranks;
mod rows;
mod search;
mod set;
mod shown;
mod spec;
mod stage;
mod verdicts;
mod view;

pub use derived::Column;
pub use id::{RangeId, ViewId};
pub use options::{SearchOptions, ViewOptions};
pub use order::{OrderAs, OrderBy};
pub use search::Search;
pub use set::Views;
pub use spec::{RowRange, Selected, ViewSpec};
pub use view::View;
