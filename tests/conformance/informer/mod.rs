//! Informers and their handlers, as client-go knows them.

mod handlers;
mod interest;
mod life;
mod queue;
mod reads;
