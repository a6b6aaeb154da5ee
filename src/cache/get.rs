//! Gets: one object by its key.

use std::rc::Rc;

use crate::cache::freshness::FRESH_LIMIT_MS;
use crate::cache::resource::Resource;
use crate::key::{prepare, split};
use crate::object::Object;
use crate::source::{ListRequest, Narrow, Pager};
use crate::status::{Error, Status};
use crate::version::Version;

impl Resource {
    /// Gets one object: the upstream's newest when no version is asked for, else one that is not older than it. 404 when there is none.
    pub async fn get(self: Rc<Self>, key: String, resource_version: Option<String>) -> Result<Rc<Object>, Error> {
        let found = self.find(&key, resource_version.as_deref()).await?;
        found.ok_or_else(|| Status::not_found(&self.config.name, split(&key).1).into())
    }

    /// The same, with `None` for a key under which nothing is.
    pub async fn find(&self, key: &str, resource_version: Option<&str>) -> Result<Option<Rc<Object>>, Error> {
        let (namespace, name) = split(key);
        if name.is_empty() {
            return Err(Status::bad_request("resource name may not be empty").into());
        }
        prepare("/", &format!("/{key}"), false)?;
        let text = resource_version.filter(|text| !text.is_empty());
        let version = text.map(|text| Version::parse(text).map_err(|error| Error::no_version(&error))).transpose()?;
        let ready = {
            let mut cacher = self.cacher.borrow_mut();
            if cacher.ready().is_stopped() {
                return Err(Error::closed());
            }
            cacher.ready().is_ready()
        };
        if let Some(version) = version.filter(|_| ready) {
            self.until_fresh(&version, FRESH_LIMIT_MS).await?;
            return Ok(self.cacher.borrow().state().get(key).cloned());
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
            let head = self.page(request, each).await?;
            pager.follow(&head)?;
        }
        Ok(found.map(|object| self.with_identity(vec![object])).and_then(|mut held| held.pop()))
    }
}
