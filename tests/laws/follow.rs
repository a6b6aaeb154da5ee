//! A subscriber that never gives up. Whatever ends its watch, it goes on where that ended, or begins anew if it must.

use std::collections::BTreeMap;

use crate::helpers::model::{SELECTIONS, replay};
use crate::steps::{PLAN, Plan, StartAt, Take};
use crate::world::{Watched, World, failure};

pub struct Follower {
    plan: Plan,
    current: Watched,
    /// Whether the current watch began with the state.
    anew: bool,
    taken: usize,
    mirror: BTreeMap<String, String>,
    last: u64,
    /// How often it went on, and how often it began anew.
    pub resumed: usize,
    pub restarted: usize,
}

impl Follower {
    pub fn new(world: &World, selection: usize, buffer: usize, take: Take) -> Self {
        let plan = Plan { selection, start: StartAt::Zero, bookmarks: true, buffer: Some(buffer), timeout: Some(200), take, ..PLAN };
        let current = world.watch(&plan);
        Self { plan, current, anew: true, taken: 0, mirror: BTreeMap::new(), last: 0, resumed: 0, restarted: 0 }
    }

    /// Takes in what was heard, which must be in order and fit to what came before; opens the next watch when this one is over.
    pub fn follow(&mut self, world: &World) {
        let (news, over, resume_from, failed) = {
            let stream = &world.rig.client.streams.borrow()[self.current.stream];
            let changes = stream.changes();
            let news = changes[self.taken..].to_vec();
            self.taken = changes.len();
            (news, stream.ended.is_some(), stream.resume_from, failure(stream))
        };
        if let Some(first) = news.first().filter(|_| self.anew) {
            assert!(first.version >= self.last, "the state of {} after version {}", first.version, self.last);
            self.anew = false;
            self.mirror.clear();
            self.last = first.version;
        }
        for event in &news {
            let initial = event.own < event.version || event.version == self.last;
            assert!(event.version > self.last || initial, "{event:?} after version {}", self.last);
            self.last = event.version;
        }
        self.mirror = replay(std::mem::take(&mut self.mirror), &news);
        if over {
            assert!(self.taken == 0 || failed.is_none(), "an error after events");
            let start = match resume_from {
                Some(version) if failed.is_none() => StartAt::At(version),
                _ => StartAt::Zero,
            };
            self.anew |= start == StartAt::Zero;
            if start == StartAt::Zero {
                self.restarted += 1;
            } else {
                self.resumed += 1;
            }
            self.taken = 0;
            self.current = world.watch(&Plan { start, ..self.plan.clone() });
        }
    }

    pub fn take(&self, world: &World, take: Take) {
        world.rig.demand(self.current.stream, take.into());
    }

    /// Reads all there is; then it must hold what stands upstream.
    pub fn finish(&mut self, world: &World) {
        self.plan.take = Take::Everything;
        for _ in 0..4 {
            self.follow(world);
            self.take(world, Take::Everything);
            world.rig.run(10);
        }
        self.follow(world);
        if self.anew {
            self.mirror.clear(); // the state that it began with is empty
        }
        let truth = SELECTIONS[self.plan.selection].of(&world.rig.upstream.state());
        let truth: BTreeMap<String, String> = truth.into_iter().map(|(key, (_, document))| (key, document.to_string())).collect();
        assert_eq!(self.mirror, truth, "{:?}", self.current);
    }
}
