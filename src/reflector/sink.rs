//! Where messages go: a bounded channel, whose reader this folder does not know.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::mem;
use std::rc::Rc;
use std::task::ready;

use futures::SinkExt;
use futures::channel::mpsc;

use super::host::{Host, Listen};
use super::reader::Reader;
use crate::connection::Connection;
use crate::message::Message;
use crate::source::Standing;
use crate::version::Version;

/// The channel. There is one sender only, because each sender more would make the channel larger.
pub(super) struct Sink {
    host: Rc<Host>,
    out: RefCell<mpsc::Sender<Message>>,
    stands: RefCell<Stands>,
    /// What is about a whole state, and is still to be told: one of each kind.
    waiting: RefCell<Vec<Message>>,
    /// What the upstream compacted, as it was told last.
    compacted: RefCell<Option<Version>>,
}

/// What the reflector does, and how the stream stands that its source passes on.
#[derive(Default)]
struct Stands {
    own: Option<Connection>,
    upstream: Option<Connection>,
    /// What people were told last.
    told: Option<Connection>,
    /// Whether they were told that what follows was kept.
    restoring: bool,
    /// Whether they were told a whole state.
    holds: bool,
}

impl Stands {
    /// What people see of both. An open watch is as good as the stream behind it. What is still asked for waits for what that one waits for. It is so
    /// where nobody has answered it for long, and it is asked for anew.
    fn shown(&self) -> Option<Connection> {
        let (own, upstream) = (self.own.clone()?, self.upstream.clone());
        Some(match (own, upstream) {
            // The list is whole, and its watch is being opened.
            (Connection::Live, Some(Connection::Listing { again: false })) if self.told != Some(Connection::Live) => return None,
            (Connection::Live, Some(Connection::Paused | Connection::Listing { again: false })) => Connection::Reconnecting { lost: None },
            (Connection::Live, Some(upstream)) => upstream,
            (
                Connection::Listing { .. } | Connection::Waiting { .. } | Connection::Reconnecting { .. },
                Some(
                    upstream @ (Connection::Waiting { .. }
                    | Connection::Queued { .. }
                    | Connection::NeedsAuth { .. }
                    | Connection::Failed { .. }),
                ),
            ) => upstream,
            (own, _) => own,
        })
    }

    fn is_shared(&self) -> bool {
        !matches!(self.own, None | Some(Connection::Paused))
    }

    /// What is to be told now. Of a stream that is passed on nothing is told twice: that own tries begin and end is no news of it.
    fn tell(&mut self) -> Option<Connection> {
        let shown = self.shown().filter(|shown| self.upstream.is_none() || self.told.as_ref() != Some(shown))?;
        self.told = Some(shown.clone());
        Some(shown)
    }
}

impl Sink {
    pub(super) fn new(host: Rc<Host>, out: mpsc::Sender<Message>) -> Self {
        Self { host, out: RefCell::new(out), stands: RefCell::default(), waiting: RefCell::default(), compacted: RefCell::default() }
    }

    /// Tells the message; waits while the channel is full. When nobody reads any more, the reflector ends here.
    pub(super) async fn send(&self, message: Message) {
        let is_whole = matches!(message, Message::Restored(_) | Message::Replace { .. });
        self.stands.borrow_mut().holds |= is_whole;
        self.put(message).await;
        if is_whole {
            self.compact_again();
        }
        if is_whole && !self.waiting.borrow().is_empty() {
            // Apart: else each message would take the room that this needs.
            Box::pin(self.tell_waiting()).await;
        }
    }

    async fn put(&self, message: Message) {
        let mut message = Some(message);
        let sending = poll_fn(|cx| {
            let mut out = self.out.borrow_mut();
            if message.is_some() {
                ready!(out.poll_ready(cx))?;
                if let Some(message) = message.take() {
                    out.start_send(message)?;
                }
            }
            out.poll_flush_unpin(cx)
        });
        if !matches!(self.host.until(Listen::SENDING, None, sending).await, Ok(Ok(()))) {
            self.host.control.close();
            pending::<()>().await;
        }
    }

    /// Tells what the reflector does now.
    pub(super) async fn connection(&self, connection: Connection) {
        self.stands.borrow_mut().own = Some(connection);
        self.tell().await;
    }

    /// Tells what becomes of the stream that the source passes on.
    ///
    /// `reader` reads the objects that it shows of a first list. One that it cannot read shows with the list, or is told of then.
    pub(super) async fn upstream(&self, standing: Standing, reader: &Reader) {
        match standing {
            Standing::Connection(connection) => {
                self.stands.borrow_mut().upstream = Some(connection);
                if self.stands.borrow().is_shared() {
                    self.tell().await;
                }
            }
            Standing::Listed { loaded, remaining, first, kept_at } => {
                let (own, holds) = (self.stands.borrow().own.clone(), self.stands.borrow().holds);
                if let Some(own @ Connection::Listing { .. }) = own {
                    if holds && kept_at.is_some() {
                        return; // it comes later than the whole
                    }
                    let was = mem::replace(&mut self.stands.borrow_mut().restoring, kept_at.is_some());
                    match kept_at {
                        Some(at) if !was => self.send(Message::Restoring(at)).await,
                        // It has proved to be no state, and a list follows after all.
                        None if was => self.send(Message::Connection(own)).await,
                        _ => {}
                    }
                    let objects = first.iter().filter_map(|document| reader.object(document)).collect();
                    self.send(Message::Page { objects, loaded, remaining }).await;
                }
            }
            Standing::SetApart(all) => self.tell_of_state(Message::SetApart(all)).await,
            Standing::Compacted(version) => {
                self.compacted.replace(Some(version.clone()));
                self.tell_of_state(Message::Compacted(version)).await;
            }
        }
    }

