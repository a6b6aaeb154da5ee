//! What is wrong with a selector, and where.

/// A selector that cannot be read.
///
/// The message is the one the Kubernetes API answers with, so it reads the same whether a selector was refused here or
/// by a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The whole message.
    pub message: String,
    /// Where in the given text the trouble starts, in bytes. Equals the text's length when something is missing at its
    /// end. Always on a character boundary.
    pub offset: usize,
}

impl SelectorError {
    pub(crate) fn new(message: impl Into<String>, offset: usize) -> Self {
        SelectorError { message: message.into(), offset }
    }
}
