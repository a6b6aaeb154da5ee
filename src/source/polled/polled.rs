//! A source that lists, made one that can be watched.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{self, Either, LocalBoxFuture, WeakShared, select};
use futures::{FutureExt, StreamExt, stream};

use super::state::{State, number_of};
use crate::json::{FieldSet, scan_object, stamp};
use crate::runtime::SharedRuntime;
use crate::source::listed::Listed;
use crate::source::request::{ListRequest, WatchRequest};
use crate::source::source::{FrameStream, PageStream, Source};
use crate::source::write::{ObjectName, WriteRequest};
use crate::status::{Error, ErrorCode, Status};
use crate::time::{Instant, Millis};
use crate::version::Version;

/// How long all pages of one poll may take.
const MAX_POLL_MS: Millis = 60_000;

/// Lists its source every so often, and tells what differs as a watch would.
///
/// A write has it list at once, and so has whoever asks for a list or for the current version. But there are never two lists at once. Who needs a
/// later one than that under way waits for its end, and shares the next one. Versions are those of `state.rs`.
#[derive(Clone)]
pub struct Polled(Rc<Shared>);

type Poll = LocalBoxFuture<'static, Result<(), Error>>;
/// A poll that has begun, for all who wait for it. It goes on as long as one of them does.
type Polling = future::Shared<Poll>;

struct Shared {
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    period: Millis,
    state: RefCell<State>,
    /// Polls that have begun.
    begun: Cell<u64>,
    /// The last one of them.
    last: RefCell<Option<WeakShared<Poll>>>,
    /// When the last one was over that brought a list.
    polled: Cell<Instant>,
    /// A poll later than this one is wanted at once.
    outdated: Cell<u64>,
    /// Those who wait for the next one.
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
}

impl Polled {
    /// Lists this source so long after the last list was there, while somebody watches.
    pub fn new(source: Rc<dyn Source>, runtime: SharedRuntime, period: Millis) -> Self {
        let state = RefCell::new(State::new(!source.is_rendered()));
        Self(Rc::new(Shared {
            source,
            runtime,
            period,
            state,
            begun: Cell::default(),
            last: RefCell::default(),
            polled: Cell::default(),
            outdated: Cell::default(),
            waiting: RefCell::default(),
        }))
    }
}

impl Shared {
    /// Brings a list that is asked for from now on.
    async fn poll(self: &Rc<Self>) -> Result<(), Error> {
        self.reach(self.begun.get() + 1).await
    }

    /// Brings the list of this poll or of a later one. One that is under way is shared, or waited for if it has begun before.
    async fn reach(self: &Rc<Self>, wanted: u64) -> Result<(), Error> {
        while self.state.borrow().taken() < wanted {
            let (number, polling) = self.under_way().unwrap_or_else(|| self.begin());
            let result = polling.await;
            if number >= wanted {
                return result;
            }
        }
        Ok(())
    }

    fn under_way(&self) -> Option<(u64, Polling)> {
        let polling = self.last.borrow().as_ref()?.upgrade()?;
        polling.peek().is_none().then(|| (self.begun.get(), polling))
    }

    fn begin(self: &Rc<Self>) -> (u64, Polling) {
        let number = self.begun.get() + 1;
        self.begun.set(number);
        let shared = self.clone();
        let polling = async move { shared.take(number).await }.boxed_local().shared();
        *self.last.borrow_mut() = polling.downgrade();
        (number, polling)
    }

    /// Lists now, as the poll of this number.
    async fn take(&self, number: u64) -> Result<(), Error> {
        let listed = match select(Listed::of(&*self.source, None, &*self.runtime).boxed_local(), self.runtime.sleep(MAX_POLL_MS)).await {
            Either::Left((listed, _)) => listed?,
            Either::Right(_) => return Err(Error::new(ErrorCode::Timeout, format!("the list was not there within {MAX_POLL_MS} ms"))),
        };
        self.state.borrow_mut().take(number, listed, self.runtime.wall())?;
        self.polled.set(self.runtime.now());
        self.wake();
        Ok(())
    }

    /// Brings a list that is due. Whoever else finds it due has the same one.
    async fn poll_due(self: &Rc<Self>) -> Result<(), Error> {
        let wanted = self.state.borrow().taken().max(self.outdated.get()) + 1;
        self.reach(wanted).await
    }

    /// How long until the next poll is due.
    fn due_in(&self) -> Millis {
        if self.state.borrow().taken() <= self.outdated.get() {
            return 0;
        }
        self.polled.get().saturating_add(self.period).since(self.runtime.now())
    }

