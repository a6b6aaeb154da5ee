//! Live views over many objects find their rows in slices, which leave the host its turn.

use std::cell::Cell;
use std::rc::Rc;

use super::flusher::Flusher;
use crate::runtime::slice::MAX_SLICE_MS;
use crate::runtime::{SharedRuntime, SingleTask, Task};
use crate::status::Error;
use crate::time::Millis;
use crate::view::{ViewId, ViewOptions};

/// Objects that views take in between two readings of the clock, which costs a call into the host.
const MAX_UNTIMED_OBJECTS: usize = 64;
/// Batches of one slice. In virtual time the clock stands still meanwhile, so the number of objects bounds a slice as well.
const MAX_BATCHES: usize = 64;

/// What of a slice is spent.
#[derive(Clone, Copy, Default)]
struct Spent {
    batches: usize,
    millis: Millis,
}

impl Spent {
    fn is_over(self) -> bool {
        self.batches >= MAX_BATCHES || self.millis >= MAX_SLICE_MS
    }
}

/// Has the views of a cacher built.
pub(super) struct Building {
    flusher: Rc<Flusher>,
    runtime: SharedRuntime,
    task: SingleTask,
    // The slice that all views share which open in one turn of the host.
    opening: Rc<Cell<Spent>>,
    turn: Cell<Option<Task>>,
}

impl Building {
    /// Of the cacher that this flusher tells of.
    pub(super) fn new(flusher: Rc<Flusher>, runtime: SharedRuntime) -> Self {
        Self { flusher, runtime, task: SingleTask::default(), opening: Rc::default(), turn: Cell::default() }
    }

    /// Has views find their rows until they have all of them.
    pub(super) fn start(&self) {
        if !self.flusher.cacher().borrow().views().is_unfinished() {
            return;
        }
        self.task.start(&*self.runtime, || {
            let (flusher, runtime) = (self.flusher.clone(), self.runtime.clone());
            async move {
                loop {
                    runtime.yield_now().await;
                    build(&flusher, &runtime, Spent::default());
                    flusher.tell_soon();
                    if !flusher.cacher().borrow().views().is_unfinished() {
                        return;
                    }
                }
            }
        });
    }

    /// Opens a live view and finds rows for it as long as a slice lasts: where that is enough it is loaded at once. All that are opened in one
    /// turn of the host share that slice, or else many small ones would hold it up.
    pub(super) fn open_view(&self, options: &ViewOptions) -> Result<ViewId, Error> {
        let view = self.flusher.cacher().borrow_mut().viewing().open(options)?;
        let spent = self.opening.get();
        if self.flusher.cacher().borrow().views().is_unfinished() && !spent.is_over() {
            self.opening.set(build(&self.flusher, &self.runtime, spent));
            if spent.batches == 0 {
                let (opening, turn) = (self.opening.clone(), self.runtime.yield_now());
                self.turn.set(Some(Task::spawn(&*self.runtime, async move {
                    turn.await;
                    opening.set(Spent::default());
                })));
            }
        }
        self.flusher.cacher().borrow_mut().viewing().look(view);
        self.flusher.tell_soon();
        self.start();
        Ok(view)
    }
}

/// Builds views until the slice is over of which so much is spent; and how much is then.
fn build(flusher: &Flusher, runtime: &SharedRuntime, mut spent: Spent) -> Spent {
    let (began, before) = (runtime.now(), spent.millis);
    loop {
        let more = flusher.cacher().borrow_mut().viewing().build(MAX_UNTIMED_OBJECTS);
        spent.batches += 1;
        spent.millis = before + runtime.now().since(began);
        if !more || spent.is_over() {
            return spent;
        }
    }
}
