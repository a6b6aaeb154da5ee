//! The Kubernetes wire: paths, queries, subprotocols, refusals and the framing of a streamed watch. No transport in here.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{ListRequest, Narrow, WatchRequest, buffers};
use crate::base64url;
use crate::selector::field::escape;
use crate::status::{Error, ErrorCode, Status};

/// The longest frame that is taken; beyond it the stream is given up, because memory is bounded. 64 MiB.
///
/// etcd refuses objects beyond 1.5 MB by default, so that only a stream that is no watch reaches this.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

const BEARER: &str = "base64url.bearer.authorization.k8s.io.";
// The apiserver wants one more subprotocol beside the token, and accepts exactly one. The name changes nothing for watches.
const BINARY: &str = "base64.binary.k8s.io";

/// What stays as it is in one segment of a path (RFC 3986, unreserved).
pub(super) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A resource of the API, all namespaces of it or one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourcePath {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the group, e.g. `v1`.
    pub version: String,
    /// The resource in plural, e.g. `pods`.
    pub resource: String,
    /// One namespace only.
    pub namespace: Option<String>,
}

impl ResourcePath {
    /// The path of the collection, e.g. `/apis/apps/v1/namespaces/web/deployments`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        let mut push = |segment: &str| {
            path.push('/');
            path.extend(utf8_percent_encode(segment, SEGMENT));
        };
        if self.group.is_empty() {
            push("api");
        } else {
            push("apis");
            push(&self.group);
        }
        push(&self.version);
        if let Some(namespace) = &self.namespace {
            push("namespaces");
            push(namespace);
        }
        push(&self.resource);
        path
    }
}

/// The namespace that a collection's path names.
pub fn namespace_of(path: &str) -> Option<&str> {
    let mut segments = path.rsplit('/');
    let (_resource, namespace, word) = (segments.next()?, segments.next()?, segments.next()?);
    // `/api/v1/namespaces` is a resource, `/apis/namespaces/v1/x` a group.
    (word == "namespaces" && !namespace.is_empty() && segments.clone().count() >= 3).then_some(namespace)
}

/// The path of a list, and what is left to its query: one namespace has a path of its own. A collection of one namespace has no path for
/// another one, and holds nothing of it, which its query then says.
pub fn list_in(path: &str, mut request: ListRequest) -> (String, ListRequest) {
    let Some(narrow) = &mut request.narrow else { return (path.to_string(), request) };
    let Some(namespace) = narrow.namespace.take() else { return (path.to_string(), request) };
    let path = match (namespace_of(path), path.rsplit_once('/')) {
        (None, Some((base, resource))) => format!("{base}/namespaces/{}/{resource}", utf8_percent_encode(&namespace, SEGMENT)),
        (own, _) => {
            if own.is_some_and(|own| own != namespace) {
                let term = format!("metadata.namespace={}", escape(&namespace));
                narrow.fields = Some(narrow.fields.take().map_or(term.clone(), |fields| format!("{fields},{term}")));
            }
            path.to_string()
        }
    };
    (path, request)
}

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

/// The WebSocket address of an HTTP one: `http` becomes `ws`, `https` becomes `wss`. `None` for another scheme.
pub fn websocket_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "ws" => Some(format!("ws:{rest}")),
        "https" | "wss" => Some(format!("wss:{rest}")),
        _ => None,
    }
}

/// The subprotocols to offer: the token as Kubernetes takes it from browsers, and the one that the server then picks.
///
/// A browser cannot set headers on a WebSocket, and a token in the address would be logged on its way. Nothing is offered
/// without a token, because servers take an empty one for anonymous.
pub fn subprotocols(token: Option<&str>) -> Vec<String> {
    match token {
        Some(token) if !token.is_empty() => vec![format!("{BEARER}{}", base64url::encode(token.as_bytes())), BINARY.into()],
        _ => Vec::new(),
    }
}

