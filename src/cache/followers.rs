//! Who shares the stream of a cacher, and what they are told of it.

use std::rc::Rc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use crate::object::Object;
use crate::source::Standing;
use crate::version::Version;

/// How many objects of a first list are shown to who shares it before it is whole: a screen of them. The list brings them again.
const FIRST_OBJECTS: usize = 500;

/// All of them. Most streams are shared by nobody, and then this is small.
#[derive(Default)]
pub(super) struct Followers(Option<Box<All>>);

#[derive(Default)]
struct All {
    followers: Vec<UnboundedSender<Standing>>,
    /// How many objects of the list under way they were told.
    told_first: usize,
    /// What was compacted, as they were told last.
    compacted: Option<Version>,
}

impl Followers {
    /// Somebody new, who is told this first, and then what all are told.
    pub(super) fn join(&mut self, first: impl IntoIterator<Item = Standing>) -> UnboundedReceiver<Standing> {
        let (sender, receiver) = unbounded();
        let all = self.0.get_or_insert_default();
        for standing in first.into_iter().chain(all.compacted.clone().map(Standing::Compacted)) {
            // Who reads it is still there.
            let _told = sender.unbounded_send(standing);
        }
        all.followers.push(sender);
        receiver
    }

    /// Tells all. Those that are gone are forgotten.
    pub(super) fn tell(&mut self, standing: &Standing) {
        if let Some(all) = &mut self.0 {
            all.followers.retain(|follower| follower.unbounded_send(standing.clone()).is_ok());
        }
    }

    /// Tells all that the upstream serves no state before this version any more, and later those who come then.
    pub(super) fn compacted(&mut self, version: Version) {
        self.tell(&Standing::Compacted(version.clone()));
        self.0.get_or_insert_default().compacted = Some(version);
    }

    /// Whether anybody listens.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|all| all.followers.is_empty())
    }

    /// A list begins, of which nothing was told.
    pub(super) fn list_begins(&mut self) {
        if let Some(all) = &mut self.0 {
            all.told_first = 0;
        }
    }

    /// Those of a page that are shown before the list is whole, as documents.
    pub(super) fn first(&mut self, objects: &[Rc<Object>]) -> Rc<[Vec<u8>]> {
        let all = self.0.get_or_insert_default();
        let room = FIRST_OBJECTS.saturating_sub(all.told_first);
        let first = documents(objects.iter().take(room).cloned());
        all.told_first += first.len();
        first
    }
}

/// The texts of the first of these.
pub(super) fn documents(objects: impl Iterator<Item = Rc<Object>>) -> Rc<[Vec<u8>]> {
    objects.take(FIRST_OBJECTS).map(|object| object.lend().to_vec()).collect()
}
