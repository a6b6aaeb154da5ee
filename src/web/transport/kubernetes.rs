//! A Kubernetes API: lists as streams of bytes over fetch, watches over WebSocket or as streams of lines.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use js_sys::{Array, Function};
use wasm_bindgen::{JsCast, JsValue};

use super::body::Body;
use super::credentials::Credentials;
use super::fetch::{Fetch, Request};
use super::websocket::{self, Encoder};
use crate::runtime::SharedRuntime;
use crate::source::kubernetes::{
    ColumnsSeen, Connector, Form, Selection, Transport, Unopened, Wire, asked_in_turn, frames, group_of, in_namespace, list_in, list_query,
    namespace_of, object_path, object_query, row_of_answer, rows_of_frames, rows_of_page, watch_query, with_subresource,
};
use crate::source::page::read_all;
use crate::source::{Collection, FrameStream, ListRequest, ObjectName, PageStream, Source, Turn, WatchRequest, WriteRequest};
use crate::status::Error;
use crate::web::bag::Bag;
use crate::web::error::to_js;
use crate::web::runtime::{WebRuntime, servers};
use crate::web::values::property;

/// A resource of a Kubernetes API.
#[derive(Clone)]
pub(in crate::web) struct KubernetesSource(Rc<Upstream>);

/// Where it is, and how it is reached.
struct Upstream {
    api: Api,
    path: String,
    columns: ColumnsSeen,
    connector: Connector,
}

/// The API that it is of, and how that is reached: what the resource of one namespace shares with those of others.
#[derive(Clone)]
struct Api {
    server: String,
    transport: Transport,
    selection: Selection,
    form: Form,
    sockets: Option<Function>,
    encoder: Option<Rc<Encoder>>,
    auth: Option<Function>,
    /// Says who else may ask, where the server refuses who did.
    others: Option<Function>,
    fetch: Fetch,
    /// By which protocol the server has answered. Only where the host has few connections.
    protocol: Option<Function>,
    /// Hears that the server's WebSockets are refused.
    fell_back: Option<Function>,
}

impl Upstream {
    fn new(api: Api, path: String) -> Self {
        let runtime: SharedRuntime = Rc::new(WebRuntime::new());
        let connector = Connector::new(&servers(), &api.server, api.transport, runtime);
        Self { api, path, columns: ColumnsSeen::default(), connector }
    }
}

impl KubernetesSource {
    /// Reads the options of a transport.
    pub(in crate::web) fn read(value: JsValue) -> Result<Self, JsValue> {
        let encoder = property(&value, "encoder").map(|encoder| Encoder::new(encoder.unchecked_into()));
        let given = Bag::new("transport", value);
        let sockets = given.function("WebSocket");
        let transport = Transport::named(&given.required::<String>("transport"), sockets.is_some());
        let api = Api {
            server: given.required("server"),
            transport: transport.map_err(|error| to_js(&error))?,
            selection: Selection { labels: given.get("labelSelector"), fields: given.get("fieldSelector") },
            form: Form::named(given.get::<String>("as").as_deref()).map_err(|error| to_js(&error))?,
            sockets,
            encoder,
            auth: given.function("auth"),
            others: given.function("others"),
            fetch: Fetch { function: given.required_function("fetch"), mode: given.required("credentials") },
            protocol: given.function("protocol"),
            fell_back: given.function("fellBack"),
        };
        let path = given.required("path");
        given.check().map(|()| Self(Rc::new(Upstream::new(api, path))))
    }

    /// The same resource in one namespace alone.
    pub(in crate::web) fn within(&self, namespace: &str) -> Self {
        let path = in_namespace(&self.0.path, namespace).filter(|_| !namespace.is_empty());
        let path = path.unwrap_or_else(|| self.0.path.clone());
        Self(Rc::new(Upstream::new(self.0.api.clone(), path)))
    }

    /// Asks the server in the name of whoever may.
    async fn asked<T>(&self, ask: impl AsyncFn(&Rc<Credentials>) -> Result<T, Error>) -> Result<T, Error> {
        let Api { auth, others, .. } = &self.0.api;
        let refused = Array::new();
        let others = async |last: Rc<Credentials>| Ok(last.others(others.as_ref(), &refused).await?.map(Rc::new));
        asked_in_turn(Rc::new(Credentials::ask(auth.as_ref()).await?), ask, others).await
    }

    fn url(&self, path: &str, query: &str) -> String {
        format!("{}{path}?{query}", self.0.api.server)
    }

    /// The address of a watch.
    fn watch_url(&self, request: &WatchRequest, credentials: &Credentials) -> String {
        self.url(&self.0.path, &watch_query(request, &self.0.api.selection, &credentials.query))
    }

    async fn get_body(&self, accept: &str, url: &str, credentials: &Credentials) -> Result<Body, Error> {
        self.0.api.fetch.send(Request { method: "GET", accept, content: None }, url, credentials).await
    }

    /// The frames of a watch over fetch.
    async fn frames(&self, url: &str, credentials: &Credentials) -> Result<FrameStream, Error> {
        let form = self.0.api.form;
        let frames = frames(self.get_body(form.accept(false), url, credentials).await?.chunks());
        Ok(if form == Form::Table { rows_of_frames(frames, self.0.columns.clone()) } else { frames })
    }

