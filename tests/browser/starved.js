// Of the memory that a WebAssembly instance can have, `starve` takes all but so many bytes, so that the host gives it no more. `exhaust` takes what is
// left, too, to the last byte: whatever asks for memory next has none.
const { Instance } = WebAssembly;
const PAGE = 65_536;

WebAssembly.Instance = function (...given) {
  const instance = new Instance(...given);
  const memory = Object.values(instance.exports).find((given) => given instanceof WebAssembly.Memory);
  globalThis.starve = (left) => memory.grow(65_536 - Math.ceil((memory.buffer.byteLength + left) / PAGE));
  globalThis.exhaust = async () => {
    globalThis.starve(0);
    const glue = await (await fetch("/dist/wasm/watchcache.js")).text();
    const allocate = instance.exports[/passStringToWasm0\(\w+, wasm\.(\w+)/.exec(glue)[1]];
    for (let bytes = 1 << 24; bytes >= 1; bytes >>= 1) {
      try {
        for (;;) allocate(bytes, 1);
      } catch {
        // None of this length is left.
      }
    }
  };
  globalThis.tear = () => new Uint8Array(memory.buffer).fill(255);
  return instance;
};
