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
    /// What it stops.
    pub stops: Stops,
    /// What the resource does about it.
    pub phase: Phase,
    /// What happened.
    pub error: Error,
    /// Whether something of what it stops is held, which may be out of date from now on.
    pub stale: bool,
}

/// What an interruption stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stops {
    /// Everything, until the stream goes on.
    Stream {
        /// When it goes on; `None`: at once.
        retry_at: Option<WallTime>,
    },
    /// The object under this key, which cannot be taken. All others go on.
    Object(Rc<str>),
    /// This informer, for good. All others go on, and are not told.
    Informer(InformerId),
}

/// Finds the interruptions in what the reflector says. Where a round ends with an error, the wait that follows is told with it.
#[derive(Debug, Default)]
pub struct Interruptions {
    ended: Option<Error>,
}

impl Interruptions {
    /// The error that this message completes together with those before it, and what it stops.
    pub fn hear(&mut self, message: &Message) -> Option<(Error, Stops)> {
        let stream = |error: Error, retry_at| (error, Stops::Stream { retry_at });
        match message {
            Message::RoundEnded(error) => {
                self.ended = error.clone();
                None
            }
            Message::Connection(Connection::Waiting { error, retry_at, .. } | Connection::NeedsAuth { error, retry_at }) => {
                self.ended = None;
                Some(stream(error.clone(), Some(*retry_at)))
            }
            Message::Connection(Connection::Failed { error, retry_at }) => {
                self.ended = None;
                Some(stream(error.clone(), *retry_at))
            }
            Message::Connection(Connection::Reconnecting { lost: Some(error) }) => {
                self.ended = None;
                Some(stream(error.clone(), None))
            }
            // Between two rounds nothing is being done about it yet. What is told of the stream behind this one comes at any moment.
            Message::RoundStarted | Message::SetApart(_) | Message::Compacted(_) => None,
            _ => self.ended.take().map(|error| stream(error, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::version::Version;

    #[test]
    fn an_end_and_the_wait_after_it_are_one_interruption() {
        let (error, retry_at) = (Error::new(ErrorCode::Network, "reset"), WallTime::from_unix_millis(7));
        let wait = Message::Connection(Connection::Waiting { attempt: 1, retry_at, error: error.clone() });
        let told = |error: &Error, retry_at| Some((error.clone(), Stops::Stream { retry_at }));
        let mut interruptions = Interruptions::default();
        assert_eq!(interruptions.hear(&Message::RoundEnded(Some(error.clone()))), None);
        assert_eq!(interruptions.hear(&wait), told(&error, Some(retry_at)));
        assert_eq!(interruptions.hear(&Message::RoundStarted), None);
        assert_eq!(interruptions.hear(&wait), told(&error, Some(retry_at)), "a wait within a round");
        assert_eq!(interruptions.hear(&Message::RoundEnded(Some(error.clone()))), None);
        assert_eq!(interruptions.hear(&Message::RoundStarted), None);
        for word in [Message::SetApart(Vec::new()), Message::Compacted(Version::from(5))] {
            assert_eq!(interruptions.hear(&word), None, "a word of the stream behind this one");
        }
        let listing = Message::Connection(Connection::Listing { again: true });
        assert_eq!(interruptions.hear(&listing), told(&error, None), "it goes on at once");
        assert_eq!(interruptions.hear(&Message::RoundEnded(None)), None);
        assert_eq!(interruptions.hear(&listing), None, "somebody asked for it");
        let again = |lost| Message::Connection(Connection::Reconnecting { lost });
        assert_eq!(interruptions.hear(&again(None)), None, "a watch ended in good order");
        let reset = Error::new(ErrorCode::Network, "reset");
        assert_eq!(interruptions.hear(&again(Some(reset.clone()))), told(&reset, None), "one broke, and is resumed at once");
    }
}