    /// Tells what takes the place of the last of its kind.
    async fn tell_of_state(&self, message: Message) {
        {
            let mut waiting = self.waiting.borrow_mut();
            waiting.retain(|other| mem::discriminant(other) != mem::discriminant(&message));
            waiting.push(message);
        }
        Box::pin(self.tell_waiting()).await;
    }

    /// A list forgets what was compacted, and it is so after it as well.
    fn compact_again(&self) {
        let is_known = |message: &Message| matches!(message, Message::Compacted(_));
        if let Some(version) = self.compacted.borrow().clone().filter(|_| !self.waiting.borrow().iter().any(is_known)) {
            self.waiting.borrow_mut().push(Message::Compacted(version));
        }
    }

    /// Tells what is about a state, once there is a whole one. Whether something is held of an object is known then, and a list forgets what was
    /// compacted before it.
    async fn tell_waiting(&self) {
        if !self.stands.borrow().holds {
            return;
        }
        for message in self.waiting.take() {
            self.put(message).await;
        }
    }

    async fn tell(&self) {
        let told = self.stands.borrow_mut().tell();
        if let Some(shown) = told {
            self.send(Message::Connection(shown)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::runtime::{Spawn, Task};
    use crate::status::Error;
    use crate::time::WallTime;
    use futures::StreamExt;

    fn sink(time: &Rc<VirtualTime>) -> (Rc<Sink>, mpsc::Receiver<Message>) {
        let (out, received) = mpsc::channel(0);
        (Rc::new(Sink::new(Rc::new(Host::new(time.clone(), 0)), out)), received)
    }

    #[test]
    fn a_message_waits_until_there_is_room() {
        let time = VirtualTime::new(0);
        let (sink, mut received) = sink(&time);
        let sending = sink.clone();
        time.spawn(Box::pin(async move {
            sending.send(Message::RoundStarted).await;
            sending.connection(Connection::Live).await;
        }));
        time.run_until_idle();
        assert_eq!(time.tasks(), 1, "nobody has read yet");
        assert!(matches!(time.run_until(received.next()), Some(Message::RoundStarted)));
        assert!(matches!(time.run_until(received.next()), Some(Message::Connection(Connection::Live))));
        time.run_until_idle();
        assert_eq!(time.tasks(), 0);
    }

    #[test]
    fn an_open_watch_stands_as_the_stream_behind_it() {
        use Connection::{Listing, Live, NeedsAuth, Paused, Reconnecting, Waiting};
        let again = || Reconnecting { lost: None };
        let lost = Reconnecting { lost: Some(Error::network("reset")) };
        let refused = NeedsAuth { error: Error::network("401"), retry_at: WallTime::from_unix_millis(5) };
        let waiting = Waiting { attempt: 1, retry_at: WallTime::from_unix_millis(5), error: Error::network("silence") };
        let (first, later) = (Listing { again: false }, Listing { again: true });
        for (own, upstream, shown) in [
            (Live, None, Live),
            (Live, Some(Live), Live),
            (Live, Some(lost.clone()), lost.clone()),
            (Live, Some(refused.clone()), refused.clone()),
            (Live, Some(later.clone()), later.clone()),
            // The rows are there: no first list is under way for who sees them.
            (Live, Some(first.clone()), again()),
            (Live, Some(Paused), again()),
            (first.clone(), Some(refused.clone()), refused.clone()),
            (first.clone(), Some(lost.clone()), first.clone()),
            (first.clone(), Some(Live), first.clone()),
            (later.clone(), Some(refused.clone()), refused.clone()),
            (later.clone(), Some(Live), later.clone()),
            (lost.clone(), Some(refused.clone()), refused.clone()),
            (waiting.clone(), Some(refused.clone()), refused.clone()),
            (waiting.clone(), Some(Live), waiting.clone()),
            (lost.clone(), Some(Live), lost.clone()),
            (Paused, Some(refused), Paused),
        ] {
            let stands = Stands { own: Some(own.clone()), upstream: upstream.clone(), told: Some(Live), ..Stands::default() };
            assert_eq!(stands.shown(), Some(shown), "{own:?} over {upstream:?}");
        }
        let not_live = |own, upstream| Stands { own, upstream: Some(upstream), ..Stands::default() }.shown();
        assert_eq!(not_live(None, Live), None, "nothing was begun");
        assert_eq!(not_live(Some(Live), first), None, "that watch is still being opened");
    }

    #[test]
    fn who_tells_nobody_any_more_ends() {
        let time = VirtualTime::new(0);
        let (sink, received) = sink(&time);
        drop(received);
        let control = sink.host.control.clone();
        let (task, work) = Task::new(async move {
            sink.send(Message::RoundStarted).await;
            unreachable!("nobody reads");
        });
        control.runs_in(task);
        time.spawn(Box::pin(work));
        time.run_until_idle();
        assert_eq!(time.tasks(), 0);
    }
}
