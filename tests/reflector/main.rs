//! The reflector between an upstream with faults and a replay of what it says: case by case, and as laws over random scripts.

#[allow(dead_code, unreachable_pub)]
#[path = "../helpers"]
mod helpers {
    pub mod replay;
    pub mod scenario;
    pub mod upstream;
}

mod ahead;
mod control;
mod down;
mod laws;
mod lists;
mod network;
mod quarantine;
mod turns;
mod watch;
mod watch_list;
