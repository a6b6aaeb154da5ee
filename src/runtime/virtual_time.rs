//! Virtual time: one thread, tasks in a seeded order, and a clock that jumps to the next deadline when nothing can run.
//!
//! With it native tests run a day of reconnects in milliseconds, and a seed repeats a run exactly. It is public so that tests outside this
//! crate can drive the core the same way.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use slab::Slab;

use super::host::{Clock, Spawn, Timer};
use crate::time::{Instant, Millis, WallTime};

/// The wall clock at the start: 2026-01-01T00:00:00Z.
pub const WALL_AT_START: WallTime = WallTime::from_unix_millis(1_767_225_600_000);

const ROOT: usize = usize::MAX;

/// A runtime in virtual time.
///
/// Of the ready tasks a seeded random one is polled, so that no test depends on a lucky order. Timers fire when no task is ready, in the
/// order of their deadlines.
pub struct VirtualTime {
    now: Cell<Instant>,
    random: RefCell<fastrand::Rng>,
    tasks: RefCell<Slab<Spawned>>,
    ready: Arc<Ready>,
    timers: RefCell<BinaryHeap<Reverse<Alarm>>>,
    armed: Cell<u64>,
}

/// The ready tasks. Wakers must be `Send`, hence the lock, although there is only one thread.
#[derive(Default)]
struct Ready(Mutex<Vec<usize>>);

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Spawned {
    // `None` while it is polled, so that it may spawn others.
    future: Option<LocalBoxFuture<'static, ()>>,
    waker: Waker,
}

struct TaskWaker {
    id: usize,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut ready = self.ready.lock();
        if !ready.contains(&self.id) {
            ready.push(self.id);
        }
    }
}

struct Alarm {
    deadline: Instant,
    order: u64,
    sleep: Weak<Sleep>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.deadline, self.order).cmp(&(other.deadline, other.order))
    }
}

#[derive(Default)]
struct Sleep {
    fired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

struct SleepFuture(Rc<Sleep>);

impl Future for SleepFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.fired.get() {
            return Poll::Ready(());
        }
        *self.0.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl VirtualTime {
    /// A runtime at time 0. The seed determines the order of tasks.
    pub fn new(seed: u64) -> Rc<Self> {
        Rc::new(Self {
            now: Cell::new(Instant::START),
            random: RefCell::new(fastrand::Rng::with_seed(seed)),
            tasks: RefCell::new(Slab::new()),
            ready: Arc::default(),
            timers: RefCell::new(BinaryHeap::new()),
            armed: Cell::new(0),
        })
    }

    /// Runs until the future completes, and skips the time in which nothing happens.
    ///
    /// # Panics
    /// If nothing is ready and no timer runs, so that the future can never complete.
    pub fn run_until<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let waker = self.waker(ROOT);
        waker.wake_by_ref();
        loop {
            match self.pick() {
                Some(ROOT) => {
                    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                        self.forget_root();
                        return output;
                    }
                }
                Some(id) => self.run(id),
                None => assert!(self.fire(None), "deadlock: nothing is ready and no timer runs"),
            }
        }
    }

    /// Runs everything in the next `millis` milliseconds, and leaves the clock at their end.
    pub fn advance(&self, millis: Millis) {
        let end = self.now.get() + millis;
        loop {
            self.run_until_idle();
            if !self.fire(Some(end)) {
                break;
            }
        }
        self.now.set(end.max(self.now.get()));
    }

    /// Runs everything that can run now. The clock stands still.
    pub fn run_until_idle(&self) {
        loop {
            match self.pick() {
                Some(id) => self.run(id),
                // Timers that are due now, such as yields, belong to it.
                None if self.fire(Some(self.now.get())) => {}
                None => return,
            }
        }
    }

    /// Suspends the host: the clock moves and nothing runs, not even timers. All timers are late afterwards.
    pub fn suspend(&self, millis: Millis) {
        self.now.set(self.now.get() + millis);
    }

    /// How long it has run.
    pub fn elapsed(&self) -> Millis {
        self.now.get().since(Instant::START)
    }

    /// Spawned tasks that have not ended.
    pub fn tasks(&self) -> usize {
        self.tasks.borrow().len()
    }

    fn waker(&self, id: usize) -> Waker {
        Arc::new(TaskWaker { id, ready: self.ready.clone() }).into()
    }

    fn pick(&self) -> Option<usize> {
        let mut ready = self.ready.lock();
        if ready.is_empty() {
            return None;
        }
        let index = self.random.borrow_mut().usize(..ready.len());
        Some(ready.swap_remove(index))
    }

    fn forget_root(&self) {
        self.ready.lock().retain(|id| *id != ROOT);
    }

    fn run(&self, id: usize) {
        let Some((mut future, waker)) =
            self.tasks.borrow_mut().get_mut(id).and_then(|task| task.future.take().map(|future| (future, task.waker.clone())))
        else {
            return; // woken after it completed
        };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            self.tasks.borrow_mut()[id].future = Some(future);
        } else {
            // Its number may be used again. A late wake of the old task then wakes the new one, which is allowed.
            self.tasks.borrow_mut().remove(id);
        }
    }

    /// Moves the clock to the next deadline, at most to `until`, and fires one timer. Returns false if there is none.
    fn fire(&self, until: Option<Instant>) -> bool {
        loop {
            let entry = {
                let mut timers = self.timers.borrow_mut();
                match timers.peek() {
                    Some(Reverse(entry)) if until.is_none_or(|until| entry.deadline <= until) => timers.pop(),
                    _ => None,
                }
            };
            let Some(Reverse(entry)) = entry else { return false };
            let Some(sleep) = entry.sleep.upgrade() else { continue }; // dropped: cancelled
            self.now.set(self.now.get().max(entry.deadline));
            sleep.fired.set(true);
            let waker = sleep.waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
            return true;
        }
    }
}

