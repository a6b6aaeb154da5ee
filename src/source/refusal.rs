//! What somebody else's code says when it refuses: a transport, `auth`, or a source of the user's.

use crate::status::{Details, Error, ErrorCode, Status};

/// A refusal as it was given. What it did not say is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refusal {
    /// The server's own Status.
    pub status: Option<Status>,
    /// An HTTP code that somebody means to refuse with.
    pub code: Option<f64>,
    /// The code of a Response, as most libraries tell it.
    pub http_code: Option<f64>,
    /// It is this package's own `invalid`: the mistake is on this side, and trying again would not help.
    pub mistake: bool,
    /// A reason of the Kubernetes API.
    pub reason: Option<String>,
    /// A sentence.
    pub message: Option<String>,
    /// Seconds after which to try again.
    pub retry_after_seconds: Option<f64>,
}

impl From<Refusal> for Error {
    /// The Status of a failure is told as it is. Otherwise one is made of the code. Without a code it was the network.
    #[cold]
    #[inline(never)]
    fn from(refusal: Refusal) -> Self {
        if let Some(status) = refusal.status.filter(|status| status.code >= 400) {
            return status.into();
        }
        let within = |number: Option<f64>, least: f64| number.filter(|number| (least..1000.0).contains(number));
        let Some(code) = within(refusal.code, 100.0).or_else(|| within(refusal.http_code, 400.0)) else {
            let message = refusal.message.unwrap_or_else(|| "the request failed without a reason".to_string());
            return if refusal.mistake { Self::new(ErrorCode::Invalid, message) } else { Self::network(message) };
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let code = code as u16;
        let message = refusal.message.unwrap_or_else(|| format!("the request was refused with code {code}"));
        let mut status = Status::new(code, &refusal.reason.unwrap_or_default(), message);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        if let Some(seconds) = refusal.retry_after_seconds.filter(|seconds| *seconds > 0.0) {
            status.details = Some(Details { retry_after_seconds: Some(seconds.ceil() as u32), ..Details::default() });
        }
        status.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(refusal: Refusal) -> (ErrorCode, String) {
        let error = Error::from(refusal);
        (error.code, error.message)
    }

    #[test]
    fn a_status_of_a_failure_goes_before_all_else() {
        let refusal = |code| Refusal { status: Some(Status::new(code, "", "said")), message: Some("thrown".into()), ..Refusal::default() };
        assert_eq!(read(refusal(403)), (ErrorCode::Forbidden, "said".into()));
        assert_eq!(read(refusal(200)), (ErrorCode::Network, "thrown".into()), "a Status of a success is none of a refusal");
    }

    #[test]
    fn a_mistake_on_this_side_is_none_of_the_network() {
        let mistake = || Refusal { mistake: true, message: Some("give one".into()), ..Refusal::default() };
        assert_eq!(read(mistake()), (ErrorCode::Invalid, "give one".into()));
        assert_eq!(read(Refusal { http_code: Some(403.0), ..mistake() }).0, ErrorCode::Forbidden, "a server's word goes before");
    }

    #[test]
    fn a_code_makes_a_refusal_and_without_one_it_was_the_network() {
        let of = |code: Option<f64>, http_code: Option<f64>| read(Refusal { code, http_code, ..Refusal::default() });
        let refused = |code: u16| format!("the request was refused with code {code}");
        assert_eq!(of(Some(403.0), None), (ErrorCode::Forbidden, refused(403)));
        assert_eq!(of(None, Some(403.0)), (ErrorCode::Forbidden, refused(403)));
        assert_eq!(of(Some(410.0), Some(403.0)), (ErrorCode::Expired, refused(410)));
        let nothing = (ErrorCode::Network, "the request failed without a reason".to_string());
        // Codes of Node's errors and of exceptions are small numbers; the status of a Response that succeeded refuses nothing.
        for (code, http_code) in [(Some(20.0), None), (Some(1000.0), None), (None, Some(200.0)), (Some(f64::NAN), None), (None, None)] {
            assert_eq!(of(code, http_code), nothing, "{code:?} {http_code:?}");
        }
    }

    #[test]
    fn seconds_to_wait_are_whole_and_never_fewer_than_asked_for() {
        let of = |seconds: f64| {
            let refusal = Refusal { code: Some(429.0), retry_after_seconds: Some(seconds), ..Refusal::default() };
            Error::from(refusal).retry_after_seconds
        };
        assert_eq!((of(1.2), of(30.0), of(0.0), of(-1.0), of(f64::NAN)), (Some(2), Some(30), None, None, None));
    }
}
