//! A list under way: what its pages have brought so far.

use std::mem;
use std::rc::Rc;

use super::order::Order;
use super::quarantine::{Quarantine, of_item};
use super::reader::Reader;
use crate::json::{BrokenItem, FieldSet, Identity, ListItems, Scanned};
use crate::key::is_name;
use crate::message::{Message, Quarantined};
use crate::object::Object;
use crate::source::page::{Items, unreadable};
use crate::source::{History, ListRequest, Pager};
use crate::status::Error;
use crate::time::WallTime;
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
    /// When the state was kept, where the server has not confirmed it.
    pub(super) kept_at: Option<WallTime>,
    /// Of which history its version is, where another cache says so.
    pub(super) history: Option<History>,
}

/// A whole list.
pub(super) struct List {
    pub(super) objects: Vec<Rc<Object>>,
    pub(super) version: Version,
    /// Those of its objects that cannot be taken, not for the first time.
    pub(super) quarantined: Vec<Quarantined>,
    /// What of it came by a watch, while it was read.
    pub(super) ahead: Order,
    /// When the state was kept, where the server has not confirmed it.
    pub(super) kept_at: Option<WallTime>,
    /// Of which history its version is, where another cache says so.
    pub(super) history: Option<History>,
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
            kept_at: None,
            history: None,
        }
    }

    /// Begins anew without pages, and without what they brought, where [`Pager::begin_unpaged`] allows it. Returns whether it does.
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

    /// Takes objects as they are.
    pub(super) fn take(&mut self, objects: Vec<Rc<Object>>, reader: &Reader) {
        reader.arrived(&objects);
        self.objects.extend(objects);
    }

    /// Takes the items of the page under way; `again` if it is not the first list, so that something may be held of them.
    pub(super) fn items<'a>(&'a mut self, reader: &'a Reader, again: bool) -> PageItems<'a> {
        PageItems { seen: self.objects.len(), listing: self, reader, again, foreign: Ok(()) }
    }

    /// What of a whole page cannot be taken goes into quarantine, if it could not the time before; else the list has failed.
    pub(super) fn set_aside(&mut self, quarantine: &mut Quarantine) -> Result<(), Error> {
        let mut failed = None;
        for (identity, error) in mem::take(&mut self.refused) {
            match quarantine.set_aside(of_item(&identity, &error), error) {
                Ok(entry) => self.quarantined.push(entry),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells the next objects of a page that is whole; `following` is how many come after the page. `None` when all are told.
    pub(super) fn tell(&mut self, following: Option<u64>) -> Option<Message> {
        let loaded = self.objects.len().min(self.told + MAX_BATCH);
        let from = mem::replace(&mut self.told, loaded);
        let objects = self.objects[from..loaded].to_vec();
        let remaining = following.map(|following| following + (self.objects.len() - loaded) as u64);
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
        let (kept_at, history) = (self.kept_at, self.history);
        List { objects: self.objects, version, quarantined: self.quarantined, ahead: Order::default(), kept_at, history }
    }
}

/// Takes the items of a page.
pub(super) struct PageItems<'a> {
    listing: &'a mut Listing,
    reader: &'a Reader,
    again: bool,
    /// Objects that were shown to who sees them early.
    seen: usize,
    foreign: Result<(), Error>,
}

impl ListItems for PageItems<'_> {
    fn held_item(&mut self, document: &[u8], start: usize, fields: &FieldSet) -> Option<usize> {
        let Self { listing, reader, foreign, again, .. } = self;
        if !*again {
            return None;
        }
        let ((object, checked), end) = reader.comparisons.read_item(document, start, fields, &reader.kinds)?;
        if checked.is_err() {
            *foreign = checked;
        }
        listing.objects.push(object);
        Some(end)
    }

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
}

