//! The state on disk: read before the first list, and written as it changes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::StreamExt;
use futures::future::{Either, LocalBoxFuture, select};
use futures::stream::{self, LocalBoxStream};

use super::shared_cacher::SharedCacher;
use crate::message::Message;
use crate::object::rest::Origin;
use crate::persist::{Found, Keeper, Kept, MAX_READ_MS, Plan, Writer};
use crate::runtime::{SharedRuntime, SingleTask};
use crate::time::Millis;

/// The time from one write to the next, at least: what changes often is written once.
pub const MIN_WRITE_INTERVAL_MS: Millis = 2_000;
/// What making the blocks may take of the time: the fiftieth part.
const MAX_PART: Millis = 50;
/// The time after a write that failed, until all is written anew.
const AFTER_FAILURE_MS: Millis = 60_000;
/// What rests packed leans on the text of some object before it, which stays with the others when that object is gone. What was a secret may not.
const SECRETS: &str = "secrets";
/// How long blocks are made before the host has its turn.
const MAX_SLICE_MS: Millis = 3;

/// Keeps the state of one resource.
pub(super) struct Persisting {
    keeper: Rc<dyn Keeper>,
    max_age: Millis,
    /// Whether objects are kept as texts alone: see [`SECRETS`].
    as_texts: bool,
    cacher: Rc<SharedCacher>,
    runtime: SharedRuntime,
    writer: Rc<RefCell<Writer>>,
    was_read: Cell<bool>,
    task: SingleTask,
}

impl Persisting {
    /// Of this resource with this storage, from which no state is taken that is older.
    pub(super) fn new(name: &str, keeper: Rc<dyn Keeper>, max_age: Millis, cacher: Rc<SharedCacher>, runtime: SharedRuntime) -> Self {
        Self {
            keeper,
            max_age,
            as_texts: name == SECRETS,
            cacher,
            runtime,
            writer: Rc::default(),
            was_read: Cell::default(),
            task: SingleTask::default(),
        }
    }

    /// What was kept, told as it is read; asked for once.
    pub(super) fn restore(&self) -> Option<LocalBoxStream<'static, Message>> {
        if self.was_read.replace(true) {
            return None;
        }
        let restoring =
            Restoring { writer: self.writer.clone(), cacher: self.cacher.clone(), runtime: self.runtime.clone(), max_age: self.max_age };
        Some(stream::unfold(Step::Asked(self.keeper.read(), restoring), Step::next).boxed_local())
    }

    /// Writes from now on, whenever it is this one's turn.
    pub(super) fn start(&self) {
        let (keeper, cacher, runtime) = (self.keeper.clone(), self.cacher.clone(), self.runtime.clone());
        self.task.start(&*self.runtime, || run(keeper, self.as_texts, cacher, runtime, self.writer.clone()));
    }

    /// Writes nothing more.
    pub(super) fn end(&self) {
        self.task.end();
    }
}

/// What a state is read with.
struct Restoring {
    writer: Rc<RefCell<Writer>>,
    cacher: Rc<SharedCacher>,
    runtime: SharedRuntime,
    max_age: Millis,
}

/// How far a state is read.
enum Step {
    /// The storage was asked.
    Asked(LocalBoxFuture<'static, Option<Kept>>, Restoring),
    /// So many of its objects were told.
    Told(Box<Found>, usize, Restoring),
    /// All of it was.
    Over,
}

impl Step {
    /// The next message, and what is left. Nothing behind the last one, and where nothing sound was kept.
    async fn next(self) -> Option<(Message, Self)> {
        match self {
            Self::Asked(kept, with) => {
                let Either::Left((kept, _)) = select(kept, with.runtime.sleep(MAX_READ_MS)).await else { return None };
                let found = Box::new(Found::of(kept?, with.runtime.wall(), with.max_age)?);
                Some((Message::Restoring(found.at()), Self::Told(found, 0, with)))
            }
            Self::Told(mut found, told, with) => {
                if let Some((objects, left)) =
                    found.next(&mut |parcel| with.cacher.borrow_mut().open(parcel, Origin::Disk), &with.runtime).await
                {
                    let loaded = told + objects.len();
                    return Some((Message::Page { objects, loaded, remaining: Some(left) }, Self::Told(found, loaded, with)));
                }
                let (restored, writer) = found.whole()?;
                with.writer.replace(writer);
                Some((Message::Restored(restored), Self::Over))
            }
            Self::Over => None,
        }
    }
}

async fn run(keeper: Rc<dyn Keeper>, as_texts: bool, cacher: Rc<SharedCacher>, runtime: SharedRuntime, writer: Rc<RefCell<Writer>>) {
    if !keeper.turn().await {
        // Another one has written since this one read.
        writer.borrow_mut().forget();
    }
    let mut wait = MIN_WRITE_INTERVAL_MS;
    loop {
        runtime.sleep(wait).await;
        if wait == AFTER_FAILURE_MS {
            // The storage may have let somebody else write. What is planned before it is one's turn would be old by then, and take its room until then.
            keeper.turn().await;
        }
        let began = runtime.now();
        let Some(mut plan) = plan(&cacher, &writer.borrow()) else {
            wait = MIN_WRITE_INTERVAL_MS;
            continue;
        };
        let wall = runtime.wall();
        let mut spent = runtime.now().since(began);
        let made = make(&mut plan, as_texts, &runtime, &mut spent).await;
        let result = if made { keeper.write(plan.written(wall)).await.is_ok() } else { false };
        if result {
            writer.borrow_mut().wrote(plan);
            wait = MIN_WRITE_INTERVAL_MS.max(spent * MAX_PART);
        } else {
            writer.borrow_mut().forget();
            wait = AFTER_FAILURE_MS;
        }
    }
}

/// What is to be written. What the server has not confirmed is what was read; and what is in quarantine is no part of the state of its version.
fn plan(cacher: &SharedCacher, writer: &Writer) -> Option<Plan> {
    let cacher = cacher.borrow();
    let availability = cacher.availability();
    let is_state = availability.is_confirmed() && !availability.has_quarantined();
    is_state.then(|| writer.plan(cacher.store(), cacher.version())).flatten()
}

/// Makes all blocks. False where one cannot be made.
async fn make(plan: &mut Plan, as_texts: bool, runtime: &SharedRuntime, spent: &mut Millis) -> bool {
    let mut began = runtime.now();
    loop {
        let Ok(more) = plan.encode(as_texts) else { return false };
        let worked = runtime.now().since(began);
        if !more {
            *spent += worked;
            return true;
        }
        if worked >= MAX_SLICE_MS {
            *spent += worked;
            runtime.yield_now().await;
            began = runtime.now();
        }
    }
}
