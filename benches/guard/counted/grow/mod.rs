//! Paths whose work must grow no faster than their input: each runs at a size and at twice that size.

mod json;
mod state;
mod text;
mod watchers;

use std::hint::black_box;

use watchcache::json::fields::FieldSet;
use watchcache::json::scan::scan_object;

use crate::counted::Work;

/// Work of a size.
pub(crate) struct Growth {
    pub(crate) name: &'static str,
    /// Large enough for a quadratic path to stand out, small enough for callgrind.
    pub(crate) size: usize,
    kind: Kind,
}

enum Kind {
    /// A document to scan, and whether it is sound. The scan must not be slower than serde_json.
    Document(fn(usize) -> String, bool),
    Other(fn(usize) -> Work),
}

impl Growth {
    const fn document(name: &'static str, size: usize, make: fn(usize) -> String) -> Self {
        Self { name, size, kind: Kind::Document(make, true) }
    }

    const fn refused(name: &'static str, size: usize, make: fn(usize) -> String) -> Self {
        Self { name, size, kind: Kind::Document(make, false) }
    }

    const fn other(name: &'static str, size: usize, prepare: fn(usize) -> Work) -> Self {
        Self { name, size, kind: Kind::Other(prepare) }
    }

    /// Whether there is a peer.
    pub(crate) fn has_peer(&self) -> bool {
        matches!(self.kind, Kind::Document(..))
    }

    /// Our work.
    pub(crate) fn ours(&self, size: usize) -> Work {
        match self.kind {
            Kind::Other(prepare) => prepare(size),
            Kind::Document(make, sound) => {
                let (text, fields) = (make(size), FieldSet::new(Vec::new()));
                Box::new(move || assert_eq!(black_box(scan_object(text.as_bytes(), &fields)).is_ok(), sound))
            }
        }
    }

    /// The same document read by serde_json into a value.
    pub(crate) fn peer(&self, size: usize) -> Work {
        let Kind::Document(make, sound) = self.kind else { panic!("{} has no peer", self.name) };
        let text = make(size);
        Box::new(move || assert_eq!(black_box(serde_json::from_slice::<serde_json::Value>(text.as_bytes())).is_ok(), sound))
    }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Growth> {
    json::ALL.iter().chain(text::ALL).chain(state::ALL).chain(watchers::ALL)
}
