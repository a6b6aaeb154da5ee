//! Label, field and shard selectors with the grammar and the messages of the Kubernetes API.
//!
//! Each kind parses from text, and prints a canonical form that parses back to an equal selector. Evaluation does not allocate. A
//! [`Predicate`] is labels and fields together: what a list, a watch or a view asks for.
//!
//! Imports: json, object, sort, status.

mod error;
pub mod field;
mod filter;
mod grammar;
mod interest;
pub mod label;
mod parse;
pub mod predicate;
mod requirement;
pub mod shard;
mod validate;

pub use error::SelectorError;
pub use field::FieldSelector;
pub use filter::{Filter, FilterText, invalid_selector, parse_selectors};
pub use grammar::{NAMESPACE, check_grammar, check_index_name, parse_path};
pub use interest::{Interest, Interests, differs};
pub use label::LabelSelector;
pub use predicate::{Matcher, Predicate};
pub use requirement::{Operator, Requirement};
pub use shard::ShardSelector;
