// Of the memory that a WebAssembly instance can have, `starve` takes all but so many bytes, so that the host gives it no more.
const { Instance } = WebAssembly;
const PAGE = 65_536;

WebAssembly.Instance = function (...given) {
  const instance = new Instance(...given);
  const memory = Object.values(instance.exports).find((given) => given instanceof WebAssembly.Memory);
  globalThis.starve = (left) => memory.grow(65_536 - Math.ceil((memory.buffer.byteLength + left) / PAGE));
  globalThis.tear = () => new Uint8Array(memory.buffer).fill(255);
  return instance;
};
