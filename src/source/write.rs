//! What a write asks of a source.

/// Which object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectName {
    /// Empty for what has no namespace.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// What must hold of an object for it to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// It is this one, and not another that has its name by now.
    pub uid: Option<String>,
    /// It has not changed since.
    pub resource_version: Option<String>,
}

/// How an object is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Checked by the upstream against what stands there; a failure is a conflict.
    pub preconditions: Preconditions,
    /// Seconds that the object may take to end by itself; unset: the kind's own.
    pub grace_period_seconds: Option<u32>,
    /// `Orphan`, `Background` or `Foreground`; unset: the kind's own.
    pub propagation_policy: Option<String>,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteRequest {
    /// Adds an object.
    Create {
        /// Empty for what has no namespace, and where the resource is of one namespace anyway.
        namespace: String,
        /// The object as JSON.
        document: Vec<u8>,
    },
    /// Replaces an object, if it still has the version that stands in the document.
    Update {
        /// Which one.
        object: ObjectName,
        /// The whole object as JSON, but for `metadata.managedFields`, which may be missing: servers then keep what they have.
        document: Vec<u8>,
    },
    /// Deletes an object.
    Delete {
        /// Which one.
        object: ObjectName,
        /// How.
        options: DeleteOptions,
    },
}
