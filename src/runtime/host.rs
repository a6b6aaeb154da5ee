//! The host as traits: what reads the time, waits, and runs tasks.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use crate::time::{Instant, Millis, WallTime};

/// Reads the time.
pub trait Clock {
    /// The monotonic clock. Deadlines compare against this, never against counted ticks.
    fn now(&self) -> Instant;
    /// The time as it was last read in this poll of the tasks. Use it for what is asked with every message: reading a clock may be a call
    /// into the host.
    fn recent(&self) -> Instant {
        self.now()
    }
    /// The wall clock, for what people read.
    fn wall(&self) -> WallTime;
}

/// Waits.
pub trait Timer {
    /// Completes once at least this many milliseconds have passed. A host may be late (hidden or frozen pages): compare clocks.
    fn sleep(&self, millis: Millis) -> LocalBoxFuture<'static, ()>;
    /// Lets everything else of the host run first: input, painting, other tasks.
    fn yield_now(&self) -> LocalBoxFuture<'static, ()>;
}

/// Runs tasks on this thread.
pub trait Spawn {
    /// Runs the task to its end, or until the host goes away.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);
    /// Runs two tasks that feed each other. A host where each wake costs a turn runs them as one ([`super::together::Together`]).
    fn spawn_together(&self, tasks: [LocalBoxFuture<'static, ()>; 2]) {
        tasks.into_iter().for_each(|task| self.spawn(task));
    }
}

/// All three, shared by everything of one cache.
pub trait Runtime: Clock + Timer + Spawn {}
impl<T: Clock + Timer + Spawn> Runtime for T {}

/// The handle that is passed around.
pub type SharedRuntime = Rc<dyn Runtime>;
