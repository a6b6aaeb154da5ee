//! The upstream, asked for what the cache cannot answer: the request as it was given, and the answer as it came.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::cache::cacher::Cacher;
use crate::cache::list::{List, Request, Want, shard_text};
use crate::json::list::ListHead;
use crate::json::scan::scan_object;
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::selector::FieldSelector;
use crate::sort::sort_by;
use crate::source::page::{self, head_version};
use crate::source::{Collection, ListRequest, Narrow, ObjectName, Pager, Source};
use crate::status::Error;
use crate::version::Version;

/// A source, and the one namespace that it is of where it is a branch.
pub(super) type NamespaceSource = (Option<Rc<str>>, Rc<dyn Source>);

/// Asks a source, and reads its pages as a cacher keeps objects.
pub(super) struct Upstream {
    source: Rc<dyn Source>,
    cacher: Rc<RefCell<Cacher>>,
    runtime: SharedRuntime,
    page_size: u32,
    // Fields, as they stood together in a selector, that the upstream cannot select by.
    refused_fields: RefCell<FxHashSet<String>>,
}

impl Upstream {
    /// Asked for so many objects a page; 0: all at once.
    pub(super) fn new(source: Rc<dyn Source>, cacher: Rc<RefCell<Cacher>>, runtime: SharedRuntime, page_size: u32) -> Self {
        Self { source, cacher, runtime, page_size, refused_fields: RefCell::default() }
    }

    /// The limit of a page; none where the upstream is asked for all at once.
    pub(super) fn page_limit(&self) -> Option<u32> {
        self.branch_page_limit().filter(|_| !self.is_joined())
    }

    /// The same of one of its branches.
    pub(super) fn branch_page_limit(&self) -> Option<u32> {
        Some(self.page_size).filter(|size| *size > 0)
    }

    /// What is asked, or each of its branches with its namespace.
    pub(super) fn sources(&self) -> Vec<NamespaceSource> {
        match self.source.branches() {
            None => vec![(None, self.source.clone())],
            Some(branches) => branches.all().into_iter().map(|(namespace, source)| (Some(namespace), source)).collect(),
        }
    }

    /// What the source is a list of, where it is one of the Kubernetes API.
    pub(super) fn collection(&self) -> Option<Collection> {
        self.source.collection()
    }

    /// Whether it reads the tokens that are marked as ours.
    pub(super) fn reads_marks(&self) -> bool {
        self.source.reads_marks()
    }

    /// Whether it is joined of several, which have no version together.
    pub(super) fn is_joined(&self) -> bool {
        self.source.branches().is_some()
    }

    /// Its current version: as it tells it, or by the smallest consistent list. Several have none, but for the one that the cache has reached.
    pub(super) async fn current_version(&self) -> Result<Version, Error> {
        if self.is_joined() {
            return Ok(self.cacher.borrow().version().clone());
        }
        if let Some(asked) = self.source.current_version() {
            return asked.await;
        }
        let request = ListRequest { limit: Some(1), ..ListRequest::default() };
        let head = self.page(request, &mut |_| {}).await?;
        head_version(&head)
    }

    /// Asks the upstream what was asked here. Its version, token and count come through, and so do its errors.
    ///
    /// Every selector is applied here as well. The upstream may not narrow by a field that it does not know, or by a shard. What it left in
    /// counts towards the limit there and is dropped here. So a page may hold fewer objects than its limit, even none, and its token still leads
    /// to all the others.
    pub(super) async fn list(&self, request: &Request) -> Result<List, Error> {
        let fields = request.filter.predicate().field.clone();
        let unknown = unknown_fields(&fields);
        if unknown.is_empty() || self.refused_fields.borrow().contains(&unknown) {
            return self.list_narrowed(request, always_known(&fields)).await;
        }
        let answer = self.list_narrowed(request, request.options.field_selector.clone()).await;
        let refused = matches!(&answer, Err(error) if error.status.as_ref().is_some_and(|status| status.code == 400));
        if !refused {
            return answer;
        }
        // Servers know few fields. If that is what it is about, the list without them is answered.
        let wider = self.list_narrowed(request, always_known(&fields)).await;
        if wider.is_err() {
            return answer;
        }
        self.refused_fields.borrow_mut().insert(unknown);
        wider
    }

