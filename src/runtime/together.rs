//! Two tasks that feed each other, run as one, and by whoever brings them something.
//!
//! Waking a task can cost the host a turn of its own: a microtask, a call between languages. A message that one task hands to the other
//! would pay for that each time. Run as one, the second task is polled right behind the first. And where the host itself calls with
//! something for them, they are polled in that call.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;

/// How often each task is polled in one advance, because they wake each other. Then the host comes first.
const MAX_POLLS: usize = 4;

thread_local! {
    static CURRENT: RefCell<Weak<Tasks>> = const { RefCell::new(Weak::new()) };
    static ADVANCES: Cell<u64> = const { Cell::new(0) };
}

/// Completes when both tasks have.
pub struct Together(Rc<Tasks>);

struct Tasks {
    tasks: RefCell<[Option<LocalBoxFuture<'static, ()>>; 2]>,
    bell: Arc<Bell>,
    /// The same bell, as tasks know it.
    waker: Waker,
}

/// What the tasks ring to be polled. While they are being polled, or will be soon, the ring is only noted.
#[derive(Default)]
struct Bell {
    outer: AtomicWaker,
    watched: AtomicBool,
    rung: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Relaxed);
        if !self.watched.load(Ordering::Relaxed) {
            self.outer.wake();
        }
    }
}

impl Together {
    /// Both tasks, of which the first is polled first.
    pub fn new(tasks: [LocalBoxFuture<'static, ()>; 2]) -> Self {
        let bell = Arc::new(Bell::default());
        Self(Rc::new(Tasks { tasks: RefCell::new(tasks.map(Some)), waker: bell.clone().into(), bell }))
    }
}

impl Future for Together {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.bell.outer.register(cx.waker());
        self.0.advance()
    }
}

impl Tasks {
    /// Polls both, unless they are being polled already.
    fn advance(self: &Rc<Self>) -> Poll<()> {
        let Ok(mut tasks) = self.tasks.try_borrow_mut() else { return Poll::Pending };
        let outside = CURRENT.replace(Rc::downgrade(self));
        ADVANCES.set(ADVANCES.get() + 1);
        let polled = self.poll_until_quiet(&mut tasks);
        CURRENT.set(outside);
        polled
    }

    /// Polls both until neither wakes the other any more.
    fn poll_until_quiet(&self, tasks: &mut [Option<LocalBoxFuture<'static, ()>>; 2]) -> Poll<()> {
        let mut inner = Context::from_waker(&self.waker);
        self.bell.watched.store(true, Ordering::Relaxed);
        for _ in 0..MAX_POLLS {
            self.bell.rung.store(false, Ordering::Relaxed);
            for task in tasks.iter_mut() {
                if task.as_mut().is_some_and(|task| task.as_mut().poll(&mut inner).is_ready()) {
                    *task = None;
                }
            }
            if !self.bell.rung.load(Ordering::Relaxed) || tasks.iter().all(Option::is_none) {
                break;
            }
        }
        self.bell.watched.store(false, Ordering::Relaxed);
        if tasks.iter().all(Option::is_none) {
            return Poll::Ready(());
        }
        if self.bell.rung.load(Ordering::Relaxed) {
            self.bell.outer.wake();
        }
        Poll::Pending
    }
}

/// Polls the tasks for whoever brings them something from outside. What a task opens while it is polled may ask for one.
#[derive(Clone)]
pub struct Poller(Weak<Tasks>);

impl Poller {
    /// Of the tasks that are being polled. Outside of them it polls nothing: what it is told to wake is woken as ever.
    pub fn current() -> Self {
        Self(CURRENT.with_borrow(Weak::clone))
    }

