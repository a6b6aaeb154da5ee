//! What leads from one version of an object to another, as a JSON text: for who holds the one decoded and wants the other.
//!
//! It is an array. For each value that differs it has two elements: the route to it, and the value. A route is an array of names and indexes,
//! and both versions have what it leads to. An empty one comes first: with it stands an object of the members that came in front of all others.

use super::comparison::{Comparison, Interest};
use super::cursor::Cursor;
use super::routes::{Routes, Step};

/// A patch takes no more than this part of the text: one half. A longer one would save too little.
const MAX_PATCH_PART: usize = 2;

/// What leads from one document to another. Both were checked before, and have no whitespace around them. `None` where it would save too little,
/// and where a name on a route is that of two members.
pub fn patch(from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let mut comparison = Comparison::new(from, to, &[], Interest::Nothing);
    comparison.routes = Some(Routes::default());
    // What goes costs nothing here. A pod that starts gains members of its status, so all of that goes and comes.
    comparison.limits.edited_part = 1;
    let end = comparison.run(0)?;
    if end == to.len() { patch_of(&mut comparison, end, end) } else { None }
}

/// The same of a comparison that ended at `end`. `length` is that of the new text, as it will be held. `None` as well where nobody asked for routes.
/// None leads to members that went from the front of all others.
pub(super) fn patch_of(comparison: &mut Comparison<'_, '_>, end: usize, length: usize) -> Option<Vec<u8>> {
    comparison.routes.as_ref()?;
    comparison.pass_names(end)?;
    let (from, to, routes) = (comparison.held, comparison.document, comparison.routes.as_ref()?);
    let mut patch = Vec::with_capacity(512);
    patch.push(b'[');
    for (at, ((old_start, old_end), (start, end))) in comparison.edits.iter().enumerate() {
        if at > 0 {
            patch.push(b',');
        }
        append_route(&mut patch, from, routes.steps(at))?;
        patch.push(b',');
        let new = &to[*start..*end];
        if old_start == old_end {
            // No value is empty: these are members, each with a comma behind it.
            patch.push(b'{');
            patch.extend_from_slice(new.trim_ascii_end().strip_suffix(b",")?);
            patch.push(b'}');
        } else {
            patch.extend_from_slice(new);
        }
    }
    patch.push(b']');
    Some(patch).filter(|patch| patch.len() <= length / MAX_PATCH_PART)
}

fn append_route(patch: &mut Vec<u8>, text: &[u8], route: &[Step]) -> Option<()> {
    patch.push(b'[');
    for (at, step) in route.iter().enumerate() {
        if at > 0 {
            patch.push(b',');
        }
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