    fn wake(&self) {
        for waiting in self.waiting.take() {
            let _gone = waiting.send(());
        }
    }

    /// Something was written: whoever watches lists at once. A poll that has begun before may not show it.
    fn written(&self) {
        self.outdated.set(self.begun.get());
        self.wake();
    }

    fn next_poll(&self) -> oneshot::Receiver<()> {
        let (waiting, woken) = oneshot::channel();
        let mut all = self.waiting.borrow_mut();
        all.retain(|waiting| !waiting.is_canceled());
        all.push(waiting);
        woken
    }

    /// The answer to a write, at the version at which the object is told from then on.
    fn versioned(&self, answer: Vec<u8>) -> Vec<u8> {
        let Ok(object) = scan_object(&answer, &FieldSet::new(Vec::new())) else { return answer };
        let version = self.state.borrow().version_of(object.namespace.as_deref().unwrap_or(""), object.name.as_deref().unwrap_or(""));
        version.and_then(|version| stamp(&answer, &version.to_string())).unwrap_or(answer)
    }
}

/// Who watches.
struct Follower {
    shared: Rc<Shared>,
    /// The version of what he was told last.
    at: u64,
    /// The last poll of which he knows that it is over.
    knows: u64,
}

impl Follower {
    /// What is to be told next: a difference, or how far the last poll has come. Nothing follows an error.
    async fn next(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            {
                let state = self.shared.state.borrow();
                if !state.reaches_back_to(self.at) {
                    return Err(too_old(self.at, &state));
                }
                if let Some((version, frame)) = state.next_after(self.at) {
                    self.at = *version;
                    return Ok(frame.clone());
                }
                if state.taken() > self.knows {
                    (self.at, self.knows) = (state.version(), state.taken());
                    let version = self.at;
                    return Ok(format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}"}}}}}}"#).into_bytes());
                }
            }
            match self.shared.due_in() {
                0 => self.shared.poll_due().await.map_err(|error| lost(&error))?,
                due => drop(select(self.shared.next_poll(), self.shared.runtime.sleep(due)).await),
            }
        }
    }
}

/// A poll failed under an open watch: that ends, and opening it anew says why, with the code of the refusal.
fn lost(error: &Error) -> Error {
    Error::network(format!("a poll failed: {}", error.message))
}

fn too_old(version: u64, state: &State) -> Error {
    Status::too_old(version, state.version()).into()
}

