//! Objects that cannot be taken, and that no list cures. They are set apart under their keys, and nothing else changes.

use crate::helpers::replay::{ReflectorRig, Said};
use crate::helpers::scenario::{HOUR, MINUTE, SECOND, config, fill, pages};
use crate::helpers::upstream::faults::Spoil;
use crate::helpers::upstream::{Upstream, WatchFault};
use proptest::prelude::*;
use watchcache::connection::Connection;
use watchcache::reflector::ReflectorConfig;

fn spoil(upstream: &Upstream, key: &str, how: Spoil) {
    upstream.spoiled.borrow_mut().0.insert(key.into(), how);
}

fn cure(upstream: &Upstream, key: &str) {
    upstream.spoiled.borrow_mut().0.remove(key);
}

/// Who was in quarantine, each time that changed.
fn quarantines(rig: &ReflectorRig) -> Vec<Vec<String>> {
    let replay = rig.replay.borrow();
    let said = replay.said.iter().filter_map(|(_, said)| match said {
        Said::Quarantine(keys) => Some(keys.clone()),
        _ => None,
    });
    said.collect()
}

fn is_live(rig: &ReflectorRig) -> bool {
    rig.replay.borrow().last_connection() == Some(&Connection::Live)
}

/// The name under which each is set apart.
fn named(how: Spoil) -> &'static str {
    match how {
        Spoil::NoVersion | Spoil::BadVersion | Spoil::Broken => "ns/pod0001",
        Spoil::BadName => "ns/a/pod0001",
        Spoil::NoName => "ns/(uid ns/pod0001)",
    }
}

#[test]
fn an_object_of_a_list_that_cannot_be_taken_costs_one_more_list_and_is_set_apart() {
    for how in Spoil::ALL {
        for (page_size, watch_list) in [(500, false), (1, false), (500, true)] {
            let rig = ReflectorRig::with(60, ReflectorConfig { watch_list, ..pages(page_size) }, 0, |upstream| {
                fill(upstream, 4);
                spoil(upstream, "ns/pod0001", how);
            });
            rig.run(10 * SECOND);
            assert!(is_live(&rig), "{how:?}");
            assert_eq!(quarantines(&rig), [[named(how)]], "{how:?}");
            assert_eq!(rig.replay.borrow().rows.len(), 3);
            let (lists, watches) = (rig.lists(), rig.watches());
            rig.upstream.put("ns", "pod0003");
            rig.upstream.put("ns", "pod0001");
            rig.upstream.put("ns", "pod0007");
            rig.run(4 * MINUTE);
            assert_eq!((rig.lists(), rig.watches()), (lists, watches), "{how:?}: the stream goes on");
            assert_eq!(rig.replay.borrow().changes().len(), 2);
            cure(&rig.upstream, "ns/pod0001");
            rig.upstream.put("ns", "pod0001");
            rig.run(10).assert_whole();
            assert_eq!(rig.lists(), lists);
            assert_eq!(quarantines(&rig).last(), Some(&vec![]), "{how:?}: the first sound word of it ends that");
        }
    }
}

#[test]
fn an_event_that_cannot_be_taken_leads_to_one_list_which_sets_its_object_apart_and_keeps_what_was_held() {
    for how in Spoil::ALL {
        let rig = ReflectorRig::with(61, config(), 0, |upstream| fill(upstream, 3));
        rig.run(2 * SECOND);
        let held = rig.replay.borrow().rows["ns/pod0001"].clone();
        spoil(&rig.upstream, "ns/pod0001", how);
        for _ in 0..20 {
            rig.upstream.put("ns", "pod0001");
            rig.upstream.put("ns", "pod0002");
            rig.run(5 * SECOND);
        }
        assert!(is_live(&rig));
        assert_eq!((rig.lists(), rig.replay.borrow().errors().len()), (2, 1), "{how:?}");
        assert_eq!(quarantines(&rig), [[named(how)]]);
        assert_eq!(rig.replay.borrow().rows["ns/pod0001"], held, "nothing held is lost");
        // A later list still cannot read the object, and the next one can.
        rig.handle.refresh();
        rig.run(2 * SECOND);
        assert_eq!((quarantines(&rig).len(), rig.replay.borrow().rows["ns/pod0001"].clone()), (1, held));
        cure(&rig.upstream, "ns/pod0001");
        rig.handle.refresh();
        rig.run(2 * SECOND).assert_whole();
        assert_eq!(quarantines(&rig).last(), Some(&vec![]));
        assert_eq!(rig.lists(), 4);
    }
}

