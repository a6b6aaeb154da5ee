//! What leads from one version of an object to another, as a JSON text: for who holds the one decoded and wants the other.
//!
//! It is an array. For each value that differs it has two elements: the route to it, and the value. A route is an array of names and indexes,
//! and both versions have what it leads to.

use super::comparison::Replaced;
use super::cursor::Cursor;
use super::edits::compare_proved;
use super::routes::{Routes, Step};

/// A patch takes no more than this part of the text: one half. A longer one would save too little.
const MAX_PATCH_PART: usize = 2;

/// What leads from one document to another. Both were checked before, and have no whitespace around them. `None` where it would save too little,
/// and where a name on a route is that of two members.
pub fn patch(from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let (edits, routes) = compare_proved(from, to)?;
    write_patch((from, to), &edits, &routes, to.len())
}

/// The same of what was found already. The new text has so many bytes; what `to` has beside it is in no edit.
pub(super) fn write_patch((from, to): (&[u8], &[u8]), edits: &[Replaced], routes: &Routes, length: usize) -> Option<Vec<u8>> {
    let mut patch = Vec::with_capacity(512);
    patch.push(b'[');
    for (at, (_, (start, end))) in edits.iter().enumerate() {
        if at > 0 {
            patch.push(b',');
        }
        append_route(&mut patch, from, routes.steps(at))?;
        patch.push(b',');
        patch.extend_from_slice(&to[*start..*end]);
    }
    patch.push(b']');
    Some(patch).filter(|patch| patch.len() <= length / MAX_PATCH_PART)
}

fn append_route(patch: &mut Vec<u8>, text: &[u8], route: &[Step]) -> Option<()> {
    for (at, step) in route.iter().enumerate() {
        patch.push(if at == 0 { b'[' } else { b',' });
        match step {
            Step::Member(name) => {
                let mut cursor = Cursor::proved(text, name - 1);
                cursor.skip_value().ok()?;
                patch.extend_from_slice(&text[name - 1..cursor.at]);
            }
            Step::Element(index) => patch.extend_from_slice(index.to_string().as_bytes()),
        }
    }
    patch.push(b']');
    Some(())
}
