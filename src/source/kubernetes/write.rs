//! Writes, in the form that the API takes them: method, path, query, type of the body, and body.

use std::borrow::Cow;

use super::path::{list_in, object_path, path_of, with_subresource};
use super::query::{Selection, collection_query, write_query};
use crate::json::write::Document;
use crate::source::request::ListRequest;
use crate::source::write::{DeleteOptions, PatchType, Preconditions, WriteParameters, WriteRequest};
use crate::status::Error;

impl PatchType {
    /// The media type of its documents, which tells the server how to read them.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Json => "application/json-patch+json",
            // The document is JSON, which is YAML as well. Older servers know no other name for it.
            Self::Apply => "application/apply-patch+yaml",
        }
    }
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
        if self.dry_run {
            document.raw("dryRun", r#"["All"]"#);
        }
        document.finish().into_bytes()
    }
}

impl WriteRequest {
    /// The HTTP method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Create { .. } => "POST",
            Self::Update { .. } => "PUT",
            Self::Patch { .. } => "PATCH",
            Self::Delete { .. } | Self::DeleteCollection { .. } => "DELETE",
        }
    }

    /// The media type of its body.
    pub fn content_type(&self) -> &'static str {
        match self {
            Self::Patch { patch, .. } => patch.kind.media_type(),
            _ => "application/json",
        }
    }

    /// Whether it is answered with the object, which the server gives in the form that was asked for.
    pub fn answers_object(&self) -> bool {
        match self {
            Self::Create { parameters, .. } | Self::Update { parameters, .. } | Self::Patch { parameters, .. } => {
                parameters.subresource.is_none()
            }
            Self::Delete { .. } | Self::DeleteCollection { .. } => false,
        }
    }

    /// The path, under the path of the resource's collection, e.g. `/api/v1/pods`.
    pub fn path(&self, collection: &str) -> Result<String, Error> {
        match self {
            Self::Create { namespace, of, parameters, .. } => {
                let path = path_of(collection, namespace, of.as_deref())?;
                Ok(with_subresource(path, parameters.subresource.as_deref()))
            }
            Self::Update { object, parameters, .. } | Self::Patch { object, parameters, .. } => {
                Ok(with_subresource(object_path(collection, object)?, parameters.subresource.as_deref()))
            }
            Self::Delete { object, .. } => object_path(collection, object),
            Self::DeleteCollection { narrow, .. } => {
                Ok(list_in(collection, ListRequest { narrow: Some(narrow.clone()), ..ListRequest::default() }).0)
            }
        }
    }

    /// The query, without the question mark. `selection` is that of the resource, `extra` is appended as it is given.
    pub fn query(&self, collection: &str, selection: &Selection, extra: &[(String, String)]) -> String {
        match self {
            Self::Create { parameters, .. } | Self::Update { parameters, .. } => write_query(parameters, false, extra),
            Self::Patch { parameters, patch, .. } => write_query(parameters, patch.force, extra),
            Self::Delete { .. } => write_query(&WriteParameters::default(), false, extra),
            Self::DeleteCollection { narrow, .. } => {
                let (_, request) = list_in(collection, ListRequest { narrow: Some(narrow.clone()), ..ListRequest::default() });
                collection_query(selection, request.narrow.as_ref(), extra)
            }
        }
    }

    /// The body.
    pub fn body(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Create { document, .. } | Self::Update { document, .. } => document.into(),
            Self::Patch { patch, .. } => (&patch.document).into(),
            Self::Delete { options, .. } | Self::DeleteCollection { options, .. } => options.document().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::request::Narrow;
    use crate::source::write::{ObjectName, Patch};

    #[test]
    fn delete_options_say_what_is_set_and_nothing_else() {
        let text = |options: &DeleteOptions| String::from_utf8(options.document()).unwrap();
        assert_eq!(text(&DeleteOptions::default()), r#"{"kind":"DeleteOptions","apiVersion":"v1"}"#);
        let options = DeleteOptions {
            preconditions: Preconditions { uid: Some("u".into()), resource_version: Some("7".into()) },
            grace_period_seconds: Some(0),
            propagation_policy: Some("Orphan".into()),
            dry_run: true,
        };
        assert_eq!(
            text(&options),
            r#"{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"},"gracePeriodSeconds":0,"propagationPolicy":"Orphan","dryRun":["All"]}"#
        );
    }

    fn told(write: WriteRequest) -> String {
        let selection = Selection { labels: Some("app=web".into()), fields: None };
        let (method, path) = (write.method(), write.path("/api/v1/pods").unwrap());
        let (query, content) = (write.query("/api/v1/pods", &selection, &[]), write.content_type());
        format!("{method} {path}?{query} {content} {}", String::from_utf8(write.body().into_owned()).unwrap())
    }

    fn object() -> ObjectName {
        ObjectName { namespace: "ns".into(), name: "x".into() }
    }

    fn create(of: Option<&str>, parameters: WriteParameters) -> WriteRequest {
        WriteRequest::Create { namespace: "ns".into(), of: of.map(Into::into), document: b"new".to_vec(), parameters }
    }

    #[test]
    fn a_write_is_a_method_a_path_a_query_and_a_body() {
        let plain = WriteParameters::default;
        assert_eq!(told(create(None, plain())), "POST /api/v1/namespaces/ns/pods?pretty=false application/json new");
        assert_eq!(
            told(WriteRequest::Update { object: object(), document: b"changed".to_vec(), parameters: plain() }),
            "PUT /api/v1/namespaces/ns/pods/x?pretty=false application/json changed"
        );
        assert_eq!(
            told(WriteRequest::Delete { object: object(), options: DeleteOptions::default() }),
            r#"DELETE /api/v1/namespaces/ns/pods/x?pretty=false application/json {"kind":"DeleteOptions","apiVersion":"v1"}"#
        );
    }

    #[test]
    fn what_else_a_write_says_stands_in_its_query() {
        let parameters = WriteParameters {
            subresource: Some("status".into()),
            dry_run: true,
            field_manager: Some("a b".into()),
            field_validation: Some("Strict".into()),
        };
        let query = "fieldManager=a+b&fieldValidation=Strict&dryRun=All&pretty=false";
        assert_eq!(
            told(WriteRequest::Update { object: object(), document: Vec::new(), parameters: parameters.clone() }),
            format!("PUT /api/v1/namespaces/ns/pods/x/status?{query} application/json ")
        );
        let eviction = WriteParameters { subresource: Some("eviction".into()), ..WriteParameters::default() };
        assert_eq!(told(create(Some("x"), eviction)), "POST /api/v1/namespaces/ns/pods/x/eviction?pretty=false application/json new");
        // What would lead elsewhere is one segment of the path.
        let elsewhere = WriteParameters { subresource: Some("../../secrets".into()), ..WriteParameters::default() };
        assert!(told(create(Some("x"), elsewhere)).starts_with("POST /api/v1/namespaces/ns/pods/x/..%2F..%2Fsecrets?"));
    }

    #[test]
    fn a_patch_says_by_its_type_how_to_read_it() {
        let patch = |kind, force| {
            let patch = Patch { kind, document: b"{}".to_vec(), force };
            let parameters = WriteParameters { field_manager: Some("me".into()), ..WriteParameters::default() };
            told(WriteRequest::Patch { object: object(), patch, parameters })
        };
        let path = "PATCH /api/v1/namespaces/ns/pods/x?fieldManager=me";
        assert_eq!(patch(PatchType::Merge, false), format!("{path}&pretty=false application/merge-patch+json {{}}"));
        assert_eq!(patch(PatchType::Strategic, false), format!("{path}&pretty=false application/strategic-merge-patch+json {{}}"));
        assert_eq!(patch(PatchType::Json, false), format!("{path}&pretty=false application/json-patch+json {{}}"));
        assert_eq!(patch(PatchType::Apply, true), format!("{path}&force=true&pretty=false application/apply-patch+yaml {{}}"));
    }

    #[test]
    fn a_part_of_a_resource_is_deleted_where_its_list_is_read_and_by_the_selectors_of_both() {
        let narrow = Narrow { labels: Some("tier=a".into()), namespace: Some("ns".into()), ..Narrow::default() };
        assert_eq!(
            told(WriteRequest::DeleteCollection { narrow, options: DeleteOptions::default() }),
            "DELETE /api/v1/namespaces/ns/pods?labelSelector=app%3Dweb%2Ctier%3Da&pretty=false application/json \
             {\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}"
        );
    }
}
