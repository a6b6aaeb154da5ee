//! How a watch comes: over a WebSocket, or over fetch as lines. What is remembered of a server decides, and who gives no choice has none to make.

use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};

use super::places::{Kept, Places, TURN_SECONDS};
use super::servers::{Servers, Sockets};
use super::socket::{first_word, no_web_socket, not_opened, probe};
use crate::runtime::Runtime;
use crate::source::request::WatchRequest;
use crate::source::source::{FrameStream, Turn};
use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// A socket that has not opened for so long is asked about over fetch: some proxies take the request for one and never answer.
const PATIENCE_MS: Millis = 5000;

/// How much longer such a socket has once the server answers over fetch.
const LAST_MOMENT_MS: Millis = 1000;

/// The option `transport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over a WebSocket. Over fetch where the server, or what stands before it, opens none, and where `auth` gives headers: browsers send none
    /// with a WebSocket.
    Auto,
    /// Over a WebSocket, or not at all.
    WebSocket,
    /// Over fetch, as lines.
    Fetch,
}

impl Transport {
    /// The transport of this name, on a host that has WebSockets or not.
    pub fn named(name: &str, has_sockets: bool) -> Result<Self, Error> {
        match name {
            "auto" => Ok(if has_sockets { Self::Auto } else { Self::Fetch }),
            "websocket" if !has_sockets => Err(no_web_socket()),
            "websocket" => Ok(Self::WebSocket),
            "fetch" => Ok(Self::Fetch),
            _ => Err(Error::new(ErrorCode::Invalid, format!("transport: {name:?} is neither auto, websocket nor fetch"))),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::WebSocket => "websocket",
            Self::Fetch => "fetch",
        }
    }
}

/// Why a socket did not open.
pub enum Unopened {
    /// It could not even be tried.
    Told(Error),
    /// It closed before it opened; browsers do not say why.
    Silent,
    /// The host itself forbids it, as the policy of a page may.
    Forbidden(Error),
}

/// Why there is no watch over a socket.
enum Unanswered {
    /// The server opens none, although it answers the same watch over fetch. `at_once`: it was closed, and did not only keep silent.
    Socket { at_once: bool },
    /// Nothing opens it.
    All(Error),
}

