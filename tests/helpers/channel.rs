//! A channel between a relay and who shares it: whole messages, in order, as they are sent, each in a task of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{FutureExt, StreamExt};
use watchcache::cache::Resource;
use watchcache::relay::{Answer, Packet, Relay, Remote, Request, Serving, Traits, WATCH_PACE_MS};
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::runtime::{Spawn, Timer};
use watchcache::source::Source;
use watchcache::status::Error;
use watchcache::time::Millis;

/// The relay over a resource and its source. It hears of all flushes, and nobody else does.
pub fn relay_over(resource: Rc<Resource>, source: Rc<dyn Source>) -> Rc<Relay> {
    let relay = Rc::new(Relay::new(resource.clone(), source));
    let told = Rc::downgrade(&relay);
    resource.on_flush(move |flush| {
        if let Some(relay) = told.upgrade() {
            relay.take(&flush);
        }
    });
    relay
}

/// Who shares, and the relay that it has at the moment.
pub struct Channel {
    pub remote: Rc<Remote>,
    pub serving: RefCell<Option<Rc<Serving>>>,
    /// Messages of items that came.
    pub answers: Rc<Cell<usize>>,
    pace: Millis,
    /// What stands at the other end, from when that begins.
    pub source: RefCell<Rc<dyn Source>>,
    time: Rc<VirtualTime>,
}

impl Channel {
    /// Before this source.
    pub fn new(source: Rc<dyn Source>, time: Rc<VirtualTime>) -> Rc<Self> {
        Self::paced(source, time, WATCH_PACE_MS)
    }

    /// The same, whose watches bring something as often as that.
    pub fn paced(source: Rc<dyn Source>, time: Rc<VirtualTime>, pace: Millis) -> Rc<Self> {
        let (asks, asked) = unbounded();
        let remote = Rc::new(Remote::new(Traits::of(&*source), sender(asks)));
        let channel =
            Rc::new(Self { remote, serving: RefCell::default(), answers: Rc::default(), pace, source: RefCell::new(source), time });
        channel.serve(asked);
        channel
    }

    fn serve(&self, mut asked: UnboundedReceiver<Packet>) {
        let (answers, mut answered) = unbounded();
        let serving = Rc::new(Serving::new(self.source.borrow().clone(), self.time.clone(), self.pace, sender(answers)));
        self.serving.replace(Some(serving.clone()));
        let (serving, remote, answers) = (Rc::downgrade(&serving), Rc::downgrade(&self.remote), self.answers.clone());
        self.time.spawn(
            async move {
                while let (Some(request), Some(serving)) = (asked.next().await, serving.upgrade()) {
                    serving.take(Request::try_from(request).expect("what the other end sends"));
                }
            }
            .boxed_local(),
        );
        self.time.spawn(
            async move {
                while let (Some(answer), Some(remote)) = (answered.next().await, remote.upgrade()) {
                    let answer = Answer::try_from(answer).expect("what the other end sends");
                    answers.set(answers.get() + usize::from(matches!(answer, Answer::Items(..))));
                    remote.take(answer);
                }
            }
            .boxed_local(),
        );
    }

    /// The relay's end dies, and says nothing. It is noticed after so many milliseconds, and another one takes over after as many.
    pub fn die(self: &Rc<Self>, millis: u64) {
        self.serving.take();
        let channel = self.clone();
        self.time.spawn(
            async move {
                channel.time.sleep(millis).await;
                channel.remote.break_off(&Error::network("the relay does not answer"));
                channel.time.sleep(millis).await;
                let (asks, asked) = unbounded();
                channel.remote.reconnect(sender(asks));
                channel.serve(asked);
            }
            .boxed_local(),
        );
    }
}

fn sender<T: Into<Packet>>(sender: UnboundedSender<Packet>) -> impl Fn(T) {
    move |message| {
        let _gone = sender.unbounded_send(message.into());
    }
}
