//! The interval: what a watch begins with. It is the state as initial events, the changes since a version, or nothing.

use std::rc::Rc;

use crate::cache::held::Held;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::{Filter, Interest};
use crate::status::Error;
use crate::version::Version;
use crate::watch::{Bookmarks, Conversion, EventKind, Start, WatchEvent, WatchOptions};

/// What a watch may begin with, made sure of before.
#[derive(Debug, Default)]
pub struct Basis {
    /// The version that it must not be older than.
    pub version: Version,
    /// The objects that the upstream listed at that version, where what is held is not known to be as new.
    pub listed: Option<Vec<Rc<Object>>>,
}

impl From<Version> for Basis {
    fn from(version: Version) -> Self {
        Self { version, listed: None }
    }
}

/// What is delivered before anything else.
pub(super) struct Interval {
    pub(super) events: Vec<WatchEvent>,
    /// Whether they are a state, in the order of keys, and no part of the window.
    pub(super) of_state: bool,
    /// The watcher hears only of changes after this version.
    pub(super) gate: Version,
    /// How many of the events are objects or changes.
    pub(super) count: usize,
    pub(super) bookmarks: Bookmarks,
}

impl Interval {
    /// Captures it.
    ///
    /// It starts where the apiserver's cacher does.
    ///
    /// - With the state, if initial events are asked for, or by default if the version is unset or `"0"`.
    /// - With the window's changes after `n`, if the version is `n`.
    /// - With `sendInitialEvents=false`, after the basis if the version is unset, and now if it is `"0"`.
    pub(super) fn capture(
        held: &Held,
        filter: &Filter,
        interest: Option<&Interest>,
        options: &WatchOptions,
        start: &Start,
        basis: &Basis,
        fields: &FieldSet,
    ) -> Result<Self, Error> {
        let required = &basis.version;
        let from_history = match (start, options.send_initial_events) {
            (Start::After(version), None | Some(false)) => Some(version.clone()),
            (Start::Unset, Some(false)) => Some(required.clone()),
            _ => None,
        };
        let silent = *start == Start::Any && options.send_initial_events == Some(false);
        // What the upstream listed counts only while it is newer than what is held.
        let listed = basis.listed.as_ref().filter(|_| required > held.version());
        let state = if listed.is_some() { required.clone() } else { held.version().clone() };
        let passes = |object: &&Rc<Object>| filter.passes(object, fields);
        let mut events = match (&from_history, listed) {
            (Some(version), _) => history_events(held, filter, interest, version, fields)?,
            (None, _) if silent => Vec::new(),
            (None, Some(objects)) => state_events(objects.iter().filter(passes), &state),
            (None, None) => state_events(held.store().namespace(filter.scope_namespace()).filter(passes), &state),
        };
        let of_state = from_history.is_none() && !silent;
        let begin = from_history.unwrap_or_else(|| state.clone());
        let newest = events.last().map(|event| event.version.clone()).unwrap_or_default();
        let count = events.len();
        let bookmarks = match bookmark_after(options, start, required, held.version()) {
            Some(after) => {
                events.push(WatchEvent::bookmark(state, true));
                Bookmarks::Owed(after)
            }
            None if options.allow_watch_bookmarks => Bookmarks::Regular,
            None => Bookmarks::Unwanted,
        };
        Ok(Self { events, of_state, gate: begin.max(required.clone()).max(newest), count, bookmarks })
    }
}

fn history_events(
    held: &Held,
    filter: &Filter,
    interest: Option<&Interest>,
    since: &Version,
    fields: &FieldSet,
) -> Result<Vec<WatchEvent>, Error> {
    let changes = held.since(since)?;
    Ok(changes
        .filter_map(|change| {
            let conversion = Conversion::new(change);
            let kind = conversion.kind(|object| filter.passes(object, fields))?;
            conversion.is_wanted(kind, interest, fields).then(|| conversion.event(kind))
        })
        .collect())
}

/// Objects as the initial events of a watch that begins with the state at a version.
fn state_events<'a>(objects: impl Iterator<Item = &'a Rc<Object>>, version: &Version) -> Vec<WatchEvent> {
    objects.map(|object| WatchEvent { kind: EventKind::Added, object: object.clone(), version: version.clone(), before: None }).collect()
}

/// The version that the bookmark at the end of the initial events must have reached; none where no such bookmark is owed.
fn bookmark_after(options: &WatchOptions, start: &Start, required: &Version, current: &Version) -> Option<Version> {
    let owed = options.send_initial_events == Some(true) && options.allow_watch_bookmarks;
    owed.then(|| match start {
        Start::Unset => required.clone(),
        Start::Any => current.clone(),
        Start::After(version) => version.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wat_04_the_end_of_the_initial_events_may_not_be_before_the_version_asked_for() {
        let after = |text: Option<&str>, send: Option<bool>, bookmarks: bool| {
            let options = WatchOptions {
                resource_version: text.map(Into::into),
                resource_version_match: send.map(|_| "NotOlderThan".into()),
                send_initial_events: send,
                allow_watch_bookmarks: bookmarks,
                ..WatchOptions::default()
            };
            bookmark_after(&options, &options.start().unwrap(), &Version::from(100), &Version::from(99)).and_then(|after| after.as_u64())
        };
        assert_eq!(after(None, Some(true), true), Some(100), "what the upstream has reached");
        assert_eq!(after(Some("0"), Some(true), true), Some(99), "what is held");
        assert_eq!(after(Some("95"), Some(true), true), Some(95), "what was asked for");
        for version in [None, Some("0"), Some("95")] {
            for (send, bookmarks) in [(Some(true), false), (Some(false), true), (Some(false), false), (None, true), (None, false)] {
                assert_eq!(after(version, send, bookmarks), None, "{version:?} {send:?} {bookmarks}");
            }
        }
    }
}
