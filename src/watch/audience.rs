//! The form in which a flush tells its events, and the audience that was told last.

use std::borrow::Cow;
use std::cell::Cell;

use crate::watch::event::WatchEvent;
use crate::watch::outbox::Outbox;

/// The shortest form that tells an outbox.
#[derive(Debug)]
pub enum Form<'a> {
    /// There is nothing to tell.
    Nothing,
    /// One event and nothing else: for one watcher, or, where the number is not 0, for the audience that was told last.
    Event {
        /// The event.
        event: &'a WatchEvent,
        /// Its watcher.
        watcher: u32,
        /// The number of its audience.
        audience: u32,
    },
    /// All of the outbox.
    Flush {
        /// Flat `[watcher, index into events]`. Of an audience its watchers, or nothing where it was told last.
        receivers: Cow<'a, [u32]>,
        /// The number of the audience to which each event goes; 0 where there is none.
        audience: u32,
    },
}

/// Remembers the audience that was told last: whoever receives events knows its watchers, and its number is enough.
#[derive(Debug, Default)]
pub struct LastAudience(Cell<u32>);

impl LastAudience {
    /// The form of a flush. `alone`: the flush has nothing to tell beside this outbox.
    pub fn form<'a>(&self, outbox: &'a Outbox, alone: bool) -> Form<'a> {
        if alone && outbox.is_empty() {
            return Form::Nothing;
        }
        let single = match &outbox.events[..] {
            [event] if alone && outbox.ended.is_empty() => Some(event),
            _ => None,
        };
        let Some(audience) = outbox.audience() else {
            let receivers = outbox.pairs();
            return match (single, &*receivers) {
                (Some(event), [watcher, _]) => Form::Event { event, watcher: *watcher, audience: 0 },
                _ => Form::Flush { receivers, audience: 0 },
            };
        };
        let known = self.0.replace(audience.number) == audience.number;
        match single {
            Some(event) if known => Form::Event { event, watcher: 0, audience: audience.number },
            _ => {
                let watchers = if known { [].as_slice() } else { &audience.watchers };
                let receivers = watchers.iter().map(|watcher| watcher.number()).collect();
                Form::Flush { receivers: Cow::Owned(receivers), audience: audience.number }
            }
        }
    }

    /// Whoever receives events may not have heard of the last audience.
    pub fn forget(&self) {
        self.0.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::testing::named;
    use crate::watch::event::{EndReason, EventKind};
    use crate::watch::id::WatcherId;

    fn event(version: u64) -> WatchEvent {
        WatchEvent { kind: EventKind::Modified, object: named("x", version), version: version.into(), before: None }
    }

    /// So many events to these watchers, as an audience of this number.
    fn to_all(watchers: &[u32], number: u32, events: u64) -> Outbox {
        let mut outbox = Outbox::default();
        let watchers: Rc<[WatcherId]> = watchers.iter().copied().map(Into::into).collect();
        for version in 1..=events {
            let index = outbox.event(event(version));
            outbox.deliver_all(&watchers, index, number);
        }
        outbox
    }

    fn to_each(watchers: &[u32]) -> Outbox {
        let mut outbox = Outbox::default();
        let index = outbox.event(event(1));
        for watcher in watchers {
            outbox.deliver((*watcher).into(), index);
        }
        outbox
    }

    fn shown(form: Form<'_>) -> String {
        match form {
            Form::Nothing => "nothing".into(),
            Form::Event { event, watcher, audience } => format!("event {:?} to {watcher} of {audience}", event.object),
            Form::Flush { receivers, audience } => format!("flush to {receivers:?} of {audience}"),
        }
    }

    #[test]
    fn one_event_for_one_watcher_is_told_by_numbers_alone() {
        let last = LastAudience::default();
        assert_eq!(shown(last.form(&to_each(&[7]), true)), "event x@1 to 7 of 0");
        assert_eq!(shown(last.form(&to_each(&[7]), false)), "flush to [7, 0] of 0", "views and signals have no place in it");
        assert_eq!(shown(last.form(&to_each(&[7, 8]), true)), "flush to [7, 0, 8, 0] of 0");
        let mut ends = to_each(&[7]);
        ends.ended.push((9.into(), EndReason::Stopped));
        assert_eq!(shown(last.form(&ends, true)), "flush to [7, 0] of 0");
    }

    #[test]
    fn an_audience_is_named_by_its_watchers_once() {
        let last = LastAudience::default();
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), true)), "flush to [1, 2] of 5");
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), true)), "event x@1 to 0 of 5");
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 2), true)), "flush to [] of 5");
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), false)), "flush to [] of 5");
        assert_eq!(shown(last.form(&to_all(&[1, 2, 3], 6, 1), true)), "flush to [1, 2, 3] of 6");
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), true)), "flush to [1, 2] of 5", "another was told meanwhile");
    }

    #[test]
    fn what_has_no_audience_leaves_the_last_one_known() {
        let last = LastAudience::default();
        last.form(&to_all(&[1, 2], 5, 1), true);
        last.form(&to_each(&[7]), true);
        last.form(&Outbox::default(), false);
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), true)), "event x@1 to 0 of 5");
    }

    #[test]
    fn an_audience_that_may_not_have_been_heard_of_is_named_again() {
        let last = LastAudience::default();
        last.form(&to_all(&[1, 2], 5, 1), true);
        last.forget();
        assert_eq!(shown(last.form(&to_all(&[1, 2], 5, 1), true)), "flush to [1, 2] of 5");
    }

    #[test]
    fn a_flush_of_signals_or_views_alone_is_a_flush_without_events() {
        let last = LastAudience::default();
        assert_eq!(shown(last.form(&Outbox::default(), true)), "nothing");
        assert_eq!(shown(last.form(&Outbox::default(), false)), "flush to [] of 0");
    }
}
