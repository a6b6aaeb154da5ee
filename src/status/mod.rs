//! What goes wrong, in the two forms that leave this crate.
//!
//! [`Status`] is the API's own document, `metav1.Status`. [`Error`] is every failure of this crate, with a stable [`ErrorCode`] and the
//! server's Status if there is one. Start with [`ErrorCode`]: callers branch on it.
//!
//! Imports: json, version.

mod code;
mod document;
mod error;

pub use code::ErrorCode;
pub use document::{Cause, Details, Metadata, Status};
pub use error::Error;
