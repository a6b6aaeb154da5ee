//! What is wrong with a selector, and where.

/// A selector that cannot be read.
///
/// The message is that of the Kubernetes API, so it is the same whether a server or this crate refused the selector. Only for shard selectors
/// that are no ranges it is our own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The whole message.
    pub message: String,
    /// Where the mistake starts, in bytes from the start of the text. It equals the text's length if something is missing at the end.
    /// Always on a character boundary.
    pub offset: usize,
}

impl SelectorError {
    pub(crate) fn new(message: impl Into<String>, offset: usize) -> Self {
        SelectorError { message: message.into(), offset }
    }
}
