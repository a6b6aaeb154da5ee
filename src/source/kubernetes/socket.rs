//! Watches over a WebSocket: the address, the subprotocols that carry a token, and what it means that one did not open or was closed.

use std::cell::Cell;

use futures::StreamExt;
use futures::future::{Either, select};

use crate::base64url;
use crate::json::{FieldSet, Frame, scan_frame};
use crate::runtime::Timer;
use crate::source::request::WatchRequest;
use crate::source::source::FrameStream;
use crate::status::{Error, ErrorCode, Status};
use crate::time::Millis;

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

/// The request that tells why a WebSocket did not open. Browsers do not say it, but the same watch over fetch has a head.
pub(super) fn probe(request: &WatchRequest) -> WatchRequest {
    // A server may hold back the head until there is a body: then it lets go of both in a second.
    WatchRequest { timeout_seconds: 1, ..request.clone() }
}

/// How long a probe is listened to. An error that ends a watch upon its handshake is there with the answer, and a quiet watch says nothing.
pub(super) const FIRST_WORD_MS: Millis = 250;

/// What the answer to a [`probe`] begins with: the error, where the server ends the watch with one.
///
/// Firefox may tell no more of such a watch than that its socket was closed. Where the end follows upon the handshake, it drops both.
pub(super) async fn first_word(answer: FrameStream, timer: &dyn Timer) -> Result<(), Error> {
    match select(Box::pin(word(answer)), timer.sleep(FIRST_WORD_MS)).await {
        Either::Left((said, _)) => said,
        Either::Right(_) => Ok(()),
    }
}

async fn word(mut answer: FrameStream) -> Result<(), Error> {
    while let Some(frame) = answer.next().await {
        let frame = frame?;
        // A sign of life, while the first frame is on its way.
        if frame.is_empty() {
            continue;
        }
        return match scan_frame(&frame, &FieldSet::new(Vec::new())) {
            Ok(Frame::Error { status }) => Status::parse(&status).map_or(Ok(()), |status| Err(Error::from(status))),
            _ => Ok(()),
        };
    }
    Ok(())
}

/// What is said where no WebSocket opens, although the server answers its [`probe`], and nothing else is allowed.
pub(super) fn not_opened() -> Error {
    Error::network(
        "the watch's WebSocket could not be opened, although the server answers it over fetch: \
         choose transport \"fetch\", or outside of browsers a WebSocket that says an Origin, as Node's own does not",
    )
}

/// What is said where a host has no WebSocket, and none was given. It is a mistake of this side, so nothing is asked for.
pub(super) fn no_web_socket() -> Error {
    let message = "this host has no WebSocket: pass one as the option WebSocket, or choose transport \"fetch\"";
    Error::new(ErrorCode::Invalid, message)
}

/// What an error of a socket says that has such a code. Node's `ws` names so the messages that it refuses, such as text that is not UTF-8.
/// Browsers only close the socket, and that is a lost connection like any other.
pub fn broken_message(code: &str, message: &str) -> Option<Error> {
    code.starts_with("WS_ERR_").then(|| Error::protocol(format!("the watch's WebSocket received what is no message: {message}")))
}

/// What the code of a close says. Servers end a watch with 1000 when its time is over, and that is no error.
pub fn closed(code: u16, reason: &str) -> Option<Error> {
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    (code != 1000).then(|| Error::network(format!("the watch's WebSocket was closed with code {code}{reason}")))
}

/// Bytes of a socket that nobody has taken: a browser cannot be told to stop reading. Beyond these the socket is closed, and the watch resumes
/// from the last version that was applied, so nothing is lost.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// The bytes that a socket has brought and that nobody has taken.
#[derive(Debug, Default)]
pub struct Unread(Cell<usize>);

impl Unread {
    /// So many bytes have come. Fails when that is more than may wait.
    pub fn came(&self, bytes: usize) -> Result<(), Error> {
        self.0.set(self.0.get() + bytes);
        if self.0.get() <= MAX_UNREAD_BYTES {
            return Ok(());
        }
        Err(Error::new(ErrorCode::Overflow, "the watch brings more than can be taken in"))
    }

    /// So many bytes were taken.
    pub fn taken(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, stream};

    use crate::runtime::virtual_time::VirtualTime;

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

    #[test]
    fn a_probe_is_the_same_watch_for_a_second() {
        let request = WatchRequest { resource_version: "7".into(), timeout_seconds: 300, ..WatchRequest::default() };
        assert_eq!(probe(&request), WatchRequest { timeout_seconds: 1, ..request });
    }

    /// In Firefox a socket that is closed upon its handshake never opens, so its only message is heard nowhere else.
    #[test]
    fn wir_18_an_error_that_no_socket_could_tell_is_heard_in_the_probe() {
        let answer = |frames: &[&str]| {
            let frames: Vec<_> = frames.iter().map(|text| Ok(text.as_bytes().to_vec())).collect();
            first_word(stream::iter(frames).boxed_local(), &*VirtualTime::new(1)).now_or_never().expect("nothing to wait for")
        };
        let gone = format!(r#"{{"type":"ERROR","object":{}}}"#, Status::too_old("1", "2").to_json());
        assert_eq!(answer(&["", &gone]).unwrap_err().code, ErrorCode::Expired, "a part of it is no word yet");
        let added = r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"9"}}}"#;
        for fine in [&[added, &gone][..], &[], &["{"], &[r#"{"type":"ERROR","object":{"kind":"Pod"}}"#]] {
            assert_eq!(answer(fine), Ok(()), "{fine:?}");
        }
        let lost = stream::iter([Err(Error::network("gone"))]).boxed_local();
        let time = VirtualTime::new(1);
        assert_eq!(first_word(lost, &*time).now_or_never(), Some(Err(Error::network("gone"))));
        // A quiet watch is not listened to for the whole second of the probe: who waits for the refusal hears it sooner.
        let quiet = first_word(stream::pending().boxed_local(), &*time);
        assert_eq!(time.run_until(quiet), Ok(()));
        assert_eq!(time.elapsed(), FIRST_WORD_MS);
    }

    #[test]
    fn a_watch_whose_time_is_over_is_closed_with_1000() {
        assert_eq!(closed(1000, "bye"), None);
        assert_eq!(closed(1006, ""), Some(Error::network("the watch's WebSocket was closed with code 1006")));
        assert_eq!(closed(1011, "a fault"), Some(Error::network("the watch's WebSocket was closed with code 1011: a fault")));
    }

    #[test]
    fn a_message_that_the_socket_refuses_is_a_fault_of_the_protocol_and_a_lost_connection_is_none() {
        let error = broken_message("WS_ERR_INVALID_UTF8", "invalid UTF-8 sequence").expect("a fault");
        assert_eq!(error.code, ErrorCode::Protocol);
        assert!(error.message.ends_with("no message: invalid UTF-8 sequence"), "{}", error.message);
        assert_eq!(broken_message("ECONNRESET", "reset"), None);
    }

    #[test]
    fn what_nobody_takes_is_bounded() {
        let unread = Unread::default();
        unread.came(MAX_UNREAD_BYTES).unwrap();
        assert_eq!(unread.came(1).unwrap_err().code, ErrorCode::Overflow);
        unread.taken(2);
        unread.came(1).unwrap();
        assert_eq!(unread.came(1).unwrap_err().code, ErrorCode::Overflow);
    }
}
