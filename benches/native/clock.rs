//! How long something took, by the clock and of the processor.

use std::time::Instant;

/// Time that was spent in several stretches.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    clock: u64,
    cpu: u64,
}

impl Spent {
    /// Does some work, and counts what it took.
    pub(crate) fn add<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let (began, cpu) = (Instant::now(), cpu_ns());
        let result = work();
        self.cpu += cpu_ns().saturating_sub(cpu);
        self.clock += u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        result
    }

    /// µs a unit, by the clock and of processor time.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn per(&self, units: usize) -> (f64, f64) {
        // Where the system does not tell, the clock has to do.
        let cpu = if self.cpu > 0 { self.cpu } else { self.clock };
        let each = |spent: u64| spent as f64 / 1000.0 / units as f64;
        (each(self.clock), each(cpu))
    }
}

/// Nanoseconds that this process, which has one thread, has run; 0 where the system does not tell. Linux does.
fn cpu_ns() -> u64 {
    // The system counts when it looks for something else to run.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0)
}
