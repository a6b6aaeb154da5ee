//! Whether what is held is what the upstream holds: now and then both are listed at one version and compared.
//!
//! It compares a digest over namespace, name and version of every object, as the apiserver's consistency checker does. It also compares the
//! contents. If either differs, past states are in doubt: they are not served from here until a check succeeds.

use std::rc::Rc;

use super::access::Access;
use super::content::first_mismatch;
use crate::connection::Phase;
use crate::key::{Key, split};
use crate::metrics::CheckResult;
use crate::object::Object;
use crate::runtime::SingleTask;
use crate::sort::sort_by;
use crate::source::{ListRequest, Pager, Source};
use crate::status::{Error, ErrorCode};
use crate::time::Millis;
use crate::version::Version;

/// The time between two checks, and before the first, as in the apiserver. Up to half of it is added at random.
pub const MIN_CHECK_INTERVAL_MS: Millis = 5 * 60_000;

/// One object, as far as it is compared.
pub type Item = (Key, Version);

/// Where the two lists part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The position of the first item that differs, in key order.
    pub index: usize,
    /// What the cache holds there; `None`: it ends before.
    pub cache: Option<Item>,
    /// What the upstream holds there; `None`: it ends before.
    pub upstream: Option<Item>,
    /// Where the contents part, if the items are the same.
    pub content: Option<String>,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both hold the same; the digest.
    Success(u64),
    /// They differ.
    Failure(Mismatch),
    /// It could not be made: not ready, no answer, or an answer at another version.
    Error(Error),
}

impl Outcome {
    fn result(&self) -> CheckResult {
        match self {
            Self::Success(_) => CheckResult::Success,
            Self::Failure(_) => CheckResult::Failure,
            Self::Error(_) => CheckResult::Error,
        }
    }
}

/// The digest of a list: FNV-1, 64 bits, over namespace `/` name `/` version of each item, with nothing between items.
fn digest<'a>(items: impl IntoIterator<Item = &'a Item>) -> u64 {
    let mut hash = Fnv1(FNV1_START);
    for (key, version) in items {
        let (namespace, name) = split(key);
        for part in [namespace, "/", name, "/"] {
            hash.write(part.as_bytes());
        }
        hash.write(version.to_string().as_bytes());
    }
    hash.0
}

struct Fnv1(u64);

const FNV1_START: u64 = 0xcbf2_9ce4_8422_2325;

impl Fnv1 {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte);
        }
    }
}

/// Compares two lists in key order.
fn compare(cache: &[Item], upstream: &[Item]) -> Result<u64, Mismatch> {
    let ours = digest(cache);
    if ours == digest(upstream) {
        return Ok(ours);
    }
    let longest = cache.len().max(upstream.len());
    let index = (0..longest).find(|index| cache.get(*index) != upstream.get(*index)).unwrap_or(longest);
    Err(Mismatch { index, cache: cache.get(index).cloned(), upstream: upstream.get(index).cloned(), content: None })
}

fn item(object: &Rc<Object>) -> Item {
    (object.key().clone(), object.version().clone())
}

/// Compares what is held with the upstream.
#[derive(Clone)]
pub(super) struct Check {
    access: Rc<Access>,
}

impl Check {
    /// Of this state with its upstream.
    pub(super) fn new(access: Rc<Access>) -> Self {
        Self { access }
    }

    /// See `Resource::check_consistency`.
    pub(super) async fn run(&self) -> Outcome {
        let outcome = match self.compare_with_upstream().await {
            Ok(Ok(digest)) => Outcome::Success(digest),
            Ok(Err(mismatch)) => Outcome::Failure(mismatch),
            Err(error) => Outcome::Error(error),
        };
        self.access.cacher.with(|cacher| {
            cacher.metrics().consistency_check(outcome.result());
            match &outcome {
                Outcome::Success(_) => cacher.held_mut().set_consistent(true),
                Outcome::Failure(mismatch) => {
                    cacher.held_mut().set_consistent(false);
                    cacher.availability_mut().record_error(inconsistent(mismatch));
                }
                // Nothing else would tell it: a watch from a version of the upstream's future is waited for in silence.
                Outcome::Error(error) if error.status.as_ref().is_some_and(|status| status.is_too_large()) => {
                    let version = (!cacher.is_local()).then(|| cacher.version());
                    let ahead = ahead(version, error);
                    cacher.availability_mut().record_error(ahead);
                }
                Outcome::Error(_) => {}
            }
        });
        outcome
    }

