//! Background tasks: each has an owner, and ends with it.
//!
//! The task owns the parts that it works with, and its owner keeps the [`Task`]. The task does not own its owner, so nothing holds itself
//! alive. No task has to ask whether its owner still exists.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::FutureExt;

use super::host::Spawn;

/// The handle of a background task. Dropping it ends the task: its future is dropped, and its timers with it, when the host next has the
/// task's turn. A task may drop its own handle.
#[must_use = "the task ends when its handle is dropped"]
pub struct Task(Rc<Shared>);

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("over", &self.is_over()).finish()
    }
}

/// What handle and task know of each other.
#[derive(Default)]
struct Shared {
    over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Task {
    /// Runs the work until it is done, or the handle is dropped.
    pub fn spawn(host: &(impl Spawn + ?Sized), work: impl Future<Output = ()> + 'static) -> Self {
        let (task, work) = Self::new(work);
        host.spawn(work.boxed_local());
        task
    }

    /// The handle, and what is to be polled: for work that somebody else runs, such as [`Spawn::spawn_together`].
    pub fn new(work: impl Future<Output = ()> + 'static) -> (Self, impl Future<Output = ()> + 'static) {
        let shared = Rc::<Shared>::default();
        let handle = Self(shared.clone());
        // A future that is captured and then pinned stands twice in the future around it; a box stands there as a pointer.
        let mut work = work.boxed_local();
        let ended = async move {
            poll_fn(|cx| {
                if !shared.over.get() && work.as_mut().poll(cx).is_ready() {
                    shared.over.set(true);
                }
                // The work may have dropped the handle itself.
                if shared.over.get() {
                    return Poll::Ready(());
                }
                let mut waker = shared.waker.borrow_mut();
                if !waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                    *waker = Some(cx.waker().clone());
                }
                Poll::Pending
            })
            .await;
        };
        (handle, ended)
    }

    /// Whether the work is done. It is not yet while its last step is taken.
    pub fn is_over(&self) -> bool {
        self.0.over.get()
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if self.0.over.replace(true) {
            return;
        }
        let waker = self.0.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// At most one task at a time, which is started when there is work for it.
///
/// A task that ends because nothing is left to do must find that out last, with no await behind it. Then whoever finds new work either
/// still meets the task, or starts another one.
#[derive(Default)]
pub struct SingleTask(RefCell<Option<Task>>);

impl SingleTask {
    /// Whether the task is at work.
    pub fn is_busy(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(|task| !task.is_over())
    }

    /// Starts this task, unless one is at work.
    pub fn start<W: Future<Output = ()> + 'static>(&self, host: &(impl Spawn + ?Sized), work: impl FnOnce() -> W) {
        if !self.is_busy() {
            let task = Task::spawn(host, work());
            let _over = self.0.replace(Some(task));
        }
    }

    /// Ends the task, if one is at work.
    pub fn end(&self) {
        let _ended = self.0.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Timer;
    use crate::runtime::virtual_time::VirtualTime;

    /// Counts the seconds for ever, and what it holds is dropped with it.
    fn seconds(time: &Rc<VirtualTime>, count: &Rc<Cell<u32>>) -> impl Future<Output = ()> + 'static {
        let (time, count) = (time.clone(), count.clone());
        async move {
            loop {
                time.sleep(1000).await;
                count.set(count.get() + 1);
            }
        }
    }

    #[test]
    fn a_task_runs_as_long_as_its_handle_lives() {
        let (time, count) = (VirtualTime::new(0), Rc::new(Cell::new(0)));
        let task = Task::spawn(&*time, seconds(&time, &count));
        time.advance(3500);
        assert_eq!((count.get(), time.tasks(), task.is_over()), (3, 1, false));
        drop(task);
        time.run_until_idle();
        assert_eq!((time.tasks(), Rc::strong_count(&count)), (0, 1), "what it held is dropped");
        time.advance(5000);
        assert_eq!(count.get(), 3);
    }

    #[test]
    fn a_task_whose_handle_is_gone_before_it_began_does_nothing() {
        let (time, count) = (VirtualTime::new(0), Rc::new(Cell::new(0)));
        let counted = count.clone();
        drop(Task::spawn(&*time, async move { counted.set(1) }));
        time.run_until_idle();
        assert_eq!((count.get(), time.tasks()), (0, 0));
    }

    #[test]
    fn a_task_may_drop_its_own_handle() {
        let (time, handle) = (VirtualTime::new(0), Rc::new(RefCell::new(None)));
        let (own, inner) = (handle.clone(), time.clone());
        *handle.borrow_mut() = Some(Task::spawn(&*time, async move {
            inner.sleep(10).await;
            own.take();
            inner.sleep(1_000_000).await;
            unreachable!("it is over");
        }));
        time.advance(10);
        assert_eq!((time.elapsed(), time.tasks(), Rc::strong_count(&handle)), (10, 0, 1));
    }

    #[test]
    fn work_that_another_runs_ends_with_the_handle_too() {
        let (time, count) = (VirtualTime::new(0), Rc::new(Cell::new(0)));
        let (first, ours) = Task::new(seconds(&time, &count));
        let (second, theirs) = Task::new(seconds(&time, &count));
        time.spawn_together([ours.boxed_local(), theirs.boxed_local()]);
        time.advance(1000);
        drop(first);
        time.advance(1000);
        assert_eq!((count.get(), second.is_over()), (3, false));
        drop(second);
        time.run_until_idle();
        assert_eq!(time.tasks(), 0);
    }

    #[test]
    fn a_single_task_runs_one_at_a_time_and_another_when_that_is_done() {
        let (time, begun) = (VirtualTime::new(0), Cell::new(0));
        let single = SingleTask::default();
        let begin = || {
            single.start(&*time, || {
                begun.set(begun.get() + 1);
                time.sleep(100)
            });
        };
        begin();
        begin();
        assert_eq!((begun.get(), single.is_busy()), (1, true));
        time.advance(100);
        assert_eq!((time.tasks(), single.is_busy()), (0, false));
        begin();
        assert_eq!((begun.get(), single.is_busy()), (2, true));
        single.end();
        time.run_until_idle();
        assert_eq!((time.tasks(), single.is_busy(), time.elapsed()), (0, false, 100));
        begin();
        drop(single);
        time.run_until_idle();
        assert_eq!((begun.get(), time.tasks()), (3, 0), "the task ends with the single");
    }
}
