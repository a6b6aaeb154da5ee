//! Watchers: where they start, what they hear, and how they end.

mod bookmarks;
mod dispatch;
mod filtering;
mod interest;
mod intervals;
mod life;
mod overflow;
mod start;
