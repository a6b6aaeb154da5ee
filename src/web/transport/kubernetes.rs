//! A Kubernetes API: lists as streams of bytes over fetch, watches over WebSocket or as streams of lines.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use js_sys::Function;
use wasm_bindgen::{JsCast, JsValue};

use super::body::Body;
use super::credentials::Credentials;
use super::fetch::{Fetch, Request};
use super::websocket::{self, FrameEncoder, Refused};
use crate::source::kubernetes::{
    ColumnsSeen, Form, Selection, first_word, frames, in_namespace, list_in, list_query, namespace_of, no_web_socket, not_opened,
    object_path, object_query, probe, row_of_answer, rows_of_frames, rows_of_page, watch_query, with_subresource,
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
#[derive(Clone)]
struct Transport {
    server: String,
    path: String,
    selection: Selection,
    form: Form,
    columns: ColumnsSeen,
    watches: Watches,
    auth: Option<Function>,
    fetch: Fetch,
}

/// How watches come.
#[derive(Clone)]
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
            form: Form::named(given.get::<String>("as").as_deref()).map_err(|error| to_js(&error))?,
            columns: ColumnsSeen::default(),
            auth: given.function("auth"),
            fetch: Fetch { function: given.required_function("fetch"), mode: given.required("credentials") },
        };
        given.check().map(|()| Self(Rc::new(transport)))
    }

    /// The same resource in one namespace alone.
    pub(in crate::web) fn within(&self, namespace: &str) -> Self {
        let path = in_namespace(&self.0.path, namespace).filter(|_| !namespace.is_empty());
        let path = path.unwrap_or_else(|| self.0.path.clone());
        Self(Rc::new(Transport { path, columns: ColumnsSeen::default(), ..(*self.0).clone() }))
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

    async fn get_body(&self, accept: &str, url: &str, credentials: &Credentials) -> Result<Body, Error> {
        self.0.fetch.send(Request { method: "GET", accept, content: None }, url, credentials).await
    }

    /// The frames of a watch over fetch.
    async fn frames(&self, url: &str, credentials: &Credentials) -> Result<FrameStream, Error> {
        let Transport { form, columns, .. } = &*self.0;
        let frames = frames(self.get_body(form.accept(false), url, credentials).await?.chunks());
        Ok(if *form == Form::Table { rows_of_frames(frames, columns.clone()) } else { frames })
    }

    /// The answer to a request about one object, which came in this form.
    fn answer(&self, form: Form, document: Vec<u8>) -> Result<Vec<u8>, Error> {
        if form == Form::Table { row_of_answer(document, &self.0.columns) } else { Ok(document) }
    }
}

impl Source for KubernetesSource {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let source = self.clone();
        async move {
            let credentials = source.credentials().await?;
            let (path, request) = list_in(&source.0.path, request);
            let url = source.url(&path, &list_query(&request, &source.0.selection, &credentials.query));
            let Transport { form, columns, .. } = &*source.0;
            let page = source.get_body(form.accept(true), &url, &credentials).await?.chunks();
            Ok(if *form == Form::Table { rows_of_page(page, columns.clone()) } else { page })
        }
        .boxed_local()
    }

    fn part(&self) -> Option<&'static str> {
        self.0.form.kind()
    }

    fn is_rendered(&self) -> bool {
        self.0.form == Form::Table
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.0.columns.newest()
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
                Watches::Streams => return source.frames(&url, &credentials).await,
            };
            match websocket::open(constructor, &url, &credentials, encoder.clone()).await {
                Ok(stream) => Ok(stream),
                Err(Refused::Told(error)) => Err(error),
                Err(Refused::Silent) => {
                    let url = source.watch_url(&probe(&request), &credentials);
                    let answer = match source.frames(&url, &credentials).await {
                        Ok(frames) => first_word(frames, &WebRuntime::new()).await,
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
            // A part with an address of its own is no row of the Table.
            let form = if subresource.is_none() { source.0.form } else { Form::Whole };
            let document = read_all(source.get_body(form.accept(false), &url, &credentials).await?.chunks()).await?;
            source.answer(form, document)
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
            let form = if request.answers_object() { source.0.form } else { Form::Whole };
            let sent = Request { method, accept: form.accept(false), content: Some((content_type, request.into_body())) };
            let document = read_all(fetch.send(sent, &url, &credentials).await?.chunks()).await?;
            source.answer(form, document)
        }
        .boxed_local()
    }
}
