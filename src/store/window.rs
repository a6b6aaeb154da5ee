//! The event window: the recent changes, so that a watch may start in the past. In the apiserver it is the ring of its watch cache.

use std::collections::VecDeque;
use std::rc::Rc;

use super::bounds::WindowBounds;
use super::snapshots::Snapshots;
use super::strays::Strays;
use crate::change::{Change, ChangeKind};
use crate::object::{Holder, Object, ObjectId};
use crate::status::{Error, Status};
use crate::time::{Instant, Millis};
use crate::version::Version;

/// The least queue of a watcher, in events, as in the apiserver.
const MIN_BUFFER: usize = 10;

/// So many versions of an object are gone through to find what it was before. Each takes a search in the window: together some 50 µs.
const MAX_STEPS: usize = 256;

/// So many changes are looked at for one of a given object, where their order is not that of its versions.
const MAX_LOOKED_AT: usize = 1_000;

/// The changes since the last list, or the latest of them. The capacity doubles while the window is full of fresh changes. It halves when
/// the newest quarter would do: not even its oldest change is fresh. The bounds hold in both cases.
#[derive(Debug)]
pub struct Window {
    bounds: WindowBounds,
    capacity: usize,
    changes: VecDeque<Change>,
    // The version of the last change that left since the list.
    evicted: Option<Version>,
    list_version: Option<Version>,
    // Since when the window has every change: the arrival of the last one that left, or of the list.
    complete_since: Option<Instant>,
    snapshots: Snapshots,
    bytes: usize,
    increases: u64,
    decreases: u64,
    // Whether the versions of changes are numbers of our own.
    local: bool,
}

impl Window {
    /// An empty window at its least capacity.
    pub fn new(bounds: WindowBounds) -> Self {
        let capacity = bounds.lower.max(1);
        Self {
            bounds,
            capacity,
            changes: VecDeque::new(),
            evicted: None,
            list_version: None,
            complete_since: None,
            snapshots: Snapshots::default(),
            bytes: 0,
            increases: 0,
            decreases: 0,
            local: false,
        }
    }

    /// The versions of its changes are numbers of our own, and not those of their objects.
    pub fn set_local(&mut self) {
        self.local = true;
    }

    /// Appends a change. If the window is full and may not grow, the oldest change is dropped. What the window drops, here and in other
    /// methods, is noted in `strays`.
    pub fn push(&mut self, change: Change, strays: &mut Strays) {
        self.resize(change.at, strays);
        if self.changes.len() >= self.capacity {
            self.evict(strays);
        }
        objects_of(&change).for_each(|object| object.set_holder(Holder::Window));
        self.bytes += bytes_of(&change);
        self.changes.push_back(change);
        self.keep_bound(strays);
        if self.changes.len() >= self.capacity {
            self.trim();
        }
    }

    /// Whether older changes would be dropped to make room for the bytes of this one.
    pub fn lacks_room(&self, change: &Change) -> bool {
        self.bytes + bytes_of(change) > self.bounds.max_bytes
    }

    /// Drops the oldest changes until at least so many bytes are freed, or none is left.
    pub fn release(&mut self, bytes: usize, strays: &mut Strays) {
        let keep = self.bytes.saturating_sub(bytes);
        while self.bytes > keep {
            self.evict(strays);
        }
        self.trim();
    }

    /// Drops the past states from which a watch could not go on.
    fn trim(&mut self) {
        if let Some(oldest) = self.changes.front() {
            self.snapshots.remove_less(oldest.version());
        }
    }

    /// Drops everything, because a list at this version replaced the objects.
    pub fn reset(&mut self, list_version: Version, now: Instant, strays: &mut Strays) {
        while let Some(change) = self.changes.pop_front() {
            note(&change, strays);
        }
        self.bytes = 0;
        self.evicted = None;
        self.list_version = Some(list_version);
        self.complete_since = Some(now);
        self.snapshots.reset();
    }

