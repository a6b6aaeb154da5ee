//! Objects at rest: how the text of an object is held while nobody reads it.

mod text;

pub use text::Text;
