//! Whether the cache or its upstream answers a read, and which of the upstream's answers come through.

use watchcache::cache::ListOptions;
use watchcache::metrics::Now;
use watchcache::source::{ListRequest, Narrow};
use watchcache::status::{ErrorCode, Status};
use watchcache::version::Version;

use crate::cache::lists::{Asking, dataset, list, lists, page};
use crate::helpers::rig::{Rig, Setup};
use crate::helpers::upstream::{ListFault, Request};
use crate::{on_node, said};

fn last_list(rig: &Rig) -> ListRequest {
    let requests = rig.upstream.requests.borrow();
    let list = requests.iter().rev().find_map(|request| match request {
        Request::List(_, list) => Some(list.clone()),
        Request::Watch(..) => None,
    });
    list.expect("a list")
}

/// The metric of this family with these labels; 0 when it was not counted.
fn counted(rig: &Rig, family: &str, labels: &[(&str, &str)]) -> f64 {
    let metrics = rig.resource.with(|cacher| cacher.metrics().clone());
    let mut found = 0.0;
    metrics.each(&Now::default(), &mut |index, suffix, own, value| {
        let name = format!("{}{suffix}", watchcache::metrics::FAMILIES[index].name);
        if name == family && own == labels {
            found = value;
        }
    });
    found
}

const CONSISTENT: &str = "apiserver_watch_cache_consistent_read_total";

/// A cache at 101 whose watch says nothing any more, over an upstream at 102.
fn behind(progress: bool) -> Rig {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.tells_progress.set(progress);
        upstream.put("a", "x");
    });
    rig.upstream.freeze_streams();
    rig.upstream.put("a", "y");
    rig
}

#[test]
fn dlg_08_a_consistent_read_that_does_not_get_fresh_is_answered_by_the_upstream() {
    let rig = behind(true);
    let (began, before) = (rig.time.elapsed(), lists(&rig));
    assert_eq!(page(&rig, list("")), "a/x@101 a/y@102 | 102");
    assert_eq!(rig.time.elapsed() - began, 3000);
    assert_eq!((lists(&rig) - before, rig.upstream.asked.borrow().0.len()), (1, 1), "its version, and then the objects");
    assert_eq!(counted(&rig, CONSISTENT, &[("success", "true"), ("fallback", "true")]), 1.0);
    // What the cache itself holds comes by its watch alone.
    assert_eq!(page(&rig, list("").at(0)), "a/x@101 | 101");
    rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::internal("etcdserver: no leader").into()));
    let error = rig.pages(list("")).unwrap_err();
    assert_eq!(said(&error), (ErrorCode::Unavailable, 500, "InternalError", "etcdserver: no leader"));
    assert_eq!(counted(&rig, CONSISTENT, &[("success", "false"), ("fallback", "true")]), 1.0);
}

/// Without progress nothing can hasten the stream. The cache waits for it a little, and then asks the upstream.
#[test]
fn dlg_08_without_progress_it_waits_a_quarter_of_a_second() {
    let rig = behind(false);
    let (began, before) = (rig.time.elapsed(), lists(&rig));
    assert_eq!(page(&rig, list("")), "a/x@101 a/y@102 | 102");
    assert_eq!((rig.time.elapsed() - began, lists(&rig) - before), (250, 2), "its version by the smallest list, and then the objects");
    assert_eq!(page(&rig, list("").at(0)), "a/x@101 | 101");
}

#[test]
fn dlg_09_where_the_upstream_is_to_be_spared_it_is_429() {
    let rig = behind(true);
    rig.resource.spare_upstream(true);
    let (began, before) = (rig.time.elapsed(), lists(&rig));
    let error = rig.pages(list("")).unwrap_err();
    assert_eq!((rig.time.elapsed() - began, lists(&rig) - before), (3000, 0));
    let message = "Timeout: Too large resource version: 102, current: 101";
    assert_eq!(said(&error), (ErrorCode::TooManyRequests, 429, "TooManyRequests", message));
    assert_eq!(error.retry_after_seconds, Some(1));
    assert_eq!(counted(&rig, CONSISTENT, &[("success", "false"), ("fallback", "skipped")]), 1.0);
}

/// The other half of the case: without progress there is no consistent read from the cache that could be skipped to.
#[test]
fn dlg_09_without_progress_the_upstream_is_asked_all_the_same() {
    let rig = behind(false);
    rig.resource.spare_upstream(true);
    assert_eq!(page(&rig, list("")), "a/x@101 a/y@102 | 102");
}