impl Source for Polled {
    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let shared = self.0.clone();
        async move {
            let asked = request.resource_version.as_deref().filter(|_| request.resource_version_match.as_deref() == Some("Exact"));
            match asked.map(|text| number_of(text).unwrap_or_default()) {
                Some(version) if version != shared.state.borrow().version() => return Err(too_old(version, &shared.state.borrow())),
                Some(_) => {}
                None => shared.poll().await?,
            }
            let page = shared.state.borrow().list();
            Ok(stream::once(future::ready(Ok(page))).boxed_local())
        }
        .boxed_local()
    }

    fn watch(&self, request: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let shared = self.0.clone();
        async move {
            if shared.due_in() == 0 {
                shared.poll_due().await?;
            }
            let version = number_of(&request.resource_version).unwrap_or_default();
            if !shared.state.borrow().reaches_back_to(version) {
                return Err(too_old(version, &shared.state.borrow()));
            }
            let follower = Follower { shared, at: version, knows: 0 };
            let frames = stream::unfold(Some(follower), |follower| async move {
                let mut follower = follower?;
                let frame = follower.next().await;
                let more = frame.is_ok().then_some(follower);
                Some((frame, more))
            });
            Ok(frames.boxed_local())
        }
        .boxed_local()
    }

    fn gets(&self) -> bool {
        self.0.source.gets()
    }

    fn selects(&self) -> bool {
        self.0.source.selects()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        self.0.source.get(object, subresource)
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let shared = self.0.clone();
        async move {
            let local = shared.state.borrow().is_local();
            if local && matches!(request, WriteRequest::Update { .. }) {
                let message = "the server gives its objects no versions, so an update could undo what somebody else did: patch the object";
                return Err(Error::new(ErrorCode::Invalid, message));
            }
            let answer = shared.source.write(request).await?;
            if local && shared.poll().await.is_ok() {
                return Ok(shared.versioned(answer));
            }
            // It has happened, whatever the poll says: the next one shows it.
            shared.written();
            Ok(answer)
        }
        .boxed_local()
    }

    fn server(&self) -> Option<String> {
        self.0.source.server()
    }

    fn names_kinds(&self) -> bool {
        self.0.source.names_kinds()
    }

    fn part(&self) -> Option<&'static str> {
        self.0.source.part()
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.0.source.columns()
    }

    fn polls(&self) -> bool {
        true
    }

    fn current_version(&self) -> Option<LocalBoxFuture<'static, Result<Version, Error>>> {
        let shared = self.0.clone();
        let asked = async move {
            shared.poll().await?;
            Ok(Version::from(shared.state.borrow().version()))
        };
        Some(asked.boxed_local())
    }

    fn request_progress(&self) -> Option<LocalBoxFuture<'static, Result<(), Error>>> {
        // Whoever watches hears of each poll, also of one that somebody else asked for.
        Some(future::ready(Ok(())).boxed_local())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::runtime::{Clock, Spawn};

    const PERIOD: Millis = 1_000;

    /// Lists objects of these names, with versions that grow or without any, or refuses. Its lists take time.
    #[derive(Default)]
    struct Lists {
        names: RefCell<Vec<&'static str>>,
        versioned: Cell<bool>,
        refusal: RefCell<Option<Error>>,
        takes: Cell<Millis>,
        lists: Cell<u32>,
        under_way: Cell<u32>,
        most_under_way: Cell<u32>,
    }

    struct Listing(Rc<Lists>, SharedRuntime);

    impl Source for Listing {
        fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
            let (lists, runtime) = (self.0.clone(), self.1.clone());
            async move {
                lists.lists.set(lists.lists.get() + 1);
                lists.under_way.set(lists.under_way.get() + 1);
                lists.most_under_way.set(lists.most_under_way.get().max(lists.under_way.get()));
                runtime.sleep(lists.takes.get()).await;
                lists.under_way.set(lists.under_way.get() - 1);
                if let Some(refusal) = lists.refusal.borrow().clone() {
                    return Err(refusal);
                }
                let version = |number: usize| if lists.versioned.get() { number.to_string() } else { String::new() };
                let item = |(at, name): (usize, &&str)| {
                    format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{}"}}}}"#, version(10 * at + 1))
                };
                let names = lists.names.borrow();
                let items: Vec<_> = names.iter().enumerate().map(item).collect();
                let metadata = format!(r#"{{"resourceVersion":"{}"}}"#, version(10 * names.len()));
                let page = format!(r#"{{"kind":"XList","metadata":{metadata},"items":[{}]}}"#, items.join(","));
                Ok(stream::once(future::ready(Ok(page.into_bytes()))).boxed_local())
            }
            .boxed_local()
        }

        fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
            unreachable!("it can only be listed")
        }

        fn write(&self, _: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
            self.0.names.borrow_mut().push("written");
            future::ready(Ok(br#"{"metadata":{"name":"written"}}"#.to_vec())).boxed_local()
        }
    }

    struct Rig {
        time: Rc<VirtualTime>,
        lists: Rc<Lists>,
        polled: Polled,
        told: Rc<RefCell<Vec<String>>>,
    }

    impl Rig {
        fn new() -> Self {
            let time = VirtualTime::new(1);
            let lists = Rc::new(Lists::default());
            lists.names.borrow_mut().push("a");
            let polled = Polled::new(Rc::new(Listing(lists.clone(), time.clone())), time.clone(), PERIOD);
            Self { time, lists, polled, told: Rc::default() }
        }

        fn version(&self) -> u64 {
            self.polled.0.state.borrow().version()
        }

        fn list(&self) -> Result<String, Error> {
            let page = self.time.run_until(self.polled.list(ListRequest::default()))?;
            let pages: Vec<_> = self.time.run_until(page.collect());
            Ok(String::from_utf8(pages.into_iter().next().unwrap().unwrap()).unwrap())
        }

        /// Notes what a watch from this version tells.
        fn watch(&self, version: u64) -> Result<(), Error> {
            let request = WatchRequest { resource_version: version.to_string(), ..WatchRequest::default() };
            let mut frames = self.time.run_until(self.polled.watch(request))?;
            let told = self.told.clone();
            self.time.spawn(
                async move {
                    while let Some(frame) = frames.next().await {
                        let shown = match frame {
                            Ok(frame) => {
                                let frame: serde_json::Value = serde_json::from_slice(&frame).unwrap();
                                let name = frame["object"]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                                format!("{} {name}", frame["type"].as_str().unwrap())
                            }
                            Err(error) => format!("{:?}: {}", error.code, error.message),
                        };
                        told.borrow_mut().push(shown.trim_end().to_owned());
                    }
                    told.borrow_mut().push("end".into());
                }
                .boxed_local(),
            );
            Ok(())
        }

        fn told(&self) -> Vec<String> {
            self.told.take()
        }
    }

    #[test]
    fn what_differs_between_two_lists_is_told_once_and_each_list_says_how_far_it_is() {
        let rig = Rig::new();
        rig.list().unwrap();
        rig.watch(rig.version()).unwrap();
        rig.time.advance(0);
        assert_eq!(rig.told(), ["BOOKMARK"]);
        rig.lists.names.borrow_mut().push("b");
        rig.time.advance(PERIOD - 1);
        assert_eq!((rig.lists.lists.get(), rig.told().len()), (1, 0));
        rig.time.advance(1);
        assert_eq!(rig.told(), ["ADDED b", "BOOKMARK"]);
        rig.lists.names.borrow_mut().remove(0);
        rig.time.advance(3 * PERIOD);
        assert_eq!(rig.told(), ["DELETED a", "BOOKMARK", "BOOKMARK", "BOOKMARK"]);
        assert_eq!(rig.lists.lists.get(), 5);
    }

    #[test]
    fn a_list_that_takes_longer_than_the_period_delays_the_next_one() {
        let rig = Rig::new();
        rig.list().unwrap();
        rig.lists.takes.set(5 * PERIOD);
        rig.watch(rig.version()).unwrap();
        rig.time.advance(60 * PERIOD);
        assert_eq!((rig.lists.most_under_way.get(), rig.lists.lists.get()), (1, 1 + 10));
    }

    #[test]
    fn there_are_never_two_lists_at_once_whoever_asks() {
        let rig = Rig::new();
        rig.list().unwrap();
        rig.lists.takes.set(PERIOD / 2);
        for _ in 0..3 {
            rig.watch(rig.version()).unwrap();
        }
        rig.time.advance(PERIOD);
        rig.told();
        assert_eq!((rig.lists.most_under_way.get(), rig.lists.lists.get()), (1, 2), "one poll for all who watch");
        // Amid that poll a list is asked for twice: it has begun too early for them, and they share the next one.
        rig.lists.names.borrow_mut().push("b");
        let asked = Rc::new(RefCell::new(Vec::new()));
        for _ in 0..2 {
            let (list, asked) = (rig.polled.list(ListRequest::default()), asked.clone());
            let listed = async move {
                let listed = list.await.is_ok();
                asked.borrow_mut().push(listed);
            };
            rig.time.spawn(listed.boxed_local());
        }
        rig.time.advance(PERIOD);
        assert_eq!((rig.lists.most_under_way.get(), rig.lists.lists.get()), (1, 3));
        assert_eq!(*asked.borrow(), [true, true]);
        assert_eq!(rig.told().iter().filter(|told| *told == "ADDED b").count(), 3);
    }

    #[test]
    fn a_poll_goes_on_for_the_others_when_who_began_it_goes() {
        let rig = Rig::new();
        rig.lists.takes.set(PERIOD);
        let mut first = rig.polled.list(ListRequest::default());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(first.as_mut().poll(&mut context).is_pending());
        let mut watch = rig.polled.watch(WatchRequest::default());
        assert!(watch.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert_eq!(rig.time.run_until(watch).err().map(|error| error.code), Some(ErrorCode::Expired));
        assert_eq!((rig.lists.lists.get(), rig.lists.most_under_way.get()), (1, 1));
        // Nobody waits any more: it is over, and the next one need not wait for it.
        let mut alone = rig.polled.list(ListRequest::default());
        assert!(alone.as_mut().poll(&mut context).is_pending());
        drop(alone);
        assert!(rig.list().is_ok());
        assert_eq!(rig.lists.lists.get(), 3);
    }

    #[test]
    fn a_list_that_somebody_asks_for_is_told_to_who_watches_as_well() {
        let rig = Rig::new();
        rig.list().unwrap();
        rig.watch(rig.version()).unwrap();
        rig.time.advance(0);
        rig.told();
        rig.lists.names.borrow_mut().push("b");
        assert!(rig.list().unwrap().contains("\"b\""));
        rig.time.advance(0);
        assert_eq!(rig.told(), ["ADDED b", "BOOKMARK"]);
        rig.time.advance(PERIOD - 1);
        assert_eq!(rig.told().len(), 0, "the period begins anew");
    }

    fn patch() -> WriteRequest {
        let patch = crate::source::Patch { kind: crate::source::PatchType::Merge, document: b"{}".to_vec(), force: false };
        let object = ObjectName { namespace: String::new(), name: "written".into() };
        WriteRequest::Patch { object, patch, parameters: Default::default() }
    }

    #[test]
    fn a_write_to_a_server_with_versions_is_shown_at_once_and_its_answer_stays_as_it_is() {
        let rig = Rig::new();
        rig.lists.versioned.set(true);
        rig.list().unwrap();
        rig.watch(rig.version()).unwrap();
        rig.time.advance(0);
        rig.told();
        let answer = rig.time.run_until(rig.polled.write(patch())).unwrap();
        assert_eq!(answer, br#"{"metadata":{"name":"written"}}"#);
        rig.time.advance(0);
        assert_eq!(rig.told(), ["ADDED written", "BOOKMARK"]);
        assert_eq!((rig.version(), rig.lists.lists.get()), (20, 2), "one list for the write");
    }

    #[test]
    fn a_write_is_shown_at_once_at_the_version_of_its_answer() {
        let rig = Rig::new();
        rig.list().unwrap();
        rig.watch(rig.version()).unwrap();
        rig.time.advance(0);
        rig.told();
        let object = ObjectName { namespace: String::new(), name: "written".into() };
        let answer = String::from_utf8(rig.time.run_until(rig.polled.write(patch())).unwrap()).unwrap();
        assert_eq!(answer, format!(r#"{{"metadata":{{"resourceVersion":"{}","name":"written"}}}}"#, rig.version()));
        rig.time.advance(0);
        assert_eq!(rig.told(), ["ADDED written", "BOOKMARK"]);
        assert_eq!(rig.lists.lists.get(), 2, "one list for the write");
        let update = WriteRequest::Update { object, document: b"{}".to_vec(), parameters: Default::default() };
        let error = rig.time.run_until(rig.polled.write(update)).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
    }

    #[test]
    fn a_poll_that_fails_ends_the_watch_and_the_next_one_is_refused_as_the_list_is() {
        let rig = Rig::new();
        rig.list().unwrap();
        let before = rig.version();
        rig.watch(before).unwrap();
        rig.time.advance(0);
        rig.told();
        *rig.lists.refusal.borrow_mut() = Some(Status::new(403, "Forbidden", "no more").into());
        rig.time.advance(PERIOD);
        assert_eq!(rig.told(), ["Network: a poll failed: no more", "end"]);
        assert_eq!(rig.watch(before).unwrap_err().code, ErrorCode::Forbidden);
        assert_eq!(rig.list().unwrap_err().code, ErrorCode::Forbidden);
        *rig.lists.refusal.borrow_mut() = None;
        rig.lists.names.borrow_mut().push("b");
        rig.watch(before).unwrap();
        rig.time.advance(0);
        assert_eq!(rig.told(), ["ADDED b", "BOOKMARK"], "it goes on where it was");
    }

    #[test]
    fn a_list_that_does_not_come_is_given_up() {
        let rig = Rig::new();
        rig.lists.takes.set(MAX_POLL_MS + 1);
        assert_eq!(rig.list().unwrap_err().code, ErrorCode::Timeout);
    }

    #[test]
    fn who_asks_for_what_is_not_known_any_more_is_told_so() {
        let rig = Rig::new();
        rig.list().unwrap();
        assert_eq!(rig.watch(1).unwrap_err().code, ErrorCode::Expired);
        assert_eq!(rig.watch(rig.version() + 1).unwrap_err().code, ErrorCode::Expired);
        let exact = |version: u64| ListRequest {
            resource_version: Some(version.to_string()),
            resource_version_match: Some("Exact".into()),
            ..ListRequest::default()
        };
        let asked = rig.lists.lists.get();
        assert!(rig.time.run_until(rig.polled.list(exact(rig.version()))).is_ok());
        assert_eq!(rig.lists.lists.get(), asked, "what is held needs no list");
        assert_eq!(rig.time.run_until(rig.polled.list(exact(1))).err().map(|error| error.code), Some(ErrorCode::Expired));
        assert_eq!(rig.version(), rig.time.wall().as_unix_millis(), "versions begin with the wall clock");
    }
}
