//! Paths: of collections, of one namespace in them, and of one object.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::selector::field::escape;
use crate::source::request::ListRequest;
use crate::source::write::ObjectName;
use crate::status::{Error, Status};

/// What stays as it is in one segment of a path (RFC 3986, unreserved).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The namespace that a collection's path names.
pub fn namespace_of(path: &str) -> Option<&str> {
    let mut segments = path.rsplit('/');
    let (_resource, namespace, word) = (segments.next()?, segments.next()?, segments.next()?);
    // `/api/v1/namespaces` is a resource, `/apis/namespaces/v1/x` a group.
    (word == "namespaces" && !namespace.is_empty() && segments.clone().count() >= 3).then_some(namespace)
}

/// The API group that a collection's path names; `None`: the core one.
pub fn group_of(path: &str) -> Option<&str> {
    path.strip_prefix("/apis/")?.split('/').next()
}

/// The path of one namespace in a collection of all of them; `None` where the collection is of one namespace already.
pub fn in_namespace(collection: &str, namespace: &str) -> Option<String> {
    if namespace_of(collection).is_some() {
        return None;
    }
    let (base, resource) = collection.rsplit_once('/')?;
    Some(format!("{base}/namespaces/{}/{resource}", utf8_percent_encode(namespace, SEGMENT)))
}

/// The path of a list, and what is left to its query. One namespace has a path of its own. A collection of one namespace holds nothing of
/// another, and the query says so.
pub fn list_in(path: &str, mut request: ListRequest) -> (String, ListRequest) {
    let Some(narrow) = &mut request.narrow else { return (path.to_string(), request) };
    let Some(namespace) = narrow.namespace.take() else { return (path.to_string(), request) };
    if let Some(path) = in_namespace(path, &namespace) {
        return (path, request);
    }
    if namespace_of(path).is_some_and(|own| own != namespace) {
        let term = format!("metadata.namespace={}", escape(&namespace));
        narrow.fields = Some(narrow.fields.take().map_or(term.clone(), |fields| format!("{fields},{term}")));
    }
    (path.to_string(), request)
}

/// The path of one object.
pub fn object_path(collection: &str, object: &ObjectName) -> Result<String, Error> {
    path_of(collection, &object.namespace, Some(&object.name))
}

/// The path of a part of an object that has an address of its own.
pub fn with_subresource(mut path: String, subresource: Option<&str>) -> String {
    if let Some(subresource) = subresource {
        path.push('/');
        path.extend(utf8_percent_encode(subresource, SEGMENT));
    }
    path
}

/// The path of a write. The collection of all namespaces is read under `/api/v1/pods` and written under `/api/v1/namespaces/x/pods`.
pub(super) fn path_of(collection: &str, namespace: &str, name: Option<&str>) -> Result<String, Error> {
    let mut path = collection.to_string();
    if !namespace.is_empty() {
        if namespace_of(collection).is_some_and(|own| own != namespace) {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Status::bad_request(message).into());
        }
        path = in_namespace(collection, namespace).unwrap_or(path);
    }
    if let Some(name) = name {
        path.push('/');
        path.extend(utf8_percent_encode(name, SEGMENT));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::request::Narrow;

    #[test]
    fn wir_05_a_namespace_has_its_path_in_the_collection() {
        for (path, namespace) in [
            ("/api/v1/pods", None),
            ("/api/v1/namespaces", None),
            ("/apis/apps/v1/deployments", None),
            ("/apis/namespaces/v1/things", None),
            ("/api/v1/namespaces/web/pods", Some("web")),
            ("/apis/apps/v1/namespaces/web/deployments", Some("web")),
        ] {
            assert_eq!(namespace_of(path), namespace, "{path}");
        }
        let groups = ["/api/v1/pods", "/apis/namespaces/v1/things", "/apis/apps/v1/namespaces/web/deployments"].map(group_of);
        assert_eq!(groups, [None, Some("namespaces"), Some("apps")]);
        let list = |path: &str, namespace: &str, fields: Option<&str>| {
            let narrow = Narrow { namespace: Some(namespace.into()), fields: fields.map(Into::into), ..Narrow::default() };
            let (path, request) = list_in(path, ListRequest { narrow: Some(narrow), ..ListRequest::default() });
            (path, request.narrow.unwrap().fields.unwrap_or_default())
        };
        let expect = |path: &str, fields: &str| (path.to_string(), fields.to_string());
        assert_eq!(list("/api/v1/pods", "web", Some("a=b")), expect("/api/v1/namespaces/web/pods", "a=b"));
        assert_eq!(list("/apis/apps/v1/deployments", "../x", None), expect("/apis/apps/v1/namespaces/..%2Fx/deployments", ""));
        assert_eq!(list("/api/v1/namespaces/web/pods", "web", None), expect("/api/v1/namespaces/web/pods", ""));
        let other = "metadata.namespace=other";
        assert_eq!(list("/api/v1/namespaces/web/pods", "other", None), expect("/api/v1/namespaces/web/pods", other));
        assert_eq!(
            list("/api/v1/namespaces/web/pods", "other", Some("a=b")),
            expect("/api/v1/namespaces/web/pods", &format!("a=b,{other}"))
        );
        assert_eq!(list_in("/api/v1/pods", ListRequest::default()), ("/api/v1/pods".to_string(), ListRequest::default()));
    }

    fn of(collection: &str, namespace: &str, name: Option<&str>) -> String {
        path_of(collection, namespace, name).unwrap()
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
        let error = path_of(collection, "other", Some("a")).unwrap_err();
        assert_eq!(error.message, "the namespace of the provided object does not match the namespace sent on the request");
        assert_eq!(error.code, crate::status::ErrorCode::Invalid);
    }
}
