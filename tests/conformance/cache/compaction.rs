//! What the upstream has compacted is not served from here either, where it can be asked.

use std::rc::Rc;

use watchcache::cache::{COMPACTION_INTERVAL_MS as PERIOD_MS, ListOptions};
use watchcache::relay::Relay;
use watchcache::source::Source;
use watchcache::status::{Error, ErrorCode};
use watchcache::version::Version;

use super::lists::lists;
use crate::helpers::channel::{Channel, relay_over};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::Shared;

fn exactly(version: u64) -> ListOptions {
    ListOptions { resource_version: Some(version.to_string()), resource_version_match: Some("Exact".into()), ..ListOptions::default() }
}

fn refused(rig: &Rig, options: ListOptions) -> Error {
    let error = rig.list(options).unwrap_err();
    assert_eq!((error.code, error.status.as_ref().map(|status| status.code)), (ErrorCode::Expired, Some(410)));
    error
}

/// Objects at 101 to 104, and an upstream that has forgotten what lies before 103.
fn compacted(tells: bool) -> Rig {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.compaction.tells.set(tells);
        upstream.pass(1);
    });
    for name in ["a", "b", "c"] {
        rig.upstream.put("ns", name);
    }
    rig.run(0);
    assert_eq!(rig.version(), 104);
    rig.upstream.expire_to(103);
    rig
}

#[test]
fn snp_09_what_the_upstream_has_compacted_is_gone_here_too() {
    let rig = compacted(true);
    let before = lists(&rig);
    assert_eq!(rig.list(exactly(102)).unwrap(), (vec!["ns/a@102".to_owned()], 102));
    assert_eq!(lists(&rig), before, "nobody has asked yet");

    rig.run(PERIOD_MS);
    let before = lists(&rig);
    let error = refused(&rig, exactly(102));
    assert_eq!(error.message, "The resourceVersion for the provided list is too old.");
    assert_eq!(lists(&rig), before + 1, "the upstream says so");
    for version in [103, 104] {
        assert_eq!(rig.list(exactly(version)).unwrap().1, version);
    }
    assert_eq!(lists(&rig), before + 1, "what the upstream serves is still served here");
}

#[test]
fn snp_09_a_token_of_a_compacted_version_is_410_and_tells_how_to_go_on() {
    let rig = compacted(true);
    rig.upstream.put("ns", "d");
    rig.run(0);
    let limit = |version: u64| ListOptions { resource_version: Some(version.to_string()), limit: 1, ..ListOptions::default() };
    let token = rig.pages(limit(104)).unwrap().continue_token;
    let further = || ListOptions { continue_token: token.clone(), ..ListOptions::default() };
    assert_eq!(rig.list(further()).unwrap(), (vec!["ns/b@103".to_owned(), "ns/c@104".to_owned()], 104));
    rig.upstream.expire();
    rig.run(PERIOD_MS);
    let error = refused(&rig, further());
    assert!(error.message.starts_with("The provided continue parameter is too old to display a consistent list result"));
    assert!(error.status.unwrap().metadata.continue_token.is_some());
}

#[test]
fn snp_09_it_is_asked_each_15_seconds_while_the_resource_is_open() {
    let rig = compacted(true);
    let asked = || rig.upstream.compaction.asked.borrow().clone();
    let opened = rig.time.elapsed();
    rig.run(PERIOD_MS - 1);
    assert!(asked().is_empty());
    rig.run(1);
    rig.run(2 * PERIOD_MS);
    assert_eq!(asked(), [1, 2, 3].map(|times| opened + times * PERIOD_MS));
    rig.resource.pause();
    rig.run(2 * PERIOD_MS);
    assert_eq!(asked().len(), 3, "not while it is paused");
    rig.resource.resume();
    rig.run(0);
    assert_eq!(asked().len(), 4, "what was compacted meanwhile is asked at once");
    rig.resource.resume();
    rig.run(PERIOD_MS - 1);
    assert_eq!(asked().len(), 4, "who resumes what is not paused asks for nothing");
    rig.run(1);
    assert_eq!(asked().len(), 5);
    rig.resource.close();
    rig.run(2 * PERIOD_MS);
    assert_eq!(asked().len(), 5, "nor when it is closed");
}

