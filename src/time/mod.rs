//! Times as text: what Kubernetes writes into objects, and what servers write into headers.
//!
//! Imports nothing of this crate.

pub(crate) mod http_date;
pub(crate) mod rfc3339;
