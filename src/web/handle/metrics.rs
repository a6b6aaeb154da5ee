//! Metrics of any number of resources as one text.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::cache::Cacher;
use crate::metrics::{Exposition, numbers};
use crate::web::values::{Given, to_object};

/// An exposition: resources add their metrics, then its text is read.
#[wasm_bindgen(skip_typescript)]
#[derive(Default)]
pub struct RawMetrics(RefCell<Exposition>);

#[wasm_bindgen]
impl RawMetrics {
    /// The Prometheus text.
    pub fn text(&self) -> String {
        self.0.borrow().text()
    }
}

/// An empty exposition.
#[wasm_bindgen(js_name = openMetrics, skip_typescript)]
pub fn open_metrics() -> Result<RawMetrics, JsValue> {
    crate::web::panic::check()?;
    Ok(RawMetrics::default())
}

/// Adds the metrics of a resource.
pub(super) fn write(exposition: &RawMetrics, cacher: &Cacher, group: &str, resource: &str, scope: &str) {
    exposition.0.borrow_mut().add(group, resource, scope, cacher.metrics(), &cacher.metrics_now());
}

/// The series by name.
pub(super) fn series(cacher: &Cacher) -> JsValue {
    let numbers = numbers(cacher.metrics(), &cacher.metrics_now());
    let members: Vec<_> = numbers.iter().map(|(name, value)| (name.as_str(), Given::Number(*value))).collect();
    to_object(&members)
}
