//! One resource as its users hold it: a handle over the parts that do the work.

use std::cell::RefCell;
use std::rc::Rc;

use super::access::Access;
use super::building::Building;
use super::checker::{Check, Checker, Outcome};
use super::compactor::Compactor;
use super::deletions::Deleting;
use super::driver::Driver;
use super::flusher::Flusher;
use super::index_function::IndexFunction;
use super::lifecycle::{Lifecycle, Parts};
use super::packing::Packing;
use super::progress::Progress;
use super::reads::Reads;
use super::requests::Requests;
use super::resyncs::start_resyncing;
use super::share::Share;
use super::shared_cacher::SharedCacher;
use super::upstream::Upstream;
use super::waits::Waits;
use super::watches::Watches;
use super::writes::{Failure, Writes, Written};
use crate::cache::cacher::Cacher;
use crate::cache::config::{ResourceConfig, Setup};
use crate::cache::flush::Flush;
use crate::cache::list::{List, ListOptions};
use crate::cache::memory::Memory;
use crate::informer::InformerId;
use crate::object::{IndexValues, Object, Pins};
use crate::persist::Keeper;
use crate::reflector::ReflectorHandle;
use crate::runtime::SharedRuntime;
use crate::source::{DeleteOptions, ObjectName, Patch, Source, WriteParameters};
use crate::status::{Error, ErrorCode};
use crate::store::IndexBy;
use crate::time::{Instant, Millis};
use crate::view::{ViewId, ViewOptions};
use crate::watch::{Demand, WatchOptions, WatcherId};

/// A resource. Its methods never call the flush hook before they return.
///
/// Here over a source of one's own, in virtual time:
///
/// ```
/// use std::cell::RefCell;
/// use std::rc::Rc;
///
/// use futures::future::{FutureExt, LocalBoxFuture, ready};
/// use futures::stream::{self, StreamExt};
/// use watchcache::cache::{ListOptions, Resource, ResourceConfig};
/// use watchcache::runtime::virtual_time::VirtualTime;
/// use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
/// use watchcache::status::Error;
/// use watchcache::watch::{Demand, EventKind, WatchOptions};
///
/// /// One pod at version 1, which is updated once.
/// struct Pods;
///
/// impl Source for Pods {
///     fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
///         let page = r#"{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","resourceVersion":"1"}}]}"#;
///         ready(Ok(stream::iter([Ok(page.into())]).boxed_local())).boxed_local()
///     }
///     fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
///         let frame = r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"2"}}}"#;
///         ready(Ok(stream::iter([Ok(frame.into())]).chain(stream::pending()).boxed_local())).boxed_local()
///     }
/// }
///
/// # fn main() -> Result<(), Error> {
/// let time = VirtualTime::new(7);
/// let config = ResourceConfig { check_consistency: false, ..ResourceConfig::named("pods") };
/// let pods = Resource::new(config, Rc::new(Pods), time.clone())?;
/// let told = Rc::new(RefCell::new(Vec::new()));
/// let heard = told.clone();
/// pods.on_flush(move |flush| heard.borrow_mut().extend(flush.outbox.events.iter().map(|event| event.kind)));
/// let watch = pods.watch(WatchOptions { resource_version: Some("1".into()), ..WatchOptions::default() }, true);
/// pods.demand(watch, Demand::All);
/// pods.start();
/// time.advance(1_000);
/// let list = time.run_until(pods.clone().list(ListOptions::default()))?;
/// assert_eq!(list.objects[0].version().to_string(), "2");
/// assert_eq!(*told.borrow(), [EventKind::Modified]);
/// pods.close();
/// # Ok(())
/// # }
/// ```
pub struct Resource {
    config: ResourceConfig,
    runtime: SharedRuntime,
    cacher: Rc<SharedCacher>,
    share: Rc<Share>,
    index_function: Rc<IndexFunction>,
    driver: Rc<Driver>,
    lifecycle: Rc<Lifecycle>,
    reads: Rc<Reads>,
    writes: Writes,
    watches: Rc<Watches>,
    check: Check,
    source: Rc<dyn Source>,
}

