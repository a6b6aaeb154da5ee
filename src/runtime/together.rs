//! Two tasks that feed each other, run as one.
//!
//! Where waking a task costs the host a turn of its own (a microtask, a call between languages), a message that one task hands to the
//! other would pay for it each time. Run as one, the second task is polled in the turn that the first has already.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;

/// So many times in a turn the tasks are polled again because they woke each other; then the host comes first.
const ROUNDS: usize = 4;

/// Completes when both tasks have.
pub struct Together {
    tasks: [Option<LocalBoxFuture<'static, ()>>; 2],
    bell: Arc<Bell>,
    // The same bell, as tasks know it.
    waker: Waker,
}

/// What the tasks ring. While they are being polled it is only noted, for whoever polls them looks at it.
#[derive(Default)]
struct Bell {
    outer: AtomicWaker,
    polling: AtomicBool,
    rung: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Relaxed);
        if !self.polling.load(Ordering::Relaxed) {
            self.outer.wake();
        }
    }
}

impl Together {
    /// Both tasks, of which the first is polled first.
    pub fn new(tasks: [LocalBoxFuture<'static, ()>; 2]) -> Self {
        let bell = Arc::new(Bell::default());
        Self { tasks: tasks.map(Some), waker: bell.clone().into(), bell }
    }
}

impl Future for Together {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { tasks, bell, waker } = &mut *self;
        bell.outer.register(cx.waker());
        let mut inner = Context::from_waker(waker);
        for _ in 0..ROUNDS {
            bell.rung.store(false, Ordering::Relaxed);
            bell.polling.store(true, Ordering::Relaxed);
            for task in tasks.iter_mut() {
                if task.as_mut().is_some_and(|task| task.as_mut().poll(&mut inner).is_ready()) {
                    *task = None;
                }
            }
            bell.polling.store(false, Ordering::Relaxed);
            if tasks.iter().all(Option::is_none) {
                return Poll::Ready(());
            }
            if !bell.rung.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use futures::channel::mpsc;
    use futures::{FutureExt, SinkExt, StreamExt};

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Count(std::sync::atomic::AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_message_from_one_to_the_other_arrives_in_the_same_turn() {
        let (mut input, mut inputs) = mpsc::channel::<u32>(8);
        let (mut between, mut received) = mpsc::channel::<u32>(8);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let first = async move {
            while let Some(number) = inputs.next().await {
                between.send(number + 1).await.unwrap();
            }
        };
        let told = seen.clone();
        let second = async move {
            while let Some(number) = received.next().await {
                told.borrow_mut().push(number);
            }
        };
        let mut both = Together::new([first.boxed_local(), second.boxed_local()]);
        let count = Arc::new(Count::default());
        let waker: Waker = count.clone().into();
        let mut cx = Context::from_waker(&waker);
        assert!(both.poll_unpin(&mut cx).is_pending());
        input.try_send(1).unwrap();
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "a message from outside asks for a turn");
        assert!(both.poll_unpin(&mut cx).is_pending());
        assert_eq!((&*seen.borrow(), count.0.load(Ordering::Relaxed)), (&vec![2], 1), "one turn was enough for both");
        drop(input);
        assert!(both.poll_unpin(&mut cx).is_ready());
    }

    #[test]
    fn a_task_that_always_wakes_itself_leaves_the_host_its_turn() {
        let polls = Rc::new(Cell::new(0));
        let counted = polls.clone();
        let restless = std::future::poll_fn(move |cx| {
            counted.set(counted.get() + 1);
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        let mut both = Together::new([restless.boxed_local(), std::future::ready(()).boxed_local()]);
        let count = Arc::new(Count::default());
        let waker: Waker = count.clone().into();
        assert!(both.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(polls.get(), ROUNDS);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}
