//! The text of an object, whatever form it is held in.

use std::ops::Deref;
use std::rc::Rc;

use super::size::{allocation, shared};

/// The stored document of an object: strict JSON, UTF-8. Cheap to clone; it stays as it is, whatever becomes of the object meanwhile.
// The bytes are behind the count, not beside it: so a box that is there already is taken over without a copy.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Rc<Box<[u8]>>);

impl Text {
    /// Takes these bytes over.
    pub fn new(bytes: Box<[u8]>) -> Self {
        Self(Rc::new(bytes))
    }

    /// Bytes that it takes.
    pub fn cost(&self) -> usize {
        shared(size_of::<Box<[u8]>>()) + allocation(self.len())
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        String::from_utf8_lossy(self).fmt(f)
    }
}
