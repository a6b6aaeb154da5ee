//! Requests about one object: how long one may take, when it is sent again, and how the newest state of an object is asked for.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};

use super::access::Access;
use crate::json::fields::FieldSet;
use crate::json::scan::scan_object;
use crate::object::Object;
use crate::source::page;
use crate::source::{ListRequest, Narrow, ObjectName, Pager, Source, WriteRequest};
use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// How long a request may take, and how long all tries of one call: what an apiserver gives a request.
pub(super) const MAX_REQUEST_MS: Millis = 60_000;
/// How often a request is sent again because the server says when to come back, as in client-go.
const MAX_RETRIES: u32 = 10;
/// How long it waits where nothing says so. A page of another origin cannot read the header, which mostly says a second.
const DEFAULT_RETRY_AFTER_MS: Millis = 1_000;

/// Asks the source of a resource about one object at a time.
pub(super) struct Requests {
    access: Rc<Access>,
    source: Rc<dyn Source>,
}

impl Requests {
    /// To this source.
    pub(super) fn new(access: Rc<Access>, source: Rc<dyn Source>) -> Self {
        Self { access, source }
    }

    /// The kind of what is held, where that is a part of each object alone.
    pub(super) fn part(&self) -> Option<&'static str> {
        self.source.part()
    }

    /// The object as it stands upstream, whole, or a subresource of it.
    pub(super) async fn newest(&self, name: &ObjectName, subresource: Option<&str>) -> Result<Rc<Object>, Error> {
        if !self.source.gets() {
            return match subresource {
                None => match select(self.newest_of_list(name).boxed_local(), self.access.runtime.sleep(MAX_REQUEST_MS)).await {
                    Either::Left((newest, _)) => newest,
                    Either::Right(_) => Err(no_answer()),
                },
                Some(_) => Err(Error::new(ErrorCode::Invalid, "the source gives no single objects, and so no subresource of one")),
            };
        }
        let subresource = subresource.map(ToOwned::to_owned);
        let answer = self.send(|| self.source.get(name.clone(), subresource.clone())).await?;
        let scanned = scan_object(&answer, &whole()).map_err(|error| Error::decode(error.to_string()))?;
        let object = Object::new(scanned)?;
        if object.name() == name.name {
            return Ok(object);
        }
        Err(Error::protocol(format!("{:?} was asked for, and {:?} was answered", name.name, object.name())))
    }

    /// The same, of a source that only lists.
    async fn newest_of_list(&self, name: &ObjectName) -> Result<Rc<Object>, Error> {
        let limit = self.access.upstream.page_limit();
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let narrow = Narrow { namespace: some(&name.namespace), name: some(&name.name), ..Narrow::default() };
        let mut pager = Pager::new(ListRequest { limit, narrow: Some(narrow), ..ListRequest::default() });
        let (fields, mut found) = (RefCell::new(whole()), None);
        while let Some(request) = pager.request() {
            let body = self.source.list(request).await?;
            let head = page::read(body, &fields, &*self.access.runtime, &mut |item| {
                let namespace = item.namespace.as_deref().unwrap_or("");
                if item.name.as_deref() == Some(&name.name) && (name.namespace.is_empty() || namespace == name.namespace) {
                    found = Some(Object::new(item));
                }
            })
            .await?;
            if let Some(found) = found {
                return found;
            }
            pager.follow(&head)?;
        }
        Err(self.access.not_found(&name.name))
    }

    /// Sends a write. Its answer is the object as the upstream keeps it, or a Status.
    pub(super) async fn write(&self, request: WriteRequest) -> Result<Vec<u8>, Error> {
        self.send(|| self.source.write(request.clone())).await.map_err(|mut error| {
            if matches!(error.code, ErrorCode::Network | ErrorCode::Timeout) && error.status.is_none() && !error.unsent {
                error.message.push_str("; whether the write has happened is not known");
            }
            error
        })
    }

    /// Sends a request, and sends it again only where it cannot happen twice. That is once with new credentials, and while the server says
    /// that it took nothing and when to come back.
    async fn send(&self, request: impl Fn() -> LocalBoxFuture<'static, Result<Vec<u8>, Error>>) -> Result<Vec<u8>, Error> {
        let deadline = self.access.runtime.now() + MAX_REQUEST_MS;
        let (mut asked_again, mut retries) = (false, 0);
        loop {
            self.access.waits.check_open()?;
            let error = match select(request(), self.access.runtime.sleep(MAX_REQUEST_MS)).await {
                Either::Left((Ok(answer), _)) => return Ok(answer),
                Either::Left((Err(error), _)) => error,
                Either::Right(_) => return Err(no_answer()),
            };
            match error.code {
                ErrorCode::Unauthorized if !asked_again => asked_again = true,
                ErrorCode::TooManyRequests => {
                    let wait = error.retry_after_seconds.map_or(DEFAULT_RETRY_AFTER_MS, |seconds| Millis::from(seconds) * 1000);
                    if retries == MAX_RETRIES || self.access.runtime.now() + wait > deadline {
                        return Err(error);
                    }
                    retries += 1;
                    self.access.runtime.sleep(wait).await;
                }
                _ => return Err(error),
            }
        }
    }
}

fn no_answer() -> Error {
    Error::new(ErrorCode::Timeout, format!("no answer came within {MAX_REQUEST_MS} ms"))
}

/// Everything of an object, nothing stripped.
pub(super) fn whole() -> FieldSet {
    FieldSet::new(Vec::new())
}