    /// By which protocol the server's last answer came.
    fn protocol(&self) -> Option<String> {
        let told = self.0.api.protocol.as_ref()?.call1(&JsValue::UNDEFINED, &self.0.api.server.as_str().into());
        Some(told.ok().and_then(|protocol| protocol.as_string()).unwrap_or_default())
    }

    /// Says once that the server's WebSockets are refused.
    fn tell_fell_back(&self) {
        if let Some(hears) = &self.0.api.fell_back {
            let _thrown = hears.call1(&JsValue::UNDEFINED, &self.0.api.server.as_str().into());
        }
    }

    /// The answer to a request about one object, which came in this form.
    fn answer(&self, form: Form, document: Vec<u8>) -> Result<Vec<u8>, Error> {
        if form == Form::Table { row_of_answer(document, &self.0.columns) } else { Ok(document) }
    }
}

/// One watch of it.
struct Watch {
    source: KubernetesSource,
    credentials: Rc<Credentials>,
}

impl Wire for Watch {
    fn has_headers(&self) -> bool {
        self.credentials.has_headers()
    }

    fn socket(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Unopened>> {
        let (source, credentials) = (self.source.clone(), self.credentials.clone());
        let url = source.watch_url(request, &credentials);
        async move {
            let Api { sockets, encoder, .. } = &source.0.api;
            match sockets {
                Some(constructor) => websocket::open(constructor, &url, &credentials, encoder.clone()).await,
                None => Err(Unopened::Silent),
            }
        }
        .boxed_local()
    }

    fn lines(&self, request: &WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let (source, credentials) = (self.source.clone(), self.credentials.clone());
        let url = source.watch_url(request, &credentials);
        async move { source.frames(&url, &credentials).await }.boxed_local()
    }
}

impl Source for KubernetesSource {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let source = self.clone();
        async move {
            let (path, request) = list_in(&source.0.path, request);
            let Api { selection, form, .. } = &source.0.api;
            let body = source.asked(async |credentials| {
                let url = source.url(&path, &list_query(&request, selection, &credentials.query));
                source.get_body(form.accept(true), &url, credentials).await
            });
            let page = body.await?.chunks();
            Ok(if *form == Form::Table { rows_of_page(page, source.0.columns.clone()) } else { page })
        }
        .boxed_local()
    }

    fn part(&self) -> Option<&'static str> {
        self.0.api.form.kind()
    }

    fn is_rendered(&self) -> bool {
        self.0.api.form == Form::Table
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.0.columns.newest()
    }

    fn names_kinds(&self) -> bool {
        true
    }

    fn server(&self) -> Option<String> {
        Some(self.0.api.server.clone())
    }

    fn collection(&self) -> Option<Collection> {
        let owned = |text: Option<&str>| text.map(Into::into);
        Some(Collection { namespace: owned(namespace_of(&self.0.path)), group: owned(group_of(&self.0.path)) })
    }

    fn turn(&self) -> Option<Turn> {
        self.0.connector.turn(self.protocol().as_deref())
    }

    fn streams_first_state(&self) -> bool {
        self.0.connector.streams_first_state()
    }

    fn transport(&self) -> Option<&'static str> {
        self.0.connector.taken().map(Transport::name)
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let source = self.clone();
        async move {
            let opened = source.asked(async |credentials| {
                let watch = Watch { source: source.clone(), credentials: credentials.clone() };
                source.0.connector.open(&watch, &request, source.protocol().as_deref()).await
            });
            let opened = opened.await;
            if source.0.connector.fell_back() {
                source.tell_fell_back();
            }
            opened
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        true
    }

    fn selects(&self) -> bool {
        let Selection { labels, fields } = &self.0.api.selection;
        [labels, fields].into_iter().flatten().any(|selector| !selector.is_empty())
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move {
            let path = with_subresource(object_path(&source.0.path, &object)?, subresource.as_deref());
            // A part with an address of its own is no row of the Table.
            let form = if subresource.is_none() { source.0.api.form } else { Form::Whole };
            let body = source.asked(async |credentials| {
                let url = source.url(&path, &object_query(&credentials.query));
                source.get_body(form.accept(false), &url, credentials).await
            });
            source.answer(form, read_all(body.await?.chunks()).await?)
        }
        .boxed_local()
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let source = self.clone();
        async move {
            let Api { selection, fetch, form, .. } = &source.0.api;
            let path = &source.0.path;
            let (method, content_type, own) = (request.method(), request.content_type(), request.path(path)?);
            let form = if request.answers_object() { *form } else { Form::Whole };
            let sent = request.body();
            let body = source.asked(async |credentials| {
                let url = source.url(&own, &request.query(path, selection, &credentials.query));
                let request = Request { method, accept: form.accept(false), content: Some((content_type, &sent)) };
                fetch.send(request, &url, credentials).await
            });
            source.answer(form, read_all(body.await?.chunks()).await?)
        }
        .boxed_local()
    }
}
