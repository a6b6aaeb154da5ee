//! What the head of an answer means: refusals, when to come back, and the pages of proxies.

use crate::json::bytes::holds;
use crate::status::{Error, ErrorCode, Status};
use crate::time::{WallTime, http_date};

/// Bytes of a refusal's body that are read: a Status is small, and the page of a proxy is not worth more.
pub const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status code.
    pub code: u16,
    /// Whether the request was redirected.
    pub redirected: bool,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// `Date`.
    pub date: Option<String>,
}

impl Head {
    /// Whether the answer is a refusal; then its body says why.
    pub fn is_refusal(&self) -> bool {
        !(200..300).contains(&self.code)
    }

    /// What a refusal means. `body` is whatever of it was read, `now` the time.
    pub fn refusal(&self, body: &[u8], now: WallTime) -> Error {
        let wait = retry_after(self.retry_after.as_deref(), self.date.as_deref(), now);
        error_from_response(self.code, wait, self.content_type.as_deref(), body)
    }

    /// Fails when the content of an answer that is no refusal cannot be what was asked for.
    pub fn check_content(&self) -> Result<(), Error> {
        content_error(self.code, self.content_type.as_deref(), self.redirected).map_or(Ok(()), Err)
    }
}

/// A request got no answer. Its query is not told: `auth` may have put there what is secret.
pub fn no_answer(url: &str, reason: &str) -> Error {
    let address = url.split_once('?').map_or(url, |(address, _)| address);
    Error::network(format!("the request to {address} got no answer: {reason}"))
}

/// The `Retry-After` of an answer (RFC 9110, 10.2.3) in seconds. The header is a number of seconds or a date. A date counts from the answer's
/// `Date`, or from `now` if that cannot be read. `None` for a time that has passed and for any other text.
fn retry_after(header: Option<&str>, date: Option<&str>, now: WallTime) -> Option<u32> {
    let header = header?.trim_ascii();
    let seconds = match header.parse::<u32>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let here = || i64::try_from(now.as_unix_millis() / 1000).unwrap_or(i64::MAX);
            let answered = date.and_then(http_date::parse).unwrap_or_else(here);
            u32::try_from(http_date::parse(header)?.saturating_sub(answered)).ok()?
        }
    };
    (seconds > 0).then_some(seconds)
}

/// What a refusal means. `retry_after` is what [`retry_after`] made of the header, `content_type` a header's value, `body` whatever of the
/// answer was read.
///
/// The apiserver answers with a Status, but what stands before it (flow control, proxies, login pages) with text or HTML.
/// Those are known by the HTTP code; their text is quoted only when it is plain and short.
fn error_from_response(http_code: u16, retry_after: Option<u32>, content_type: Option<&str>, body: &[u8]) -> Error {
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

/// The error for an answer with a good code whose content type is wrong. It may be the page of a proxy, or of a single-page application that
/// answers every path with itself. A page after a redirect asks for a sign-in: [`ErrorCode::Unauthorized`].
fn content_error(http_code: u16, content_type: Option<&str>, redirected: bool) -> Option<Error> {
    let media = media_type(content_type);
    let foreign =
        holds(&media, "html") || media == "text/xml" || media == "application/xml" || media.ends_with("protobuf") || holds(&media, "cbor");
    foreign.then(|| {
        if redirected && holds(&media, "html") {
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
    let media = content_type.unwrap_or("").split(';').next().unwrap_or("").trim_ascii().to_ascii_lowercase();
    if media.is_empty() { "an unknown content type".into() } else { media }
}

/// Letters of a plain refusal that a message quotes: what stands before an apiserver says why in one sentence.
const MAX_QUOTED_TEXT: usize = 200;

/// The body as one line, when it is text for people.
fn plain_text(content_type: Option<&str>, body: &[u8]) -> Option<String> {
    if content_type.is_some() && media_type(content_type) != "text/plain" {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let line = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty() && !line.starts_with(['<', '{', '['])).then(|| line.chars().take(MAX_QUOTED_TEXT).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn law_12_secrets_a_query_is_not_told() {
        let error = no_answer("https://h/api/v1/pods?token=secret", "refused");
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::Network, "the request to https://h/api/v1/pods got no answer: refused")
        );
        assert_eq!(no_answer("https://h/x", "refused").message, "the request to https://h/x got no answer: refused");
    }

    #[test]
    fn a_head_tells_a_refusal_from_an_answer() {
        let head = |code| Head { code, content_type: Some("text/html".into()), ..Head::default() };
        for (code, refuses) in [(199, true), (200, false), (204, false), (299, false), (300, true), (403, true), (503, true)] {
            assert_eq!(head(code).is_refusal(), refuses, "{code}");
        }
        assert_eq!(head(200).check_content().unwrap_err().code, ErrorCode::Protocol);
        let signs_in = Head { redirected: true, ..head(200) };
        assert_eq!(signs_in.check_content().unwrap_err().code, ErrorCode::Unauthorized);
        assert_eq!(Head { code: 200, content_type: Some("application/json".into()), ..Head::default() }.check_content(), Ok(()));
        let busy = Head {
            retry_after: Some("Sun, 06 Nov 1994 08:50:07 GMT".into()),
            date: Some("Sun, 06 Nov 1994 08:49:37 GMT".into()),
            ..head(429)
        };
        let error = busy.refusal(b"", WallTime::UNIX_EPOCH);
        assert_eq!((error.code, error.retry_after_seconds), (ErrorCode::TooManyRequests, Some(30)));
    }

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        const NOW_MS: u64 = 784_111_777_900;
        let read = |header, date| retry_after(Some(header), date, WallTime::from_unix_millis(NOW_MS));
        assert_eq!(read("7", None), Some(7));
        assert_eq!(read(" 120 ", None), Some(120));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT", None), Some(60));
        // The server's clock is its own: an hour ahead of this one.
        assert_eq!(read("Sun, 06 Nov 1994 09:50:37 GMT", Some("Sun, 06 Nov 1994 09:50:07 GMT")), Some(30));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT", Some("yesterday")), Some(60));
        for header in ["0", "-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT", "99999999999"] {
            assert_eq!(read(header, None), None, "{header}");
        }
        assert_eq!(retry_after(None, None, WallTime::from_unix_millis(NOW_MS)), None);
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
    fn a_refusal_without_a_status_has_the_reason_of_its_code() {
        let reason = |code| error_from_response(code, None, Some("text/plain"), b"no").status.map(|status| status.reason);
        let reasons = [401, 404, 409, 410, 429, 503, 504].map(|code| reason(code).unwrap());
        assert_eq!(reasons, ["Unauthorized", "NotFound", "Conflict", "Expired", "TooManyRequests", "ServiceUnavailable", "Timeout"]);
        assert_eq!(reason(418).as_deref(), Some(""), "a code that the API machinery does not know");
    }
}
