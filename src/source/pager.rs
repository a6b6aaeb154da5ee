//! Walks the pages of one list: what to ask for next, and when the list is over.
//!
//! It does no input or output. Who lists asks for [`Pager::request`], reads the page and tells it by [`Pager::follow`], until there is no
//! next request. A page that could not be read may be asked for again: the request stays the same until a page is told.

use rustc_hash::FxHashSet;

use super::page::head_version;
use super::request::ListRequest;
use crate::json::ListHead;
use crate::status::Error;
use crate::version::Version;

/// A list under way.
#[derive(Debug)]
pub struct Pager {
    first: ListRequest,
    next: Option<ListRequest>,
    /// The tokens so far. A source that gives one twice would be asked for ever.
    tokens: FxHashSet<String>,
    version: Option<Version>,
    unpaged: bool,
    /// Whether a list must have a version.
    versioned: bool,
}

impl Pager {
    /// A list that begins with this request.
    pub fn new(first: ListRequest) -> Self {
        Self { next: Some(first.clone()), first, tokens: FxHashSet::default(), version: None, unpaged: false, versioned: true }
    }

    /// The same of a list that may have no version. Its version is then "0".
    pub fn unversioned(first: ListRequest) -> Self {
        Self { versioned: false, ..Self::new(first) }
    }

    /// What to ask for now; `None` when the list is whole.
    pub fn request(&self) -> Option<ListRequest> {
        self.next.clone()
    }

    /// The version of the list, once its first page is read. It holds for all pages.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Whether the next page is not the first one.
    pub fn is_under_way(&self) -> bool {
        self.version.is_some() && self.next.is_some()
    }

    /// A page is read. Fails where the list would go in circles: the page continues with a token that an earlier one had.
    pub fn follow(&mut self, head: &ListHead) -> Result<(), Error> {
        if self.version.is_none() {
            let version = head_version(head);
            self.version = Some(if self.versioned { version? } else { version.unwrap_or_default() });
        }
        let Some(token) = head.continue_token.clone() else {
            self.next = None;
            return Ok(());
        };
        if !self.tokens.insert(token.clone()) {
            return Err(Error::protocol("the list goes in circles: a page continues with the token of an earlier one"));
        }
        // The token stands for the version.
        let (resource_version, resource_version_match) = (None, None);
        self.next = Some(ListRequest { resource_version, resource_version_match, continue_token: Some(token), ..self.next_of_first() });
        Ok(())
    }

    /// Begins anew without pages, once and only after a first page. Returns whether it does.
    ///
    /// It is for pages that took longer than the server keeps their version. A list without pages is of one moment in any case.
    pub fn begin_unpaged(&mut self) -> bool {
        if self.unpaged || !self.is_under_way() {
            return false;
        }
        self.unpaged = true;
        self.version = None;
        self.tokens.clear();
        self.next = Some(self.next_of_first());
        true
    }

    fn next_of_first(&self) -> ListRequest {
        let limit = self.first.limit.filter(|_| !self.unpaged);
        ListRequest { limit, ..self.first.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::request::Narrow;

    fn head(version: &str, token: Option<&str>) -> ListHead {
        ListHead { version: Some(version.into()), continue_token: token.map(Into::into), ..ListHead::default() }
    }

    fn first() -> ListRequest {
        let narrow = Some(Narrow { namespace: Some("ns".into()), ..Narrow::default() });
        ListRequest {
            resource_version: Some("7".into()),
            resource_version_match: Some("Exact".into()),
            limit: Some(2),
            narrow,
            ..ListRequest::default()
        }
    }

    #[test]
    fn each_page_is_asked_for_by_the_token_before_it_which_stands_for_the_version() {
        let mut pager = Pager::new(first());
        assert_eq!((pager.request(), pager.is_under_way()), (Some(first()), false));
        pager.follow(&head("7", Some("a"))).unwrap();
        let second = ListRequest { resource_version: None, resource_version_match: None, continue_token: Some("a".into()), ..first() };
        assert_eq!((pager.request(), pager.is_under_way()), (Some(second.clone()), true));
        assert_eq!(pager.request(), Some(second), "the same until a page is read");
        pager.follow(&head("9", None)).unwrap();
        assert_eq!((pager.request(), pager.is_under_way()), (None, false));
        assert_eq!(pager.version(), Some(&Version::from(7)), "the first page's holds for all");
    }

    #[test]
    fn a_token_that_comes_again_is_refused_however_long_the_circle_is() {
        for circle in 1..5 {
            let mut pager = Pager::new(ListRequest::default());
            for page in 0..circle {
                pager.follow(&head("7", Some(&format!("token {page}")))).unwrap();
            }
            let error = pager.follow(&head("7", Some("token 0"))).unwrap_err();
            assert!(error.message.contains("goes in circles"), "{error}");
        }
    }

    #[test]
    fn a_list_whose_version_is_lost_is_asked_for_once_more_and_whole() {
        let mut pager = Pager::new(first());
        assert!(!pager.begin_unpaged(), "the first page has no token that could be lost");
        pager.follow(&head("7", Some("a"))).unwrap();
        assert!(pager.begin_unpaged());
        assert_eq!((pager.request(), pager.version()), (Some(ListRequest { limit: None, ..first() }), None));
        // A server may page all the same, and from the beginning.
        pager.follow(&head("8", Some("a"))).unwrap();
        assert_eq!(pager.request().unwrap().limit, None);
        assert!(!pager.begin_unpaged(), "once");
        pager.follow(&head("8", None)).unwrap();
        assert_eq!((pager.request(), pager.version()), (None, Some(&Version::from(8))));
    }

    #[test]
    fn a_list_without_a_version_is_none_unless_it_need_not_have_one() {
        assert!(Pager::new(ListRequest::default()).follow(&ListHead::default()).is_err());
        let mut pager = Pager::unversioned(first());
        pager.follow(&ListHead { continue_token: Some("a".into()), ..ListHead::default() }).unwrap();
        assert!(pager.is_under_way() && pager.request().is_some());
    }
}