impl Resource {
    /// A resource that has not asked for anything yet. Fails with code `invalid` when its configuration makes no sense.
    pub fn new(config: ResourceConfig, source: Rc<dyn Source>, runtime: SharedRuntime) -> Result<Rc<Self>, Error> {
        let polls = source.polls();
        let config = if polls { config.polled() } else { config };
        let Setup { fields, indexes, trigger } = config.read()?;

        // The state, and who hears of it.
        let mut cacher = Cacher::new(fields, config.window, indexes, runtime.now());
        if let Some(path) = trigger {
            cacher.watching().set_trigger(&path);
        }
        if polls {
            cacher.availability_mut().set_polled();
        }
        let joined = source.branches().is_some();
        if joined {
            cacher.set_local();
        }
        let cell = Rc::new(RefCell::new(cacher));
        let share = Share::new(cell.clone());
        let flusher = Flusher::new(cell.clone(), share.clone(), runtime.clone());
        let cacher = SharedCacher::new(flusher.clone(), Building::new(flusher, runtime.clone()));

        // What is asked of the upstream, and of the state once it is there.
        let index_function = Rc::new(IndexFunction::default());
        let progress = Progress::new(source.clone(), runtime.clone());
        let access = Rc::new(Access {
            name: config.name.as_str().into(),
            cacher: cacher.clone(),
            waits: Waits::new(cell.clone(), progress.clone(), runtime.clone()),
            upstream: Upstream::new(source.clone(), cell.clone(), runtime.clone(), config.reflector.page_size),
            index_function: index_function.clone(),
            runtime: runtime.clone(),
        });
        let reads = Reads::new(access.clone());
        let watches = Watches::new(access.clone(), reads.clone());
        let writes = Writes::new(access.clone(), Requests::new(access.clone(), source.clone()));
        let check = Check::new(access);

        // What keeps the state.
        let packing = Packing::new(cell, share.clone(), runtime.clone());
        let driver = Driver::new(cacher.clone(), share.clone(), packing, index_function.clone(), runtime.clone());
        let checker = config.check_consistency.then(|| Checker::new(check.clone()));
        let parts = Parts {
            cacher: cacher.clone(),
            share: share.clone(),
            driver: driver.clone(),
            checker,
            compactor: Compactor::new(cacher.clone(), source.clone(), runtime.clone()),
            progress,
            source: source.clone(),
            runtime: runtime.clone(),
        };
        let lifecycle = Lifecycle::new(parts, config.reflector.clone());
        Ok(Rc::new(Self { config, runtime, cacher, share, index_function, driver, lifecycle, reads, writes, watches, check, source }))
    }

    /// How the resource was set up.
    pub fn config(&self) -> &ResourceConfig {
        &self.config
    }

    /// What its rows show, where it is of rows: see [`Source::columns`].
    pub fn columns(&self) -> Option<Rc<str>> {
        self.source.columns()
    }

