//! Law 11, whole: a broken document enters no store and reaches no watcher and no view. Afterwards the cache recovers.

use proptest::prelude::*;
use watchcache::connection::Phase;
use watchcache::status::ErrorCode;
use watchcache::watch::EndReason;

use crate::helpers::model::SELECTIONS;
use crate::helpers::rig::Setup;
use crate::helpers::upstream::ListFault;
use crate::steps::{Damage, PLAN, Plan, Step, pick, time, trace, write};
use crate::world::World;

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        pick().prop_map(Damage::Cut),
        // A control character or a byte that is no UTF-8 is an error wherever it stands.
        (pick(), prop_oneof![Just(0x01u8), Just(0xFF), Just(0xC0)]).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        prop::sample::select(vec![
            "<html><body>502 Bad Gateway</body></html>",
            "null",
            "[]",
            "{}",
            "{\"type\":\"ADDED\"}",
            "{\"type\":\"ADDED\",\"object\":null}",
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"new\",\"namespace\":\"ns0\"}}}",
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"new\",\"namespace\":\"ns0\",\"resourceVersion\":\"x9\"}}}",
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"ns0\",\"resourceVersion\":\"999\"}}}",
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a/b\",\"namespace\":\"ns0\",\"resourceVersion\":\"999\"}}}",
            "{\"type\":\"MERGED\",\"object\":{\"metadata\":{\"name\":\"new\",\"namespace\":\"ns0\",\"resourceVersion\":\"999\"}}}",
            "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"old\",\"namespace\":\"ns0\",\"resourceVersion\":\"1\"}}}",
            "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"pod0\",\"namespace\":\"ns0\",\"resourceVersion\":\"2\"}}}",
            "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}",
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Pod\"}}",
        ])
        .prop_map(Damage::Instead),
    ]
}

fn everything(selection: usize) -> Plan {
    Plan { selection, ..PLAN }
}

law! {
    law_11_whole_a_broken_frame_changes_nothing_and_is_overcome:
    frame_is_overcome(
        seed: u64 = any::<u64>(),
        steps: Vec<Step> = trace(prop_oneof![write(), time()], 15),
        damages: Vec<(Damage, Vec<Step>)> = prop::collection::vec((damage(), trace(write(), 5)), 1..4),
    ) {
        // Behind a relay the error is the relay's.
        let world = World::direct(Setup::seeded(seed));
        world.play(&steps);
        for (damage, missed) in &damages {
            world.settle();
            let watches: Vec<_> = (0..SELECTIONS.len()).map(|selection| world.watch(&everything(selection))).collect();
            world.view(0);
            let (rows, version) = (world.rig.rows(), world.rig.version());
            let whole = br#"{"type":"ADDED","object":{"metadata":{"name":"new","namespace":"ns0","resourceVersion":"999"}}}"#;
            world.rig.upstream.send_bytes(&damage.of(whole));
            world.rig.run(0);
            assert_eq!((world.rig.rows(), world.rig.version()), (rows, version));
            let status = world.rig.status();
            assert!(status.phase != Phase::Live && status.stale, "{:?}", status);
            let code = status.error.unwrap().code;
            assert!(matches!(code, ErrorCode::Decode | ErrorCode::Protocol), "{:?}", code);
            world.play(missed);
            world.settle();
            assert_eq!(world.rig.rows(), world.rig.upstream.state());
            assert_eq!(world.rig.status().error, None);
            for watched in &watches {
                assert_eq!(world.rig.ended(watched.stream), Some(EndReason::Relist));
                assert_eq!(world.changes(watched), []);
                assert_eq!(world.rig.resume_from(watched.stream), Some(version));
            }
        }
    }
}

law! {
    law_11_whole_a_broken_page_of_a_relist_changes_nothing_and_is_overcome:
    page_is_overcome(
        seed: u64 = any::<u64>(),
        page_size: u32 = 0u32..4,
        faults: Vec<(Damage, bool, usize)> = prop::collection::vec((damage(), any::<bool>(), 0usize..300), 1..6),
        missed: Vec<Step> = trace(write(), 8),
    ) {
        let world = World::new(Setup { page_size, ..Setup::seeded(seed) });
        world.view(0);
        let rows = world.rig.rows();
        let page = br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"999"},"items":[{"metadata":{"name":"new","namespace":"ns0","resourceVersion":"999"}}]}"#;
        let mut has_broken_item = false;
        for (damage, instead, at) in &faults {
            // An item that is broken in two lists on end is set apart, and the rest of the list taken: not what this is about.
            let breaks_item = *instead && matches!(damage, Damage::Byte(..));
            if breaks_item && std::mem::replace(&mut has_broken_item, true) {
                continue;
            }
            let fault = if *instead { ListFault::Body(damage.of(page)) } else { ListFault::Cut(*at) };
            world.rig.upstream.list_faults.borrow_mut().push_back(fault);
        }
        let count = world.rig.upstream.list_faults.borrow().len();
        world.rig.lose_history(|_| {});
        let mut waited = 0;
        while !world.rig.upstream.list_faults.borrow().is_empty() && waited < 100 {
            assert_eq!(&world.rig.rows(), &rows);
            world.rig.run(10_000);
            waited += 1;
        }
        assert!(waited < 100, "{} of {} lists were asked for", count - world.rig.upstream.list_faults.borrow().len(), count);
        world.play(&missed);
        world.settle();
        assert_eq!(world.rig.rows(), world.rig.upstream.state());
    }
}
