//! The host as traits: what reads the time, waits, and runs tasks.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

/// Milliseconds on a monotonic clock with an arbitrary origin.
pub type Millis = u64;

/// "Never" in milliseconds: some hundred thousand years. A clock's time can be added to it without overflow.
pub const FOREVER: Millis = 1 << 52;

/// Reads the time.
pub trait Clock {
    /// Monotonic milliseconds. Deadlines compare against this, never against counted ticks.
    fn now(&self) -> Millis;
    /// The time as it was last read in this poll of the tasks. Use it for what is asked with every message: reading a clock may be a call
    /// into the host.
    fn recent(&self) -> Millis {
        self.now()
    }
    /// Milliseconds since the Unix epoch, for what people read.
    fn wall(&self) -> Millis;
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