impl Items for PageItems<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::kinds::Kinds;
    use crate::runtime::slice::Slice;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::source::page::{Pace, read_with};
    use crate::time::Instant;
    use futures::StreamExt;
    use futures::stream;
    use std::cell::RefCell;

    fn reader() -> Reader {
        Reader::new(Rc::new(RefCell::new(FieldSet::new(Vec::new()))), Kinds::checked())
    }

    /// Reads a page of these items, and gives the token of the next one.
    fn read(listing: &mut Listing, items: &[String], token: &str) -> Result<(), Error> {
        read_with_reader(&reader(), listing, items, token)
    }

    fn read_with_reader(reader: &Reader, listing: &mut Listing, items: &[String], token: &str) -> Result<(), Error> {
        let time = VirtualTime::new(0);
        let page =
            format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"7","continue":"{token}"}},"items":[{}]}}"#, items.join(","));
        let slice = Slice::new(Instant::START);
        let pace = Pace { runtime: &*time, slice: &slice };
        let body = stream::iter([Ok(page.into_bytes())]).boxed_local();
        listing.begin_page();
        let scanner = crate::json::ListScanner::tolerant();
        let head = time.run_until(read_with(scanner, body, &reader.fields, pace, &mut listing.items(reader, true)))?;
        listing.pager.follow(&head)
    }

    fn pod(name: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"ns","resourceVersion":"5"}}}}"#)
    }

    fn pods(count: usize) -> Vec<String> {
        (0..count).map(|number| pod(&format!("pod{number}"))).collect()
    }

    #[test]
    fn a_page_is_told_in_batches_which_say_how_many_are_still_to_come() {
        let mut listing = Listing::new(500);
        read(&mut listing, &pods(250), "next").unwrap();
        let mut told = Vec::new();
        while let Some(Message::Page { objects, loaded, remaining }) = listing.tell(Some(1000)) {
            told.push((objects.len(), loaded, remaining));
        }
        assert_eq!(told, [(100, 100, Some(1150)), (100, 200, Some(1050)), (50, 250, Some(1000))]);
        assert!(listing.tell(None).is_none());
    }

    #[test]
    fn a_page_that_is_asked_for_again_replaces_what_it_brought_and_no_other() {
        let mut listing = Listing::new(2);
        read(&mut listing, &pods(2), "a").unwrap();
        while listing.tell(None).is_some() {}
        listing.end_page();
        read(&mut listing, &[pod("half")], "b").unwrap();
        read(&mut listing, &[pod("x"), pod("y"), pod("z")], "").unwrap();
        assert!(matches!(listing.tell(None), Some(Message::Page { loaded: 5, .. })));
        listing.end_page();
        let names: Vec<_> = listing.finish().objects.iter().map(|object| object.key().to_string()).collect();
        assert_eq!(names, ["ns/pod0", "ns/pod1", "ns/x", "ns/y", "ns/z"]);
    }

    #[test]
    fn an_item_that_cannot_be_taken_is_named_by_its_place_and_fails_the_list_once() {
        let mut listing = Listing::new(0);
        let mut quarantine = Quarantine::default();
        let items = [pod("a"), r#"{"metadata":{"name":"b","namespace":"ns"}}"#.to_string(), "{\"metadata\":{\"name\":\"\u{1}\"}}".into()];
        read(&mut listing, &items, "").unwrap();
        let error = listing.set_aside(&mut quarantine).unwrap_err();
        assert!(error.message.starts_with("ns/b cannot be taken: item 2 of the page"), "{error}");
        let mut again = Listing::new(0);
        read(&mut again, &items[..2], "").unwrap();
        again.set_aside(&mut quarantine).unwrap();
        let list = again.finish();
        assert_eq!((list.objects.len(), &*list.quarantined[0].key, list.version), (1, "ns/b", Version::from(7)));
    }

    #[test]
    fn law_14_differences_what_is_held_at_the_same_version_is_taken_for_the_item() {
        let mut first = Listing::new(0);
        read(&mut first, &pods(3), "").unwrap();
        let held = first.finish().objects;
        let reader = reader();
        let known = held.clone();
        reader.comparisons.begin(Box::new(move |namespace, name| {
            known.iter().find(|held| (held.namespace(), held.name()) == (namespace, name)).cloned()
        }));
        let mut items = pods(4);
        items[1] = pod("pod1").replace("\"5\"", "\"6\"");
        items[2] = pod("pod2").replacen('{', r#"{"kind":"Pod","apiVersion":"v1","#, 1);
        let mut again = Listing::new(0);
        read_with_reader(&reader, &mut again, &items, "").unwrap();
        let objects = again.finish().objects;
        assert_eq!(
            objects.iter().map(|object| format!("{object:?}")).collect::<Vec<_>>(),
            ["ns/pod0@5", "ns/pod1@6", "ns/pod2@5", "ns/pod3@5"]
        );
        let same = |number: usize| Rc::ptr_eq(&objects[number], &held[number]);
        assert_eq!((same(0), same(1), same(2)), (true, false, true));
        assert_eq!(&*objects[1].text(), items[1].as_bytes());
        // The first one decides of which kind they are.
        items[0] = pod("pod0").replacen('{', r#"{"kind":"Node","#, 1);
        let error = read_with_reader(&reader, &mut Listing::new(0), &items, "").unwrap_err();
        assert!(error.message.contains("a Node where objects are of the kind Pod"), "{error}");
    }

    #[test]
    fn without_pages_it_begins_with_nothing() {
        let mut listing = Listing::new(2);
        read(&mut listing, &pods(2), "a").unwrap();
        listing.end_page();
        assert!(listing.begin_unpaged() && listing.is_empty());
        read(&mut listing, &pods(3), "").unwrap();
        assert_eq!(listing.finish().objects.len(), 3);
    }
}
