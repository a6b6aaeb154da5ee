//! What stands between the reflector and its server. Connections break or fall silent, sign-ins run out, and proxies cut streams or hold
//! them back.

use crate::helpers::replay::ReflectorRig;
use crate::helpers::scenario::{MINUTE, SECOND, config, fill, status, waits};
use crate::helpers::upstream::{ListFault, WatchFault};
use watchcache::connection::Connection;
use watchcache::status::{Error, ErrorCode, Status};

/// Credentials may run out in the midst of a stream. The watch is then asked for at once with new ones, at the same version. Only when
/// those are refused as well, somebody has to sign in.
#[test]
fn an_expired_token_in_the_stream_is_renewed_at_once_and_then_needs_somebody() {
    let rig = ReflectorRig::with(82, config(), 0, |upstream| fill(upstream, 3));
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
    let rig = ReflectorRig::with(83, config(), 0, |upstream| {
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

/// A proxy holds back what a stream brings until the stream ends. After one watch that was silent for too long, the next ones are so short
/// that the server ends them first. With their end comes all that was held back.
#[test]
fn behind_a_proxy_that_buffers_changes_come_with_the_end_of_short_watches() {
    let rig = ReflectorRig::with(84, config(), 0, |upstream| {
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
    // Without the proxy watches last again.
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

/// The error that breaks a stream is told, and the next try comes at once. An orderly end of a stream is not told.
#[test]
fn a_stream_that_broke_is_resumed_at_once_and_says_why() {
    let rig = ReflectorRig::with(11, config(), 0, |upstream| fill(upstream, 1));
    rig.run(2 * SECOND);
    rig.upstream.break_streams(&Error::network("reset by peer"));
    rig.run(0).assert_whole();
    rig.run(2 * SECOND);
    rig.upstream.drop_streams();
    rig.run(0).assert_whole();
    let replay = rig.replay.borrow();
    let lost: Vec<Option<String>> = replay
        .connections()
        .filter_map(|(_, connection)| match connection {
            Connection::Reconnecting { lost } => Some(lost.as_ref().map(|error| error.message.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(lost, [Some("reset by peer".into()), None]);
    assert_eq!((rig.lists(), rig.watched_from()), (1, vec![101; 3]));
    assert!(waits(&rig).is_empty());
}

/// Each stream brings something before it breaks, so none of them is to blame, however soon after each other they break.
#[test]
fn rf_39_streams_that_break_again_and_again_are_each_resumed_without_a_wait() {
    let rig = ReflectorRig::with(85, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    let mut random = fastrand::Rng::with_seed(85);
    for cut in 0..300 {
        rig.run(random.u64(0..=if cut % 3 == 0 { 0 } else { 1_500 }));
        rig.upstream.break_streams(&Error::network("reset by peer"));
        rig.upstream.put("ns", &format!("pod{cut}"));
        rig.run(0).assert_whole();
    }
    assert_eq!((rig.lists(), rig.watches()), (1, 301));
    assert!(waits(&rig).is_empty());
}

#[test]
fn rf_34_a_silent_watch_is_taken_for_dead() {
    let rig = ReflectorRig::with(27, config(), 0, |upstream| fill(upstream, 1));
    rig.run(10 * SECOND);
    rig.upstream.freeze_streams();
    rig.upstream.put("ns", "unheard");
    rig.run(79 * SECOND);
    assert_eq!(rig.watches(), 1);
    rig.run(SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 2));
    assert_eq!(rig.watched_from()[1], 101);
    let replay = rig.replay.borrow();
    let said = replay.connections().find(|(_, said)| matches!(said, Connection::Reconnecting { lost: Some(_) }));
    let Some((_, Connection::Reconnecting { lost: Some(error) })) = said else { panic!("{said:?}") };
    assert_eq!(error.message, "the watch has brought nothing for 90 s");
}

#[test]
fn a_watch_or_list_that_never_opens_is_given_up() {
    let rig = ReflectorRig::with(28, config(), 0, |upstream| {
        fill(upstream, 1);
        upstream.list_faults.borrow_mut().extend([ListFault::Hang, ListFault::Stall(30)]);
        upstream.watch_faults.borrow_mut().push_back(WatchFault::Hang);
    });
    rig.run(5 * MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (3, 2));
    let messages: Vec<String> = rig.replay.borrow().errors().iter().map(|error| error.message.clone()).collect();
    assert_eq!(messages, ["the server has not answered the list for 90 s", "the list has hardly moved for 90 s"]);
    // Of the watch it was told twice: that it has not opened, and that it is given up.
    assert_eq!(waits(&rig).len(), 4);
}

/// A byte now and then is no progress: the whole of it would take hours, and nobody would be told.
#[test]
fn a_list_that_trickles_is_given_up_and_one_that_is_only_slow_is_not() {
    let rig = ReflectorRig::with(43, config(), 0, |upstream| {
        fill(upstream, 20);
        upstream.list_faults.borrow_mut().push_back(ListFault::Trickle(10 * SECOND));
    });
    rig.run(5 * MINUTE).assert_whole();
    assert_eq!(rig.lists(), 2);
    let messages: Vec<String> = rig.replay.borrow().errors().iter().map(|error| error.message.clone()).collect();
    assert_eq!(messages, ["the list has hardly moved for 90 s"]);

    // A kilobyte in less than 90 seconds.
    let rig = ReflectorRig::with(44, config(), 0, |upstream| {
        fill(upstream, 20);
        upstream.list_faults.borrow_mut().push_back(ListFault::Trickle(80));
    });
    rig.run(10 * MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.replay.borrow().errors().len()), (1, 0));
}

/// Until then rows would look as if somebody told of changes.
#[test]
fn a_watch_that_does_not_open_is_told_soon_and_asked_for_anew_by_who_resumes() {
    let rig = ReflectorRig::with(29, config(), 0, |upstream| {
        fill(upstream, 1);
        upstream.watch_faults.borrow_mut().extend((0..2).map(|_| WatchFault::Hang));
    });
    rig.run(5 * SECOND - 1);
    assert!(waits(&rig).is_empty());
    rig.run(SECOND);
    let told = rig.replay.borrow().connections().last().map(|(_, told)| told.clone());
    let Some(Connection::Waiting { attempt: 0, error, .. }) = told else { panic!("{told:?}") };
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Network, "the watch has not opened for 5 s"));
    rig.handle.resume();
    rig.run(SECOND);
    assert_eq!(rig.watches(), 2);
    // That one does not open either, and at first nobody knows it.
    rig.handle.resume();
    rig.run(SECOND);
    assert_eq!(rig.watches(), 2);
    rig.run(5 * SECOND);
    rig.handle.resume();
    rig.run(SECOND).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 3));
}

/// client-go's transport tries ten times and then gives an empty watch, so that a list follows. A browser cannot tell a lost connection
/// from a refused one. Over a network that is away, a list does no better than a watch. So the watch is tried at its version for as long as
/// it takes.
#[test]
fn rf_38_a_watch_whose_connections_all_break_is_tried_again_at_its_version() {
    let rig = ReflectorRig::with(81, config(), 0, |upstream| {
        fill(upstream, 3);
        let eof = || WatchFault::Refuse(Error::network("unexpected end of the answer"));
        upstream.watch_faults.borrow_mut().extend((0..11).map(|_| eof()));
    });
    rig.run(10 * MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 12));
    assert!(rig.watched_from().iter().all(|version| *version == 103));
    assert_eq!(waits(&rig).len(), 11);
}

#[test]
fn a_gateway_in_trouble_is_waited_for() {
    let rig = ReflectorRig::with(31, config(), 0, |upstream| {
        fill(upstream, 1);
        let fault = |code| WatchFault::Refuse(status(code, ""));
        upstream.watch_faults.borrow_mut().extend([fault(502), fault(503), fault(504)]);
    });
    rig.run(MINUTE).assert_whole();
    assert_eq!((rig.lists(), rig.watches()), (1, 4));
}

#[test]
fn js_04_it_recovers_by_itself_from_everything_that_passes() {
    for error in [Error::network("reset"), status(429, "TooManyRequests"), status(503, "ServiceUnavailable"), status(408, "Timeout")] {
        let rig = ReflectorRig::with(32, config(), 0, |upstream| fill(upstream, 4));
        rig.run(2 * SECOND);
        rig.upstream.watch_faults.borrow_mut().push_back(WatchFault::Refuse(error));
        rig.upstream.drop_streams();
        rig.run(10);
        assert!(matches!(rig.replay.borrow().last_connection(), Some(Connection::Waiting { attempt: 1, .. })));
        rig.run(2 * SECOND).assert_whole();
        assert_eq!(rig.lists(), 1);
    }
}

#[test]
fn js_06_an_idle_hour_needs_few_connections_and_misses_nothing() {
    let rig = ReflectorRig::with(35, config(), 0, |upstream| fill(upstream, 1));
    for minute in 0..60 {
        rig.run(MINUTE);
        if minute % 7 == 0 {
            rig.upstream.put("ns", &format!("late{minute}"));
            rig.run(SECOND).assert_whole();
        }
    }
    assert_eq!(rig.lists(), 1);
    assert!((7..=13).contains(&rig.watches()), "{}", rig.watches());
    assert!(waits(&rig).is_empty());
}
