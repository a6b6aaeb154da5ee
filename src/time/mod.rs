//! Times as text: RFC 3339 in Kubernetes objects, HTTP dates in headers.
//!
//! Imports nothing of this crate.

pub(crate) mod http_date;
pub(crate) mod rfc3339;
