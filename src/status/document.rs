//! `metav1.Status`: how the API answers a request that failed.

use std::fmt;

use super::code::ErrorCode;
use crate::json::bytes::holds;
use crate::json::value::Value;
use crate::json::write::Document;

/// One cause of a [`Status`], as in `details.causes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// A word for programs, such as `ResourceVersionTooLarge`.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// The field that is wrong, such as `metadata.name`.
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
    /// The causes.
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
    /// A 410 for a further page can have it: the token of the next page at the newest version.
    pub continue_token: Option<String>,
}

/// The API's answer to a request that failed: `metav1.Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// A sentence for people.
    pub message: String,
    /// A word for programs, such as `Expired`.
    pub reason: String,
    /// Details, if there are any.
    pub details: Option<Details>,
    /// The HTTP code.
    pub code: u16,
    /// The metadata of the failed list.
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

    /// 504 Timeout: the version did not arrive within the maximum wait.
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

    /// 422 Invalid for `ListOptions` that the API's validation refuses. Each fault of the field is a `(reason, message)` and becomes one
    /// cause. The message has a single fault as it is, and several in brackets.
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

    /// 404 NotFound for an object of this resource and group, with the words and the `details` of an apiserver. `None`: the core group.
    pub fn not_found_in(resource: &str, group: Option<&str>, name: &str) -> Self {
        let mut status = match group {
            Some(group) => Self::not_found(&format!("{resource}.{group}"), name),
            None => Self::not_found(resource, name),
        };
        let (name, kind, group) = (Some(name.to_string()), Some(resource.to_string()), group.map(Into::into));
        status.details = Some(Details { name, group, kind, ..Details::default() });
        status
    }

    /// Reads a Status document; `None` if it is a document of another kind.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let document = Value::parse(document).ok()?;
        (document.text("kind") == Some(Some("Status"))).then(|| Self::read(&document)).flatten()
    }

    /// Reads the members of a Status and ignores `kind`. `None` if a member has the wrong type.
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

    /// The Status as the JSON document of an ERROR event.
    pub fn to_json(&self) -> String {
        let mut document = Document::new();
        document.text("kind", "Status").text("apiVersion", "v1");
        // Servers always write this member. If the Status has metadata, `write` adds them below.
        if self.metadata == Metadata::default() {
            document.raw("metadata", "{}");
        }
        document.text("status", "Failure");
        self.write(&mut document);
        document.finish()
    }

    /// The members that are set, as a JSON document.
    pub fn members(&self) -> String {
        let mut document = Document::new();
        self.write(&mut document);
        document.finish()
    }

    /// Writes the members in the apiserver's order.
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

    /// Whether the version is no longer held: reason Expired or Gone, or code 410 without a reason.
    pub fn is_expired(&self) -> bool {
        matches!(self.reason.as_str(), "Expired" | "Gone") || (self.reason.is_empty() && self.code == 410)
    }

    /// Whether the server has not reached the version yet. A cause says so by its reason, or by its message, or the message of
    /// servers before 1.18.6 does.
    pub fn is_too_large(&self) -> bool {
        if self.reason != "Timeout" {
            return false;
        }
        holds(&self.message, TOO_LARGE)
            || self
                .details
                .iter()
                .flat_map(|details| &details.causes)
                .any(|cause| cause.reason == "ResourceVersionTooLarge" || holds(&cause.message, TOO_LARGE))
    }

    /// Seconds to wait, if the server asks for a wait.
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
            500..=599 => ErrorCode::Unavailable,
            _ => ErrorCode::Protocol,
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
}