impl Clock for VirtualTime {
    fn now(&self) -> Instant {
        self.now.get()
    }

    fn wall(&self) -> WallTime {
        WALL_AT_START + self.elapsed()
    }
}

impl Timer for VirtualTime {
    fn sleep(&self, millis: Millis) -> LocalBoxFuture<'static, ()> {
        let sleep = Rc::new(Sleep::default());
        let order = self.armed.get();
        self.armed.set(order + 1);
        let deadline = self.now.get().saturating_add(millis);
        self.timers.borrow_mut().push(Reverse(Alarm { deadline, order, sleep: Rc::downgrade(&sleep) }));
        Box::pin(SleepFuture(sleep))
    }

    fn yield_now(&self) -> LocalBoxFuture<'static, ()> {
        // A timer that is due at once fires only when nothing else is ready, which is what a yield is.
        self.sleep(0)
    }
}

impl Spawn for VirtualTime {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let mut tasks = self.tasks.borrow_mut();
        let entry = tasks.vacant_entry();
        let waker = self.waker(entry.key());
        entry.insert(Spawned { future: Some(task), waker: waker.clone() });
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use futures::channel::oneshot;

    fn log_of(seed: u64) -> Vec<(Millis, u32)> {
        let time = VirtualTime::new(seed);
        let log = Rc::new(RefCell::new(Vec::new()));
        for task in 0..8 {
            let (time, log) = (time.clone(), log.clone());
            time.clone().spawn(
                async move {
                    for _ in 0..3 {
                        time.sleep(100).await;
                        log.borrow_mut().push((time.elapsed(), task));
                    }
                }
                .boxed_local(),
            );
        }
        time.advance(1000);
        assert_eq!((time.elapsed(), time.tasks()), (1000, 0));
        log.take()
    }

    #[test]
    fn a_run_repeats_for_its_seed_and_differs_for_another() {
        assert_eq!(log_of(1), log_of(1));
        assert_eq!(log_of(1).len(), 24);
        assert!((2..20).any(|seed| log_of(seed) != log_of(1)));
    }

    #[test]
    fn time_jumps_to_the_next_deadline() {
        let time = VirtualTime::new(0);
        let day = 24 * 3600 * 1000;
        time.run_until(time.sleep(day));
        assert_eq!((time.elapsed(), time.wall()), (day, WALL_AT_START + day));
    }

    #[test]
    fn advance_runs_what_is_due_and_stops_at_its_end() {
        let time = VirtualTime::new(0);
        let fired = Rc::new(Cell::new(0));
        let (at, inner) = (fired.clone(), time.clone());
        time.spawn(
            async move {
                loop {
                    inner.sleep(10).await;
                    at.set(at.get() + 1);
                }
            }
            .boxed_local(),
        );
        time.run_until_idle();
        assert_eq!(fired.get(), 0);
        time.advance(35);
        assert_eq!((fired.get(), time.elapsed()), (3, 35));
        time.advance(5);
        assert_eq!(fired.get(), 4);
    }

    #[test]
    fn a_dropped_timer_is_cancelled() {
        let time = VirtualTime::new(0);
        drop(time.sleep(5));
        let (sender, receiver) = oneshot::channel::<()>();
        let inner = time.clone();
        time.spawn(
            async move {
                inner.sleep(50).await;
                let _ = sender.send(());
            }
            .boxed_local(),
        );
        time.run_until(receiver).unwrap();
        assert_eq!(time.elapsed(), 50);
    }

    #[test]
    fn after_a_suspension_all_timers_are_late() {
        let time = VirtualTime::new(0);
        let timer = time.sleep(10);
        time.suspend(1_000_000);
        time.run_until(timer);
        assert_eq!(time.elapsed(), 1_000_000);
    }

    #[test]
    fn a_yield_lets_everything_else_run_first() {
        for seed in 0..20 {
            let time = VirtualTime::new(seed);
            let log = Rc::new(RefCell::new(Vec::new()));
            let (first, second, inner) = (log.clone(), log.clone(), time.clone());
            time.spawn(
                async move {
                    inner.yield_now().await;
                    first.borrow_mut().push("yielded");
                }
                .boxed_local(),
            );
            time.spawn(async move { second.borrow_mut().push("other") }.boxed_local());
            time.run_until_idle();
            assert_eq!(*log.borrow(), ["other", "yielded"]);
            assert_eq!(time.elapsed(), 0);
        }
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn waiting_for_nothing_is_a_deadlock() {
        VirtualTime::new(0).run_until(std::future::pending::<()>());
    }
}
