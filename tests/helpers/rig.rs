//! A resource at work between an upstream in memory and a listener, in virtual time.

use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use watchcache::cache::{List, ListOptions, Resource, ResourceConfig, ResourceStatus};
use watchcache::connection::Phase;
use watchcache::object::Object;
use watchcache::reflector::ReflectorConfig;
use watchcache::relay::WATCH_PACE_MS;
use watchcache::runtime::virtual_time::VirtualTime;
use watchcache::source::Source;
use watchcache::status::Error;
use watchcache::store::IndexSpec;
use watchcache::store::WindowBounds;
use watchcache::time::Millis;
use watchcache::view::{RowRange, ViewId, ViewOptions};
use watchcache::watch::{Demand, EndReason, WatchOptions};

use super::channel::{Channel, relay_over};
use super::client::Client;
use super::upstream::{Shared, Upstream};

/// How a rig is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    pub seed: u64,
    pub window: WindowBounds,
    pub page_size: u32,
    pub resource: &'static str,
    /// Paths that are not kept.
    pub strip: Vec<&'static str>,
    /// Whether the state comes over the watch.
    pub watch_list: bool,
    pub indexes: Vec<IndexSpec>,
    pub check_consistency: bool,
    /// Whether another resource stands between this one and the upstream.
    pub relayed: bool,
    /// How often that one's watches bring something.
    pub pace: Millis,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            window: WindowBounds::default(),
            page_size: 500,
            watch_list: false,
            resource: "pods",
            strip: Vec::new(),
            indexes: Vec::new(),
            check_consistency: false,
            relayed: false,
            pace: WATCH_PACE_MS,
        }
    }
}

impl Setup {
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// A window of a fixed size.
    pub fn window(size: usize) -> Self {
        Self { window: WindowBounds { lower: size, upper: size, ..WindowBounds::default() }, ..Self::default() }
    }
}

/// A resource of its own over this source, behind a channel.
fn relayed(config: &ResourceConfig, source: Rc<dyn Source>, time: &Rc<VirtualTime>, pace: Millis) -> Rc<Channel> {
    let config = ResourceConfig { indexes: Vec::new(), ..config.clone() };
    let resource = Resource::new(config, source.clone(), time.clone()).unwrap();
    resource.start();
    Channel::paced(relay_over(resource, source), time.clone(), pace)
}

/// The rows of a store: key → (version, document).
pub type Rows = BTreeMap<String, (u64, Rc<str>)>;

#[derive(Clone)]
pub struct Rig {
    pub time: Rc<VirtualTime>,
    pub upstream: Rc<Upstream>,
    pub resource: Rc<Resource>,
    pub client: Rc<Client>,
    /// Where another resource stands between this one and the upstream: what leads to it.
    pub channel: Option<Rc<Channel>>,
}

impl Rig {
    /// A resource that has not started over an upstream that `prepare` has seen.
    pub fn idle(setup: Setup, prepare: impl FnOnce(&Upstream)) -> Self {
        fastrand::seed(setup.seed); // of the cacher's ticks
        let time = VirtualTime::new(setup.seed);
        let upstream = Upstream::new(time.clone(), setup.seed);
        prepare(&upstream);
        let source = Rc::new(Shared(upstream.clone()));
        Self::over(&setup, time, upstream, source)
    }

    /// A resource that has not started over this source, which asks this upstream and maybe others.
    pub fn over(setup: &Setup, time: Rc<VirtualTime>, upstream: Rc<Upstream>, source: Rc<dyn Source>) -> Self {
        let config = ResourceConfig {
            window: setup.window,
            reflector: ReflectorConfig {
                page_size: setup.page_size,
                watch_list: setup.watch_list,
                seed: setup.seed,
                ..ReflectorConfig::default()
            },
            indexes: setup.indexes.clone(),
            check_consistency: setup.check_consistency,
            strip: setup.strip.iter().map(|path| (*path).to_owned()).collect(),
            ..ResourceConfig::named(setup.resource)
        };
        let channel = setup.relayed.then(|| relayed(&config, source.clone(), &time, setup.pace));
        let source = channel.as_ref().map_or(source, |channel| channel.remote.clone());
        let resource = Resource::new(config, source, time.clone()).unwrap();
        let client = Rc::new(Client::default());
        let (listener, listened) = (client.clone(), Rc::downgrade(&resource));
        resource.on_flush(move |flush| {
            let resource = listened.upgrade().expect("who flushes is there");
            listener.take(&resource, &flush);
        });
        Self { time, upstream, resource, client, channel }
    }

    /// The same, started and live.
    pub fn new(setup: Setup, prepare: impl FnOnce(&Upstream)) -> Self {
        let rig = Self::idle(setup, prepare);
        rig.resource.start();
        rig.run(0);
        assert_eq!(rig.status().phase, Phase::Live);
        rig
    }

