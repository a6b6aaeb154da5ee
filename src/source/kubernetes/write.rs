//! Writes, in the form that the API takes them: method, path and body.

use super::path::{object_path, path_of};
use crate::json::write::Document;
use crate::source::write::{DeleteOptions, Preconditions, WriteRequest};
use crate::status::Error;

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
            Self::Create { namespace, .. } => path_of(collection, namespace, None),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::write::ObjectName;

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

    #[test]
    fn a_write_is_a_method_a_path_and_a_body() {
        let object = ObjectName { namespace: "ns".into(), name: "x".into() };
        let writes = [
            WriteRequest::Create { namespace: "ns".into(), document: b"new".to_vec() },
            WriteRequest::Update { object: object.clone(), document: b"changed".to_vec() },
            WriteRequest::Delete { object, options: DeleteOptions::default() },
        ];
        let told = writes.map(|write| {
            let (method, path) = (write.method(), write.path("/api/v1/pods").unwrap());
            format!("{method} {path} {}", String::from_utf8(write.into_body()).unwrap())
        });
        assert_eq!(
            told,
            [
                "POST /api/v1/namespaces/ns/pods new",
                "PUT /api/v1/namespaces/ns/pods/x changed",
                r#"DELETE /api/v1/namespaces/ns/pods/x {"kind":"DeleteOptions","apiVersion":"v1"}"#,
            ]
        );
    }
}
