// What both languages have to know: options are checked, and the WebAssembly itself is loaded, before the core is there. Every other default and
// bound is the core's alone. tests/conformance/wire.rs fails when the two differ.

/** The least `history.minMs`. */
export const MIN_FRESH_MS = 75_000;
/** The default of `history.minEvents`, below which no `history.maxEvents` may lie. */
export const DEFAULT_MIN_EVENTS = 100;
/** The longest wait between two tries. */
export const MAX_WAIT_MS = 86_400_000;
/** How much longer a wait may be than the one before, and how much jitter may add to it. */
export const MAX_GROWTH = 100;
/** The waits between two tries to load the WebAssembly: those of a resource where nothing else is asked for. */
export const RETRY = { initialMs: 800, factor: 2, capMs: 30_000, jitter: 1 } as const;
/** So many tries within the period below may come before their time, whoever asks for them. Who asks at each failure would make a loop of it. */
export const MAX_EARLY_TRIES = 3;
/** The time in which early tries are counted. */
export const EARLY_PERIOD_MS = 60_000;
