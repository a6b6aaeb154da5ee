//! Lists and gets: from the state where it is new enough, from the upstream where it is not.

use std::collections::HashSet;
use std::rc::Rc;

use futures::StreamExt;
use futures::future::select;

use crate::cache::freshness::FRESH_LIMIT_MS;
use crate::cache::resource::Resource;
use crate::json::list::{ListHead, ListScanner};
use crate::object::Object;
use crate::runtime::Millis;
use crate::source::page::{check, head_version};
use crate::source::{ListRequest, Narrow};
use crate::status::{Error, Status};
use crate::version::Version;
use crate::watch::filter::Filter;

/// How long a consistent read waits for the stream before it asks the upstream for the objects themselves. The stream of a busy resource
/// is there within that; a quiet one hears of the upstream's version with the next bookmark only, and the API offers no way to ask for one.
const CONSISTENT_WAIT_MS: Millis = 250;

/// What a list asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// Unset: the upstream's current version; `"0"`: any; `n`: not older than that.
    pub resource_version: Option<String>,
    /// Whether to wait for readiness rather than fail with 429.
    pub wait: bool,
}

/// Objects in key order, and the version at which that is all of them.
pub type Listed = (Vec<Rc<Object>>, Version);

impl Resource {
    /// Lists objects in key order.
    pub async fn list(self: Rc<Self>, options: ListOptions) -> Result<Listed, Error> {
        let filter = self.cacher.borrow().filter(
            options.namespace.as_deref(),
            options.label_selector.as_deref(),
            options.field_selector.as_deref(),
        )?;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let narrow = Narrow {
            labels: options.label_selector.filter(|text| !text.is_empty()),
            namespace: some(filter.scope_namespace()),
            name: some(filter.scope_name()),
        };
        self.read(&filter, narrow, options.resource_version.as_deref(), options.wait).await
    }

    /// Gets one object, not older than the version asked for; 404 when there is none.
    pub async fn get(self: Rc<Self>, key: String, resource_version: Option<String>) -> Result<Rc<Object>, Error> {
        let (namespace, name) = crate::key::split(&key);
        let fields = self.cacher.borrow().fields().clone();
        let filter = Filter::new(Some(namespace), Some(name), None, None, &mut fields.borrow_mut())?;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let narrow = Narrow { labels: None, namespace: some(namespace), name: some(name) };
        let (objects, _) = self.read(&filter, narrow, resource_version.as_deref(), true).await?;
        let found = objects.into_iter().find(|object| **object.key() == *key);
        found.ok_or_else(|| Status::not_found(&self.config.name, name).into())
    }

    async fn read(&self, filter: &Filter, narrow: Narrow, version: Option<&str>, wait: bool) -> Result<Listed, Error> {
        let asked = match version.filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => Some(Version::parse(text).map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?),
        };
        self.until_ready(wait).await?;
        match asked {
            Some(version) => self.until_fresh(&version, FRESH_LIMIT_MS).await?,
            None => {
                let current = self.current_version().await?;
                if self.until_fresh(&current, CONSISTENT_WAIT_MS).await.is_err() {
                    return self.read_upstream(filter, narrow).await;
                }
            }
        }
        let cacher = self.cacher.borrow();
        Ok((cacher.select(filter).collect(), cacher.version().clone()))
    }

    /// Waits until the cacher is ready; without `wait` fails with its 429.
    pub(super) async fn until_ready(&self, wait: bool) -> Result<(), Error> {
        loop {
            let now = self.runtime.now();
            let waiter = {
                let mut cacher = self.cacher.borrow_mut();
                match cacher.ready().check(now) {
                    Ok(()) => return Ok(()),
                    Err(error) if !wait || cacher.ready().is_stopped() => return Err(error),
                    Err(_) => cacher.ready().wait(),
                }
            };
            if let Some(waiter) = waiter {
                let _woken = waiter.await;
            }
        }
    }

    /// Waits until the cacher has reached a version, so long at most; then 504, "Too large resource version".
    pub(super) async fn until_fresh(&self, version: &Version, limit: Millis) -> Result<(), Error> {
        let deadline = self.runtime.now() + limit;
        loop {
            let waiter = {
                let mut cacher = self.cacher.borrow_mut();
                if cacher.version() >= version {
                    return Ok(());
                }
                if cacher.ready().is_stopped() {
                    return Err(Error::closed());
                }
                let left = deadline.saturating_sub(self.runtime.now());
                if left == 0 {
                    return Err(Status::too_large(version, cacher.version()).into());
                }
                select(cacher.freshness().wait(version.clone()), self.runtime.sleep(left))
            };
            let _woken = waiter.await;
        }
    }

    /// The upstream's current version, by the smallest consistent list.
    pub(super) async fn current_version(&self) -> Result<Version, Error> {
        let request = ListRequest { limit: Some(1), ..ListRequest::default() };
        let head = self.page(request, &mut |_| {}).await?;
        head_version(&head)
    }

    /// Lists from the upstream, narrowed where it can, and filtered here in any case. What is held at the same version keeps its identity.
    async fn read_upstream(&self, filter: &Filter, narrow: Narrow) -> Result<Listed, Error> {
        let limit = Some(self.config.reflector.page_size).filter(|size| *size > 0);
        let mut request = ListRequest { limit, narrow: Some(narrow), ..ListRequest::default() };
        let mut objects = Vec::new();
        let mut first_version = None;
        let mut tokens = HashSet::new();
        loop {
            let head = self.page(request.clone(), &mut |object| objects.push(object)).await?;
            if first_version.is_none() {
                first_version = Some(head_version(&head)?);
            }
            let Some(token) = head.continue_token else {
                let version = first_version.unwrap_or_default();
                let fields = self.cacher.borrow().fields().clone();
                objects.retain(|object: &Rc<Object>| filter.passes(object, &fields.borrow()));
                objects.sort_by(|a, b| a.key().cmp(b.key()));
                return Ok((self.with_identity(objects), version));
            };
            if !tokens.insert(token.clone()) {
                return Err(Error::protocol("the list goes in circles: a page continues with the token of an earlier one"));
            }
            request.continue_token = Some(token);
        }
    }

    async fn page(&self, request: ListRequest, each: &mut dyn FnMut(Rc<Object>)) -> Result<ListHead, Error> {
        let mut page = self.source.list(request).await?;
        let mut scanner = ListScanner::new();
        let mut refused = None;
        while let Some(chunk) = page.next().await {
            let chunk = chunk?;
            let fields = self.cacher.borrow().fields().clone();
            let scanned = scanner.push(&chunk, &fields.borrow(), &mut |item| match Object::new(item) {
                Ok(object) => each(object),
                Err(error) => refused = refused.take().or(Some(error)),
            });
            scanned.map_err(|error| Error::decode(error.to_string()))?;
        }
        if let Some(error) = refused {
            return Err(error);
        }
        let head = scanner.finish().map_err(|error| Error::decode(error.to_string()))?;
        check(&head)?;
        Ok(head)
    }

    fn with_identity(&self, objects: Vec<Rc<Object>>) -> Vec<Rc<Object>> {
        let cacher = self.cacher.borrow();
        let held = |object: Rc<Object>| match cacher.store().get(object.key()) {
            Some(held) if held.version() == object.version() => held.clone(),
            _ => object,
        };
        objects.into_iter().map(held).collect()
    }
}
