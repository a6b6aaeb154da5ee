//! Where the driver's messages come from: one reflector, or those of all branches of a joined resource.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::StreamExt;
use futures::channel::mpsc;

use super::shared_cacher::SharedCacher;
use crate::cache::comparison::Comparison;
use crate::cache::joint::{Joint, Told};
use crate::message::Message;
use crate::runtime::SharedRuntime;
use crate::store::Store;
use crate::version::Version;

/// What reflectors tell.
pub(super) enum Incoming {
    /// As it comes.
    Single(mpsc::Receiver<Message>),
    /// As one.
    Joined(Rc<Branched>),
}

/// The next thing to do.
pub(super) enum Next {
    /// To be applied.
    Message(Message),
    /// A list of a branch is to be compared with what is held of it, before it can be told as changes.
    Compare(Rc<str>, Comparison),
}

impl Incoming {
    /// What comes next, once it is there. `None`: nothing will.
    pub(super) async fn next(&mut self, cacher: &SharedCacher) -> Option<Next> {
        match self {
            Self::Single(messages) => messages.next().await.map(Next::Message),
            Self::Joined(branched) => poll_fn(|cx| branched.poll_next(cx, cacher)).await,
        }
    }

    /// The next message, if it is there and only has to be applied.
    pub(super) fn try_next(&mut self, cacher: &SharedCacher) -> Option<Message> {
        match self {
            Self::Single(messages) => messages.try_recv().ok(),
            Self::Joined(branched) => branched.try_next(cacher),
        }
    }

    /// A list of a branch was compared.
    pub(super) fn compared(&self, namespace: &str, differences: Message) {
        if let Self::Joined(branched) = self {
            branched.take(namespace, differences);
        }
    }
}

/// The branches that come in, and what they make together.
pub(super) struct Branched {
    runtime: SharedRuntime,
    state: RefCell<State>,
}

struct State {
    joint: Joint,
    branches: Vec<(Rc<str>, mpsc::Receiver<Message>)>,
    /// Told, and not yet applied.
    ready: Told,
    compare: Option<(Rc<str>, Comparison)>,
    commands: VecDeque<Command>,
    /// Taken away, and still held in part.
    leaving: VecDeque<Rc<str>>,
    /// Who is asked first, so that a busy one leaves the others their turn.
    turn: usize,
    begun: bool,
    closed: bool,
    waker: Option<Waker>,
}

/// What is asked of the branches, in its order.
enum Command {
    Add(Rc<str>, mpsc::Receiver<Message>),
    Remove(Rc<str>),
    Refresh,
    Pause(bool),
}

impl Branched {
    /// Without a branch. Changes are numbered from behind this version.
    pub(super) fn new(reached: &Version, runtime: SharedRuntime) -> Rc<Self> {
        let state = State {
            joint: Joint::new(reached, runtime.wall()),
            branches: Vec::new(),
            ready: Told::new(),
            compare: None,
            commands: VecDeque::new(),
            leaving: VecDeque::new(),
            turn: 0,
            begun: false,
            closed: false,
            waker: None,
        };
        Rc::new(Self { runtime, state: RefCell::new(state) })
    }

    /// One more.
    pub(super) fn add(&self, namespace: Rc<str>, messages: mpsc::Receiver<Message>) {
        self.change(|state| state.commands.push_back(Command::Add(namespace, messages)));
    }

    /// One less. What of it was on its way is not told.
    pub(super) fn remove(&self, namespace: &Rc<str>) {
        self.change(|state| state.commands.push_back(Command::Remove(namespace.clone())));
    }

    /// Somebody waits until all have listed anew.
    pub(super) fn refresh(&self) {
        self.change(|state| state.commands.push_back(Command::Refresh));
    }

