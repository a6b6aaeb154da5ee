//! The steps of a trace: everything that upstreams, networks and subscribers do.
//!
//! Their debug texts are expressions, so that a trace that breaks a law can be kept as a test.

use std::fmt;

use proptest::prelude::*;
use watchcache::time::Millis;
use watchcache::watch::{Demand, OnOverflow};

use crate::helpers::model::{SELECTIONS, WISHES};

/// One of those that there are by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick(pub u16);

impl Pick {
    pub fn of(self, count: usize) -> usize {
        usize::from(self.0) % count
    }
}

/// Where a watch starts, or which version a read names.
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

/// What a subscriber takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    Everything,
    Batch,
    Nothing,
}

impl From<Take> for Demand {
    fn from(take: Take) -> Self {
        match take {
            Take::Everything => Self::All,
            Take::Batch => Self::Batch(0),
            Take::Nothing => Self::None,
        }
    }
}

/// A watch that somebody opens.
#[derive(Clone, PartialEq)]
pub struct Plan {
    pub selection: usize,
    pub wish: Option<usize>,
    pub start: StartAt,
    pub initial: Option<bool>,
    pub bookmarks: bool,
    pub buffer: Option<usize>,
    pub timeout: Option<u32>,
    pub on_overflow: OnOverflow,
    pub take: Take,
}

/// A watch of everything from the version held, whose subscriber takes all that comes.
pub const PLAN: Plan = Plan {
    selection: 0,
    wish: None,
    start: StartAt::Back(0),
    initial: None,
    bookmarks: false,
    buffer: None,
    timeout: None,
    on_overflow: OnOverflow::Terminate,
    take: Take::Everything,
};

/// Only what differs from [`PLAN`].
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan {{ ")?;
        let Self { selection, wish, start, initial, bookmarks, buffer, timeout, on_overflow, take } = self;
        for (differs, text) in [
            (*selection != PLAN.selection, format!("selection: {selection}")),
            (*wish != PLAN.wish, format!("wish: {wish:?}")),
            (*start != PLAN.start, format!("start: {start:?}")),
            (*initial != PLAN.initial, format!("initial: {initial:?}")),
            (*bookmarks != PLAN.bookmarks, format!("bookmarks: {bookmarks}")),
            (*buffer != PLAN.buffer, format!("buffer: {buffer:?}")),
            (*timeout != PLAN.timeout, format!("timeout: {timeout:?}")),
            (*on_overflow != PLAN.on_overflow, format!("on_overflow: watchcache::watch::OnOverflow::{on_overflow:?}")),
            (*take != PLAN.take, format!("take: Take::{take:?}")),
        ] {
            if differs {
                write!(f, "{text}, ")?;
            }
        }
        write!(f, "..PLAN }}")
    }
}

/// How the version of a list is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Unsaid,
    NotOlderThan,
    Exact,
}

/// A list that somebody reads to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub selection: usize,
    pub at: StartAt,
    pub kind: Match,
    pub limit: u8,
    /// How long after a page the next one is asked for.
    pub pause: Millis,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// A write upstream: which pod, on which node, of which app.
    Put(u8, u8, u8),
    Delete(u8),
    /// The same through the cache.
    Create(u8, u8, u8),
    Update(u8, u8, u8),
    Remove(u8),
    /// The version moves on by writes to other resources.
    Pass(u64),
    /// The upstream forgets what is older than this many versions; and whether the cache hears of it.
    Compact(u64, bool),
    Run(Millis),
    Fault(Fault),
    Watch(Plan),
    Demand(Pick, Take),
    Stop(Pick),
    Vanish(Pick),
    View(usize),
    CloseView(Pick),
    List(Ask),
    Get(u8, StartAt),
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
    /// The connection ends in the middle of a frame.
    CutFrame(Pick),
    Stray,
    InternalError,
    Gone,
    RefuseWatch,
    RefuseList,
    CutList(usize),
    ForeignPage,
    /// The relay, where there is one, dies. That is noticed after so many milliseconds.
    Die(u64),
}

/// How a frame that was whole is broken.
#[derive(Clone, Debug)]
pub enum Damage {
    /// It ends too early.
    Cut(Pick),
    /// This byte stands in place of another.
    Byte(Pick, u8),
    /// Something else altogether.
    Instead(&'static str),
}

impl Damage {
    pub fn of(&self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        match self {
            // Not to nothing at all, which is no frame.
            Self::Cut(at) => bytes.truncate(1 + at.of(bytes.len() - 1)),
            Self::Byte(at, byte) => {
                let at = at.of(bytes.len());
                bytes[at] = *byte;
            }
            Self::Instead(text) => bytes = text.as_bytes().to_vec(),
        }
        bytes
    }
}

/// How a watch breaks.
#[derive(Clone, Copy, Debug)]
pub enum Break {
    Stopped,
    Vanished,
    /// With the state that the cache holds.
    Relisted,
}

pub fn pick() -> impl Strategy<Value = Pick> {
    any::<u16>().prop_map(Pick)
}

pub fn take() -> impl Strategy<Value = Take> {
    prop_oneof![Just(Take::Everything), Just(Take::Batch), Just(Take::Nothing)]
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

/// Writes that go through the cache.
pub fn own_write() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..8, 0u8..3, 0u8..3).prop_map(|(number, node, app)| Step::Update(number, node, app)),
        1 => (0u8..8, 0u8..3, 0u8..3).prop_map(|(number, node, app)| Step::Create(number, node, app)),
        1 => (0u8..8).prop_map(Step::Remove),
    ]
}