    async fn compare_with_upstream(&self) -> Result<Result<u64, Mismatch>, Error> {
        let now = self.access.runtime.now();
        self.access.cacher.borrow().availability().ready().check(now)?;
        let sources = self.access.upstream.sources();
        let mut digests = Vec::with_capacity(sources.len());
        for (namespace, source) in &sources {
            // Both at one version, so what is held is noted down before the first await.
            let (version, held) = {
                let cacher = self.access.cacher.borrow();
                // What is held of one that is refused is old, and the server would not say how old.
                let reached = |namespace: &Rc<str>| cacher.reached(namespace).filter(|_| !cacher.availability().is_refused(namespace));
                let version = namespace.as_ref().map_or(Some(cacher.version()), reached);
                let Some(version) = version else { continue };
                let held = cacher.store().namespace(namespace.as_deref().unwrap_or_default());
                (version.clone(), held.cloned().collect::<Vec<_>>())
            };
            match self.compare_with(&**source, &version, &held).await? {
                Ok(digest) => digests.push(digest),
                Err(mismatch) => return Ok(Err(mismatch)),
            }
        }
        match digests[..] {
            [] if !sources.is_empty() => Err(Error::new(ErrorCode::Unavailable, "no namespace is there that could be compared")),
            [digest] => Ok(Ok(digest)),
            ref several => {
                let mut hash = Fnv1(FNV1_START);
                several.iter().for_each(|digest| hash.write(&digest.to_be_bytes()));
                Ok(Ok(hash.0))
            }
        }
    }

    async fn compare_with(&self, source: &dyn Source, version: &Version, held: &[Rc<Object>]) -> Result<Result<u64, Mismatch>, Error> {
        let mut parted: Option<(usize, String)> = None;
        let (listed, mut upstream) = self
            .items_at(source, version, &mut |object| {
                let Ok(index) = held.binary_search_by(|held| held.key().cmp(object.key())) else { return };
                let held = &held[index];
                if held.version() == object.version()
                    && parted.as_ref().is_none_or(|(first, _)| index < *first)
                    && let Some(place) = first_mismatch(&held.lend(), &object.lend())
                {
                    parted = Some((index, place));
                }
            })
            .await?;
        if listed != *version {
            return Err(Error::protocol(format!("the upstream listed version {listed} when it was asked for exactly {version}")));
        }
        sort_by(&mut upstream, Item::cmp); // etcd lists in this order; other sources need not
        let held: Vec<Item> = held.iter().map(item).collect();
        Ok(compare(&held, &upstream).and_then(|digest| {
            let Some((index, place)) = parted else { return Ok(digest) };
            Err(Mismatch { index, cache: Some(held[index].clone()), upstream: Some(held[index].clone()), content: Some(place) })
        }))
    }

    async fn items_at(&self, source: &dyn Source, version: &Version, each: &mut dyn FnMut(&Object)) -> Result<(Version, Vec<Item>), Error> {
        let limit = self.access.upstream.branch_page_limit();
        let mut pager = Pager::new(ListRequest {
            resource_version: Some(version.to_string()),
            resource_version_match: Some("Exact".into()),
            limit,
            ..ListRequest::default()
        });
        let mut items = Vec::new();
        while let Some(request) = pager.request() {
            let each = &mut |object: Rc<Object>| {
                each(&object);
                items.push(item(&object));
            };
            let head = self.access.upstream.page_of(source, request, each).await?;
            pager.follow(&head)?;
        }
        Ok((pager.version().cloned().unwrap_or_default(), items))
    }
}