#[test]
fn dlg_10_a_get_is_the_caches_with_a_version_and_the_upstreams_without() {
    for progress in [false, true] {
        let rig = behind(progress);
        let before = lists(&rig);
        assert_eq!(rig.get("a/x", Some("0")), Ok("a/x@101".into()));
        assert_eq!(rig.get("a/y", Some("0")).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(lists(&rig), before);
        assert_eq!(rig.get("a/y", None), Ok("a/y@102".into()));
        let narrow = Narrow { namespace: Some("a".into()), name: Some("y".into()), ..Narrow::default() };
        assert_eq!(last_list(&rig), ListRequest { narrow: Some(narrow), ..ListRequest::default() });
        rig.upstream.list_faults.borrow_mut().push_back(ListFault::Refuse(Status::internal("dead").into()));
        assert_eq!(said(&rig.get("a/x", None).unwrap_err()), (ErrorCode::Unavailable, 500, "InternalError", "dead"));
    }
}

#[test]
fn dlg_12_a_page_as_new_as_the_upstream_is_the_caches_where_progress_is_told() {
    for progress in [false, true] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            upstream.put("a", "x");
        });
        rig.upstream.pass(9);
        let before = lists(&rig);
        assert_eq!(page(&rig, list("").limit(500)), "a/x@101 | 110");
        assert_eq!(lists(&rig) - before, usize::from(!progress));
        assert_eq!(counted(&rig, CONSISTENT, &[("success", "true"), ("fallback", "false")]), f64::from(progress));
    }
}

#[test]
fn dlg_10_dlg_14_before_the_cache_is_ready_a_page_and_a_get_are_the_upstreams_and_the_rest_is_429() {
    for progress in [false, true] {
        let rig = Rig::idle(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            upstream.put("a", "x");
            upstream.put("a", "y");
        });
        assert_eq!(page(&rig, list("").at(0).limit(1).impatient()), "a/x@101 | 102, behind a/x@102, 1 remain");
        for options in [list("").at(0), list("").at(0).limit(1).labels("a=b"), list("").at(0).limit(1).fields("metadata.name=x")] {
            let error = rig.pages(options.impatient()).unwrap_err();
            assert_eq!(said(&error), (ErrorCode::TooManyRequests, 429, "TooManyRequests", "storage is (re)initializing"));
            assert_eq!(error.retry_after_seconds, Some(1));
        }
        assert_eq!(rig.get("a/x", Some("0")), Ok("a/x@101".into()), "a get is the upstream's");
        // Without progress the upstream answers every read of the present.
        let newest = rig.pages(list("").impatient());
        if progress {
            assert_eq!(said(&newest.unwrap_err()).1, 429);
        } else {
            assert_eq!(newest.unwrap().objects.len(), 2);
        }
        let waiting = rig.resource.clone().list(list("").at(0).limit(1).labels("a!=b"));
        rig.resource.start();
        assert_eq!(rig.wait(waiting).unwrap().objects.len(), 2, "who waits hears of the first list");
    }
}

/// The state that is kept costs no request.
#[test]
fn dlg_04_a_past_version_is_asked_of_the_upstream_only_where_it_is_not_kept() {
    for progress in [false, true] {
        let rig = dataset(progress);
        let before = lists(&rig);
        let past = || page(&rig, list("second").at(103).matching("Exact"));
        assert_eq!((past(), lists(&rig) - before), ("second/bar@103 | 103".into(), 0));
        rig.resource.with(|cacher| cacher.held_mut().compact(&Version::from(110)));
        assert_eq!((past(), lists(&rig) - before), ("second/bar@103 | 103".into(), 1));
    }
}

#[test]
fn dlg_a_request_goes_upstream_as_it_was_given() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["x", "y", "z"] {
            on_node(upstream, "a", name, "n1");
        }
    });
    let options = list("a").at(103).matching("Exact").limit(2).labels("app!=web").fields("spec.nodeName=n1,metadata.name!=q");
    rig.resource.with(|cacher| cacher.held_mut().set_consistent(false));
    assert_eq!(page(&rig, options), "a/x@101 a/y@102 | 103, behind a/y@103");
    let narrow = Narrow {
        labels: Some("app!=web".into()),
        fields: Some("spec.nodeName=n1,metadata.name!=q".into()),
        namespace: Some("a".into()),
        name: None,
    };
    let expected = ListRequest {
        resource_version: Some("103".into()),
        resource_version_match: Some("Exact".into()),
        limit: Some(2),
        continue_token: None,
        narrow: Some(narrow),
    };
    assert_eq!(last_list(&rig), expected);
}

