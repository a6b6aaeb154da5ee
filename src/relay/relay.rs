//! A resource as a source.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};

use super::document::page;
use super::streams::Streams;
use crate::cache::{ListOptions, Resource};
use crate::selector::field::escape;
use crate::source::{Collection, FrameStream, ListRequest, Narrow, ObjectName, PageStream, Source, WatchRequest, WriteRequest};
use crate::status::Error;
use crate::watch::WatchOptions;

/// A resource that others have as their source. It is told of flushes by [`Resource::on_flush`], so nobody else may be.
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
        let streams = Rc::<Streams>::default();
        let (told, of) = (streams.clone(), Rc::downgrade(&resource));
        resource.on_flush(move |flush| {
            if let Some(resource) = of.upgrade() {
                told.take(&resource, &flush);
            }
        });
        Self { resource, source, streams }
    }
}

/// A list of what is held. What the list of a reflector asks for is held in any case, and need not be the upstream's newest.
fn options(request: ListRequest) -> ListOptions {
    let Narrow { labels, fields, namespace, name } = request.narrow.unwrap_or_default();
    let named = name.map(|name| format!("metadata.name={}", escape(&name)));
    let resource_version = if request.as_held { Some("0".into()) } else { request.resource_version };
    ListOptions {
        namespace,
        label_selector: labels,
        field_selector: fields.into_iter().chain(named).reduce(|both, one| format!("{both},{one}")),
        resource_version,
        resource_version_match: request.resource_version_match,
        limit: request.limit.unwrap_or_default().into(),
        continue_token: request.continue_token,
        wait: true,
        ..ListOptions::default()
    }
}

impl Source for Relay {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let list = self.resource.clone().list(options(request));
        async move { Ok(page(list.await?)) }.boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let options = WatchOptions {
            resource_version: Some(request.resource_version),
            resource_version_match: request.resource_version_match,
            send_initial_events: request.send_initial_events,
            allow_watch_bookmarks: request.allow_watch_bookmarks,
            timeout_seconds: Some(request.timeout_seconds),
            ..WatchOptions::default()
        };
        let (streams, resource) = (self.streams.clone(), self.resource.clone());
        async move { Ok(streams.open(&resource, options).boxed_local()) }.boxed_local()
    }

    fn gets(&self) -> bool {
        self.source.gets()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.source.get(object, subresource)
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.source.write(request)
    }

    fn collection(&self) -> Option<Collection> {
        self.source.collection()
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
