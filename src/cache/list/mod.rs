//! Lists: from the state held where that is what was asked for, from the upstream where it is not.
//!
//! The order of steps is the apiserver's: the options are checked ([`options`]), it is decided who answers ([`delegate`]), the cache waits
//! until it is fresh enough and reads a page of a state ([`read`]), or the upstream is asked the same ([`upstream`]).

pub mod delegate;
pub mod options;
pub mod read;
pub mod token;
pub mod upstream;

use std::rc::Rc;

use crate::cache::freshness::FRESH_LIMIT_MS;
use crate::cache::list::delegate::{Ability, Route, route};
use crate::cache::list::options::{Checked, ListOptions, Want};
use crate::cache::list::token::Token;
use crate::cache::resource::Resource;
use crate::json::fields::FieldSet;
use crate::key::prepare;
use crate::metrics::Fallback;
use crate::object::Object;
use crate::runtime::Millis;
use crate::selector::Filter;
use crate::source::Collection;
use crate::status::{Error, Status};
use crate::version::Version;

/// How long a read that nobody can hasten waits for the stream before it asks the upstream for the objects themselves. The stream of a busy
/// resource is there within that; a quiet one hears of the upstream's version with the next bookmark only.
pub(super) const NEAR_MS: Millis = 250;

/// The answer to a list.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The objects of this page, in key order.
    pub objects: Vec<Rc<Object>>,
    /// The version at which they are all of them.
    pub version: Version,
    /// What asks for the next page; `None`: this is the last one.
    pub continue_token: Option<String>,
    /// How many objects the further pages hold, where that is known.
    pub remaining: Option<u64>,
    /// The shard that was asked for, as canonical text.
    pub shard: Option<String>,
}

/// A list request, read.
#[derive(Debug)]
pub(super) struct Request {
    options: ListOptions,
    filter: Filter,
    /// The namespace it is about; empty for all.
    namespace: String,
    /// What all keys of it begin with: nothing, or the namespace and "/". Tokens are relative to it.
    prefix: String,
    /// The one key it is about, where it is no more than that.
    key: Option<String>,
    /// `None`: it goes on with a token that only the source can read.
    checked: Option<Checked>,
    /// Whether the source has tokens of its own, among which ours must be known.
    private: bool,
}

impl Request {
    /// Reads the options of a list of the collection, whose paths begin with `root`. `clustered`: its objects are in no namespace.
    fn new(
        options: ListOptions,
        collection: Option<&Collection>,
        clustered: bool,
        root: &str,
        fields: &mut FieldSet,
    ) -> Result<Self, Error> {
        let own = collection.and_then(|collection| collection.namespace.clone());
        let namespace = options.namespace.clone().filter(|text| !text.is_empty()).or(own).unwrap_or_default();
        let (labels, terms) = (options.label_selector.as_deref(), options.field_selector.as_deref());
        let filter = Filter::new(Some(&namespace), None, labels, terms, fields)?.with_shard(options.shard_selector.as_deref())?;
        options.validate()?;
        let path = prepare(root, &format!("{root}{namespace}"), true)?;
        let prefix = path[root.len()..].to_string();
        // A request about one name in one namespace, or where there are none, is about one key; pages of it there are none.
        let single = (clustered || !namespace.is_empty()) && options.token().is_none();
        let name = filter.predicate().single_name().filter(|_| single);
        let key = name.map(|name| prepare(root, &format!("{root}{prefix}{name}"), false)).transpose()?;
        let key = key.map(|key| key[root.len()..].to_string());
        let foreign = collection.is_none() && options.token().is_some_and(|token| Token::decode(token, "").is_err());
        let checked = if foreign { None } else { Some(options.read(&prefix, key.is_none())?) };
        let private = collection.is_none();
        Ok(Self { options, filter, namespace, prefix, key, checked, private })
    }

    /// Whether it may be about more than one key.
    fn is_recursive(&self) -> bool {
        self.key.is_none()
    }

    /// Whether no selector is given, so that every object under the prefix is meant.
    fn is_unselective(&self) -> bool {
        self.filter.predicate().is_empty() && self.filter.shard().is_none()
    }

    /// Whether it wants everything as new as the upstream is now, and no page of it.
    fn is_whole_and_newest(&self) -> bool {
        self.is_recursive() && self.checked.as_ref().is_some_and(|checked| checked.want == Want::Newest && checked.limit.is_none())
    }
}

