//! Live views: rule by rule, against a model, over many objects, and as part of the memory that is bounded.

#[allow(dead_code, unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod view;
}

#[cfg(not(target_arch = "wasm32"))]
mod derive;
mod memory;
mod model;
mod rules;
mod select;
#[cfg(not(target_arch = "wasm32"))]
mod slices;
