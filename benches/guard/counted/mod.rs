//! What `npm run guard` counts: the work of the native hot paths, how it grows with its input, and the bytes held.
//!
//! Alone: `cargo bench --bench guard -- names`, `-- hot NAME`, `-- grow NAME SIZE`, `-- peer NAME SIZE`, `-- held`. Everything here is the
//! same in every run: no clock, no chance, no order of a hash with a seed.

mod documents;
mod grow;
mod held;
mod hot;
#[allow(dead_code)] // the native benchmark needs more of it
#[path = "../../native/pods.rs"]
mod pods;

/// Counts the bytes that are held. Its own instructions for each allocation are counted with the work.
#[global_allocator]
static HELD: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// Prepared work: what runs outside of it is not counted.
pub(crate) type Work = Box<dyn FnMut()>;

/// callgrind collects inside of this function alone, which it knows by its name.
#[inline(never)]
fn guarded_work(work: &mut dyn FnMut()) {
    work();
}

pub(crate) fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut work = match arguments[..] {
        ["names"] => return names(),
        ["held"] => return held::print(),
        ["hot", name] => (hot::ALL.iter().find(|it| it.name == name).expect("a hot path").prepare)(),
        ["grow", name, size] => growth(name).ours(size.parse().expect("a size")),
        ["peer", name, size] => growth(name).peer(size.parse().expect("a size")),
        _ => panic!("names | hot NAME | grow NAME SIZE | peer NAME SIZE | held"),
    };
    guarded_work(&mut *work);
}

fn growth(name: &str) -> &'static grow::Growth {
    grow::all().find(|it| it.name == name).expect("a path that grows")
}

fn names() {
    let hot: Vec<_> = hot::ALL.iter().map(|it| serde_json::json!({ "name": it.name, "units": it.units })).collect();
    let grow: Vec<_> = grow::all().map(|it| serde_json::json!({ "name": it.name, "size": it.size, "peer": it.has_peer() })).collect();
    println!("{}", serde_json::json!({ "hot": hot, "grow": grow }));
}