/// Checks again and again, while the resource is open.
pub(super) struct Checker {
    check: Check,
    task: SingleTask,
}

impl Checker {
    /// One that has not begun.
    pub(super) fn new(check: Check) -> Self {
        Self { check, task: SingleTask::default() }
    }

    /// Checks from now on, until it is ended.
    pub(super) fn start(&self) {
        self.task.start(&*self.check.access.runtime, || run(self.check.clone()));
    }

    /// Ends it: a timer that outlived the resource would keep a process of Node alive.
    pub(super) fn end(&self) {
        self.task.end();
    }
}

/// While the resource is paused nobody is asked.
async fn run(check: Check) {
    loop {
        check.access.runtime.sleep(MIN_CHECK_INTERVAL_MS + fastrand::u64(0..MIN_CHECK_INTERVAL_MS / 2)).await;
        if check.access.cacher.borrow().availability().phase() != Phase::Paused {
            check.run().await;
        }
    }
}

/// `None`: of one namespace of several, which have a version each.
fn ahead(version: Option<&Version>, error: &Error) -> Error {
    let reached = version.map_or_else(|| "the version of one of its namespaces".to_owned(), |version| format!("version {version}"));
    let message = format!(
        "the upstream has not come to {reached}, which is held: it went back, unless it is a replica that is behind; \
         refresh({{ reset: true }}) lists it anew ({})",
        error.message
    );
    Error { message, ..error.clone() }
}

fn inconsistent(mismatch: &Mismatch) -> Error {
    let say = |item: &Option<Item>| item.as_ref().map_or_else(|| "nothing".to_owned(), |(key, version)| format!("{key}@{version}"));
    let Mismatch { index, cache, upstream, content } = mismatch;
    let message = match content {
        None => format!("the cache differs from its upstream: item {index} is {} here and {} there", say(cache), say(upstream)),
        Some(place) => format!("the cache differs from its upstream: {} has another {place} there", say(cache)),
    };
    Error::new(ErrorCode::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(texts: &[&str]) -> Vec<Item> {
        let item = |text: &&str| {
            let (key, version) = text.rsplit_once('/').unwrap();
            (key.into(), Version::parse(version).unwrap())
        };
        texts.iter().map(item).collect()
    }

    #[test]
    fn chk_01_the_digest_is_fnv_1_over_namespace_name_and_version() {
        for (list, expected) in [
            (&[][..], "cbf29ce484222325"),
            (&["default/pod/2"], "86bf3a5e80d1c5cb"),
            (&["default/pod/3"], "86bf3a5e80d1c5ca"),
            (&["default/pod/4"], "86bf3a5e80d1c5cd"),
            (&["kube-system/pod/2"], "4ae4e750bd825b17"),
            (&["kube-public/pod/2"], "f940a60af965b03"),
            (&["default/pod2/2"], "c9120494e4c1897d"),
            (&["default/pod3/2"], "c9156494e4c46274"),
            (&["Default/pod/2"], "1859bac707c2cb2b"),
            (&["Default/pod/2", "Default/pod/3"], "11d147fc800df0e0"),
        ] {
            assert_eq!(format!("{:x}", digest(&items(list))), expected, "{list:?}");
        }
    }

    #[test]
    fn chk_02_the_first_mismatch_is_told_with_both_sides() {
        let differs = |cache: &[&str], upstream: &[&str]| {
            let Mismatch { index, cache, upstream, .. } = compare(&items(cache), &items(upstream)).unwrap_err();
            let say = |item: Option<Item>| item.map(|(key, version)| format!("{key}/{version}"));
            (index, say(cache), say(upstream))
        };
        let (old, new, more) = ("default/pod/2", "default/pod/3", "default/pod2/4");
        assert_eq!(differs(&[old], &[new]), (0, Some(old.into()), Some(new.into())));
        assert_eq!(differs(&[old], &[old, more]), (1, None, Some(more.into())));
        assert_eq!(differs(&[old, more], &[old]), (1, Some(more.into()), None));
        assert!(compare(&items(&[old, more]), &items(&[old, more])).is_ok());
    }
}
