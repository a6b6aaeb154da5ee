//! How long something took, by the clock and of the processor.

use std::time::Instant;

/// A measurement under way.
pub(crate) struct Clock {
    began: Instant,
    cpu: u64,
}

impl Clock {
    /// Starts.
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_ns(), began: Instant::now() }
    }

    /// µs a unit, by the clock and of processor time.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn per(&self, units: usize) -> (f64, f64) {
        let clock = self.began.elapsed().as_nanos() as f64;
        let spent = cpu_ns().saturating_sub(self.cpu) as f64;
        // Where the system does not tell, the clock has to do.
        let cpu = if spent > 0.0 { spent } else { clock };
        (clock / 1000.0 / units as f64, cpu / 1000.0 / units as f64)
    }
}

/// Nanoseconds that this process, which has one thread, has run; 0 where the system does not tell. Linux does.
fn cpu_ns() -> u64 {
    // The system counts when it looks for something else to run.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0)
}
