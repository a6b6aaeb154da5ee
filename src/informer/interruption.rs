//! What goes wrong with the stream under an informer, each time it does.

use std::rc::Rc;

use crate::connection::{Connection, Phase};
use crate::message::Message;
use crate::status::Error;
use crate::time::WallTime;

use super::id::InformerId;

/// One interruption of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// What the resource does about it.
    pub phase: Phase,
    /// What happened.
    pub error: Error,
    /// When it goes on; `None`: at once.
    pub retry_at: Option<WallTime>,
    /// Whether something is held that may be out of date.
    pub stale: bool,
    /// The one object that it is about. That one cannot be taken, and all others go on.
    pub key: Option<Rc<str>>,
    /// The one informer that has ended with it for good. All others go on, and are not told.
    pub ended: Option<InformerId>,
}

/// Finds the interruptions in what the reflector says. Where a round ends with an error, the wait that follows is told with it.
#[derive(Debug, Default)]
pub struct Interruptions {
    ended: Option<Error>,
}

impl Interruptions {
    /// The error that this message completes together with those before it, and when the stream goes on.
    pub fn hear(&mut self, message: &Message) -> Option<(Error, Option<WallTime>)> {
        match message {
            Message::RoundEnded(error) => {
                self.ended = error.clone();
                None
            }
            Message::Connection(Connection::Waiting { error, retry_at, .. } | Connection::NeedsAuth { error, retry_at }) => {
                self.ended = None;
                Some((error.clone(), Some(*retry_at)))
            }
            Message::Connection(Connection::Failed { error, retry_at }) => {
                self.ended = None;
                Some((error.clone(), *retry_at))
            }
            Message::Connection(Connection::Reconnecting { lost: Some(error) }) => {
                self.ended = None;
                Some((error.clone(), None))
            }
            // Between two rounds nothing is being done about it yet.
            Message::RoundStarted => None,
            _ => self.ended.take().map(|error| (error, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;

    #[test]
    fn an_end_and_the_wait_after_it_are_one_interruption() {
        let (error, retry_at) = (Error::new(ErrorCode::Network, "reset"), WallTime::from_unix_millis(7));
        let wait = Message::Connection(Connection::Waiting { attempt: 1, retry_at, error: error.clone() });
        let mut interruptions = Interruptions::default();
        assert_eq!(interruptions.hear(&Message::RoundEnded(Some(error.clone()))), None);
        assert_eq!(interruptions.hear(&wait), Some((error.clone(), Some(retry_at))));
        assert_eq!(interruptions.hear(&Message::RoundStarted), None);
        assert_eq!(interruptions.hear(&wait), Some((error.clone(), Some(retry_at))), "a wait within a round");
        assert_eq!(interruptions.hear(&Message::RoundEnded(Some(error.clone()))), None);
        assert_eq!(interruptions.hear(&Message::RoundStarted), None);
        let listing = Message::Connection(Connection::Listing { again: true });
        assert_eq!(interruptions.hear(&listing), Some((error, None)), "it goes on at once");
        assert_eq!(interruptions.hear(&Message::RoundEnded(None)), None);
        assert_eq!(interruptions.hear(&listing), None, "somebody asked for it");
        let again = |lost| Message::Connection(Connection::Reconnecting { lost });
        assert_eq!(interruptions.hear(&again(None)), None, "a watch ended in good order");
        let reset = Error::new(ErrorCode::Network, "reset");
        assert_eq!(interruptions.hear(&again(Some(reset.clone()))), Some((reset, None)), "one broke, and is resumed at once");
    }
}
