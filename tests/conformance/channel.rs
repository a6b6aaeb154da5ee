//! What crosses a channel between a relay and who shares it, and when.

use futures::{FutureExt, StreamExt};
use watchcache::source::{ListRequest, ObjectName, Source, WatchRequest};
use watchcache::status::ErrorCode;
use watchcache::store::WindowBounds;

use crate::helpers::channel::Channel;
use crate::helpers::rig::{Setup, rows_of};
use crate::helpers::upstream::Shared;
use crate::relay::{late, relay};

#[test]
fn who_takes_nothing_from_a_channel_has_a_bounded_part_on_its_way() {
    let (rig, relay) = relay(&Setup { window: WindowBounds { lower: 500, upper: 500, ..WindowBounds::default() }, ..Setup::default() });
    let channel = Channel::new(relay, rig.time.clone());
    let request = WatchRequest { resource_version: rig.version().to_string(), ..WatchRequest::default() };
    let mut frames = rig.wait(channel.remote.watch(request)).unwrap();
    for _ in 0..400 {
        rig.upstream.put_sized("default", "busy", 10_000);
        rig.run(10);
    }
    let mut bytes = 0;
    // What has crossed is there without another turn of anybody else.
    while let Some(Some(frame)) = frames.next().now_or_never() {
        bytes += frame.unwrap().len();
    }
    assert!((1 << 20..3 << 19).contains(&bytes), "{bytes} bytes");
    // It was too slow for the relay, which ended it: it completes.
    let rest: Vec<_> = rig.wait(frames.collect());
    assert!(rest.iter().map(|frame| frame.as_ref().unwrap().len()).sum::<usize>() < 2_500_000, "{} frames", rest.len());
}

#[test]
fn what_comes_in_quick_succession_crosses_together_and_what_comes_after_a_pause_at_once() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let tab = late(&rig, channel.remote.clone());
    rig.run(1_000);
    let sent = || channel.answers.get();
    for _ in 0..3 {
        let before = sent();
        rig.upstream.put("default", "first");
        rig.run(0);
        assert_eq!((sent() - before, rows_of(&tab)), (1, rig.rows()), "nobody waits after a pause");
        (0..5).for_each(|_| {
            rig.upstream.put("default", "busy");
            rig.run(1);
        });
        assert_eq!(sent() - before, 1);
        rig.run(8);
        assert_eq!((sent() - before, rows_of(&tab)), (2, rig.rows()));
        rig.run(100);
        assert_eq!(sent() - before, 2);
    }
}

#[test]
fn an_answer_that_is_an_error_is_one_at_the_other_end() {
    let (rig, relay) = relay(&Setup::default());
    let channel = Channel::new(relay, rig.time.clone());
    let nobody = ObjectName { namespace: "default".into(), name: "nobody".into() };
    let direct = rig.wait(Shared(rig.upstream.clone()).get(nobody.clone(), None)).unwrap_err();
    assert_eq!(rig.wait(channel.remote.get(nobody, None)).unwrap_err(), direct);
    rig.resource.close();
    assert_eq!(rig.wait(channel.remote.list(ListRequest::default())).err().map(|error| error.code), Some(ErrorCode::Closed));
}
