//! Every failure that leaves this crate.

use super::code::ErrorCode;
use super::document::Status;
use crate::version::VersionError;

/// A failure of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of failure.
    pub code: ErrorCode,
    /// A sentence for people. It never contains a token.
    pub message: String,
    /// The server's Status, if there was one.
    pub status: Option<Box<Status>>,
    /// Seconds to wait before trying again, if the server asked for a wait.
    pub retry_after_seconds: Option<u32>,
    /// It failed before a request went out, so it says nothing of a server: `auth` may have thrown. Only this crate looks at it, and callers in
    /// JavaScript are not told.
    pub unsent: bool,
}

impl Error {
    /// A failure without a Status.
    #[cold]
    #[inline(never)]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), status: None, retry_after_seconds: None, unsent: false }
    }

    /// There was no answer.
    #[cold]
    #[inline(never)]
    pub fn network(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Network, message)
    }

    /// The host has no more memory.
    pub fn out_of_memory(bytes: usize) -> Self {
        Self::new(ErrorCode::OutOfMemory, format!("there is no memory for {bytes} bytes more"))
    }

    /// An answer that the protocol does not allow.
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

    /// A get or watch with a malformed version: 500 without a reason, as in the apiserver. (For a list it is 400.) The code is `invalid`,
    /// because trying again would not help.
    pub fn no_version(error: &VersionError) -> Self {
        Self { code: ErrorCode::Invalid, ..Status::new(500, "", error.to_string()).into() }
    }

    /// The cache or resource is closed.
    #[cold]
    #[inline(never)]
    pub fn closed() -> Self {
        Self::new(ErrorCode::Closed, "the watch cache is closed")
    }

    /// The same, as of something that failed before a request went out.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn unsent(self) -> Self {
        Self { unsent: true, ..self }
    }

    /// Whether the same request can succeed later.
    pub const fn retryable(&self) -> bool {
        self.code.retryable()
    }

    /// Whether waiting does not help: a mistake on this side, such as in the user's `auth`, or a request that the server does not know.
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
            unsent: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
