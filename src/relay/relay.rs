//! A resource as a source.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;
use futures::{FutureExt, StreamExt, future};

use super::document::{page, parcels};
use super::streams::Streams;
use crate::cache::{Cacher, Flush, ListOptions, Resource, signal};
use crate::connection::Phase;
use crate::selector::field::escape;
use crate::source::{
    Collection, FrameStream, HeldState, History, ListRequest, Narrow, ObjectName, PageStream, Source, Standing, WatchRequest, WriteRequest,
};
use crate::status::{Error, Status};
use crate::watch::WatchOptions;

/// A resource that others have as their source. Whoever hears of its flushes ([`Resource::on_flush`]) tells them on by [`Relay::take`].
///
/// Lists and watches are answered from what it holds, by the rules of an API server. Single objects and writes go on to its own upstream: the stream
/// brings what they leave.
pub struct Relay {
    resource: Rc<Resource>,
    source: Rc<dyn Source>,
    streams: Rc<Streams>,
}

impl Relay {
    /// Over a resource and its source, which must not be joined of several: those have no version in common.
    pub fn new(resource: Rc<Resource>, source: Rc<dyn Source>) -> Self {
        Self { resource, source, streams: Rc::default() }
    }

    /// Takes a flush of the resource: its events are for the watches of the relay.
    pub fn take(&self, flush: &Flush) {
        self.streams.take(&self.resource, flush);
        // Of what is polled, that there was a poll is news in itself.
        if self.source.polls() && flush.signals & signal::STATUS != 0 {
            self.tell_poll();
        }
    }

    fn tell_poll(&self) {
        let live = |cacher: &mut Cacher| (cacher.availability().phase() == Phase::Live).then(|| cacher.version().clone());
        if let Some(version) = self.resource.with(live) {
            self.streams.reached(&self.resource, &version);
        }
    }
}

/// A list as somebody asks for it.
fn options(request: ListRequest) -> ListOptions {
    let Narrow { labels, fields, namespace, name } = request.narrow.unwrap_or_default();
    let named = name.map(|name| format!("metadata.name={}", escape(&name)));
    ListOptions {
        namespace,
        label_selector: labels,
        field_selector: fields.into_iter().chain(named).reduce(|both, one| format!("{both},{one}")),
        resource_version: request.resource_version,
        resource_version_match: request.resource_version_match,
        limit: request.limit.unwrap_or_default().into(),
        continue_token: request.continue_token,
        wait: true,
        ..ListOptions::default()
    }
}

/// Opens a watch. Fails with 410 Expired where another history has begun since: what came from there on would not be told.
fn open(streams: &Rc<Streams>, resource: &Rc<Resource>, history: Option<History>, options: WatchOptions) -> Result<FrameStream, Error> {
    let now = resource.with(|cacher| (cacher.history(), cacher.version().clone()));
    if history.is_some_and(|before| now.0.replaces(before)) {
        return Err(Status::too_old(options.resource_version.unwrap_or_default(), now.1).into());
    }
    Ok(streams.open(resource, options).boxed_local())
}

impl Source for Relay {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let resource = self.resource.clone();
        async move { Ok(page(resource.list(options(request)).await?)) }.boxed_local()
    }

    fn held(&self) -> Option<LocalBoxFuture<'static, Result<HeldState, Error>>> {
        let resource = self.resource.clone();
        let state = async move {
            // However it stands. A server would ask its own upstream while that is out of reach, and whoever comes early, or then, would
            // cost one more list. Why it does not come is told by `standing`.
            let held = resource.with(|cacher| cacher.availability_mut().wait_held());
            held.await.unwrap_or_else(|_| Err(Error::closed()))?;
            Ok(resource.with(|cacher| HeldState {
                version: cacher.version().clone(),
                history: cacher.history(),
                kept_at: cacher.availability().restored_at(),
                parcels: parcels(cacher.store().iter().cloned().collect()),
            }))
        };
        Some(state.boxed_local())
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let history = request.history;
        let options = WatchOptions {
            resource_version: Some(request.resource_version),
            resource_version_match: request.resource_version_match,
            send_initial_events: request.send_initial_events,
            allow_watch_bookmarks: request.allow_watch_bookmarks,
            timeout_seconds: Some(request.timeout_seconds),
            ..WatchOptions::default()
        };
        // Whoever has what was kept would take an open watch for the server's word.
        if let Some(confirmed) = self.resource.with(|cacher| cacher.availability_mut().wait_confirmed()) {
            let (streams, resource) = (self.streams.clone(), self.resource.clone());
            return async move {
                confirmed.await.unwrap_or_else(|_| Err(Error::closed()))?;
                open(&streams, &resource, history, options)
            }
            .boxed_local();
        }
        let watch = open(&self.streams, &self.resource, history, options);
        if self.source.polls() {
            self.tell_poll();
        }
        future::ready(watch).boxed_local()
    }

    fn standing(&self) -> Option<LocalBoxStream<'static, Standing>> {
        Some(self.resource.with(Cacher::follow).boxed_local())
    }

    fn gets(&self) -> bool {
        self.source.gets()
    }

    fn selects(&self) -> bool {
        self.source.selects()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        if subresource.is_some() || self.source.gets() {
            return self.source.get(object, subresource);
        }
        let resource = self.resource.clone();
        async move { Ok(resource.newest(object).await?.lend().to_vec()) }.boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.source.write(request)
    }

    fn collection(&self) -> Option<Collection> {
        self.source.collection()
    }

    fn is_near(&self) -> bool {
        true
    }

    fn names_kinds(&self) -> bool {
        self.source.names_kinds()
    }

    fn part(&self) -> Option<&'static str> {
        self.source.part()
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.source.columns()
    }

    fn is_rendered(&self) -> bool {
        self.source.is_rendered()
    }

    fn polls(&self) -> bool {
        self.source.polls()
    }
}
