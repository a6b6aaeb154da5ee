//! Reads: gets and lists, from the state held where that is what was asked for, from the upstream where it is not.

use std::cell::Cell;
use std::rc::Rc;

use super::access::Access;
use super::waits::{MAX_FRESH_WAIT_MS, MAX_NEAR_WAIT_MS};
use crate::cache::list::delegate::{Ability, Answerer, answerer};
use crate::cache::list::{List, ListOptions, Request, Token, Want, read};
use crate::key::{prepare, split};
use crate::metrics::Fallback;
use crate::object::Object;
use crate::source::{ListRequest, Narrow, ObjectName, Pager};
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// No number of our own is below it: they count from the wall's clock, and this is the first of January 2025, in milliseconds.
const FIRST_LOCAL: u64 = 1_735_689_600_000;

/// Answers gets and lists.
pub(super) struct Reads {
    access: Rc<Access>,
    // Whether a consistent read that the cache cannot serve in time is refused, and the upstream spared.
    spare_upstream: Cell<bool>,
}

impl Reads {
    /// From the state once it is fresh enough, else from the upstream.
    pub(super) fn new(access: Rc<Access>) -> Rc<Self> {
        Rc::new(Self { access, spare_upstream: Cell::new(false) })
    }

    /// See `Resource::spare_upstream`.
    pub(super) fn spare_upstream(&self, spare: bool) {
        self.spare_upstream.set(spare);
    }

    /// See `Resource::get`.
    pub(super) async fn get(&self, key: &str, resource_version: Option<&str>) -> Result<Rc<Object>, Error> {
        let (namespace, name) = split(key);
        if name.is_empty() {
            return Err(Status::bad_request("resource name may not be empty").into());
        }
        prepare("/", &format!("/{key}"), false)?;
        let text = resource_version.filter(|text| !text.is_empty());
        let version = text.map(|text| Version::parse(text).map_err(|error| Error::no_version(&error))).transpose()?;
        self.check_version(version.as_ref())?;
        self.access.waits.check_open()?;
        let ready = self.access.cacher.borrow().availability().ready().is_ready();
        if let Some(version) = version.filter(|_| ready) {
            self.access.waits.until_fresh(&version, MAX_FRESH_WAIT_MS).await?;
            let held = self.access.cacher.borrow().store().get(key).cloned();
            return held.ok_or_else(|| self.access.not_found(name));
        }
        // A list of one name: any API that can be listed can do it, and it is as consistent as a get.
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let narrow = Narrow { namespace: some(namespace), name: some(name), ..Narrow::default() };
        let request = ListRequest { resource_version: text.map(Into::into), narrow: Some(narrow), ..ListRequest::default() };
        let (mut pager, mut found) = (Pager::new(request), None);
        // A source that leaves the list whole may page it.
        while let Some(request) = pager.request().filter(|_| found.is_none()) {
            let each = &mut |object: Rc<Object>| {
                if **object.key() == *key {
                    found = Some(object);
                }
            };
            let head = match self.access.upstream.page(request, each).await {
                // Who may get an object may not always list it. At its own address any version will do, or the newest is what is asked for.
                Err(error) if error.code == ErrorCode::Forbidden && text.is_none_or(|text| text == "0") => {
                    found = Some(self.get_alone(namespace, name).await.ok_or(error)??).filter(|object| **object.key() == *key);
                    break;
                }
                answered => answered?,
            };
            pager.follow(&head)?;
        }
        let held = found.and_then(|object| self.access.upstream.with_identity(vec![object]).pop());
        held.ok_or_else(|| self.access.not_found(name))
    }

    /// At the object's own address. `None` where the source has none that is as good as a list of one name.
    async fn get_alone(&self, namespace: &str, name: &str) -> Option<Result<Rc<Object>, Error>> {
        let whole = ObjectName { namespace: namespace.to_owned(), name: name.to_owned() };
        self.access.upstream.single(whole).await.filter(|answer| !matches!(answer, Err(error) if error.code == ErrorCode::Invalid))
    }

    /// See `Resource::list`.
    pub(super) async fn list(&self, options: ListOptions) -> Result<List, Error> {
        let request = self.request(options)?;
        self.check_version(request.checked.as_ref().and_then(|checked| match &checked.want {
            Want::NotOlderThan(version) | Want::Exact(version) => Some(version),
            _ => None,
        }))?;
        if self.access.upstream.is_joined() {
            // Its version is one of the cache's own, which there is once all have listed.
            self.access.waits.until_ready(request.options.wait, true).await?;
            if request.is_whole_and_newest() {
                return self.access.upstream.list(&request).await;
            }
        }
        if request.is_whole_and_newest() && !self.access.waits.are_hastened() {
            return self.list_newest(&request).await;
        }
        if self.answerer(&request)? == Answerer::Upstream {
            let is_marked = || request.options.token().is_some_and(Token::is_private);
            if request.private && is_marked() && !self.access.upstream.reads_marks() {
                // The source does not know our tokens.
                return Err(
                    Status::new(410, "Expired", "The provided continue parameter is too old to display a consistent list result.").into()
                );
            }
            return self.access.upstream.list(&request).await;
        }
        let now = self.access.runtime.now();
        let ready = self.access.cacher.borrow().availability().ready().check(now);
        if let Err(error) = ready {
            if request.is_unselective() && request.options.limit > 0 {
                return self.access.upstream.list(&request).await;
            }
            if !request.options.wait {
                return Err(error);
            }
            self.access.waits.until_ready(true, true).await?;
            if self.answerer(&request)? == Answerer::Upstream {
                return self.access.upstream.list(&request).await;
            }
        }
        let answer = self.list_cached(&request).await;
        match answer {
            // What was held when it was decided is gone: compacted meanwhile, or replaced by a list.
            Err(error) if error.status.as_ref().is_some_and(|status| status.is_expired()) => self.access.upstream.list(&request).await,
            answer => answer,
        }
    }

