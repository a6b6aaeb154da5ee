//! The steps of a path, and the error for a path that cannot be read.

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Segment {
    /// A member of an object.
    Key(Box<str>),
    /// An element of an array, from 0.
    Index(usize),
    /// The first element of an array for which the filter holds.
    Filter(Filter),
}

/// `?(@.type=='Ready')`: holds if the value at the path in an element equals the literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Filter {
    pub(super) path: Box<[Segment]>,
    pub(super) literal: Literal,
}

/// What a filter compares with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Literal {
    /// A string, without its escapes.
    Text(Box<str>),
    /// A number as written: `80` and `80.0` differ.
    Number(Box<str>),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

/// A path that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at position {position} of path {path:?}")]
pub struct PathError {
    /// What is wrong.
    pub message: &'static str,
    /// The byte of the path at which it is wrong.
    pub position: usize,
    /// The path as it was given.
    pub path: String,
}