#[test]
fn snp_09_an_upstream_that_does_not_tell_is_not_asked() {
    let rig = compacted(false);
    rig.run(3 * PERIOD_MS);
    assert!(rig.upstream.compaction.asked.borrow().is_empty());
    let before = lists(&rig);
    assert_eq!(rig.list(exactly(102)).unwrap(), (vec!["ns/a@102".to_owned()], 102));
    assert_eq!(lists(&rig), before);
}

#[test]
fn snp_09_a_question_without_an_answer_is_followed_by_the_next() {
    let rig = compacted(true);
    rig.upstream.compaction.hangs.set(true);
    rig.run(PERIOD_MS);
    rig.upstream.compaction.hangs.set(false);
    assert_eq!(rig.list(exactly(102)).unwrap().1, 102, "nothing is known");
    rig.run(2 * PERIOD_MS);
    assert_eq!(rig.upstream.compaction.asked.borrow().len(), 2);
    refused(&rig, exactly(102));
}

/// What leads to the resource of a rig: directly, and behind a channel.
fn ways(rig: &Rig) -> (Rc<Relay>, Rc<Channel>) {
    let relay = relay_over(rig.resource.clone(), Rc::new(Shared(rig.upstream.clone())));
    (relay.clone(), Channel::new(relay, rig.time.clone()))
}

/// Who has it as source, by each way.
fn tabs(rig: &Rig, relay: &Rc<Relay>, channel: &Channel) -> [Rig; 2] {
    [relay.clone() as Rc<dyn Source>, channel.remote.clone()].map(|source| {
        let tab = Rig::over(&Setup::default(), rig.time.clone(), rig.upstream.clone(), source);
        tab.resource.start();
        tab.run(10);
        tab
    })
}

#[test]
fn snp_09_who_shares_a_stream_is_told_what_is_gone_and_asks_nobody() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.compaction.tells.set(true);
        upstream.pass(1);
    });
    let (relay, channel) = ways(&rig);
    let tabs = tabs(&rig, &relay, &channel);
    ["a", "b", "c"].iter().for_each(|name| _ = rig.upstream.put("ns", name));
    rig.run(10);
    rig.upstream.expire_to(103);
    let before = lists(&rig);
    for tab in &tabs {
        assert_eq!(tab.list(exactly(102)).unwrap(), (vec!["ns/a@102".to_owned()], 102));
    }
    assert_eq!(lists(&rig), before, "nobody has asked yet");

    rig.run(PERIOD_MS);
    assert_eq!(rig.upstream.compaction.asked.borrow().len(), 1, "one asks for all");
    for tab in &tabs {
        let before = lists(&rig);
        assert_eq!(refused(tab, exactly(102)), refused(&rig, exactly(102)));
        assert_eq!(lists(&rig), before + 2, "the upstream says so");
        for version in [103, 104] {
            assert_eq!(tab.list(exactly(version)).unwrap().1, version);
        }
        assert_eq!(lists(&rig), before + 2, "what the upstream serves is still served here");
    }
}

/// What comes after its first list may be compacted all the same: the stream may be behind.
#[test]
fn snp_09_who_comes_late_to_a_stream_is_told_what_is_gone() {
    let rig = compacted(true);
    let (relay, channel) = ways(&rig);
    rig.resource.with(|cacher| cacher.compact(Version::from(106)));
    rig.run(10);
    let tabs = tabs(&rig, &relay, &channel);
    assert_eq!(tabs.each_ref().map(|tab| tab.version()), [104, 104]);
    ["d", "e", "f"].iter().for_each(|name| _ = rig.upstream.put("ns", name));
    rig.run(10);
    rig.upstream.expire_to(106);
    for tab in &tabs {
        assert_eq!((tab.version(), rig.version()), (107, 107));
        refused(tab, exactly(105));
        let before = lists(&rig);
        assert_eq!(tab.list(exactly(106)).unwrap().1, 106);
        assert_eq!(lists(&rig), before);
    }
}

/// Its own list forgets what it knew, and the relay has told it once.
#[test]
fn snp_09_who_lists_anew_at_a_stream_still_knows_what_is_gone() {
    let rig = compacted(true);
    let (relay, channel) = ways(&rig);
    let tabs = tabs(&rig, &relay, &channel);
    // Other keys of the same storage have gone on, and what is held is of a version that is gone.
    rig.upstream.pass(20);
    rig.upstream.expire_to(114);
    rig.run(PERIOD_MS);
    for tab in &tabs {
        refused(tab, exactly(104));
        rig.wait(tab.resource.clone().refresh()).unwrap();
        rig.run(10);
        refused(tab, exactly(104));
    }
}
