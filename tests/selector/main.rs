//! Selectors: their grammar, and what they match.

mod grammar;
mod matching;
