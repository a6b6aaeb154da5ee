//! The ids of views and of the ranges that are open on them.

use crate::id::id;

id!(
    /// An open view.
    pub ViewId
);

id!(
    /// An open range of a view's rows.
    pub RangeId
);
