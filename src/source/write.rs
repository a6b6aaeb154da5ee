//! What a write asks of a source.

use super::request::Narrow;
use crate::status::{Error, ErrorCode};

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
    /// See [`WriteParameters::dry_run`].
    pub dry_run: bool,
}

/// What a write says beside its document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteParameters {
    /// A part of the object with an address of its own, such as `status` or `scale`; unset: the object itself.
    pub subresource: Option<String>,
    /// The upstream checks the write and answers it, and keeps nothing.
    pub dry_run: bool,
    /// Who writes, as `managedFields` names it; unset: the upstream's guess.
    pub field_manager: Option<String>,
    /// `Ignore`, `Warn` or `Strict`: what becomes of fields that the kind does not have; unset: the upstream's own.
    pub field_validation: Option<String>,
}

/// How a patch says what is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 7386: members replace those of their names, null removes one, a list is replaced whole.
    Merge,
    /// Kubernetes' own: as a merge, but the lists of built-in kinds are merged by the keys of their items.
    Strategic,
    /// RFC 6902: operations, one after another.
    Json,
    /// Server-side apply: all that its manager wants. The upstream keeps who owns which field.
    Apply,
}

impl PatchType {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Strategic => "strategic",
            Self::Json => "json",
            Self::Apply => "apply",
        }
    }

    /// Reads the word for it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "merge" => Ok(Self::Merge),
            "strategic" => Ok(Self::Strategic),
            "json" => Ok(Self::Json),
            "apply" => Ok(Self::Apply),
            _ => Err(Error::new(ErrorCode::Invalid, format!("the type of a patch is merge, strategic, json or apply, not {text:?}"))),
        }
    }
}

/// A change, as the upstream is to make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// How to read the document.
    pub kind: PatchType,
    /// JSON: operations for [`PatchType::Json`], else an object.
    pub document: Vec<u8>,
    /// With [`PatchType::Apply`]: fields that others own are taken from them.
    pub force: bool,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteRequest {
    /// Adds an object.
    Create {
        /// Empty for what has no namespace, and where the resource is of one namespace anyway.
        namespace: String,
        /// With a subresource: the name of the object that has it.
        of: Option<String>,
        /// The object as JSON.
        document: Vec<u8>,
        /// What else is said.
        parameters: WriteParameters,
    },
    /// Replaces an object, if it still has the version that stands in the document.
    Update {
        /// Which one.
        object: ObjectName,
        /// The whole object as JSON, but for `metadata.managedFields`, which may be missing: servers then keep what they have.
        document: Vec<u8>,
        /// What else is said.
        parameters: WriteParameters,
    },
    /// Has the upstream change an object, whichever version it has.
    Patch {
        /// Which one.
        object: ObjectName,
        /// How.
        patch: Patch,
        /// What else is said.
        parameters: WriteParameters,
    },
    /// Deletes an object.
    Delete {
        /// Which one.
        object: ObjectName,
        /// How.
        options: DeleteOptions,
    },
    /// Deletes all objects of a part of the resource.
    DeleteCollection {
        /// Which part.
        narrow: Narrow,
        /// How each of them.
        options: DeleteOptions,
    },
}