    /// All hold still, or go on.
    pub(super) fn pause(&self, paused: bool) {
        self.change(|state| state.commands.push_back(Command::Pause(paused)));
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        self.change(|state| {
            state.closed = true;
            state.branches.clear();
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.state.borrow_mut();
            change(&mut state);
            state.waker.clone()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn take(&self, namespace: &str, message: Message) {
        let State { joint, ready, .. } = &mut *self.state.borrow_mut();
        joint.take(namespace, message, self.runtime.recent(), ready);
    }

    fn try_next(&self, cacher: &SharedCacher) -> Option<Message> {
        let waker = self.state.borrow().waker.clone()?;
        match self.poll_next(&mut Context::from_waker(&waker), cacher) {
            Poll::Ready(Some(Next::Message(message))) => Some(message),
            Poll::Ready(Some(Next::Compare(namespace, comparison))) => {
                self.state.borrow_mut().compare = Some((namespace, comparison));
                None
            }
            Poll::Ready(None) | Poll::Pending => None,
        }
    }

    fn poll_next(&self, cx: &mut Context<'_>, cacher: &SharedCacher) -> Poll<Option<Next>> {
        let state = &mut *self.state.borrow_mut();
        state.waker = Some(cx.waker().clone());
        loop {
            if state.closed {
                return Poll::Ready(None);
            }
            if let Some(message) = state.ready.pop_front() {
                return Poll::Ready(Some(Next::Message(message)));
            }
            let cacher = cacher.borrow();
            let store = cacher.store();
            let now = self.runtime.recent();
            // One at a time: each leaves the host its turn, and is gone when the next one is looked for.
            while let Some(namespace) = state.leaving.front() {
                match state.joint.next_gone(namespace, store, now) {
                    Some(gone) => return Poll::Ready(Some(Next::Message(gone))),
                    None => drop(state.leaving.pop_front()),
                }
            }
            match state.commands.pop_front() {
                Some(Command::Add(namespace, messages)) => {
                    state.joint.add(namespace.clone(), store);
                    state.branches.push((namespace, messages));
                    continue;
                }
                Some(Command::Remove(namespace)) => {
                    state.branches.retain(|(other, _)| *other != namespace);
                    state.compare.take_if(|(other, _)| *other == namespace);
                    state.joint.remove(&namespace, &mut state.ready);
                    state.leaving.push_back(namespace);
                    continue;
                }
                Some(Command::Refresh) => {
                    state.joint.refresh(&mut state.ready);
                    continue;
                }
                Some(Command::Pause(paused)) => {
                    state.joint.pause(paused, &mut state.ready);
                    continue;
                }
                None => {}
            }
            if !std::mem::replace(&mut state.begun, true) {
                state.joint.begin(&mut state.ready);
                // Taken away while there was no memory to go on with.
                state.leaving.extend(namespaces(store).into_iter().filter(|namespace| !state.joint.has(namespace)));
                continue;
            }
            if let Some((namespace, comparison)) = state.compare.take() {
                return Poll::Ready(Some(Next::Compare(namespace, comparison)));
            }
            let Some((namespace, message)) = state.poll_branches(cx) else { return Poll::Pending };
            match message {
                Message::Replace { mut objects, version } => {
                    state.joint.sift(&namespace, &mut objects, &mut state.ready);
                    let comparison = Comparison::within(&namespace, objects, version);
                    state.compare = Some((namespace, comparison));
                }
                message => state.joint.take(&namespace, message, now, &mut state.ready),
            }
        }
    }
}

impl State {
    /// The next message of a branch whose turn it is.
    fn poll_branches(&mut self, cx: &mut Context<'_>) -> Option<(Rc<str>, Message)> {
        let count = self.branches.len();
        for at in (0..count).map(|step| (self.turn + step) % count) {
            let (namespace, messages) = &mut self.branches[at];
            if let Poll::Ready(Some(message)) = messages.poll_next_unpin(cx) {
                let namespace = namespace.clone();
                self.turn = at + 1;
                return Some((namespace, message));
            }
        }
        None
    }
}

/// Of which something is held.
fn namespaces(store: &Store) -> Vec<Rc<str>> {
    let mut all: Vec<Rc<str>> = Vec::new();
    for object in store.iter() {
        if all.last().is_none_or(|last| **last != *object.namespace()) {
            all.push(object.namespace().into());
        }
    }
    all
}
