//! The list: page after page, each read while it arrives.

use std::mem;
use std::rc::Rc;

use futures::StreamExt;

use super::breaker::Kind;
use super::control::{Listen, Stop};
use super::order::Order;
use super::{Closed, Reflector};
use crate::connection::Connection;
use crate::json::{Identity, ListHead, ListScanner};
use crate::key::is_name;
use crate::message::{Message, Quarantined};
use crate::object::Object;
use crate::source::page::{self, PIECE, check, unreadable};
use crate::source::{ListRequest, Pager, buffers};
use crate::status::{Error, ErrorCode};
use crate::version::Version;

/// Objects a message: few enough to be shown within a frame of the screen, and the same however the bytes were cut.
pub(super) const BATCH: usize = 100;

/// How often a page behind the first is asked for again before the list is given up, as client-go's transport does.
const PAGE_RETRIES: u32 = 10;

/// A whole list.
pub(super) struct List {
    pub(super) objects: Vec<Rc<Object>>,
    pub(super) version: Version,
    /// Those of its objects that cannot be taken, not for the first time.
    pub(super) quarantined: Vec<Quarantined>,
    /// What of it came by a watch, while it was read.
    pub(super) ahead: Order,
}

/// Why there is no list.
pub(super) enum Halt {
    Closed,
    Asked,
    Failed(Error),
}

impl From<Closed> for Halt {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A list under way.
#[derive(Default)]
struct Progress {
    objects: Vec<Rc<Object>>,
    /// How many of them were told.
    told: usize,
    page_start: usize,
    /// Items of this page that cannot be taken.
    refused: Vec<(Identity, Error)>,
    quarantined: Vec<Quarantined>,
}

impl Reflector {
    /// Lists everything. The version is left unset, which asks for the newest state there is, as the apiserver's own cacher does.
    pub(super) async fn list(&mut self) -> Result<List, Halt> {
        self.answers_refresh();
        self.send(Message::Connection(Connection::Listing { again: self.listed })).await?;
        self.kinds.begin();
        let mut progress = Progress::default();
        let limit = (self.config.page_size > 0).then_some(self.config.page_size);
        let mut pager = Pager::new(ListRequest { limit, ..ListRequest::default() });
        let mut retries = 0;
        while let Some(request) = pager.request() {
            match self.page(request, &mut progress).await {
                Ok(head) => {
                    let first = pager.version().is_none();
                    pager.follow(&head)?;
                    if first
                        && pager.is_under_way()
                        && let Some(version) = pager.version()
                    {
                        self.look_ahead(version);
                    }
                    retries = 0;
                }
                Err(Halt::Failed(error)) if expired(&error) && pager.begin_unpaged() => {
                    self.kinds.begin();
                    progress = Progress::default();
                }
                Err(Halt::Failed(error)) if pager.is_under_way() && passing(&error) && retries < PAGE_RETRIES => {
                    retries += 1;
                    progress.objects.truncate(progress.page_start);
                    progress.told = progress.page_start;
                    self.hold(error).await?;
                    self.answers_refresh();
                    self.send(Message::Connection(Connection::Listing { again: self.listed })).await?;
                }
                Err(halt) => return Err(halt),
            }
        }
        let Progress { objects, quarantined, .. } = progress;
        let version = pager.version().cloned().unwrap_or_default();
        Ok(List { objects, version, quarantined, ahead: Order::default() })
    }

