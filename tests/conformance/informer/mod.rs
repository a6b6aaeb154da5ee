//! Informers and their handlers, as client-go knows them.

mod handlers;
mod life;
mod queue;
mod reads;