    /// The changes that lead from the state at a version to the present. `None` if that state is gone, or there was no list and no change yet.
    pub fn undo_to<'w>(&'w self, version: &Version) -> Option<impl Iterator<Item = &'w Change> + use<'w>> {
        let first = self.changes.partition_point(|change| change.version() <= version);
        let reached = match first.checked_sub(1) {
            Some(last) => self.changes[last].version(),
            None if self.evicted.is_none() => self.list_version.as_ref()?,
            // A single change exceeded the byte bound, so the window is empty. The present is the state after that change.
            None if self.changes.is_empty() => self.evicted.as_ref()?,
            None => return None,
        };
        (reached <= version && self.snapshots.covers(reached)).then(|| self.changes.range(first..))
    }

    /// The upstream was compacted: it serves no state before this version, so neither does the window.
    pub fn compact(&mut self, version: &Version) {
        self.snapshots.remove_less(version);
    }

    /// Says whether past states can be trusted (see `Snapshots::set_consistent`).
    pub fn set_consistent(&mut self, consistent: bool) {
        let newest = self.changes.back().map(Change::version).or(self.evicted.as_ref()).or(self.list_version.as_ref()).cloned();
        self.snapshots.set_consistent(consistent, newest.as_ref());
    }

    /// The changes after this version. Fails with 410 if some of them have left the window. A version ahead of the newest is no error.
    /// A window that saw neither a list nor a change says that it is not initialized.
    pub fn since(&self, version: &Version) -> Result<impl ExactSizeIterator<Item = &Change>, Error> {
        let Some(oldest) = self.oldest() else {
            return Err(Status::internal("watch cache isn't correctly initialized").into());
        };
        if *version < oldest {
            return Err(Status::too_old(version, oldest).into());
        }
        let first = self.changes.partition_point(|change| change.version() <= version);
        Ok(self.changes.range(first..))
    }

    /// What an object was before: the version that it replaced, or an earlier one of this number. `None` where that is unknown here: a change has left
    /// the window, or came with a list, or lies too far back. Or there was no object.
    pub fn before(&self, object: &Object, earlier: Option<ObjectId>) -> Option<&Rc<Object>> {
        let mut before = self.replaced_by(object)?;
        for _ in 0..MAX_STEPS {
            if earlier.is_none_or(|earlier| before.id() == earlier) {
                return Some(before);
            }
            before = self.replaced_by(before)?;
        }
        None
    }

    fn replaced_by(&self, object: &Object) -> Option<&Rc<Object>> {
        if self.local {
            let latest = self.changes.iter().rev().take(MAX_LOOKED_AT);
            return latest.into_iter().find(|change| change.object.id() == object.id())?.previous.as_ref();
        }
        let first = self.changes.partition_point(|change| change.version() < object.version());
        let mut own = self.changes.range(first..).take_while(|change| change.version() == object.version());
        own.find(|change| change.object.id() == object.id())?.previous.as_ref()
    }

    /// How many changes are held.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Bytes held by the changes and what they replaced, beyond the objects of the store.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// An object of the window was packed or unpacked. It held `before` bytes, and now holds `after`.
    pub(crate) fn reformed(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes - before + after;
    }

    /// Drops the oldest changes while they hold too many bytes. That can happen without a new change. What versions share counts with the
    /// last holder, so a size can grow when it is measured again.
    pub(crate) fn keep_bound(&mut self, strays: &mut Strays) {
        if self.bytes > self.bounds.max_bytes {
            self.release(self.bytes - self.bounds.max_bytes, strays);
        }
    }

    /// The number of changes that may be held before the oldest is dropped.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How often the capacity grew, and how often it shrank.
    pub fn resizes(&self) -> (u64, u64) {
        (self.increases, self.decreases)
    }

    /// How far back in time the window has every change. `None` before the first list and change.
    pub fn reach(&self, now: Instant) -> Option<Millis> {
        let since = self.complete_since.or_else(|| self.changes.front().map(|oldest| oldest.at))?;
        Some(now.since(since))
    }

    /// How many events a watcher's queue should hold: those of one second of a full window, between 10 and `max`, as in the apiserver.
    pub fn suggested_buffer(&self, max: usize) -> usize {
        let per_second = (self.capacity as u64 * 1000).div_ceil(self.bounds.fresh_ms.max(1));
        usize::try_from(per_second).unwrap_or(max).clamp(MIN_BUFFER, max.max(MIN_BUFFER))
    }

    /// The oldest version a watch may start from: the list's while no change has left, else the one before the oldest change. Without a list it is
    /// that one from the beginning.
    pub fn oldest(&self) -> Option<Version> {
        match (&self.evicted, &self.list_version, self.changes.front()) {
            (None, Some(list), _) => Some(list.clone()),
            (_, _, Some(oldest)) => oldest.version().predecessor(),
            // A single change exceeded the byte bound. What comes after it is still known.
            (evicted, _, None) => evicted.clone(),
        }
    }

    /// Adapts a full window to the age of what it holds, before the next change comes. A smaller one drops what it has no room for any more.
    fn resize(&mut self, now: Instant, strays: &mut Strays) {
        if self.changes.len() < self.capacity {
            return;
        }
        let age = |index: usize| now.since(self.changes[index].at);
        let newest_quarter = self.changes.len() - (self.capacity / 4).max(1).min(self.changes.len());
        let quarter = if self.capacity < 4 { 0 } else { newest_quarter };
        let before = self.capacity;
        if age(0) < self.bounds.fresh_ms {
            self.capacity = (self.capacity * 2).min(self.bounds.upper);
        } else if age(quarter) > self.bounds.fresh_ms {
            self.capacity = (self.capacity / 2).max(self.bounds.lower).max(1);
            while self.changes.len() > self.capacity {
                self.evict(strays);
            }
            self.changes.shrink_to(self.capacity);
        }
        self.increases += u64::from(self.capacity > before);
        self.decreases += u64::from(self.capacity < before);
    }

    fn evict(&mut self, strays: &mut Strays) {
        if let Some(change) = self.changes.pop_front() {
            self.bytes -= bytes_of(&change);
            note(&change, strays);
            self.complete_since = Some(change.at);
            self.evicted = Some(change.version().clone());
        }
    }
}