/// One watch as a host can ask for it. Its credentials are known.
pub trait Wire {
    /// Whether the credentials have headers.
    fn has_headers(&self) -> bool;
    /// Opens it over a WebSocket.
    fn socket(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Unopened>>;
    /// Opens it over fetch.
    fn lines(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>>;
}

/// Opens the watches of one resource.
pub struct Connector {
    transport: Transport,
    sockets: Rc<Sockets>,
    places: Rc<Places>,
    plain: bool,
    kept: Kept,
    /// Whether its credentials had headers, as far as is known.
    headers: Cell<bool>,
    taken: Cell<Option<Transport>>,
    runtime: Rc<dyn Runtime>,
}

impl Connector {
    /// For one resource of a server. `server` is its base URL.
    pub fn new(servers: &Servers, server: &str, transport: Transport, runtime: Rc<dyn Runtime>) -> Self {
        let (sockets, places) = servers.remembered(server, runtime.now());
        let plain = server.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"));
        let (kept, headers, taken) = (Kept::default(), Cell::default(), Cell::default());
        Self { transport, sockets, places, plain, kept, headers, taken, runtime }
    }

    /// How the last watch came.
    pub fn taken(&self) -> Option<Transport> {
        self.taken.get()
    }

    /// Whether the server's WebSockets are refused, and nobody has been told yet.
    pub fn fell_back(&self) -> bool {
        self.sockets.tell()
    }

    /// What has to be waited for before a watch is asked for. `protocol`: by which the server's last answer came; an empty text where the host
    /// does not tell it, and `None` where connections are not limited.
    pub fn turn(&self, protocol: Option<&str>) -> Option<Turn> {
        if !self.takes_lines(self.headers.get()) || !self.is_limited(protocol) {
            return None;
        }
        Some(self.places.turn(&self.kept, &self.runtime))
    }

    /// Whether a watch may bring the first state, as far as is known. Servers compress it in pieces, of which a browser's fetch reads the first.
    pub fn streams_first_state(&self) -> bool {
        !self.takes_lines(self.headers.get())
    }

    /// Opens a watch.
    pub async fn open(&self, wire: &dyn Wire, request: &WatchRequest, protocol: Option<&str>) -> Result<FrameStream, Error> {
        let headers = wire.has_headers();
        self.headers.set(headers);
        if self.takes_lines(headers) {
            return self.lines(wire, request, protocol).await;
        }
        let socket = match self.socket(wire, request).await {
            Ok(frames) => Some(frames),
            Err(Unanswered::All(error)) => return Err(error),
            Err(Unanswered::Socket { .. }) if self.transport == Transport::WebSocket => return Err(not_opened()),
            Err(Unanswered::Socket { at_once: true }) => self.socket_again(wire, request).await,
            Err(Unanswered::Socket { at_once: false }) => None,
        };
        if let Some(frames) = socket {
            self.sockets.opened();
            self.taken.set(Some(Transport::WebSocket));
            return Ok(if self.transport == Transport::Auto { self.sockets.on_trial(frames, self.runtime.clone()) } else { frames });
        }
        self.sockets.refuse(self.runtime.now());
        // Whatever becomes of the lines, the server has answered.
        self.lines(wire, request, protocol).await.map_err(|error| Error { unsent: false, ..error })
    }

    /// The server may have come up between a socket and the question why it was closed. Now that it answers, one that opens at all opens.
    async fn socket_again(&self, wire: &dyn Wire, request: &WatchRequest) -> Option<FrameStream> {
        if self.sockets.are_refused(self.runtime.now()) {
            return None;
        }
        match select(wire.socket(request), self.runtime.sleep(PATIENCE_MS)).await {
            Either::Left((opened, _)) => opened.ok(),
            Either::Right(_) => None,
        }
    }

    fn takes_lines(&self, headers: bool) -> bool {
        match self.transport {
            Transport::Fetch => true,
            Transport::WebSocket => false,
            Transport::Auto => headers || self.sockets.are_refused(self.runtime.now()),
        }
    }

    fn is_limited(&self, protocol: Option<&str>) -> bool {
        match protocol {
            None => false,
            // Browsers speak nothing newer without TLS.
            Some("") => self.plain,
            Some(protocol) => protocol.starts_with("http/1") || protocol.starts_with("http/0"),
        }
    }

    async fn lines(&self, wire: &dyn Wire, request: &WatchRequest, protocol: Option<&str>) -> Result<FrameStream, Error> {
        if request.send_initial_events.is_some() {
            let message = "a watch over fetch brings no first state: a list is read instead";
            return Err(Error::new(ErrorCode::Unavailable, message).unsent());
        }
        self.taken.set(Some(Transport::Fetch));
        if !self.is_limited(protocol) {
            return wire.lines(request).await;
        }
        let place = self.kept.take().map_or_else(|| self.places.take(), Ok)?;
        let mut request = request.clone();
        if self.places.is_waited_for() {
            // It ends with its turn. The server knows, and says before how far it is: a quiet watch would fall behind, turn by turn.
            request.timeout_seconds = request.timeout_seconds.min(TURN_SECONDS);
        }
        let frames = wire.lines(&request).await?;
        Ok(place.held_by(frames, self.runtime.now()))
    }

    async fn socket(&self, wire: &dyn Wire, request: &WatchRequest) -> Result<FrameStream, Unanswered> {
        let mut opening = wire.socket(request);
        if self.transport == Transport::Auto {
            opening = match select(opening, self.runtime.sleep(PATIENCE_MS)).await {
                Either::Left((opened, _)) => return self.told(wire, request, opened).await,
                Either::Right((_, opening)) => opening,
            };
            opening = match select(opening, self.ask(wire, request).boxed_local()).await {
                Either::Left((opened, _)) => return self.told(wire, request, opened).await,
                Either::Right((Err(error), _)) => return Err(Unanswered::All(error)),
                Either::Right((Ok(()), opening)) => opening,
            };
            // The server may have been busy until now. Then a moment is enough.
            return match select(opening, self.runtime.sleep(LAST_MOMENT_MS)).await {
                Either::Left((Ok(frames), _)) => Ok(frames),
                _ => Err(Unanswered::Socket { at_once: false }),
            };
        }
        let opened = opening.await;
        self.told(wire, request, opened).await
    }

    /// What became of a socket. Where it does not say itself, the server is asked over fetch.
    async fn told(
        &self,
        wire: &dyn Wire,
        request: &WatchRequest,
        opened: Result<FrameStream, Unopened>,
    ) -> Result<FrameStream, Unanswered> {
        match opened {
            Ok(frames) => return Ok(frames),
            Err(Unopened::Told(error)) => return Err(Unanswered::All(error)),
            Err(Unopened::Forbidden(error)) if self.transport == Transport::WebSocket => return Err(Unanswered::All(error)),
            Err(Unopened::Silent | Unopened::Forbidden(_)) => {}
        }
        match self.ask(wire, request).await {
            Ok(()) => Err(Unanswered::Socket { at_once: true }),
            Err(error) => Err(Unanswered::All(error)),
        }
    }

    /// Asks over fetch what a socket does not say.
    async fn ask(&self, wire: &dyn Wire, request: &WatchRequest) -> Result<(), Error> {
        let answer = wire.lines(&probe(request)).await?;
        first_word(answer, &*self.runtime).await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures::{StreamExt, future, stream};

    use super::*;
    use crate::runtime::Timer;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::source::kubernetes::servers::FIRST_MEMORY_MS;
    use crate::source::kubernetes::socket::FIRST_WORD_MS;
    use crate::status::Status;

    /// What a path to a server does with sockets.
    #[derive(Clone, Copy, PartialEq)]
    enum Sockets {
        Open,
        Close,
        Swallow,
        /// The first is closed, as while a server starts.
        CloseOnce,
        /// So slow.
        OpenAfter(Millis),
        Forbid,
    }

    struct Path {
        sockets: Cell<Sockets>,
        lines: RefCell<Result<(), Error>>,
        headers: bool,
        time: Rc<VirtualTime>,
        asked: RefCell<Vec<String>>,
    }

    impl Path {
        fn new(sockets: Sockets) -> Self {
            let (time, lines) = (VirtualTime::new(1), RefCell::new(Ok(())));
            Self { sockets: Cell::new(sockets), lines, headers: false, time, asked: RefCell::default() }
        }

        fn open(&self, connector: &Connector, request: &WatchRequest) -> Result<FrameStream, Error> {
            self.asked.take();
            self.time.run_until(connector.open(self, request, None))
        }

        /// The transports asked for, the probes among them.
        fn asked(&self) -> String {
            self.asked.borrow().join(" ")
        }
    }

    fn quiet() -> FrameStream {
        stream::pending().boxed_local()
    }

    impl Wire for Path {
        fn has_headers(&self) -> bool {
            self.headers
        }

        fn socket(&self, _: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Unopened>> {
            self.asked.borrow_mut().push("socket".into());
            match self.sockets.get() {
                Sockets::Open => future::ready(Ok(quiet())).boxed_local(),
                Sockets::CloseOnce => {
                    self.sockets.set(Sockets::Open);
                    future::ready(Err(Unopened::Silent)).boxed_local()
                }
                Sockets::Close => future::ready(Err(Unopened::Silent)).boxed_local(),
                Sockets::Forbid => future::ready(Err(Unopened::Forbidden(Error::network("insecure")))).boxed_local(),
                Sockets::Swallow => future::pending().boxed_local(),
                Sockets::OpenAfter(millis) => self.time.sleep(millis).map(|()| Ok(quiet())).boxed_local(),
            }
        }

        fn lines(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
            let what = match request.timeout_seconds {
                1 => "probe",
                TURN_SECONDS => "turn",
                _ => "fetch",
            };
            self.asked.borrow_mut().push(what.into());
            future::ready(self.lines.borrow().clone().map(|()| quiet())).boxed_local()
        }
    }

    const SERVER: &str = "https://host/clusters/x";

    fn request() -> WatchRequest {
        WatchRequest { resource_version: "7".into(), timeout_seconds: 300, ..WatchRequest::default() }
    }

    fn connector(servers: &Servers, path: &Path, transport: Transport) -> Connector {
        Connector::new(servers, SERVER, transport, path.time.clone())
    }

    #[test]
    fn wir_19_a_server_that_opens_no_socket_is_watched_over_fetch_and_asked_for_none_for_a_while() {
        for sockets in [Sockets::Close, Sockets::Forbid] {
            let (servers, path) = (Servers::default(), Path::new(sockets));
            let auto = connector(&servers, &path, Transport::Auto);
            let _open = path.open(&auto, &request()).unwrap();
            assert_eq!((path.asked().as_str(), auto.taken()), ("socket probe socket fetch", Some(Transport::Fetch)));
            // Others of the same server know it, and it is told once.
            let other = connector(&servers, &path, Transport::Auto);
            let _open = path.open(&other, &request()).unwrap();
            assert_eq!(path.asked(), "fetch");
            assert!(other.fell_back() && !auto.fell_back());
            let elsewhere = Connector::new(&servers, "https://host/clusters/y", Transport::Auto, path.time.clone());
            let _open = path.open(&elsewhere, &request()).unwrap();
            assert!(path.asked().starts_with("socket"), "another path may lead to another server");
            // Each refusal makes the memory longer, and a socket that opens ends it.
            path.time.suspend(FIRST_MEMORY_MS);
            let _open = path.open(&auto, &request()).unwrap();
            assert!(path.asked().starts_with("socket") && !auto.fell_back());
            path.time.suspend(FIRST_MEMORY_MS);
            let _open = path.open(&auto, &request()).unwrap();
            assert_eq!(path.asked(), "fetch");
            path.time.suspend(FIRST_MEMORY_MS);
            path.sockets.set(Sockets::Open);
            let _open = path.open(&auto, &request()).unwrap();
            assert_eq!((path.asked().as_str(), auto.taken()), ("socket", Some(Transport::WebSocket)));
            path.sockets.set(Sockets::Close);
            let _open = path.open(&auto, &request()).unwrap();
            assert!(auto.fell_back());
        }
    }

    #[test]
    fn a_server_that_comes_up_between_a_socket_and_its_question_keeps_its_sockets() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::CloseOnce));
        let auto = connector(&servers, &path, Transport::Auto);
        let _open = path.open(&auto, &request()).unwrap();
        assert_eq!((path.asked().as_str(), auto.taken(), auto.fell_back()), ("socket probe socket", Some(Transport::WebSocket), false));
    }

    #[test]
    fn a_socket_that_is_never_answered_is_given_up_once_the_server_answers_over_fetch() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::Swallow));
        let auto = connector(&servers, &path, Transport::Auto);
        let _open = path.open(&auto, &request()).unwrap();
        assert!(auto.fell_back());
        assert_eq!(path.asked(), "socket probe fetch");
        let waited = path.time.elapsed();
        assert!((PATIENCE_MS..PATIENCE_MS + 2 * LAST_MOMENT_MS).contains(&waited), "{waited}");
        // A slow server is no such proxy.
        for slow in [PATIENCE_MS - 1, PATIENCE_MS + 1, PATIENCE_MS + 900] {
            let path = Path::new(Sockets::OpenAfter(slow));
            let auto = connector(&Servers::default(), &path, Transport::Auto);
            let _open = path.open(&auto, &request()).unwrap();
            assert_eq!((auto.taken(), auto.fell_back()), (Some(Transport::WebSocket), false), "{slow}");
        }
    }

    /// A refusal, an unreachable server and a page to sign in are told as they are, and nothing is remembered.
    #[test]
    fn a_socket_that_did_not_open_means_what_its_probe_met() {
        for sockets in [Sockets::Close, Sockets::Swallow] {
            for error in [Error::network("refused"), Status::new(403, "Forbidden", "no").into()] {
                let (servers, path) = (Servers::default(), Path::new(sockets));
                *path.lines.borrow_mut() = Err(error.clone());
                let auto = connector(&servers, &path, Transport::Auto);
                assert_eq!(path.open(&auto, &request()).err(), Some(error));
                assert_eq!((path.asked().as_str(), auto.taken()), ("socket probe", None));
                path.sockets.set(Sockets::Open);
                let _open = path.open(&auto, &request()).unwrap();
                assert_eq!(path.asked(), "socket");
            }
        }
    }

    #[test]
    fn who_chooses_gets_that_or_an_error_that_says_what_to_do() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::Close));
        let error = path.open(&connector(&servers, &path, Transport::WebSocket), &request()).err().unwrap();
        assert_eq!((error.code, path.asked().as_str()), (ErrorCode::Network, "socket probe"));
        assert!(error.message.contains("transport \"fetch\""), "{}", error.message);
        let _open = path.open(&connector(&servers, &path, Transport::Fetch), &request()).unwrap();
        assert_eq!(path.asked(), "fetch");
        path.sockets.set(Sockets::Forbid);
        let error = path.open(&connector(&servers, &path, Transport::WebSocket), &request()).err().unwrap();
        assert_eq!((error.message.as_str(), path.asked().as_str()), ("insecure", "socket"));
        assert!(["auto", "websocket", "fetch"].iter().all(|name| Transport::named(name, true).unwrap().name() == *name));
        assert_eq!(Transport::named("auto", false), Ok(Transport::Fetch));
        assert_eq!(Transport::named("websocket", false), Err(no_web_socket()));
        assert_eq!(Transport::named("sse", true).unwrap_err().code, ErrorCode::Invalid);
    }

    /// Over a socket the watch would be somebody else's: headers may say who asks.
    #[test]
    fn credentials_with_headers_go_over_fetch() {
        let (servers, path) = (Servers::default(), Path { headers: true, ..Path::new(Sockets::Open) });
        let _open = path.open(&connector(&servers, &path, Transport::Auto), &request()).unwrap();
        assert_eq!(path.asked(), "fetch");
    }

    /// WIR-09: browsers read the first piece alone of what is compressed in pieces.
    #[test]
    fn wir_09_the_first_state_of_a_watch_never_comes_over_fetch() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::Close));
        let auto = connector(&servers, &path, Transport::Auto);
        let initial = WatchRequest { send_initial_events: Some(true), ..request() };
        assert!(auto.streams_first_state(), "nobody has been asked yet");
        // The server has answered, so it is not away for anybody.
        let error = path.open(&auto, &initial).err().unwrap();
        assert_eq!((error.code, error.unsent), (ErrorCode::Unavailable, false));
        assert!(!auto.streams_first_state());
        assert!(!path.asked().contains("fetch") && auto.fell_back());
        let _open = path.open(&auto, &request()).unwrap();
        assert_eq!(path.asked(), "fetch");
        // Nor where a host has no sockets, or somebody wants none.
        let fetch = connector(&servers, &path, Transport::named("auto", false).unwrap());
        assert!(!fetch.streams_first_state() && path.open(&fetch, &initial).err().unwrap().unsent);
        assert_eq!(path.asked(), "");
    }

    #[test]
    fn of_two_that_are_refused_at_once_the_later_one_tries_no_other_socket() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::Close));
        let (one, other) = (connector(&servers, &path, Transport::Auto), connector(&servers, &path, Transport::Auto));
        // The other is still on its way to the question why.
        let asks = async {
            path.time.sleep(FIRST_WORD_MS / 2).await;
            other.open(&path, &request(), None).await
        };
        let (first, second) = path.time.run_until(futures::future::join(one.open(&path, &request(), None), asks.boxed_local()));
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(path.asked.borrow().iter().filter(|asked| *asked == "socket").count(), 3);
    }

    #[test]
    fn over_http_1_watches_by_fetch_wait_for_their_turn_and_sockets_do_not() {
        let (servers, path) = (Servers::default(), Path::new(Sockets::Open));
        let plain = |transport| Connector::new(&servers, "http://host/api", transport, path.time.clone());
        let (fetch, auto) = (plain(Transport::Fetch), plain(Transport::Auto));
        let open = |connector: &Connector, protocol| path.time.run_until(connector.open(&path, &request(), protocol));
        let mut held: Vec<_> = (0..4).map(|_| open(&fetch, Some("")).unwrap()).collect();
        for (protocol, waits) in [(None, false), (Some("h2"), false), (Some("h3"), false), (Some("http/1.1"), true), (Some(""), true)] {
            assert_eq!((fetch.turn(protocol).is_some(), auto.turn(protocol).is_some()), (waits, false), "{protocol:?}");
        }
        let secure = Connector::new(&servers, SERVER, Transport::Fetch, path.time.clone());
        assert!(secure.turn(Some("")).is_none(), "with TLS it is HTTP/2, mostly");
        assert_eq!(open(&fetch, Some("")).err().unwrap().code, ErrorCode::Unavailable);
        let turn = fetch.turn(Some("")).unwrap();
        held.pop();
        let come = path.time.run_until(turn.come);
        assert_eq!(open(&plain(Transport::Fetch), Some("")).err().unwrap().code, ErrorCode::Unavailable, "it is not this one's turn");
        path.asked.take();
        assert!(open(&fetch, Some("")).is_ok());
        drop(come);
        // While others wait, the server is told how long the turn is.
        let mut waits = plain(Transport::Fetch).turn(Some("")).unwrap().come;
        let other = plain(Transport::Fetch);
        let come = path.time.run_until(other.turn(Some("")).unwrap().come);
        assert!((&mut waits).now_or_never().is_none());
        held.push(open(&other, Some("")).unwrap());
        drop(come);
        held.pop();
        let _come = path.time.run_until(&mut waits);
        assert_eq!(path.asked(), "fetch turn");
    }
}
