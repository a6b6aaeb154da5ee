//! Errors: the API's Status object, and the stable codes that callers branch on.
//!
//! Imports: json, version.

use std::fmt;

use crate::json::value::Value;
use crate::json::write::Document;
use crate::version::VersionError;

/// What a caller branches on. The text of [`ErrorCode::as_str`] is part of the public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// 410: the version asked for is older than what is kept.
    Expired,
    /// 504: the version asked for has not arrived in time, or the server gave up.
    Timeout,
    /// 429: not ready, or throttled; carries a Retry-After.
    TooManyRequests,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 409.
    Conflict,
    /// 400, 405 and 422: the request itself is wrong.
    Invalid,
    /// No answer: refused, reset, closed, timed out on the way.
    Network,
    /// An answer that breaks the list+watch protocol.
    Protocol,
    /// An answer that is no JSON, or no object.
    Decode,
    /// A bounded queue was full.
    Overflow,
    /// 5xx.
    Unavailable,
    /// Memory is bounded, and the bound was reached.
    OutOfMemory,
    /// The cache or the resource was closed.
    Closed,
    /// A fault of this library.
    Internal,
}

impl ErrorCode {
    /// The code as it stands in `WatchCacheError.code`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Timeout => "timeout",
            Self::TooManyRequests => "too-many-requests",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Network => "network",
            Self::Protocol => "protocol",
            Self::Decode => "decode",
            Self::Overflow => "overflow",
            Self::Unavailable => "unavailable",
            Self::OutOfMemory => "out-of-memory",
            Self::Closed => "closed",
            Self::Internal => "internal",
        }
    }

    /// Whether trying again later, unchanged, can succeed.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::Expired
                | Self::Timeout
                | Self::TooManyRequests
                | Self::Network
                | Self::Protocol
                | Self::Decode
                | Self::Overflow
                | Self::Unavailable
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One cause of a [`Status`], as in `details.causes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// A machine-readable word, e.g. `ResourceVersionTooLarge`.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// The field that is wrong, in the form `metadata.name`.
    pub field: String,
}

/// `details` of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The object's name.
    pub name: Option<String>,
    /// The object's API group.
    pub group: Option<String>,
    /// The object's kind or resource.
    pub kind: Option<String>,
    /// The object's uid.
    pub uid: Option<String>,
    /// Why, in parts.
    pub causes: Vec<Cause>,
    /// Seconds to wait before trying again.
    pub retry_after_seconds: Option<u32>,
}

impl Details {
    fn to_json(&self) -> String {
        let mut document = Document::new();
        for (name, value) in [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)] {
            document.optional(name, value.as_deref());
        }
        if !self.causes.is_empty() {
            let cause = |cause: &Cause| {
                let mut document = Document::new();
                document.filled("reason", &cause.reason).filled("message", &cause.message).filled("field", &cause.field).finish()
            };
            document.raw("causes", &format!("[{}]", self.causes.iter().map(cause).collect::<Vec<_>>().join(",")));
        }
        if let Some(seconds) = self.retry_after_seconds {
            document.raw("retryAfterSeconds", &seconds.to_string());
        }
        document.finish()
    }
}

fn causes(given: &Value) -> Option<Vec<Cause>> {
    let text = |of: &Value, name: &str| of.text(name).map(|text| text.unwrap_or_default().to_string());
    match given {
        Value::Null => Some(Vec::new()),
        Value::List(given) => given
            .iter()
            .map(|given| Some(Cause { reason: text(given, "reason")?, message: text(given, "message")?, field: text(given, "field")? }))
            .collect(),
        _ => None,
    }
}

/// `metadata` of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// With 410 to a further page: the token that goes on from there at the newest version instead.
    pub continue_token: Option<String>,
}

/// The API's answer to a request that failed: `metav1.Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// A sentence for people.
    pub message: String,
    /// A machine-readable word, e.g. `Expired`.
    pub reason: String,
    /// More about it.
    pub details: Option<Details>,
    /// The HTTP code.
    pub code: u16,
    /// About the list that was asked for.
    pub metadata: Metadata,
}

const TOO_LARGE: &str = "Too large resource version";