    async fn list_narrowed(&self, request: &Request, fields: Option<String>) -> Result<List, Error> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let options = &request.options;
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let narrow = Narrow { labels: given(&options.label_selector), fields, namespace: some(&request.namespace), name: None };
        let asked = ListRequest {
            resource_version: given(&options.resource_version),
            resource_version_match: given(&options.resource_version_match),
            limit: u32::try_from(options.limit).ok().filter(|limit| *limit > 0),
            continue_token: options.token().map(ToString::to_string),
            narrow: Some(narrow),
        };
        // What a watch from this version tells again is in the list already; nothing is missing between them.
        let local = self.is_joined().then(|| self.cacher.borrow().version().clone());
        let mut objects = Vec::new();
        let head = if self.is_paged(request) {
            self.pages(asked, &mut objects).await?
        } else {
            self.page(asked, &mut |object| objects.push(object)).await?
        };
        let version = local.map_or_else(|| head_version(&head), Ok)?;
        let cached_fields = self.cacher.borrow().fields().clone();
        objects.retain(|object: &Rc<Object>| request.filter.passes(object, &cached_fields.borrow()));
        sort_by(&mut objects, |a, b| a.key().cmp(b.key()));
        // A source of another API may count what it did not narrow.
        let counts = request.is_unselective() && (self.source.collection().is_some() || request.namespace.is_empty());
        Ok(List {
            objects: self.with_identity(objects),
            version,
            continue_token: head.continue_token,
            remaining: head.remaining.filter(|_| counts),
            shard: shard_text(&request.filter),
        })
    }

    /// Whether the answer may be fetched page by page: it is all of something, and a limit would not change what version it is of.
    fn is_paged(&self, request: &Request) -> bool {
        let pinned = request.options.resource_version_match.as_deref() == Some("Exact");
        let newest = request.checked.as_ref().is_some_and(|checked| checked.want == Want::Newest);
        let whole = request.options.limit <= 0 && request.options.token().is_none() && request.is_recursive();
        whole && (pinned || newest) && self.page_limit().is_some()
    }

    /// All pages of a list, as the upstream is asked for them by a reflector.
    async fn pages(&self, whole: ListRequest, objects: &mut Vec<Rc<Object>>) -> Result<ListHead, Error> {
        let mut pager = Pager::new(ListRequest { limit: self.page_limit(), ..whole });
        let mut first: Option<ListHead> = None;
        while let Some(request) = pager.request() {
            match self.page(request, &mut |object| objects.push(object)).await {
                Ok(head) => {
                    pager.follow(&head)?;
                    first.get_or_insert(head);
                }
                Err(error) if error.status.as_ref().is_some_and(|status| status.is_expired()) && pager.begin_unpaged() => {
                    objects.clear();
                    first = None;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(ListHead { continue_token: None, remaining: None, ..first.unwrap_or_default() })
    }

    /// One page.
    pub(super) async fn page(&self, request: ListRequest, each: &mut dyn FnMut(Rc<Object>)) -> Result<ListHead, Error> {
        self.page_of(&*self.source, request, each).await
    }

    /// The same of one of its [`Upstream::sources`].
    pub(super) async fn page_of(
        &self,
        source: &dyn Source,
        request: ListRequest,
        each: &mut dyn FnMut(Rc<Object>),
    ) -> Result<ListHead, Error> {
        let body = source.list(request).await?;
        let fields = self.cacher.borrow().fields().clone();
        let mut refused = None;
        let head = page::read(body, &fields, &*self.runtime, &mut |item| match Object::new(item) {
            Ok(object) => each(object),
            Err(error) => refused = refused.take().or(Some(error)),
        })
        .await?;
        refused.map_or(Ok(head), Err)
    }

    /// One object at its own address, read as a cacher keeps objects. `None` where the source has no such address. So it is
    /// where what it answers may be none of the resource's objects: it has a selector, or no versions.
    pub(super) async fn single(&self, name: ObjectName) -> Option<Result<Rc<Object>, Error>> {
        if !self.source.gets() || self.source.selects() {
            return None;
        }
        let asked = name.name.clone();
        let document = match self.source.get(name, None).await {
            Ok(document) => document,
            Err(error) => return Some(Err(error)),
        };
        let fields = self.cacher.borrow().fields().clone();
        let scanned = scan_object(&document, &fields.borrow()).ok()?;
        Object::new(scanned).ok().filter(|object| object.name() == asked).map(Ok)
    }

    /// What is held at the same version keeps its identity.
    pub(super) fn with_identity(&self, objects: Vec<Rc<Object>>) -> Vec<Rc<Object>> {
        let cacher = self.cacher.borrow();
        let held = |object: Rc<Object>| match cacher.store().get(object.key()) {
            Some(held) if held.version() == object.version() => held.clone(),
            _ => object,
        };
        objects.into_iter().map(held).collect()
    }
}

fn is_known(path: &str) -> bool {
    matches!(path, "metadata.name" | "metadata.namespace")
}

/// The fields of a selector that not every resource can be selected by, as one text.
fn unknown_fields(fields: &FieldSelector) -> String {
    let paths: Vec<&str> = fields.terms().iter().map(|term| term.path.as_str()).filter(|path| !is_known(path)).collect();
    paths.join(",")
}

/// The terms by which every resource can be selected.
fn always_known(fields: &FieldSelector) -> Option<String> {
    let terms: Vec<String> = fields.terms().iter().filter(|term| is_known(&term.path)).map(ToString::to_string).collect();
    (!terms.is_empty()).then(|| terms.join(","))
}