/// Servers know few fields. The cache selects by the others itself, on pages that the server cut. No object is lost between two pages.
#[test]
fn dlg_a_field_that_the_upstream_does_not_know_is_selected_here_and_every_object_stays_in_reach() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for number in 0..10 {
            let size = if number % 4 == 3 { 7 } else { 3 };
            upstream.put_sized("a", &format!("p{number}"), size);
        }
    });
    let before = lists(&rig);
    let (mut found, mut token, mut pages) = (Vec::new(), None, Vec::new());
    loop {
        // The text is seven letters long in two of ten.
        let options = list("").limit(3).fields("spec.text=xxxxxxx");
        let answer = rig.pages(ListOptions { continue_token: token, ..options }).unwrap();
        assert_eq!(answer.remaining, None);
        pages.push(answer.objects.len());
        found.extend(answer.objects.iter().map(|object| object.name().to_string()));
        token = answer.continue_token;
        rig.resource.with(|cacher| cacher.held_mut().set_consistent(false)); // so that the upstream answers the further pages, too
        if token.is_none() {
            break;
        }
    }
    assert_eq!((found.join(" "), pages), ("p3 p7".to_string(), vec![0, 1, 1, 0]));
    assert_eq!(lists(&rig) - before, 5, "it is asked once for a field it does not know");
    // Any other 400 is an answer.
    rig.upstream
        .list_faults
        .borrow_mut()
        .extend([ListFault::Refuse(Status::bad_request("no").into()), ListFault::Refuse(Status::bad_request("no").into())]);
    assert_eq!(rig.pages(list("").limit(3).fields("spec.other=1")).unwrap_err().message, "no");
}

#[test]
fn frs_08_a_wait_is_measured_and_no_wait_is_not() {
    let rig = Rig::new(Setup::default(), |upstream| {
        upstream.put("a", "foo");
        upstream.put("a", "bar");
    });
    let wait = |suffix: &str| counted(&rig, &format!("apiserver_watch_cache_read_wait_seconds{suffix}"), &[]);
    let (timer, upstream) = (watchcache::runtime::Timer::sleep(&*rig.time, 1000), rig.upstream.clone());
    watchcache::runtime::Spawn::spawn(
        &*rig.time,
        Box::pin(async move {
            timer.await;
            upstream.pass(2);
            upstream.put("a", "bar");
        }),
    );
    assert_eq!(rig.get("a/bar", Some("105")), Ok("a/bar@105".into()));
    assert_eq!((wait("_sum"), wait("_count")), (1.0, 1.0));
    assert_eq!(rig.get("a/bar", Some("0")), Ok("a/bar@105".into()));
    assert_eq!(wait("_count"), 1.0);
}

#[test]
fn prg_01_a_read_that_waits_has_the_upstream_asked_for_progress() {
    for progress in [true, false] {
        let rig = Rig::new(Setup::default(), |upstream| {
            upstream.tells_progress.set(progress);
            upstream.bookmark_every.set(0);
        });
        let asked = || rig.upstream.asked.borrow().1.len();
        rig.run(1000);
        assert_eq!(asked(), 0);
        rig.upstream.pass(1);
        let began = rig.time.elapsed();
        let answer = rig.pages(list("").at(101));
        if progress {
            assert_eq!(answer.unwrap().version.to_string(), "101");
            assert_eq!((rig.time.elapsed() - began, asked()), (0, 1));
        } else {
            assert_eq!(answer.unwrap_err().code, ErrorCode::Timeout);
            assert_eq!((rig.time.elapsed() - began, asked()), (3000, 0));
        }
        rig.run(1000);
        assert_eq!(asked(), usize::from(progress));
    }
}

/// The answer itself may be megabytes.
#[test]
fn a_list_of_everything_asks_for_the_upstreams_version_by_a_list_of_one() {
    let rig = Rig::new(Setup::default(), |upstream| {
        for name in ["x", "y", "z"] {
            upstream.put("a", name);
        }
    });
    rig.upstream.requests.borrow_mut().clear();
    assert_eq!(page(&rig, list("")), "a/x@101 a/y@102 a/z@103 | 103");
    assert_eq!((lists(&rig), last_list(&rig)), (1, ListRequest { limit: Some(1), ..ListRequest::default() }));
}

#[test]
fn a_request_that_is_given_up_waits_and_asks_no_longer() {
    let rig = Rig::new(Setup::default(), |upstream| upstream.tells_progress.set(true));
    rig.upstream.freeze_streams();
    let mut reading = Box::pin(rig.resource.clone().list(list("").at(200)));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(reading.as_mut().poll(&mut context).is_pending());
    rig.run(250);
    assert_eq!(rig.upstream.asked.borrow().1.len(), 3);
    drop(reading);
    rig.run(1000);
    assert_eq!(rig.upstream.asked.borrow().1.len(), 3);
}

#[test]
fn a_closed_resource_reads_nothing_more() {
    let rig = Rig::new(Setup::default(), |_| {});
    rig.resource.close();
    for options in [list(""), list("").at(0), list("").limit(1)] {
        assert_eq!(rig.pages(options).unwrap_err().code, ErrorCode::Closed);
    }
    for version in [None, Some("0")] {
        assert_eq!(rig.get("a/x", version).unwrap_err().code, ErrorCode::Closed);
    }
}