impl Status {
    /// A failure with this code, reason and message.
    #[cold]
    #[inline(never)]
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), message: message.into(), details: None, metadata: Metadata::default() }
    }

    /// 410 Expired for a watch: `too old resource version: asked (oldest)`.
    #[cold]
    #[inline(never)]
    pub fn too_old(asked: impl fmt::Display, oldest: impl fmt::Display) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// 504 Timeout for a version that has not arrived within the limit of waiting.
    #[cold]
    #[inline(never)]
    pub fn too_large(asked: impl fmt::Display, current: impl fmt::Display) -> Self {
        let mut status = Self::new(504, "Timeout", format!("Timeout: {TOO_LARGE}: {asked}, current: {current}"));
        status.details = Some(Details {
            causes: vec![Cause { reason: "ResourceVersionTooLarge".into(), message: TOO_LARGE.into(), field: String::new() }],
            retry_after_seconds: Some(1),
            ..Details::default()
        });
        status
    }

    /// 429 TooManyRequests with its Retry-After.
    #[cold]
    #[inline(never)]
    pub fn too_many_requests(message: impl Into<String>, seconds: u32) -> Self {
        let mut status = Self::new(429, "TooManyRequests", message);
        status.details = Some(Details { retry_after_seconds: Some(seconds), ..Details::default() });
        status
    }

    /// 400 BadRequest.
    #[cold]
    #[inline(never)]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 422 Invalid for `ListOptions` that the API's validation refuses: one cause a fault of this field, as `(reason, message)`. One fault
    /// stands in the message as it is, several in brackets.
    pub fn invalid_options(field: &str, faults: Vec<(&str, String)>) -> Self {
        let each: Vec<String> = faults.iter().map(|(_, message)| format!("{field}: {message}")).collect();
        let all = if each.len() == 1 { each.concat() } else { format!("[{}]", each.join(", ")) };
        let mut status = Self::new(422, "Invalid", format!("ListOptions.meta.k8s.io \"\" is invalid: {all}"));
        let causes = faults.into_iter().map(|(reason, message)| Cause { reason: reason.into(), message, field: field.into() }).collect();
        let (group, kind) = (Some("meta.k8s.io".into()), Some("ListOptions".into()));
        status.details = Some(Details { group, kind, causes, ..Details::default() });
        status
    }

    /// 500 InternalError.
    #[cold]
    #[inline(never)]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// 404 NotFound for a key.
    #[cold]
    #[inline(never)]
    pub fn not_found(resource: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} \"{name}\" not found"))
    }

    /// Reads a Status document; `None` when the bytes are another kind of document.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let document = Value::parse(document).ok()?;
        (document.text("kind") == Some(Some("Status"))).then(|| Self::read(&document)).flatten()
    }

    /// Reads the members of a Status, whatever kind the document says it is; `None` when one of them is not what it should be.
    pub(crate) fn read(document: &Value) -> Option<Self> {
        let text = |of: &Value, name: &str| of.text(name).map(|text| text.map(str::to_string));
        let metadata = match document.get("metadata") {
            Value::Null => Metadata::default(),
            given => Metadata { continue_token: text(given, "continue")? },
        };
        let details = match document.get("details") {
            Value::Null => None,
            given @ Value::Map(_) => Some(Details {
                name: text(given, "name")?,
                group: text(given, "group")?,
                kind: text(given, "kind")?,
                uid: text(given, "uid")?,
                causes: causes(given.get("causes"))?,
                retry_after_seconds: given.number("retryAfterSeconds")?,
            }),
            _ => return None,
        };
        Some(Self {
            message: text(document, "message")?.unwrap_or_default(),
            reason: text(document, "reason")?.unwrap_or_default(),
            details,
            code: u16::try_from(document.number("code")?.unwrap_or_default()).ok()?,
            metadata,
        })
    }

    /// The Status as the JSON document an ERROR event carries.
    pub fn to_json(&self) -> String {
        let mut document = Document::new();
        document.text("kind", "Status").text("apiVersion", "v1");
        // Servers always write it; what stands in the Status itself must not stand twice.
        if self.metadata == Metadata::default() {
            document.raw("metadata", "{}");
        }
        document.text("status", "Failure");
        self.write(&mut document);
        document.finish()
    }

    /// Its members alone, those that are set, as a JSON document.
    pub fn members(&self) -> String {
        let mut document = Document::new();
        self.write(&mut document);
        document.finish()
    }

    /// In the order in which an apiserver writes them.
    fn write(&self, document: &mut Document) {
        document.text("message", &self.message).filled("reason", &self.reason);
        if let Some(details) = &self.details {
            document.raw("details", &details.to_json());
        }
        document.raw("code", &self.code.to_string());
        if let Some(token) = &self.metadata.continue_token {
            document.raw("metadata", &Document::new().text("continue", token).finish());
        }
    }

    /// Reason Expired or Gone, or code 410 without a reason: the version is no longer kept.
    pub fn is_expired(&self) -> bool {
        matches!(self.reason.as_str(), "Expired" | "Gone") || (self.reason.is_empty() && self.code == 410)
    }

    /// The server has not reached the version yet: the cause, or (servers before 1.18.6) the message, says so.
    pub fn is_too_large(&self) -> bool {
        if self.reason != "Timeout" {
            return false;
        }
        self.message.contains(TOO_LARGE)
            || self
                .details
                .iter()
                .flat_map(|details| &details.causes)
                .any(|cause| cause.reason == "ResourceVersionTooLarge" || cause.message.contains(TOO_LARGE))
    }

    /// Seconds the server asks to wait.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.details.as_ref().and_then(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0)
    }

    /// The stable code of this failure.
    pub fn error_code(&self) -> ErrorCode {
        if self.is_expired() {
            return ErrorCode::Expired;
        }
        match self.code {
            400 | 405 | 406 | 413 | 415 | 422 => ErrorCode::Invalid,
            401 => ErrorCode::Unauthorized,
            403 => ErrorCode::Forbidden,
            404 => ErrorCode::NotFound,
            409 | 412 => ErrorCode::Conflict,
            410 => ErrorCode::Expired,
            429 => ErrorCode::TooManyRequests,
            408 | 504 => ErrorCode::Timeout,
            500 if self.reason == "InternalError" => ErrorCode::Unavailable,
            500..=599 => ErrorCode::Unavailable,
            _ => ErrorCode::Protocol,
        }
    }
}

