//! Label and field selectors with the grammar and the messages of the Kubernetes API.

pub mod field;
pub mod label;
