//! Watches over a WebSocket: the address, and the subprotocols that carry a token.

use crate::base64url;

const BEARER: &str = "base64url.bearer.authorization.k8s.io.";
// The apiserver wants one more subprotocol beside the token, and accepts exactly one. The name changes nothing for watches.
const BINARY: &str = "base64.binary.k8s.io";

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