    /// Refuses the version of an object where that of the whole is meant, and is a number of our own. One of an earlier session is an old one.
    fn check_version(&self, version: Option<&Version>) -> Result<(), Error> {
        let cacher = self.access.cacher.borrow();
        match (version, cacher.local_from()) {
            (Some(version), Some(from)) if !version.is_zero() && version < from && version.as_u64() < Some(FIRST_LOCAL) => {
                let message = format!(
                    "resourceVersion {version} is none of this resource, whose versions are its own because it has several namespaces: \
                     take them from `resourceVersion`, lists and events"
                );
                Err(Error::new(ErrorCode::Invalid, message))
            }
            _ => Ok(()),
        }
    }

    /// Reads the options.
    pub(super) fn request(&self, options: ListOptions) -> Result<Request, Error> {
        let fields = self.access.cacher.borrow().fields().clone();
        let mut fields = fields.borrow_mut();
        // Nothing says it but the objects themselves.
        let clustered = self.access.cacher.borrow().store().iter().next().is_some_and(|object| object.namespace().is_empty());
        Request::new(options, self.access.upstream.collection().as_ref(), clustered, &root(&self.access.name), &mut fields)
    }

    fn answerer(&self, request: &Request) -> Result<Answerer, Error> {
        self.access.waits.check_open()?;
        let cacher = self.access.cacher.borrow();
        let Some(checked) = &request.checked else { return Ok(Answerer::Upstream) };
        let ability = Ability { consistent: self.access.waits.are_hastened(), version: cacher.version() };
        Ok(answerer(&checked.want, request.is_recursive(), ability, |version| cacher.held().has_state_at(version)))
    }

    /// Reads the state held once it is fresh enough.
    async fn list_cached(&self, request: &Request) -> Result<List, Error> {
        match request.checked.as_ref().map(|checked| &checked.want) {
            Some(Want::Newest | Want::NewestContinued) => return self.list_consistent(request).await,
            Some(Want::NotOlderThan(version) | Want::Exact(version)) => self.access.waits.until_fresh(version, MAX_FRESH_WAIT_MS).await?,
            None => {}
        }
        read(&self.access.cacher.borrow(), request)
    }

    /// As new as the upstream is now, by its version and its progress.
    async fn list_consistent(&self, request: &Request) -> Result<List, Error> {
        let metrics = self.access.cacher.borrow().metrics().clone();
        let current = self.access.upstream.current_version().await?;
        let Err(error) = self.access.waits.until_fresh(&current, MAX_FRESH_WAIT_MS).await else {
            metrics.consistent_read(true, Fallback::No);
            return read(&self.access.cacher.borrow(), request);
        };
        let late = error.status.as_ref().is_some_and(|status| status.is_too_large());
        if !late {
            return Err(error);
        }
        if self.spare_upstream.get() {
            metrics.consistent_read(false, Fallback::Skipped);
            return Err(Status::too_many_requests(error.message, 1).into());
        }
        let answer = self.access.upstream.list(request).await;
        metrics.consistent_read(answer.is_ok(), Fallback::Yes);
        answer
    }

    /// Everything, as new as the upstream is now, which tells no progress. The cache answers if it has come as far. To know that takes the
    /// smallest list there is; the answer itself may be megabytes.
    async fn list_newest(&self, request: &Request) -> Result<List, Error> {
        let ready = self.access.waits.until_ready(request.options.wait, true).await;
        self.access.waits.check_open()?;
        match ready {
            Ok(()) => {
                let current = self.access.upstream.current_version().await?;
                if self.access.waits.until_fresh(&current, MAX_NEAR_WAIT_MS).await.is_ok() {
                    return read(&self.access.cacher.borrow(), request);
                }
            }
            Err(refusal) if request.options.wait => return Err(refusal),
            Err(_) => {} // not ready, and not to be waited for
        }
        self.access.upstream.list(request).await
    }
}

/// What all paths of a resource begin with. Its name may be any text; for one that is no path `objects` stands.
pub(super) fn root(name: &str) -> String {
    let clean = !name.is_empty() && name.split('/').all(|element| !matches!(element, "" | "." | ".."));
    format!("/{}/", if clean { name } else { "objects" })
}
