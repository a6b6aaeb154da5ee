//! The upstream as this crate knows it: what can be listed and watched, and maybe written.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;

use super::history::History;
use super::request::{ListRequest, WatchRequest};
use super::standing::Standing;
use super::write::{ObjectName, WriteRequest};
use crate::key::key;
use crate::status::{Error, ErrorCode};
use crate::time::{Millis, WallTime};
use crate::version::Version;

/// What of a Kubernetes API a source lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// The one namespace that its path names; `None`: all of them, or a resource without namespaces.
    pub namespace: Option<String>,
    /// The API group that its path names; `None`: the core one, or not known.
    pub group: Option<String>,
}

/// The body of one list page, as bytes in chunks of any size. Dropping it aborts the request.
pub type PageStream = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// What a source holds that is a cache itself.
pub struct HeldState {
    /// Its version.
    pub version: Version,
    /// Of which history that is.
    pub history: History,
    /// When it was kept, where it was restored and nobody has confirmed it.
    pub kept_at: Option<WallTime>,
    /// Its objects as they rest.
    pub parcels: ParcelStream,
}

/// Objects as they rest, some of them an item. Dropping it ends the call.
pub type ParcelStream = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// A watch stream: one frame (`{"type":…,"object":…}`) an item. It ends when the connection is closed; an `Err` item is its last.
/// Dropping it closes the connection.
pub type FrameStream = LocalBoxStream<'static, Result<Vec<u8>, Error>>;

/// Something that a watch waits for before it may be asked for.
pub struct Turn {
    /// What people are told meanwhile.
    pub why: Error,
    /// After how long it may come, in milliseconds, as far as is known.
    pub millis: Millis,
    /// Completes when it has come. Whoever asks for the watch then holds what this gives until there is an answer.
    pub come: LocalBoxFuture<'static, Box<dyn Any>>,
}

/// An upstream.
pub trait Source {
    /// Asks for one page. Resolves when the answer has begun; a refusal is an error with the server's Status where it gave one.
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>>;
    /// What it holds, where it is a cache itself, however that stands: a reflector goes on from there. It resolves once anything is held. `None`, mostly:
    /// whoever wants the state lists it.
    fn held(&self) -> Option<LocalBoxFuture<'static, Result<HeldState, Error>>> {
        None
    }
    /// Opens the watch. Resolves once it is open; an upstream that cannot be reached is [`crate::status::ErrorCode::Network`].
    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>>;
    /// What has to be waited for before a watch is asked for; it may be over at once. `None`, mostly: nothing. Whoever does not wait may be
    /// refused.
    fn turn(&self) -> Option<Turn> {
        None
    }
    /// Whether a watch may bring the first state (`sendInitialEvents`), as far as is known.
    fn streams_first_state(&self) -> bool {
        true
    }
    /// What becomes of the stream that it passes on, where that is not its own: from now on, without an end. `None`: its watches are all there is. While
    /// nothing has come, that stream is live.
    fn standing(&self) -> Option<LocalBoxStream<'static, Standing>> {
        None
    }
    /// Whether it is asked within this process or browser, so that a try costs no server anything.
    fn is_near(&self) -> bool {
        false
    }
    /// Whether there is a request for one object. Without it, objects are looked for in lists.
    fn gets(&self) -> bool {
        false
    }
    /// Whether its lists hold some objects alone, by a selector of its own, and a get answers with any.
    fn selects(&self) -> bool {
        false
    }
    /// Asks for one object as it stands now, or for a subresource of it: its document.
    fn get(&self, _object: ObjectName, _subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        Box::pin(async { Err(Error::new(ErrorCode::Invalid, "this source gives no single objects")) })
    }
    /// Writes. Resolves with the answer's document: the object as it was written. A deletion may also be answered with a Status, or with
    /// nothing, and one of many with a list of what was deleted. An object that has changed meanwhile is a [`ErrorCode::Conflict`], one that
    /// is not there [`ErrorCode::NotFound`].
    fn write(&self, _request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        Box::pin(async { Err(Error::new(ErrorCode::Invalid, "this source takes no writes")) })
    }

    /// Who is asked, by a name that all who ask the same one give: while it is away, one of them tries for all. `None`: it is asked alone.
    fn server(&self) -> Option<String> {
        None
    }

    /// The collection of a Kubernetes API that this is; `None` for any other source.
    ///
    /// Lists of such a collection are narrowed as asked. Its continue tokens are the apiserver's, which the cache reads and writes as well.
    /// The tokens of another source are known to it alone, and what it narrows is its affair.
    fn collection(&self) -> Option<Collection> {
        None
    }

    /// Whether it reads the tokens that a cache marks as its own, as the cache of another thread does.
    fn reads_marks(&self) -> bool {
        false
    }

    /// What it is joined of, where there is no version of all of it: each branch is listed and watched by itself.
    fn branches(&self) -> Option<Rc<Branches>> {
        None
    }

    /// Whether its objects are all of one kind, which they name as those of a Kubernetes API do.
    fn names_kinds(&self) -> bool {
        false
    }

    /// The kind of what comes, where that is only a part of each object. Nobody can write an object that he has a part of.
    fn part(&self) -> Option<&'static str> {
        None
    }

    /// What the parts are, where they are rows: the JSON of a Table's `columnDefinitions`, once they are known.
    fn columns(&self) -> Option<Rc<str>> {
        None
    }

    /// Whether what it shows of an object may differ at one version of the object, as the age in a row does.
    fn is_rendered(&self) -> bool {
        false
    }

    /// How its last watch came, by the name of the option `transport`; `None` where there is no choice, and before the first.
    fn transport(&self) -> Option<&'static str> {
        None
    }

    /// Whether what it tells is only as new as its last poll.
    fn polls(&self) -> bool {
        false
    }

    /// Asks for the upstream's current version; `None` where that cannot be asked. Nothing is sent before the future is polled.
    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        None
    }

    /// Asks the upstream to send a bookmark on its open watches now; `None` where that cannot be asked, as over the Kubernetes API.
    /// Nothing is sent before the future is polled. With [`Source::current_version`] it makes consistent reads from the cache possible.
    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        None
    }

    /// Asks before which version the upstream serves no state any more; 0 where it serves all. `None` where that cannot be asked, as over the
    /// Kubernetes API. Nothing is sent before the future is polled.
    fn compacted_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        None
    }
}

