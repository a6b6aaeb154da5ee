//! What a list asks for, and which combinations the API allows.

use super::token::Token;
use crate::status::{Error, Status};
use crate::version::Version;

/// Whether a request waits for readiness where it does not say so.
pub const DEFAULT_WAIT: bool = true;

/// The options of a list, as the API names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// A shard selector.
    pub shard_selector: Option<String>,
    /// Unset: the upstream's newest version; `"0"`: any; `n`: see [`Want`].
    pub resource_version: Option<String>,
    /// `Exact` or `NotOlderThan`; only together with a version.
    pub resource_version_match: Option<String>,
    /// Objects a page; 0 and below: all of them. Not heeded at version `"0"`.
    pub limit: i64,
    /// The token of the page before.
    pub continue_token: Option<String>,
    /// Whether to wait for readiness rather than fail with 429.
    pub wait: bool,
}

/// How old the answer may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// As new as the upstream is now.
    Newest,
    /// The same, on a further page.
    NewestContinued,
    /// Not older than this; version 0: any.
    NotOlderThan(Version),
    /// As it was at this version: `Exact`, a further page, or a limit together with a version, which means the same.
    Exact(Version),
}

/// A request whose options are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How old the answer may be.
    pub want: Want,
    /// The key at which a further page begins.
    pub from: Option<String>,
    /// Objects a page, where the limit counts.
    pub limit: Option<usize>,
}

impl ListOptions {
    fn given(text: &Option<String>) -> &str {
        text.as_deref().unwrap_or("")
    }

    /// The token of the page before, where there is one.
    pub fn token(&self) -> Option<&str> {
        self.continue_token.as_deref().filter(|token| !token.is_empty())
    }

    /// What the API's validation says: every fault of the combination at once.
    pub fn validate(&self) -> Result<(), Error> {
        let (version, kind) = (Self::given(&self.resource_version), Self::given(&self.resource_version_match));
        if kind.is_empty() {
            return Ok(());
        }
        let mut faults = Vec::new();
        let mut forbidden = |wrong: bool, message: &str| {
            if wrong {
                faults.push(("FieldValueForbidden", format!("Forbidden: {message}")));
            }
        };
        forbidden(version.is_empty(), "resourceVersionMatch is forbidden unless resourceVersion is provided");
        forbidden(self.token().is_some(), "resourceVersionMatch is forbidden when continue is provided");
        forbidden(kind == "Exact" && version == "0", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        if !matches!(kind, "Exact" | "NotOlderThan") {
            let message = format!("Unsupported value: {kind:?}: supported values: \"Exact\", \"NotOlderThan\", \"\"");
            faults.push(("FieldValueNotSupported", message));
        }
        if faults.is_empty() { Ok(()) } else { Err(Status::invalid_options("resourceVersionMatch", faults).into()) }
    }

    /// What storage says to the options: the rules behind the validation, which hold without it, too.
    pub fn read(&self, prefix: &str, recursive: bool) -> Result<Checked, Error> {
        let (text, kind) = (Self::given(&self.resource_version), Self::given(&self.resource_version_match));
        let limit = compute_limit(self.limit, text);
        if let Some(token) = self.token().filter(|_| recursive) {
            let token = Token::decode(token, prefix)?;
            if !matches!(text, "" | "0") {
                return Err(Status::bad_request("specifying resource version is not allowed when using continue").into());
            }
            let want = token.version.map_or(Want::NewestContinued, Want::Exact);
            return Ok(Checked { want, from: Some(token.start), limit });
        }
        if text.is_empty() {
            return Ok(Checked { want: Want::Newest, from: None, limit });
        }
        let version = Version::parse(text).map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?;
        let want = match kind {
            "Exact" => Want::Exact(version),
            "" if self.limit > 0 && !version.is_zero() => Want::Exact(version),
            "" | "NotOlderThan" => Want::NotOlderThan(version),
            _ => return Err(Status::internal(format!("unknown ResourceVersionMatch value: {kind}")).into()),
        };
        Ok(Checked { want, from: None, limit })
    }
}

/// The limit that counts: none at version "0", which servers have always answered from the cache and whole.
fn compute_limit(limit: i64, version: &str) -> Option<usize> {
    usize::try_from(limit).ok().filter(|limit| *limit > 0 && version != "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    fn token(version: i64) -> Option<String> {
        Some(URL_SAFE_NO_PAD.encode(format!(r#"{{"v":"meta.k8s.io/v1","rv":{version},"start":"continue"}}"#)))
    }

    fn at(version: &str) -> ListOptions {
        ListOptions { resource_version: Some(version.into()), ..ListOptions::default() }
    }

    fn said(result: Result<Checked, Error>) -> (u16, String) {
        let error = result.unwrap_err();
        (error.status.unwrap().code, error.message)
    }

    #[test]
    fn opt_01_a_token_stands_for_its_version_and_allows_no_other() {
        let with = |version: &str| ListOptions { continue_token: token(100), ..at(version) };
        assert_eq!(said(with("200").read("", true)), (400, "specifying resource version is not allowed when using continue".into()));
        for version in ["0", ""] {
            let checked = with(version).read("", true).unwrap();
            assert_eq!((checked.want, checked.from.as_deref()), (Want::Exact(Version::from(100)), Some("continue")));
        }
    }

    #[test]
    fn opt_02_versions_matches_and_tokens_that_are_none() {
        let (code, message) = said(at("invalid").read("", true));
        assert_eq!(code, 400);
        assert!(message.starts_with("invalid resource version: resourceVersion: Invalid value: \"invalid\""), "{message}");
        let unknown = ListOptions { resource_version_match: Some("unknown".into()), ..at("1") };
        let (code, message) = said(unknown.read("", true));
        assert_eq!((code, message.as_str()), (500, "unknown ResourceVersionMatch value: unknown"));
        let (code, message) = said(ListOptions { continue_token: token(0), ..ListOptions::default() }.read("", true));
        assert_eq!(code, 400);
        assert!(message.starts_with("invalid continue token: "), "{message}");
        let newest = ListOptions { continue_token: token(-1), ..ListOptions::default() }.read("", true).unwrap();
        assert_eq!(newest.want, Want::NewestContinued);
    }

    #[test]
    fn opt_05_the_limit_counts_but_at_version_zero() {
        for (limit, version, counts) in [(0, "", None), (1, "", Some(1)), (1, "100", Some(1)), (1, "0", None), (-1, "", None)] {
            assert_eq!(compute_limit(limit, version), counts, "{limit} {version:?}");
        }
    }

    #[test]
    fn a_limit_with_a_version_means_exactly_that_version() {
        let want = |limit: i64, version: &str| ListOptions { limit, ..at(version) }.read("", true).unwrap().want;
        assert_eq!(want(1, "100"), Want::Exact(Version::from(100)));
        assert_eq!(want(0, "100"), Want::NotOlderThan(Version::from(100)));
        assert_eq!(want(1, "0"), Want::NotOlderThan(Version::ZERO));
        assert_eq!(want(1, ""), Want::Newest);
        let not_older = ListOptions { limit: 1, resource_version_match: Some("NotOlderThan".into()), ..at("100") };
        assert_eq!(not_older.read("", true).unwrap().want, Want::NotOlderThan(Version::from(100)));
    }
}