    async fn page(&mut self, request: ListRequest, progress: &mut Progress) -> Result<ListHead, Halt> {
        progress.page_start = progress.objects.len();
        progress.refused.clear();
        let permit = match self.admitted(Kind::List, Listen::LISTING).await {
            Ok(permit) => permit,
            Err(stop) => return Err(self.stopped(stop, "")),
        };
        let mut watchdog = self.watchdog();
        let answer = self.source.list(request);
        let answer = match self.beside(Listen::LISTING, Some(&mut watchdog), answer).await {
            Ok(answer) => answer,
            Err(Stop::Deadline) => Err(self.silence("the server has not answered the list")),
            Err(stop) => return Err(self.stopped(stop, "")),
        };
        self.heard(permit, answer.as_ref().err());
        let mut body = answer?;
        let mut scanner = ListScanner::tolerant();
        loop {
            watchdog.feed(self.host.now());
            let chunk = match self.beside(Listen::LISTING, Some(&mut watchdog), body.next()).await {
                Ok(Some(chunk)) => chunk?,
                Ok(None) => break,
                Err(stop) => return Err(self.stopped(stop, "the list has stood still")),
            };
            for piece in chunk.chunks(PIECE) {
                let known = progress.objects.len();
                self.scan(&mut scanner, piece, progress)?;
                self.arrived(&progress.objects[known..]);
                self.host.give_way().await;
            }
            buffers::give_back(chunk);
        }
        drop(body);
        let head = scanner.finish().map_err(|error| unreadable(&error))?;
        check(&head)?;
        self.kinds.listed(head.kind.as_deref(), progress.objects.is_empty())?;
        self.set_aside(progress)?;
        // Nothing of a page is told before all of it has proved to be sound.
        while progress.told < progress.objects.len() {
            self.tell(progress, head.remaining).await?;
            self.host.give_way().await;
        }
        Ok(head)
    }

    fn scan(&self, scanner: &mut ListScanner, piece: &[u8], progress: &mut Progress) -> Result<(), Error> {
        let fields = self.fields.borrow();
        let mut foreign = Ok(());
        let scanned = page::scan(scanner, piece, &fields, &mut |item| {
            if let Err(error) = self.kinds.check(item.kind.as_deref()) {
                foreign = Err(error);
            }
            let (namespace, name) = (item.namespace.clone(), item.name.clone());
            // Without a name that can be one, its uid tells which one it is.
            let uid = if name.as_deref().is_some_and(is_name) { None } else { item.uid.clone() };
            match Object::new(item) {
                Ok(object) => progress.objects.push(object),
                Err(error) => {
                    let number = progress.objects.len() + progress.refused.len() - progress.page_start + 1;
                    let text = |text: Option<&str>| text.unwrap_or_default().to_string();
                    let (namespace, name, uid) = (text(namespace.as_deref()), text(name.as_deref()), text(uid.as_deref()));
                    let whose = if uid.is_empty() || !name.is_empty() { String::new() } else { format!(" (uid {uid:?})") };
                    let error = Error { message: format!("item {number} of the page{whose}: {error}"), ..error };
                    progress.refused.push((Identity { kind: String::new(), namespace, name, uid }, error));
                }
            }
        });
        progress.refused.extend(scanner.take_broken().into_iter().map(|broken| (broken.identity, unreadable(&broken.error))));
        scanned.and(foreign)
    }

    /// What of a whole page cannot be taken goes into quarantine, if it could not the time before; else the list has failed.
    fn set_aside(&mut self, progress: &mut Progress) -> Result<(), Error> {
        let mut failed = None;
        for (identity, error) in mem::take(&mut progress.refused) {
            match self.quarantine.item(&identity, error) {
                Ok(entry) => progress.quarantined.push(entry),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells the next objects of a page; `behind` is how many follow the page.
    async fn tell(&mut self, progress: &mut Progress, behind: Option<u64>) -> Result<(), Closed> {
        let loaded = progress.objects.len().min(progress.told + BATCH);
        let from = mem::replace(&mut progress.told, loaded);
        let objects = progress.objects[from..loaded].to_vec();
        let remaining = behind.map(|behind| behind + (progress.objects.len() - loaded) as u64);
        self.send(Message::Page { objects, loaded, remaining }).await
    }

    pub(super) fn stopped(&self, stop: Stop, what: &str) -> Halt {
        match stop {
            Stop::Closed => Halt::Closed,
            Stop::Asked => Halt::Asked,
            Stop::Deadline => Halt::Failed(self.silence(what)),
        }
    }
}

/// Only the reason Expired is about the token; client-go does not take Gone for it either.
fn expired(error: &Error) -> bool {
    error.code == ErrorCode::Expired && error.status.as_ref().is_none_or(|status| status.reason != "Gone")
}

/// Whether the same page may be there a moment later.
fn passing(error: &Error) -> bool {
    matches!(
        error.code,
        ErrorCode::Network
            | ErrorCode::Timeout
            | ErrorCode::TooManyRequests
            | ErrorCode::Unavailable
            | ErrorCode::Unauthorized
            | ErrorCode::Overflow
    )
}
