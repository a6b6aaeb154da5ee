//! What a write asks for, and its form on the Kubernetes wire. No transport in here.

use percent_encoding::utf8_percent_encode;

use super::kubernetes::{SEGMENT, namespace_of};
use crate::json::write::Document;
use crate::status::{Error, Status};

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

impl DeleteOptions {
    /// The body of the request: `meta/v1` `DeleteOptions`.
    pub fn document(&self) -> Vec<u8> {
        let mut document = Document::new();
        document.text("kind", "DeleteOptions").text("apiVersion", "v1");
        if self.preconditions != Preconditions::default() {
            let mut conditions = Document::new();
            conditions.optional("uid", self.preconditions.uid.as_deref());
            conditions.optional("resourceVersion", self.preconditions.resource_version.as_deref());
            document.raw("preconditions", &conditions.finish());
        }
        if let Some(seconds) = self.grace_period_seconds {
            document.raw("gracePeriodSeconds", &seconds.to_string());
        }
        document.optional("propagationPolicy", self.propagation_policy.as_deref());
        document.finish().into_bytes()
    }
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

impl WriteRequest {
    /// The HTTP method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Create { .. } => "POST",
            Self::Update { .. } => "PUT",
            Self::Delete { .. } => "DELETE",
        }
    }

    /// The path, under the path of the resource's collection, e.g. `/api/v1/pods`.
    pub fn path(&self, collection: &str) -> Result<String, Error> {
        match self {
            Self::Create { namespace, .. } => path(collection, namespace, None),
            Self::Update { object, .. } | Self::Delete { object, .. } => object_path(collection, object),
        }
    }

    /// The body.
    pub fn into_body(self) -> Vec<u8> {
        match self {
            Self::Create { document, .. } | Self::Update { document, .. } => document,
            Self::Delete { options, .. } => options.document(),
        }
    }
}

/// The path of one object.
pub fn object_path(collection: &str, object: &ObjectName) -> Result<String, Error> {
    path(collection, &object.namespace, Some(&object.name))
}

/// The collection of all namespaces is read under `/api/v1/pods` and written under `/api/v1/namespaces/x/pods`.
fn path(collection: &str, namespace: &str, name: Option<&str>) -> Result<String, Error> {
    let encoded = |segment: &str| utf8_percent_encode(segment, SEGMENT).to_string();
    let mut path = match (namespace_of(collection), collection.rsplit_once('/')) {
        (Some(bound), _) if !namespace.is_empty() && bound != namespace => {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Status::bad_request(message).into());
        }
        (None, Some((base, resource))) if !namespace.is_empty() => format!("{base}/namespaces/{}/{resource}", encoded(namespace)),
        _ => collection.to_string(),
    };
    if let Some(name) = name {
        path.push('/');
        path.push_str(&encoded(name));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(collection: &str, namespace: &str, name: Option<&str>) -> String {
        path(collection, namespace, name).unwrap()
    }

    #[test]
    fn objects_are_written_under_their_namespace() {
        assert_eq!(of("/api/v1/pods", "web", None), "/api/v1/namespaces/web/pods");
        assert_eq!(of("/api/v1/pods", "web", Some("a")), "/api/v1/namespaces/web/pods/a");
        assert_eq!(of("/apis/apps/v1/deployments", "web", Some("a")), "/apis/apps/v1/namespaces/web/deployments/a");
        assert_eq!(of("/api/v1/nodes", "", Some("n")), "/api/v1/nodes/n");
        assert_eq!(of("/api/v1/namespaces", "", Some("web")), "/api/v1/namespaces/web");
        // A group may have the name of a resource.
        assert_eq!(of("/apis/namespaces/v1/things", "web", Some("a")), "/apis/namespaces/v1/namespaces/web/things/a");
        // Names may hold what means something in a path.
        assert_eq!(of("/api/v1/nodes", "", Some("a?b#c")), "/api/v1/nodes/a%3Fb%23c");
    }

    #[test]
    fn a_resource_of_one_namespace_writes_there_and_nowhere_else() {
        let collection = "/api/v1/namespaces/web/pods";
        assert_eq!(of(collection, "", None), collection);
        assert_eq!(of(collection, "web", Some("a")), "/api/v1/namespaces/web/pods/a");
        let error = path(collection, "other", Some("a")).unwrap_err();
        assert_eq!(error.message, "the namespace of the provided object does not match the namespace sent on the request");
        assert_eq!(error.code, crate::status::ErrorCode::Invalid);
    }

    #[test]
    fn delete_options_say_what_is_set_and_nothing_else() {
        let text = |options: &DeleteOptions| String::from_utf8(options.document()).unwrap();
        assert_eq!(text(&DeleteOptions::default()), r#"{"kind":"DeleteOptions","apiVersion":"v1"}"#);
        let options = DeleteOptions {
            preconditions: Preconditions { uid: Some("u".into()), resource_version: Some("7".into()) },
            grace_period_seconds: Some(0),
            propagation_policy: Some("Orphan".into()),
        };
        assert_eq!(
            text(&options),
            r#"{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"},"gracePeriodSeconds":0,"propagationPolicy":"Orphan"}"#
        );
    }
}
