//! The watchers of a cacher, together with the state that they watch.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cache::held::Held;
use crate::cache::interval::{Basis, Interval};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::metrics::Metrics;
use crate::selector::{Filter, FilterText, Interest};
use crate::status::{Error, Status};
use crate::time::Instant;
use crate::watch::{Beginning, Dispatcher, EndReason, Start, WatchOptions, WatcherId};

/// How many events may wait for a watcher by default, where no field routes events to watchers. These three are the apiserver's.
const MAX_BUFFERED_UNROUTED: usize = 100;
/// The same where a field does, for a watcher of everything: it hears of all.
const MAX_BUFFERED_OF_EVERYTHING: usize = 1000;
/// The same for a watcher to which that field routes events: it hears of few.
const MAX_BUFFERED_ROUTED: usize = 10;

/// Does what takes both: what a watcher begins with is captured in one step with its registration, and it ends at the version held.
pub struct Watching<'a> {
    pub(super) dispatcher: &'a mut Dispatcher,
    pub(super) held: &'a Held,
    pub(super) fields: &'a RefCell<FieldSet>,
    pub(super) metrics: &'a Metrics,
}

impl Watching<'_> {
    /// Has this field route events to watchers: whoever demands a value of it hears of changes with that value alone.
    pub fn set_trigger(self, path: &Path) {
        let slot = self.fields.borrow_mut().slot(path);
        self.dispatcher.set_trigger(slot);
    }

    /// Parses and registers a watcher that has not started. The error is the refusal.
    pub fn register(self, options: &WatchOptions) -> (WatcherId, Result<Start, Error>) {
        match self.read(options) {
            Ok((filter, interest, start)) => (self.dispatcher.add(filter, interest), Ok(start)),
            Err(error) => (self.dispatcher.add(Filter::default(), None), Err(error)),
        }
    }

    fn read(&self, options: &WatchOptions) -> Result<(Filter, Option<Interest>, Start), Error> {
        let asked = FilterText {
            namespace: options.namespace.as_deref(),
            name: options.name.as_deref(),
            labels: options.label_selector.as_deref(),
            fields: options.field_selector.as_deref(),
        };
        let filter = Filter::new(asked, &mut self.fields.borrow_mut())?;
        let filter = filter.with_shard(options.shard_selector.as_deref())?;
        let interest = options.changes_of.as_ref().map(|paths| Interest::read(paths, &mut self.fields.borrow_mut())).transpose()?;
        Ok((filter, interest, options.start()?))
    }

    /// Captures the interval of a watcher and begins to dispatch to it, in one step.
    pub fn start(self, id: WatcherId, options: &WatchOptions, start: &Start, basis: &Basis, now: Instant) {
        let Some(watcher) = self.dispatcher.get(id) else { return };
        let filter = watcher.filter().clone();
        let captured =
            Interval::capture(self.held, &filter, watcher.interest().map(Rc::as_ref), options, start, basis, &self.fields.borrow());
        let interval = match captured {
            Ok(interval) => interval,
            Err(error) => return self.fail(id, &error),
        };
        self.metrics.init_events.add(interval.count as u64);
        let beginning = Beginning {
            interval: interval.events,
            of_state: interval.of_state,
            gate: interval.gate,
            capacity: options.buffer_size.unwrap_or_else(|| self.default_capacity(&filter)).max(1),
            on_overflow: options.on_overflow,
            bookmarks: interval.bookmarks,
            deadline: options.deadline(now),
        };
        self.dispatcher.start(id, beginning, now);
    }

    fn default_capacity(&self, filter: &Filter) -> usize {
        let max = match self.dispatcher.triggers(filter) {
            (false, _) => MAX_BUFFERED_UNROUTED,
            (true, false) => MAX_BUFFERED_OF_EVERYTHING,
            (true, true) => MAX_BUFFERED_ROUTED,
        };
        self.held.window().suggested_buffer(max)
    }

    /// Ends a watcher with an ERROR event.
    pub fn fail(self, id: WatcherId, error: &Error) {
        self.dispatcher.fail(id, &status_of(error), self.held.version());
    }

    /// Ends all watchers with an ERROR event.
    pub(super) fn fail_all(self, error: &Error) {
        let status = status_of(error);
        for id in self.dispatcher.ids() {
            self.dispatcher.fail(id, &status, self.held.version());
        }
    }

    /// Ends a watcher because its user stopped it.
    pub(super) fn stop(self, id: WatcherId) {
        self.dispatcher.end(id, EndReason::Stopped, self.held.version());
    }

    /// Sends bookmarks that are due and ends streams whose time is over. Returns whether some watcher needs another tick.
    pub(super) fn tick(self, now: Instant) -> bool {
        self.dispatcher.tick(now, self.held.version())
    }
}

fn status_of(error: &Error) -> Status {
    error.status.as_deref().cloned().unwrap_or_else(|| Status::internal(error.message.clone()))
}
