//! Pods as JSON and as objects.

use std::cell::RefCell;
use std::rc::Rc;

use watchcache::cache::Cacher;
use watchcache::json::fields::FieldSet;
use watchcache::json::scan::scan_object;
use watchcache::message::Message;
use watchcache::object::Object;
use watchcache::store::Indexes;
use watchcache::store::WindowBounds;
use watchcache::time::{Instant, WallTime};
use watchcache::version::Version;

/// The version of the first list; events count up from it.
pub(crate) const FIRST_VERSION: u64 = 1_000;

/// Events between two idle turns: as many as come at five hundred a second in the half second after which the runtime packs what rests.
pub(crate) const BETWEEN_TURNS: usize = 256;

/// How long a window keeps events, in milliseconds, as the apiserver's does.
const FRESH_MS: u64 = 75_000;

/// The pod at versions that count up, on the node that the watchers want.
pub(crate) fn documents(pod: &[u8], count: usize) -> Vec<String> {
    let mut object: serde_json::Value = serde_json::from_slice(pod).expect("a pod");
    object["spec"]["nodeName"] = "node-0".into();
    (1..=count as u64)
        .map(|i| {
            object["metadata"]["resourceVersion"] = (FIRST_VERSION + i).to_string().into();
            object.to_string()
        })
        .collect()
}

/// An object of a document.
pub(crate) fn object(document: &str, fields: &FieldSet) -> Rc<Object> {
    Object::new(scan_object(document.as_bytes(), fields).expect("JSON")).expect("a name and a version")
}

/// A cacher that holds these and is ready. Nothing is stripped, as in the apiserver.
pub(crate) fn cacher() -> Cacher {
    let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
    Cacher::new(fields, WindowBounds::for_freshness(FRESH_MS), Indexes::default(), Instant::START)
}

/// Gives a cacher its first list.
pub(crate) fn fill(cacher: &mut Cacher, objects: Vec<Rc<Object>>, version: u64) {
    cacher.apply(Message::Replace { objects, version: Version::from(version) }, Instant::START, WallTime::UNIX_EPOCH);
    let _told = cacher.availability_mut().take_signals();
}

/// An idle turn of the host, as the runtime uses it: all that arrived before it is packed.
pub(crate) fn rest(cacher: &mut Cacher) {
    cacher.held_mut().begin_packing();
    while cacher.held_mut().pack_resting() {}
}
