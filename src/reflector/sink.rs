//! Where messages go: a bounded channel, whose reader this folder does not know.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::ready;

use futures::SinkExt;
use futures::channel::mpsc;

use super::host::{Host, Listen};
use crate::connection::Connection;
use crate::message::Message;

/// The channel. There is one sender only, because each sender more would make the channel larger.
pub(super) struct Sink {
    host: Rc<Host>,
    out: RefCell<mpsc::Sender<Message>>,
}

impl Sink {
    pub(super) fn new(host: Rc<Host>, out: mpsc::Sender<Message>) -> Self {
        Self { host, out: RefCell::new(out) }
    }

    /// Tells the message; waits while the channel is full. When nobody reads any more, the reflector ends here.
    pub(super) async fn send(&self, message: Message) {
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
        self.send(Message::Connection(connection)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::runtime::{Spawn, Task};
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
