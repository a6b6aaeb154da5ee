//! The cacher as native code: the same work as `benches/go` does with the apiserver's own, and what has no peer there.
//!
//! `npm run bench:native` runs both side by side and prints ratios. Alone:
//!
//! ```text
//! cargo bench --bench native -- --pod tests/data/pod.json [--only NAME] [--scale 1.0]
//! ```
//!
//! It prints one JSON object a line:
//!
//! - `us` and `cpu` are µs an event (or a read), by the clock and of the thread's processor time.
//! - `packing_us` and `packing_cpu` are what the idle turns in between took for each event.
//! - `delivered` is the number of events that watchers received, or a checksum over what a read gave.

mod clock;
mod dispatch;
mod memory;
mod pods;
mod reads;

use clock::Spent;

/// One measurement.
pub(crate) struct Measured {
    /// Events, or reads.
    pub(crate) units: usize,
    /// What they took.
    pub(crate) spent: Spent,
    /// What packing in idle turns took beside it, where there is something to pack.
    pub(crate) packing: Option<Spent>,
    /// What the watchers received, or what was read: the same in every run and for every peer.
    pub(crate) delivered: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|it| it == name).and_then(|at| arguments.get(at + 1)).cloned();
    // `cargo bench` runs where Cargo.toml is.
    let pod = std::fs::read(value("--pod").unwrap_or_else(|| "tests/data/pod.json".into())).expect("the pod of every event");
    let only = value("--only");
    let scale: f64 = value("--scale").map_or(1.0, |text| text.parse().expect("--scale is a number"));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);

    for scenario in dispatch::SCENARIOS.iter().filter(|it| wanted(it.name)) {
        print(scenario.name, &scenario.run(&pod, scaled(scenario.events, scale)));
    }
    for (name, measured) in reads::measure(&wanted, scale) {
        print(name, &measured);
    }
    if wanted("memory") {
        println!("{}", memory::measure(&pod, scaled(10_000, scale)));
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn scaled(count: usize, scale: f64) -> usize {
    ((count as f64 * scale) as usize).max(50)
}

fn print(name: &str, measured: &Measured) {
    let Measured { units, spent, packing, delivered } = measured;
    let (us, cpu) = spent.per(*units);
    let mut line = serde_json::json!({ "name": name, "us": us, "cpu": cpu, "delivered": delivered });
    if let Some(packing) = packing {
        let (us, cpu) = packing.per(*units);
        (line["packing_us"], line["packing_cpu"]) = (us.into(), cpu.into());
    }
    println!("{line}");
}
