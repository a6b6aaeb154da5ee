//! How a resource is set up, with its defaults, and what of it makes no sense.

use std::cell::RefCell;
use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::reflector::ReflectorConfig;
use crate::status::Error;
use crate::store::{IndexSpec, Indexes, WindowBounds};

/// How a resource is set up.
#[derive(Clone, Debug)]
pub struct ResourceConfig {
    /// For messages, e.g. `pods`.
    pub name: String,
    /// The bounds of the event window.
    pub window: WindowBounds,
    /// Indexes beside "namespace".
    pub indexes: Vec<IndexSpec>,
    /// Whether what is held is compared with the upstream every few minutes. That lists everything, page by page.
    pub check_consistency: bool,
    /// How the reflector behaves.
    pub reflector: ReflectorConfig,
}

impl ResourceConfig {
    /// A resource of this name, with the defaults of everything else.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            window: WindowBounds::default(),
            indexes: Vec::new(),
            check_consistency: true,
            reflector: ReflectorConfig::default(),
        }
    }

    /// The indexes, whose paths are wanted from now on. Fails with code `invalid`, naming the option, where the configuration makes no sense.
    pub(super) fn check(&self, fields: &Rc<RefCell<FieldSet>>) -> Result<Indexes, Error> {
        self.window.check()?;
        self.reflector.check()?;
        Indexes::new(&self.indexes, fields)
    }
}
