//! A list read whole, by a source that is made of others.

use std::cell::RefCell;

use super::page;
use super::pager::Pager;
use super::request::{ListRequest, Narrow};
use super::source::Source;
use crate::json::{FieldSet, Scanned};
use crate::runtime::Runtime;
use crate::status::{Error, ErrorCode};

/// Objects a page.
pub(super) const PAGE: u32 = 500;

/// All pages of a list, which need have no version.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) kind: Option<String>,
    pub(super) version: Option<String>,
    pub(super) items: Vec<Scanned>,
}

impl Listed {
    /// Asks this source, page by page, and anew without pages where their version is gone meanwhile.
    pub(super) async fn of(source: &dyn Source, narrow: Option<Narrow>, runtime: &dyn Runtime) -> Result<Self, Error> {
        let fields = RefCell::new(FieldSet::new(Vec::new()));
        let mut pager = Pager::unversioned(ListRequest { limit: Some(PAGE), narrow, ..ListRequest::default() });
        let mut listed = Self::default();
        while let Some(request) = pager.request() {
            let answered = async {
                let body = source.list(request).await?;
                page::read_unversioned(body, &fields, runtime, &mut |item| listed.items.push(item)).await
            };
            match answered.await {
                Ok(head) => {
                    pager.follow(&head)?;
                    listed.kind = head.kind;
                    listed.version = listed.version.take().or(head.version);
                }
                Err(error) if error.code == ErrorCode::Expired && pager.begin_unpaged() => listed = Self::default(),
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }
}