    /// How its last watch came: see [`Source::transport`].
    pub fn transport(&self) -> Option<&'static str> {
        self.source.transport()
    }

    /// The time on the monotonic clock that everything here goes by.
    pub fn now(&self) -> Instant {
        self.runtime.now()
    }

    /// Sets who hears of changes. Called with nothing borrowed.
    pub fn on_flush(&self, hook: impl Fn(Flush) + 'static) {
        self.cacher.on_flush(hook);
    }

    /// Sets who computes the values of an object in the computed indexes, where there are any. Called with nothing borrowed, once for each
    /// object that arrives or that a write left, before anybody sees it.
    pub fn on_index(&self, hook: impl Fn(&Rc<Object>) -> IndexValues + 'static) {
        if self.config.indexes.iter().any(|index| matches!(index.by, IndexBy::Computed(_))) {
            self.index_function.set(hook);
        }
    }

    /// Reads or changes the state, and has a flush follow when that left something to tell. No await, no JavaScript inside.
    pub fn with<R>(&self, work: impl FnOnce(&mut Cacher) -> R) -> R {
        self.cacher.with(work)
    }

    // -------------------------------------------------------------------------------------------- its life

    /// Opens the list and the watch. Nothing happens when they are open, and when memory has run out again and again.
    pub fn start(&self) {
        self.lifecycle.start();
    }

    /// Has the state kept in this storage, from which nothing is taken that is older. Called before [`Resource::start`].
    ///
    /// What is there shows before the first list, as stale, and a watch from its version follows in place of that list. Fails with code `invalid`
    /// where the versions of the resource are its own, or where it has begun.
    pub fn persist(&self, keeper: Rc<dyn Keeper>, max_age: Millis) -> Result<(), Error> {
        self.lifecycle.persist(&self.config.name, keeper, max_age)
    }

    /// Completes when the first list is applied, and its watch is open or could not be opened: the phase then says how things stand. A
    /// watch that only takes long is not waited for.
    pub async fn synced(self: Rc<Self>) -> Result<(), Error> {
        self.lifecycle.synced().await
    }

    /// Lists anew; completes when that list is applied.
    pub async fn refresh(self: Rc<Self>) -> Result<(), Error> {
        self.lifecycle.list_anew(ReflectorHandle::refresh).await
    }

    /// The same, and takes the list whatever its version: the server was reset to lower ones.
    pub async fn reset(self: Rc<Self>) -> Result<(), Error> {
        self.cacher.borrow_mut().reset();
        self.lifecycle.list_anew(ReflectorHandle::reset).await
    }

    /// Has these namespaces from now on, and no others. Those that are new are listed, and what is held of those that are gone goes, as changes. Fails
    /// with code `invalid`, and changes nothing, where one cannot be a namespace or the source is not joined of several.
    pub fn set_namespaces(&self, namespaces: &[String]) -> Result<(), Error> {
        let Some(branches) = self.source.branches() else {
            let message = "the namespaces of this resource cannot be changed: it was made without `namespaces`";
            return Err(Error::new(ErrorCode::Invalid, message));
        };
        branches.set(namespaces)?;
        self.lifecycle.follow(&branches);
        Ok(())
    }

    /// Drops the stream, keeps what is held.
    pub fn pause(&self) {
        self.lifecycle.pause();
    }

    /// Drops the stream because nobody uses the resource: what is held stays until memory is short.
    pub fn go_idle(&self) {
        self.lifecycle.go_idle();
    }

    /// Goes on after a pause, or tries at once instead of waiting for the next try. Also where memory had run out, for it or for its views.
    pub fn resume(&self) {
        self.lifecycle.resume();
    }

    /// Somebody has come who may be able to say who asks: what waits for that waits no longer.
    pub fn signed_in(&self) {
        self.lifecycle.signed_in();
    }

    /// Closes for good.
    pub fn close(&self) {
        self.lifecycle.close();
    }

    // ---------------------------------------------------------------------------------------------- memory

    /// Has this resource share a bound with others. Without one there is none.
    pub fn share_memory(&self, memory: &Rc<Memory>) {
        self.lifecycle.share_memory(memory);
    }

    /// Says how much is held, and what has grown beyond the bound gives way. Each message of the reflector does so too: this is for who applies
    /// messages by [`Resource::with`].
    pub fn keep_memory_bound(&self) {
        self.share.keep_bound();
    }

    /// What JavaScript may read by number.
    pub fn pins(&self) -> Rc<Pins> {
        self.cacher.borrow().held().pins().clone()
    }

    /// JavaScript has decoded this object, and asks whether it may hold it for the sake of its next version. It counts from now on.
    pub fn hold_decoded(&self, object: &Object) -> bool {
        let cost = Pins::held_cost(object).filter(|cost| self.share.take_room(*cost));
        if let Some(cost) = cost {
            self.cacher.borrow().held().pins().hold(object.id(), cost);
        }
        cost.is_some()
    }

    /// JavaScript holds so many bytes of frames for the sake of the next ones of their objects. They count from now on. False if it may not.
    pub fn hold_frames(&self, pins: &Pins, bytes: usize) -> bool {
        let may = self.share.take_room(bytes.saturating_sub(pins.frame_bytes()));
        pins.hold_frames(if may { bytes } else { 0 });
        may
    }

    /// JavaScript has collected what it did not hold.
    pub fn collected(&self) {
        self.cacher.borrow_mut().held_mut().collected();
        self.share.keep_bound();
    }

    // ----------------------------------------------------------------------------------- -- who hears of it

    /// Opens a watch. Its interval is captured now where that is possible, else as soon as the cacher is ready and fresh enough.
    pub fn watch(&self, options: WatchOptions, wait: bool) -> WatcherId {
        self.watches.watch(options, wait)
    }

    /// The subscriber takes events from now on in this way.
    pub fn demand(&self, id: WatcherId, demand: Demand) {
        self.cacher.with(|cacher| cacher.dispatcher_mut().demand(id, demand));
        self.driver.room_was_made();
    }

    /// Ends a stream at its user's wish.
    pub fn stop(&self, id: WatcherId) {
        self.cacher.with(|cacher| cacher.watching().stop(id));
        self.driver.room_was_made();
    }

    /// Opens a live view, loaded at once where its rows are found within a slice.
    pub fn open_view(&self, options: &ViewOptions) -> Result<ViewId, Error> {
        self.cacher.open_view(options)
    }

    /// Starts an informer; the stream is opened by [`Resource::start`]. Returns whether it had not started.
    pub fn start_informer(&self, id: InformerId) -> bool {
        let started = self.cacher.with(|cacher| cacher.informing().start(id));
        if started {
            start_resyncing(&self.cacher, &self.runtime, id);
        }
        started
    }

    // ------------------------------------------------------------------------------------ reads and writes

    /// Has consistent reads that the cache cannot serve within 3 s fail with 429 (`true`), or be answered by the upstream (`false`, the
    /// default). Without progress there are none from the cache: the upstream is asked all the same.
    pub fn spare_upstream(&self, spare: bool) {
        self.reads.spare_upstream(spare);
    }

    /// Gets one object: the upstream's newest when no version is asked for, else one that is not older than it. 404 when there is none.
    pub async fn get(self: Rc<Self>, key: String, resource_version: Option<String>) -> Result<Rc<Object>, Error> {
        self.reads.get(&key, resource_version.as_deref()).await
    }

    /// Lists objects in key order.
    ///
    /// Fails with 400 and 422 for options that are wrong, and with 429 where the cacher is not ready and the request may not wait. Fails with 504
    /// when the version asked for does not come, and with 410 when it is gone from here and from the upstream. When the upstream is asked, its
    /// errors come through.
    pub async fn list(self: Rc<Self>, options: ListOptions) -> Result<List, Error> {
        self.reads.list(options).await
    }

    /// Adds an object (a JSON document), and waits until the stream has brought it. The answer is the object as the upstream keeps it.
    ///
    /// With a subresource the document belongs to the object that it names, such as an eviction to a pod.
    ///
    /// Never tried again when its answer is lost: it may have happened.
    pub async fn create(self: Rc<Self>, document: Vec<u8>, parameters: WriteParameters) -> Result<Written, Error> {
        self.writes.create(document, parameters).await
    }

    /// Changes an object, and waits until the stream has brought the change. The answer is the object as the upstream keeps it.
    ///
    /// `change` is called with nothing borrowed, once or several times; it gives the whole changed object, or nothing to leave it alone.
    /// Whatever version it gives, the write replaces the version it was shown and no other.
    pub async fn update<T>(
        self: Rc<Self>,
        key: String,
        parameters: WriteParameters,
        change: impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, T>,
    ) -> Result<Written, Failure<T>> {
        self.writes.update(&key, &parameters, change).await
    }

    /// Has the upstream change an object, whichever version it has, and waits until the stream has brought the change.
    ///
    /// Fails with `invalid` for what no server would take: a document of another form than its type has, an apply without a manager.
    pub async fn patch(self: Rc<Self>, key: String, patch: Patch, parameters: WriteParameters) -> Result<Written, Error> {
        self.writes.patch(&key, patch, parameters).await
    }

    /// An object as it stands upstream, whole; of a source that only lists it is looked for there.
    pub async fn newest(self: Rc<Self>, name: ObjectName) -> Result<Rc<Object>, Error> {
        self.writes.requests.newest(&name, None).await
    }

    /// Gets a subresource as it stands upstream: its document.
    pub async fn get_subresource(self: Rc<Self>, key: String, subresource: String) -> Result<Vec<u8>, Error> {
        self.writes.get_subresource(&key, &subresource).await
    }

    /// Deletes an object, and waits until the stream has told of it. What ends gracefully, or waits for finalizers, is still there then,
    /// with its `deletionTimestamp`.
    pub async fn delete(self: Rc<Self>, key: String, options: DeleteOptions) -> Result<(), Error> {
        self.writes.delete(&key, options).await
    }

    /// Deletes all objects of a part of the resource, and waits until the stream has told of it, as for one.
    pub async fn delete_collection(self: Rc<Self>, deleting: Deleting) -> Result<(), Error> {
        self.writes.delete_collection(deleting).await
    }

    /// An object as a write that went another way left it: informers that read their writes show it.
    pub fn mutated(&self, document: &[u8]) -> Result<(), Error> {
        self.writes.mutated(document)
    }

    /// Compares what is held with the upstream now, and counts how that ended. A difference marks past states as in doubt and is told as an
    /// error; equality clears that.
    pub async fn check_consistency(self: Rc<Self>) -> Outcome {
        self.check.run().await
    }
}
