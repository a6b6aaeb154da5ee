//! The bounds of the event window: what is asked for, and what is chosen where nothing is.

use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// The bounds of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBounds {
    /// While the oldest event is younger than this, a full window grows instead of dropping it. At least [`DEFAULT_FRESH_MS`].
    pub fresh_ms: Millis,
    /// The least capacity, in events.
    pub lower: usize,
    /// The greatest capacity, in events.
    pub upper: usize,
    /// The most bytes that the changes may hold beyond those of the store. Beyond it the oldest are dropped, however fresh. The apiserver has
    /// no such bound; a page has less memory.
    pub max_bytes: usize,
}

/// Bounds as somebody asks for them. What is left out is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowRequest {
    /// As [`WindowBounds::fresh_ms`].
    pub fresh_ms: Option<Millis>,
    /// As [`WindowBounds::lower`].
    pub lower: Option<usize>,
    /// As [`WindowBounds::upper`]. Left out it follows from the freshness, and is never below the least.
    pub upper: Option<usize>,
    /// As [`WindowBounds::max_bytes`].
    pub max_bytes: Option<usize>,
}

/// The default of [`WindowBounds::max_bytes`].
pub const DEFAULT_MAX_BYTES: usize = 64 << 20;

/// How long an event stays fresh: the bookmark period and a quarter of it.
pub const DEFAULT_FRESH_MS: Millis = 75_000;
/// The greatest capacity at the default freshness, in events, as in the apiserver.
const DEFAULT_UPPER: usize = 102_400;
/// The least capacity, in events, as in the apiserver.
pub const DEFAULT_LOWER: usize = 100;
/// How often the greatest capacity doubles at most, so that the shift below cannot overflow.
const MAX_DOUBLINGS: u32 = 14;

impl WindowBounds {
    /// The apiserver's bounds for this freshness: 100 events, and 102,400 times the power of two that covers a longer freshness.
    pub fn for_freshness(fresh_ms: Millis) -> Self {
        Self::asked(WindowRequest { fresh_ms: Some(fresh_ms), ..WindowRequest::default() })
    }

    /// The bounds that are asked for.
    pub fn asked(request: WindowRequest) -> Self {
        let fresh_ms = request.fresh_ms.unwrap_or(DEFAULT_FRESH_MS);
        let lower = request.lower.unwrap_or(DEFAULT_LOWER);
        let upper = request.upper.unwrap_or_else(|| upper_bound(fresh_ms).max(lower));
        Self { fresh_ms, lower, upper, max_bytes: request.max_bytes.unwrap_or(DEFAULT_MAX_BYTES) }
    }

    /// Whether a window can have these bounds. Fails with code `invalid`, naming the option.
    pub fn check(&self) -> Result<(), Error> {
        let Self { fresh_ms, lower, upper, .. } = *self;
        let mistake = if fresh_ms < DEFAULT_FRESH_MS {
            // A watch that resumes from its last bookmark must find that version in the window.
            format!("minMs is at least {DEFAULT_FRESH_MS}, the period of bookmarks and a quarter of it, not {fresh_ms}")
        } else if lower == 0 {
            "minEvents is at least 1".to_owned()
        } else if upper < lower {
            format!("maxEvents, {upper}, is below minEvents, {lower}")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorCode::Invalid, format!("history.{mistake}")))
    }
}

impl Default for WindowBounds {
    fn default() -> Self {
        Self::asked(WindowRequest::default())
    }
}

fn upper_bound(fresh_ms: Millis) -> usize {
    let mut doublings = 0;
    let mut covered = DEFAULT_FRESH_MS;
    while covered < fresh_ms && doublings < MAX_DOUBLINGS {
        covered *= 2;
        doublings += 1;
    }
    DEFAULT_UPPER << doublings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_is_chosen_as_in_the_apiserver() {
        let WindowBounds { fresh_ms, lower, upper, max_bytes } = WindowBounds::asked(WindowRequest::default());
        assert_eq!((fresh_ms, lower, upper, max_bytes), (75_000, 100, 102_400, 64 << 20));
    }

    #[test]
    fn the_greatest_capacity_follows_from_the_freshness_and_never_lies_below_the_least() {
        let asked =
            |lower, upper| WindowBounds::asked(WindowRequest { lower: Some(lower), upper, max_bytes: Some(5), ..WindowRequest::default() });
        assert_eq!(asked(100, None).upper, WindowBounds::default().upper);
        assert_eq!(asked(1_000_000, None).upper, 1_000_000);
        assert_eq!(asked(100, Some(200)).upper, 200);
        assert_eq!(asked(100, Some(100)).check(), Ok(()), "a capacity that stays as it is");
        let contradiction = asked(100, Some(99));
        assert_eq!(contradiction.check().unwrap_err().code, ErrorCode::Invalid);
        assert_eq!((contradiction.fresh_ms, contradiction.lower, contradiction.max_bytes), (DEFAULT_FRESH_MS, 100, 5));
    }

    #[test]
    fn bounds_that_make_no_window_are_refused_by_name() {
        let refused = |bounds: WindowBounds| bounds.check().unwrap_err().message;
        let default = WindowBounds::default();
        assert_eq!(default.check(), Ok(()));
        assert_eq!(
            refused(WindowBounds { fresh_ms: DEFAULT_FRESH_MS - 1, ..default }),
            "history.minMs is at least 75000, the period of bookmarks and a quarter of it, not 74999"
        );
        assert_eq!(refused(WindowBounds { lower: 0, ..default }), "history.minEvents is at least 1");
        assert_eq!(refused(WindowBounds { lower: 9, upper: 8, ..default }), "history.maxEvents, 8, is below minEvents, 9");
    }

    #[test]
    fn win_30_the_upper_bound_doubles_with_freshness_up_to_a_limit() {
        for (seconds, upper) in [(75, 102_400), (45, 102_400), (300, 409_600), (225, 409_600), (75 << 20, 102_400 << 14)] {
            assert_eq!(upper_bound(seconds * 1000), upper, "{seconds} s");
        }
    }
}
