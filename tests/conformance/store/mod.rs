//! What is held: the objects, their indexes and past states, and the event window.

mod objects;
mod window;