/// Every failure that leaves this library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What kind of failure.
    pub code: ErrorCode,
    /// A sentence for people; never holds a token.
    pub message: String,
    /// The server's own words, where it had any.
    pub status: Option<Box<Status>>,
    /// Seconds to wait before trying again, where somebody asked for it.
    pub retry_after_seconds: Option<u32>,
}

impl Error {
    /// A failure without a Status.
    #[cold]
    #[inline(never)]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), status: None, retry_after_seconds: None }
    }

    /// No answer came.
    #[cold]
    #[inline(never)]
    pub fn network(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Network, message)
    }

    /// The host gives no more memory.
    pub fn out_of_memory(bytes: usize) -> Self {
        Self::new(ErrorCode::OutOfMemory, format!("there is no memory for {bytes} bytes more"))
    }

    /// An answer that is not what the protocol allows.
    #[cold]
    #[inline(never)]
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Protocol, message)
    }

    /// An answer that cannot be read.
    #[cold]
    #[inline(never)]
    pub fn decode(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Decode, message)
    }

    /// A get or a watch names what is no version: 500 without a reason, as in the apiserver. Trying again would not help, so the code says
    /// what is wrong. (In a list it is 400.)
    pub fn no_version(error: &VersionError) -> Self {
        Self { code: ErrorCode::Invalid, ..Status::new(500, "", error.to_string()).into() }
    }

    /// The cache or resource is closed.
    #[cold]
    #[inline(never)]
    pub fn closed() -> Self {
        Self::new(ErrorCode::Closed, "the watch cache is closed")
    }

    /// Whether trying again later can succeed.
    pub const fn retryable(&self) -> bool {
        self.code.retryable()
    }

    /// Whether waiting cures nothing: a mistake on this side, such as of the user's `auth`, or a server that knows no such request.
    pub fn is_mistake(&self) -> bool {
        self.code == ErrorCode::Invalid && self.status.as_ref().is_none_or(|status| status.code == 405)
    }
}

impl From<Status> for Error {
    #[cold]
    #[inline(never)]
    fn from(status: Status) -> Self {
        Self {
            code: status.error_code(),
            message: status.message.clone(),
            retry_after_seconds: status.retry_after_seconds(),
            status: Some(Box::new(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_document_round_trips_and_other_documents_are_none() {
        let status = Status::too_old("1", "2");
        let text = status.to_json();
        assert_eq!(
            text,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (2)","reason":"Expired","code":410}"#
        );
        assert_eq!(Status::parse(text.as_bytes()), Some(status));
        let mut continued = Status::new(410, "Expired", "");
        continued.metadata.continue_token = Some("abc".into());
        assert_eq!(continued.to_json().matches("metadata").count(), 1);
        assert_eq!(Status::parse(continued.to_json().as_bytes()), Some(continued));
        assert_eq!(Status::parse(br#"{"kind":"Pod","metadata":{}}"#), None);
        assert_eq!(Status::parse(b"<html>"), None);
    }

    #[test]
    fn ref_04_too_large_is_known_by_cause_and_by_the_two_older_messages() {
        assert!(Status::too_large("5", "2").is_too_large());
        let old = Status::new(504, "Timeout", "Too large resource version: 1000, current: 200");
        assert!(old.is_too_large());
        let mut cause = Status::new(504, "Timeout", "Timeout: waiting");
        cause.details = Some(Details { causes: vec![Cause { message: TOO_LARGE.into(), ..Cause::default() }], ..Details::default() });
        assert!(cause.is_too_large());
        assert!(!Status::new(504, "Timeout", "request did not complete").is_too_large());
    }

    #[test]
    fn codes_follow_the_http_code_and_reasons_win() {
        for (status, code) in [
            (Status::new(410, "Expired", ""), ErrorCode::Expired),
            (Status::new(410, "Gone", ""), ErrorCode::Expired),
            (Status::new(401, "Unauthorized", ""), ErrorCode::Unauthorized),
            (Status::new(404, "NotFound", ""), ErrorCode::NotFound),
            (Status::new(405, "MethodNotAllowed", ""), ErrorCode::Invalid),
            (Status::new(422, "Invalid", ""), ErrorCode::Invalid),
            (Status::new(503, "ServiceUnavailable", ""), ErrorCode::Unavailable),
            (Status::new(504, "Timeout", ""), ErrorCode::Timeout),
        ] {
            assert_eq!(Error::from(status).code, code);
        }
    }

    #[test]
    fn retry_after_comes_from_the_details() {
        let error = Error::from(Status::too_many_requests("storage is (re)initializing", 3));
        assert_eq!((error.code, error.retry_after_seconds), (ErrorCode::TooManyRequests, Some(3)));
        assert!(error.retryable());
    }
}