/// The objects that only the window holds for a change: what was replaced, and a deleted object's last state. Another object is in the
/// store, or a later change has replaced it and counts it.
fn objects_of(change: &Change) -> impl Iterator<Item = &Rc<Object>> {
    change.previous.iter().chain((change.kind == ChangeKind::Deleted).then_some(&change.object))
}

/// Bytes that the window holds for a change.
fn bytes_of(change: &Change) -> usize {
    size_of::<Change>() + objects_of(change).map(|object| object.size()).sum::<usize>()
}

fn note(change: &Change, strays: &mut Strays) {
    objects_of(change).for_each(|object| object.set_holder(Holder::Nobody));
    objects_of(change).for_each(|object| strays.note(object));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::store::bounds::{DEFAULT_FRESH_MS, DEFAULT_MAX_BYTES};
    use crate::testing::named;
    use crate::time::at;

    const FD: Millis = DEFAULT_FRESH_MS;

    #[test]
    fn chg_10_what_an_object_replaced_is_known_while_the_change_is_there() {
        let (mut window, mut strays) = (Window::new(WindowBounds { lower: 3, upper: 3, ..WindowBounds::default() }), Strays::default());
        let versions: Vec<Rc<Object>> = (0..5).map(|version| named("pod", version)).collect();
        for pair in versions.windows(2) {
            let change = Change::new(ChangeKind::Modified, pair[1].clone(), Some(pair[0].clone()), at(0));
            window.push(change, &mut strays);
        }
        let before = |object: &Object, earlier: Option<&Rc<Object>>| {
            window.before(object, earlier.map(|earlier| earlier.id())).map(|before| before.version().as_u64().unwrap())
        };
        assert_eq!([0, 1, 2, 3, 4].map(|place: usize| before(&versions[place], None)), [None, None, Some(1), Some(2), Some(3)]);
        assert_eq!(before(&named("pod", 4), None), None, "another object of that version");
        let merged = [0, 1, 2, 3, 4].map(|earlier: usize| before(&versions[4], versions.get(earlier)));
        assert_eq!(merged, [None, Some(1), Some(2), Some(3), None], "of several changes");
    }

    fn change(version: u64, at: Instant) -> Change {
        Change::new(ChangeKind::Added, named("pod", version), None, at)
    }

    fn fixed(capacity: usize) -> Window {
        Window::new(WindowBounds { fresh_ms: FD, lower: capacity, upper: capacity, max_bytes: DEFAULT_MAX_BYTES })
    }

    fn versions(window: &Window, since: &str) -> Vec<String> {
        window.since(&Version::parse(since).unwrap()).unwrap().map(|change| change.version().to_string()).collect()
    }

    fn refused(window: &Window, since: &str) -> Error {
        match window.since(&Version::parse(since).unwrap()) {
            Ok(_) => panic!("a watch since {since} must be refused"),
            Err(error) => error,
        }
    }

    /// Holds the changes at 3 to `newest`, five of them at most, and no list.
    fn up_to(newest: u64) -> Window {
        let mut window = fixed(5);
        for version in 3..=newest {
            window.push(change(version, at(version)), &mut Strays::default());
        }
        window
    }

    #[test]
    fn win_02_without_a_list_the_first_change_is_the_oldest() {
        let window = up_to(3);
        assert_eq!(refused(&window, "1").code, ErrorCode::Expired);
        assert_eq!(versions(&window, "2"), ["3"]);
    }

    #[test]
    fn win_03_what_follows_is_served_from_where_it_is_asked_for() {
        let mut window = fixed(5);
        for version in 3..=5 {
            let previous = (version > 3).then(|| named("pod", version - 1));
            let change = Change { previous, kind: ChangeKind::Modified, ..change(version, at(version)) };
            window.push(change, &mut Strays::default());
        }
        assert_eq!(refused(&window, "1").code, ErrorCode::Expired);
        let from = Version::from(3);
        let told: Vec<String> = window.since(&from).unwrap().map(|change| format!("{:?}->{:?}", change.previous, change.object)).collect();
        assert_eq!(told, ["Some(pod@3)->pod@4", "Some(pod@4)->pod@5"]);
    }

    #[test]
    fn win_04_a_full_window_serves_what_it_holds_and_refuses_what_it_lost() {
        let window = up_to(9);
        assert_eq!(refused(&window, "3").message, "too old resource version: 3 (4)");
        assert_eq!(versions(&window, "4"), ["5", "6", "7", "8", "9"]);
    }

    #[test]
    fn win_06_after_a_list_its_version_is_the_oldest_start() {
        let mut window = fixed(5);
        window.reset(Version::parse("9").unwrap(), Instant::START, &mut Strays::default());
        assert_eq!(refused(&window, "8").code, ErrorCode::Expired);
        assert_eq!(versions(&window, "9"), Vec::<String>::new());
        window.push(change(12, Instant::START), &mut Strays::default());
        assert_eq!(versions(&window, "9"), ["12"]);
        assert_eq!(versions(&window, "99"), Vec::<String>::new());
    }

    #[test]
    fn win_08_the_message_names_the_oldest_start() {
        let mut window = fixed(5);
        window.reset(Version::parse("10").unwrap(), Instant::START, &mut Strays::default());
        assert_eq!(refused(&window, "9").message, "too old resource version: 9 (10)");
    }

    #[test]
    fn win_09_a_window_that_never_saw_a_list_or_event_says_so() {
        assert_eq!(refused(&fixed(5), "5").message, "watch cache isn't correctly initialized");
    }

    /// A full window of changes that came `step` apart, `lost` others having left it before, takes the next change another step later. Tells
    /// the capacity afterwards and how many changes were dropped. What is held then are the latest changes.
    fn pushed(capacity: usize, lost: u64, (lower, upper): (usize, usize), step: Millis) -> (usize, usize) {
        let strays = &mut Strays::default();
        let mut window = Window::new(WindowBounds { fresh_ms: FD, lower, upper, max_bytes: DEFAULT_MAX_BYTES });
        window.capacity = capacity;
        let last = lost + capacity as u64;
        for event in 1..=last {
            if window.len() == capacity {
                window.evict(strays);
            }
            let change = change(event, at(event * step));
            window.bytes += bytes_of(&change);
            window.changes.push_back(change);
        }
        window.push(change(last + 1, at((last + 1) * step)), strays);
        let held: Vec<u64> = window.changes.iter().filter_map(|change| change.version().as_u64()).collect();
        assert_eq!(held, (last + 2 - held.len() as u64..=last + 1).collect::<Vec<_>>());
        (window.capacity, capacity + 1 - held.len())
    }

    /// Each case has a twin, where three changes have left the window before: the ring of the apiserver then begins elsewhere.
    macro_rules! capacity_follows_the_age_of_what_is_held {
        ($($name:ident: $capacity:literal, $bounds:expr, $step:expr => $expected:expr;)*) => {$(
            #[test]
            fn $name() {
                for lost in [0, 3] {
                    assert_eq!(pushed($capacity, lost, $bounds, $step), $expected, "after {lost} that left");
                }
            }
        )*};
    }

    capacity_follows_the_age_of_what_is_held! {
        win_10_win_15_all_fresh_doubles: 5, (2, 10), FD / 6 => (10, 0);
        win_11_win_16_the_oldest_stale_stays: 5, (2, 10), FD / 4 => (5, 1);
        win_12_win_17_all_stale_halves: 5, (2, 10), FD + 1000 => (2, 4);
        win_13_win_18_not_below_the_lower_bound: 5, (3, 10), FD + 1000 => (3, 3);
        win_14_win_19_not_above_the_upper_bound: 5, (2, 8), FD / 6 => (8, 0);
        win_20_win_25_an_even_capacity_doubles: 8, (4, 16), FD / 9 => (16, 0);
        win_21_win_26_exactly_as_old_as_fresh_may_be_stays: 8, (4, 16), FD / 8 => (8, 1);
        win_22_win_27_all_but_the_newest_stale_halves: 8, (4, 16), FD / 2 + 1000 => (4, 5);
        win_23_win_28_half_of_it_is_below_the_lower_bound: 8, (7, 16), FD / 2 + 1000 => (7, 2);
        win_24_win_29_double_of_it_is_above_the_upper_bound: 8, (4, 10), FD / 9 => (10, 0);
    }

    #[test]
    fn bytes_are_those_of_what_was_replaced_and_leave_with_it() {
        let mut window = fixed(2);
        let (old, new) = (named("pod", 1), named("pod", 2));
        window.push(Change::new(ChangeKind::Modified, new.clone(), Some(old.clone()), Instant::START), &mut Strays::default());
        let entries = |count: usize| count * size_of::<Change>();
        assert_eq!(window.bytes(), entries(1) + old.size());
        let last = named("pod", 3);
        window.push(Change::new(ChangeKind::Deleted, last.clone(), Some(new.clone()), at(1)), &mut Strays::default());
        assert_eq!(window.bytes(), entries(2) + old.size() + new.size() + last.size());
        window.push(change(4, at(2)), &mut Strays::default());
        assert_eq!(window.bytes(), entries(2) + new.size() + last.size());
        window.reset(Version::from(9), Instant::START, &mut Strays::default());
        assert_eq!(window.bytes(), 0);
    }

    #[test]
    fn law_08_bounded_the_window_never_holds_more_bytes_than_it_may() {
        let size = size_of::<Change>() + named("pod", 1).size();
        let bounds = WindowBounds { max_bytes: 10 * size + size / 2, ..WindowBounds::default() };
        let mut window = Window::new(bounds);
        window.reset(Version::from(1), Instant::START, &mut Strays::default());
        for version in 2..=60 {
            let change = Change::new(ChangeKind::Modified, named("pod", version), Some(named("pod", version - 1)), Instant::START);
            window.push(change, &mut Strays::default());
            assert!(window.bytes() <= bounds.max_bytes);
        }
        assert_eq!(window.len(), 10);
        assert_eq!(window.oldest(), Some(Version::from(50)));
        assert_eq!(refused(&window, "49").message, "too old resource version: 49 (50)");
        assert_eq!(versions(&window, "50").len(), 10);
    }

    #[test]
    fn law_08_bounded_a_change_too_large_for_the_window_leaves_it_empty_and_at_its_version() {
        let bounds = WindowBounds { max_bytes: 1, ..WindowBounds::default() };
        let mut window = Window::new(bounds);
        window.reset(Version::from(1), Instant::START, &mut Strays::default());
        window.push(Change::new(ChangeKind::Modified, named("pod", 7), Some(named("pod", 6)), Instant::START), &mut Strays::default());
        assert_eq!((window.len(), window.oldest()), (0, Some(Version::from(7))));
        assert_eq!(refused(&window, "6").message, "too old resource version: 6 (7)");
        assert_eq!(versions(&window, "7"), [""; 0]);
    }

    #[test]
    fn the_reach_is_the_time_since_the_last_change_that_is_lost() {
        let mut window = fixed(2);
        assert_eq!(window.reach(Instant::START), None);
        window.reset(Version::from(1), at(1_000), &mut Strays::default());
        assert_eq!(window.reach(at(5_000)), Some(4_000));
        for (version, time) in [(2, 2_000), (3, 3_000)] {
            window.push(change(version, at(time)), &mut Strays::default());
        }
        assert_eq!(window.reach(at(5_000)), Some(4_000), "nothing is lost since the list");
        window.push(change(4, at(4_000)), &mut Strays::default());
        assert_eq!((window.oldest(), window.reach(at(5_000))), (Some(Version::from(2)), Some(3_000)));
    }

    #[test]
    fn growing_and_shrinking_is_counted() {
        let mut window = Window::new(WindowBounds { lower: 2, upper: 4, ..WindowBounds::default() });
        for version in 1..=6 {
            window.push(change(version, Instant::START), &mut Strays::default());
        }
        assert_eq!((window.capacity(), window.resizes()), (4, (1, 0)), "at its bound it stays");
        window.push(change(7, at(2 * FD)), &mut Strays::default());
        assert_eq!((window.capacity(), window.resizes()), (2, (1, 1)));
    }

    #[test]
    fn the_suggested_buffer_is_a_seconds_worth_between_its_bounds() {
        assert_eq!(fixed(100).suggested_buffer(1000), 10);
        assert_eq!(fixed(7_501).suggested_buffer(1000), 101);
        assert_eq!(fixed(102_400).suggested_buffer(1000), 1000);
        assert_eq!(fixed(102_400).suggested_buffer(100), 100);
    }
}
