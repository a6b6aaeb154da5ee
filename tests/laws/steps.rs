//! What traces are made of: everything that upstreams, networks and subscribers do, one step at a time.

use proptest::prelude::*;
use proptest::sample::Index;
use watchcache::runtime::Millis;
use watchcache::watch::watcher::Demand;

use crate::support::model::SELECTIONS;

/// Where a watch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartAt {
    Unset,
    Zero,
    /// So many versions before the cacher's.
    Back(u64),
    /// So many versions ahead of it.
    Ahead(u64),
    /// This version.
    At(u64),
}

/// A watch that somebody opens.
#[derive(Clone, Debug)]
pub struct Plan {
    pub selection: usize,
    pub start: StartAt,
    pub initial: Option<bool>,
    pub bookmarks: bool,
    pub buffer: Option<usize>,
    pub timeout: Option<u32>,
    pub demand: Demand,
}

#[derive(Clone, Debug)]
pub enum Step {
    Put(u8, u8, u8),
    Delete(u8),
    /// The version moves on by writes to other resources.
    Pass(u64),
    Run(Millis),
    Fault(Fault),
    Watch(Plan),
    Demand(Index, Demand),
    Stop(Index),
    Vanish(Index),
    View(usize),
    CloseView(Index),
    Refresh,
    Pause,
    Resume,
}

#[derive(Clone, Debug)]
pub enum Fault {
    Drop,
    Freeze,
    LoseHistory,
    Behind(u64),
    CatchUp,
    Repeat(usize),
    Bookmark,
    BrokenFrame,
    Stray,
    InternalError,
    Gone,
    RefuseWatch,
    RefuseList,
    CutList(usize),
    ForeignPage,
}

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![Just(Demand::None), Just(Demand::Batch(0)), Just(Demand::All)]
}

pub fn selection() -> impl Strategy<Value = usize> {
    0..SELECTIONS.len()
}

pub fn write() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..8, 0u8..3, 0u8..3).prop_map(|(number, node, app)| Step::Put(number, node, app)),
        2 => (0u8..8).prop_map(Step::Delete),
        1 => (1u64..4).prop_map(Step::Pass),
    ]
}

pub fn time() -> impl Strategy<Value = Step> {
    prop_oneof![3 => Just(0), 2 => 1u64..100, 2 => 1000u64..10_000, 1 => 10_000u64..150_000].prop_map(Step::Run)
}

/// Watches of every kind, whose subscribers take everything.
pub fn plan() -> impl Strategy<Value = Plan> {
    let start = prop_oneof![
        1 => Just(StartAt::Unset),
        1 => Just(StartAt::Zero),
        3 => (0u64..12).prop_map(StartAt::Back),
        1 => (1u64..4).prop_map(StartAt::Ahead),
    ];
    let initial = prop_oneof![2 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (selection(), start, initial, any::<bool>()).prop_map(|(selection, start, initial, bookmarks)| Plan {
        selection,
        start,
        initial,
        bookmarks,
        buffer: None,
        timeout: None,
        demand: Demand::All,
    })
}

/// The same, with subscribers of every temper.
pub fn moody_plan() -> impl Strategy<Value = Plan> {
    let timeout = prop::option::weighted(0.2, 1u32..200);
    (plan(), prop::option::weighted(0.7, 1usize..5), timeout, demand()).prop_map(|(plan, buffer, timeout, demand)| Plan {
        buffer,
        timeout,
        demand,
        ..plan
    })
}

/// What subscribers do.
pub fn subscriber() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => moody_plan().prop_map(Step::Watch),
        4 => (any::<Index>(), demand()).prop_map(|(stream, demand)| Step::Demand(stream, demand)),
        1 => any::<Index>().prop_map(Step::Stop),
        1 => any::<Index>().prop_map(Step::Vanish),
    ]
}

pub fn view() -> impl Strategy<Value = Step> {
    prop_oneof![2 => selection().prop_map(Step::View), 1 => any::<Index>().prop_map(Step::CloseView)]
}

/// What a connection suffers without any version getting lost upstream.
pub fn gentle_fault() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Fault::Drop),
        1 => Just(Fault::Freeze),
        1 => (1usize..5).prop_map(Fault::Repeat),
        1 => Just(Fault::Bookmark),
        1 => Just(Fault::CatchUp),
        1 => Just(Fault::RefuseWatch),
    ]
    .prop_map(Step::Fault)
}

pub fn fault() -> impl Strategy<Value = Step> {
    let rough = prop_oneof![
        2 => Just(Fault::LoseHistory),
        1 => (1u64..6).prop_map(Fault::Behind),
        1 => Just(Fault::BrokenFrame),
        1 => Just(Fault::Stray),
        1 => Just(Fault::InternalError),
        1 => Just(Fault::Gone),
        1 => Just(Fault::RefuseList),
        1 => (0usize..900).prop_map(Fault::CutList),
        1 => Just(Fault::ForeignPage),
    ];
    prop_oneof![2 => gentle_fault(), 3 => rough.prop_map(Step::Fault), 1 => Just(Step::Refresh), 1 => Just(Step::Pause), 1 => Just(Step::Resume)]
}

/// Everything, of everybody.
pub fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![6 => write(), 4 => time(), 5 => subscriber(), 1 => view(), 2 => fault()]
}

pub fn trace(step: impl Strategy<Value = Step>, most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step, 1..most)
}
