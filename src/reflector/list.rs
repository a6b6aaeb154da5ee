//! The step that lists: one page, read while it arrives.

use std::cell::Cell;
use std::task::Poll;

use futures::stream::{self, StreamExt};
use futures::{FutureExt, TryFutureExt};

use super::breaker::Verb;
use super::failure;
use super::host::{Asked, Host, Listen, Stop};
use super::listing::Listing;
use super::liveness::Watchdog;
use super::reflector::Reflector;
use super::state::{RoundEnd, State};
use super::throttle::Outgoing;
use crate::connection::Connection;
use crate::json::{ListHead, ListScanner};
use crate::source::page::{Pace, read_with};
use crate::source::{HeldState, ListRequest, PageStream, buffers};
use crate::status::Error;

/// How often a page behind the first is asked for again before the list is given up, as client-go's transport does.
const MAX_PAGE_RETRIES: u32 = 10;

/// So many bytes of a page have to come within the time that a stream may be silent. Otherwise a page that trickles would never end, and nobody
/// would be told.
const MIN_PROGRESS_BYTES: usize = 1 << 10;

/// What a page is read from.
enum Answer {
    Page(PageStream),
    Held(HeldState),
}

/// Why there is no list, or no page of one.
enum Halt {
    Asked,
    Failed(Error),
}

impl From<Asked> for Halt {
    fn from(_: Asked) -> Self {
        Self::Asked
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Reflector {
    /// Reads the next page.
    pub(super) async fn list(&mut self, mut listing: Box<Listing>) -> State {
        if !listing.announced {
            listing.announced = true;
            self.throttle.answer_refresh();
            self.sink.connection(Connection::Listing { again: self.listed }).await;
        }
        let Some(request) = listing.pager.request() else {
            let list = listing.finish();
            return match self.beside.take() {
                Some(ahead) => {
                    let (list, ongoing) = ahead.join(list, &self.host).await;
                    State::Listed(list, ongoing)
                }
                None => State::Listed(list, None),
            };
        };
        match self.page(request, &mut listing).await {
            Ok(()) => State::Listing(listing),
            Err(Halt::Failed(error)) if failure::is_token_expired(&error) && listing.begin_unpaged() => {
                // The version of the pages is gone. Without pages the list comes from one moment in any case.
                self.reader.kinds.begin();
                State::Listing(listing)
            }
            Err(Halt::Failed(error))
                if listing.pager.is_under_way() && failure::is_passing(&error) && listing.retries < MAX_PAGE_RETRIES =>
            {
                listing.retries += 1;
                listing.announced = false;
                State::Waiting(self.throttle.wait_after(error), Box::new(State::Listing(listing)))
            }
            Err(halt) => {
                // Without its list the watch beside it is nothing.
                self.beside.take();
                State::Ended(match halt {
                    Halt::Asked => RoundEnd::asked(),
                    Halt::Failed(error) => RoundEnd::failed(error),
                })
            }
        }
    }

    async fn page(&mut self, request: ListRequest, listing: &mut Listing) -> Result<(), Halt> {
        listing.begin_page();
        let announced = Connection::Listing { again: self.listed };
        let outgoing = Outgoing { verb: Verb::List, listen: Listen::LISTING, announced };
        let permit = self.throttle.admit(&mut self.beside, outgoing).await?;
        let watchdog = self.liveness.watchdog(self.host.now());
        let asked = match self.reader.opens().then(|| self.source.held()).flatten() {
            Some(held) => held.map_ok(Answer::Held).boxed_local(),
            None => self.source.list(request).map_ok(Answer::Page).boxed_local(),
        };
        let answer = match self.beside.until(Listen::LISTING, Some(&watchdog), asked).await {
            Ok(answer) => answer,
            Err(Stop::Deadline) => Err(self.liveness.silence("the server has not answered the list")),
            Err(Stop::Asked) => return Err(Halt::Asked),
        };
        self.throttle.heard(permit, answer.as_ref().err());
        let head = match answer? {
            // Apart: else whatever a reflector does would take the room that these need.
            Answer::Page(body) => Box::pin(self.read(body, &watchdog, listing)).await?,
            Answer::Held(held) => Box::pin(self.take(held, &watchdog, listing)).await?,
        };
        self.reader.kinds.listed(head.kind.as_deref(), listing.is_empty())?;
        listing.set_aside(&mut self.quarantine)?;
        // Nothing of a page is told before all of it has proved to be sound.
        while let Some(message) = listing.tell(head.remaining) {
            self.sink.send(message).await;
            self.host.give_way().await;
        }
        listing.end_page();
        let first = listing.pager.version().is_none();
        listing.pager.follow(&head)?;
        if let Some(version) = listing.pager.version().filter(|_| first && listing.pager.is_under_way()) {
            let request = self.watch_request(version);
            self.beside.begin(version, self.source.watch(request));
        }
        Ok(())
    }

    /// Takes what another cache holds, as the one page of a list.
    async fn take(&mut self, held: HeldState, watchdog: &Watchdog, listing: &mut Listing) -> Result<ListHead, Halt> {
        let HeldState { version, history, kept_at, mut parcels } = held;
        (listing.kept_at, listing.history) = (kept_at, Some(history));
        let (Host { runtime, slice, .. }, reader) = (&*self.host, self.reader.clone());
        let taking = async {
            while let Some(parcel) = parcels.next().await {
                let parcel = parcel?;
                slice.waited(runtime.recent());
                watchdog.feed(runtime.recent());
                buffers::look_ahead(parcel.len())?;
                listing.take(reader.open(&parcel)?, &reader);
                if slice.worked(runtime.now()) {
                    slice.rest(&**runtime).await;
                }
            }
            Ok(ListHead { version: Some(version.to_string()), ..ListHead::default() })
        };
        match self.beside.until(Listen::LISTING, Some(watchdog), taking).await {
            Ok(head) => head.map_err(Halt::Failed),
            Err(Stop::Asked) => Err(Halt::Asked),
            Err(Stop::Deadline) => Err(Halt::Failed(self.liveness.silence("the list has hardly moved"))),
        }
    }

    /// Reads the body of a page, and takes meanwhile what the watch beside it brings.
    async fn read(&mut self, mut body: PageStream, watchdog: &Watchdog, listing: &mut Listing) -> Result<ListHead, Halt> {
        let (host, came, unfed) = (&self.host, Cell::new(true), Cell::new(0));
        // The body feeds the watchdog when enough has come, and when that is read and the next chunk is waited for.
        let body = stream::poll_fn(|cx| {
            let was_read = came.take();
            let polled = body.poll_next_unpin(cx);
            if let Poll::Ready(next) = &polled {
                unfed.set(unfed.get() + next.as_ref().and_then(|chunk| chunk.as_ref().ok()).map_or(0, Vec::len));
                came.set(unfed.get() >= MIN_PROGRESS_BYTES);
            }
            if came.get() {
                unfed.set(0);
            }
            if was_read || came.get() {
                watchdog.feed(host.recent());
            }
            polled
        });
        let mut items = listing.items(&self.reader, self.listed);
        let pace = Pace { runtime: &*host.runtime, slice: &host.slice };
        let reading = read_with(ListScanner::tolerant(), body.boxed_local(), &self.reader.fields, pace, &mut items);
        match self.beside.until(Listen::LISTING, Some(watchdog), reading).await {
            Ok(head) => Ok(head?),
            Err(Stop::Asked) => Err(Halt::Asked),
            Err(Stop::Deadline) => Err(Halt::Failed(self.liveness.silence("the list has hardly moved"))),
        }
    }
}
