//! What the upstream in memory tells of itself on request: its version, its progress, what it has compacted.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use watchcache::status::Error;
use watchcache::time::Millis;
use watchcache::version::Version;

use super::Upstream;

/// Whether and how it tells what it has compacted.
#[derive(Default)]
pub struct Compaction {
    pub tells: Cell<bool>,
    /// Whether it leaves the question without an answer.
    pub hangs: Cell<bool>,
    /// When it was asked.
    pub asked: RefCell<Vec<Millis>>,
    /// How many watches were refused because their version was gone.
    pub refused: Cell<usize>,
}

type Asked<T> = Option<LocalBoxFuture<'static, Result<T, Error>>>;

pub(super) fn current_version(upstream: &Rc<Upstream>) -> Asked<Version> {
    let asked = upstream.clone();
    upstream.tells_progress.get().then(|| {
        async move {
            asked.asked.borrow_mut().0.push(asked.time.elapsed());
            asked.wait().await;
            Ok(Version::from(asked.version()))
        }
        .boxed_local()
    })
}

pub(super) fn request_progress(upstream: &Rc<Upstream>) -> Asked<()> {
    let asked = upstream.clone();
    upstream.tells_progress.get().then(|| {
        async move {
            asked.asked.borrow_mut().1.push(asked.time.elapsed());
            asked.bookmark();
            Ok(())
        }
        .boxed_local()
    })
}

pub(super) fn compacted_version(upstream: &Rc<Upstream>) -> Asked<Version> {
    let asked = upstream.clone();
    upstream.compaction.tells.get().then(|| {
        async move {
            asked.compaction.asked.borrow_mut().push(asked.time.elapsed());
            if asked.compaction.hangs.get() {
                std::future::pending::<()>().await;
            }
            Ok(Version::from(asked.compacted()))
        }
        .boxed_local()
    })
}
