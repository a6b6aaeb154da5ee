//! A Kubernetes API: lists as streams of bytes over fetch, watches over WebSocket or as streams of lines.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use js_sys::Function;
use wasm_bindgen::{JsCast, JsValue};

use super::body::Body;
use super::credentials::Credentials;
use super::fetch::Fetch;
use super::websocket::{self, FrameEncoder, Refused};
use crate::source::kubernetes::{
    Selection, first_word, frames, list_in, list_query, namespace_of, no_web_socket, not_opened, object_path, object_query, probe,
    watch_query, with_subresource,
};
use crate::source::page::read_all;
use crate::source::{Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, WatchRequest, WriteRequest};
use crate::status::Error;
use crate::web::bag::Bag;
use crate::web::error::to_js;
use crate::web::runtime::WebRuntime;
use crate::web::values::property;

/// A resource of a Kubernetes API.
#[derive(Clone)]
pub(in crate::web) struct KubernetesSource(Rc<Transport>);

/// Where it is, and how it is reached.
struct Transport {
    server: String,
    path: String,
    selection: Selection,
    watches: Watches,
    auth: Option<Function>,
    fetch: Fetch,
}

/// How watches come.
enum Watches {
    /// Over WebSockets, made by this constructor. Their texts are encoded by this encoder, if there is one.
    Sockets { constructor: Function, encoder: Option<FrameEncoder> },
    /// As lines, over fetch.
    Streams,
}

impl KubernetesSource {
    /// Reads the options of a transport.
    pub(in crate::web) fn read(value: JsValue) -> Result<Self, JsValue> {
        let encoder = property(&value, "encoder").map(JsCast::unchecked_into);
        let given = Bag::new("transport", value);
        let streams = given.required::<String>("transport") == "fetch";
        let sockets = given.function("WebSocket");
        let watches = if streams {
            Watches::Streams
        } else {
            let constructor = sockets.ok_or_else(|| to_js(&no_web_socket()))?;
            Watches::Sockets { constructor, encoder }
        };
        let transport = Transport {
            watches,
            server: given.required("server"),
            path: given.required("path"),
            selection: Selection { labels: given.get("labelSelector"), fields: given.get("fieldSelector") },
            auth: given.function("auth"),
            fetch: Fetch { function: given.required_function("fetch"), mode: given.required("credentials") },
        };
        given.check().map(|()| Self(Rc::new(transport)))
    }

    async fn credentials(&self) -> Result<Credentials, Error> {
        Credentials::ask(self.0.auth.as_ref()).await
    }

    fn url(&self, path: &str, query: &str) -> String {
        format!("{}{path}?{query}", self.0.server)
    }

    /// The address of a watch.
    fn watch_url(&self, request: &WatchRequest, credentials: &Credentials) -> String {
        self.url(&self.0.path, &watch_query(request, &self.0.selection, &credentials.query))
    }

    async fn get_body(&self, url: &str, credentials: &Credentials) -> Result<Body, Error> {
        self.0.fetch.send("GET", url, credentials, None).await
    }
}

impl Source for KubernetesSource {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let source = self.clone();
        async move {
            let credentials = source.credentials().await?;
            let (path, request) = list_in(&source.0.path, request);
            let url = source.url(&path, &list_query(&request, &source.0.selection, &credentials.query));
            Ok(source.get_body(&url, &credentials).await?.chunks())
        }
        .boxed_local()
    }

    fn names_kinds(&self) -> bool {
        true
    }

    fn server(&self) -> Option<String> {
        Some(self.0.server.clone())
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection { namespace: namespace_of(&self.0.path).map(Into::into) })
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let source = self.clone();
        async move {
            let credentials = source.credentials().await?;
            let url = source.watch_url(&request, &credentials);
            let (constructor, encoder) = match &source.0.watches {
                Watches::Sockets { constructor, encoder } => (constructor, encoder),
                Watches::Streams => return Ok(frames(source.get_body(&url, &credentials).await?.chunks())),
            };
            match websocket::open(constructor, &url, &credentials, encoder.clone()).await {
                Ok(stream) => Ok(stream),
                Err(Refused::Told(error)) => Err(error),
                Err(Refused::Silent) => {
                    let url = source.watch_url(&probe(&request), &credentials);
                    let answer = match source.get_body(&url, &credentials).await {
                        Ok(body) => first_word(frames(body.chunks()), &WebRuntime::new()).await,
                        Err(error) => Err(error),
                    };
                    Err(not_opened(answer))
                }
            }
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        true
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move {
            let path = with_subresource(object_path(&source.0.path, &object)?, subresource.as_deref());
            let credentials = source.credentials().await?;
            let url = source.url(&path, &object_query(&credentials.query));
            read_all(source.get_body(&url, &credentials).await?.chunks()).await
        }
        .boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move {
            let Transport { path, selection, fetch, .. } = &*source.0;
            let (method, content_type, own) = (request.method(), request.content_type(), request.path(path)?);
            let credentials = source.credentials().await?;
            let url = source.url(&own, &request.query(path, selection, &credentials.query));
            let body = fetch.send(method, &url, &credentials, Some((content_type, request.into_body()))).await?;
            read_all(body.chunks()).await
        }
        .boxed_local()
    }
}
