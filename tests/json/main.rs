//! The scanner against serde_json: on documents, on list pages, and on those that mean harm.

#[allow(dead_code, unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod json;
}

mod adversarial;
mod documents;
mod edits;
mod interest;
mod lists;
mod patch;
mod siblings;
