//! What `npm run guard` counts; see [`counted`].

#[cfg(not(target_arch = "wasm32"))]
mod counted;

fn main() {
    #[cfg(not(target_arch = "wasm32"))]
    counted::main();
}
