//! The driver: applies what the reflector tells, a slice at a time.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::select;

use super::incoming::{Incoming, Next};
use super::index_function::IndexFunction;
use super::packing::Packing;
use super::share::Share;
use super::shared_cacher::SharedCacher;
use crate::cache::comparison::Comparison;
use crate::change::ChangeKind;
use crate::message::{Message, Restored};
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::runtime::slice::Slice;
use crate::status::{Error, ErrorCode};
use crate::time::{Instant, Millis};
use crate::watch::TimeBudget;

/// The most that slow watchers may cost everybody at once.
const MAX_BUDGET_MS: Millis = 100;
/// Objects of a list that are compared between two readings of the clock, which costs a call into the host.
const MAX_UNTIMED_OBJECTS: usize = 256;

/// Takes messages to the cacher, one at a time, and leaves the host its turn between slices.
pub(super) struct Driver {
    cacher: Rc<SharedCacher>,
    share: Rc<Share>,
    packing: Packing,
    runtime: SharedRuntime,
    index_function: Rc<IndexFunction>,
    // Told when a subscriber makes room while changes wait for it.
    room: RefCell<Option<oneshot::Sender<()>>>,
}

impl Driver {
    /// Of this cacher, which has this share of the memory, and whose objects are packed when they rest.
    pub(super) fn new(
        cacher: Rc<SharedCacher>,
        share: Rc<Share>,
        packing: Packing,
        index_function: Rc<IndexFunction>,
        runtime: SharedRuntime,
    ) -> Rc<Self> {
        Rc::new(Self { cacher, share, packing, runtime, index_function, room: RefCell::default() })
    }

    /// A subscriber takes more, or is gone: changes that wait for its room may go on.
    pub(super) fn room_was_made(&self) {
        if let Some(room) = self.room.borrow_mut().take() {
            let _gone = room.send(());
        }
    }

    /// The resource is closed: what rests stays as it is.
    pub(super) fn close(&self) {
        self.packing.end();
    }

    /// Applies what arrives, a slice at a time: a flush at the end of each slice, then the host's turn. Fails when there is no memory to go
    /// on with.
    pub(super) async fn run(&self, mut incoming: Incoming, slice: Rc<Slice>) -> Result<(), Error> {
        let mut budget = TimeBudget::new(self.runtime.now(), MAX_BUDGET_MS);
        // The wall's clock is asked once a millisecond: that is all it can tell.
        let mut wall = (self.runtime.now(), self.runtime.wall());
        while let Some(next) = incoming.next(&self.cacher).await {
            let mut message = match next {
                Next::Message(message) => message,
                Next::Compare(namespace, comparison) => {
                    let differences = self.compare(comparison, &slice).await;
                    incoming.compared(&namespace, differences);
                    continue;
                }
            };
            let mut now = self.runtime.recent();
            loop {
                if let Message::RoundEnded(Some(error)) = &message
                    && error.code == ErrorCode::OutOfMemory
                {
                    // The host has none left. What the next list would take is not there either.
                    return Err(error.clone());
                }
                message = self.compared(message, &slice).await;
                if matches!(message, Message::Differences { .. }) {
                    now = self.runtime.now();
                }
                self.compute_index_values(&message);
                self.find_room(&message, &slice, &mut now).await?;
                if wall.0 != now {
                    wall = (now, self.runtime.wall());
                }
                let blocked = self.cacher.borrow_mut().apply(message, now, wall.1);
                self.share.keep_bound();
                if blocked {
                    self.serve_blocked(&mut budget, &slice).await;
                }
                if slice.worked(now) {
                    break;
                }
                match incoming.try_next(&self.cacher) {
                    Some(next) => (message, now) = (next, self.runtime.now()),
                    None => break,
                }
            }
            // What subscribers do with what they are told is work as well.
            if self.cacher.flush() {
                now = self.runtime.now();
            }
            self.packing.start();
            if slice.worked(now) {
                slice.rest(&*self.runtime).await;
            }
        }
        Ok(())
    }

    /// A list is compared with what is held in slices, and only what differs is left for the step that applies it. Nothing else is applied
    /// meanwhile.
    async fn compared(&self, message: Message, slice: &Slice) -> Message {
        match Comparison::of(message) {
            Ok(comparison) => self.compare(comparison, slice).await,
            Err(other) => other,
        }
    }

    async fn compare(&self, mut comparison: Comparison, slice: &Slice) -> Message {
        while comparison.go_on(self.cacher.borrow().store(), MAX_UNTIMED_OBJECTS) {
            if slice.worked(self.runtime.now()) {
                self.cacher.flush();
                slice.rest(&*self.runtime).await;
            }
        }
        comparison.end()
    }

    /// Once for each object, whether it comes in a list, over the watch as a part of the state, or as a change.
    fn compute_index_values(&self, message: &Message) {
        if !self.index_function.is_set() {
            return;
        }
        let arrived = match message {
            Message::Page { objects, .. }
            | Message::Shown { objects, .. }
            | Message::Replace { objects, .. }
            | Message::Restored(Restored { objects, .. }) => objects.as_slice(),
            Message::Differences { differences, .. } => &differences.iter().filter_map(|one| one.after.clone()).collect::<Vec<_>>(),
            Message::Change { kind: ChangeKind::Added | ChangeKind::Modified, object, .. } => std::slice::from_ref(object),
            _ => return,
        };
        for object in arrived {
            // What is held at the same version already is not stored anew.
            let held = |held: &Rc<Object>| held.version() == object.version() && held.has_index_values();
            if !self.cacher.borrow().store().get(object.key()).is_some_and(held) {
                self.index_function.compute(object);
            }
        }
    }

    /// Makes room for a message that is about to be applied, with the time that it is then. Fails when there is none.
    async fn find_room(&self, message: &Message, slice: &Slice, now: &mut Instant) -> Result<(), Error> {
        if self.share.make_room(message).is_ok() {
            return Ok(());
        }
        // What waits for a flush, or for whoever reads it in the host's turn, is all that may be in the way.
        self.cacher.flush();
        slice.rest(&*self.runtime).await;
        *now = self.runtime.now();
        if self.cacher.borrow().availability().ready().is_stopped() {
            return Ok(()); // closed meanwhile: nothing is applied
        }
        self.share.make_room(message)
    }

    /// Some watchers have no room. They get the host's turn, and the time that is left for slow ones; who still has no room then, ends.
    async fn serve_blocked(&self, budget: &mut TimeBudget, slice: &Slice) {
        self.cacher.flush();
        slice.rest(&*self.runtime).await;
        let began = self.runtime.now();
        let available = budget.take(began);
        while self.cacher.borrow_mut().dispatcher_mut().retry_blocked() {
            self.cacher.flush();
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let left = (available - self.runtime.now().since(began) as f64).max(0.0) as Millis;
            if left == 0 {
                self.cacher.borrow_mut().dispatcher_mut().terminate_blocked();
                break;
            }
            let (sender, receiver) = oneshot::channel();
            *self.room.borrow_mut() = Some(sender);
            select(receiver, self.runtime.sleep(left)).await;
        }
        #[allow(clippy::cast_precision_loss)]
        budget.give_back(available - self.runtime.now().since(began) as f64);
    }
}