/// The `Retry-After` of an answer, in seconds: a number of them, or a date (RFC 9110, 10.2.3), counted from the answer's own `Date` or, where
/// that is missing or cannot be read, from `now_ms` of the wall clock. What has passed already, or is no such header, is none.
pub fn retry_after(header: Option<&str>, date: Option<&str>, now_ms: u64) -> Option<u32> {
    let header = header?.trim();
    let seconds = match header.parse::<u32>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let now = date.and_then(crate::time::http_date::parse).unwrap_or_else(|| i64::try_from(now_ms / 1000).unwrap_or(i64::MAX));
            u32::try_from(crate::time::http_date::parse(header)?.saturating_sub(now)).ok()?
        }
    };
    (seconds > 0).then_some(seconds)
}

/// What a refusal means. `retry_after` is what [`retry_after`] made of the header, `content_type` a header's value, `body` whatever of the
/// answer was read.
///
/// The apiserver answers with a Status, but what stands before it (flow control, proxies, login pages) with text or HTML.
/// Those are known by the HTTP code; their text is quoted only when it is plain and short.
pub fn error_from_response(http_code: u16, retry_after: Option<u32>, content_type: Option<&str>, body: &[u8]) -> Error {
    let mut error = match Status::parse(body) {
        Some(mut status) => {
            if status.code == 0 {
                status.code = http_code;
            }
            Error::from(status)
        }
        None if (200..400).contains(&http_code) => unexpected(http_code, content_type),
        None => {
            let message = match plain_text(content_type, body) {
                Some(text) => format!("HTTP {http_code}: {text}"),
                None => format!("HTTP {http_code}, answered with {} instead of a Status", media_type(content_type)),
            };
            Error::from(Status::new(http_code, reason(http_code), message))
        }
    };
    error.retry_after_seconds = error.retry_after_seconds.max(retry_after);
    error
}

/// Whether an answer with a good code can be what was asked for: `Some` when its content type says that it is not, as with
/// the page of a proxy or of a single-page application that answers every path with itself. A page that the request was led to by a
/// redirect asks for a sign-in: [`ErrorCode::Unauthorized`].
pub fn content_error(http_code: u16, content_type: Option<&str>, redirected: bool) -> Option<Error> {
    let media = media_type(content_type);
    let foreign = media.contains("html")
        || media == "text/xml"
        || media == "application/xml"
        || media.ends_with("protobuf")
        || media.contains("cbor");
    foreign.then(|| {
        if redirected && media.contains("html") {
            return Status::new(401, "Unauthorized", "the request was redirected to a page, as those are who have to sign in").into();
        }
        unexpected(http_code, content_type)
    })
}

fn unexpected(http_code: u16, content_type: Option<&str>) -> Error {
    let media = media_type(content_type);
    Error::new(
        ErrorCode::Protocol,
        format!("HTTP {http_code} with content type {media} is no answer of a Kubernetes API: expected application/json"),
    )
}

fn media_type(content_type: Option<&str>) -> String {
    let media = content_type.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if media.is_empty() { "an unknown content type".into() } else { media }
}

/// The body as one line of at most 200 characters, when it is text for people.
fn plain_text(content_type: Option<&str>, body: &[u8]) -> Option<String> {
    if content_type.is_some() && media_type(content_type) != "text/plain" {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty() && !line.starts_with(['<', '{', '['])).then(|| line.chars().take(200).collect())
}

/// The reason that the API machinery gives to a code.
fn reason(http_code: u16) -> &'static str {
    match http_code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Expired",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}

/// Cuts the body of a streamed watch into frames: one JSON document a line.
///
/// A line break cannot stand inside a JSON document of one line, so the cut needs no parsing. A rest without its line break
/// is a frame that was cut off by the end of the connection; whoever resumes the watch receives it again.
#[derive(Debug, Default)]
pub struct FrameSplitter {
    rest: Vec<u8>,
}

