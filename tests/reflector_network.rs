//! What stands between the reflector and its server: sign-ins that run out, proxies that cut and proxies that hold back.

mod common;

use common::replay::Rig;
use common::scenario::{MINUTE, SECOND, config, fill, waits};
use common::upstream::WatchFault;
use watchcache::cache::incoming::Connection;
use watchcache::status::{ErrorCode, Status};

/// Credentials may run out in the midst of a stream: they are asked for anew at once, at the same version, and only refused twice somebody
/// has to sign in.
#[test]
fn an_expired_token_in_the_stream_is_renewed_at_once_and_then_needs_somebody() {
    let rig = Rig::with(82, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    let unauthorized = Status::new(401, "Unauthorized", "the token has expired");
    rig.upstream.send_error(&unauthorized);
    rig.upstream.put("ns", "meanwhile");
    rig.run(0).assert_whole();
    assert_eq!((rig.lists(), rig.watched_from()), (1, vec![103, 103]));
    rig.run(2 * SECOND);
    rig.upstream.send_error(&unauthorized);
    rig.upstream
        .watch_faults
        .borrow_mut()
        .extend([WatchFault::Refuse(unauthorized.clone().into()), WatchFault::Refuse(unauthorized.into())]);
    rig.run(10);
    let refused = rig.replay.borrow().last_connection().cloned();
    let Some(Connection::NeedsAuth { error, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((error.code, rig.watches()), (ErrorCode::Unauthorized, 3));
    rig.run(10 * SECOND).assert_whole();
    assert_eq!(rig.lists(), 1);
}

/// A proxy that ends whatever takes longer than a minute: the next watch follows at once, and nobody is told of a failure.
#[test]
fn a_proxy_that_cuts_after_a_minute_costs_a_watch_a_minute() {
    let rig = Rig::with(83, config(), 0, |upstream| {
        upstream.bookmark_every.set(0);
        fill(upstream, 3);
    });
    for minute in 0..10 {
        rig.run(MINUTE);
        rig.upstream.drop_streams();
        if minute % 3 == 0 {
            rig.upstream.put("ns", &format!("late{minute}"));
        }
        rig.run(0).assert_whole();
    }
    assert_eq!((rig.lists(), rig.watches(), waits(&rig).len()), (1, 11, 0));
}

/// A proxy that holds back what a stream brings until it ends: after one watch that was silent for too long, the next are so short that the
/// server ends them first, and with them all comes that was held back.
#[test]
fn behind_a_proxy_that_buffers_changes_come_with_the_end_of_short_watches() {
    let rig = Rig::with(84, config(), 0, |upstream| {
        upstream.bookmark_every.set(0);
        fill(upstream, 3);
        upstream.buffers.set(true);
    });
    rig.run(30 * SECOND);
    rig.upstream.put("ns", "held-back");
    rig.run(60 * SECOND);
    assert_eq!((rig.watches(), rig.replay.borrow().rows.len()), (2, 3), "given up, with all that it held");
    rig.run(60 * SECOND);
    assert_eq!((rig.watches(), rig.replay.borrow().rows.len()), (3, 4));
    for minute in 0..30 {
        rig.upstream.put("ns", &format!("pod{minute:04}"));
        rig.run(MINUTE);
    }
    rig.run(SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.replay.borrow().errors().len()), (1, 0));
    // It is taken out of the way: watches last again.
    rig.upstream.buffers.set(false);
    rig.run(2 * MINUTE);
    rig.upstream.put("ns", "free");
    rig.run(0).assert_whole();
    rig.upstream.bookmark_every.set(60_000);
    rig.run(2 * MINUTE);
    let watches = rig.watches();
    rig.run(4 * MINUTE);
    assert!(rig.watches() <= watches + 1, "{} after {watches}", rig.watches());
}
