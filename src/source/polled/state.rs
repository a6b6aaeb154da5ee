//! What was listed last, and what the lists before it had to tell.
//!
//! A server that gives its lists and objects versions keeps them. Its deletions get versions that no object has, between those of the two
//! lists. Where there are none, or they do not grow, versions are made up here. They count up from the milliseconds of the wall clock. So those of
//! an earlier session are older than all of this one.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashSet;

use crate::json::stamp;
use crate::source::composed;
use crate::source::listed::Listed;
use crate::status::Error;
use crate::time::WallTime;
use crate::version::Version;

/// Differences that are kept for those who have not heard of them, beside one for each object.
const MIN_KEPT: usize = 1_000;

/// Namespace and name.
type Name = (String, String);

/// An object as it was listed last.
struct Seen {
    /// As the server gave it.
    document: Box<[u8]>,
    uid: Option<Box<str>>,
    version: u64,
}

/// Whose versions are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// No list has come yet.
    Unknown,
    Servers,
    /// Made up here.
    Local,
}

/// What one object has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Added,
    Modified,
    Deleted,
}

/// A difference between two lists.
struct Difference {
    version: u64,
    kind: Kind,
    name: Name,
}

/// What is known by polling.
pub(super) struct State {
    numbering: Numbering,
    kind: Option<String>,
    version: u64,
    objects: BTreeMap<Name, Seen>,
    /// The differences, by their versions.
    told: VecDeque<(u64, Vec<u8>)>,
    /// Differences up to this version are forgotten.
    forgotten: u64,
    /// The number of the poll that was taken last.
    taken: u64,
    /// Whether the server's versions say when what is shown differs.
    servers_count: bool,
}

impl State {
    /// Of a source whose versions, if it gives some, say when an object differs, or do not.
    pub(super) fn new(servers_count: bool) -> Self {
        Self {
            servers_count,
            numbering: Numbering::Unknown,
            kind: None,
            version: 0,
            objects: BTreeMap::new(),
            told: VecDeque::new(),
            forgotten: 0,
            taken: 0,
        }
    }

