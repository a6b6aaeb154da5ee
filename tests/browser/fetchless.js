// A worker that cannot load its WebAssembly.
globalThis.fetch = () => Promise.reject(new TypeError("there is no network"));
