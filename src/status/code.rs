//! The stable codes of failures, and which of them are worth another try.

use std::fmt;

/// What callers branch on. The text of [`ErrorCode::as_str`] is part of the public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// 410: the version asked for is older than what is held.
    Expired,
    /// 504: the version asked for did not arrive in time, or the server gave up.
    Timeout,
    /// 429: not ready, or throttled. Has a Retry-After.
    TooManyRequests,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 409.
    Conflict,
    /// 400, 405 and 422: the request is wrong.
    Invalid,
    /// No answer: refused, reset, closed or timed out.
    Network,
    /// An answer that breaks the list+watch protocol.
    Protocol,
    /// An answer that is not JSON, or not an object.
    Decode,
    /// A bounded queue was full.
    Overflow,
    /// 5xx.
    Unavailable,
    /// A bound on memory was reached.
    OutOfMemory,
    /// The cache or the resource was closed.
    Closed,
    /// A fault of this crate.
    Internal,
}

impl ErrorCode {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Expired,
        Self::Timeout,
        Self::TooManyRequests,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::Invalid,
        Self::Network,
        Self::Protocol,
        Self::Decode,
        Self::Overflow,
        Self::Unavailable,
        Self::OutOfMemory,
        Self::Closed,
        Self::Internal,
    ];

    /// The one of this text.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// The text of `WatchCacheError.code`.
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

    /// Whether the same request can succeed later.
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