    /// Runs for so long; with 0, what can run now.
    pub fn run(&self, millis: Millis) -> &Self {
        self.time.advance(millis);
        self
    }

    /// Runs until it is done.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.time.run_until(future)
    }

    pub fn status(&self) -> ResourceStatus {
        self.resource.with(|cacher| cacher.status())
    }

    /// The cacher's version.
    pub fn version(&self) -> u64 {
        self.resource.with(|cacher| cacher.version().as_u64().unwrap())
    }

    pub fn rows(&self) -> Rows {
        rows_of(&self.resource)
    }

    /// Opens a watch whose subscriber takes everything.
    pub fn watch(&self, options: WatchOptions) -> usize {
        self.watch_as(options, true, Demand::All)
    }

    pub fn watch_as(&self, options: WatchOptions, wait: bool, demand: Demand) -> usize {
        let id = self.resource.watch(options.clone(), wait);
        let stream = self.client.listen(id, options);
        self.resource.demand(id, demand);
        stream
    }

    pub fn demand(&self, stream: usize, demand: Demand) {
        if let Some(id) = self.client.open(stream) {
            self.resource.demand(id, demand);
        }
    }

    pub fn stop(&self, stream: usize) {
        if let Some(id) = self.client.open(stream) {
            self.resource.stop(id);
        }
    }

    /// What a stream heard since the last call, as text, once all is quiet.
    pub fn heard(&self, stream: usize) -> Vec<String> {
        self.run(0);
        self.client.news(stream).iter().map(|event| format!("{event:?}")).collect()
    }

    pub fn ended(&self, stream: usize) -> Option<EndReason> {
        self.run(0);
        self.client.streams.borrow()[stream].ended
    }

    pub fn refusal(&self, stream: usize) -> Option<Error> {
        self.run(0);
        self.client.streams.borrow()[stream].refusal.clone()
    }

    pub fn resume_from(&self, stream: usize) -> Option<u64> {
        self.client.streams.borrow()[stream].resume_from
    }

    /// Keys with versions in the order of the list, and the list's version.
    pub fn list(&self, options: ListOptions) -> Result<(Vec<String>, u64), Error> {
        let list = self.pages(options)?;
        Ok((list.objects.iter().map(text).collect(), list.version.as_u64().unwrap()))
    }

    /// The same, with all that an answer says.
    pub fn pages(&self, options: ListOptions) -> Result<List, Error> {
        self.wait(self.resource.clone().list(options))
    }

    pub fn get(&self, key: &str, resource_version: Option<&str>) -> Result<String, Error> {
        let found = self.wait(self.resource.clone().get(key.into(), resource_version.map(Into::into)))?;
        Ok(text(&found))
    }

    /// A view of which all rows are looked at.
    pub fn view(&self, options: &ViewOptions) -> ViewId {
        self.resource.with(|cacher| {
            let view = cacher.viewing().open(options).unwrap();
            cacher.views_mut().open_range(view, RowRange::ALL).unwrap();
            view
        })
    }

    /// The whole view, as text.
    pub fn view_rows(&self, view: ViewId) -> Vec<String> {
        view_rows(&self.resource, view)
    }

    /// Has the cacher lose its place: the watch ends, and the version it holds is expired. `missed` happens meanwhile.
    pub fn lose_history(&self, missed: impl FnOnce(&Upstream)) {
        self.run(2000); // a watch that ends sooner is a short one, with another answer
        self.upstream.drop_streams();
        missed(&self.upstream);
        self.upstream.pass(1);
        self.upstream.expire();
        self.run(0);
    }

    /// Ends all faults and waits until the cacher has everything.
    pub fn heal(&self) {
        self.upstream.behave();
        self.resource.resume();
        for _ in 0..30 {
            self.run(30_000);
            if self.status().phase == Phase::Live && self.version() == self.upstream.version() {
                return;
            }
            self.upstream.bookmark();
        }
        panic!("not healed: {:?}, version {} of {}", self.status(), self.version(), self.upstream.version());
    }
}

pub fn rows_of(resource: &Rc<Resource>) -> Rows {
    resource.with(|cacher| cacher.store().iter().map(|object| row(object)).collect())
}

pub fn view_rows(resource: &Rc<Resource>, view: ViewId) -> Vec<String> {
    resource.with(|cacher| {
        cacher.viewing().look(view);
        let view = cacher.views().get(view).expect("an open view");
        (0..view.total()).map(|position| text(view.at(position).unwrap())).collect()
    })
}

fn row(object: &Object) -> (String, (u64, Rc<str>)) {
    let document = String::from_utf8(object.text().to_vec()).unwrap();
    (object.key().to_string(), (object.version().as_u64().unwrap(), document.into()))
}

fn text(object: &Rc<Object>) -> String {
    format!("{object:?}")
}
