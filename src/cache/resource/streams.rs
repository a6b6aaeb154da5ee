//! The reflectors at work for a resource: one, or one for each branch.

use std::cell::RefCell;
use std::rc::Rc;

use super::incoming::Branched;
use crate::reflector::ReflectorHandle;

/// What users ask is asked of all of them.
pub(super) enum Streams {
    Single(ReflectorHandle),
    Joined(Rc<Branched>, RefCell<Vec<(Rc<str>, ReflectorHandle)>>),
}

impl Streams {
    /// See [`ReflectorHandle::pause`].
    pub(super) fn pause(&self) {
        self.hold(true);
        self.each(ReflectorHandle::pause);
    }

    /// See [`ReflectorHandle::resume`].
    pub(super) fn resume(&self) {
        self.hold(false);
        self.each(ReflectorHandle::resume);
    }

    /// See [`ReflectorHandle::signed_in`].
    pub(super) fn signed_in(&self) {
        self.each(ReflectorHandle::signed_in);
    }

    /// Has all list anew, as they are asked to.
    pub(super) fn list_anew(&self, ask: fn(&ReflectorHandle)) {
        if let Self::Joined(branched, _) = self {
            branched.refresh();
        }
        self.each(ask);
    }

    /// Ends all.
    pub(super) fn close(&self) {
        self.each(ReflectorHandle::close);
        if let Self::Joined(branched, _) = self {
            branched.close();
        }
    }

    fn hold(&self, paused: bool) {
        if let Self::Joined(branched, _) = self {
            branched.pause(paused);
        }
    }

    fn each(&self, ask: fn(&ReflectorHandle)) {
        match self {
            Self::Single(reflector) => ask(reflector),
            Self::Joined(_, reflectors) => reflectors.borrow().iter().for_each(|(_, reflector)| ask(reflector)),
        }
    }
}
