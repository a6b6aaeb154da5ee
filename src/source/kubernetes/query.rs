//! Queries: what is asked for beside the path.

use crate::selector::field::escape;
use crate::source::request::{ListRequest, Narrow, WatchRequest};
use crate::source::write::WriteParameters;

/// Which objects of the resource: the selectors, evaluated by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// `labelSelector`.
    pub labels: Option<String>,
    /// `fieldSelector`.
    pub fields: Option<String>,
}

/// The query of a list, without the question mark. `extra` is appended as it is given.
pub fn list_query(request: &ListRequest, selection: &Selection, extra: &[(String, String)]) -> String {
    let mut query = Query::new(&narrowed(selection, request.narrow.as_ref()));
    query.set("resourceVersion", request.resource_version.as_deref());
    query.set("resourceVersionMatch", request.resource_version_match.as_deref());
    query.set("limit", request.limit.map(|limit| limit.to_string()).as_deref());
    query.set("continue", request.continue_token.as_deref());
    // Servers indent their answers for browsers unless they are told not to.
    query.set("pretty", Some("false"));
    query.finish(extra)
}

/// The query of a watch, without the question mark. `extra` is appended as it is given.
pub fn watch_query(request: &WatchRequest, selection: &Selection, extra: &[(String, String)]) -> String {
    let mut query = Query::new(selection);
    query.set("watch", Some("1"));
    query.set("resourceVersion", Some(request.resource_version.as_str()).filter(|version| !version.is_empty()));
    query.set("resourceVersionMatch", request.resource_version_match.as_deref());
    query.set("sendInitialEvents", request.send_initial_events.map(|send| if send { "true" } else { "false" }));
    query.set("allowWatchBookmarks", request.allow_watch_bookmarks.then_some("true"));
    query.set("timeoutSeconds", Some(&request.timeout_seconds.to_string()));
    query.finish(extra)
}

/// The query of a request about one object, without the question mark. Selectors belong to collections.
pub fn object_query(extra: &[(String, String)]) -> String {
    let mut query = Query::new(&Selection::default());
    query.set("pretty", Some("false"));
    query.finish(extra)
}

/// The query of a write to one object, without the question mark. `force` is that of an apply.
pub(super) fn write_query(parameters: &WriteParameters, force: bool, extra: &[(String, String)]) -> String {
    let mut query = Query::new(&Selection::default());
    query.set("fieldManager", parameters.field_manager.as_deref());
    query.set("fieldValidation", parameters.field_validation.as_deref());
    query.set("force", force.then_some("true"));
    query.set("dryRun", parameters.dry_run.then_some("All"));
    query.set("pretty", Some("false"));
    query.finish(extra)
}

/// The query of a write to a part of the resource, without the question mark.
pub(super) fn collection_query(selection: &Selection, narrow: Option<&Narrow>, extra: &[(String, String)]) -> String {
    let mut query = Query::new(&narrowed(selection, narrow));
    query.set("pretty", Some("false"));
    query.finish(extra)
}

/// Both selections at once.
fn narrowed(selection: &Selection, narrow: Option<&Narrow>) -> Selection {
    let Some(narrow) = narrow else { return selection.clone() };
    let join = |parts: [Option<String>; 3]| {
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join(","))
    };
    let term = |field: &str, value: &Option<String>| value.as_ref().map(|value| format!("{field}={}", escape(value)));
    Selection {
        labels: join([selection.labels.clone(), narrow.labels.clone(), None]),
        fields: join([selection.fields.clone(), narrow.fields.clone(), term("metadata.name", &narrow.name)]),
    }
}

struct Query(form_urlencoded::Serializer<'static, String>);

impl Query {
    fn new(selection: &Selection) -> Self {
        let mut query = Self(form_urlencoded::Serializer::new(String::new()));
        query.set("labelSelector", selection.labels.as_deref().filter(|text| !text.is_empty()));
        query.set("fieldSelector", selection.fields.as_deref().filter(|text| !text.is_empty()));
        query
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.0.append_pair(name, value);
        }
    }

    fn finish(mut self, extra: &[(String, String)]) -> String {
        for (name, value) in extra {
            self.set(name, Some(value));
        }
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_resource_is_asked_for_by_both_selections_at_once() {
        let selection = Selection { labels: Some("app=web".into()), fields: None };
        let narrow = Narrow {
            labels: Some("tier in (a)".into()),
            fields: Some("spec.nodeName=n1".into()),
            namespace: Some("ns".into()),
            name: Some("x".into()),
        };
        let both = narrowed(&selection, Some(&narrow));
        assert_eq!(both.labels.as_deref(), Some("app=web,tier in (a)"));
        assert_eq!(both.fields.as_deref(), Some("spec.nodeName=n1,metadata.name=x"));
        assert_eq!(narrowed(&selection, None), selection);
    }

    #[test]
    fn wir_05_queries_carry_what_is_set_and_are_encoded() {
        let selection = Selection { labels: Some("name in (foo,bar),x!=y".into()), fields: Some("Host=".into()) };
        let request = ListRequest { limit: Some(500), continue_token: Some("a+b/c=".into()), ..ListRequest::default() };
        assert_eq!(
            list_query(&request, &selection, &[]),
            "labelSelector=name+in+%28foo%2Cbar%29%2Cx%21%3Dy&fieldSelector=Host%3D&limit=500&continue=a%2Bb%2Fc%3D&pretty=false"
        );
        let exact =
            ListRequest { resource_version: Some("7".into()), resource_version_match: Some("Exact".into()), ..ListRequest::default() };
        assert_eq!(list_query(&exact, &Selection::default(), &[]), "resourceVersion=7&resourceVersionMatch=Exact&pretty=false");
        assert_eq!(list_query(&ListRequest::default(), &Selection::default(), &[]), "pretty=false");
        let watch = WatchRequest { resource_version: "314159".into(), timeout_seconds: 300, ..WatchRequest::default() };
        assert_eq!(
            watch_query(&watch, &selection, &[]),
            "labelSelector=name+in+%28foo%2Cbar%29%2Cx%21%3Dy&fieldSelector=Host%3D&watch=1&resourceVersion=314159&timeoutSeconds=300"
        );
    }

    #[test]
    fn ref_13_a_watch_names_version_bookmarks_and_timeout() {
        let request = WatchRequest {
            resource_version: "314159".into(),
            allow_watch_bookmarks: true,
            timeout_seconds: 412,
            ..WatchRequest::default()
        };
        assert_eq!(
            watch_query(&request, &Selection::default(), &[("cluster".into(), "a b".into())]),
            "watch=1&resourceVersion=314159&allowWatchBookmarks=true&timeoutSeconds=412&cluster=a+b"
        );
    }

    /// Over a WebSocket nothing but whole objects can come, and over fetch nothing else is asked for. A watch that begins with the state is
    /// asked of a WebSocket only. Fetch may get it compressed in pieces, of which it reads one.
    #[test]
    fn wir_09_only_who_is_told_to_asks_for_the_state() {
        let plain = watch_query(&WatchRequest { resource_version: "7".into(), ..WatchRequest::default() }, &Selection::default(), &[]);
        assert!(!plain.contains("sendInitialEvents") && !plain.contains("resourceVersionMatch"), "{plain}");
        let request = WatchRequest {
            resource_version_match: Some("NotOlderThan".into()),
            send_initial_events: Some(true),
            allow_watch_bookmarks: true,
            timeout_seconds: 300,
            ..WatchRequest::default()
        };
        assert_eq!(
            watch_query(&request, &Selection::default(), &[]),
            "watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=300"
        );
    }
}