    /// Whether versions are made up here.
    pub(super) fn is_local(&self) -> bool {
        self.numbering == Numbering::Local
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The number of the poll that was taken last.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether whoever knows this version can be told what follows.
    pub(super) fn reaches_back_to(&self, version: u64) -> bool {
        (self.forgotten..=self.version).contains(&version)
    }

    /// The first difference behind this version.
    pub(super) fn next_after(&self, version: u64) -> Option<&(u64, Vec<u8>)> {
        self.told.get(self.told.partition_point(|(told, _)| *told <= version))
    }

    /// The version at which this object was told last.
    pub(super) fn version_of(&self, namespace: &str, name: &str) -> Option<u64> {
        self.objects.get(&(namespace.to_owned(), name.to_owned())).map(|seen| seen.version)
    }

    /// Takes the list that this poll brought, unless a later one was taken before it. Fails where an object has no name.
    pub(super) fn take(&mut self, poll: u64, listed: Listed, now: WallTime) -> Result<(), Error> {
        if poll <= self.taken {
            return Ok(());
        }
        let of_list = listed.version.as_deref().and_then(number_of);
        let mut objects = BTreeMap::new();
        let mut versioned = self.servers_count && of_list.is_some();
        for item in listed.items {
            let name = item.name.as_deref().ok_or_else(|| Error::protocol("an object of the list has no metadata.name"))?;
            let key = (item.namespace.as_deref().unwrap_or("").to_owned(), name.to_owned());
            let own = item.version.as_deref().and_then(number_of);
            versioned &= own.is_some();
            objects.insert(key, Seen { version: own.unwrap_or_default(), uid: item.uid, document: item.bytes });
        }
        self.taken = poll;
        self.kind = listed.kind;
        match (self.numbering, of_list.filter(|_| versioned)) {
            (Numbering::Unknown, Some(version)) => {
                self.numbering = Numbering::Servers;
                self.begin(objects, version);
            }
            (Numbering::Unknown, None) => self.begin_local(objects, now),
            (Numbering::Servers, Some(version)) if version < self.version => self.begin(objects, version),
            (Numbering::Servers, Some(version)) => match self.numbered_by_server(&objects, version) {
                Some(differences) => self.tell(differences, objects, version),
                None => self.begin_local(objects, now),
            },
            (Numbering::Servers, None) => self.begin_local(objects, now),
            (Numbering::Local, _) => {
                let differences = self.numbered_here(&mut objects);
                let version = differences.last().map_or(self.version, |last| last.version);
                self.tell(differences, objects, version);
            }
        }
        Ok(())
    }

    /// What is held now, as a list.
    pub(super) fn list(&self) -> Vec<u8> {
        let items = self.objects.values().map(|seen| self.shown(seen, None));
        composed::list(self.kind.as_deref(), &self.version.to_string(), items)
    }

    /// An object as it is told, at its own version or at that of its deletion.
    fn shown(&self, seen: &Seen, deleted: Option<u64>) -> Vec<u8> {
        match deleted.or(self.is_local().then_some(seen.version)) {
            // What has no metadata has no name either, and was refused.
            Some(version) => stamp(&seen.document, &version.to_string()).unwrap_or_default(),
            None => seen.document.to_vec(),
        }
    }

    /// All of it is new: nobody can be told the way here.
    fn begin(&mut self, objects: BTreeMap<Name, Seen>, version: u64) {
        self.told.clear();
        (self.objects, self.version, self.forgotten) = (objects, version, version);
    }

    fn begin_local(&mut self, mut objects: BTreeMap<Name, Seen>, now: WallTime) {
        self.numbering = Numbering::Local;
        let version = now.as_unix_millis().max(self.version + 1);
        objects.values_mut().for_each(|seen| seen.version = version);
        self.begin(objects, version);
    }

    /// What differs, without versions. Of an object that was made anew the old one is deleted first.
    fn compare(&self, objects: &BTreeMap<Name, Seen>) -> Vec<Difference> {
        let difference = |kind, name: &Name| Difference { version: 0, kind, name: name.clone() };
        let mut differences = Vec::new();
        for (name, seen) in &self.objects {
            if objects.get(name).is_none_or(|now| now.uid != seen.uid) {
                differences.push(difference(Kind::Deleted, name));
            }
        }
        for (name, now) in objects {
            match self.objects.get(name).filter(|seen| seen.uid == now.uid) {
                None => differences.push(difference(Kind::Added, name)),
                Some(seen) if seen.document != now.document => differences.push(difference(Kind::Modified, name)),
                Some(_) => {}
            }
        }
        differences
    }

    /// What differs, at the next versions of our own. Objects that are as they were keep theirs.
    fn numbered_here(&self, objects: &mut BTreeMap<Name, Seen>) -> Vec<Difference> {
        for (name, now) in objects.iter_mut() {
            now.version = self.objects.get(name).map_or(0, |seen| seen.version);
        }
        let mut differences = self.compare(objects);
        for (difference, version) in differences.iter_mut().zip(self.version + 1..) {
            difference.version = version;
            if difference.kind != Kind::Deleted
                && let Some(now) = objects.get_mut(&difference.name)
            {
                now.version = version;
            }
        }
        differences
    }

    /// What differs, at the server's versions and in their order. `None` where these do not say in which order it happened.
    fn numbered_by_server(&self, objects: &BTreeMap<Name, Seen>, version: u64) -> Option<Vec<Difference>> {
        let mut differences = self.compare(objects);
        let mut taken = FxHashSet::default();
        for difference in differences.iter_mut().filter(|difference| difference.kind != Kind::Deleted) {
            difference.version = objects.get(&difference.name)?.version;
            let grows = (self.version + 1..=version).contains(&difference.version);
            if !grows || !taken.insert(difference.version) {
                return None;
            }
        }
        // One that was made anew has gone before that; the others at whatever version is left.
        let mut next = version;
        for difference in differences.iter_mut().filter(|difference| difference.kind == Kind::Deleted) {
            let made_anew = objects.get(&difference.name).map(|now| now.version - 1);
            let mut free = made_anew.unwrap_or(next);
            while taken.contains(&free) {
                free -= 1;
            }
            if free <= self.version {
                return None;
            }
            taken.insert(free);
            difference.version = free;
            if made_anew.is_none() {
                next = free - 1;
            }
        }
        differences.sort_by_key(|difference| difference.version);
        Some(differences)
    }

    fn tell(&mut self, differences: Vec<Difference>, objects: BTreeMap<Name, Seen>, version: u64) {
        let before = std::mem::replace(&mut self.objects, objects);
        for Difference { version, kind, name } in differences {
            let (word, object) = match kind {
                Kind::Added => ("ADDED", self.objects.get(&name).map(|seen| self.shown(seen, None))),
                Kind::Modified => ("MODIFIED", self.objects.get(&name).map(|seen| self.shown(seen, None))),
                Kind::Deleted => ("DELETED", before.get(&name).map(|seen| self.shown(seen, Some(version)))),
            };
            let frame = [br#"{"type":""#, word.as_bytes(), br#"","object":"#, &object.unwrap_or_default(), b"}"].concat();
            self.told.push_back((version, frame));
        }
        self.version = version;
        while self.told.len() > MIN_KEPT + self.objects.len() {
            self.forgotten = self.told.pop_front().map_or(self.forgotten, |(version, _)| version);
        }
    }
}

/// A server's versions are int64. A larger one would leave no room to count on.
const MOST: u64 = i64::MAX as u64;

/// A version as a number; `None` where it says nothing.
pub(super) fn number_of(text: &str) -> Option<u64> {
    Version::parse(text).ok().and_then(|version| version.as_u64()).filter(|number| (1..=MOST).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, scan_object};

    const NOW: WallTime = WallTime::from_unix_millis(1_000);

    fn listed(version: &str, objects: &[(&str, &str, &str)]) -> Listed {
        let item = |(name, version, spec): &(&str, &str, &str)| {
            let own = if version.is_empty() { String::new() } else { format!(r#","resourceVersion":"{version}""#) };
            let (uid, spec) = spec.split_once(':').unwrap_or(("u", spec));
            let document = format!(r#"{{"metadata":{{"name":"{name}","uid":"{uid}"{own}}},"spec":"{spec}"}}"#);
            scan_object(document.as_bytes(), &FieldSet::new(Vec::new())).unwrap()
        };
        let version = Some(version.to_owned()).filter(|version| !version.is_empty());
        Listed { kind: Some("XList".into()), version, items: objects.iter().map(item).collect() }
    }

    /// What is told behind a version: type, name, version and what follows.
    fn told(state: &State, mut after: u64) -> Vec<String> {
        let mut all = Vec::new();
        while let Some((version, frame)) = state.next_after(after) {
            let frame: serde_json::Value = serde_json::from_slice(frame).unwrap();
            let object = &frame["object"];
            assert_eq!(object["metadata"]["resourceVersion"], version.to_string());
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            all.push(format!("{} {} {version} {}", text(&frame["type"]), text(&object["metadata"]["name"]), text(&object["spec"])));
            after = *version;
        }
        all
    }

    fn list(state: &State) -> (String, Vec<(String, String)>) {
        let list: serde_json::Value = serde_json::from_slice(&state.list()).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        assert_eq!(list["kind"], "XList");
        let items = list["items"].as_array().unwrap();
        let items = items.iter().map(|item| (text(&item["metadata"]["name"]), text(&item["metadata"]["resourceVersion"]))).collect();
        (text(&list["metadata"]["resourceVersion"]), items)
    }

    fn pair(name: &str, version: &str) -> (String, String) {
        (name.into(), version.into())
    }

    #[test]
    fn a_server_with_versions_keeps_them_and_deletions_get_those_that_nobody_has() {
        let mut state = State::new(true);
        state.take(1, listed("10", &[("a", "3", "1"), ("b", "7", "1"), ("c", "8", "1"), ("d", "9", "old:1")]), NOW).unwrap();
        assert_eq!(list(&state), ("10".into(), vec![pair("a", "3"), pair("b", "7"), pair("c", "8"), pair("d", "9")]));
        assert!(!state.is_local() && state.reaches_back_to(10) && !state.reaches_back_to(9) && told(&state, 10).is_empty());
        state.take(2, listed("20", &[("a", "19", "2"), ("d", "15", "new:1"), ("e", "20", "1")]), NOW).unwrap();
        assert_eq!(
            told(&state, 10),
            ["DELETED d 14 1", "ADDED d 15 1", "DELETED c 17 1", "DELETED b 18 1", "MODIFIED a 19 2", "ADDED e 20 1"]
        );
        assert_eq!(told(&state, 18), ["MODIFIED a 19 2", "ADDED e 20 1"]);
        state.take(3, listed("30", &[("a", "19", "2"), ("d", "15", "new:1"), ("e", "20", "1")]), NOW).unwrap();
        assert_eq!((state.version(), told(&state, 20).len()), (30, 0), "nothing differs, and the version grows");
    }

    #[test]
    fn a_server_that_went_back_is_believed_and_nobody_is_told_the_way() {
        let mut state = State::new(true);
        state.take(1, listed("10", &[("a", "3", "1")]), NOW).unwrap();
        state.take(2, listed("5", &[("a", "2", "0")]), NOW).unwrap();
        assert_eq!(list(&state), ("5".into(), vec![pair("a", "2")]));
        assert!(!state.reaches_back_to(10) && state.reaches_back_to(5));
    }

    #[test]
    fn without_versions_they_are_made_up_and_count_on() {
        let mut state = State::new(true);
        state.take(1, listed("", &[("a", "", "1"), ("b", "", "1")]), NOW).unwrap();
        assert_eq!(list(&state), ("1000".into(), vec![pair("a", "1000"), pair("b", "1000")]));
        state.take(2, listed("", &[("a", "", "2"), ("c", "", "1")]), NOW).unwrap();
        assert_eq!(told(&state, 1000), ["DELETED b 1001 1", "MODIFIED a 1002 2", "ADDED c 1003 1"]);
        assert_eq!(list(&state), ("1003".into(), vec![pair("a", "1002"), pair("c", "1003")]));
        state.take(3, listed("", &[("a", "", "2"), ("c", "", "v:1")]), NOW).unwrap();
        assert_eq!(told(&state, 1003), ["DELETED c 1004 1", "ADDED c 1005 1"]);
        assert_eq!((state.version_of("", "a"), state.version_of("", "c"), state.version_of("x", "a")), (Some(1002), Some(1005), None));
    }

    #[test]
    fn what_differs_at_one_version_is_numbered_here_from_the_start() {
        let mut state = State::new(false);
        state.take(1, listed("10", &[("a", "3", "1m")]), NOW).unwrap();
        state.take(2, listed("11", &[("a", "3", "2m")]), NOW).unwrap();
        assert_eq!(told(&state, 1000), ["MODIFIED a 1001 2m"]);
    }

    #[test]
    fn versions_that_do_not_grow_are_none() {
        for next in [
            listed("20", &[("a", "3", "2")]),                    // changed at its old version
            listed("20", &[("a", "25", "2")]),                   // newer than its list
            listed("20", &[("a", "12", "2"), ("b", "12", "1")]), // two at one version
            listed("11", &[("b", "11", "1")]),                   // no version is left for the deletion
            listed("", &[("a", "3", "1")]),                      // no version any more
            listed("20", &[("a", "", "1")]),                     // an object has none any more
        ] {
            let mut state = State::new(true);
            state.take(1, listed("10", &[("a", "3", "1")]), NOW).unwrap();
            state.take(2, next, NOW).unwrap();
            assert!(state.is_local() && state.version() == 1000 && !state.reaches_back_to(10));
            state.take(3, listed("30", &[("a", "29", "9")]), NOW).unwrap();
            assert!(state.is_local(), "for good");
        }
    }

    #[test]
    fn a_version_behind_which_no_other_fits_is_none() {
        let last = u64::MAX.to_string();
        let mut state = State::new(true);
        state.take(1, listed(&last, &[("a", "3", "1")]), NOW).unwrap();
        let before = state.version();
        state.take(2, listed(&last, &[("a", "5", "2")]), NOW).unwrap();
        assert_eq!(told(&state, before).len(), 1, "the change is told");
    }

    #[test]
    fn an_answer_that_a_later_one_has_overtaken_is_nothing() {
        let mut state = State::new(true);
        state.take(2, listed("10", &[("a", "3", "1")]), NOW).unwrap();
        state.take(1, listed("9", &[]), NOW).unwrap();
        assert_eq!((list(&state).1.len(), state.taken()), (1, 2));
    }

    #[test]
    fn what_is_kept_for_the_slow_is_bounded() {
        let mut state = State::new(true);
        for poll in 1..=3_000 {
            state.take(poll, listed("", &[("a", "", &poll.to_string())]), NOW).unwrap();
        }
        assert_eq!(state.told.len(), MIN_KEPT + 1);
        let oldest = state.told[0].0;
        assert!(state.reaches_back_to(oldest - 1) && !state.reaches_back_to(oldest - 2));
    }
}
