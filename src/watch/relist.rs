//! What a relist does to watchers: most end with it, some hear of the difference.

use std::rc::Rc;

use crate::change::Difference;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::store::Replacement;
use crate::version::Version;
use crate::watch::dispatcher::Dispatcher;
use crate::watch::event::EndReason;
use crate::watch::overflow::{OnOverflow, Overflow};

impl Dispatcher {
    /// Ends the streams that a relist ends. Those that outlive it hear of nothing until the list has replaced the state; they must be where the
    /// cacher is, for what they are to hear then is the difference from there.
    pub fn end_round(&mut self, reached: &Version) {
        self.registry.clear();
        for id in self.ids() {
            let Some(watcher) = self.watchers.get_mut(id.place()).filter(|watcher| watcher.ended.is_none() && watcher.started) else {
                continue;
            };
            if watcher.on_overflow == OnOverflow::Resync && watcher.gate <= *reached {
                watcher.route = self.registry.insert(&watcher.filter, id);
            } else {
                self.end(id, EndReason::Relist, reached);
            }
        }
    }

    /// A list replaced the state: those who outlive that are told so, and hear of the differences.
    pub(super) fn relisted(&mut self, replacement: &Replacement<'_>, fields: &FieldSet) {
        let Replacement { differences, from: reached, to: version, .. } = *replacement;
        for id in self.ids() {
            let Some(watcher) = self.watchers.get_mut(id.place()).filter(|watcher| watcher.ended.is_none() && watcher.started) else {
                continue;
            };
            watcher.overflow.get_or_insert_with(|| Box::new(Overflow::new(reached.clone())));
            self.pending.push(id);
        }
        let mut candidates = Vec::new();
        for Difference { before, after } in differences {
            let Some(object) = after.as_ref().or(before.as_ref()) else { continue };
            candidates.extend_from_slice(self.registry.everything());
            self.registry.candidates(object, before.as_deref(), fields, &mut candidates);
            for id in candidates.drain(..) {
                let Some(watcher) = self.watchers.get_mut(id.place()) else { continue };
                let passes = |object: &&Rc<Object>| watcher.filter.passes(object, fields);
                // One that only left the selection did so at its own version.
                let at = after.as_ref().map_or(version, |object| object.version());
                let (before, after) = (before.as_ref().filter(passes), after.as_ref().filter(passes));
                if let Some(overflow) = &mut watcher.overflow {
                    overflow.merge(object.key(), before, after, at);
                }
            }
        }
    }
}