pub fn time() -> impl Strategy<Value = Step> {
    prop_oneof![3 => Just(0), 2 => 1u64..100, 2 => 1000u64..10_000, 1 => 10_000u64..150_000].prop_map(Step::Run)
}

/// Watches of every kind, whose subscribers take everything.
pub fn plan() -> impl Strategy<Value = Plan> {
    let start = prop_oneof![
        3 => (0u64..12).prop_map(StartAt::Back),
        1 => Just(StartAt::Unset),
        1 => Just(StartAt::Zero),
        1 => (1u64..4).prop_map(StartAt::Ahead),
    ];
    let initial = prop_oneof![2 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (selection(), start, initial, any::<bool>()).prop_map(|(selection, start, initial, bookmarks)| Plan {
        selection,
        start,
        initial,
        bookmarks,
        ..PLAN
    })
}

/// The same with fast and slow subscribers, which end when they are too slow.
pub fn moody_plan() -> impl Strategy<Value = Plan> {
    let timeout = prop::option::weighted(0.2, 1u32..200);
    (plan(), prop::option::weighted(0.7, 1usize..5), timeout, take()).prop_map(|(plan, buffer, timeout, take)| Plan {
        buffer,
        timeout,
        take,
        ..plan
    })
}

/// The same, and some would rather skip changes than end.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    let policy = prop_oneof![3 => Just(OnOverflow::Terminate), 1 => Just(OnOverflow::Resync), 1 => Just(OnOverflow::Coalesce)];
    (moody_plan(), policy).prop_map(|(plan, on_overflow)| {
        // A subscriber that skips changes is there to do so.
        let most = if on_overflow == OnOverflow::Terminate { plan.buffer } else { Some(plan.buffer.unwrap_or(1)) };
        Plan { on_overflow, buffer: most, ..plan }
    })
}

/// The same, and most want to hear of some fields only.
pub fn wishing(plan: impl Strategy<Value = Plan>) -> impl Strategy<Value = Plan> {
    (plan, prop::option::weighted(0.9, 0..WISHES.len())).prop_map(|(plan, wish)| Plan { wish, ..plan })
}

/// What subscribers do.
pub fn subscriber_with(plan: impl Strategy<Value = Plan> + 'static) -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => plan.prop_map(Step::Watch),
        4 => (pick(), take()).prop_map(|(stream, take)| Step::Demand(stream, take)),
        1 => pick().prop_map(Step::Stop),
        1 => pick().prop_map(Step::Vanish),
    ]
}

pub fn subscriber() -> impl Strategy<Value = Step> {
    subscriber_with(any_plan())
}

pub fn view() -> impl Strategy<Value = Step> {
    prop_oneof![2 => selection().prop_map(Step::View), 1 => pick().prop_map(Step::CloseView)]
}

fn version() -> impl Strategy<Value = StartAt> {
    prop_oneof![
        2 => Just(StartAt::Unset),
        2 => Just(StartAt::Zero),
        5 => (0u64..20).prop_map(StartAt::Back),
        1 => (1u64..4).prop_map(StartAt::Ahead),
    ]
}

/// Lists that the API's validation allows.
pub fn ask() -> impl Strategy<Value = Ask> {
    let kind = prop_oneof![1 => Just(Match::Unsaid), 1 => Just(Match::NotOlderThan), 2 => Just(Match::Exact)];
    let limit = prop_oneof![1 => Just(0u8), 2 => 1u8..4];
    let pause = prop_oneof![2 => Just(0), 1 => 1u64..50, 1 => 1000u64..5000];
    (selection(), version(), kind, limit, pause).prop_map(|(selection, at, kind, limit, pause)| {
        let kind = match (at, kind) {
            (StartAt::Unset, _) => Match::Unsaid,
            (StartAt::Zero, Match::Exact) => Match::NotOlderThan,
            _ => kind,
        };
        Ask { selection, at, kind, limit, pause }
    })
}

pub fn read() -> impl Strategy<Value = Step> {
    prop_oneof![3 => ask().prop_map(Step::List), 1 => (0u8..9, version()).prop_map(|(number, at)| Step::Get(number, at))]
}

pub fn compaction() -> impl Strategy<Value = Step> {
    (0u64..20, any::<bool>()).prop_map(|(back, told)| Step::Compact(back, told))
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
        1 => pick().prop_map(Fault::CutFrame),
        1 => Just(Fault::Stray),
        1 => Just(Fault::InternalError),
        1 => Just(Fault::Gone),
        1 => Just(Fault::RefuseList),
        1 => (0usize..900).prop_map(Fault::CutList),
        1 => Just(Fault::ForeignPage),
        // The next relay's window may not reach back as far as the upstream does.
        1 => (0u64..3_000).prop_map(Fault::Die),
    ];
    prop_oneof![2 => gentle_fault(), 3 => rough.prop_map(Step::Fault), 1 => Just(Step::Refresh), 1 => Just(Step::Pause), 1 => Just(Step::Resume)]
}

/// Everything, of everybody.
pub fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => write(), 2 => own_write(), 8 => time(), 10 => subscriber(), 2 => view(), 3 => read(), 1 => compaction(), 4 => fault(),
    ]
}

/// Writes, and subscribers of every kind to them, without trouble upstream.
pub fn calm_step() -> impl Strategy<Value = Step> {
    prop_oneof![12 => write(), 2 => own_write(), 6 => time(), 8 => subscriber(), 2 => read()]
}

pub fn trace(step: impl Strategy<Value = Step>, most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step, 1..most)
}