impl Resource {
    /// Lists objects in key order.
    ///
    /// Fails with 400 and 422 for options that are wrong, with 429 where the cacher is not ready and the request may not wait for it, with 504
    /// when the version asked for does not come, with 410 for one that is gone from here and from the upstream, and with whatever the upstream
    /// says when it is asked.
    pub async fn list(self: Rc<Self>, options: ListOptions) -> Result<List, Error> {
        let request = self.request(options)?;
        if request.is_whole_and_newest() && !self.reads.progress.is_supported() {
            return self.list_newest(&request).await;
        }
        if self.route(&request)? == Route::Upstream {
            if request.private && request.options.token().is_some_and(Token::is_private) {
                // The source does not know our tokens.
                return Err(
                    Status::new(410, "Expired", "The provided continue parameter is too old to display a consistent list result.").into()
                );
            }
            return self.list_upstream(&request).await;
        }
        let ready = self.cacher.borrow_mut().ready().check(self.runtime.now());
        if let Err(error) = ready {
            if request.is_unselective() && request.options.limit > 0 {
                return self.list_upstream(&request).await;
            }
            if !request.options.wait {
                return Err(error);
            }
            self.until_ready(true, true).await?;
            if self.route(&request)? == Route::Upstream {
                return self.list_upstream(&request).await;
            }
        }
        let answer = self.list_cached(&request).await;
        match answer {
            // What was held when it was decided is gone: compacted meanwhile, or replaced by a list.
            Err(error) if error.status.as_ref().is_some_and(|status| status.is_expired()) => self.list_upstream(&request).await,
            answer => answer,
        }
    }

    /// Reads the options.
    pub(in crate::cache) fn request(&self, options: ListOptions) -> Result<Request, Error> {
        let fields = self.cacher.borrow().fields().clone();
        let mut fields = fields.borrow_mut();
        // Nothing says it but the objects themselves.
        let clustered = self.cacher.borrow().store().iter().next().is_some_and(|object| object.namespace().is_empty());
        Request::new(options, self.source.collection().as_ref(), clustered, &self.root(), &mut fields)
    }

    /// What all paths of this resource begin with. Its name is any text; one that is no path stands for itself in no message.
    pub(in crate::cache) fn root(&self) -> String {
        let name = &self.config.name;
        let clean = !name.is_empty() && name.split('/').all(|element| !matches!(element, "" | "." | ".."));
        format!("/{}/", if clean { name } else { "objects" })
    }

    fn route(&self, request: &Request) -> Result<Route, Error> {
        let mut cacher = self.cacher.borrow_mut();
        if cacher.ready().is_stopped() {
            return Err(Error::closed());
        }
        let Some(checked) = &request.checked else { return Ok(Route::Upstream) };
        let ability = Ability { snapshots: true, consistent: self.reads.progress.is_supported(), version: cacher.version() };
        Ok(route(&checked.want, request.is_recursive(), ability, |version| cacher.has_state_at(version)))
    }

    /// Reads the state held once it is fresh enough.
    async fn list_cached(&self, request: &Request) -> Result<List, Error> {
        match request.checked.as_ref().map(|checked| &checked.want) {
            Some(Want::Newest | Want::NewestContinued) => return self.list_consistent(request).await,
            Some(Want::NotOlderThan(version) | Want::Exact(version)) => self.until_fresh(version, FRESH_LIMIT_MS).await?,
            None => {}
        }
        self.page_of(request)
    }

    /// As new as the upstream is now, by its version and its progress.
    async fn list_consistent(&self, request: &Request) -> Result<List, Error> {
        let metrics = self.cacher.borrow().metrics().clone();
        let current = self.current_version().await?;
        let Err(error) = self.until_fresh(&current, FRESH_LIMIT_MS).await else {
            metrics.consistent_read(true, Fallback::No);
            return self.page_of(request);
        };
        let late = error.status.as_ref().is_some_and(|status| status.is_too_large());
        if !late {
            return Err(error);
        }
        if self.reads.spare_upstream.get() {
            metrics.consistent_read(false, Fallback::Skipped);
            return Err(Status::too_many_requests(error.message, 1).into());
        }
        let answer = self.list_upstream(request).await;
        metrics.consistent_read(answer.is_ok(), Fallback::Yes);
        answer
    }

    /// Everything, as new as the upstream is now, from one that tells no progress: its answer is the cache's where the cache is as far. To
    /// know that takes the smallest list there is, where the answer itself may be megabytes.
    async fn list_newest(&self, request: &Request) -> Result<List, Error> {
        let ready = self.until_ready(request.options.wait, true).await;
        if self.cacher.borrow_mut().ready().is_stopped() {
            return Err(Error::closed());
        }
        match ready {
            Ok(()) => {
                let current = self.current_version().await?;
                if self.until_fresh(&current, NEAR_MS).await.is_ok() {
                    return self.page_of(request);
                }
            }
            Err(refusal) if request.options.wait => return Err(refusal),
            Err(_) => {} // not ready, and not to be waited for
        }
        self.list_upstream(request).await
    }
}