impl FrameSplitter {
    /// An empty one, for a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands over every frame that is whole now, without its line break. Empty lines are no frames.
    pub fn push(&mut self, chunk: &[u8], mut frame: impl FnMut(Vec<u8>)) -> Result<(), Error> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            let mut line = std::mem::take(&mut self.rest);
            buffers::reserve(&mut line, end - start)?;
            line.extend_from_slice(&chunk[start..end]);
            start = end + 1;
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                frame(line);
            }
        }
        buffers::reserve(&mut self.rest, chunk.len() - start)?;
        self.rest.extend_from_slice(&chunk[start..]);
        if self.rest.len() > MAX_FRAME_BYTES {
            self.rest = Vec::new();
            return Err(Error::protocol(format!("a watch frame is longer than {MAX_FRAME_BYTES} bytes")));
        }
        Ok(())
    }

    /// Bytes of a frame that has begun.
    pub fn pending(&self) -> usize {
        self.rest.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn a_namespace_has_its_path_in_the_collection() {
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

    #[test]
    fn paths_are_those_of_the_api() {
        let path = |group: &str, namespace: Option<&str>, resource: &str| {
            ResourcePath { group: group.into(), version: "v1".into(), resource: resource.into(), namespace: namespace.map(Into::into) }
                .path()
        };
        assert_eq!(path("", None, "pods"), "/api/v1/pods");
        assert_eq!(path("", Some("web"), "pods"), "/api/v1/namespaces/web/pods");
        assert_eq!(path("apps", Some("web"), "deployments"), "/apis/apps/v1/namespaces/web/deployments");
        assert_eq!(path("a.b-c.io", None, "things"), "/apis/a.b-c.io/v1/things");
        assert_eq!(path("", Some("../x?y#z"), "pods"), "/api/v1/namespaces/..%2Fx%3Fy%23z/pods");
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

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        const NOW_MS: u64 = 784_111_777_900;
        let read = |header, date| retry_after(Some(header), date, NOW_MS);
        assert_eq!(read("7", None), Some(7));
        assert_eq!(read(" 120 ", None), Some(120));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT", None), Some(60));
        // The server's clock is its own: an hour ahead of this one.
        assert_eq!(read("Sun, 06 Nov 1994 09:50:37 GMT", Some("Sun, 06 Nov 1994 09:50:07 GMT")), Some(30));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT", Some("yesterday")), Some(60));
        for header in ["0", "-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT", "99999999999"] {
            assert_eq!(read(header, None), None, "{header}");
        }
        assert_eq!(retry_after(None, None, NOW_MS), None);
    }

    /// Over a WebSocket nothing but whole objects can come, over fetch nothing else is asked for; and what begins with the state is asked of a
    /// WebSocket only, because fetch may get it compressed in pieces of which it reads one.
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

    #[test]
    fn wir_10_the_token_travels_as_a_subprotocol() {
        assert_eq!(subprotocols(Some("token")), ["base64url.bearer.authorization.k8s.io.dG9rZW4", "base64.binary.k8s.io"]);
        assert_eq!(subprotocols(Some("a?>~")), ["base64url.bearer.authorization.k8s.io.YT8-fg", "base64.binary.k8s.io"]);
        // What is no ASCII, too, and never padded: servers refuse that.
        assert_eq!(subprotocols(Some("ü"))[0], "base64url.bearer.authorization.k8s.io.w7w");
    }

    /// Servers take an empty token for anonymous, and refuse one that is offered alone.
    #[test]
    fn wir_12_without_a_token_nothing_is_offered_and_with_one_never_it_alone() {
        assert!(subprotocols(Some("")).is_empty());
        assert!(subprotocols(None).is_empty());
        assert_eq!(subprotocols(Some("t")).len(), 2);
    }

    #[test]
    fn websocket_addresses_keep_their_security() {
        assert_eq!(websocket_url("https://h:6443/api?a=b").as_deref(), Some("wss://h:6443/api?a=b"));
        assert_eq!(websocket_url("HTTP://h").as_deref(), Some("ws://h"));
        assert_eq!(websocket_url("ftp://h"), None);
        assert_eq!(websocket_url("/api/v1"), None);
    }

    #[test]
    fn a_status_answer_is_kept_and_the_header_wins_when_it_asks_for_more() {
        let body = Status::too_many_requests("storage is (re)initializing", 2).to_json();
        let error = error_from_response(429, Some(7), Some("application/json"), body.as_bytes());
        assert_eq!((error.code, error.retry_after_seconds), (ErrorCode::TooManyRequests, Some(7)));
        assert_eq!(error.message, "storage is (re)initializing");
        let error = error_from_response(410, None, Some("application/json"), Status::too_old("1", "2").to_json().as_bytes());
        assert_eq!((error.code, error.status.unwrap().code), (ErrorCode::Expired, 410));
    }

    #[test]
    fn flow_control_answers_in_plain_text() {
        let error = error_from_response(429, Some(1), Some("text/plain; charset=utf-8"), b"Too many requests, please try again later.\n");
        assert_eq!((error.code, error.retry_after_seconds), (ErrorCode::TooManyRequests, Some(1)));
        assert_eq!(error.message, "HTTP 429: Too many requests, please try again later.");
        let error = error_from_response(503, None, None, b"");
        assert_eq!((error.code, error.retry_after_seconds), (ErrorCode::Unavailable, None));
    }

    #[test]
    fn html_pages_are_known_by_their_code_and_named() {
        for (http_code, code) in [(502, ErrorCode::Unavailable), (401, ErrorCode::Unauthorized), (404, ErrorCode::NotFound)] {
            let error = error_from_response(http_code, None, Some("text/html"), b"<html><body>secret</body></html>");
            assert_eq!(error.code, code);
            assert_eq!(error.message, format!("HTTP {http_code}, answered with text/html instead of a Status"));
        }
        let error = error_from_response(200, None, Some("text/html; charset=utf-8"), b"<!doctype html>");
        assert_eq!(error.code, ErrorCode::Protocol);
        assert_eq!(error.message, "HTTP 200 with content type text/html is no answer of a Kubernetes API: expected application/json");
        assert_eq!(content_error(200, Some("text/html; charset=utf-8"), false), Some(error));
        let sign_in = content_error(200, Some("text/html; charset=utf-8"), true).unwrap();
        assert_eq!((sign_in.code, sign_in.status.unwrap().code), (ErrorCode::Unauthorized, 401));
        for redirected in [false, true] {
            assert_eq!(content_error(200, Some("application/json;stream=watch"), redirected), None);
            assert_eq!(content_error(200, None, redirected), None);
        }
    }

    #[test]
    fn a_frame_without_end_is_given_up() {
        let mut splitter = FrameSplitter::new();
        let chunk = vec![b'x'; MAX_FRAME_BYTES];
        splitter.push(&chunk, |_| panic!("no frame is whole")).unwrap();
        let error = splitter.push(b"x", |_| panic!("no frame is whole")).unwrap_err();
        assert_eq!((error.code, splitter.pending()), (ErrorCode::Protocol, 0));
    }

    proptest! {
        #[test]
        fn law_04_split_frames_do_not_depend_on_chunks(
            lines in prop::collection::vec("[a-z{}\":, ]{0,20}", 0..12),
            cuts in prop::collection::vec(1usize..9, 1..40),
            crlf in any::<bool>(),
            tail in "[a-z]{0,5}",
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut body: Vec<u8> = lines.iter().flat_map(|line| [line.as_str(), end].concat().into_bytes()).collect();
            body.extend_from_slice(tail.as_bytes());
            let expected: Vec<Vec<u8>> =
                lines.iter().filter(|line| !line.trim().is_empty()).map(|line| line.as_bytes().to_vec()).collect();

            let mut splitter = FrameSplitter::new();
            let mut frames = Vec::new();
            let mut rest = body.as_slice();
            for cut in cuts.iter().cycle() {
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                splitter.push(chunk, |frame| frames.push(frame)).unwrap();
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(frames, expected);
            prop_assert_eq!(splitter.pending(), tail.len());
        }
    }
}
