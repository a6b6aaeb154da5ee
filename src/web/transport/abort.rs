//! What ends a request.

use web_sys::{AbortController, AbortSignal};

use crate::status::Error;
use crate::web::error::from_thrown;

/// Aborts its request when it goes away.
pub(super) struct Abort(AbortController);

impl Abort {
    pub(super) fn new() -> Result<Self, Error> {
        AbortController::new().map(Self).map_err(|thrown| from_thrown(&thrown))
    }

    pub(super) fn signal(&self) -> AbortSignal {
        self.0.signal()
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}