    /// Does what wakes the tasks, and polls them before it returns. Do not call this from inside the tasks. If they are being polled, they
    /// are polled again afterwards.
    pub fn poll_after(&self, wake: impl FnOnce()) {
        let Some(tasks) = self.0.upgrade() else { return wake() };
        let watched = tasks.bell.watched.swap(true, Ordering::Relaxed);
        wake();
        if watched {
            return;
        }
        tasks.bell.watched.store(false, Ordering::Relaxed);
        if tasks.bell.rung.load(Ordering::Relaxed) && tasks.advance().is_ready() {
            tasks.bell.outer.wake(); // whoever runs them must learn of their end
        }
    }
}

/// The number of the advance under way: what was found out in it need not be found out again. `None` outside of such tasks.
pub fn advance_number() -> Option<u64> {
    CURRENT.with_borrow(|current| current.strong_count() > 0).then(|| ADVANCES.get())
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
        assert_eq!(polls.get(), MAX_POLLS);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    type Numbers = Rc<RefCell<Vec<u32>>>;
    type Opened = Rc<RefCell<Option<Poller>>>;

    /// Tasks that hand on numbers, one to the other, and what the second one received.
    fn relay(mut inputs: mpsc::UnboundedReceiver<u32>) -> (Together, Numbers, Opened) {
        let (mut between, mut received) = mpsc::channel::<u32>(8);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let poller = Rc::new(RefCell::new(None));
        let opened = poller.clone();
        let first = async move {
            *opened.borrow_mut() = Some(Poller::current());
            while let Some(number) = inputs.next().await {
                between.send(number).await.unwrap();
            }
        };
        let told = seen.clone();
        let second = async move {
            while let Some(number) = received.next().await {
                told.borrow_mut().push(number);
            }
        };
        (Together::new([first.boxed_local(), second.boxed_local()]), seen, poller)
    }

    #[test]
    fn what_the_host_brings_is_dealt_with_in_its_call_without_another_turn() {
        let (input, inputs) = mpsc::unbounded();
        let (mut both, seen, poller) = relay(inputs);
        let count = Arc::new(Count::default());
        let waker: Waker = count.clone().into();
        assert!(both.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        let poller = poller.take().unwrap();
        assert!(advance_number().is_none(), "no task is being polled");
        poller.poll_after(|| input.unbounded_send(1).unwrap());
        poller.poll_after(|| input.unbounded_send(2).unwrap());
        assert_eq!((&*seen.borrow(), count.0.load(Ordering::Relaxed)), (&vec![1, 2], 0));
        poller.poll_after(|| {});
        assert_eq!(count.0.load(Ordering::Relaxed), 0, "what wakes nobody needs no turn");
        poller.poll_after(|| input.close_channel());
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "whoever runs the tasks hears of their end");
        assert!(both.poll_unpin(&mut Context::from_waker(&waker)).is_ready());
        drop(both);
        poller.poll_after(|| seen.borrow_mut().push(3));
        assert_eq!(*seen.borrow(), [1, 2, 3], "without the tasks it still happens");
    }

    #[test]
    fn law_09_no_task_is_polled_inside_itself() {
        let (input, mut inputs) = mpsc::unbounded::<u32>();
        let log = Rc::new(RefCell::new(Vec::new()));
        let (told, again) = (log.clone(), input.clone());
        let poller = Rc::new(RefCell::new(None));
        let opened = poller.clone();
        // Its host calls again, with the next number, while the task is still busy with the last one.
        let task = async move {
            let poller = Poller::current();
            *opened.borrow_mut() = Some(poller.clone());
            while let Some(number) = inputs.next().await {
                told.borrow_mut().push(format!("begin {number}"));
                if number < 3 {
                    poller.poll_after(|| again.unbounded_send(number + 1).unwrap());
                }
                told.borrow_mut().push(format!("end {number}"));
            }
        };
        let mut both = Together::new([task.boxed_local(), std::future::ready(()).boxed_local()]);
        let count = Arc::new(Count::default());
        let waker: Waker = count.clone().into();
        assert!(both.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        let poller = poller.take().unwrap();
        poller.poll_after(|| input.unbounded_send(1).unwrap());
        assert_eq!(*log.borrow(), ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
    }
}
