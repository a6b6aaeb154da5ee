//! What waiting does not cure: what a server does not do at all, and mistakes on this side.

use watchcache::cache::signal;
use watchcache::connection::Phase;
use watchcache::status::{Error, ErrorCode, Status};

use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Upstream, WatchFault};

fn not_allowed() -> Error {
    Status::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource").into()
}

/// A mistake that no server was asked about.
fn mistake() -> Error {
    Error::new(ErrorCode::Invalid, "auth: token is a text, not a value of type number")
}

/// A resource that is refused for ever.
fn refused(refuse: impl Fn(&Upstream)) -> Rig {
    let rig = Rig::idle(Setup::default(), |upstream| (0..1000).for_each(|_| refuse(upstream)));
    rig.resource.start();
    rig.run(0);
    rig
}

fn asked(rig: &Rig) -> usize {
    rig.upstream.requests.borrow().len()
}

/// Whether subscribers were told of an error since the last call.
fn told(rig: &Rig) -> bool {
    rig.client.signals.replace(0) & signal::ERROR != 0
}

#[test]
fn what_the_server_does_not_allow_is_invalid_and_asked_for_only_when_somebody_asks() {
    let list = refused(|upstream| upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(not_allowed())));
    let watch = refused(|upstream| upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(not_allowed())));
    // The watch comes after a list.
    for (rig, each) in [(list, 1), (watch, 2)] {
        rig.run(3_600_000);
        let status = rig.status();
        assert_eq!((status.phase, status.error.map(|error| error.code)), (Phase::Failed, Some(ErrorCode::Invalid)));
        assert!(!ErrorCode::Invalid.retryable());
        assert_eq!((asked(&rig), status.retry_at), (each, None));
        rig.resource.resume();
        rig.run(3_600_000);
        assert_eq!(asked(&rig), 2 * each, "somebody may allow it");
    }
}

#[test]
fn a_mistake_on_this_side_is_told_once_and_tried_again_only_when_somebody_asks() {
    let rig = refused(|upstream| upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(mistake())));
    assert_eq!((asked(&rig), told(&rig)), (1, true));
    rig.run(3_600_000);
    let status = rig.status();
    assert_eq!((status.phase, status.error, status.retry_at), (Phase::Failed, Some(mistake()), None));
    assert_eq!((asked(&rig), told(&rig)), (1, false), "neither asked nor told again");
    for times in 2..5 {
        rig.resource.resume();
        rig.run(10_000);
        assert_eq!((asked(&rig), told(&rig)), (times, false), "asked when somebody wants it, and no news");
        assert_eq!((rig.status().phase, rig.status().error), (Phase::Failed, Some(mistake())));
    }
    rig.upstream.list_faults.borrow_mut().clear();
    // The fourth within a minute comes when that is over.
    rig.resource.resume();
    rig.run(29_000);
    assert_eq!(asked(&rig), 4);
    rig.run(2_000);
    assert_eq!((rig.status().phase, rig.status().error), (Phase::Live, None));
}

#[test]
fn a_mistake_that_comes_later_leaves_what_is_held() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "x");
    });
    rig.run(2000);
    rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(mistake()));
    rig.upstream.drop_streams();
    rig.run(600_000);
    let status = rig.status();
    assert_eq!((status.phase, status.stale, status.retry_at), (Phase::Failed, true, None));
    assert_eq!(rig.rows().len(), 1);
    assert!(rig.time.elapsed() > 600_000);
    rig.resource.resume();
    rig.run(10_000);
    assert_eq!(rig.status().phase, Phase::Live);
}
