//! How a resource is set up, with its defaults, and what of it makes no sense. No other place has these defaults: callers pass what was asked for.

use std::cell::RefCell;
use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::reflector::ReflectorConfig;
use crate::selector::parse_path;
use crate::status::Error;
use crate::store::{IndexSpec, Indexes, WindowBounds};
use crate::time::FOREVER;

/// How a resource is set up.
#[derive(Clone, Debug)]
pub struct ResourceConfig {
    /// For messages, e.g. `pods`.
    pub name: String,
    /// Paths whose values are not kept. Their default is often half of an object, and hardly anybody reads it.
    pub strip: Vec<String>,
    /// The path by whose values watchers are filed, so that an event visits few of those who ask for one value.
    pub trigger: Option<String>,
    /// The bounds of the event window.
    pub window: WindowBounds,
    /// Indexes beside "namespace".
    pub indexes: Vec<IndexSpec>,
    /// Whether what is held is compared with the upstream every few minutes. That lists everything, page by page.
    pub check_consistency: bool,
    /// How the reflector behaves.
    pub reflector: ReflectorConfig,
}

/// A configuration that makes sense, read.
pub(super) struct Setup {
    /// The paths that are wanted, and those that are stripped.
    pub(super) fields: Rc<RefCell<FieldSet>>,
    pub(super) indexes: Indexes,
    pub(super) trigger: Option<Path>,
}

impl ResourceConfig {
    /// A resource of this name, with the defaults of everything else.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            strip: vec!["metadata.managedFields".to_owned()],
            trigger: None,
            window: WindowBounds::default(),
            indexes: Vec::new(),
            check_consistency: true,
            reflector: ReflectorConfig::default(),
        }
    }

    /// For a source that polls: silence between polls is no fault, and lists are all that there is to compare lists with.
    pub(super) fn polled(mut self) -> Self {
        self.check_consistency = false;
        self.reflector.watch_list = false;
        self.reflector.idle_timeout_ms = FOREVER;
        self
    }

    /// Reads its texts. Fails with code `invalid`, naming the option, where the configuration makes no sense.
    pub(super) fn read(&self) -> Result<Setup, Error> {
        self.window.check()?;
        self.reflector.check()?;
        let strip = self.strip.iter().map(|text| parse_path("strip", text)).collect::<Result<_, _>>()?;
        let fields = Rc::new(RefCell::new(FieldSet::new(strip)));
        let indexes = Indexes::new(&self.indexes, &fields)?;
        let trigger = self.trigger.as_deref().map(|text| parse_path("trigger", text)).transpose()?;
        Ok(Setup { fields, indexes, trigger })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;

    #[test]
    fn the_defaults_make_sense_and_are_the_documented_ones() {
        let config = ResourceConfig::named("pods");
        assert!(config.read().is_ok());
        assert_eq!((config.strip, config.trigger, config.check_consistency), (vec!["metadata.managedFields".to_owned()], None, true));
        assert_eq!((config.reflector.page_size, config.reflector.watch_list, config.reflector.idle_timeout_ms), (500, false, 90_000));
    }

    #[test]
    fn a_path_with_a_mistake_is_refused_by_the_name_of_its_option() {
        let refused = |config: ResourceConfig| config.read().err().map(|error| (error.code, error.message));
        let broken = || "status[".to_owned();
        let named = ResourceConfig::named("pods");
        for (config, option) in [
            (ResourceConfig { strip: vec![broken()], ..named.clone() }, "strip: "),
            (ResourceConfig { trigger: Some(broken()), ..named }, "trigger: "),
        ] {
            let (code, message) = refused(config).expect("a refusal");
            assert_eq!(code, ErrorCode::Invalid);
            assert!(message.starts_with(option), "{message}");
        }
    }
}
