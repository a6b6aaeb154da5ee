//! The ids of informers and of the handlers that are registered with them.

use crate::id::id;

id!(
    /// An informer.
    pub InformerId
);

id!(
    /// A handler's registration, among those of all informers.
    pub HandlerId
);
