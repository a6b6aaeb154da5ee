//! A list under way: what its pages have brought so far.

use std::mem;
use std::rc::Rc;

use super::order::Order;
use super::quarantine::Quarantine;
use super::reader::Reader;
use crate::json::{BrokenItem, Identity, Scanned};
use crate::key::is_name;
use crate::message::{Message, Quarantined};
use crate::object::Object;
use crate::source::page::{Items, unreadable};
use crate::source::{ListRequest, Pager};
use crate::status::Error;
use crate::version::Version;

/// Objects a message: few enough to be shown within a frame of the screen, and the same however the bytes were cut.
pub(super) const MAX_BATCH: usize = 100;

/// A list under way.
pub(super) struct Listing {
    pub(super) pager: Pager,
    /// People were told that it is asked for.
    pub(super) announced: bool,
    /// How often the page under way was asked for again.
    pub(super) retries: u32,
    objects: Vec<Rc<Object>>,
    /// How many of them were told.
    told: usize,
    page_start: usize,
    /// Items of this page that cannot be taken.
    refused: Vec<(Identity, Error)>,
    quarantined: Vec<Quarantined>,
}

/// A whole list.
pub(super) struct List {
    pub(super) objects: Vec<Rc<Object>>,
    pub(super) version: Version,
    /// Those of its objects that cannot be taken, not for the first time.
    pub(super) quarantined: Vec<Quarantined>,
    /// What of it came by a watch, while it was read.
    pub(super) ahead: Order,
}

impl Listing {
    /// A list of so many objects a page; 0 asks for all at once. The version is left unset, which asks for the newest state there is, as
    /// the apiserver's own cacher does.
    pub(super) fn new(page_size: u32) -> Self {
        let limit = (page_size > 0).then_some(page_size);
        Self::of(Pager::new(ListRequest { limit, ..ListRequest::default() }))
    }

    fn of(pager: Pager) -> Self {
        Self {
            pager,
            announced: false,
            retries: 0,
            objects: Vec::new(),
            told: 0,
            page_start: 0,
            refused: Vec::new(),
            quarantined: Vec::new(),
        }
    }

    /// Begins anew without pages, and without what they brought. Once; whether it does.
    pub(super) fn begin_unpaged(&mut self) -> bool {
        let unpaged = self.pager.begin_unpaged();
        if unpaged {
            self.objects.clear();
            self.quarantined.clear();
            (self.told, self.page_start) = (0, 0);
        }
        unpaged
    }

    /// The page under way is asked for, for the first time or again: what it has brought is forgotten.
    pub(super) fn begin_page(&mut self) {
        self.objects.truncate(self.page_start);
        self.told = self.page_start;
        self.refused.clear();
    }

    /// Whether there is no object yet.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Takes the items of the page under way.
    pub(super) fn items<'a>(&'a mut self, reader: &'a Reader) -> PageItems<'a> {
        PageItems { seen: self.objects.len(), listing: self, reader, foreign: Ok(()) }
    }

    /// What of a whole page cannot be taken goes into quarantine, if it could not the time before; else the list has failed.
    pub(super) fn set_aside(&mut self, quarantine: &mut Quarantine) -> Result<(), Error> {
        let mut failed = None;
        for (identity, error) in mem::take(&mut self.refused) {
            match quarantine.item(&identity, error) {
                Ok(entry) => self.quarantined.push(entry),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells the next objects of a page that is whole; `behind` is how many follow the page. `None` when all are told.
    pub(super) fn tell(&mut self, behind: Option<u64>) -> Option<Message> {
        let loaded = self.objects.len().min(self.told + MAX_BATCH);
        let from = mem::replace(&mut self.told, loaded);
        let objects = self.objects[from..loaded].to_vec();
        let remaining = behind.map(|behind| behind + (self.objects.len() - loaded) as u64);
        (!objects.is_empty()).then_some(Message::Page { objects, loaded, remaining })
    }

    /// The page is told.
    pub(super) fn end_page(&mut self) {
        self.page_start = self.objects.len();
        self.retries = 0;
    }

    /// The list, once its pager has no more to ask for.
    pub(super) fn finish(self) -> List {
        let version = self.pager.version().cloned().unwrap_or_default();
        List { objects: self.objects, version, quarantined: self.quarantined, ahead: Order::default() }
    }
}

/// Takes the items of a page.
pub(super) struct PageItems<'a> {
    listing: &'a mut Listing,
    reader: &'a Reader,
    /// Objects that were shown to who sees them early.
    seen: usize,
    foreign: Result<(), Error>,
}

impl Items for PageItems<'_> {
    fn item(&mut self, item: Scanned) {
        let Self { listing, reader, foreign, .. } = self;
        if let Err(error) = reader.kinds.check(item.kind.as_deref()) {
            *foreign = Err(error);
        }
        let (namespace, name) = (item.namespace.clone(), item.name.clone());
        // Without a name that can be one, its uid tells which one it is.
        let uid = if name.as_deref().is_some_and(is_name) { None } else { item.uid.clone() };
        match Object::new(item) {
            Ok(object) => listing.objects.push(object),
            Err(error) => {
                let number = listing.objects.len() + listing.refused.len() - listing.page_start + 1;
                let text = |text: Option<&str>| text.unwrap_or_default().to_string();
                let (namespace, name, uid) = (text(namespace.as_deref()), text(name.as_deref()), text(uid.as_deref()));
                let whose = if uid.is_empty() || !name.is_empty() { String::new() } else { format!(" (uid {uid:?})") };
                let error = Error { message: format!("item {number} of the page{whose}: {error}"), ..error };
                listing.refused.push((Identity { kind: String::new(), namespace, name, uid }, error));
            }
        }
    }

    fn broken(&mut self, item: BrokenItem) {
        self.listing.refused.push((item.identity, unreadable(&item.error)));
    }

    fn piece_read(&mut self) -> Result<(), Error> {
        mem::replace(&mut self.foreign, Ok(()))?;
        let objects = &self.listing.objects;
        self.reader.arrived(&objects[mem::replace(&mut self.seen, objects.len())..]);
        Ok(())
    }
}