/// Opens the source of one namespace. With an empty one it is asked for what all of them have in common, and never listed.
pub type OpenBranch = Box<dyn Fn(&str) -> Rc<dyn Source>>;

/// The branches of a joined source: its namespaces, and the source of each.
pub struct Branches {
    open: OpenBranch,
    sources: RefCell<BTreeMap<Rc<str>, Rc<dyn Source>>>,
}

impl Branches {
    /// None yet.
    pub fn new(open: OpenBranch) -> Self {
        Self { open, sources: RefCell::default() }
    }

    /// All of them, in the order of their namespaces.
    pub fn all(&self) -> Vec<(Rc<str>, Rc<dyn Source>)> {
        self.sources.borrow().iter().map(|(namespace, source)| (namespace.clone(), source.clone())).collect()
    }

    /// The namespaces, in their order.
    pub fn namespaces(&self) -> Vec<Rc<str>> {
        self.sources.borrow().keys().cloned().collect()
    }

    /// The source of one of them.
    pub fn source(&self, namespace: &str) -> Option<Rc<dyn Source>> {
        self.sources.borrow().get(namespace).cloned()
    }

    /// Has these namespaces and no others; what stays keeps its source. Fails, and changes nothing, where one cannot be a namespace.
    pub fn set(&self, namespaces: &[String]) -> Result<(), Error> {
        for namespace in namespaces {
            if namespace.is_empty() || key(namespace, "x").is_err() {
                return Err(Error::new(ErrorCode::Invalid, format!("namespaces: {namespace:?} cannot be the name of one")));
            }
        }
        let before = self.sources.take();
        let kept = |namespace: &String| {
            let source = before.get(namespace.as_str()).cloned().unwrap_or_else(|| (self.open)(namespace));
            (Rc::from(namespace.as_str()), source)
        };
        self.sources.replace(namespaces.iter().map(kept).collect());
        Ok(())
    }
}