/// An object that a list cures is not set apart, however often the watch spoils it. The lists come less and less often.
#[test]
fn what_only_the_watch_spoils_is_cured_by_lists_that_come_less_and_less_often() {
    let rig = ReflectorRig::with(62, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    let frame = r#"{"type":"MODIFIED","object":{"metadata":{"name":"pod0001","namespace":"ns","resourceVersion":""}}}"#;
    for _ in 0..600 {
        rig.upstream.send_raw(frame);
        rig.upstream.put("ns", "pod0001");
        rig.run(SECOND);
    }
    assert!((10..=25).contains(&rig.lists()), "{} lists in ten minutes", rig.lists());
    assert!(quarantines(&rig).is_empty());
    rig.run(2 * MINUTE).assert_whole();
}

#[test]
fn the_deletion_of_one_in_quarantine_is_found_by_a_list() {
    let rig = ReflectorRig::with(63, config(), 0, |upstream| fill(upstream, 3));
    rig.run(2 * SECOND);
    spoil(&rig.upstream, "ns/pod0001", Spoil::BadVersion);
    rig.upstream.put("ns", "pod0001");
    rig.run(5 * SECOND);
    assert_eq!((quarantines(&rig).len(), rig.lists(), rig.replay.borrow().rows.len()), (1, 2, 3));
    rig.upstream.delete("ns", "pod0001");
    rig.run(5 * SECOND).assert_whole();
    assert_eq!((quarantines(&rig), rig.lists()), (vec![vec!["ns/pod0001".to_string()], vec![]], 3));
}

#[test]
fn too_many_of_them_are_no_matter_of_single_objects() {
    let rig = ReflectorRig::with(64, config(), 0, |upstream| {
        fill(upstream, 101);
        for number in 0..101 {
            spoil(upstream, &format!("ns/pod{number:04}"), Spoil::NoVersion);
        }
    });
    rig.run(5 * MINUTE);
    assert_eq!((rig.replay.borrow().replaces(), quarantines(&rig).len()), (0, 0));
    let error = rig.replay.borrow().errors().last().unwrap().clone();
    assert!(error.message.contains("101 objects cannot be read"), "{error}");
    // With one less, each is set apart.
    cure(&rig.upstream, "ns/pod0000");
    rig.run(5 * MINUTE);
    assert_eq!((rig.replay.borrow().rows.len(), quarantines(&rig)[0].len()), (1, 100));
}

#[test]
fn what_has_neither_name_nor_uid_is_nobody_and_fails_the_list() {
    let rig = ReflectorRig::with(65, config(), 0, |upstream| {
        upstream
            .watch_faults
            .borrow_mut()
            .push_back(WatchFault::Say(vec![r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}"#.into()]));
    });
    rig.run(5 * SECOND).assert_whole();
    assert_eq!((rig.lists(), quarantines(&rig).len()), (2, 0));
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8),
    Delete(u8),
    Spoil(u8, usize),
    Cure(u8),
    Drop,
    Run(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u8..6).prop_map(Step::Put),
        1 => (0u8..6).prop_map(Step::Delete),
        2 => (0u8..6, 0usize..5).prop_map(|(name, how)| Step::Spoil(name, how)),
        1 => (0u8..6).prop_map(Step::Cure),
        1 => Just(Step::Drop),
        4 => (1u64..2 * MINUTE).prop_map(Step::Run),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whichever objects are poisoned, all others are as upstream. Nobody lists for ever, and the first sound version of each ends it.
    #[test]
    fn a_poisoned_object_changes_nothing_for_the_others(seed in any::<u64>(), script in steps(), watch_list in any::<bool>()) {
        let rig = ReflectorRig::with(seed, ReflectorConfig { watch_list, ..pages(3) }, 0, |upstream| fill(upstream, 8));
        rig.run(2 * SECOND);
        let key = |number: u8| format!("ns/pod{number:04}");
        for step in &script {
            match *step {
                Step::Put(number) => {
                    rig.upstream.put("ns", &format!("pod{number:04}"));
                }
                Step::Delete(number) => {
                    if rig.upstream.state().contains_key(&key(number)) {
                        rig.upstream.delete("ns", &format!("pod{number:04}"));
                    }
                }
                Step::Spoil(number, how) => spoil(&rig.upstream, &key(number), Spoil::ALL[how]),
                Step::Cure(number) => cure(&rig.upstream, &key(number)),
                Step::Drop => {
                    rig.run(SECOND);
                    rig.upstream.drop_streams();
                }
                Step::Run(millis) => {
                    rig.run(millis);
                }
            }
        }
        // Then the reflector is live, lists no more, and is right about every sound object.
        rig.run(20 * MINUTE);
        let lists = rig.lists();
        rig.upstream.put("ns", "pod0007");
        rig.run(HOUR);
        prop_assert_eq!(rig.lists(), lists, "it rests");
        prop_assert!(is_live(&rig));
        let spoiled: Vec<String> = rig.upstream.spoiled.borrow().0.keys().cloned().collect();
        let sound = |rows: &crate::helpers::upstream::State| rows.clone().into_iter().filter(|(key, _)| !spoiled.contains(key)).collect::<Vec<_>>();
        let held = rig.replay.borrow().rows.clone();
        let unread = rig.replay.borrow().quarantined.clone();
        let well = |rows| sound(rows).into_iter().filter(|(key, _)| !unread.contains(key)).collect::<Vec<_>>();
        prop_assert_eq!(well(&held), well(&rig.upstream.state()));
        // A sound version of each.
        rig.upstream.spoiled.borrow_mut().0.clear();
        for number in 0..8 {
            rig.upstream.put("ns", &format!("pod{number:04}"));
        }
        rig.run(MINUTE);
        rig.assert_whole();
        prop_assert!(rig.replay.borrow().quarantined.is_empty());
    }
}
